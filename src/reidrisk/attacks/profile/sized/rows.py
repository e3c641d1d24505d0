"""The model as sparse rows: the score is the product of a query's row and a target's.

Columns are the items; one for all that a target does not hold; then, of the distinct form and of facts, one for each
tabulated size of queries; of bursts, one for each knot of the same for events after the first, and for each item and
knot; of facts, two for each item and knot. Beside all these stand three for totals, where these are evidence, and last
what :mod:`reidrisk.attacks.profile.hours` adds.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.profile.sized.distinct import log_sums
from reidrisk.attacks.profile.sized.facts import Facts, without_replacement
from reidrisk.attacks.profile.sized.model import AGAIN, Model, between, log_bursts
from reidrisk.attacks.profile.sized.tally import Tally
from reidrisk.attacks.profile.sized.taste import COARSE
from reidrisk.attacks.profile.sized.volume import VolumeTerms
from reidrisk.base.arrays import Bools, Floats, Ints
from reidrisk.search.sparse import SparseRows

_TARGET_STEPS, QUERY_STEPS = 1 << 16, 1 << 8  # of a weight in one
_MOST_HELD = 0.999  # of what anybody like a target does, as far as the target is known to do it
STEPS = _TARGET_STEPS * QUERY_STEPS  # steps of the score in one nat


class WantedItems(NamedTuple):
    """Which items the queries hold, and which one of them holds more than once; the others need no weights."""

    held: Bools
    again: Bools

    @classmethod
    def by(cls, queries: Tally) -> "WantedItems":
        """Return what these queries want."""
        again = np.zeros(queries.counts.shape[1], dtype=np.bool_)
        again[queries.counts.indices[queries.events > 1.0]] = True
        return cls(queries.holders > 0, again)


class KnownBags:
    """Targets, with the popularity of items that was learnt from all of them, and what hours of the day add."""

    def __init__(self, table: Tally, popularity: Floats, hours: SparseRows | None = None) -> None:
        self.table, self.popularity, self.hours = table, popularity, hours
        self._laid_out: tuple[Model, SparseRows] | None = None

    def __len__(self) -> int:
        return len(self.table)

    def take(self, rows: Ints) -> "KnownBags":
        """Return the chosen targets, in that order."""
        return KnownBags(self.table.take(rows), self.popularity, None if self.hours is None else self.hours.take(rows))

    def with_hours(self, hours: SparseRows | None) -> None:
        """Put what hours of the day add beside the weights of items."""
        self.hours, self._laid_out = hours, None

    def facing(self, model: Model) -> SparseRows:
        """Return the weights of the targets on the grid; those of the last model are kept."""
        if self._laid_out is None or self._laid_out[0] != model:
            rows = target_rows(model, self.table, self.popularity)
            self._laid_out = model, with_hours(on_grid(rows, _TARGET_STEPS), self.hours)
        return self._laid_out[1]

    def asked(self, model: Model, queries: Tally) -> SparseRows:
        """Return the weights of queries on the grid."""
        return on_grid(query_rows(model, queries, self.popularity), QUERY_STEPS)


def with_hours(rows: SparseRows, hours: SparseRows | None) -> SparseRows:
    """Return the rows with those of hours beside them."""
    from scipy import sparse

    return rows if hours is None else SparseRows(sparse.hstack([rows.rows, hours.rows], format="csr"))


def on_grid(rows: Any, steps: int) -> SparseRows:
    """Round the weights to whole steps, once."""
    from scipy import sparse

    whole = np.rint(rows.data * steps).astype(np.int64)
    return SparseRows(sparse.csr_array((whole, rows.indices, rows.indptr), rows.shape))


class _Entries:
    """Entries of a sparse matrix, gathered in any order; those of one place add up."""

    def __init__(self, n: int, width: int) -> None:
        self.shape = n, width
        self.rows: list[Any] = []
        self.columns: list[Any] = []
        self.values: list[Any] = []

    def add(self, rows: Ints, columns: Any, values: Floats) -> None:
        kept = np.flatnonzero(values)
        self.rows.append(rows[kept])
        self.columns.append(np.broadcast_to(columns, rows.shape)[kept])
        self.values.append(values[kept])

    def matrix(self) -> Any:
        from scipy import sparse

        places = np.concatenate(self.rows), np.concatenate(self.columns)
        return sparse.coo_array((np.concatenate(self.values), places), shape=self.shape).tocsr()

    def add_last(self, columns: Sequence[Floats]) -> None:
        """Add dense columns: the last ones."""
        for back, values in enumerate(reversed(columns), 1):
            self.add(np.arange(self.shape[0]), self.shape[1] - back, values)


def _entries(model: Model, table: Tally) -> _Entries:
    n, items = table.counts.shape
    more = len(model.sizes) + (0 if model.facts is None else 2 * items * len(model.facts.knots))
    if model.bursts:
        more = len(model.bases) + 1 + items * len(model.knots)
    more += 0 if model.taste is None else model.taste.vectors.shape[1]
    more += 0 if model.levels is None else max(model.levels.width - items, 0) + 2
    return _Entries(n, items + 1 + more)


def target_rows(model: Model, table: Tally, popularity: Floats, wanted: WantedItems | None = None) -> Any:
    """Return the weights of targets, of the ``wanted`` items only; default: all."""
    items = _item_rows_of_targets(model, table, popularity, wanted)
    return items if model.volume is None else _beside(items, model.volume.of_targets(table.totals))


def query_rows(model: Model, table: Tally, popularity: Floats) -> Any:
    """Return the weights of queries."""
    items = _item_rows_of_queries(model, table, popularity)
    return items if model.volume is None else _beside(items, model.volume.of_queries(table.totals))


def _beside(items: Any, terms: VolumeTerms) -> Any:
    from scipy import sparse

    return sparse.hstack([items, sparse.csr_array(np.stack(terms, axis=1))], format="csr")


def _item_rows_of_targets(model: Model, table: Tally, popularity: Floats, wanted: WantedItems | None) -> Any:
    if model.levels is not None:
        each, alone = model.levels.of_targets(table)
        return _level_rows(model, table, each, [alone, np.ones(len(table))])
    if model.facts is not None:
        return _fact_rows_of_targets(model, model.facts, table, popularity, wanted)
    n, items = table.counts.shape
    totals = table.variety.astype(np.float64) if model.distinct else table.totals
    base = 1.0 - model.share + model.share * model.strength / (totals + model.strength)
    row, item = table.rows, table.counts.indices.astype(np.int64)
    events = np.ones(len(item)) if model.distinct else table.events
    plain = base[row] * popularity[item]
    own = model.share * events / (totals[row] + model.strength)
    out, everyone = _entries(model, table), np.arange(n)
    anybody, level = plain, np.log(base)
    if model.taste is not None:
        placed = model.taste.placed(table)
        anybody = plain * np.exp(model.taste.tilt(table) - placed.norm[row])
        level = level - placed.norm
        out.add_last(list(placed.taste.T / COARSE))
    worth = np.log1p(own / anybody)
    if model.apart:
        worth = np.full(len(item), math.log(AGAIN))
        level = level - np.log1p((AGAIN - 1.0) * np.minimum(np.bincount(row, anybody, minlength=n), _MOST_HELD))
    if model.distinct:
        others = np.maximum(base - np.bincount(row, anybody, minlength=n), np.finfo(np.float64).tiny)
        sums = np.zeros((n, len(model.sizes)))
        sizes = np.array(model.sizes, dtype=np.int64)
        log_sums(table.counts.indptr.astype(np.int64), anybody + own, others, sizes, sums)
        for size in range(len(model.sizes)):
            out.add(everyone, items + 1 + size, -sums[:, size])
    if wanted is not None:
        kept = np.flatnonzero(wanted.held[item])
        row, item, plain, own, worth = row[kept], item[kept], plain[kept], own[kept], worth[kept]
    out.add(row, item, worth)
    out.add(everyone, items, level)
    if model.bursts:
        place = between(base, model.bases)
        for step, weight in place.weights(model.fine).items():
            out.add(everyone, items + 1 + np.maximum(place.low + 1 + step, 0), weight)
        knots, first = model.knots, items + 1 + len(model.bases) + 1
        if wanted is not None:
            kept = np.flatnonzero(wanted.again[item])
            row, item, plain, own = row[kept], item[kept], plain[kept], own[kept]
        for sign, urn in ((1.0, plain + own), (-1.0, plain)):  # taste says how an item begins, not how often it comes
            place = between(model.spread * urn, knots)
            for step, weight in place.weights(model.fine).items():
                at = np.clip(place.low + step, 0, len(knots) - 1)  # where it lies beyond, its weight is 0
                out.add(row, first + item * len(knots) + at, np.where(place.low + step >= 0, sign * weight, 0.0))
    return out.matrix()


def _item_rows_of_queries(model: Model, table: Tally, popularity: Floats) -> Any:
    if model.levels is not None:
        each, alone = model.levels.of_queries(table)
        return _level_rows(model, table, each, [np.ones(len(table)), alone], asked=True)
    if model.facts is not None:
        return _fact_rows_of_queries(model, model.facts, table)
    n, items = table.counts.shape
    row, item = table.rows, table.counts.indices.astype(np.int64)
    times = np.ones(len(item)) if model.by_item else table.events
    out, everyone = _entries(model, table), np.arange(n)
    out.add(row, item, times)
    out.add(everyone, items, model.sizes_of(table))
    if model.distinct and model.sizes:
        _add_sizes(out, model, table)
    if model.bursts:
        _add_bursts(out, model, table, popularity)
    if model.taste is not None:
        sums = COARSE * model.taste.asked(table, times)
        out.add_last(list(sums.T))
    return out.matrix()


def _level_rows(model: Model, table: Tally, each: Floats, alone: Sequence[Floats], asked: bool = False) -> Any:
    """Return the rows of dense records; what one adds by itself meets a 1 of the other side."""
    (n, width), items, out = each.shape, table.counts.shape[1], _entries(model, table)
    columns = np.arange(width) + (np.arange(width) >= items)  # but for that of sizes
    out.add(np.repeat(np.arange(n), width), np.tile(columns, n), each.ravel())
    out.add(np.arange(n), items, model.sizes_of(table) if asked else np.zeros(n))
    out.add_last(alone)
    return out.matrix()


def _fact_rows_of_targets(
    model: Model, facts: Facts, table: Tally, popularity: Floats, wanted: WantedItems | None
) -> Any:
    """Return the rows of targets of which queries are facts."""
    out, items, everyone = _entries(model, table), table.counts.shape[1], np.arange(len(table))
    row, item = table.rows, table.counts.indices.astype(np.int64)
    held, totals = facts.of(table)
    totals = np.maximum(totals, 1.0)
    out.add(everyone, items, facts.missing(totals))
    for level, size in enumerate(model.sizes):
        out.add(everyone, items + 1 + level, without_replacement(totals, size))
    present = facts.present(totals[row], popularity[item])
    kept = np.flatnonzero(wanted.held[item]) if wanted is not None else np.arange(len(item))
    out.add(row[kept], item[kept], (present + np.log(held))[kept])
    if facts.times > 1:
        kept = np.flatnonzero(wanted.again[item]) if wanted is not None else kept
        for one in facts.again_of_targets(row[kept], item[kept], held[kept], present[kept]):
            out.add(one.row, items + 1 + len(model.sizes) + one.column, one.value)
    return out.matrix()


def _fact_rows_of_queries(model: Model, facts: Facts, table: Tally) -> Any:
    """Return the rows of queries that are facts."""
    out, (n, items) = _entries(model, table), table.counts.shape
    row, item = table.rows, table.counts.indices.astype(np.int64)
    out.add(row, item, np.ones(len(item)))
    out.add(np.arange(n), items, model.sizes_of(table))
    if model.sizes:
        _add_sizes(out, model, table)
    if facts.times > 1:
        again = np.flatnonzero(table.events > 1.0)
        for one in facts.again_of_queries(row[again], item[again], table.events[again]):
            out.add(one.row, items + 1 + len(model.sizes) + one.column, one.value)
    return out.matrix()


def _add_sizes(out: _Entries, model: Model, table: Tally) -> None:
    """Lay each size between two tabulated ones; below the first, nothing is at 1, where no item can come twice."""
    sizes, first, asked = np.array(model.sizes, dtype=np.float64), table.counts.shape[1] + 1, model.sizes_of(table)
    everyone = np.arange(len(table))
    low = np.clip(np.searchsorted(sizes, asked, side="right") - 1, -1, max(len(sizes) - 2, -1))
    lower = np.where(low >= 0, sizes[np.maximum(low, 0)], 1.0)
    part = np.maximum(asked - lower, 0.0) / (sizes[low + 1] - lower)  # beyond the last size, in its direction
    out.add(everyone, first + np.maximum(low, 0), np.where(low >= 0, 1.0 - part, 0.0))
    out.add(everyone, first + low + 1, part)


def _add_bursts(out: _Entries, model: Model, table: Tally, popularity: Floats) -> None:
    """Add what events after the first are worth at every knot."""
    n, items = table.counts.shape
    again = np.flatnonzero(table.events > 1.0)
    row, item, times = table.rows[again], table.counts.indices[again].astype(np.int64), table.events[again]
    urn = model.spread * popularity[item]
    anybody = np.bincount(row, log_bursts(times, urn), minlength=n)
    for level, base in enumerate((0.0, *model.bases)):
        worth = np.asarray(np.bincount(row, log_bursts(times, base * urn), minlength=n), dtype=np.float64)
        out.add(np.arange(n), items + 1 + level, worth - anybody)
    knots, first = model.knots, items + 1 + len(model.bases) + 1
    for level, knot in enumerate(knots):
        out.add(row, first + item * len(knots) + level, log_bursts(times, knot))


def all_scores(model: Model, targets: Tally, queries: Tally, popularity: Floats) -> Floats:
    """Return the (q, n) scores of a few records, not rounded."""
    known = target_rows(model, targets, popularity, WantedItems.by(queries))
    return np.asarray((known @ query_rows(model, queries, popularity).T.tocsr()).toarray()).T
