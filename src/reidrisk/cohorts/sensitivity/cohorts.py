"""Which cohorts give a sensitive category away: by the plain definition, beyond chance, and beyond doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import OptionError
from reidrisk.base.options import between_0_and_1, whole
from reidrisk.base.results import Result
from reidrisk.base.streams import checked_seed, stream
from reidrisk.base.wording import percent
from reidrisk.cohorts.sensitivity.blocklist import Blocklist
from reidrisk.cohorts.sensitivity.counts import CohortCounts, as_assignment, count_visits
from reidrisk.cohorts.sensitivity.gaps import exceeding, gaps
from reidrisk.cohorts.sensitivity.significance import discoveries, gap_intervals, p_values

__all__ = ["Sensitivity", "SensitivitySummary", "sensitivity", "sensitivity_of_counts"]

Rule = Literal["plain", "chance", "doubt"]


@dataclass(frozen=True, eq=False)
class SensitivitySummary(Result):
    """The counts of a sensitivity measurement, without a word on any single cohort.

    Attributes
    ----------
    sensitive, beyond_chance, beyond_doubt : int
        Cohorts with a gap strictly above t; those of them that are discoveries at the false discovery rate ``fdr``; and
        those that all hold together with probability ``level``.
    by_chance : float or None
        Baseline: how many would be sensitive by the plain definition if the same sizes were filled at random.
    users_blocked : float
        Share of the users with a cohort who are in a sensitive one.
    k : int
        Users in the smallest cohort.
    too_noisy : tuple of str
        Which of ``n_users``, ``n_without`` and ``k`` are within the reach of their noise, and so say nothing.
    """

    n_users: int
    n_without: int
    n_cohorts: int
    n_categories: int
    k: int
    t: float
    sensitive: int
    beyond_chance: int
    beyond_doubt: int
    by_chance: float | None
    users_blocked: float
    largest_gap: float
    largest_low: float
    largest_high: float
    level: float = 0.95
    fdr: float = 0.05
    shuffles: int = 0
    seed: int | None = None
    assumptions: tuple[str, ...] = ()
    reading: str = ""
    too_noisy: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """The sensitivity gap of every cohort, with its interval; made by :func:`sensitivity`.

    Attributes
    ----------
    counts : CohortCounts
        Users by cohort and category. Rows below are those of ``counts.cohorts``.
    anomalous, gap : (m,) arrays
        Column of the anomalous category, and the sensitivity gap (floc, Definition 3).
    low, high : (m,) arrays
        Interval of each gap at ``level``, for users like these; one cohort at a time.
    p_value : (m,) array
        How likely such gaps are if no true gap of the cohort exceeds t.
    sensitive, beyond_chance, beyond_doubt : (m,) arrays of bool
        As in :class:`SensitivitySummary`.
    by_chance : float or None
        Sensitive cohorts if users are shuffled, on average over ``shuffles``.
    """

    counts: CohortCounts
    t: float
    level: float
    fdr: float
    anomalous: npt.NDArray[np.int64]
    gap: npt.NDArray[np.float64]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    p_value: npt.NDArray[np.float64]
    sensitive: npt.NDArray[np.bool_]
    beyond_chance: npt.NDArray[np.bool_]
    beyond_doubt: npt.NDArray[np.bool_]
    by_chance: float | None = None
    shuffles: int = 0
    seed: int | None = None

    @property
    def k(self) -> int:
        """Users in the smallest cohort."""
        return self.counts.k

    def category(self, cohort: int) -> str:
        """Return the name of a cohort's anomalous category; for people inside, not for publication."""
        return self.counts.categories[int(self.anomalous[self.counts.rows([cohort])][0])]

    def blocklist(self, rule: Rule = "plain") -> Blocklist:
        """Return the cohorts to block, without their categories: what may be published.

        ``rule`` chooses the cohorts that are sensitive by the plain definition, beyond chance, or beyond doubt.
        """
        chosen = {"plain": self.sensitive, "chance": self.beyond_chance, "doubt": self.beyond_doubt}
        if rule not in chosen:
            raise OptionError(f"rule must be 'plain', 'chance' or 'doubt', not {rule!r}")
        return Blocklist(tuple(self.counts.cohorts[chosen[rule]].tolist()), self.t, rule)

    @property
    def summary(self) -> SensitivitySummary:
        """The counts, their baseline, what they rest on, and a sentence."""
        counts, top = self.counts, int(np.argmax(self.gap))
        return SensitivitySummary(
            n_users=counts.n_users,
            n_without=counts.n_without,
            n_cohorts=counts.cohorts.size,
            n_categories=len(counts.categories),
            k=counts.k,
            t=self.t,
            sensitive=int(self.sensitive.sum()),
            beyond_chance=int(self.beyond_chance.sum()),
            beyond_doubt=int(self.beyond_doubt.sum()),
            by_chance=self.by_chance,
            users_blocked=float(counts.sizes[self.sensitive].sum() / counts.sizes.sum()),
            largest_gap=float(self.gap[top]),
            largest_low=float(self.low[top]),
            largest_high=float(self.high[top]),
            level=self.level,
            fdr=self.fdr,
            shuffles=self.shuffles,
            seed=self.seed,
            assumptions=self._assumptions(),
            reading=self._reading(),
        )

    def _assumptions(self) -> tuple[str, ...]:
        return (
            "a user counts once per category; the population is every user given, with or without a cohort",
            "a cohort is sensitive when one category is more frequent in it than in the population by more than t",
            "intervals and p-values see the users of a cohort as an independent sample of users like these",
            "categories are as the table says: what it does not list is not seen",
        )

    def _reading(self) -> str:
        m, found = self.counts.cohorts.size, int(self.sensitive.sum())
        chance = (
            "" if self.by_chance is None else f" ({self.by_chance:,.0f} would be, had people been grouped at random)"
        )
        certain = int(self.beyond_chance.sum())
        return (
            f"Of {m:,} cohort{'' if m == 1 else 's'} {found:,} ({percent(found / m)}) "
            f"{'has' if found == 1 else 'have'} a category more than {100 * self.t:g} points above the "
            f"population{chance}; {certain:,} {'is' if certain == 1 else 'are'} so beyond chance and "
            f"{int(self.beyond_doubt.sum()):,} beyond doubt."
        )


