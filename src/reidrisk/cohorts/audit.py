"""Measure cohorts, by exact or by noisy counts, and gather what is found, for a table, a page or a program."""

import math
import operator
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from reidrisk.base import ArrayLike, OptionError, Progress, Result, Steps, fresh_seed
from reidrisk.cohorts.private.sensitivity import PrivateSensitivity, measured_through_noise
from reidrisk.cohorts.sensitivity import blocklist
from reidrisk.cohorts.sensitivity.blocklist import EmptyCohort, ThresholdCurve
from reidrisk.cohorts.sensitivity.cohorts import Sensitivity, SensitivitySummary, measured_exactly
from reidrisk.cohorts.sensitivity.gaps import closeness
from reidrisk.cohorts.spec import CohortSpec, Noise
from reidrisk.cohorts.tables import category_visits, fitted_to_users, read_assignment, read_categories, read_visits
from reidrisk.privacy import PrivacyStatement

__all__ = ["CohortAudit", "CohortRow", "GapHistogram", "audit_tables", "cohort_audit", "private_sensitivity"]
__all__ += ["sensitivity"]


def sensitivity(
    assignment: ArrayLike,
    visited: Any,
    spec: CohortSpec | float | None = None,
    categories: Sequence[str] | None = None,
    **options: Any,
) -> Sensitivity:
    r"""Measure the sensitivity gap of every cohort (floc, Definitions 1 to 4).

    A cohort is sensitive when the gap of its anomalous category is strictly above ``t``. On few people that is mostly
    chance, so two more counts are given: **statistically significant** at a false discovery rate over the cohorts
    (``beyond_chance``), and **significant after Bonferroni**, so that with probability ``level`` none of them is wrong
    (``beyond_doubt``). The baseline fills cohorts of the same sizes at random. ``assignment``, ``visited`` and
    ``categories`` are those of :func:`count_visits`; ``options`` are fields of the spec by name.

    **Through noise** (``spec.noise``; floc, Use of synced Chrome history) there is no baseline. *central*: someone
    counts everybody and adds discrete Gaussian noise to every size and count; adding or removing one user is
    (epsilon, delta)-private. *local*: each user is asked about one category drawn at random and answers by randomised
    response, truly with probability :math:`e^\epsilon / (1 + e^\epsilon)`; the cohort is given as it is, since every
    site sees it anyway. ``most_categories`` (central) lets only that many categories of a user count, drawn at random:
    less noise, and frequencies that come out too low. A ``simulation`` has a seed and protects nobody.

    **Noise protects nobody where the cohorts were fitted to these users** (:meth:`SortingLSH.fit`, clusters): one user
    who comes then moves nearly everybody. Assign cohorts by a table that was made without them; ``public_rule`` says in
    the statement where it comes from, such as "Chrome's table of March 2021".

    >>> import numpy as np
    >>> cohort, visited = np.repeat(np.arange(10), 2_000), np.zeros((20_000, 1), dtype=bool)
    >>> visited[:600] = True                                 # 30 % of cohort 0, nobody else
    >>> found = sensitivity(cohort, visited, t=0.1)
    >>> round(float(found.gap[0]), 3), found.blocklist().cohorts
    (0.27, (0,))
    >>> noisy = sensitivity(cohort, visited, CohortSpec(n_cohorts=10, noise=Noise(epsilon=1.0, delta=1e-9)))
    >>> noisy.blocklist().cohorts, bool(noisy.low[0] < 0.27 < noisy.high[0]), noisy.statement.simulation
    ((0,), True, False)
    """
    if not isinstance(spec, CohortSpec):
        given = _former_noise(options, bool(options.pop("private", False)))
        if spec is not None:
            warnings.warn("give the threshold by name: sensitivity(..., t=0.1)", DeprecationWarning, stacklevel=2)
            given["t"] = spec
        spec = CohortSpec(**given)
    elif options:
        raise OptionError(f"give a spec or {next(iter(options))}, not both")
    measure = measured_exactly if spec.noise is None else measured_through_noise
    return measure(assignment, visited, spec, categories)


