"""SameTotals: link by simple attacks among targets that hold exactly as much as the query, where totals were kept.

A table whose items were renamed, replaced or coarsened event by event still has as many events of each person as
before. That is seen without truth: far more queries find a target of exactly their total than would by chance, if
totals were near each other and no more.
"""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np

from reidrisk.attacks.registry import per_item, register
from reidrisk.attacks.rivals.base import Counted, counts_of, sizes_of
from reidrisk.attacks.rivals.matched import PER_SPREAD, STEPS, Matched
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.notes import Note
from reidrisk.base.streams import stream
from reidrisk.records import Bags
from reidrisk.search.sparse import SparseRows

_CLEAR, _LEAST = 5.0, 0.1  # standard deviations, and by how much, equal totals must be more frequent than by chance
_DRAWS = 20
_DIFFERENT = 10  # totals of targets, below which they tell too little
_MOST = 0.99  # share of queries that keep their total, at most
_NEAR = 0.02, 2  # share of a total, and number, by which totals differ at least if they were not kept


class KeptTotals(NamedTuple):
    """The ``share`` of queries that hold exactly as much as their target, and what equal totals tell: nats of each."""

    share: float
    totals: Ints
    nats: Floats


def kept_totals(known: Ints, asked: Ints) -> KeptTotals | None:
    """Return how far totals were kept, from those of targets and queries; None where that is not clear.

    >>> rng = np.random.default_rng(0)
    >>> totals = rng.geometric(0.01, 300)
    >>> kept_totals(totals, rng.permutation(totals)).share, kept_totals(totals, rng.geometric(0.01, 300))
    (0.99, None)
    """
    if len(asked) == 0 or len(np.unique(known)) < _DIFFERENT:
        return None
    exact = _common(known, asked) / len(asked)
    by_chance = _by_chance(known, asked)
    chance = float(by_chance.mean())
    if exact - chance < max(_CLEAR * float(by_chance.std()), _LEAST):
        return None
    share = min((exact - chance) / max(1.0 - chance, 1e-9), _MOST)
    totals, times = np.unique(known, return_counts=True)
    return KeptTotals(share, totals, np.log1p(share / (1.0 - share) * len(known) / times))


def _by_chance(known: Ints, asked: Ints) -> Floats:
    """Return how many queries find an equal total where both sides are drawn from all totals, each changed a little."""
    both, rng = np.concatenate([known, asked]), stream(0, "totals by chance")
    found = np.empty(_DRAWS)
    for i in range(_DRAWS):
        sides = []
        for n in (len(known), len(asked)):
            drawn = rng.choice(both, n)
            reach = np.maximum(_NEAR[0] * drawn, np.minimum(_NEAR[1], drawn - 1))
            sides.append(np.rint(drawn + rng.uniform(-1.0, 1.0, n) * reach).astype(np.int64))
        found[i] = _common(*sides) / len(asked)
    return found


def _common(known: Ints, asked: Ints) -> int:
    """Return how many of two lists of numbers can be paired with an equal one of the other."""
    values, places = np.unique(np.concatenate([known, asked]), return_inverse=True)
    sides = (np.bincount(part, minlength=len(values)) for part in (places[: len(known)], places[len(known) :]))
    return int(np.minimum(*sides).sum())


@register(kinds=(Bags,), cost=per_item(3e-9, 0.5), default=True, whole=True)
class SameTotals(Matched):
    """Link as :class:`Matched` does, with log(1 + s / ((1 - s) p)) more for a target of exactly the query's total.

    s is the share of queries that keep their total (:func:`kept_totals`), and p that of targets which have this one.
    Where totals were not kept, or are given (``volume=False``), it links as Matched does.

    >>> targets, queries = Bags([[3, 1], [1, 1], [1, 0]] * 10), Bags([[2, 0], [4, 0]] * 10)
    >>> SameTotals().fit(targets).look_around(queries).kept_ is None
    True
    """

    description = (
        "Looks among known records that hold exactly as much as the one to identify, where a table seems to have kept "
        "how much everybody has, and links by what simple attacks say of these (our own)."
    )

    by_size = True

    @classmethod
    def applies(cls, targets: Counted, queries: Counted) -> bool:
        """Whether there are enough records, and totals seem to be kept."""
        return super().applies(targets, queries) and kept_totals(_totals(targets), _totals(queries)) is not None

    def __init__(self, jointly: bool = True, volume: bool = True) -> None:
        super().__init__(jointly)
        self.volume = volume

    def fit(self, targets: Counted) -> Self:
        """Fit the simple attacks, and add up what targets hold."""
        self._known_totals = _totals(targets)
        self.kept_: KeptTotals | None = None
        self._asked_before = False
        super().fit(targets)
        self._plain = self._known
        return self

    def look_around(self, queries: Counted) -> Self:
        """Learn whether totals were kept, once after each fit; then let all queries bid."""
        self._refuse_unfitted("_known")
        if not self._asked_before and len(queries):
            self._asked_before = True
            self.kept_ = kept_totals(self._known_totals, _totals(queries)) if self.volume else None
            if self.kept_ is not None:
                each = self.kept_.nats[np.searchsorted(self.kept_.totals, self._known_totals)]
                self._known = self._with_totals(self._known, self._known_totals, np.rint(each / PER_SPREAD * STEPS))
        return super().look_around(queries)

    @property
    def rests_on(self) -> tuple[Note, ...]:
        """Whether queries were linked together, and whether totals counted."""
        kept = getattr(self, "kept_", None)
        return (*super().rests_on, *((Note("totals-kept", attack=self.name, share=kept.share),) if kept else ()))

    def given_sizes(self) -> Self:
        """Return this attacker where how much records hold says nothing."""
        new = copy(self)
        new.volume, new.kept_, new._prices, new._looked = False, None, None, False
        if hasattr(self, "_plain"):
            new._known, new._asked_before = self._plain, False
        return new

    def _asked(self, queries: Counted) -> SparseRows:
        asked = super()._asked(queries)
        return asked if self.kept_ is None else self._with_totals(asked, _totals(queries), np.full(len(asked), STEPS))

    def _with_totals(self, rows: SparseRows, totals: Ints, weights: Any) -> SparseRows:
        """Return rows with a column for each total that targets have."""
        from scipy import sparse

        assert self.kept_ is not None
        values = self.kept_.totals
        place = np.minimum(np.searchsorted(values, totals), len(values) - 1)
        row = np.flatnonzero(values[place] == totals)
        entries = (np.asarray(weights)[row].astype(np.int64), (row, place[row]))
        columns = sparse.coo_array(entries, shape=(len(rows), len(values))).tocsr()
        return SparseRows(sparse.csr_array(sparse.hstack([rows.rows, columns], format="csr")))


def _totals(records: Any) -> Ints:
    return sizes_of(counts_of(records))
