"""How many users it takes before noisy counts lead to the decisions of the exact ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import OptionError
from reidrisk.base.intervals import mean_interval
from reidrisk.base.options import between_0_and_1, whole
from reidrisk.base.results import Result
from reidrisk.base.streams import checked_seed, stream
from reidrisk.cohorts.private.counts import CentralCounts, LocalCounts, central_counts, central_noise, with_every_cohort
from reidrisk.cohorts.private.sensitivity import lie_probability
from reidrisk.cohorts.sensitivity.counts import CohortCounts
from reidrisk.cohorts.sensitivity.gaps import exceeding, gaps, row_blocks
from reidrisk.cohorts.sensitivity.significance import discoveries, nuisance
from reidrisk.cohorts.spec import Noise
from reidrisk.present.words.frequencies import percent

__all__ = ["UsersNeeded", "users_needed"]

_MOST_USERS = 10**12
_MOST_DRAWN = 1_000_000_000  # users of one cohort: the limit of NumPy's hypergeometric numbers

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class UsersNeeded(Result):
    """How far noisy decisions agree with exact ones at growing numbers of users; one entry a number in each field.

    Attributes
    ----------
    users : tuple of int
        Numbers of users, ascending.
    agreement, low, high : tuple of float
        Share of cohorts on the same side of t as by exact counts, over all runs, and its interval: for cohorts like
        these, each with the share of its own runs, since runs of one cohort are not independent.
    missed, needless : tuple of float
        Sensitive cohorts that were not blocked and others that were, on average over the runs.
    sensitive : int
        Sensitive cohorts by exact counts.
    needed : int or None
        Least of the numbers from which on the agreement is at least ``wanted``.
    """

    users: tuple[int, ...]
    agreement: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    missed: tuple[float, ...]
    needless: tuple[float, ...]
    sensitive: int
    n_cohorts: int
    needed: int | None
    wanted: float
    model: str
    epsilon: float
    delta: float
    t: float
    runs: int
    seed: int
    rule: str = "plain"
    baseline: float = 0.0
    assumptions: tuple[str, ...] = ()
    reading: str = ""


def users_needed(
    counts: CohortCounts,
    users: Sequence[int],
    noise: Noise,
    t: float = 0.1,
    wanted: float = 0.99,
    runs: int = 5,
    seed: int = 0,
    rule: Literal["plain", "chance"] = "plain",
) -> UsersNeeded:
    """Compare decisions by noisy counts with the exact ones, as if there were more (or fewer) users like these.

    Each cohort is multiplied: its frequencies, and so the exact decisions, stay what they are, while the noise does
    not grow with the users. Noise is simulated; no real release is made.

    Parameters
    ----------
    counts : CohortCounts
        Exact counts.
    users : sequence of int
        Numbers of users to try, ascending.
    noise : Noise
        As for :func:`reidrisk.cohorts.sensitivity`; ``most_categories`` sets the noise only.
    wanted : float
        Share of cohorts that should be on the right side. The last cohorts lie next to t, and may never agree.
    runs, seed : int
        Simulated measurements for each number, and their seed.
    rule : {"plain", "chance"}
        How noisy counts decide: by the plain definition, or where a gap above t is beyond chance and noise. Exact
        counts decide by the plain definition.

    Examples
    --------
    >>> from reidrisk.cohorts.sensitivity.counts import count_visits
    >>> cohort = np.repeat(np.arange(20), 50)
    >>> counts = count_visits(cohort, np.arange(1_000)[:, None] % 50 < np.where(cohort == 3, 20, 5)[:, None])
    >>> found = users_needed(counts, [1_000, 10_000, 100_000], Noise(epsilon=1.0, delta=1e-9))
    >>> found.needed, found.agreement[-1]
    (10000, 1.0)
    """
    between_0_and_1("wanted", wanted)
    seed = checked_seed(seed)
    runs = whole("runs", runs)
    numbers = [int(n) for n in users]
    if not numbers or numbers != sorted(set(numbers)) or numbers[0] < 1:
        raise OptionError("users must be whole numbers that ascend, and there must be at least one")
    if numbers[-1] > _MOST_USERS:
        raise OptionError(f"users goes up to {numbers[-1]:,}; give at most {_MOST_USERS:,}")
    if rule not in ("plain", "chance"):
        raise OptionError(f"rule must be 'plain' or 'chance', not {rule!r}")
    epsilon, delta = noise.epsilon, noise.delta
    exact = exceeding(counts, gaps(counts), t)
    # Cohorts are numbered anew: only those with users can be multiplied.
    renumbered = CohortCounts(
        np.arange(exact.size), counts.sizes, counts.visits, counts.population, counts.n_users, counts.categories
    )
    sizes, visits = with_every_cohort(renumbered, exact.size)
    sides = np.empty((len(numbers), runs, exact.size), dtype=bool)
    sigma = 0.0
    if noise.model == "central" and delta is not None:
        sigma = central_noise(visits.shape[1], epsilon, delta, noise.most_categories)[1]
    for i, n in enumerate(numbers):
        many = np.maximum(np.rint(sizes * (n / counts.n_users)).astype(np.int64), 0)
        seen = np.minimum(np.rint(visits * (n / counts.n_users)).astype(np.int64), many[:, None])
        for run in range(runs):
            measured: CentralCounts | LocalCounts
            if noise.model == "central":
                own = int(stream(seed, f"noise at {n} users", run).integers(1 << 62))
                measured = central_counts(many, seen, sigma, own)
            else:
                measured = simulated_answers(many, seen, epsilon, stream(seed, f"answers of {n} users", run))
            sides[i, run] = private_decisions(measured, t, rule)
    right = sides == exact
    agreement = right.mean(axis=(1, 2))
    # A cohort next to t is wrong in many runs, one far from it in none: runs say nothing of other cohorts.
    ends = [mean_interval(part.mean(axis=0)) for part in right]
    reached = next((n for i, n in enumerate(numbers) if (agreement[i:] >= wanted).all()), None)
    budget = f"epsilon {epsilon:g}" + (f", delta {delta:g}" if delta else "")
    return UsersNeeded(
        users=tuple(numbers),
        agreement=tuple(agreement.tolist()),
        low=tuple(low for low, _ in ends),
        high=tuple(high for _, high in ends),
        missed=tuple((~sides & exact).sum(axis=2).mean(axis=1).tolist()),
        needless=tuple((sides & ~exact).sum(axis=2).mean(axis=1).tolist()),
        sensitive=int(exact.sum()),
        n_cohorts=exact.size,
        needed=reached,
        wanted=float(wanted),
        model=noise.model,
        epsilon=float(epsilon),
        delta=float(delta or 0.0),
        t=float(t),
        runs=runs,
        seed=seed,
        rule=rule,
        baseline=float(max(exact.mean(), 1.0 - exact.mean())),
        assumptions=(
            "more users are users like these: every frequency stays as it is, and so do the exact decisions",
            "noise is simulated; the interval of the agreement is over cohorts, each with the mean of its runs",
            "the baseline decides the same for every cohort",
        ),
        reading=(
            f"With {noise.model} noise at {budget}, {percent(wanted)} of the decisions are those of the exact counts "
            + (f"from {reached:,} users on." if reached else f"at none of the numbers up to {numbers[-1]:,} users.")
        ),
    )


def simulated_answers(sizes: Ints, visits: Ints, epsilon: float, rng: np.random.Generator) -> LocalCounts:
    """Draw the answers of users of whom only the counts are known: what ``ask_users`` would have counted.

    Examples
    --------
    >>> found = simulated_answers(np.array([900, 100]), np.array([[90], [50]]), 20.0, np.random.default_rng(0))
    >>> found.asked.ravel().tolist(), found.yes.ravel().tolist()        # one question, and nobody lies
    ([900, 100], [90, 50])
    """
    lie, c = lie_probability(epsilon), visits.shape[1]
    if sizes.max() >= _MOST_DRAWN:
        raise OptionError(
            f"{int(sizes.max()):,} users of one cohort are too many to draw answers of; stay below {_MOST_DRAWN:,}"
        )
    asked = rng.multinomial(sizes, np.full(c, 1.0 / c)).astype(np.int64)
    truth = rng.hypergeometric(visits, sizes[:, None] - visits, asked)
    yes = rng.binomial(truth, 1.0 - lie) + rng.binomial(asked - truth, lie)
    return LocalCounts(sizes, asked, yes.astype(np.int64), lie)


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
    m, c = measured.sizes.size - 1, measured.frequencies(slice(0)).p.shape[1]
    blocks = list(row_blocks(m, c))
    plain = np.concatenate([(measured.frequencies(rows).gap.max(axis=1) > t) for rows in blocks])
    if rule == "plain":
        return plain
    gamma = nuisance(fdr, m, c)
    tails = [measured.tails(rows, t, gamma) for rows in blocks]
    p = np.concatenate([np.minimum(part.min(axis=1) * part.shape[1], 1.0) for part in tails])
    return plain & discoveries(p, fdr)
