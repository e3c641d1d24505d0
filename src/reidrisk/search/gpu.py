"""The same searches in torch, on a GPU or, for tests, on the CPU; answers equal the other engines' bit for bit.

The *lattice* sorts the targets' tokens of each set of epochs, or counts them directly where there are few possible
values, and finds every query's group by bisection. The *gather* adds up a table row for each target and epoch: for long
traces and weights of pairs of tokens. This module needs torch and NumPy alone.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from reidrisk.base import Array, Ints, require
from reidrisk.search.answer import Best
from reidrisk.search.index import Index, Tokens
from reidrisk.search.weights import AnyWeights, PairWeights, Weights

if TYPE_CHECKING:
    import torch

_LATTICE_EPOCHS = 12  # 4,096 sets of epochs; beyond, comparing every pair is cheaper
_PATTERNS = 64  # patterns of missing tokens, each with a lattice of its own
_DIRECT = 16  # possible values for a target up to which groups are counted in an array instead of sorted
_MARKS = 26  # bits of a hashed key: a map of 64 MiB, near what a GPU's cache holds
_SPREAD = -7046029254386353131  # 2^64 / golden ratio, as a signed number: multiplying by it spreads keys
_AT_ONCE = 64  # queries whose tables are made together
_FUSED = 1 << 20  # entries of a table of two epochs: 4 MiB, well within a GPU's cache
_WORST = int(np.iinfo(np.int64).min)


def available() -> bool:
    """Tell whether torch is installed and sees a GPU."""
    try:
        import torch
    except ModuleNotFoundError:
        return False
    return bool(torch.cuda.is_available())


def has_lattice(index: Index | GpuIndex) -> bool:
    """Tell whether the lattice can be used here: few epochs, and few patterns of missing target tokens."""
    return index.n_epochs <= _LATTICE_EPOCHS and len(index.patterns) <= _PATTERNS


class GpuIndex:
    """The targets, (n, r) tokens in ``[0, n_tokens)``, -1 = missing, on a device: one contiguous column per epoch."""

    def __init__(self, tokens: Tokens, n_tokens: int, device: str = "cuda") -> None:
        self._torch = require("torch", "neural", "search on a GPU")
        self.n_tokens, self.device = n_tokens, device
        self.n_users, self.n_epochs = tokens.shape
        self.columns = self.put(np.ascontiguousarray(tokens.T, dtype=np.int32))
        gaps = bool((self.columns < 0).any())
        self.patterns = Index(tokens, n_tokens).patterns if gaps else [(np.arange(self.n_epochs), None)]

    def part(self, rows: Ints) -> GpuIndex:
        """Return the chosen targets alone."""
        part = copy.copy(self)
        part.n_users, part.columns = len(rows), self.columns[:, self.put(rows)]
        return part

    def put(self, values: Array) -> torch.Tensor:
        """Copy an array to the device."""
        copied: torch.Tensor = self._torch.from_numpy(np.array(values, order="C")).to(self.device)
        return copied


def best(index: GpuIndex, queries: Tokens, weights: AnyWeights) -> Best:
    """Find best score, number of ties and lowest tied target of each query (q, r), choosing the cheaper way."""
    if isinstance(weights, Weights) and has_lattice(index) and (weights.match >= weights.mismatch).all():
        return lattice_best(index, queries, weights)
    return gather_best(index, queries, weights)


def lattice_best(index: GpuIndex, queries: Tokens, weights: Weights) -> Best:
    """Search by sets of epochs, see :mod:`reidrisk.search.lattice`; no gain may be negative."""
    return _home(*lattice_on_device(index, on_device(index, queries), weights))


def on_device(index: GpuIndex, queries: Tokens) -> torch.Tensor:
    """Copy queries (q, r) to the index's device as (r, q) columns."""
    return index.put(np.ascontiguousarray(queries.T, dtype=np.int32))


