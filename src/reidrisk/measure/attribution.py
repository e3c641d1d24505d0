"""What gives people away: the risk without each period, column or kind of item, and with it alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np

from reidrisk.attacks.base import Attack
from reidrisk.attacks.registry import find_attack
from reidrisk.base import ArrayLike, Bools, DataError, Difference, OptionError, Result, Risk, seed_or_fresh, whole
from reidrisk.measure.comparison import difference
from reidrisk.measure.jackknife import Gains
from reidrisk.measure.rarity import by_rarity
from reidrisk.measure.risk import chosen_queries, random_user, risk_of
from reidrisk.records import Attributes, Bags, Traces, Truth, find_truth
from reidrisk.search.engines import Engine, find_engine

By = Literal["periods", "columns", "rarity"]
"""What a record is taken apart into: its periods, its columns, or its items by how many people hold them."""
OTHER = "other"
_HELD = (0.001, 0.01, 0.1)  # shares of the people that divide rare items from common ones
_TOGETHER = 4  # parts, those that tell most by themselves, of which pairs are left out together

Mask = Bools


@dataclass(frozen=True, eq=False)
class Part(Result):
    """One part of the records: a period, a column or a kind of item, ``share`` of all that is observed.

    ``without`` is the risk without it, ``alone`` the risk with nothing else, ``carried`` whole minus without, on the
    same people.
    """

    name: str
    share: float
    without: Risk
    alone: Risk
    carried: Difference


@dataclass(frozen=True, eq=False)
class PartPair(Result):
    """Two parts left out together: ``carried`` is the whole risk minus that without either."""

    names: tuple[str, str]
    without: Risk
    carried: Difference


@dataclass(frozen=True, eq=False)
class Attribution(Result):
    """How much of the risk each part of the records carries, ``by`` periods, columns, rarity or a taxonomy.

    ``pairs`` are those of the four parts that tell most by themselves: where two say the same, each can be left out
    without loss, and both cannot. ``hidden`` parts, of fewer than ``min_group`` people, are not shown.
    """

    by: str
    whole: Risk
    parts: tuple[Part, ...]
    pairs: tuple[PartPair, ...] = ()
    min_group: int = 20
    hidden: int = 0


class _Piece(NamedTuple):
    """Which columns, or which tokens, a part consists of."""

    columns: bool
    mask: Mask

    def rest(self) -> "_Piece":
        return _Piece(self.columns, ~self.mask)

    def plus(self, other: "_Piece") -> "_Piece":
        return _Piece(self.columns, self.mask | other.mask)

    def cells(self, table: Any) -> Mask:
        """Return which cells of traces, or entries of bags, are of this part."""
        if isinstance(table, Bags):
            return np.asarray(self.mask[table.counts.indices])
        return np.asarray(table.observed & (self.mask if self.columns else self.mask[table.tokens]))

    def only(self, table: Any) -> Any:
        """Return the records with nothing but this part."""
        if isinstance(table, Bags):
            part = table.with_counts(np.where(self.cells(table), table.counts.data, 0))
            when = table.timeline
            return part if when is None else part.with_timeline(when.kept(self.mask[when.item]))
        if self.columns and isinstance(table, Attributes) and self.mask.any():
            return table.only([name for name, kept in zip(table.names, self.mask, strict=True) if kept])
        return table._with(np.where(self.cells(table), table.tokens, table.tokens.dtype.type(-1)), table.users)

    def held(self, table: Any) -> int:
        """Return how many observations are of this part."""
        cells = self.cells(table)
        return int(table.counts.data[cells].sum() if isinstance(table, Bags) else cells.sum())

    def people(self, table: Any) -> int:
        """Return how many records hold something of this part."""
        cells = self.cells(table)
        if isinstance(table, Bags):
            return len(np.unique(np.repeat(np.arange(len(table)), np.diff(table.counts.indptr))[cells]))
        return int(cells.any(axis=1).sum())


class _Job(NamedTuple):
    """What all parts have in common."""

    attacks: tuple[Attack[Any], ...]
    targets: Any
    queries: Any
    truth: Truth
    sample: int | None
    seed: int
    level: float
    engine: Engine | None

    def only(self, piece: _Piece) -> Risk:
        """Return the risk of records with nothing but this part."""
        return self.risk(piece.only(self.targets), piece.only(self.queries))

    def risk(self, targets: Any, queries: Any) -> Risk:
        """Return the strongest attack's risk on these versions of the records."""
        if not (_any(targets) and _any(queries)):
            return self._blind(targets, queries)
        given = (self.truth, self.sample, self.seed, self.level, None, self.engine)
        found = [random_user(attack, targets, queries, *given) for attack in self.attacks]
        return max(found, key=lambda one: one.rate)

    def _blind(self, targets: Any, queries: Any) -> Risk:
        """Return what is left where nothing is observed: everybody ties with everybody."""
        rows, _ = chosen_queries(len(queries), self.sample, self.seed)
        rows = np.arange(len(queries)) if rows is None else rows
        truth = Truth(self.truth.target[rows], self.truth.origin)
        credit = np.where(truth.target >= 0, 1.0 / len(targets), 0.0)
        everyone = len(rows) == len(queries)
        gains = Gains(None, "sampled")
        return risk_of(credit, 0.0, self.attacks[0], targets, queries.take(rows), truth, self.level, everyone, gains)


