"""Sensitive cohorts without seeing anyone's history: gaps, intervals and a blocklist from noisy counts alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from reidrisk.base import sizes
from reidrisk.base.errors import OptionError
from reidrisk.base.notes import Note
from reidrisk.cohorts.private.answers import ask_users, bounded_visits
from reidrisk.cohorts.private.counts import CentralCounts, LocalCounts, central_counts, central_noise, with_every_cohort
from reidrisk.cohorts.private.statements import central_statement, local_statement
from reidrisk.cohorts.sensitivity.cohorts import Sensitivity, SensitivitySummary
from reidrisk.cohorts.sensitivity.counts import CohortCounts, as_assignment, category_names, count_visits
from reidrisk.cohorts.sensitivity.significance import discoveries, nuisance
from reidrisk.cohorts.spec import CohortSpec, Model
from reidrisk.privacy import PrivacyStatement

__all__ = ["Model", "PrivateSensitivity", "private_decisions", "private_sensitivity"]

_CELLS = 1 << 20
_REACH = 2.0  # a size within two standard deviations of its noise may be nobody


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
        Standard deviation of the noise of a size; 0 where sizes are exact.
    """

    statement: PrivacyStatement = field(default_factory=lambda: PrivacyStatement("", 0.0, 0.0))
    noise_alone: float = 0.0
    n_without: int = 0
    size_noise: float = 0.0

    @property
    def seed(self) -> int | None:
        """Seed of simulated noise; None for noise that protects people."""
        return self.spec.seed if self.statement.simulation else None

    @property
    def summary(self) -> SensitivitySummary:
        """The counts with what they rest on; those that the noise could make are named."""
        found, reach = super().summary, _REACH * self.size_noise
        # The number of all users is a sum of noisy sizes, one for each cohort and one for those without.
        limits = {"n_users": reach * math.sqrt(found.n_cohorts + 1), "n_without": reach, "k": reach}
        values = {"n_users": found.n_users, "n_without": self.n_without, "k": found.k}
        noisy = tuple(name for name, limit in limits.items() if limit and values[name] <= limit)
        hidden = float(np.median(self.counts.sizes)) <= reach or self.noise_alone >= 0.5
        notes = (*found.notes, Note("cohorts-noise"))
        return replace(found, n_without=self.n_without, too_noisy=noisy, hidden=hidden, notes=notes)

    def too_noisy(self, row: int) -> bool:
        """Tell whether the noise could make the whole of a cohort."""
        return bool(self.counts.sizes[row] <= _REACH * self.size_noise)


def private_sensitivity(
    assignment: npt.ArrayLike, visited: Any, spec: CohortSpec, categories: Sequence[str] | None = None
) -> PrivateSensitivity:
    """Measure the gaps through the noise of a spec: :func:`reidrisk.cohorts.sensitivity` says what it protects."""
    noise, n_cohorts = spec.noise, spec.n_cohorts
    if noise is None or n_cohorts is None:
        raise OptionError("a private measurement needs noise and n_cohorts in its spec")
    drawn = spec.seed if noise.simulation else None
    columns = (getattr(visited, "shape", None) or np.shape(visited) or (1,))[-1]
    sizes.NUMBERS.check(n_cohorts * int(columns), "the cohorts", "measure fewer categories")
    assigned = as_assignment(assignment, n_cohorts)
    names = category_names(visited, assigned.size, categories)
    c = len(names)
    measured: CentralCounts | LocalCounts
    if noise.delta is not None and noise.model == "central":
        bound, sigma = central_noise(c, noise.epsilon, noise.delta, noise.most_categories)
        kept = visited if noise.most_categories is None else bounded_visits(visited, noise.most_categories, drawn)
        exact = with_every_cohort(count_visits(assigned, kept), n_cohorts)
        measured = central_counts(*exact, sigma, drawn)
        statement = central_statement(noise.epsilon, noise.delta, sigma, bound, drawn, noise.public_rule)
    else:
        measured = ask_users(assigned, visited, n_cohorts, noise.epsilon, drawn)
        statement = local_statement(noise.epsilon, measured.lie, c, drawn, noise.public_rule)
    return _found(measured, names, spec, statement)


def private_decisions(
    measured: CentralCounts | LocalCounts, t: float, rule: Literal["plain", "chance"] = "plain", fdr: float = 0.05
) -> npt.NDArray[np.bool_]:
    """Tell which cohorts are sensitive as far as the noisy counts show: by the plain definition, or significantly.

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
    measured: CentralCounts | LocalCounts, names: tuple[str, ...], spec: CohortSpec, statement: PrivacyStatement
) -> PrivateSensitivity:
    m, c, risk = measured.sizes.size - 1, len(names), 1.0 - spec.level
    tail = risk / 2.0
    anomalous, gap = np.empty(m, dtype=np.int64), np.empty(m)
    low, high, p_value = np.empty(m), np.empty(m), np.empty(m)
    visits = np.empty((m, c), dtype=np.int32)
    gamma = nuisance(min(spec.fdr, risk), m, c)
    sizes = np.maximum(measured.sizes[:-1], 1)
    for rows in _blocks(m, measured):
        seen = measured.frequencies(rows)
        anomalous[rows], gap[rows] = seen.gap.argmax(axis=1), seen.gap.max(axis=1)
        # As for exact counts: the lower end pays for having looked at all categories, the upper end need not.
        below, rest_above = measured.cohort_ends(rows, tail / c)[0], measured.rest_ends(rows, tail / c)[1]
        above, rest_below = measured.cohort_ends(rows, tail)[1], measured.rest_ends(rows, tail)[0]
        low[rows] = (seen.gap - seen.part * np.hypot(seen.p - below, rest_above - seen.q)).max(axis=1)
        high[rows] = (seen.gap + seen.part * np.hypot(above - seen.p, seen.q - rest_below)).max(axis=1)
        p_value[rows] = np.minimum(measured.tails(rows, spec.t, gamma).min(axis=1) * c, 1.0)
        visits[rows] = np.rint(seen.p * sizes[rows, None])
    sensitive = gap > spec.t
    everyone = measured.frequencies(slice(m, m + 1))
    population = everyone.part[0] * everyone.q[0] + (1.0 - everyone.part[0]) * everyone.p[0]
    n = max(round(measured.n_users), 1)
    estimates = CohortCounts(np.arange(m), sizes, visits, np.rint(population * n).astype(np.int64), n, names)
    return PrivateSensitivity(
        counts=estimates,
        spec=spec,
        anomalous=anomalous,
        gap=gap,
        low=low,
        high=high,
        p_value=p_value,
        sensitive=sensitive,
        beyond_chance=sensitive & discoveries(p_value, spec.fdr),
        beyond_doubt=sensitive & (p_value * m <= risk),
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