def private_sensitivity(
    assignment: ArrayLike, visited: Any, *former: Any, categories: Sequence[str] | None = None, **options: Any
) -> Sensitivity:
    """Measure the gaps through noise as before version 0.2; now :func:`sensitivity` does, with a spec."""
    names = ("n_cohorts", "epsilon", "delta", "model", "t", "level", "fdr")
    given = {"seed": None, **options, **dict(zip(names, former, strict=False))}
    seed = given["seed"]
    if seed is None:
        given["seed"] = fresh_seed()
    elif not given.get("simulation", False):
        raise OptionError(f"seed {seed!r} was given, but noise that protects people is never seeded; leave it out")
    return sensitivity(assignment, visited, CohortSpec(**_former_noise(given, private=True)), categories)


def _former_noise(options: dict[str, Any], private: bool) -> dict[str, Any]:
    """Return options with those of noise in a :class:`Noise`; until version 0.2 they stood beside the others."""
    noise = {name: options[name] for name in Noise.model_fields if name in options}
    if not private and not noise:
        return options
    advice = "give the options of noise in a spec: CohortSpec(n_cohorts=..., noise=Noise(epsilon=..., delta=...))"
    warnings.warn(advice, DeprecationWarning, stacklevel=3)
    rest = {name: value for name, value in options.items() if name not in noise}
    if private:
        return rest | {"noise": noise}
    if any(value != Noise.model_fields[name].default for name, value in noise.items()):
        raise OptionError(f"{', '.join(noise)} are for private=True; nothing is noisy")
    return rest


Status = Literal["beyond doubt", "beyond chance", "sensitive", "not sensitive", "too noisy to tell"]
"""Significant after Bonferroni; statistically significant; by definition; not; where noise could make the cohort."""

_MOST_BINS = 50


@dataclass(frozen=True, eq=False)
class CohortRow(Result):
    """One cohort as people inside see it: its anomalous category, two frequencies, and the gap with its interval."""

    cohort: int
    users: int
    category: str
    cohort_freq: float
    population_freq: float
    gap: float
    low: float
    high: float
    status: Status


