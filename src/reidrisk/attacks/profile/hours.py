"""What hours of the day add to links by items: when two records were there, and what they then had.

At how many days a record was there in each hour is a bag of its own, of 24 items, and the model of bags compares two of
them as it does any others: two observers of the same visits share most of their hours, as facts that one record holds
and the other knows; other visits of the same person share some. With S the log Bayes factor of the hours over its
temperature, hours are taken to be independent of items up to a power, and add

    k S  +  l sum_ih q_ih log(1 + r / (1 - r) d_ih / (d_h m_i)),

where q_ih of a query's hours are h, with item i; the rest is :mod:`reidrisk.attacks.hours`, where r is learnt from the
targets. Whose a query is, is not known, but how likely each target is by its items; and of two witnesses that are
independent the one tells what the other is worth. First k, then l are those under which the mean over queries of

    log sum_t P(t | items) e_t,    e_t = exp(what hours add) over what it is for others,

is highest: half of these others are any targets, half the next likeliest. People who have the same items may well have
the same hours, and then hours say less. Where the two sides are not of one time zone, or of other periods, no target
that is likely shares a query's hours, and none count; nor do they where they make links less sure, or where the least
power that is tried is the best: then they say far too much. Where items hardly tell who anybody is, they cannot tell:
hours count in full if they look like those of the same visits, and links by them are far surer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.hours import HourCells, HourHabits
from reidrisk.base.arrays import Bools, Floats, Ints
from reidrisk.records import Bags
from reidrisk.records.calendar import HOURS
from reidrisk.search.sparse import SparseDot, SparseRows

FEWEST, NEAR, COMPARED = 20, 10, 2_000  # records of either side, targets that a query may be of, and any targets
_POWERS = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)
_CLEAR = 3.0  # standard errors by which hours must tell
_SURER = 3.0  # times as sure that links by hours must be to count in full
_LITTLE = 0.03  # sureness by items that tell nothing of what hours are worth
_SEEN = 1.5  # standard errors by which hours must speak for likely targets rather than for those of other queries
_HIGHEST = 50.0  # logarithm of what hours may say for a target
_TARGET_STEPS, _QUERY_STEPS = 1 << 16, 1 << 8  # of a weight in one
STEPS = _TARGET_STEPS * _QUERY_STEPS  # steps of what hours add in one nat


def hour_bags(clock: Any) -> Bags:
    """Return on how many days each record was there in each hour of the day, of the hours that bags hold."""
    return Bags(clock[:, -HOURS:].astype(np.int64))


class Suspects(NamedTuple):
    """The targets (q, k) that a query may be of, and how likely each is by its items."""

    target: Ints
    chance: Floats

    def sure(self, beyond: Floats) -> float:
        """Return how likely the likeliest is on average, if hours say so much for each, (q, k)."""
        each = self.chance * np.exp(np.minimum(beyond, _HIGHEST) - self.told(beyond)[:, None])
        return float(each.max(axis=1).mean())

    def told(self, beyond: Floats) -> Floats:
        """Return the log of how much likelier each query is if hours say so much for its suspects, (q, k)."""
        nobody = np.maximum(1.0 - self.chance.sum(axis=1), 0.0)
        likely = (self.chance * np.exp(np.minimum(beyond, _HIGHEST))).sum(axis=1) + nobody
        return np.asarray(np.log(np.maximum(likely, np.finfo(np.float64).tiny)))


@dataclass(frozen=True, eq=False)
class HourTerms:
    """The model of the hours alone (a ``ProfileBayes``) and its ``rows`` of targets, habits, and the powers k and l.

    Hours are given as bags hold them (``Bags.clock``).
    """

    alone: Any
    rows: Any
    habits: HourHabits
    power: float = 1.0
    of_items: float = 0.0

    @property
    def same_visits(self) -> bool:
        """Whether hours look like those of the same visits: a target holds all that its query knows."""
        return self.alone.model_.facts is not None

    def of_targets(self, known: Any, scale: float = 1.0) -> SparseRows:
        """Return what hours add to the score of each target, times ``scale``, in whole steps; nothing if not known."""
        cells = HourCells.of(known)
        hours = _of_some(self.rows, cells.known, scale * self.power / self.alone.temperature_)
        return _beside(hours, self.habits.repeated(cells) * (scale * self.of_items * _TARGET_STEPS), self.of_items)

    def nothing(self, n: int) -> Any:
        """Return the hours of ``n`` records of which none are known."""
        from scipy import sparse

        return sparse.csr_array((n, HOURS * (len(self.habits.popular) + 1)), dtype=np.int64)

    def of_queries(self, asked: Any) -> SparseRows:
        """Return the hours of queries, in whole steps."""
        cells = HourCells.of(asked)
        hours = _of_some(self.alone._posed(hour_bags(asked)).queries.rows, cells.known, 1.0)
        return _beside(hours, cells.repeated() * _QUERY_STEPS, self.of_items)

    def said(self, known: Any, asked: Any, suspects: Suspects, compared: Ints) -> list[Floats]:
        """Return log e_t of each suspect (q, k) for each power."""
        targets, queries, (n, k) = self.of_targets(known), self.of_queries(asked), suspects.target.shape
        each = SparseRows(queries.rows[np.repeat(np.arange(n), k)])
        own = SparseDot().pairs(targets, each, suspects.target.ravel()).reshape(n, k) / STEPS
        others = SparseDot().scores(targets.take(compared), queries) / STEPS
        return [_beyond(power * own, power * others) for power in _POWERS]

    def by_chance(self, known: Any, asked: Any, suspects: Suspects, compared: Ints) -> Floats:
        """Return what hours in full would tell of suspects that are those of another query."""
        other = Suspects(np.roll(suspects.target, 1, axis=0), np.roll(suspects.chance, 1, axis=0))
        return other.told(self.said(known, asked, other, compared)[-1])


def learnt_hours(
    model: Any, known: Any, queries: Any, some: Ints, suspects: Suspects, compared: Ints
) -> HourTerms | None:
    """Return what hours add, as items tell of whom some queries are; None where they tell that hours say nothing.

    ``model`` is the model of bags, not yet fitted, ``known`` and ``queries`` the hours that bags of both sides hold,
    ``some`` are the queries whose suspects are given, and ``compared`` any targets.
    """
    cells = HourCells.of(known)
    if min(int(cells.known.sum()), len(some)) < FEWEST or not HourCells.of(queries).known.any():
        return None
    alone, asked = model.fit(hour_bags(known)).look_around(hour_bags(queries)), queries[some]
    sure = float(alone.link(hour_bags(asked), probability=True).probability.mean())
    terms = HourTerms(alone, alone._posed(hour_bags(asked)).targets.rows, HourHabits.learnt(cells))
    said = terms.said(known, asked, suspects, compared)
    power, gain = _most_likely(said, suspects)
    by_items, whole = suspects.sure(np.zeros(1)), suspects.told(said[-1])
    if sure > _SURER * by_items and (
        terms.same_visits
        or by_items < _LITTLE
        or _clear(whole - terms.by_chance(known, asked, suspects, compared), _SEEN)
    ):
        power, gain = len(said) - 1, whole
    elif power >= 0 and (not _clear(gain) or suspects.sure(said[power]) < by_items):
        power, gain = -1, np.zeros(len(some))
    beyond = said[power] if power >= 0 else np.zeros(suspects.target.shape)
    items = replace(terms, power=0.0, of_items=1.0).said(known, asked, suspects, compared)
    again, both = _most_likely([beyond + one for one in items], suspects)
    found = replace(terms, power=_POWERS[power] if power >= 0 else 0.0)
    if again >= 0 and _clear(both - gain) and suspects.sure(beyond + items[again]) >= by_items:
        return replace(found, of_items=_POWERS[again])
    return found if power >= 0 else None


def _beyond(own: Floats, others: Floats) -> Floats:
    """Return by how much each suspect's log-likelihood is beyond that of others: any targets, and other suspects."""
    top = np.maximum(own.max(axis=1, keepdims=True), others.max(axis=1, keepdims=True))
    mine = np.exp(own - top)
    beside = (mine.sum(axis=1, keepdims=True) - mine) / max(own.shape[1] - 1, 1)
    anybody = np.exp(others - top).mean(axis=1, keepdims=True)
    return np.asarray(own - top - np.log(np.maximum((anybody + beside) / 2.0, np.finfo(np.float64).tiny)))


