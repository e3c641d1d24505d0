"""Scores that add up over epochs: what a match and a mismatch on a token are worth, on a fixed integer grid.

    score(query o, target w) = sum over epochs s seen by both of  match[s, o_s]     where w_s  = o_s
                                                                  mismatch[s, o_s]  where w_s != o_s

Weights are rounded once, here, to whole multiples of 1 / GRID nats. From then on sums are integer sums, which neither
the order nor the device nor the way the data was cut can change.
"""

from dataclasses import dataclass, field

import numpy as np

from reidrisk.base import Array, ArrayLike, DataError, Ints, Signed
from reidrisk.search.index import Index

GRID = 1 << 16  # steps of the score grid in one nat: rounding moves a weight by less than a hundred-thousandth


def to_grid(nats: ArrayLike) -> Ints:
    """Round weights in nats to the grid: ``to_grid([0.0, 1.0, -0.5])`` is 0, 65,536 and -32,768."""
    return np.rint(np.asarray(nats, dtype=np.float64) * GRID).astype(np.int64)


@dataclass(frozen=True)
class Weights:
    """What agreeing and disagreeing on the query's token is worth: (r or 1, n_tokens) whole numbers each.

    ``per_nat`` is the number of grid steps in one nat; 0 where scores are plain counts and no likelihood.
    """

    match: Ints
    mismatch: Ints
    per_nat: int = GRID

    def __post_init__(self) -> None:
        for name in ("match", "mismatch"):
            object.__setattr__(self, name, _whole(getattr(self, name), name))
        if self.match.shape != self.mismatch.shape or self.match.ndim != 2:
            raise DataError(f"match {self.match.shape} and mismatch {self.mismatch.shape} weights differ in shape")

    def of(self, queries: Signed) -> tuple[Ints, Ints]:
        """Look up (q, r) gains (match - mismatch) and mismatches for query tokens; a missing token has 0 and 0."""
        epochs = np.arange(queries.shape[1]) if len(self.match) > 1 else np.zeros(queries.shape[1], dtype=np.int64)
        seen = queries >= 0
        token = np.where(seen, queries, 0)
        mismatch = np.where(seen, self.mismatch[epochs, token], 0)
        return np.where(seen, self.match[epochs, token], 0) - mismatch, mismatch


@dataclass(frozen=True)
class RangeWeights(Weights):
    """Weights where tokens near the query's are worth something, too: near is what lies in a range of tokens.

    Beside match and mismatch, which have one row, a target's token w adds ``worth[l, o]`` for each level l with
    ``first[l, o] <= w <= last[l, o]``; (levels, n_tokens) whole numbers each, tokens of which are in an order of their
    own, such as that of numbers.
    """

    first: Ints = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    last: Ints = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    worth: Ints = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("first", "last", "worth"):
            object.__setattr__(self, name, _whole(getattr(self, name), name))
        shapes = {self.first.shape[1:], self.last.shape[1:], self.worth.shape[1:], self.match.shape[1:]}
        if len(self.match) != 1 or len(shapes) > 1 or not len(self.first) == len(self.last) == len(self.worth):
            raise DataError(f"ranges {self.worth.shape} do not fit weights of tokens {self.match.shape}, in one row")
        if self.first.min(initial=0) < 0 or self.last.max(initial=0) >= self.match.shape[1]:
            raise DataError(f"ranges are of tokens in [0, {self.match.shape[1]}); there is one outside")

    def ranges(self, queries: Signed) -> tuple[Ints, Ints, Ints]:
        """Look up (q, r, levels) first and last tokens and what they are worth; a missing token has 0."""
        seen = queries >= 0
        token = np.where(seen, queries, 0)
        first, last, worth = (np.moveaxis(table[:, token], 0, -1) for table in (self.first, self.last, self.worth))
        return first, last, np.where(seen[..., None], worth, 0)


@dataclass(frozen=True)
class PairWeights:
    """What every pair of tokens is worth: where a mismatch tells, too, the score needs both tokens.

    ``table[s, o, w]`` is the weight of seeing o in the query and w in the target in epoch s, or in any with one s.
    """

    table: Ints
    per_nat: int = GRID

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", _whole(self.table, "pair"))
        if self.table.ndim != 3 or self.table.shape[1] != self.table.shape[2]:
            raise DataError(f"pair weights must have shape (epochs or 1, tokens, tokens), not {self.table.shape}")

    def of(self, queries: Array, targets: Array) -> Ints:
        """Look up the weights of equally shaped (…, r) tokens; a missing token on either side has 0."""
        epochs = np.arange(queries.shape[-1]) if len(self.table) > 1 else np.zeros(queries.shape[-1], dtype=np.int64)
        seen = (queries >= 0) & (targets >= 0)
        return np.where(seen, self.table[epochs, np.where(seen, queries, 0), np.where(seen, targets, 0)], 0)


AnyWeights = Weights | PairWeights


def check_fit(index: Index, queries: Array, weights: AnyWeights) -> None:
    """Refuse queries or weights that do not fit the targets: kernels look tokens up without asking."""
    if queries.ndim != 2 or queries.dtype.kind != "i" or queries.shape[1] != index.n_epochs:
        given = f"{queries.dtype} of shape {queries.shape}"
        raise DataError(f"queries must be signed integers of shape (queries, {index.n_epochs} epochs), not {given}")
    if not index.n_users:
        raise DataError("there is no target to find")
    if queries.size and (queries.min() < -1 or queries.max() >= index.n_tokens):
        raise DataError(f"query tokens lie in [0, {index.n_tokens}), and -1 means missing; there is one outside")
    rows, tokens = weights.table.shape[:2] if isinstance(weights, PairWeights) else weights.match.shape
    if rows not in (1, index.n_epochs) or tokens != index.n_tokens:
        held = f"{index.n_epochs} of {index.n_tokens}"
        raise DataError(f"weights are for {rows} epochs of {tokens} tokens, the targets have {held}")


def _whole(values: Array, name: str) -> Ints:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise DataError(f"{name} weights are {array.dtype}; round them to whole numbers once, with to_grid")
    return array.astype(np.int64)


def pair_scores(targets: Array, queries: Array, weights: AnyWeights, rows: Ints) -> Ints:
    """Return the score of each query (q, r) with the target row given for it; rows lie in [0, n)."""
    paired = targets[rows]
    if isinstance(weights, PairWeights):
        return np.asarray(weights.of(queries, paired).sum(axis=1))
    gain, mismatch = weights.of(queries)
    found = np.sum(np.where(paired == queries, gain + mismatch, mismatch) * (paired >= 0), axis=1)
    if isinstance(weights, RangeWeights):
        first, last, worth = weights.ranges(queries)
        within = (first <= paired[..., None]) & (paired[..., None] <= last)
        found = found + (worth * within).sum(axis=(1, 2))
    return np.asarray(found)
