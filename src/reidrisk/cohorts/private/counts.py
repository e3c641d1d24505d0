"""Cohort counts that protect people: one table with central noise, or answers that each user randomised alone."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reidrisk.base import Array, Floats, Ints, OptionError, stream, whole
from reidrisk.cohorts.sensitivity.counts import CohortCounts
from reidrisk.cohorts.sensitivity.significance import binomial_above, exact_ends, wilson_ends
from reidrisk.privacy import add_discrete_gaussian, check_budget, discrete_gaussian, zcdp_rho

_MOST_NOISE = 1e8  # products of two noisy counts still fit 64 bits


class Frequencies(NamedTuple):
    """What a block of cohorts shows: frequencies ``p`` in each and ``q`` in the rest, which is a ``part`` of all."""

    p: Floats
    q: Floats
    part: Floats

    @property
    def gap(self) -> Floats:
        """Gap of each cohort and category."""
        return np.asarray(self.part * (self.p - self.q))

    def tails(self, t: float, tail_of: Callable[[Ints, Ints, Floats], Floats]) -> Floats:
        """Return the tail of each cell by its row, category and part; 1 where the gap is not above t."""
        answer = np.ones(self.p.shape)
        row, category = np.nonzero(self.gap > t)
        if row.size:
            answer[row, category] = np.minimum(tail_of(row, category, self.part[row, 0]), 1.0)
        return answer


class Ends(NamedTuple):
    """Ends of the frequencies in each cohort, and in the rest."""

    low: Floats
    high: Floats
    rest_low: Floats
    rest_high: Floats


@dataclass(frozen=True, eq=False)
class CentralCounts:
    """Counts of all cohorts, with Gaussian noise in every cell, added by someone who sees them all."""

    sizes: Ints  # (m + 1,): cohorts without users too; the last is of users without a cohort
    visits: Ints  # (m + 1, c)
    sigma: float  # standard deviation of the noise of each cell

    @property
    def n_users(self) -> float:
        """Users in all, estimated; at least 1."""
        return max(float(self.sizes.sum()), 1.0)

    def frequencies(self, rows: slice) -> Frequencies:
        """Return the frequencies that the noisy counts show, within 0 and 1."""
        size = np.maximum(self.sizes[rows, None].astype(np.float64), 1.0)
        rest = np.maximum(self.n_users - size, 1.0)
        visits = self.visits[rows].astype(np.float64)
        p = (visits / size).clip(0.0, 1.0)
        q = ((self.visits.sum(axis=0) - visits) / rest).clip(0.0, 1.0)
        return Frequencies(p, q, rest / self.n_users)

    def noise_alone(self, size: float) -> float:
        """Return the standard deviation that the noise alone gives to a frequency in a cohort of this size."""
        return self.sigma / size

    def ends(self, rows: slice, tail: float) -> Ends:
        r"""Return the ends of the frequencies in each cohort and in the rest, of sampling and of noise together.

        Those of noise in a cohort are Fieller's: all p with :math:`|x - p s| \le z \sigma \sqrt{1 + p^2}` for the noisy
        count x and size s, 0 and 1 where noise could hide the whole cohort. Both distances are added as squares.
        """
        p, q, _ = self.frequencies(rows)
        sizes, reach = self.sizes[rows, None], _z(tail) * self.sigma
        size, rest = np.maximum(sizes, 1), np.maximum(self.n_users - sizes, 1.0)
        low, high = exact_ends(np.rint(p * size).astype(np.int64), size, tail)
        noise_low, noise_high = _fieller(self.visits[rows], sizes, reach)
        below = np.hypot(p - low, np.maximum(p - noise_low, 0.0))
        above = np.hypot(high - p, np.maximum(noise_high - p, 0.0))
        rest_low, rest_high = wilson_ends(q, rest.astype(np.int64), tail)
        noise = reach * math.sqrt(self.sizes.size - 1) * np.sqrt(1.0 + q**2) / rest
        rest_below, rest_above = np.hypot(q - rest_low, noise), np.hypot(rest_high - q, noise)
        return Ends(*(end.clip(0.0, 1.0) for end in (p - below, p + above, q - rest_below, q + rest_above)))

    def tails(self, rows: slice, t: float, gamma: float) -> Floats:
        r"""Return for each cell how likely such a count is if the true gap is at most t.

        That is :math:`P(\mathrm{Bin}(s, u) + Z \ge x)` with u the highest frequency that a gap of t allows and Z the
        noise of count and size, :math:`N(0, \sigma^2 (1 + u^2))`, in steps of a tenth of its deviation, rounded up:
        never too small. ``gamma`` is added for each of three bounds: of size, count and frequency of the rest.
        """
        from scipy.special import betainc, ndtr

        def tail_of(row: Ints, category: Ints, part: Floats) -> Floats:
            size = np.maximum(self.sizes[rows][row].astype(np.float64), 1.0)
            count = self.visits[rows][row, category].astype(np.float64)
            margin = _z(gamma) * self.sigma * math.sqrt(self.sizes.size - 1)
            rest = np.maximum(self.n_users - size - margin, 1.0)
            others = np.clip(self.visits.sum(axis=0)[category] - count + margin, 0.0, rest)
            limit = np.minimum(binomial_above(others, rest, gamma) + t / part, 1.0)
            deviation = self.sigma * np.sqrt(1.0 + limit**2)
            one = np.full(row.size, float(ndtr(-8.0)))
            for lower, upper in itertools.pairwise(np.arange(-8.0, 8.05, 0.1)):
                needed = count - upper * deviation  # the upper edge: the noise that makes most of such a count
                tail = np.where(needed <= 0.0, 1.0, 0.0)
                inside = (needed > 0.0) & (needed <= size)
                tail[inside] = betainc(needed[inside], (size - needed)[inside] + 1.0, limit[inside])
                one += (float(ndtr(upper)) - float(ndtr(lower))) * tail
            return one + 3.0 * gamma

        return self.frequencies(rows).tails(t, tail_of)


@dataclass(frozen=True, eq=False)
class LocalCounts:
    """Answers to one question per user: 'did you visit X?', for an X drawn at random, by randomised response."""

    sizes: Ints  # (m + 1,): exact, every site sees them anyway; the last is of users without a cohort
    asked: Ints  # (m + 1, c): users who were asked about each category
    yes: Ints  # (m + 1, c): users who said yes
    lie: float  # probability of a false answer

    @property
    def n_users(self) -> float:
        """Users in all."""
        return float(self.sizes.sum())

    def frequencies(self, rows: slice) -> Frequencies:
        """Return the frequencies behind the answers, within 0 and 1; 0 where nobody was asked."""
        asked, yes = self.asked[rows], self.yes[rows]
        rest: Floats = self.n_users - self.sizes[rows, None].astype(np.float64)
        p = self._truth(yes / np.maximum(asked, 1)) * (asked > 0)
        others, said = self.asked.sum(axis=0) - asked, self.yes.sum(axis=0) - yes
        return Frequencies(p, self._truth(said / np.maximum(others, 1)), rest / self.n_users)

    def noise_alone(self, size: float) -> float:
        """Return the standard deviation that lies alone give to a frequency in a cohort of this size."""
        asked = max(size / self.asked.shape[1], 1.0)
        return float(np.sqrt(self.lie * (1.0 - self.lie) / asked) / (1.0 - 2.0 * self.lie))

    def ends(self, rows: slice, tail: float) -> Ends:
        """Return the ends of the frequencies in each cohort and in the rest: those of the answers, lies taken out."""
        asked, said = self.asked.sum(axis=0) - self.asked[rows], self.yes.sum(axis=0) - self.yes[rows]
        cohort = exact_ends(self.yes[rows], self.asked[rows], tail)
        rest = wilson_ends(said / np.maximum(asked, 1), asked, tail)
        return Ends(*(self._truth(end) for end in (*cohort, *rest)))

    def tails(self, rows: slice, t: float, gamma: float) -> Floats:
        """Return for each cell how likely its yeses are if the true gap is at most t; answers are binomial."""
        from scipy.special import betainc

        def tail_of(row: Ints, category: Ints, part: Floats) -> Floats:
            asked, yes = (table[rows][row, category].astype(np.float64) for table in (self.asked, self.yes))
            others, said = self.asked.sum(axis=0)[category] - asked, self.yes.sum(axis=0)[category] - yes
            limit = np.minimum(binomial_above(said, others, gamma) + (1.0 - 2.0 * self.lie) * t / part, 1.0)
            return np.asarray(betainc(yes, asked - yes + 1.0, limit) + gamma)

        return self.frequencies(rows).tails(t, tail_of)

    def _truth(self, share: Floats) -> Floats:
        """Turn shares of yes into frequencies: share = lie + (1 - 2 lie) p."""
        return ((share - self.lie) / (1.0 - 2.0 * self.lie)).clip(0.0, 1.0)


def central_noise(n_categories: int, epsilon: float, delta: float, most: int | None = None) -> tuple[float, float]:
    r"""Return the l2 sensitivity of the table, and the noise :math:`\Delta / \sqrt{2 \rho}` that makes it rho-zCDP.

    One user counts in one size and in at most ``most`` categories: :math:`\Delta = \sqrt{1 + \min(most, c)}`.
    """
    epsilon, delta = check_budget(epsilon, delta)
    most = n_categories if most is None else whole("most_categories", most)
    sensitivity = math.sqrt(1 + min(n_categories, most))
    try:
        sigma = sensitivity / math.sqrt(2.0 * zcdp_rho(epsilon, delta))
    except (OverflowError, ZeroDivisionError):
        sigma = math.inf
    if not sigma <= _MOST_NOISE:
        raise OptionError(f"epsilon {epsilon:g} needs noise above {_MOST_NOISE:,.0f} per count; give a larger one")
    return sensitivity, sigma


def central_counts(sizes: Ints, visits: Array, sigma: float, seed: int | None = None) -> CentralCounts:
    """Add noise to the sizes and visits of all cohorts; with a seed it is a simulation, and protects nobody."""
    table = np.concatenate([sizes[:, None], visits], axis=1).astype(np.int64)
    if seed is None:
        noisy = add_discrete_gaussian(table.ravel(), discrete_gaussian(sigma)).reshape(table.shape)
    else:
        lots = stream(seed, "noise of cohort counts").standard_normal(table.shape)
        noisy = table + np.rint(sigma * lots).astype(np.int64)
    return CentralCounts(noisy[:, 0].copy(), noisy[:, 1:].copy(), sigma)


def with_every_cohort(counts: CohortCounts, n_cohorts: int) -> tuple[Ints, Ints]:
    """Return sizes and visits of all cohorts of the system, those without users too, and of users without one."""
    sizes = np.zeros(n_cohorts + 1, dtype=np.int64)
    visits = np.zeros((n_cohorts + 1, len(counts.categories)), dtype=np.int64)
    sizes[counts.cohorts], visits[counts.cohorts] = counts.sizes, counts.visits
    sizes[-1] = counts.n_without
    visits[-1] = counts.population - counts.visits.sum(axis=0, dtype=np.int64)
    return sizes, visits


def _fieller(visits: Ints, sizes: Ints, reach: float) -> tuple[Floats, Floats]:
    """Return the ends of all ratios that counts and sizes allow whose noise reaches this far."""
    x, s = visits.astype(np.float64), sizes.astype(np.float64) + np.zeros(visits.shape)
    low, high = np.zeros(x.shape), np.ones(x.shape)
    known = s > reach
    x, s = x[known], s[known]
    middle, scale = x * s, s * s - reach**2
    half = np.sqrt(np.maximum(middle**2 - scale * (x * x - reach**2), 0.0))
    low[known], high[known] = (middle - half) / scale, (middle + half) / scale
    return low.clip(0.0, 1.0), high.clip(0.0, 1.0)


def _z(tail: float) -> float:
    from scipy.special import ndtri

    return float(-ndtri(tail))
