"""What hours of the day add: when two records were there, and what they then had, weighed as links by items teach.

Given the person, hours are taken to be independent of items up to a power: a query's hours and its items in them add

    k sum_h q_h log(1 + b (g_h / (g p_h) - 1))  +  l sum_ih q_ih log(1 + r / (1 - r) d_ih / (d_h m_i)),

where q_h of a query's hours are h, and q_ih of them with item i; the rest is :mod:`reidrisk.attacks.hours`, where r is
learnt from the targets. b, k and l are learnt from both tables: two that hold parts of the same visits share most of
their hours, other visits of the same person few. Whose a query is, is not known, but how likely each target is by its
items, and of two witnesses that are independent the one tells what the other is worth. First b and k, then l are those
under which the mean over queries of

    log sum_t P(t | items) e_t,    e_t = exp(what hours add) over its mean for targets that were there as often as t,

is highest. Long records are found more surely, and would else make it seem that many hours speak for a target. Where
the two sides are not of one time zone, no target that is likely shares a query's hours, and none count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.hours import HourCells, HourHabits
from reidrisk.base.arrays import Bools, Floats, Ints

FEWEST, LIKE = 20, 100  # queries that teach, and targets with about as many hours, with which others are compared
MOST, NEAR = 2_000, 10  # targets that are compared, at most, and that may be a query's own
_SHARES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97)
_POWERS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)
_CLEAR = 3.0  # standard errors by which hours must tell
_HIGHEST = 50.0  # logarithm of what hours may say for a target


@dataclass(frozen=True)
class HourTerms:
    """What hours add: the share b, the power k, the power l of items in their hours, and habits."""

    habits: HourHabits
    share: float
    power: float = 1.0
    of_items: float = 1.0

    def of_targets(self, clock: Any) -> Any:
        """Return what each hour of a query adds to the score of each target, and each item in each hour, as csr rows.

        The columns are the hours of the day, one for an hour in which a target never was, and the items by hour. Of
        targets whose hours are not known nothing is added.
        """
        from scipy import sparse

        cells = HourCells.of(clock)
        hours, never = self.habits.hours(cells, self.share)
        nowhere = sparse.csr_array(never * cells.known[:, None])
        parts = [self.power * hours, self.power * nowhere, self.of_items * self.habits.repeated(cells)]
        return sparse.hstack(parts, format="csr")

    def scaled(self, factor: float) -> HourTerms:
        """Return the same with what is added multiplied."""
        return replace(self, power=factor * self.power, of_items=factor * self.of_items)


def hours_of_queries(clock: Any) -> Any:
    """Return the hours of queries, how many these are, and their items by hour, as csr rows."""
    from scipy import sparse

    cells = HourCells.of(clock)
    parts = [cells.there, sparse.csr_array(cells.total[:, None]), cells.repeated()]
    return sparse.hstack(parts, format="csr").astype(np.float64)


class Suspects(NamedTuple):
    """The targets (q, k) that a query may be of, and how likely each is by its items."""

    target: Ints
    chance: Floats

    def told(self, beyond: Floats) -> Floats:
        """Return the log of how much likelier each query is if hours say so much for its suspects, (q, k)."""
        nobody = np.maximum(1.0 - self.chance.sum(axis=1), 0.0)
        likely = (self.chance * np.exp(np.minimum(beyond, _HIGHEST))).sum(axis=1) + nobody
        return np.asarray(np.log(np.maximum(likely, np.finfo(np.float64).tiny)))


def learnt_hours(known: Any, asked: Any, suspects: Suspects, compared: Ints) -> HourTerms | None:
    """Return what hours add, as items tell of whom some queries are; None where that is not clear.

    ``known`` and ``asked`` are the hours that bags of targets and of these queries hold, ``compared`` some targets.
    """
    everyone = HourCells.of(known)
    if everyone.known[compared].sum() < 2 * LIKE or asked.shape[0] < FEWEST:
        return None
    rows, place = np.unique(np.concatenate([suspects.target.ravel(), compared]), return_inverse=True)
    own, compared = place[: suspects.target.size].reshape(suspects.target.shape), place[suspects.target.size :]
    alike = _Alike.of(known[rows], hours_of_queries(asked), own, compared)
    terms = HourTerms(HourHabits.learnt(everyone), 0.5, of_items=0.0)
    found = []
    for share in _SHARES:
        hours = alike.scores(replace(terms, share=share))
        for power in _POWERS:
            told = suspects.told(alike.beyond(power, hours))
            found.append((told, alike.beyond(power, hours), replace(terms, share=share, power=power)))
    told, beyond, best = max(found, key=lambda one: float(one[0].mean()))
    if not _clear(told):
        return None
    items = alike.scores(replace(best, power=0.0, of_items=1.0))
    more = ((suspects.told(beyond + alike.beyond(power, items)), power) for power in _POWERS)
    both, power = max(more, key=lambda one: float(one[0].mean()))
    return replace(best, of_items=power) if _clear(both - told) else best


def _clear(gain: Floats) -> bool:
    return bool(gain.mean() > _CLEAR * gain.std() / np.sqrt(len(gain)))


class _Scores(NamedTuple):
    own: Floats  # of suspects (q, k)
    others: Floats  # of the targets that are compared (q, n)


@dataclass(frozen=True, eq=False)
class _Alike:
    """Suspects (q, k), targets to compare them with in order of how many hours they have, and where those like begin.

    ``known`` are the hours of both, and ``queries`` those of queries.
    """

    known: Any
    queries: Any
    suspects: Ints
    compared: Ints
    first: Ints
    there: Bools

    @classmethod
    def of(cls, known: Any, queries: Any, suspects: Ints, compared: Ints) -> _Alike:
        cells = HourCells.of(known)
        compared = compared[cells.known[compared]]
        compared = compared[np.argsort(cells.total[compared], kind="stable")]
        sizes, wanted = cells.total[compared], cells.total[suspects]
        middle = (np.searchsorted(sizes, wanted) + np.searchsorted(sizes, wanted, side="right")) // 2
        first = np.clip(middle - LIKE // 2, 0, len(compared) - LIKE)
        return cls(known, queries, suspects, compared, first, cells.known[suspects])

    def scores(self, terms: HourTerms) -> _Scores:
        """Return what hours add."""
        targets, (n, k) = terms.of_targets(self.known), self.suspects.shape
        own = (self.queries[np.repeat(np.arange(n), k)] * targets[self.suspects.ravel()]).sum(axis=1)
        others = (self.queries @ targets[self.compared].T.tocsr()).toarray()
        return _Scores(np.asarray(own).reshape(n, k), np.asarray(others))

    def beyond(self, power: float, scores: _Scores) -> Floats:
        """Return the log of e_t: by how much a suspect's score is above the mean likelihood of targets like it."""
        own, others = power * scores.own, power * scores.others
        top = others.max(axis=1, keepdims=True)
        sums = np.concatenate([np.zeros((len(top), 1)), np.cumsum(np.exp(others - top), axis=1)], axis=1)
        inside = np.take_along_axis(sums, self.first + LIKE, axis=1) - np.take_along_axis(sums, self.first, axis=1)
        above = own - top - np.log(np.maximum(inside / LIKE, np.finfo(np.float64).tiny))
        return np.asarray(np.where(self.there, above, 0.0))
