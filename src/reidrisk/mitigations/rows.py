"""What changes do to the rows of Traces and Bags, event by event: other items, fewer events, random ones.

A change of Bags says of each event whether it stays and which item it has now; counts, visits, moments and hours all
follow from that, as they would in a file that was changed line by line.
"""

from typing import Any, NamedTuple

import numpy as np

from reidrisk.base import Array, Bools, Floats, Ints, Vocabulary
from reidrisk.records import Attributes, Bags, RawTable, Traces, Vectors
from reidrisk.records.calendar import HOURS, days_by_hour
from reidrisk.records.timeline import Timeline
from reidrisk.records.traces import TokenRecords
from reidrisk.records.visits import first_of_visits, grouped

_UNITS = 5_000_000  # limit: units of counts that are taken one by one where moments are not known


class _Held(NamedTuple):
    """The events of Bags: whose, of which item, how much; when, and on which visit, where that is known."""

    row: Ints
    item: Ints
    amount: Ints
    time: Floats | None
    visit: Ints | None

    @classmethod
    def of(cls, table: Bags) -> "_Held":
        """Return the events that the moments know; without moments, each unit of a count is one."""
        when, visits = table.timeline, table.visits
        if when is not None:
            row, item = when.owner, when.item.astype(np.int64)
            visit = None if when.visit is None else when.visit.astype(np.int64)
            return cls(row, item, _amounts(table, row, item), when.time, visit)
        held = table.counts if visits is None else visits.counts
        line, item = np.repeat(np.arange(held.shape[0]), np.diff(held.indptr)), held.indices.astype(np.int64)
        amount = held.data.astype(np.int64)
        if amount.sum(dtype=np.float64) <= _UNITS:
            line, item = np.repeat(line, amount), np.repeat(item, amount)
            amount = np.ones(len(line), dtype=np.int64)
        if visits is None:
            return cls(line, item, amount, None, None)
        row = visits.owner[line]
        return cls(row, item, amount, None, line - visits.start[row])

    def at(self, chosen: Array) -> "_Held":
        """Return the chosen events, in that order."""
        return _Held(*(None if one is None else one[chosen] for one in self))  # type: ignore[arg-type]


