"""One look at a grouping of users: all that is measured of it, for a table, a page or a program to show."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from reidrisk.base.options import whole
from reidrisk.base.wording import percent
from reidrisk.cohorts.private.sensitivity import PrivateSensitivity
from reidrisk.cohorts.sensitivity.closeness import closeness
from reidrisk.cohorts.sensitivity.cohorts import Sensitivity, SensitivitySummary
from reidrisk.cohorts.sensitivity.empty_cohort import EmptyProfile, empty_cohort
from reidrisk.cohorts.sensitivity.thresholds import THRESHOLDS, ThresholdCurve, frequency_histogram, threshold_curve
from reidrisk.privacy import PrivacyStatement

__all__ = ["CohortAudit", "CohortRow", "cohort_audit", "known"]

_MOST_BINS = 50


@dataclass(frozen=True)
class CohortRow:
    """One cohort as people inside see it: its anomalous category, the two frequencies, and the gap with its interval.

    ``status`` is ``"beyond doubt"``, ``"beyond chance"``, ``"sensitive"`` or ``"not sensitive"``; or
    ``"too noisy to tell"`` where noise could make the whole cohort.
    """

    cohort: int
    users: int
    category: str
    cohort_freq: float
    population_freq: float
    gap: float
    low: float
    high: float
    status: str


@dataclass(frozen=True, eq=False)
class CohortAudit:
    """What a grouping of users gives away; made by :func:`cohort_audit`. Not for publication: it names categories.

    Attributes
    ----------
    summary : SensitivitySummary
        Counts, baseline, assumptions and a sentence.
    edges, gap_counts : tuples
        Histogram of the gaps: cohorts from edge ``i`` up to edge ``i + 1``.
    curve : ThresholdCurve
        What each threshold would block.
    worst : tuple of CohortRow
        Cohorts with the largest gaps.
    empty : dict or None
        Users without a cohort to show, once blocked: ``blocked`` and ``everyone_without``, each with ``n_users``,
        ``gap``, ``low``, ``high`` and ``off_by_two_points``; the second is left out where it is everybody. None where
        nobody is blocked, or counts are noisy.
    closeness : float or None
        Largest distance of t-closeness, either way; None where counts are noisy.
    below_five_percent : float
        Share of the categories that fewer than 5 % of the users visited.
    statement : PrivacyStatement or None
        Where counts are noisy: what protects the people.
    covered : float or None
        Share of the visits whose host is listed, where it was given; None where counts are noisy.
    unseen : tuple of str or None
        Categories that nobody visited, about which nothing can be found; None where counts are noisy.
    """

    summary: SensitivitySummary
    edges: tuple[float, ...]
    gap_counts: tuple[int, ...]
    curve: ThresholdCurve
    worst: tuple[CohortRow, ...]
    empty: dict[str, dict[str, float]] | None
    empty_reading: str
    closeness: float | None
    below_five_percent: float
    statement: PrivacyStatement | None = None
    covered: float | None = None
    unseen: tuple[str, ...] | None = None

    @property
    def coverage(self) -> tuple[str, ...]:
        """How far the table of categories reaches, in sentences; none where counts are noisy."""
        lines = [] if self.covered is None else [f"{percent(self.covered)} of the visits are to a listed host."]
        if self.unseen:
            named = ", ".join(self.unseen[:10]) + (", ..." if len(self.unseen) > 10 else "")
            lines.append(
                f"Nobody visited {len(self.unseen):,} of the {self.summary.n_categories:,} categories, so nothing is "
                f"known of them: {named}."
            )
        return tuple(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that ``json`` can write."""
        return {
            "summary": self.summary.to_dict(),
            "gaps": {"edges": list(self.edges), "cohorts": list(self.gap_counts)},
            "curve": self.curve.to_dict(),
            "worst": [asdict(row) for row in self.worst],
            "empty_cohort": self.empty,
            "empty_cohort_reading": self.empty_reading,
            "closeness": self.closeness,
            "below_five_percent": self.below_five_percent,
            "covered_visits": self.covered,
            "unseen_categories": None if self.unseen is None else list(self.unseen),
            "statement": None if self.statement is None else self.statement.to_dict(),
        }


