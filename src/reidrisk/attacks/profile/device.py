"""The search of ProfileBayes in torch, on a GPU or, for tests, on the CPU; its answers are those of the kernels.

Each target is a short list of entries: a token, how often it is held, and a bit for each epoch that shows it. Queries
come some dozens at a time, with a table of what an entry is worth to each of them. Sums are whole numbers of 32 bits.
Logarithms and exponentials are rounded to whole numbers; where two libraries might round them differently, which is
rare, the pair is handed back and done as it is defined. This module needs torch, NumPy and numba alone.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.profile import kernel
from reidrisk.attacks.profile.counts import Counts
from reidrisk.attacks.profile.kernel import Likelihoods
from reidrisk.attacks.profile.worth import SAFE
from reidrisk.base import Ints, njit, require
from reidrisk.search.answer import FAR, UNIT, Best
from reidrisk.search.weights import GRID

_BITS = 32  # epochs in a word of bits
_DOUBT = 1e-8  # steps of the grid: two libraries' logarithms are within 1e-10 of each other
_SLIPS = 2e-15  # of a likelihood: two libraries' exponentials are within 5e-16 of each other
_TABLE = 1 << 30  # entries of a table of worth, and scores held at once, at most
KINDS = 4  # of users for which there are fused kernels


class RungPairs(NamedTuple):
    """What a kernel needs to score all targets of one rung with a block of queries; shapes are of tensors.

    Target t has ``size[t]`` entries. ``row`` (e, n) is where an entry's rows in ``worth`` (rows, K, q) begin, one for
    each number of sights in the same epoch; ``token`` (e, n) its number in ``shown`` (words, tokens, q), whose bits are
    compared with ``bits`` (words, e, n). ``holds`` (K, n) and ``base`` (K, q) are what each side adds, ``alone`` and
    ``away`` what is taken off.
    """

    size: Any
    row: Any
    token: Any
    bits: Any
    holds: Any
    alone: Any
    worth: Any
    shown: Any
    base: Any
    away: Any
    most: int  # sights in the same epoch that have a row
    per_pair: int


@dataclass(frozen=True, eq=False)
class Entries:
    """The targets of one rung on a device, those with few entries first; ``order`` is their row among all targets."""

    order: Any
    size: Any
    key: Any
    row: Any
    token: Any
    bits: Any
    alone: Any
    rung: int


class Unsuited(Exception):
    """The search does not fit the device, or sums do not fit 32 bits; the processor has room for both."""


class DeviceTargets:
    """All targets that hold something, on a device."""

    def __init__(self, counts: Counts, alone: Ints, tables: Likelihoods, device: str = "cuda") -> None:
        self.torch: Any = require("torch", "neural", "search on a GPU")
        self.device, self.tables = device, tables
        if np.abs(alone).max(initial=0) >= SAFE:
            raise Unsuited
        most = np.zeros(counts.n_tokens, dtype=np.int64)
        kernel.largest_counts(counts.token, counts.count, most)
        self.tokens = np.flatnonzero(most)
        self.number = np.full(counts.n_tokens, -1, dtype=np.int64)
        self.number[self.tokens] = np.arange(len(self.tokens))
        self._number_rows(most[self.tokens])
        held = np.flatnonzero(np.diff(counts.start))
        levels = [held[counts.rung[held] == level] for level in np.unique(counts.rung[held])]
        self.n = len(held)
        self._holds: dict[tuple[int, int], Any] = {}
        try:
            self.groups = [self._entries(counts, alone, rows) for rows in levels]
        except self.torch.OutOfMemoryError as error:
            raise Unsuited from error

    def _number_rows(self, most: Ints) -> None:
        """Give numbers to the rows of a table of worth: by token, count, and sights in the same epoch."""
        depth, met = self.tables.depth, bool(self.tables.per_pair)
        token = np.repeat(np.arange(len(most)), most)
        count = np.arange(len(token)) - np.repeat(np.cumsum(most) - most, most) + 1
        sights = np.minimum(count, depth) + 1 if met else np.ones_like(count)
        self.key = np.cumsum(most) - most
        self.first_row = np.concatenate([np.cumsum(sights) - sights, [sights.sum()]])  # the last row is of no entry
        put = self._put
        self.row_token, self.row_count = (put(np.repeat(x, sights)) for x in (token, np.minimum(count, depth)))
        self.row_met = put(np.arange(self.first_row[-1]) - np.repeat(self.first_row[:-1], sights))
        self.key_token, self.key_count = put(token), put(np.minimum(count, depth))
        self.group = put(self.tables.group[self.tokens])

    def _entries(self, counts: Counts, alone: Ints, rows: Ints) -> Entries:
        """Copy the targets of one rung to the device; entries that are none have the last key, row and token."""
        size = np.diff(counts.start)[rows]
        order, most = rows[np.argsort(size, kind="stable")], int(size.max())
        epochs = counts.epochs if self.tables.per_pair else counts.epochs[:, :0]
        key = np.full((len(order), most), len(self.first_row) - 1, dtype=np.int32)
        token = np.full((len(order), most), len(self.tokens), dtype=np.int32)
        bits = np.zeros((max(-(-epochs.shape[1] // _BITS), 1), len(order), most), dtype=np.int32)
        _list_entries(*counts.held, epochs, (order, self.number, self.key), (key, token, bits))
        keys = self._put(key).T.contiguous()
        return Entries(
            self._put(order),
            self._put(np.sort(size).astype(np.int32)),
            keys,
            self._put(self.first_row.astype(np.int32))[keys.to(self.torch.int64)],
            self._put(token).T.contiguous(),
            self._put(bits).transpose(1, 2).contiguous(),
            self._put(alone[order].astype(np.int32)),
            int(counts.rung[rows[0]]),
        )

    def _held(self, entries: Entries, level: int) -> Any:
        """Return (K, n) what targets hold, as queries meet them at this rung of pairs."""
        torch = self.torch
        if (entries.rung, level) not in self._holds:
            table = self._joint(level)
            group = self.group[self.key_token]
            change = table[group, self._cell(self.key_count, 0)] - table[group, 0]
            change = torch.cat([change, torch.zeros_like(change[:1])])
            holds = torch.zeros((len(entries.order), table.shape[2]), dtype=torch.int64, device=self.device)
            for key in entries.key:
                holds += change[key.to(torch.int64)]
            if int(holds.abs().amax()) >= SAFE:
                raise Unsuited
            self._holds[entries.rung, level] = holds.T.to(torch.int32).contiguous()
        return self._holds[entries.rung, level]

    def _joint(self, level: int) -> Any:
        """Return (groups, cells, K) evidence at this rung of pairs."""
        return self._put(self.tables.joint[:, level]).to(self.torch.int64)

    def _cell(self, sights: Any, pairs: Any) -> Any:
        return (sights + 1) * (sights + 1) // 4 + pairs if self.tables.per_pair else sights

    def _put(self, values: Any) -> Any:
        return self.torch.from_numpy(np.ascontiguousarray(values)).to(self.device)

    def at_once(self) -> int:
        """Return how many queries to take at a time."""
        size = max((int(self.first_row[-1]) + 1) * self.tables.nothing.shape[1], self.n)
        fits = [q for q in (64, 32, 16) if size * q <= _TABLE]
        if not fits or (self.device == "cuda" and self.tables.nothing.shape[1] > KINDS):
            raise Unsuited
        return fits[0]

    def facing(self, entries: Entries, queries: Counts, away: Ints, width: int) -> RungPairs:
        """Return what these queries, all on one rung, make of the targets of one; missing queries hold nothing."""
        torch, t, e = self.torch, self.tables, entries
        level, n = e.rung + int(queries.rung[0]), len(queries)
        count, shown = self._asked(queries, width, len(e.bits))
        table, d = self._joint(level), self._put(count)
        group, mine, c = self.group[self.row_token][:, None], d[self.row_token], self.row_count[:, None]
        met = torch.minimum(self.row_met[:, None], mine)
        worth = table[group, self._cell(c + mine, met)] + table[group, 0]
        worth -= table[group, self._cell(c, 0)] + table[group, self._cell(mine, 0)]
        worth = torch.where(mine[..., None] > 0, worth, 0).transpose(1, 2)
        worth = torch.cat([worth, torch.zeros_like(worth[:1])])
        base = np.zeros((width, t.nothing.shape[1]), dtype=np.int64)
        base[:n] = t.nothing[level]
        rungs = np.full(n, level)
        kernel.holdings(*queries.held, rungs, t.group, t.joint, t.depth, t.per_pair, base[:n])
        most = int(worth.abs().amax()) * int(np.diff(queries.start).max()) + int(np.abs(base).max())
        if max(most, int(np.abs(away).max())) >= SAFE:
            raise Unsuited
        taken = np.zeros(width, dtype=np.int32)
        taken[:n] = away
        sides = (self._held(e, level), e.alone, worth.to(torch.int32).contiguous(), self._put(shown.view(np.int32)))
        sights = min(int(self.row_met.max()), int(count.max()))
        others = (self._put(base.T.astype(np.int32)), self._put(taken), sights, t.per_pair)
        return RungPairs(e.size, e.row, e.token, e.bits, *sides, *others)

    def _asked(self, queries: Counts, width: int, words: int) -> tuple[Ints, Any]:
        """Return (tokens + 1, width) counts of the queries, and bits of the epochs that show each token they hold."""
        number, rows = self.number[queries.token], queries.rows
        count = np.zeros((len(self.tokens) + 1, width), dtype=np.int64)
        count[number[number >= 0], rows[number >= 0]] = np.minimum(queries.count[number >= 0], self.tables.depth)
        shown = np.zeros((words, len(self.tokens) + 1, width), dtype=np.uint32)
        if self.tables.per_pair:
            q, s = np.nonzero(queries.epochs >= 0)
            v = self.number[queries.epochs[q, s]]
            kept = (v >= 0) & (count[v, q] > 0)
            q, s, v = q[kept], s[kept], v[kept]
            np.bitwise_or.at(shown, (s // _BITS, v, q), (1 << (s % _BITS)).astype(np.uint32))
        return count, shown


@njit(nogil=True, cache=True)
def _list_entries(row: Any, token: Any, count: Any, epochs: Any, numbers: Any, to: Any) -> None:
    """Fill in key, token number and bits of the epochs of each entry of the rows in ``order``."""
    order, number, first = numbers
    key, name, bits = to
    place = np.full(len(number), -1, dtype=np.int64)
    for p in range(len(order)):
        i = order[p]
        for at in range(row[i], row[i + 1]):
            e, v = at - row[i], number[token[at]]
            key[p, e], name[p, e] = first[v] + count[at] - 1, v
            place[token[at]] = e
        for s in range(epochs.shape[1]):
            if epochs[i, s] >= 0 and place[epochs[i, s]] >= 0:
                word, bit = s // 32, np.int32(np.uint32(1) << np.uint32(s % 32))
                bits[word, p, place[epochs[i, s]]] |= bit
        for at in range(row[i], row[i + 1]):
            place[token[at]] = -1


def search(
    targets: DeviceTargets, queries: Counts, away: Ints, per_nat: float | None = None, given: Ints | None = None
) -> tuple[Best, Ints]:
    """Find the best target of every query, all on one rung, and with ``per_nat`` the total relative to it or ``given``.

    Raises :class:`Unsuited` where that cannot be done on the device.
    """
    torch, n, width = targets.torch, len(queries), targets.at_once()
    found, total = Best(*(np.zeros(n, dtype=np.int64) for _ in range(3))), np.zeros(n, dtype=np.int64)
    try:
        order = torch.cat([group.order for group in targets.groups])
        scores = torch.empty((len(order), width), dtype=torch.int32, device=targets.device)
        for start in range(0, n, width):
            rows = np.arange(start, min(start + width, n))
            asked, first = queries.take(rows), 0
            for group in targets.groups:
                pairs = targets.facing(group, asked, away[rows], width)
                score_all(torch, pairs, scores[first : first + len(group.order)])
                first += len(group.order)
            best = scores.amax(dim=0).to(torch.int64)
            if given is not None:
                best[: len(rows)] = torch.from_numpy(given[rows]).to(targets.device)
            sums = add_up(torch, scores, order, best, None if per_nat is None else 1.0 / per_nat)
            for values, mine in zip((*found, total), (best, *sums), strict=True):
                values[rows] = mine[: len(rows)].cpu().numpy()
    except torch.OutOfMemoryError as error:
        raise Unsuited from error
    return found, total


def score_all(torch: Any, pairs: RungPairs, out: Any) -> None:
    """Fill ``out`` (n, q) with the scores of all pairs, on the grid."""
    kernels = _kernels(out.device.type)
    if kernels is not None:
        where, sums = kernels.score_all(pairs, out, _DOUBT)
    else:
        where, sums = _score_plainly(torch, pairs, out)
    if len(where):
        exact = np.empty(len(where), dtype=np.int64)
        kernel.combined_rows(np.ascontiguousarray(sums.cpu().numpy().astype(np.int64)), exact)
        row, column = where // out.shape[1], where % out.shape[1]
        values = torch.from_numpy(exact).to(out.device) - pairs.alone[row] - pairs.away[column]
        out[row, column] = values.to(torch.int32)


def _score_plainly(torch: Any, pairs: RungPairs, out: Any) -> tuple[Any, Any]:
    """Score entry by entry; return where the rounding is in doubt, and the sums (…, K) there."""
    sums = pairs.holds[:, :, None] + pairs.base[:, None, :]
    for e in range(len(pairs.row)):
        met = torch.zeros(out.shape, dtype=torch.int64, device=out.device)
        for w in range(len(pairs.bits)):
            both = (pairs.bits[w, e][:, None] & pairs.shown[w][pairs.token[e]]).to(torch.int64)
            for bit in range(_BITS):
                met += (both >> bit) & 1
        if pairs.per_pair > 1:
            met = (met + pairs.per_pair // 2) // pairs.per_pair
        rows = pairs.row[e].to(torch.int64)[:, None] + met.clamp(max=pairs.most)
        columns = torch.arange(out.shape[1], device=out.device)
        for z in range(len(sums)):
            sums[z] += pairs.worth[rows, z, columns]
    top = sums.amax(dim=0)
    steps = torch.log(torch.exp((sums - top).to(torch.float64) / GRID).sum(dim=0)) * GRID
    out[:] = top + torch.round(steps).to(torch.int32) - pairs.alone[:, None] - pairs.away[None, :]
    where = torch.nonzero(((steps - torch.floor(steps) - 0.5).abs() < _DOUBT).reshape(-1)).squeeze(1)
    return where, sums.reshape(len(sums), -1).T[where]


def add_up(torch: Any, scores: Any, order: Any, best: Any, nats: float | None) -> tuple[Any, Any, Any]:
    """Return how many targets have each query's best score, the lowest of them, and the sum of all likelihoods."""
    kernels = _kernels(scores.device.type)
    if kernels is not None:
        ties, lowest, total, slips = kernels.add_up(scores, order, best, nats, _SLIPS)
    else:
        ties, lowest, total, slips = _add_plainly(torch, scores, order, best, nats)
    for q, below in slips.tolist():
        total[q] += int(math.exp(-(below * (nats or 0.0))) * UNIT + 0.5)
    return ties, lowest, total


def _add_plainly(torch: Any, scores: Any, order: Any, best: Any, nats: float | None) -> tuple[Any, Any, Any, Any]:
    equal = scores == best
    ties = equal.sum(dim=0)
    lowest = torch.where(equal, order[:, None], torch.iinfo(torch.int64).max).amin(dim=0)
    below = best - scores.to(torch.int64)
    if nats is None:
        return ties, lowest, torch.zeros_like(best), below.new_zeros((0, 2))
    away = below.to(torch.float64) * nats
    value = torch.exp(-away) * UNIT + 0.5
    near = away < FAR
    doubt = near & ((value - torch.round(value)).abs() <= value * _SLIPS)
    total = torch.where(near & ~doubt, torch.floor(value), 0.0).to(torch.int64).sum(dim=0)
    row, q = torch.nonzero(doubt, as_tuple=True)
    return ties, lowest, total, torch.stack([q, below[row, q]], dim=1)


def _kernels(device: str) -> Any:
    """Return the fused kernels for this device, or ``None`` where there are none."""
    from reidrisk.attacks.profile import fused

    return fused if device == "cuda" and fused.HERE else None