def sensitivity(
    assignment: npt.ArrayLike,
    visited: Any,
    t: float = 0.1,
    level: float = 0.95,
    fdr: float = 0.05,
    n_cohorts: int | None = None,
    categories: Sequence[str] | None = None,
    shuffles: int = 1,
    seed: int = 0,
    private: bool = False,
    epsilon: float | None = None,
    delta: float | None = None,
    model: Literal["central", "local"] = "central",
    most_categories: int | None = None,
    simulation: bool = False,
    public_rule: str = "",
) -> Sensitivity:
    """Measure the sensitivity gap of every cohort (floc, Definitions 1 to 4).

    A cohort is sensitive when the gap of its anomalous category is strictly above ``t``. A gap measured on 20 people is
    mostly chance, so three counts are given: sensitive by that plain definition; **beyond chance**, discoveries of the
    test that some true gap exceeds ``t``, at a false discovery rate over the cohorts; and **beyond doubt**, so sure
    that with probability ``level`` none of them is wrong (Bonferroni over cohorts). The baseline fills cohorts of the
    same sizes at random.

    Parameters
    ----------
    assignment : (n,) integers
        Cohort of each user; -1 = none. They count in the population.
    visited : (n, c) array or ``scipy.sparse`` matrix
        Whether a user visited a sensitive category; anything above 0 counts once.
    t : float
        Threshold; 0.1 in Chrome.
    level, fdr : float
        Of the intervals and of 'beyond doubt'; false discovery rate of 'beyond chance'.
    n_cohorts : int, optional
        Number of cohorts of the system, where known: higher numbers are refused.
    categories : sequence of str, optional
        Names of the columns.
    shuffles, seed : int
        How often users are shuffled for the baseline, 0 for none, and the seed.
    private : bool
        Measure through noise that protects everyone: :func:`private_sensitivity` says what the options after it mean.
        Needs ``epsilon`` and ``n_cohorts``, and cohorts that were not fitted to these users; there is no baseline then,
        and the seed is for simulations only.

    Examples
    --------
    >>> import numpy as np
    >>> cohort = np.repeat(np.arange(10), 200)
    >>> visited = np.zeros((2_000, 2), dtype=bool)
    >>> visited[:60, 0] = True                               # 30 % of cohort 0, nobody else
    >>> visited[::10, 1] = True                              # 10 % everywhere
    >>> found = sensitivity(cohort, visited, t=0.1)
    >>> round(float(found.gap[0]), 3), found.blocklist().cohorts
    (0.27, (0,))
    >>> found.summary.reading
    'Of 10 cohorts 1 (10 %) has a category more than 10 points above the population (0 would be, had people been
    grouped at random); 1 is so beyond chance and 1 beyond doubt.'
    """
    shuffles = whole("shuffles", shuffles, least=0)
    seed = checked_seed(seed)
    if private:
        from reidrisk.cohorts.private.sensitivity import private_sensitivity

        if epsilon is None or n_cohorts is None:
            missing = "epsilon" if epsilon is None else "n_cohorts"
            raise OptionError(f"a private measurement needs {missing}: the budget and which cohorts exist are public")
        return private_sensitivity(
            assignment,
            visited,
            n_cohorts,
            epsilon,
            delta,
            model,
            t=t,
            level=level,
            fdr=fdr,
            categories=categories,
            most_categories=most_categories,
            simulation=simulation,
            seed=seed if simulation else None,
            public_rule=public_rule,
        )
    if epsilon is not None or delta is not None or most_categories is not None or simulation or model != "central":
        raise OptionError(
            "epsilon, delta, model, most_categories and simulation are for private=True; nothing is noisy"
        )
    assigned = as_assignment(assignment, n_cohorts)
    found = sensitivity_of_counts(count_visits(assigned, visited, categories=categories), t, level, fdr)
    if not shuffles:
        return found
    by_chance = []
    for number in range(shuffles):
        mixed = stream(seed, "shuffled cohorts", number).permutation(assigned)
        counts = count_visits(mixed, visited)
        by_chance.append(int(exceeding(counts, gaps(counts), t).sum()))
    values = {**found.__dict__, "by_chance": float(np.mean(by_chance)), "shuffles": shuffles, "seed": seed}
    return Sensitivity(**values)


def sensitivity_of_counts(counts: CohortCounts, t: float = 0.1, level: float = 0.95, fdr: float = 0.05) -> Sensitivity:
    """Measure the gaps of counted visits: :func:`sensitivity` without the baseline.

    Examples
    --------
    >>> counts = count_visits([0, 0, 1, 1], [[1], [1], [0], [0]])
    >>> sensitivity_of_counts(counts, t=0.4).sensitive.tolist()
    [True, False]
    """
    found = gaps(counts)
    sensitive = exceeding(counts, found, t)
    level, fdr = between_0_and_1("level", level), between_0_and_1("fdr", fdr)
    low, high = gap_intervals(counts, level)
    p = p_values(counts, t, min(fdr, 1.0 - level))
    return Sensitivity(
        counts=counts,
        t=float(t),
        level=level,
        fdr=fdr,
        anomalous=found[0],
        gap=found[1],
        low=low,
        high=high,
        p_value=p,
        sensitive=sensitive,
        beyond_chance=sensitive & discoveries(p, fdr),
        beyond_doubt=sensitive & (p * p.size <= 1.0 - level),
    )
