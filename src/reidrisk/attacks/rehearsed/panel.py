"""A panel of attacks on the same targets, and what their scores of a pair say: the features of a pair.

An attack's score of a pair has no common scale. Three readings of it have: it is compared with the scores of the same
query with other targets (z), with those of other queries with the same target (t), and with a typical spread (s). How
much a record holds is no feature: that the targets of a rehearsal were long enough to be cut would be taken for
evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.base.arrays import Floats, Ints
from reidrisk.records import Bags
from reidrisk.search.sparse import SparseRows

READINGS = 3  # of each score: z, t, s
_REFERENCE = 512  # records of either side with which others are compared
_PAIRS = 20_000_000  # pairs of which every attack is asked at one step, if that leaves it enough queries
_LEAST = 0.3  # added to the spread of a target's standard scores: few queries do not make it small


@dataclass(frozen=True, eq=False)
class Side:
    """Records as every attack of the panel takes them, with their place and spread among the reference of the other.

    ``mean`` and ``spread`` (n, k) are of raw scores for queries, and of standard scores for targets. Where all queries
    were weighed against each other (:mod:`reidrisk.attacks.rehearsed.settled`), targets know how much they are
    ``taken``, and their ``place`` among all, and queries what is given ``back`` to them of the ``near`` ones, and
    whether they were ``met`` then. Where hours of the day count (:mod:`reidrisk.attacks.rehearsed.hours`), ``hours``
    are those of queries, and what each adds to the score of targets. Where sizes count
    (:mod:`reidrisk.attacks.rehearsed.sizes`), ``size`` (n,) is each record's, on a normal curve.
    """

    parts: tuple[Any, ...]
    mean: Floats
    spread: Floats
    taken: Floats | None = None
    place: Ints | None = None
    near: Ints | None = None
    back: Floats | None = None
    met: npt.NDArray[np.bool_] | None = None
    hours: SparseRows | None = None
    size: Floats | None = None

    def __len__(self) -> int:
        return len(self.mean)

    def __getitem__(self, rows: Any) -> Side:
        return Side(tuple(part[rows] for part in self.parts), *self._numbers(rows))

    def take(self, rows: Ints) -> Side:
        """Return the chosen records, in that order."""
        return Side(tuple(p.take(rows) for p in self.parts), *self._numbers(rows))

    def _numbers(self, rows: Any) -> tuple[Any, ...]:
        each = (self.mean, self.spread, self.taken, self.place, self.near, self.back, self.met, self.hours, self.size)
        return tuple(None if one is None else one[rows] for one in each)


class Panel:
    """Attacks, each fitted on the same targets and shown the same queries, and their scores of pairs."""

    def __init__(self, attacks: Sequence[ScoredAttack[Any]], targets: Bags, queries: Bags) -> None:
        self.attacks = [attack.fit(targets).look_around(queries) for attack in attacks]
        few = reference(queries, affordable(len(targets), _REFERENCE))
        posed = self._posed(queries.take(few))
        self.scorers = tuple(one.scorer for one in posed)
        known = tuple(one.targets for one in posed)
        self._near = reference(targets)
        raw = [self._against(k, known[k], posed[k].queries) for k in range(len(posed))]
        near = [scores[:, self._near] for scores in raw]
        spread = np.array([scores.std(axis=1) for scores in near])
        self.typical = np.maximum(np.round(spread.mean(axis=1), 9), 1e-9)
        mean, apart = np.empty((len(targets), len(raw))), np.empty((len(targets), len(raw)))
        for k, scores in enumerate(raw):
            standard = (scores - near[k].mean(axis=1, keepdims=True)) / self._least(k, near[k].std(axis=1))[:, None]
            mean[:, k], apart[:, k] = standard.mean(axis=0), standard.std(axis=0) + _LEAST
        self.known = Side(known, mean, apart)

    def asked(self, queries: Bags) -> Side:
        """Return the queries as the panel takes them."""
        posed = self._posed(queries)
        mean, spread = np.empty((len(queries), len(posed))), np.empty((len(queries), len(posed)))
        for k, one in enumerate(posed):
            near = self._against(k, self.known.parts[k].take(self._near), one.queries)
            mean[:, k], spread[:, k] = near.mean(axis=1), self._least(k, near.std(axis=1))
        return Side(tuple(one.queries for one in posed), mean, spread)

    def _least(self, k: int, spread: Floats) -> Floats:
        """Return spreads that can be divided by: of a query that is as far from all, scores say nothing."""
        return np.asarray(np.where(spread > 1e-9 * self.typical[k], spread, np.inf))

    def _posed(self, queries: Bags) -> list[Posed]:
        return [attack._posed(queries) for attack in self.attacks]

    def _against(self, k: int, targets: Any, queries: Any) -> Floats:
        return np.asarray(self.scorers[k].scores(targets, queries), dtype=np.float64)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the attacks."""
        return tuple(attack.name for attack in self.attacks)

    @property
    def n_features(self) -> int:
        """How many numbers describe a pair."""
        return READINGS * len(self.attacks)


def affordable(n_targets: int, most: int) -> int:
    """Return how many queries to ask of all targets: the more there are, the fewer, down to a hundred."""
    return int(min(most, max(_PAIRS // max(n_targets, 1), 100)))


def readings_of(raw: Floats, k: int, rows: Any, typical: Floats, targets: Side, queries: Side) -> Floats:
    """Return the (q, c, 3) readings of the (q, c) scores of attack ``k`` with target ``rows`` (q, c), or all (n,).

    With m_q, s_q the mean and spread of a query's scores with some targets, m_t, s_t those of a target's standard
    scores with some queries, and s the typical spread: z = (S - m_q) / s_q, t = (z - m_t) / s_t, (S - m_q) / s.
    """
    less = raw - queries.mean[:, k, None]
    standard = less / queries.spread[:, k, None]
    relative = (standard - targets.mean[rows, k]) / targets.spread[rows, k]
    return np.stack([standard, relative, less / typical[k]], axis=-1)


def reference(bags: Bags, most: int = _REFERENCE) -> Ints:
    """Return the rows of some records, chosen by what they hold: the same ones in whatever order the rows come."""
    if len(bags) <= most:
        return np.arange(len(bags))
    return np.sort(np.argsort(fingerprints(bags), kind="stable")[:most])


def fingerprints(bags: Bags) -> npt.NDArray[np.uint64]:
    """Return a number of each record that depends on what it holds, and hardly ever agrees for different ones."""
    counts = bags.counts
    key = counts.indices.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + counts.data.astype(np.uint64)
    with np.errstate(over="ignore"):
        key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        key = key ^ (key >> np.uint64(27))
        before = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(key, dtype=np.uint64)])
        return np.asarray((before[counts.indptr[1:]] - before[counts.indptr[:-1]]) * np.uint64(0x94D049BB133111EB))