def cohort_audit(found: Sensitivity, worst: int = 20, covered: float | None = None) -> CohortAudit:
    """Gather all that a sensitivity measurement says: for :func:`reidrisk.report.write_cohorts` and the command line.

    Parameters
    ----------
    found : Sensitivity
        From :func:`sensitivity`; through noise or not.
    worst : int
        How many cohorts to list.
    covered : float, optional
        Share of the visits whose host is listed (:class:`CategoryVisits`). No noise covers it: it is left out where
        counts are noisy.

    Examples
    --------
    >>> from reidrisk.cohorts.sensitivity.cohorts import sensitivity
    >>> cohort = np.repeat(np.arange(10), 200)
    >>> visited = np.zeros((2_000, 1), dtype=bool)
    >>> visited[:60] = True                                  # 30 % of cohort 0, nobody else
    >>> audit = cohort_audit(sensitivity(cohort, visited, categories=["health"]), worst=2)
    >>> audit.worst[0].category, round(audit.worst[0].gap, 3), audit.worst[0].status, audit.worst[1].status
    ('health', 0.27, 'beyond doubt', 'not sensitive')
    >>> round(audit.empty["blocked"]["gap"], 3)
    0.27
    """
    worst = whole("worst", worst, least=0)
    noisy = isinstance(found, PrivateSensitivity)
    unseen = tuple(np.array(found.counts.categories, dtype=object)[found.counts.population == 0].tolist())
    edges, gap_counts = _histogram(found)
    blocklist = found.blocklist()
    empty, reading = None, "No cohort is blocked, so being without one says nothing."
    if noisy:
        reading = "What blocked users have in common is not measured from noisy counts."
    elif len(blocklist):
        profile = empty_cohort(found.counts, blocklist, found.level)
        empty = {"blocked": _plain(profile.blocked)}
        if profile.n_shown:
            empty["everyone_without"] = _plain(profile.everyone_without)
        reading = profile.reading
    return CohortAudit(
        summary=found.summary,
        edges=edges,
        gap_counts=gap_counts,
        curve=_noisy_curve(found) if noisy else threshold_curve(found.counts, level=found.level),
        worst=tuple(_row(found, int(row)) for row in np.argsort(-found.gap, kind="stable")[:worst]),
        empty=empty,
        empty_reading=reading,
        closeness=None if noisy else closeness(found.counts).worst,
        below_five_percent=frequency_histogram(found.counts).share_below,
        statement=found.statement if isinstance(found, PrivateSensitivity) else None,
        covered=None if noisy or covered is None else float(covered),
        unseen=None if noisy else unseen,
    )


def known(summary: SensitivitySummary, name: str, about: str = "") -> str:
    """Return a count of users in words, or that the noise hides it.

    Examples
    --------
    >>> from reidrisk.cohorts.sensitivity.cohorts import sensitivity
    >>> known(sensitivity([0, 0, 1, 1], [[1], [1], [0], [0]]).summary, "n_users")
    '4'
    """
    return "too noisy to tell" if name in summary.too_noisy else f"{about}{getattr(summary, name):,}"


def _plain(profile: EmptyProfile) -> dict[str, float]:
    return {
        "n_users": profile.n_users,
        "gap": profile.gap,
        "low": profile.low,
        "high": profile.high,
        "off_by_two_points": profile.off_by(0.02),
    }


def _histogram(found: Sensitivity) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Count gaps in bins of a hundredth, or of a few so that there are not too many bins; 0 is an edge."""
    step = 1
    low, high = math.floor(100 * float(found.gap.min())), math.floor(100 * float(found.gap.max())) + 1
    while (high - low) / step > _MOST_BINS:
        step = {1: 2, 2: 5}.get(step, 10)
        if step == 10:
            break
    first, last = math.floor(low / step), math.ceil(high / step)
    bins = np.arange(first, last + 1) * step / 100
    return tuple(bins.round(2).tolist()), tuple(np.histogram(found.gap, bins)[0].tolist())


def _row(found: Sensitivity, row: int) -> CohortRow:
    counts, category = found.counts, int(found.anomalous[row])
    status = "not sensitive"
    for name, chosen in (
        ("sensitive", found.sensitive),
        ("beyond chance", found.beyond_chance),
        ("beyond doubt", found.beyond_doubt),
    ):
        status = name if chosen[row] else status
    if isinstance(found, PrivateSensitivity) and found.too_noisy(row):
        status = "too noisy to tell"
    size = int(counts.sizes[row])
    return CohortRow(
        cohort=int(counts.cohorts[row]),
        users=size,
        category=counts.categories[category],
        cohort_freq=float(counts.visits[row, category] / size),
        population_freq=float(counts.population_freq[category]),
        gap=float(found.gap[row]),
        low=float(found.low[row]),
        high=float(found.high[row]),
        status=status,
    )


def _noisy_curve(found: Sensitivity) -> ThresholdCurve:
    sizes, m = found.counts.sizes, found.gap.size
    above = [found.gap > t for t in THRESHOLDS]
    shares = tuple(float(chosen.mean()) for chosen in above)
    return ThresholdCurve(
        t=THRESHOLDS,
        cohorts=shares,
        users=tuple(float(sizes[chosen].sum() / sizes.sum()) for chosen in above),
        certain=tuple(float((found.low > t).mean()) for t in THRESHOLDS),
        possible=tuple(float((found.high > t).mean()) for t in THRESHOLDS),
        n_cohorts=m,
        level=found.level,
        reading=(
            f"By noisy counts, a threshold of {THRESHOLDS[0]:g} blocks {percent(shares[0])} of {m:,} "
            f"cohort{'' if m == 1 else 's'}, one of {THRESHOLDS[-1]:g} blocks {percent(shares[-1])}."
        ),
    )