def lattice_on_device(index: GpuIndex, columns: Any, weights: Weights) -> tuple[Any, Any, Any]:
    """Do what :func:`lattice_best` does with columns that are on the device, and leave the answers there."""
    torch = index._torch
    gain, mismatch = _gains(index, columns, weights)
    score = torch.full((columns.shape[1],), _WORST, dtype=torch.int64, device=index.device)
    ties, first = torch.zeros_like(score), torch.full_like(score, -1)
    for epochs, members in index.patterns:
        part, rows_of = (index, None) if members is None else (index.part(members), index.put(members))
        base = sum((mismatch[s] for s in epochs), torch.zeros_like(score))
        for subset in (s for size in range(len(epochs), 0, -1) for s in combinations(epochs.tolist(), size)):
            total = base.clone()
            active = torch.ones_like(base, dtype=torch.bool)
            for s in subset:
                total += gain[s]
                active &= gain[s] > 0  # a missing token has no gain either
            rows = torch.nonzero(active & (total >= score)).squeeze(1)
            if rows.numel():
                count, lowest = _groups(part, columns[:, rows], subset)
                lowest = lowest if rows_of is None else rows_of[lowest.clamp(max=part.n_users - 1)]
                _offer(torch, rows, total[rows], count, lowest, score, ties, first)
        everyone = torch.nonzero(base >= score).squeeze(1)  # the empty set of epochs: all targets agree on it
        if everyone.numel():
            count = torch.full_like(everyone, part.n_users)
            lowest = torch.full_like(everyone, 0 if members is None else int(members[0]))
            _offer(torch, everyone, base[everyone], count, lowest, score, ties, first)
    return score, ties, first


def gather_best(index: GpuIndex, queries: Tokens, weights: AnyWeights) -> Best:
    """Compare every pair: for one query after the other, look up the worth of every target's tokens and add up."""
    torch = index._torch
    numbers = torch.arange(index.n_users, dtype=torch.int32, device=index.device)
    found = [torch.empty(len(queries), dtype=torch.int64, device=index.device) for _ in range(3)]
    for i, total in enumerate(_totals(index, queries, weights)):
        score = total.amax()
        equal = total == score
        found[0][i], found[1][i] = score, equal.sum()
        # Not argmax: torch does not promise which of equal maxima it returns.
        found[2][i] = torch.where(equal, numbers, index.n_users).amin()
    return _home(*found)


def _totals(index: GpuIndex, queries: Tokens, weights: AnyWeights) -> Iterator[Any]:
    """Yield the scores of all targets, query by query.

    Epochs are taken two at a time where the table of both fits the cache: half the look-ups.
    """
    torch = index._torch
    width = index.n_tokens + 1  # one more than the tokens: what a missing one looks up is worth nothing
    step = 2 if width**2 <= _FUSED else 1
    columns = torch.where(index.columns < 0, index.n_tokens, index.columns).to(torch.int64)
    pairs = [(s, s + 1 if step == 2 and s + 1 < index.n_epochs else None) for s in range(0, index.n_epochs, step)]
    places = [columns[s] if t is None else columns[s] * width + columns[t] for s, t in pairs]
    asked = on_device(index, queries)
    for start in range(0, len(queries), _AT_ONCE):
        for worth in _tables(index, asked[:, start : start + _AT_ONCE], weights):
            total: Any = None
            for place, (s, t) in zip(places, pairs, strict=True):
                table = worth[s] if t is None else (worth[s][:, None] + worth[t][None, :]).reshape(-1)
                total = table[place] if total is None else total.add_(table[place])
            yield total


def _tables(index: GpuIndex, asked: Any, weights: AnyWeights) -> Any:
    """Return (b, r, n_tokens + 1) tables: what each target token is worth for each of b queries (r, b)."""
    torch = index._torch
    r, b = asked.shape
    seen = (asked >= 0).T[..., None]
    token = asked.clamp(min=0).to(torch.int64).T
    if isinstance(weights, PairWeights):
        row = torch.arange(r, device=index.device) % len(weights.table)
        worth = index.put(weights.table)[row[None, :], token]
    else:
        row = torch.arange(r, device=index.device) % len(weights.match)
        match, mismatch = (index.put(values)[row[None, :], token] for values in (weights.match, weights.mismatch))
        worth = mismatch[..., None].expand(b, r, index.n_tokens).clone()
        worth.scatter_(2, token[..., None], match[..., None])
    worth = torch.nn.functional.pad(worth * seen, (0, 1))
    largest = int(worth.abs().amax()) * r if worth.numel() else 0
    return worth.to(torch.int32) if largest < np.iinfo(np.int32).max else worth


