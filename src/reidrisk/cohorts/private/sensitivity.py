"""Sensitive cohorts without seeing anyone's history: gaps, intervals and a blocklist from noisy counts alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from reidrisk.base import sizes
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.options import between_0_and_1
from reidrisk.base.streams import checked_seed, fresh_seed
from reidrisk.cohorts.private.answers import ask_users, bounded_visits
from reidrisk.cohorts.private.counts import CentralCounts, LocalCounts, central_counts, central_noise, with_every_cohort
from reidrisk.cohorts.private.statements import central_statement, local_statement
from reidrisk.cohorts.sensitivity.cohorts import Sensitivity, SensitivitySummary
from reidrisk.cohorts.sensitivity.counts import CohortCounts, as_assignment, count_visits
from reidrisk.cohorts.sensitivity.significance import discoveries, nuisance
from reidrisk.privacy import PrivacyStatement

__all__ = ["Model", "PrivateSensitivity", "private_decisions", "private_sensitivity"]

Model = Literal["central", "local"]
_CELLS = 1 << 20
_REACH = 2.0  # a size within two standard deviations of its noise is not told from nobody


@dataclass(frozen=True, eq=False)
class PrivateSensitivity(Sensitivity):
    """A :class:`Sensitivity` that was measured through noise; made by :func:`private_sensitivity`.

    Everything in it, the categories too, is computed from the noisy counts and protected by the ``statement``.
    ``counts`` holds estimates, rounded and cut to what is possible; all cohorts of the system are listed.

    Attributes
    ----------
    statement : PrivacyStatement
        What protects the people, and by how much.
    noise_alone : float
        Standard deviation that the noise alone gives to a frequency in a cohort of the median size.
    n_without : int
        Users without a cohort, by their own noisy count.
    size_noise : float
        Standard deviation of the noise of a size; 0 where sizes are told as they are.
    """

    statement: PrivacyStatement = field(default_factory=lambda: PrivacyStatement("", 0.0, 0.0))
    noise_alone: float = 0.0
    n_without: int = 0
    size_noise: float = 0.0

    @property
    def summary(self) -> SensitivitySummary:
        """The counts with what they rest on and a sentence; those that the noise could make are named."""
        found, reach = super().summary, _REACH * self.size_noise
        # The number of all users is a sum of noisy sizes, one for each cohort and one for those without.
        limits = {"n_users": reach * math.sqrt(found.n_cohorts + 1), "n_without": reach, "k": reach}
        values = {"n_users": found.n_users, "n_without": self.n_without, "k": found.k}
        noisy = tuple(name for name, limit in limits.items() if limit and values[name] <= limit)
        return replace(found, n_without=self.n_without, too_noisy=noisy)

    def too_noisy(self, row: int) -> bool:
        """Tell whether the noise could make the whole of a cohort."""
        return bool(self.counts.sizes[row] <= _REACH * self.size_noise)

    def _reading(self) -> str:
        median = float(np.median(self.counts.sizes))
        hidden = median <= _REACH * self.size_noise or self.noise_alone >= 0.5
        warning = " The noise is as large as the cohorts: too noisy to tell." if hidden else ""
        return super()._reading() + warning

    def _assumptions(self) -> tuple[str, ...]:
        return (
            *super()._assumptions(),
            "intervals and p-values count the noise as well as chance; sizes and numbers of users are estimates",
            self.statement.reading,
        )


def private_sensitivity(
    assignment: npt.ArrayLike,
    visited: Any,
    n_cohorts: int,
    epsilon: float,
    delta: float | None = None,
    model: Model = "central",
    t: float = 0.1,
    level: float = 0.95,
    fdr: float = 0.05,
    categories: Sequence[str] | None = None,
    most_categories: int | None = None,
    simulation: bool = False,
    seed: int | None = None,
    public_rule: str = "",
) -> PrivateSensitivity:
    r"""Measure the sensitivity gaps through noise that protects every user (floc, Use of synced Chrome history).

    **central**: someone counts everybody and adds discrete Gaussian noise to the size of every cohort and to every
    count of a category in it; adding or removing one user is (epsilon, delta)-private. **local**: nobody is trusted.
    Each user is asked about one category drawn at random and answers by randomised response, truly with probability
    :math:`e^\epsilon / (1 + e^\epsilon)`; the cohort itself is told as it is, since every site is told it anyway.

    Gaps, intervals, p-values and the three counts mean the same as in :func:`sensitivity`, with the noise in them.

    **The cohorts must not have been fitted to these users.** The noise is made for one user who comes or goes while
    everybody else stays in their cohort. A rule that was fitted to them (:meth:`SortingLSH.fit`, clusters) moves nearly
    everybody when one user comes, and no noise here covers that. Assign cohorts by a table that was made without them.

    Parameters
    ----------
    assignment, visited, t, level, fdr, categories
        As for :func:`sensitivity`.
    n_cohorts : int
        Cohorts of the system. Which of them have users must not be read off the data, so all of them are measured.
    epsilon, delta : float
        The budget; delta for the central model only.
    model : {"central", "local"}
        Who adds the noise.
    most_categories : int, optional
        Central model: of users with more categories, so many count, drawn at random. Less noise, and frequencies of
        such users' categories come out too low.
    simulation : bool
        A try with a seed, which protects nobody and says so. Real noise comes from the operating system.
    seed : int, optional
        For simulations only.
    public_rule : str
        Where the rule that assigns cohorts comes from, for the statement, such as "Chrome's table of March 2021".

    Examples
    --------
    >>> cohort = np.repeat(np.arange(10), 2_000)
    >>> visited = np.zeros((20_000, 2), dtype=bool)
    >>> visited[:600, 0] = True                              # 30 % of cohort 0, nobody else
    >>> found = private_sensitivity(cohort, visited, n_cohorts=10, epsilon=1.0, delta=1e-9)
    >>> found.blocklist().cohorts, bool(found.low[0] < 0.27 < found.high[0])
    ((0,), True)
    >>> found.statement.simulation
    False
    """
    between_0_and_1("t", t)
    if model not in ("central", "local"):
        raise OptionError(f"model must be 'central' or 'local', not {model!r}")
    if seed is not None and not simulation:
        raise OptionError(f"seed {seed!r} was given, but noise that protects people is never seeded; leave it out")
    if isinstance(n_cohorts, bool) or not isinstance(n_cohorts, int | np.integer) or n_cohorts < 1:
        raise OptionError(f"n_cohorts must be the number of cohorts of the system, at least 1, not {n_cohorts!r}")
    drawn = (fresh_seed() if seed is None else checked_seed(seed)) if simulation else None
    columns = (getattr(visited, "shape", None) or np.shape(visited) or (1,))[-1]
    sizes.NUMBERS.check(int(n_cohorts) * int(columns), "the cohorts", "measure fewer categories")
    assigned = as_assignment(assignment, int(n_cohorts))
    shape = tuple(np.shape(visited))
    if len(shape) != 2 or shape[0] != assigned.size or shape[1] < 1:
        raise DataError(
            f"visited has the shape {shape}; give a row for each of {assigned.size:,} users, and a category"
        )
    c = int(shape[1])
    names = tuple(str(name) for name in (range(c) if categories is None else categories))
    if len(names) != c or len(set(names)) != c:
        raise DataError(f"categories has {len(set(names))} distinct names for {c} columns of visited; give one each")
    measured: CentralCounts | LocalCounts
    if model == "central":
        if delta is None:
            raise OptionError("the central model needs a delta, well below 1/users, such as 1e-9")
        bound, sigma = central_noise(c, epsilon, delta, most_categories)
        kept = visited if most_categories is None else bounded_visits(visited, most_categories, drawn)
        exact = with_every_cohort(count_visits(assigned, kept), int(n_cohorts))
        measured = central_counts(*exact, sigma, drawn)
        statement = central_statement(epsilon, delta, sigma, bound, drawn, public_rule)
    else:
        if delta or most_categories is not None:
            raise OptionError("delta and most_categories are for the central model; leave them out of the local one")
        measured = ask_users(assigned, visited, int(n_cohorts), epsilon, drawn)
        statement = local_statement(epsilon, measured.lie, c, drawn, public_rule)
    return _found(measured, names, t, level, fdr, statement, drawn)


def private_decisions(
    measured: CentralCounts | LocalCounts, t: float, rule: Literal["plain", "chance"] = "plain", fdr: float = 0.05
) -> npt.NDArray[np.bool_]:
    """Tell which cohorts are sensitive as far as the noisy counts show: by the plain definition, or beyond chance.

    Examples
    --------
    >>> noisy = central_counts(np.array([500, 500, 0]), np.array([[400], [0], [0]]), sigma=1.0, seed=0)
    >>> private_decisions(noisy, t=0.1).tolist()
    [True, False]
    """
    m = measured.sizes.size - 1
    blocks = _blocks(m, measured)
    plain = np.concatenate([(measured.frequencies(rows).gap.max(axis=1) > t) for rows in blocks])
    if rule == "plain":
        return plain
    gamma = nuisance(fdr, m, _width(measured))
    tails = [measured.tails(rows, t, gamma) for rows in blocks]
    p = np.concatenate([np.minimum(part.min(axis=1) * part.shape[1], 1.0) for part in tails])
    return plain & discoveries(p, fdr)


def _found(
    measured: CentralCounts | LocalCounts,
    names: tuple[str, ...],
    t: float,
    level: float,
    fdr: float,
    statement: PrivacyStatement,
    seed: int | None,
) -> PrivateSensitivity:
    level, fdr = between_0_and_1("level", level), between_0_and_1("fdr", fdr)
    m, c, tail = measured.sizes.size - 1, len(names), (1.0 - level) / 2.0
    anomalous, gap = np.empty(m, dtype=np.int64), np.empty(m)
    low, high, p_value = np.empty(m), np.empty(m), np.empty(m)
    visits = np.empty((m, c), dtype=np.int32)
    gamma = nuisance(min(fdr, 1.0 - level), m, c)
    sizes = np.maximum(measured.sizes[:-1], 1)
    for rows in _blocks(m, measured):
        seen = measured.frequencies(rows)
        anomalous[rows], gap[rows] = seen.gap.argmax(axis=1), seen.gap.max(axis=1)
        # As for exact counts: the lower end pays for having looked at all categories, the upper end need not.
        below, rest_above = measured.cohort_ends(rows, tail / c)[0], measured.rest_ends(rows, tail / c)[1]
        above, rest_below = measured.cohort_ends(rows, tail)[1], measured.rest_ends(rows, tail)[0]
        low[rows] = (seen.gap - seen.part * np.hypot(seen.p - below, rest_above - seen.q)).max(axis=1)
        high[rows] = (seen.gap + seen.part * np.hypot(above - seen.p, seen.q - rest_below)).max(axis=1)
        p_value[rows] = np.minimum(measured.tails(rows, t, gamma).min(axis=1) * c, 1.0)
        visits[rows] = np.rint(seen.p * sizes[rows, None])
    sensitive = gap > t
    everyone = measured.frequencies(slice(m, m + 1))
    population = everyone.part[0] * everyone.q[0] + (1.0 - everyone.part[0]) * everyone.p[0]
    n = max(round(measured.n_users), 1)
    estimates = CohortCounts(np.arange(m), sizes, visits, np.rint(population * n).astype(np.int64), n, names)
    return PrivateSensitivity(
        counts=estimates,
        t=float(t),
        level=level,
        fdr=fdr,
        anomalous=anomalous,
        gap=gap,
        low=low,
        high=high,
        p_value=p_value,
        sensitive=sensitive,
        beyond_chance=sensitive & discoveries(p_value, fdr),
        beyond_doubt=sensitive & (p_value * m <= 1.0 - level),
        seed=seed,
        statement=statement,
        noise_alone=_noise_alone(measured, sizes),
        n_without=max(int(measured.sizes[-1]), 0),
        size_noise=measured.sigma if isinstance(measured, CentralCounts) else 0.0,
    )


def _noise_alone(measured: CentralCounts | LocalCounts, sizes: npt.NDArray[np.int64]) -> float:
    size = float(np.median(sizes))
    if isinstance(measured, CentralCounts):
        return measured.sigma / size
    lie, asked = measured.lie, max(size / measured.asked.shape[1], 1.0)
    return float(np.sqrt(lie * (1.0 - lie) / asked) / (1.0 - 2.0 * lie))


def _width(measured: CentralCounts | LocalCounts) -> int:
    return int((measured.visits if isinstance(measured, CentralCounts) else measured.asked).shape[1])


def _blocks(m: int, measured: CentralCounts | LocalCounts) -> list[slice]:
    step = max(1, _CELLS // _width(measured))
    return [slice(start, min(start + step, m)) for start in range(0, m, step)]
