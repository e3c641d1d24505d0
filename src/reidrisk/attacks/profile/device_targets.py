"""The targets of ProfileBayes on a device, and what queries make of them; the search is in ``device``.

Each target is a short list of entries: a token, how often it is held, and a bit for each epoch that shows it. Queries
come some dozens at a time, with a table of what an entry is worth to each of them. This module needs torch, NumPy and
numba alone.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.profile import kernel
from reidrisk.attacks.profile.counts import Counts
from reidrisk.attacks.profile.kernel import Likelihoods
from reidrisk.attacks.profile.worth import SAFE
from reidrisk.base import Ints, njit, require

BITS = 32  # epochs in a word of bits
KINDS = 4  # of users for which there are fused kernels
_TABLE = 1 << 30  # entries of a table of worth, and scores held at once, at most


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
        bits = np.zeros((max(-(-epochs.shape[1] // BITS), 1), len(order), most), dtype=np.int32)
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
            np.bitwise_or.at(shown, (s // BITS, v, q), (1 << (s % BITS)).astype(np.uint32))
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
