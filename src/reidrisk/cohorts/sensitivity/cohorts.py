"""Which cohorts give a sensitive category away: by the plain definition, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidrisk.base import ArrayLike, Bools, Floats, Ints, Note, Spoken, one_of, stream
from reidrisk.cohorts.sensitivity.blocklist import Blocklist
from reidrisk.cohorts.sensitivity.counts import CohortCounts, as_assignment, count_visits
from reidrisk.cohorts.sensitivity.gaps import exceeding, gaps
from reidrisk.cohorts.sensitivity.significance import discoveries, gap_intervals, p_values
from reidrisk.cohorts.spec import CohortSpec, Rule


@dataclass(frozen=True, eq=False)
class SensitivitySummary(Spoken):
    """The counts of a sensitivity measurement, without a word on any single cohort.

    ``sensitive`` cohorts have a gap strictly above t; ``beyond_chance`` of them are discoveries at the false discovery
    rate ``fdr``, and ``beyond_doubt`` all hold together with probability ``level``; the baseline ``by_chance`` fills
    the same sizes at random. ``users_blocked`` is the share of the users with a cohort who are in a sensitive one,
    ``k`` the size of the smallest. ``too_noisy`` names which of ``n_users``, ``n_without`` and ``k`` are within the
    reach of their noise; where it is as large as the cohorts, all is ``hidden``.
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
    too_noisy: tuple[str, ...] = ()
    hidden: bool = False
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """The sensitivity gap of every cohort, with its interval; made by :func:`sensitivity`.

    All are (m,) arrays, in the order of ``counts.cohorts``: ``anomalous``, the column of the anomalous category, its
    ``gap`` (floc, Definition 3) with the interval ``low`` to ``high`` for users like these, one cohort at a time;
    ``p_value``, how likely such gaps are if no true gap of the cohort exceeds t; and three decisions.
    """

    counts: CohortCounts
    spec: CohortSpec
    anomalous: Ints
    gap: Floats
    low: Floats
    high: Floats
    p_value: Floats
    sensitive: Bools
    beyond_chance: Bools
    beyond_doubt: Bools
    by_chance: float | None = None

    @property
    def t(self) -> float:
        """Threshold: gaps strictly above it are sensitive."""
        return self.spec.t

    @property
    def level(self) -> float:
        """Level of the intervals, and of significance after Bonferroni."""
        return self.spec.level

    @property
    def fdr(self) -> float:
        """False discovery rate of what is called significant."""
        return self.spec.fdr

    @property
    def seed(self) -> int | None:
        """Seed of what was drawn; None where nothing was, or nothing may be repeated."""
        return None if self.by_chance is None else self.spec.seed

    @property
    def k(self) -> int:
        """Users in the smallest cohort."""
        return self.counts.k

    def category(self, cohort: int) -> str:
        """Return the name of a cohort's anomalous category; for people inside, not for publication."""
        return self.counts.categories[int(self.anomalous[self.counts.rows([cohort])][0])]

    def blocklist(self, rule: Rule = "plain") -> Blocklist:
        """Return what may be published: cohorts that are sensitive, beyond chance or beyond doubt, by the ``rule``."""
        chosen = {"plain": self.sensitive, "chance": self.beyond_chance, "doubt": self.beyond_doubt}
        return Blocklist(tuple(self.counts.cohorts[chosen[one_of("rule", rule, chosen)]].tolist()), self.t, rule)

    @property
    def summary(self) -> SensitivitySummary:
        """The counts, their baseline, and what they rest on."""
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
            shuffles=0 if self.by_chance is None else self.spec.shuffles,
            seed=self.seed,
            notes=(Note("cohorts-population"), Note("cohorts-sample"), Note("cohorts-listed")),
        )


def measured_exactly(
    assignment: ArrayLike, visited: Any, spec: CohortSpec, categories: Sequence[str] | None = None
) -> Sensitivity:
    """Measure the gaps without noise; the baseline fills cohorts of the same sizes at random."""
    assigned = as_assignment(assignment, spec.n_cohorts)
    found = _of_counts(count_visits(assigned, visited, categories=categories), spec)
    if not spec.shuffles:
        return found
    by_chance = []
    for number in range(spec.shuffles):
        counts = count_visits(stream(spec.seed, "shuffled cohorts", number).permutation(assigned), visited)
        by_chance.append(int(exceeding(counts, gaps(counts), spec.t).sum()))
    return replace(found, by_chance=float(np.mean(by_chance)))


def sensitivity_of_counts(counts: CohortCounts, t: float = 0.1, level: float = 0.95, fdr: float = 0.05) -> Sensitivity:
    """Measure the gaps of counted visits: :func:`reidrisk.cohorts.sensitivity` without the baseline.

    >>> counts = count_visits([0, 0, 1, 1], [[1], [1], [0], [0]])
    >>> sensitivity_of_counts(counts, t=0.4).sensitive.tolist()
    [True, False]
    """
    return _of_counts(counts, CohortSpec(t=t, level=level, fdr=fdr, shuffles=0))


def _of_counts(counts: CohortCounts, spec: CohortSpec) -> Sensitivity:
    found = gaps(counts)
    low, high = gap_intervals(counts, spec.level)
    p = p_values(counts, spec.t, min(spec.fdr, 1.0 - spec.level))
    decisions = decided(exceeding(counts, found, spec.t), p, spec)
    return Sensitivity(counts, spec, anomalous=found[0], gap=found[1], low=low, high=high, **decisions)


def decided(sensitive: Bools, p: Floats, spec: CohortSpec) -> dict[str, Any]:
    """Return the p-values and the three decisions that follow, as fields of a :class:`Sensitivity`."""
    return {
        "p_value": p,
        "sensitive": sensitive,
        "beyond_chance": sensitive & discoveries(p, spec.fdr),
        "beyond_doubt": sensitive & (p * p.size <= 1.0 - spec.level),
    }
