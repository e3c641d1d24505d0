"""Sensitive cohorts without seeing anyone's history: gaps, intervals and a blocklist from noisy counts or answers."""

import math
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from reidrisk.base import Array, ArrayLike, DataError, Ints, Note, OptionError, checked_csr, is_number, sizes, stream
from reidrisk.cohorts.private.counts import CentralCounts, LocalCounts, central_counts, central_noise, with_every_cohort
from reidrisk.cohorts.sensitivity.cohorts import Sensitivity, SensitivitySummary, decided
from reidrisk.cohorts.sensitivity.counts import CohortCounts, as_assignment, category_names, count_visits
from reidrisk.cohorts.sensitivity.gaps import row_blocks
from reidrisk.cohorts.sensitivity.significance import nuisance
from reidrisk.cohorts.spec import CohortSpec, Noise
from reidrisk.privacy import PrivacyStatement, randomised_response

_LEAST_EPSILON = 1e-6  # 10^12 answers would not tell yes from no
_REACH = 2.0  # a size within two standard deviations of its noise may be nobody


def lie_probability(epsilon: float) -> float:
    r"""Return how often randomised response lies: :math:`1 / (1 + e^\epsilon)`."""
    if not is_number(epsilon) or not _LEAST_EPSILON <= epsilon < math.inf:
        least = f"{_LEAST_EPSILON:g}, below which every answer is a coin toss"
        raise OptionError(f"epsilon must be a finite number of at least {least}, not {epsilon!r}")
    return 1.0 / (1.0 + math.exp(min(float(epsilon), 700.0)))


def ask_users(assigned: Ints, visited: Any, n_cohorts: int, epsilon: float, seed: int | None = None) -> LocalCounts:
    """Ask each user about one category drawn at random, and count the answers of each cohort; a seed simulates."""
    # One question with the whole budget tells more than c with a share each: errors grow by the root of c, not by c.
    lie, table = lie_probability(epsilon), sparse_visits(visited)
    n, c = table.shape
    # Which question a user gets is no secret; only the answer protects them.
    rng = np.random.default_rng(secrets.randbits(128)) if seed is None else stream(seed, "questions to users")
    question = rng.integers(c, size=n)
    truth = np.asarray(table[np.arange(n), question]).ravel() > 0
    said = randomised_response(truth, float(epsilon)) if seed is None else truth ^ (rng.random(n) < lie)
    rows = np.where(assigned >= 0, assigned, n_cohorts)
    cells, shape = rows * c + question, (n_cohorts + 1, c)
    asked = np.bincount(cells, minlength=shape[0] * c).reshape(shape)
    yes = np.bincount(cells[said], minlength=shape[0] * c).reshape(shape)
    return LocalCounts(np.bincount(rows, minlength=shape[0]), asked, yes, lie)


def bounded_visits(visited: Any, most: int, seed: int | None = None) -> Any:
    """Keep at most ``most`` categories of each user, drawn at random, so that nobody weighs more than that."""
    from scipy import sparse

    table = sparse_visits(visited)
    per_user = np.diff(table.indptr)
    if not per_user.size or per_user.max() <= most:
        return table
    row = np.repeat(np.arange(table.shape[0]), per_user)
    # From the operating system, one word per visit: what is kept of one user must say nothing of another.
    chance: Array = np.frombuffer(os.urandom(8 * row.size), dtype=np.uint64)
    if seed is not None:
        chance = stream(seed, "categories that count").random(row.size)
    order = np.lexsort((chance, row))  # users stay in order, their categories are shuffled
    rank = np.arange(row.size) - np.repeat(table.indptr[:-1], per_user)
    kept = order[rank < most]
    return sparse.csr_array((np.ones(kept.size, np.int8), (row[kept], table.indices[kept])), shape=table.shape)


def sparse_visits(visited: Any) -> Any:
    """Return visits as a sparse 0/1 table, one entry per cell, or refuse values that are no visits."""
    from scipy import sparse

    try:
        given = visited if sparse.issparse(visited) else sparse.csr_array(visited)
    except (TypeError, ValueError) as error:
        raise DataError("visited must be a table of numbers, one row per user and one column per category") from error
    given = checked_csr(given, "visited")
    if len(given.shape) != 2:
        raise DataError(f"visited has the shape {given.shape}; give one row per user and one column per category")
    if given.nnz and not (given.data >= 0).all():
        raise DataError("visited holds a value that is negative or no number; give 1 for a visit, 0 for none")
    # Copies, since the caller's matrix stays as it is; truth values, since sums of small integers overflow.
    table = sparse.csr_array((given.data > 0, given.indices.copy(), given.indptr.copy()), shape=given.shape)
    table.sum_duplicates()
    table.eliminate_zeros()
    return sparse.csr_array((np.ones(table.nnz, dtype=np.int8), table.indices, table.indptr), shape=table.shape)