def attribution(
    attack: Attack[Any] | str | Sequence[Attack[Any] | str],
    targets: Any,
    queries: Any,
    truth: ArrayLike | Truth | None = None,
    by: By | Mapping[str, str] | None = None,
    sample: int | None = 2_000,
    seed: int | None = None,
    level: float = 0.95,
    min_group: int = 20,
    engine: Engine | str | None = None,
) -> Attribution:
    """Measure what each part of the records gives away: the risk without it, and with it alone.

    ``by`` is ``"columns"`` of Attributes, ``"periods"`` of Traces, ``"rarity"`` of items (by the share of the targets
    that hold them), or a mapping from labels of items to their kind, such as the root of a taxonomy; the default is the
    first of these that the records have. Of several attacks the strongest counts each time; each is fitted anew. All
    parts are measured on the same ``sample`` of queries, drawn with ``seed``; ``None``: all. A kind of item that
    fewer than ``min_group`` people hold is counted among the others.

    >>> from reidrisk import attacks
    >>> rng = np.random.default_rng(0)
    >>> table = Traces(np.column_stack((np.arange(50), rng.integers(2, size=50))), n_tokens=50)
    >>> found = attribution(attacks.Hamming(), table, table)
    >>> [(part.name, round(part.without.rate, 2), part.alone.rate) for part in found.parts]
    [('1', 0.04, 1.0), ('2', 1.0, 0.04)]
    """
    several = (attack,) if isinstance(attack, str) or not isinstance(attack, Sequence) else attack
    chosen = tuple(find_attack(one, targets) for one in several)
    if not chosen:
        raise OptionError("give at least one attack to measure with")
    least, known = whole("min_group", min_group), find_truth(targets, queries, truth)
    used = seed_or_fresh(seed)
    job = _Job(chosen, targets, queries, known, sample, used, level, find_engine(engine))
    name, pieces = _parts(targets, queries, by)
    pieces, hidden = _large_enough(pieces, queries, least)
    if len(pieces) < 2:
        raise DataError(f"these records have {len(pieces)} parts by {name}, so there is nothing to tell apart")
    all_of_it = job.risk(targets, queries)
    total = max(sum(piece.held(queries) for piece in pieces.values()), 1)
    parts = []
    for label, piece in pieces.items():
        left_out, alone = job.only(piece.rest()), job.only(piece)
        gap = difference(all_of_it, left_out, names=("all", f"without {label}"))
        parts.append(Part(label, piece.held(queries) / total, left_out, alone, gap))
    telling = sorted(parts, key=lambda part: -part.alone.rate)[:_TOGETHER]
    pairs = []
    for one, two in combinations([part.name for part in telling], 2) if len(pieces) > 2 else ():
        left_out = job.only(pieces[one].plus(pieces[two]).rest())
        gap = difference(all_of_it, left_out, names=("all", f"without {one} and {two}"))
        pairs.append(PartPair((one, two), left_out, gap))
    return Attribution(name, all_of_it, tuple(parts), tuple(pairs), least, hidden)


def _parts(targets: Any, queries: Any, by: By | Mapping[str, str] | None) -> tuple[str, dict[str, _Piece]]:
    """Return what the records are taken apart by, and for each part its columns or its tokens."""
    kind = type(queries).__name__
    if by is None:
        by = "columns" if isinstance(queries, Attributes) else "periods" if isinstance(queries, Traces) else "rarity"
    if not isinstance(queries, Traces | Bags):
        raise DataError(f"attribution takes Traces, Bags and Attributes apart, not {kind}")
    if isinstance(by, Mapping):
        return "kinds", _kinds(queries, by)
    if by == "rarity":
        return by, _rarity(targets)
    fits = {"periods": Traces, "columns": Attributes}
    if by not in fits:
        raise OptionError(f"records are taken apart by periods, columns, rarity or a mapping of labels, not {by!r}")
    if not isinstance(queries, fits[by]) or isinstance(queries, Bags):
        raise DataError(f"{kind} have no {by}; take them apart by rarity, or by a mapping from labels to kinds")
    labels = queries.names if isinstance(queries, Attributes) else [str(i + 1) for i in range(queries.n_epochs)]
    return by, {
        label: _Piece(True, mask) for label, mask in zip(labels, np.eye(len(labels), dtype=np.bool_), strict=True)
    }


def _kinds(queries: Any, kinds: Mapping[str, str]) -> dict[str, _Piece]:
    if queries.vocabulary is None:
        raise DataError("these records have no labels, so the kinds of their items are not known; take rarity instead")
    of = [kinds.get(label, OTHER) for label in queries.vocabulary.labels]
    return {kind: _Piece(False, np.array([one == kind for one in of])) for kind in dict.fromkeys(of)}


def _rarity(targets: Any) -> dict[str, _Piece]:
    counts = targets.counts if isinstance(targets, Bags) else targets.bags().counts
    share = np.bincount(counts.indices, minlength=targets.n_tokens) / len(targets)
    return {level: _Piece(False, tokens) for level, tokens in by_rarity(share, _HELD).items()}


def _large_enough(pieces: dict[str, _Piece], queries: Any, least: int) -> tuple[dict[str, _Piece], int]:
    """Put parts of too few people together; what is still of too few is hidden, and what nobody has is no part."""
    least = min(least, len(queries))
    people = {name: piece.people(queries) for name, piece in pieces.items()}
    large = {name: piece for name, piece in pieces.items() if people[name] >= least and name != OTHER}
    small = [name for name in pieces if name not in large and people[name]]
    if small:
        rest = reduce(_Piece.plus, (pieces[name] for name in small))
        if rest.people(queries) >= least:
            return large | {OTHER: rest}, 0
    return large, len(small)


def _any(table: Any) -> bool:
    return bool(table.counts.nnz if isinstance(table, Bags) else table.observed.any())
