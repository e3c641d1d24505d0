"""Sentences about cohorts: what they give away, how sure that is, and what blocking does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reidrisk.present.words import percent, phrase, reads, table

if TYPE_CHECKING:
    from reidrisk import cohorts
    from reidrisk.present.terms import Terms

STATUS = table("cohort")  # what a reader calls the status of a cohort


@reads("SensitivitySummary")
def _summary(found: cohorts.SensitivitySummary, _terms: Terms) -> str:
    m, chance = found.n_cohorts, ""
    if found.by_chance is not None:
        chance = f" ({found.by_chance:,.0f} would if people were grouped at random)"
    return (
        f"Of {_cohorts(m)}, {found.sensitive:,} ({percent(found.sensitive / m)}) "
        f"{'has' if found.sensitive == 1 else 'have'} a category more than {points(found.t)} points above the "
        f"population{chance}; {found.beyond_chance:,} {'is' if found.beyond_chance == 1 else 'are'} statistically "
        f"significant, {found.beyond_doubt:,} after Bonferroni."
        + (" The noise is as large as the cohorts: too noisy to tell." if found.hidden else "")
    )


@reads("ThresholdCurve")
def _curve(found: cohorts.ThresholdCurve, _terms: Terms) -> str:
    first = "By noisy counts, a" if found.noisy else "A"
    return (
        f"{first} threshold of {found.t[0]:g} blocks {percent(found.cohorts[0])} of {_cohorts(found.n_cohorts)}, one "
        f"of {found.t[-1]:g} blocks {percent(found.cohorts[-1])}."
    )


@reads("FrequencyHistogram")
def _frequencies(found: cohorts.FrequencyHistogram, _terms: Terms) -> str:
    return rare(found.share_below, found.below)


@reads("Closeness")
def _closeness(found: cohorts.Closeness, _terms: Terms) -> str:
    return phrase("cohorts.closeness", _terms, found=found, points=100 * found.worst)


@reads("EmptyCohort")
def _empty(found: cohorts.EmptyCohort, _terms: Terms) -> str:
    if not found.n_shown:
        return "All cohorts are blocked, so nobody has a cohort to show: there is nothing to compare."
    group = found.everyone_without
    return (
        f"The {group.n_users:,} users whose cohort is blocked or who have none are at most {100 * group.gap:.1f} "
        f"points above the population in any category, which {'stays within' if group.gap <= found.t else 'exceeds'} "
        f"the threshold of {points(found.t)} points."
    )


@reads("BlocklistCheck")
def _check(found: cohorts.BlocklistCheck, _terms: Terms) -> str:
    return phrase("cohorts.check", _terms, found=found)


@reads("BlocklistChanges")
def _changes(found: cohorts.BlocklistChanges, _terms: Terms) -> str:
    changed = (sum(found.added) + sum(found.removed)) / len(found.added)
    return f"From one list to the next, {changed:,.1f} cohorts change sides on average."


@reads("WeeklyCohorts")
def _weekly(found: cohorts.WeeklyCohorts, _terms: Terms) -> str:
    used = len(set(found.traces.tokens[found.traces.tokens >= 0].tolist()))
    return (
        f"In each of {len(found.k)} weeks everyone who has a cohort shares it with at least {min(found.k) - 1:,} "
        f"others; there are {used:,} cohorts, the largest of {max(found.largest):,} users."
    )


@reads("AssignmentSummary")
def _assigned(found: cohorts.AssignmentSummary, _terms: Terms) -> str:
    smallest, weeks = min(week.smallest for week in found.weeks), len(found.weeks)
    if not smallest:
        return "Nobody has a cohort" + (" in some week" if weeks > 1 else "") + ": too few domains."
    sequence = f", in each of {weeks} weeks; nothing of the kind holds for the sequence" if weeks > 1 else ""
    return f"Everyone who has a cohort shares it with at least {smallest - 1:,} others of these users{sequence}."


def empty_cohort(audit: cohorts.CohortAudit) -> str:
    """Say what being without a cohort gives away."""
    if audit.statement is not None:
        return "What blocked users have in common is not measured from noisy counts."
    found = audit.empty_cohort
    return "No cohort is blocked, so being without one says nothing." if found is None else found.reading


def coverage(audit: cohorts.CohortAudit) -> tuple[str, ...]:
    """Say how far the table of categories reaches; nothing where counts are noisy."""
    lines, unseen = [], audit.unseen_categories
    if audit.covered_visits is not None:
        lines.append(f"{percent(audit.covered_visits)} of the visits are to a listed host.")
    if unseen:
        named = ", ".join(unseen[:10]) + (", ..." if len(unseen) > 10 else "")
        lines.append(
            f"Nobody visited {len(unseen):,} of the {audit.summary.n_categories:,} categories, so nothing is known of "
            f"them: {named}."
        )
    return tuple(lines)


def rare(share: float, below: float = 0.05) -> str:
    """Say how many categories few people visit."""
    return f"{percent(share)} of the categories were visited by fewer than {points(below)} % of the users."


def closeness(audit: cohorts.CohortAudit) -> str:
    """Say how close cohorts are to the population in either direction, where that is known."""
    if audit.closeness is None:
        return ""
    return (
        "In either direction, no category is more or less frequent in a cohort than in the population by more than "
        f"{100 * audit.closeness:.1f} points: that is the t of t-closeness. The gap looks at excess alone."
    )


def known(summary: cohorts.SensitivitySummary, name: str) -> str:
    """Write a count of users, or that the noise hides it.

    >>> from reidrisk.cohorts import sensitivity
    >>> known(sensitivity([0, 0, 1, 1], [[1], [1], [0], [0]]).summary, "n_users")
    '4'
    """
    if name in summary.too_noisy:
        return "too noisy to tell"
    return f"{_about(summary)}{getattr(summary, name):,}"


def with_cohort(summary: cohorts.SensitivitySummary) -> str:
    """Say how many users have a cohort, of all."""
    if {"n_users", "n_without"} & set(summary.too_noisy):
        return "how many these are, the noise hides"
    return f"{_about(summary)}{summary.n_users - summary.n_without:,} of {known(summary, 'n_users')} users"


def points(share: float) -> str:
    """Write a share in percentage points."""
    return f"{100 * share:g}"


def _about(summary: cohorts.SensitivitySummary) -> str:
    return "about " if any(note.code == "cohorts-noise" for note in summary.notes) else ""


def _cohorts(n: int) -> str:
    return f"{n:,} cohort{'' if n == 1 else 's'}"
