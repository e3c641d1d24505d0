"""Two logs laid over each other: how likely a record is, moment by moment, if another one is of the same person.

Let a target have n_k events in the period of grid k that an event of the query lies in, c_k of them with its item, and
n_0 = n and c_0 in all. The query has that item then with probability m_K, where from wide periods to narrow ones

    m_k = (1 - w_k) m_(k-1) + w_k c_k / n_k    with    w_k = a_k n_k / (b_k + n_k),

m_(-1) is anybody's p, and m_k = m_(k-1) where the target is not there. So two who were there at the same time and did
something else speak against each other as far as a_k says. And it is there in that period, of all within the next
wider one, with probability (1 - v_k) g_k + v_k n_k / n_(k-1), where g_k is anybody's share.

Given which periods the query was there in, that is a sum over columns of a weight of the target: of each item, of each
period it was there in, and of each item then. Each column counts once per record, so that what is repeated within a
period is no further coincidence at its width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.coincidences.grid import Laid, Tallied, placed
from reidrisk.base.arrays import Floats, Ints


class Say(NamedTuple):
    """How far what a target did counts for what it does: at most ``most``, half of it for ``slow`` events."""

    most: float = 0.0
    slow: float = 0.0

    def weight(self, n: Any) -> Floats:
        """Return the weight of n events."""
        return np.asarray(self.most * n / np.maximum(self.slow + n, 1e-9))

    def mixed(self, n: Any, share: Any, otherwise: Any) -> Floats:
        """Return the mixture of a share among n events and of what is otherwise.

        >>> Say(0.5, 0.0).mixed(np.array([4, 0]), np.array([0.75, 0.0]), 0.25).tolist()
        [0.5, 0.25]
        """
        weight = self.weight(n)
        return np.asarray((1.0 - weight) * otherwise + weight * share)


@dataclass(frozen=True)
class Repeats:
    """What each grid says of ``items`` (the first is of no grid: any time), and of being there (``times``)."""

    items: tuple[Say, ...]
    times: tuple[Say, ...]


class Level(NamedTuple):
    """One grid: the periods in which both sides were there, each with its ``share`` of the next wider one.

    ``bins`` and ``pairs`` (keys bin * n_items + item) rise; ``up`` and ``up_pair`` are their places in the wider grid.
    ``there`` tallies record * n_bins + bin of targets, ``had`` record * n_pairs + pair.
    """

    bins: Ints
    pairs: Ints
    up: Ints
    up_pair: Ints
    share: Floats
    there: Tallied
    had: Tallied


class Overlay:
    """Targets and all queries on the same grids: what they have in common, for any :class:`Repeats`."""

    def __init__(self, targets: Laid, queries: Laid, n_items: int) -> None:
        self.n, self.n_items = targets.n, n_items
        self.total = targets.sizes
        self.any_time = Tallied.of(targets.record * n_items + targets.item)
        asked = np.unique(queries.record * n_items + queries.item)
        often = np.bincount(np.concatenate([self.any_time.keys, asked]) % n_items, minlength=n_items) + 0.5
        self.popular = often / often.sum()
        self.levels: list[Level] = []
        wider: Level | None = None
        before = np.array([float(len(targets) + len(queries))])
        for known, other in zip(targets.bins, queries.bins, strict=True):
            bins = np.intersect1d(known, other)
            mine, theirs = placed(bins, known), placed(bins, other)
            pairs = np.intersect1d(_keys(mine, n_items, targets.item), _keys(theirs, n_items, queries.item))
            pairs = pairs[pairs >= 0]
            up, up_pair = self._parents(bins, pairs, (known, targets), wider, len(self.levels))
            many = (
                np.bincount(mine + 1, minlength=len(bins) + 1)[1:]
                + np.bincount(theirs + 1, minlength=len(bins) + 1)[1:]
            )
            pair = placed(pairs, _keys(mine, n_items, targets.item))
            wider = Level(
                bins,
                pairs,
                up,
                up_pair,
                many / before[up],
                Tallied.of(_keys(np.where(mine >= 0, targets.record, -1), len(bins), mine)),
                Tallied.of(_keys(np.where(pair >= 0, targets.record, -1), len(pairs), pair)),
            )
            self.levels.append(wider)
            before = many.astype(np.float64)

    def _parents(
        self, bins: Ints, pairs: Ints, known: tuple[Ints, Laid], wider: Level | None, k: int
    ) -> tuple[Ints, Ints]:
        """Return the place in the wider grid of each period, and of each pair; items, above the widest one."""
        if wider is None:
            return np.zeros(len(bins), dtype=np.int64), pairs % self.n_items
        above = np.zeros(len(bins), dtype=np.int64)
        places = placed(bins, known[0])
        above[places[places >= 0]] = known[1].bins[k - 1][places >= 0]
        up = placed(wider.bins, above)
        return up, placed(wider.pairs, up[pairs // self.n_items] * self.n_items + pairs % self.n_items)

    def known(self, habits: Repeats) -> Any:
        """Return the weights of the targets, in nats: a csr_array."""
        columns, everyone = _Columns(self.n), np.arange(self.n)
        say = habits.items[0]
        who, item = np.divmod(self.any_time.keys, self.n_items)
        popular, weight = self.popular[item], say.weight(self.total[who])
        own = self.any_time.times / self.total[who]
        mixed = say.mixed(self.total[who], own, popular)
        columns.add(who, item, np.log1p(weight / (1.0 - weight) * own / popular), self.n_items)
        columns.add(everyone, 0 * everyone, np.log1p(-say.weight(self.total)), 1)
        keys, wider = self.any_time.keys, None
        for level, items, times in zip(self.levels, habits.items[1:], habits.times, strict=True):
            who, pair = np.divmod(level.had.keys, max(len(level.pairs), 1))
            width = self.n_items if wider is None else len(wider.pairs)
            before = mixed[placed(keys, who * width + level.up_pair[pair])]
            there = level.there.at(who * len(level.bins) + level.pairs[pair] // self.n_items)
            weight, own = items.weight(there), level.had.times / np.maximum(there, 1)
            mixed, keys = items.mixed(there, own, before), level.had.keys
            if items.most > 0.0:
                columns.add(who, pair, np.log1p(weight / (1.0 - weight) * own / before), len(level.pairs))
                who, place = np.divmod(level.there.keys, max(len(level.bins), 1))
                columns.add(who, place, np.log1p(-items.weight(level.there.times)), len(level.bins))
            if times.most > 0.0:
                self._times(columns, level, wider, times)
            wider = level
        return columns.made()

    def _times(self, columns: _Columns, level: Level, wider: Level | None, say: Say) -> None:
        """Add what being there says: for a period it was there in, and against others within the wider one."""
        who, place = np.divmod(level.there.keys, max(len(level.bins), 1))
        among = self.total[who] if wider is None else wider.there.at(who * len(wider.bins) + level.up[place])
        weight = say.weight(among)
        own = level.there.times / among / level.share[place]
        columns.add(who, place, np.log1p(weight / (1.0 - weight) * own), len(level.bins))
        if wider is None:
            columns.add(np.arange(self.n), np.zeros(self.n, np.int64), np.log1p(-say.weight(self.total)), 1)
        else:
            who, place = np.divmod(wider.there.keys, max(len(wider.bins), 1))
            columns.add(who, place, np.log1p(-say.weight(wider.there.times)), len(wider.bins))

    def asked(self, queries: Laid, habits: Repeats) -> Any:
        """Return the weights of queries, whole numbers: a csr_array."""
        columns, record = _Columns(queries.n), queries.record
        columns.add(record, queries.item, np.ones(len(queries), np.int64), self.n_items)
        columns.add(record, 0 * record, np.ones(len(queries), np.int64), 1)
        wider: Level | None = None
        parent = 0 * record
        for level, bins, items, times in zip(self.levels, queries.bins, habits.items[1:], habits.times, strict=True):
            place = placed(level.bins, bins)
            pair = placed(level.pairs, _keys(place, self.n_items, queries.item))
            if items.most > 0.0:
                columns.once(record, pair, len(level.pairs))
                new = _first(record, bins, queries.item)  # different items then, each of which may be absent
                columns.add(record[new], place[new], np.ones(len(new), np.int64), len(level.bins))
            if times.most > 0.0:
                columns.once(record, place, len(level.bins))
                new = _first(record, bins)
                columns.add(
                    record[new], parent[new], np.ones(len(new), np.int64), 1 if wider is None else len(wider.bins)
                )
            wider, parent = level, place
        return columns.made()

    def met(self, queries: Laid, row: Ints, target: Ints) -> Met:
        """Return what events of queries, by their ``row``, meet in the ``target`` given for each."""
        item = queries.item[row]
        had, there = [self.any_time.at(target * self.n_items + item)], [self.total[target]]
        once, once_there, share = [np.ones(len(row))], [], []
        for level, bins in zip(self.levels, queries.bins, strict=True):
            place = placed(level.bins, bins)
            pair = placed(level.pairs, _keys(place, self.n_items, queries.item))[row]
            had.append(np.where(pair >= 0, level.had.at(target * len(level.pairs) + pair), 0))
            there.append(np.where(place[row] >= 0, level.there.at(target * len(level.bins) + place[row]), 0))
            share.append(np.where(place >= 0, level.share[place], 1.0)[row] if len(level.bins) else np.ones(len(row)))
            once.append(1.0 / _multiplicity(queries.record, bins, queries.item)[row])
            once_there.append(1.0 / _multiplicity(queries.record, bins)[row])
        return Met(had, there, once, once_there, share, self.popular[item])


class Met(NamedTuple):
    """What events meet in a target, grid by grid: how often it had their item then, and was there.

    ``once`` and ``once_there`` are the parts of an event that count at each width; ``share`` is anybody's, of a period.
    """

    had: list[Ints]
    there: list[Ints]
    once: list[Floats]
    once_there: list[Floats]
    share: list[Floats]
    popular: Floats


class _Columns:
    """The columns of a sparse matrix, added group by group."""

    def __init__(self, n: int) -> None:
        self.n, self.width = n, 0
        self._parts: list[tuple[Ints, Ints, Any]] = []

    def add(self, row: Ints, column: Ints, data: Any, width: int) -> None:
        """Add a group of ``width`` columns; entries in columns below 0 are left out, equal ones add up."""
        good = column >= 0
        self._parts.append((row[good], column[good] + self.width, data[good]))
        self.width += width

    def once(self, row: Ints, column: Ints, width: int) -> None:
        """Add a group in which each entry is 1, however often it is given."""
        keys = np.unique(_keys(row, max(width, 1), column)[column >= 0])
        self.add(keys // max(width, 1), keys % max(width, 1), np.ones(len(keys), np.int64), width)

    def made(self) -> Any:
        """Return the csr_array."""
        from scipy import sparse

        row, column, data = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        return sparse.coo_array((data, (row, column)), shape=(self.n, self.width)).tocsr()


def _keys(one: Ints, width: int, two: Ints) -> Ints:
    """Return one number of two; -1 where either is below 0."""
    return np.where((one >= 0) & (two >= 0), one * width + two, -1)


def _ordered(*columns: Ints) -> tuple[Ints, Ints]:
    """Return an order of rows in which equal ones are neighbours, and which of them begin a run."""
    order = np.lexsort(columns[::-1])
    new = np.ones(len(order), dtype=bool)
    if len(order):
        new[1:] = np.any([np.diff(column[order]) != 0 for column in columns], axis=0)
    return order, np.flatnonzero(new)


def _first(*columns: Ints) -> Ints:
    """Return one row of each run of equal ones."""
    order, starts = _ordered(*columns)
    return np.sort(order[starts])


def _multiplicity(*columns: Ints) -> Ints:
    """Return how many rows are equal to each."""
    order, starts = _ordered(*columns)
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.repeat(np.diff(starts, append=len(order)), np.diff(starts, append=len(order)))
    return found
