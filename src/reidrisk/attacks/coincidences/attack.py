"""Coincidences: link to the target who was there at the same moments, and then had the same items."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from reidrisk.attacks.bidding import Bidding, prices
from reidrisk.attacks.coincidences.grid import Laid, offsets_of, widths_of
from reidrisk.attacks.coincidences.learn import agreeing, learnt
from reidrisk.attacks.coincidences.overlay import Overlay, Repeats
from reidrisk.attacks.profile.sized.volume import Volume
from reidrisk.attacks.registry import register
from reidrisk.attacks.rehearsed.panel import reference
from reidrisk.attacks.rivals.base import with_column
from reidrisk.attacks.scored import Posed
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.errors import DataError
from reidrisk.base.notes import Note
from reidrisk.records import Bags
from reidrisk.search import GRID
from reidrisk.search.answer import UNIT
from reidrisk.search.sparse import SparseDot, SparseRows

_FINE = 256  # steps of a query's weights
_FEWEST = 20  # records of either side below which an audit does not ask it
_EVENTS, _PEOPLE = 6_000, 300  # of queries from which is learnt
_NEAR = 3  # targets of each that teach
_CLEAR = 3.0  # standard errors by which one grid explains more than the other, to be taken alone
_MORE = 1.2  # queries per target, at most, where each is taken for another person
_PAIRS = 16_000_000  # pairs above which queries do not bid
_BID, _ROUNDS = 64, 200  # targets for which a query bids, and rounds of bids


def _cost(targets: Any) -> Callable[[int], float]:
    """Return reference seconds: both logs are laid on all grids, however few queries are asked about."""
    events = len(targets) if targets.timeline is None else len(targets.timeline)
    return lambda n_queries: 2.0 + 4e-5 * events + 2e-7 * n_queries * len(targets)


class _Grid(NamedTuple):
    """Both sides on grids moved by ``offset``, with what was learnt there."""

    offset: float
    overlay: Overlay
    habits: Repeats


@register(kinds=(Bags,), cost=_cost, default=True, whole=True)
class Coincidences(Bidding[Bags]):
    """Link to the target who makes what a query shows likeliest, moment by moment (:mod:`.overlay`).

    Two logs of the same time and people may have seen the same life: an item at the same minute, hour or day, or just
    that somebody was there. How far each width counts, and for which records having something else then speaks against
    a target, is learnt without truth (:mod:`.learn`); where nothing coincides, items count alone. That is done on two
    grids, one moved by half a period, so that no border parts what belongs together; both have a say, or that alone
    which clearly explains more.

    With ``jointly``, where there are hardly more queries than targets and at most 16 million pairs, queries that want
    the same target bid for it, as in :class:`~reidrisk.attacks.Matched`.

    Where moments are not known of both sides, or no time is common to them, each item of a record counts once.

    Renaming items, shuffling people and moving both clocks by a week change nothing. What is repeated within one moment
    counts once, and amounts do not count.

    >>> from reidrisk.records import Events
    >>> rng = np.random.default_rng(0)
    >>> who, when = np.repeat(np.arange(30), 20), rng.integers(0, 40, 600)
    >>> log = Events({"who": who, "what": rng.integers(0, 5, 600), "t": when}, user="who", items="what", time="t")
    >>> one, two = (log.take(rng.random(len(log)) < 0.6).bags() for _ in range(2))
    >>> bool((Coincidences().fit(one).link(two).target == np.arange(30)).mean() > 0.9)
    True
    """

    description = (
        "Lays two logs of the same time over each other, and links to the target who was there at the same moments and "
        "then had the same items. It learns without truth how far minutes, hours and days count (our own)."
    )
    one_scale = False  # a longer query is less likely
    rehearses = True  # it is no part of a rehearsal: two parts of one record hold no moment twice

    @classmethod
    def applies(cls, targets: Any, queries: Any) -> bool:
        """Whether moments are known of enough records on both sides, and are of one time.

        >>> Coincidences.applies(Bags([[1]]), Bags([[1]]))
        False
        """
        one, two = (getattr(side, "timeline", None) for side in (targets, queries))
        if one is None or two is None or min(len(targets), len(queries)) < _FEWEST:
            return False
        return bool(widths_of(one, two))

    def __init__(self, jointly: bool = True, volume: bool = True) -> None:
        self.jointly, self.volume = jointly, volume

    def fit(self, targets: Bags) -> Self:
        """Keep the targets: what to learn depends on when the queries were there."""
        self._targets = targets
        self._within: Ints | None = None
        self._seen: _Seen | None = None
        self._looked = False
        self._prices = None
        return self

    def look_around(self, queries: Bags) -> Self:
        """Lay both logs over each other and learn, once after each fit; then let all queries bid."""
        self._refuse_unfitted("_targets")
        if self._looked or not len(queries):
            return self
        self._looked = True
        if self._seen is None:
            self._seen = _Seen(self._targets, queries)
        m, n = len(queries), len(self._targets if self._within is None else self._within)
        if self.jointly and 2 <= m <= _MORE * n and m * n <= _PAIRS:
            known, asked = self._sides(queries)
            found = SparseDot().candidates(known, asked, min(_BID, n))
            nats: Floats = (found.score - found.score[:, :1]).astype(np.float64) / self._seen.per_nat
            self._prices = prices(found.target, nats, n, _ROUNDS, max(1.0, m / n))
        return self

    @property
    def repeats_(self) -> tuple[Repeats, ...]:
        """How far each width counts, on each grid that has a say."""
        if self._seen is None:
            raise DataError(f"{self.name} has not seen any queries yet; call look_around(queries) first")
        return tuple(grid.habits for grid in self._seen.grids)

    @property
    def rests_on(self) -> tuple[Note, ...]:
        """Whether queries were linked together, and whether sizes counted."""
        notes, seen = super().rests_on, getattr(self, "_seen", None)
        if seen is None or seen.volume is None or not self.volume:
            return notes
        return (*notes, Note("sizes-agree", attack=self.name, correlation=seen.volume.correlation))

    def given_sizes(self) -> Self:
        """Return this attacker where how much records hold says nothing."""
        new = copy(self)
        new.volume, new._prices, new._looked = False, None, False
        return new

    def narrowed(self, rows: Ints) -> Self:
        """Return this attacker looking at these target rows only; other queries bid for them."""
        self._refuse_unfitted("_targets")
        new = copy(self)
        within = np.arange(len(self._targets)) if self._within is None else self._within
        new._within = within[self._chosen(rows, len(within))]
        new._prices, new._looked = None, False
        return new

    def _sides(self, queries: Bags) -> tuple[SparseRows, SparseRows]:
        """Return the weights of targets and queries, without prices."""
        assert self._seen is not None
        known, asked = self._seen.known(self.volume), self._seen.asked(queries, self.volume)
        return known if self._within is None else known.take(self._within), asked

    def _posed(self, queries: Bags) -> Posed:
        self._refuse_unfitted("_targets")
        self.look_around(queries)
        known, asked = self._sides(queries)
        if self._prices is None:
            return Posed(SparseDot(), known, asked)
        assert self._seen is not None
        cost = np.rint(self._prices * GRID).astype(np.int64)
        priced = SparseRows(with_column(known.rows, cost))
        return Posed(SparseDot(), priced, SparseRows(with_column(asked.rows, np.full(len(asked), -self._seen.unit))))


class _Seen:
    """Targets laid over the queries that were looked at, with what was learnt."""

    def __init__(self, targets: Bags, queries: Bags) -> None:
        one, two = targets.timeline, queries.timeline
        self._widths = () if one is None or two is None else widths_of(one, two)
        few = reference(queries, _enough(queries))
        found, gains = [], []
        for offset in offsets_of(self._widths) if self._widths else (0.0,):
            known, asked = (Laid.of(side, self._widths, offset) for side in (targets, queries))
            overlay, some = Overlay(known, asked, targets.n_tokens), asked.only(few)
            habits = learnt(overlay, some, partial(_links, overlay, some))
            gains.append(_likely(overlay, some, habits)[2])
            found.append(_Grid(offset, overlay, habits))
        better = gains[-1] - gains[0]
        clear = len(found) == 1 or abs(better.mean()) > _CLEAR * better.std() / np.sqrt(max(len(better), 1))
        self.grids = [found[-int(better.mean() > 0.0)]] if clear else found
        self.unit = _FINE * len(self.grids)  # of queries' weights that makes one: the mean of the grids counts
        self.per_nat = float(GRID * self.unit)
        each = [_on_grid(grid.overlay.known(grid.habits)) for grid in self.grids]
        self._plain = _side_by_side(each)
        self.volume = self._agreeing(queries, few)

    def known(self, volume: bool) -> SparseRows:
        """Return the weights of targets, of their sizes too if these are to count."""
        if not volume or self.volume is None:
            return SparseRows(self._plain)
        alone, slope, _ = self.volume.of_targets(self.grids[0].overlay.total.astype(np.float64))
        columns = (np.rint(one * GRID).astype(np.int64) for one in (alone, slope))
        return SparseRows(_with_columns(self._plain, *columns))

    def asked(self, queries: Bags, volume: bool) -> SparseRows:
        """Return the weights of queries, of their sizes too if these are to count."""
        laid = [Laid.of(queries, self._widths, grid.offset) for grid in self.grids]
        sides = zip(self.grids, laid, strict=True)
        rows = _side_by_side([grid.overlay.asked(side, grid.habits) for grid, side in sides]) * _FINE
        if not volume or self.volume is None:
            return SparseRows(rows)
        _, score, _ = self.volume.of_queries(laid[0].sizes.astype(np.float64))
        return SparseRows(
            _with_columns(rows, np.full(len(score), self.unit), np.rint(score * self.unit).astype(np.int64))
        )

    def _agreeing(self, queries: Bags, few: Ints) -> Volume | None:
        """Return how closely sizes agree, as the links of some queries show."""
        some = queries.take(few)
        known, asked, scorer = self.known(False), self.asked(some, False), SparseDot(self.per_nat)
        best = scorer.best(known, asked)
        sure = UNIT / scorer.total(known, asked, best.score)
        sizes = Laid.of(queries, self._widths, self.grids[0].offset).sizes
        return agreeing(self.grids[0].overlay.total, sizes, (few, best.target, sure))


def _likely(overlay: Overlay, queries: Laid, habits: Repeats) -> tuple[Ints, Floats, Floats]:
    """Return the likeliest targets of queries, their probabilities, and the log of the mean likelihood of all."""
    known, asked = SparseRows(_on_grid(overlay.known(habits))), SparseRows(overlay.asked(queries, habits))
    scorer = SparseDot(float(GRID))
    found = scorer.candidates(known, asked, min(_NEAR, overlay.n))
    top = found.score[:, 0].copy()
    total = scorer.total(known, asked, top) / UNIT
    sure = np.exp((found.score - top[:, None]) / GRID) / total[:, None]
    return found.target, sure, top / GRID + np.log(total / overlay.n)


def _links(overlay: Overlay, queries: Laid, habits: Repeats) -> tuple[Ints, Floats]:
    return _likely(overlay, queries, habits)[:2]


def _enough(queries: Bags) -> int:
    """Return from how many records to learn."""
    n = len(queries)
    events = queries.counts.nnz if queries.timeline is None else len(queries.timeline)
    return int(min(max(_EVENTS * n / max(events, 1), 50), _PEOPLE, n))


def _on_grid(weights: Any) -> Any:
    weights.data = np.rint(weights.data * GRID)
    return weights.astype(np.int64)


def _with_columns(rows: Any, *columns: Ints) -> Any:
    for column in columns:
        rows = with_column(rows, column)
    return rows


def _side_by_side(parts: list[Any]) -> Any:
    from scipy import sparse

    return parts[0] if len(parts) == 1 else sparse.csr_array(sparse.hstack(parts, format="csr"))