@dataclass(frozen=True, eq=False)
class GapHistogram(Result):
    """How many cohorts have a gap from edge ``i`` up to edge ``i + 1``."""

    edges: tuple[float, ...]
    cohorts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class CohortAudit(Result):
    """What a grouping of users gives away; made by :func:`cohort_audit`. Not for publication: it names categories.

    ``worst`` have the largest gaps; ``empty_cohort`` is None where nobody is blocked; ``closeness`` is the largest
    distance of t-closeness; ``below_five_percent`` the share of the categories that fewer than 5 % of the users
    visited; ``covered_visits`` the share of the visits whose host is listed. Where counts are noisy, a ``statement``
    says what protects the people, and what no noise covers is None.
    """

    summary: SensitivitySummary
    gaps: GapHistogram
    curve: ThresholdCurve
    worst: tuple[CohortRow, ...]
    empty_cohort: EmptyCohort | None
    closeness: float | None
    below_five_percent: float
    covered_visits: float | None = None
    unseen_categories: tuple[str, ...] | None = None
    statement: PrivacyStatement | None = None
    spec: Mapping[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        if name not in _FORMER:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        warnings.warn(f"{name} is now {_FORMER[name]}", DeprecationWarning, stacklevel=2)
        return operator.attrgetter(_FORMER[name])(self)


_FORMER = {
    "edges": "gaps.edges",
    "gap_counts": "gaps.cohorts",
    "empty": "empty_cohort",
    "covered": "covered_visits",
    "unseen": "unseen_categories",
}


def audit_tables(spec: CohortSpec, progress: Progress | None = None) -> tuple[CohortAudit, Sensitivity]:
    """Audit the tables that a spec names: what is found, and the measurement that gives the blocklist."""
    files, private = spec.tables, spec.noise is not None
    if files is None:
        raise OptionError("the spec names no tables; give CohortSpec(tables=CohortTables(...))")
    steps = Steps(progress, 10.0)
    steps.begin("reading-tables", 4.0)
    if private and fitted_to_users(files.assignment):
        fitted = "these cohorts were fitted to these very users (--min-size, or a table that --save-table wrote)"
        instead = "which no noise covers; assign them by a table made without these users: --table"
        raise OptionError(f"{files.assignment}: {fitted}: one of them moves nearly everybody, {instead}")
    users, cohort = read_assignment(files.assignment)
    # No noise covers whether anything matches: a private measurement goes on either way.
    visits, categories = read_visits(files.visits), read_categories(files.categories)
    seen = category_visits(visits, categories, users, "keep" if private else "refuse")
    steps.begin("measuring-gaps", 6.0)
    found = sensitivity(cohort, seen.visited, spec, seen.categories)
    return cohort_audit(found, spec.worst, seen.covered), found


def cohort_audit(found: Sensitivity, worst: int | None = None, covered: float | None = None) -> CohortAudit:
    """Gather all that a sensitivity measurement says, for a page, a table or a program.

    ``worst`` cohorts are listed, default: as many as the spec says. ``covered`` is that of :class:`CategoryVisits`,
    left out where counts are noisy: no noise covers it.

    >>> cohort = np.repeat(np.arange(10), 200)
    >>> visited = np.zeros((2_000, 1), dtype=bool)
    >>> visited[:60] = True                                  # 30 % of cohort 0, nobody else
    >>> audit = cohort_audit(sensitivity(cohort, visited, categories=["health"]), worst=2)
    >>> audit.worst[0].category, round(audit.worst[0].gap, 3), audit.worst[0].status, audit.worst[1].status
    ('health', 0.27, 'beyond doubt', 'not sensitive')
    """
    spec = found.spec if worst is None else CohortSpec(**dict(found.spec) | {"worst": worst})
    counts, noisy, blocked = found.counts, isinstance(found, PrivateSensitivity), found.blocklist()
    gaps, ends = (found.anomalous, found.gap), (found.low, found.high)
    unseen = tuple(name for name, users in zip(counts.categories, counts.population, strict=True) if not users)
    return CohortAudit(
        summary=found.summary,
        gaps=_histogram(found),
        curve=blocklist.curve_of(counts, gaps, ends, blocklist.THRESHOLDS, found.level, noisy),
        worst=tuple(_row(found, int(row)) for row in np.argsort(-found.gap, kind="stable")[: spec.worst]),
        empty_cohort=blocklist.empty_cohort(counts, blocked, found.level) if len(blocked) and not noisy else None,
        closeness=None if noisy else closeness(counts).worst,
        below_five_percent=blocklist.frequency_histogram(counts).share_below,
        covered_visits=None if noisy or covered is None else float(covered),
        unseen_categories=None if noisy else unseen,
        statement=found.statement if isinstance(found, PrivateSensitivity) else None,
        spec=spec.to_dict(),
    )


def _histogram(found: Sensitivity) -> GapHistogram:
    """Count gaps in bins of a hundredth, or of a few so that there are not too many bins; 0 is an edge."""
    low, high = math.floor(100 * float(found.gap.min())), math.floor(100 * float(found.gap.max())) + 1
    step = next((step for step in (1, 2, 5) if (high - low) / step <= _MOST_BINS), 10)
    bins = np.arange(math.floor(low / step), math.ceil(high / step) + 1) * step / 100
    return GapHistogram(tuple(bins.round(2).tolist()), tuple(np.histogram(found.gap, bins)[0].tolist()))


def _row(found: Sensitivity, row: int) -> CohortRow:
    counts, category = found.counts, int(found.anomalous[row])
    size = int(counts.sizes[row])
    status: Status = "sensitive" if found.sensitive[row] else "not sensitive"
    if isinstance(found, PrivateSensitivity) and found.too_noisy(row):
        status = "too noisy to tell"
    elif found.beyond_doubt[row] or found.beyond_chance[row]:
        status = "beyond doubt" if found.beyond_doubt[row] else "beyond chance"
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