def _amounts(table: Bags, row: Ints, item: Ints) -> Ints:
    """Return how much each event counts: those of one item of a record share what it counts."""
    counts = table.counts.sorted_indices()
    keys = np.repeat(np.arange(len(table)), np.diff(counts.indptr)) * table.n_tokens + counts.indices
    place = np.searchsorted(keys, row * table.n_tokens + item)
    many = np.bincount(place, minlength=len(keys))[place]
    order = np.argsort(place, kind="stable")
    rank = np.empty(len(place), dtype=np.int64)
    rank[order] = np.arange(len(place)) - np.searchsorted(place[order], place[order])
    whole = counts.data.astype(np.int64)[place]
    found: Ints = np.maximum(whole // many + (rank < whole % many), 1)
    return found


def _with_events(
    table: Bags, item: Ints, rng: np.random.Generator, n_tokens: int, vocabulary: Vocabulary | None
) -> Bags:
    """Return the bags with these items in the place of their events', in the order of ``_Held``; -1 = left out."""
    before = _Held.of(table)
    stays = item >= 0
    held = before._replace(item=item).at(stays)
    order = np.lexsort((held.item, held.row) if held.time is None else (held.item, held.time, held.row))
    held, shape = held.at(order), (len(table), n_tokens)
    from scipy import sparse

    counts = sparse.coo_array((held.amount, (held.row, held.item)), shape=shape).tocsr()
    made = Bags(counts, table.users, vocabulary).with_notes(table.notes)
    number = None
    if held.visit is not None:
        by_visit = np.lexsort((held.visit, held.row))
        one = held.at(by_visit)
        assert one.visit is not None
        made = made.with_visits(grouped(one.row, one.visit, (one.amount, one.item), shape))
        assert made.visits is not None
        number = np.empty(len(by_visit), dtype=np.int64)
        number[by_visit] = np.cumsum(first_of_visits(one.row, one.visit)) - 1 - made.visits.start[one.row]
    when = table.timeline
    if when is not None and held.time is not None:
        start = np.searchsorted(held.row, np.arange(len(table) + 1)).astype(np.int64)
        made = made.with_timeline(Timeline(start, held.item, held.time, when.is_calendar, number))
        raw = table.raw
        if raw is not None and len(raw.row) == len(stays):  # a row of the file for each event
            made = made.with_raw(RawTable(raw.columns, raw.row[stays][order], start))
        if table.clock is not None:
            made = made.with_clock(
                days_by_hour(held.row.astype(np.int32), held.item.astype(np.int32), held.time, shape)
            )
    elif table.clock is not None:
        made = made.with_clock(_hours(table, before, item, rng, n_tokens))
    return made


def _hours(table: Bags, before: _Held, item: Ints, rng: np.random.Generator, n_tokens: int) -> Any:
    """Return the hours where moments are not known: each goes the way of a random event of its record and item."""
    from scipy import sparse

    clock, last = table.clock.tocoo(), HOURS * table.n_tokens
    row, column, days = (np.asarray(one, dtype=np.int64) for one in (clock.coords[0], clock.coords[1], clock.data))
    of_items = column < last
    line = np.repeat(np.flatnonzero(of_items), days[of_items])
    order = np.argsort(before.row * table.n_tokens + before.item, kind="stable")
    keys = (before.row * table.n_tokens + before.item)[order]
    wanted = row[line] * table.n_tokens + column[line] // HOURS
    first, many = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
    many -= first
    drawn = first + np.floor(rng.random(len(line)) * many).astype(np.int64)
    now = np.where(many > 0, item[order[np.minimum(drawn, len(order) - 1)]], -1)
    hour, stays = column[line] % HOURS, now >= 0
    # Somebody is still there at an hour of a day if any of what they then had stays.
    there = np.flatnonzero(~of_items)
    cell = row * HOURS + column % HOURS
    all_then, still = (np.bincount(cell[line][part], minlength=len(table) * HOURS) for part in (slice(None), stays))
    of = cell[there]
    each = all_then[of] / np.maximum(days[there], 1)
    left = rng.binomial(days[there], 1.0 - (1.0 - still[of] / np.maximum(all_then[of], 1)) ** each)
    rows = np.concatenate((row[line][stays], row[there]))
    columns = np.concatenate((now[stays] * HOURS + hour[stays], n_tokens * HOURS + column[there] % HOURS))
    data = np.concatenate((np.ones(int(stays.sum()), dtype=np.int64), left))
    found = sparse.coo_array((data, (rows, columns)), shape=(len(table), HOURS * (n_tokens + 1))).tocsr()
    found.eliminate_zeros()
    return found


def relabelled(table: TokenRecords, to: Ints, n_tokens: int, vocabulary: Vocabulary | None) -> TokenRecords:
    """Return the table with token t called ``to[t]``, over a vocabulary of ``n_tokens``; -1 = left out.

    >>> relabelled(Traces([[0, 2], [1, -1]], n_tokens=3), np.array([1, 1, -1]), 2, None).tokens.tolist()
    [[1, -1], [1, -1]]
    """
    if isinstance(table, Attributes):
        return table.with_tokens(np.where(table.observed, to[table.tokens], -1))
    if isinstance(table, Traces):
        renamed = np.where(table.observed, to[table.tokens], -1)
        return Traces(renamed, n_tokens, table.users, vocabulary).with_notes(table.notes)
    return _with_events(table, to[_Held.of(table).item], np.random.default_rng(0), n_tokens, vocabulary)


def _where(table: Bags, chosen: Bools, rng: np.random.Generator) -> Bags:
    """Return the bags with the chosen events alone."""
    item = np.where(chosen, _Held.of(table).item, -1)
    return _with_events(table, item, rng, table.n_tokens, table.vocabulary)


def thinned(table: TokenRecords, p: float, rng: np.random.Generator) -> TokenRecords:
    """Return the table with each observation kept with probability p."""
    if isinstance(table, Traces):
        return masked(table, rng.random(table.tokens.shape) < p)
    return _where(table, rng.random(len(_Held.of(table).row)) < p, rng)


def at_most(table: TokenRecords, size: int, rng: np.random.Generator) -> TokenRecords:
    """Return the table with at most ``size`` observations of each row, drawn at random without replacement."""
    if isinstance(table, Traces):
        keys = np.where(table.observed, rng.random(table.tokens.shape), np.inf)
        rank = np.argsort(np.argsort(keys, axis=1), axis=1)
        return masked(table, rank < size)
    row = _Held.of(table).row
    order = np.lexsort((rng.random(len(row)), row))
    rank = np.empty(len(row), dtype=np.int64)
    rank[order] = np.arange(len(row)) - np.searchsorted(row[order], row[order])
    return _where(table, rank < size, rng)


def masked(table: Traces, kept: Bools) -> Traces:
    """Return the traces with the cells that are not kept missing."""
    return table._with(np.where(kept, table.tokens, table.tokens.dtype.type(-1)), table.users)


def randomised(table: TokenRecords, p: float, rng: np.random.Generator) -> TokenRecords:
    """Return the table with each observation replaced by a uniformly drawn item with probability p."""
    if isinstance(table, Traces):
        replaced = table.observed & (rng.random(table.tokens.shape) < p)
        tokens = table.tokens.astype(np.int64)
        tokens[replaced] = rng.integers(table.n_tokens, size=int(replaced.sum()))
        return Traces(tokens, table.n_tokens, table.users, table.vocabulary).with_notes(table.notes)
    item = _Held.of(table).item
    item = np.where(rng.random(len(item)) < p, rng.integers(table.n_tokens, size=len(item)), item)
    return _with_events(table, item, rng, table.n_tokens, table.vocabulary)


def events(table: Bags) -> Any:
    """Return how many events each row has of each item, as a csr_array: what a count sums up counts once."""
    from scipy import sparse

    held = _Held.of(table)
    ones = np.ones(len(held.row), dtype=np.int64)
    return sparse.coo_array((ones, (held.row, held.item)), shape=(len(table), table.n_tokens)).tocsr()


def observations(table: TokenRecords) -> Any:
    """Return how often each row holds each item, as a csr_array of whole numbers."""
    return table.counts if isinstance(table, Bags) else table.bags().counts


def holders(table: TokenRecords) -> Ints:
    """Return how many rows hold each item."""
    return np.bincount(observations(table).indices, minlength=table.n_tokens).astype(np.int64)


def frequencies(table: TokenRecords) -> Ints:
    """Return how often each item occurs."""
    if isinstance(table, Traces):
        return np.bincount(table.tokens[table.observed].astype(np.int64), minlength=table.n_tokens)
    return np.asarray(table.counts.sum(axis=0), dtype=np.int64).ravel()


def sizes(table: TokenRecords | Vectors) -> Ints:
    """Return how many observations each row has; a vector is one."""
    if isinstance(table, Vectors):
        return np.ones(len(table), dtype=np.int64) if table.several is None else table.several.per_record
    if isinstance(table, Traces):
        return np.asarray(table.observed.sum(axis=1), dtype=np.int64)
    return np.asarray(table.counts.sum(axis=1), dtype=np.int64).ravel()