def _gains(index: GpuIndex, columns: Any, weights: Weights) -> tuple[list[Any], list[Any]]:
    """Return the gain and the mismatch of each query in each epoch; 0 and 0 where its token is missing."""
    torch = index._torch
    tables = index.put(weights.match - weights.mismatch), index.put(weights.mismatch)
    gains, mismatches = [], []
    for s in range(index.n_epochs):
        row, seen, token = s % len(weights.match), columns[s] >= 0, columns[s].clamp(min=0).to(torch.int64)
        gains.append(torch.where(seen, tables[0][row][token], 0))
        mismatches.append(torch.where(seen, tables[1][row][token], 0))
    return gains, mismatches


def _groups(index: GpuIndex, queries: Any, subset: tuple[int, ...]) -> tuple[Any, Any]:
    """Return for each query column the number of targets with its tokens in these epochs, and the lowest of them."""
    torch = index._torch
    theirs, ours, possible = _keys(index, queries, subset)
    if possible <= max(1 << 20, _DIRECT * index.n_users):
        count = torch.bincount(theirs, minlength=possible)
        lowest = torch.full((possible,), index.n_users, dtype=torch.int64, device=index.device)
        lowest.scatter_reduce_(0, theirs, torch.arange(index.n_users, device=index.device), "amin")
        return count[ours], lowest[ours]
    count, lowest = torch.zeros_like(ours), torch.zeros_like(ours)
    # Most keys have no partner: two maps of hashed keys leave few to sort.
    asked, held = _hashed(ours), _hashed(theirs)
    rows = torch.nonzero(_marked(torch, held, asked)).squeeze(1)
    if not rows.numel():
        return count, lowest
    targets = torch.nonzero(_marked(torch, asked[rows], held)).squeeze(1)
    ordered, order = torch.sort(theirs[targets], stable=True)
    left = torch.searchsorted(ordered, ours[rows])
    count[rows] = torch.searchsorted(ordered, ours[rows], right=True) - left
    lowest[rows] = targets[order[left.clamp(max=max(len(targets) - 1, 0))]]
    return count, lowest


def _hashed(keys: Any) -> Any:
    """Return the high bits of a multiplicative hash."""
    return ((keys * _SPREAD) >> (64 - _MARKS)) & ((1 << _MARKS) - 1)


def _marked(torch: Any, held: Any, asked: Any) -> Any:
    """Tell which of the asked hashes are among the held ones."""
    marks = torch.zeros(1 << _MARKS, dtype=torch.bool, device=held.device)
    marks[held] = True
    return marks[asked]


def _keys(index: GpuIndex, queries: Any, subset: tuple[int, ...]) -> tuple[Any, Any, int]:
    """Return keys of targets and queries, equal where the tokens are, and how many values are possible."""
    torch = index._torch
    both = [index.columns[subset[0]].to(torch.int64), queries[subset[0]].to(torch.int64)]
    possible = index.n_tokens
    for s in subset[1:]:
        if possible > np.iinfo(np.int64).max // index.n_tokens:
            # Too long for 64 bits: number the values that occur, exactly, and go on from there.
            values, places = torch.unique(torch.cat(both), return_inverse=True)
            both, possible = [places[: index.n_users], places[index.n_users :]], values.numel()
        added = (column[s].to(torch.int64) for column in (index.columns, queries))
        both = [key * index.n_tokens + digit for key, digit in zip(both, added, strict=True)]
        possible *= index.n_tokens
    return both[0], both[1], possible


def _offer(torch: Any, rows: Any, total: Any, count: Any, lowest: Any, score: Any, ties: Any, first: Any) -> None:
    """Let one group of targets compete for each of these queries."""
    some = count > 0
    rows, total, count, lowest = rows[some], total[some], count[some], lowest[some]
    better, equal = total > score[rows], total == score[rows]
    ties[rows] = torch.where(better, count, torch.where(equal, ties[rows] + count, ties[rows]))
    least = torch.minimum(first[rows], lowest)
    first[rows] = torch.where(better, lowest, torch.where(equal, least, first[rows]))
    score[rows] = torch.maximum(score[rows], total)


def _home(*values: Any) -> Best:
    return Best(*(value.to("cpu").numpy() for value in values))
