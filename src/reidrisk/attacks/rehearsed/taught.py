"""Attacks that a rehearsal teaches: from pairs of parts of one record they learn what stays the same in a person.

Both are readings of the panel, fitted on any targets and taught by the same rehearsed pairs. Pairs that teach are never
those on which the panel is weighed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from reidrisk.attacks.rivals.base import Counted, counts_of, holders, rows_of, with_data
from reidrisk.attacks.rivals.tf_idf import TfIdf
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.streams import stream
from reidrisk.records import Bags, Case
from reidrisk.search.dense import DenseDot, DenseRows

FEWEST = 100  # pairs from which something can be taught
_SIZE, _PER = 100, 4  # directions of taste at most, and pairs for each of them
_SPARE, _ROUNDS = 16, 4  # of the decomposition: vectors beside those wanted, and rounds
_RIDGE, _LARGEST = 0.5, 0.98  # added to each variance, of their mean; and the largest correlation believed
_STEPS = 1 << 10
_SHRINK = 3.0  # queries of an item that what holds for others of its popularity is worth
_POWERS = np.linspace(0.0, 1.0, 41)
_FLOOR = 0.05  # what an item weighs that is held again as seldom as anybody holds it


@dataclass(frozen=True, eq=False)
class RehearsedPairs:
    """Rehearsed pairs: ``known`` are all targets that were left, row ``own`` of them is that of each of ``asked``."""

    known: Any
    asked: Any
    own: Ints

    @classmethod
    def of(cls, case: Case, first: int = 0) -> RehearsedPairs:
        """Return the pairs of a case from the query ``first`` on."""
        assert case.truth is not None
        rows = slice(first, None)
        return cls(counts_of(case.targets), counts_of(case.queries.take(rows)), case.truth.target[rows])

    def __len__(self) -> int:
        return len(self.own)


def taught_by(pairs: RehearsedPairs) -> list[ScoredAttack[Any]]:
    """Return the attacks that these pairs teach; none if they are too few."""
    return [Kindred(pairs), Lasting(pairs)] if len(pairs) >= FEWEST else []


class Kindred(ScoredAttack[Counted]):
    """Link to the target whose taste is likeliest that of the query's person, as canonical correlations tell.

    A record is placed by the strongest directions of the targets' weighted items (truncated singular value
    decomposition of TF-IDF rows). Regularised canonical correlations of rehearsed pairs say how far each combination of
    directions is the same in two parts of one record. With a, b the two records in those combinations, of variance 1
    and correlation c, the score is the log-likelihood ratio of one person against two (Gaussian),

        sum over combinations of (2 c a b - c^2 (a^2 + b^2)) / (2 (1 - c^2)),

    less what is the same for all targets (Hotelling 1936; two-covariance scoring in speaker recognition).
    """

    description = "Compares tastes along the directions that rehearsed pairs have in common (canonical correlations)."

    def __init__(self, pairs: RehearsedPairs, seed: int = 0) -> None:
        self._pairs, self._seed = pairs, seed

    def fit(self, targets: Counted) -> Self:
        """Find directions of taste among the targets, and what pairs have in common along them."""
        assert isinstance(targets, Bags)
        counts, pairs = counts_of(targets), self._pairs
        self._rarity = np.log((1 + counts.shape[0]) / (1 + holders(counts))) + 1.0
        rows = self._weighed(counts)
        size = min(_SIZE, len(pairs) // _PER, min(counts.shape) - 1)
        self._directions = _strongest(rows, max(size, 1), self._seed)
        one, two = self._weighed(pairs.asked) @ self._directions, self._weighed(pairs.known) @ self._directions
        self._middle = np.round(one.mean(axis=0), 9), np.round(two.mean(axis=0), 9)
        one, two = one - self._middle[0], two - self._middle[1]
        left, right = (_whitening(side.T @ side / len(side)) for side in (one, two))
        u, c, v = np.linalg.svd(left @ (one.T @ two[pairs.own] / len(one)) @ right)
        c = np.minimum(c, _LARGEST)
        gain = np.sqrt(c / (1.0 - c**2))
        self._turn = left @ u * gain, right @ v.T * gain
        # In the turned coordinates b^2 c / (1 - c^2), and the score takes off c / 2 of it.
        self._less = c / 2.0
        self._known = self._placed(rows, 1)
        return self

    def _posed(self, queries: Counted) -> Posed:
        self._refuse_unfitted("_known")
        assert isinstance(queries, Bags)
        return Posed(DenseDot(), self._known, self._placed(self._weighed(counts_of(queries)), 0))

    def _placed(self, weighed: Any, side: int) -> DenseRows:
        at = np.asarray(weighed @ self._directions) - self._middle[side]
        turned = at @ self._turn[side]
        last = np.ones(len(at)) if side == 0 else -(turned**2) @ self._less
        placed = np.column_stack([turned, last])
        placed[np.diff(weighed.indptr) == 0] = 0.0  # a record without items is as far from all
        return DenseRows(np.rint(placed * _STEPS).astype(np.int64))

    def _weighed(self, counts: Any) -> Any:
        weights = (1.0 + np.log(np.maximum(counts.data, 1))) * self._rarity[counts.indices]
        rows = rows_of(counts)
        length = np.sqrt(np.bincount(rows, weights**2, counts.shape[0]))
        return with_data(counts, weights / np.maximum(length, 1e-12)[rows])


class Lasting(TfIdf):
    """Link by TF-IDF cosine, with items weighed by how much more often they are held again than anybody holds them.

    With p_i the share of targets that hold item i, and r_i the share of rehearsed queries with i whose own target holds
    it too, an item weighs sqrt(log(r_i / p_i)). r_i is shrunk to p_i^a, with the a that fits all items best.
    """

    description = "Compares items by cosine, where those weigh more that people hold again in the rehearsal."

    def __init__(self, pairs: RehearsedPairs) -> None:
        self._pairs = pairs

    def _learn(self, counts: Any) -> None:
        pairs = self._pairs
        n, asked = pairs.known.shape[0], holders(pairs.asked)
        both = holders(pairs.asked.minimum(pairs.known[pairs.own]).tocsr())
        common = (holders(pairs.known) + 0.5) / (n + 1.0)
        seen = asked > 0
        log = np.log(common[seen])
        fits = [
            float(np.sum(both[seen] * a * log + (asked - both)[seen] * np.log1p(-np.exp(np.minimum(a * log, -1e-4)))))
            for a in _POWERS
        ]
        usual = common ** float(_POWERS[int(np.argmax(fits))])
        again = (both + _SHRINK * usual) / (asked + _SHRINK)
        self.rarity_ = np.sqrt(np.maximum(np.log(again / common), _FLOOR))


def _strongest(rows: Any, size: int, seed: int) -> Floats:
    """Return the strongest right singular vectors of sparse rows, by subspace iteration (Halko et al. 2011)."""
    width = rows.shape[1]
    within = stream(seed, "kindred: start").normal(size=(width, min(size + _SPARE, width)))
    across = rows.T.tocsr()
    for _ in range(_ROUNDS):
        within, _ = np.linalg.qr(across @ (rows @ within))
    values, vectors = np.linalg.eigh(_square(rows @ within))
    return np.asarray(within @ vectors[:, np.argsort(-values)[:size]])


def _square(rows: Any) -> Floats:
    return np.asarray(rows.T @ rows)


def _whitening(variance: Floats) -> Floats:
    """Return the inverse square root of a covariance with a ridge."""
    size = len(variance)
    values, vectors = np.linalg.eigh(variance + _RIDGE * max(float(np.trace(variance)), 1e-12) / size * np.eye(size))
    return np.asarray(vectors / np.sqrt(values) @ vectors.T)
