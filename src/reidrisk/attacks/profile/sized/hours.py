"""What hours of the day add: at which hours two records were there, weighed as links that are sure teach.

A query is there in hour h with probability b g_h / g + (1 - b) p_h, where g_h of the g hours in which its target was
there are such hours of the day, and p is anybody's; each counts once per day. Given the person, hours are taken to be
independent of items, up to a power k: all hours of a query add

    k sum_h q_h log(1 + b (g_h / (g p_h) - 1)).

Two tables that hold parts of the same visits share most of their hours, other visits of the same person few. So b and k
are those under which the targets of sure links are told best from others with about as many hours: long records are
found more surely, and would make it seem that many hours speak for a target. A link that is wrong seldom shares hours,
and makes them count less. Where the sides are not of one time zone, links do not share their hours, and none count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidrisk.base.arrays import Floats, Ints
from reidrisk.records import Bags
from reidrisk.records.calendar import HOURS

_SURE, _SUREST = 0.5, 100  # probability of a link that teaches; where few have it, as many of the surest do
_FEWEST = 20  # links that teach, at least
LIKE = 100  # targets with about as many hours, with which that of a link is compared
_SHARES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97)
_POWERS = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)
_CLEAR = 3.0  # standard errors by which hours must tell


@dataclass(frozen=True)
class HourTerms:
    """The share b and the power k, and p by hour of the day, as ``popular``.

    >>> from scipy import sparse
    >>> mornings = sparse.csr_array([[0] * 9 + [4] + [0] * 14])
    >>> terms = HourTerms(0.5, 1.0, (1 / 24,) * 24)
    >>> added = terms.of_targets(mornings) @ hours_of_queries(mornings).T        # log(1 + 0.5 * 23), four times
    >>> added.toarray().round(3).tolist()
    [[10.103]]
    """

    share: float
    power: float
    popular: tuple[float, ...]

    def of_targets(self, there: Any) -> Any:
        """Return what each hour of a query adds, (n, 25): above an hour at which the target was never, and that.

        ``there`` (n, 24) holds on how many days each target is there in each hour; where in none, nothing is added.
        """
        from scipy import sparse

        total = np.asarray(there.sum(axis=1)).ravel()
        row = np.repeat(np.arange(there.shape[0]), np.diff(there.indptr))
        ratio = there.data / total[row] / np.array(self.popular)[there.indices]
        never = np.log1p(-self.share)
        above = np.log1p(self.share * (ratio - 1.0)) - never
        held = sparse.csr_array((above, there.indices, there.indptr), there.shape)
        return self.power * sparse.hstack([held, sparse.csr_array(never * (total > 0.0)[:, None])], format="csr")


def hours_of_queries(there: Any) -> Any:
    """Return the hours of queries, and how many these are, (n, 25)."""
    from scipy import sparse

    return sparse.hstack([there, sparse.csr_array(there.sum(axis=1)[:, None])], format="csr").astype(np.float64)


def days_there(records: Bags) -> Any:
    """Return on how many days each record is there in each hour of the day, a sparse (n, 24); in none, if not known."""
    from scipy import sparse

    if records.clock is None:
        return sparse.csr_array((len(records), HOURS), dtype=np.float64)
    held = records.clock[:, -HOURS:].astype(np.float64)
    held.sort_indices()
    return held


def learnt_hours(known: Any, asked: Any, own: Ints, sure: Floats) -> HourTerms | None:
    """Return what hours add, as the targets ``own`` of some queries tell; None if that is not clear.

    ``known`` and ``asked`` are the days at which targets and queries are there, and ``sure`` is how probable each link
    is. Targets with as many hours are compared in the order in which they come.
    """
    if known.shape[0] < 2 * LIKE or asked.shape[0] < _FEWEST or not known.nnz:
        return None
    chosen = np.argsort(-sure, kind="stable")[: max(int((sure > _SURE).sum()), _SUREST)]
    own, sure, times = own[chosen], sure[chosen], asked[chosen].toarray()
    popular = known.count_nonzero(axis=0) + 0.5
    terms = HourTerms(0.0, 1.0, tuple((popular / popular.sum()).tolist()))
    like = _alike(np.asarray(known.sum(axis=1)).ravel(), own)
    total, found = times.sum(axis=1), []
    for share in _SHARES:
        logs = replace(terms, share=share).of_targets(known).toarray()
        others = np.einsum("qh,qth->qt", times, logs[like, :-1]) + total[:, None] * logs[like, -1]
        mine = (times * logs[own, :-1]).sum(axis=1) + total * logs[own, -1]
        for power in _POWERS:
            top = power * others.max(axis=1)
            gain = power * mine - top - np.log(np.exp(power * others - top[:, None]).mean(axis=1))
            found.append((gain * sure / sure.mean(), replace(terms, share=share, power=power)))
    gain, best = max(found, key=lambda one: float(one[0].mean()))
    clear = gain.mean() > _CLEAR * gain.std() / np.sqrt(len(gain))
    return best if clear else None


def _alike(sizes: Floats, own: Ints) -> Ints:
    """Return the target rows with about as many hours as each of these has, it among them."""
    order = np.argsort(sizes, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    first = np.clip(place[own] - LIKE // 2, 0, len(order) - LIKE)
    return np.asarray(order[first[:, None] + np.arange(LIKE)])