def _most_likely(said: list[Floats], suspects: Suspects) -> tuple[int, Floats]:
    """Return under which power queries are most likely, and by how much each is; -1 where it is the least of them.

    Then hours say far too much: events come together (all tests of a round in a hospital), and what little they still
    say is mostly chance.
    """
    told = [suspects.told(one) for one in said]
    best = int(np.argmax([one.mean() for one in told]))
    return (best, told[best]) if best else (-1, np.zeros(len(suspects.chance)))


def _clear(gain: Floats, errors: float = _CLEAR) -> bool:
    return bool(gain.mean() > errors * gain.std() / np.sqrt(len(gain)))


def _of_some(rows: Any, known: Bools, times: float) -> Any:
    """Return the rows multiplied, and empty where hours are not known."""
    from scipy import sparse

    factor = np.repeat(np.where(known, times, 0.0), np.diff(rows.indptr))
    return sparse.csr_array((rows.data * factor, rows.indices, rows.indptr), rows.shape)


def _beside(hours: Any, items: Any, of_items: float) -> SparseRows:
    """Return both in whole steps; of items in their hours only if these count."""
    from scipy import sparse

    rows = sparse.hstack([hours, items], format="csr") if of_items else hours
    return SparseRows(sparse.csr_array((np.rint(rows.data).astype(np.int64), rows.indices, rows.indptr), rows.shape))