@dataclass(frozen=True, eq=False)
class PrivateSensitivity(Sensitivity):
    """A :class:`Sensitivity` computed from noisy counts alone, so that the ``statement`` protects all of it.

    ``counts`` holds estimates, rounded and cut to what is possible, of all cohorts of the system. ``noise_alone`` is
    the standard deviation that the noise alone gives to a frequency in a cohort of the median size, ``size_noise`` that
    of a size, 0 where sizes are exact.
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


def measured_through_noise(
    assignment: ArrayLike, visited: Any, spec: CohortSpec, categories: Sequence[str] | None = None
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
        statement = _central_statement(noise, sigma, bound, drawn)
    else:
        measured = ask_users(assigned, visited, n_cohorts, noise.epsilon, drawn)
        statement = _local_statement(noise, measured.lie, c, drawn)
    return _found(measured, names, spec, statement)


def _found(
    measured: CentralCounts | LocalCounts, names: tuple[str, ...], spec: CohortSpec, statement: PrivacyStatement
) -> PrivateSensitivity:
    m, c, risk, tail = measured.sizes.size - 1, len(names), 1.0 - spec.level, (1.0 - spec.level) / 2.0
    anomalous, visits = np.empty(m, dtype=np.int64), np.empty((m, c), dtype=np.int32)
    gap, low, high, p_value = np.empty((4, m))
    gamma = nuisance(min(spec.fdr, risk), m, c)
    sizes = np.maximum(measured.sizes[:-1], 1)
    for rows in row_blocks(m, c):
        seen = measured.frequencies(rows)
        anomalous[rows], gap[rows] = seen.gap.argmax(axis=1), seen.gap.max(axis=1)
        # As for exact counts: the lower end pays for having looked at all categories, the upper end need not.
        wide, ends = measured.ends(rows, tail / c), measured.ends(rows, tail)
        low[rows] = (seen.gap - seen.part * np.hypot(seen.p - wide.low, wide.rest_high - seen.q)).max(axis=1)
        high[rows] = (seen.gap + seen.part * np.hypot(ends.high - seen.p, seen.q - ends.rest_low)).max(axis=1)
        p_value[rows] = np.minimum(measured.tails(rows, spec.t, gamma).min(axis=1) * c, 1.0)
        visits[rows] = np.rint(seen.p * sizes[rows, None])
    everyone = measured.frequencies(slice(m, m + 1))
    population = everyone.part[0] * everyone.q[0] + (1.0 - everyone.part[0]) * everyone.p[0]
    n = max(round(measured.n_users), 1)
    return PrivateSensitivity(
        counts=CohortCounts(np.arange(m), sizes, visits, np.rint(population * n).astype(np.int64), n, names),
        spec=spec,
        anomalous=anomalous,
        gap=gap,
        low=low,
        high=high,
        **decided(gap > spec.t, p_value, spec),
        statement=statement,
        noise_alone=measured.noise_alone(float(np.median(sizes))),
        n_without=max(int(measured.sizes[-1]), 0),
        size_noise=measured.sigma if isinstance(measured, CentralCounts) else 0.0,
    )


def _central_statement(noise: Noise, sigma: float, bound: float, seed: int | None) -> PrivacyStatement:
    real = "discrete Gaussian noise on whole counts, randomness of the operating system, not stored"
    return PrivacyStatement(
        mechanism=real if seed is None else f"rounded Gaussian noise from a generator with seed {seed}",
        epsilon=float(noise.epsilon),
        delta=float(noise.delta or 0.0),
        simulation=seed is not None,
        unit="one user with their cohort and categories",
        budget="joint",
        sigma={"counts": sigma},
        sensitivity={"counts": bound},
        accounting="zero-concentrated differential privacy of sizes and counts together, converted to (epsilon, delta)",
        taken_as_public=("which cohorts and categories exist; one row of the table is one user", _not_fitted(noise)),
        post_processing=("gaps, intervals, p-values and the blocklist were computed from the noisy counts",),
    )


def _local_statement(noise: Noise, lie: float, c: int, seed: int | None) -> PrivacyStatement:
    mechanism = f"randomised response to one of {c} questions drawn at random, a lie with probability {lie:.3g}"
    source = "randomness of the operating system, not stored" if seed is None else f"a generator with seed {seed}"
    taken = ("who takes part, and their cohort, which every site sees", "which categories exist", _not_fitted(noise))
    return PrivacyStatement(
        mechanism=f"{mechanism}; {source}",
        epsilon=float(noise.epsilon),
        delta=0.0,
        simulation=seed is not None,
        unit="the categories of one user",
        neighbours="any change of one user's categories",
        accounting="one answer per user: local differential privacy",
        taken_as_public=taken,
        post_processing=("gaps, intervals, p-values and the blocklist were computed from the answers",),
    )


def _not_fitted(noise: Noise) -> str:
    source = f" ({noise.public_rule})" if noise.public_rule else ""
    return f"the rule that assigns cohorts{source}, not fitted to these users"
