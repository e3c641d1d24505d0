"""Medina et al.: what each threshold blocks on other people's browsing, and what the blocked have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reidrisk import cohorts
from reidrisk.base.progress import Progress, Steps
from reidrisk.cohorts import EmptyCohort, FrequencyHistogram, SensitivitySummary, ThresholdCurve
from reidrisk.present import drawing
from reidrisk.present.words.frequencies import percent
from reidrisk_studies.floc.people import Browsing, all_browsing
from reidrisk_studies.results import Comparison, Row, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["PUBLISHED", "thresholds"]

PUBLISHED = {0.025: 0.15, 0.05: 0.07, 0.1: 0.04}
"""Share of cohorts blocked by threshold, as printed: more than 15 %, roughly 7 %, 4 %."""

_T = tuple(round(0.005 * i, 3) for i in range(2, 41))


@dataclass(frozen=True, eq=False)
class _Found:
    """What was measured of one kind of browsing, with all pages or with the harmless ones in the SimHash."""

    people: Browsing
    harmless: bool
    summary: SensitivitySummary
    curve: ThresholdCurve
    categories: FrequencyHistogram
    empty: EmptyCohort | None

    @property
    def name(self) -> str:
        return f"{self.people.name}, harmless pages only" if self.harmless else self.people.name

    def blocked(self, t: float) -> str:
        i = self.curve.t.index(t)
        return (
            f"{percent(self.curve.cohorts[i])} ({percent(self.curve.certain[i])} to {percent(self.curve.possible[i])})"
        )


@study(
    "floc-thresholds",
    title="FLoC: cohorts that each threshold blocks",
    reference="floc, Utility vs privacy; The empty cohort",
    users=1_000_000,
    seconds=(10.0, 5.0),
    data=("msweb", "msnbc", "webtrackr", "chrome-topics"),
)
def thresholds(users: int, seed: int, progress: Progress) -> StudyResult:
    """Block cohorts of several kinds of browsing at every threshold (floc, Utility vs privacy; The empty cohort).

    Parameters
    ----------
    users : int
        Most people of each data set; of synthetic people never more than 100,000.
    seed : int
        Of the synthetic people and of the baseline.
    progress : callable
        Called with what is done.
    """
    steps = Steps(progress, 12.0)
    steps.begin("read what people visited", 4.0)
    browsing, missing = all_browsing(users, seed)
    found = []
    for people in browsing:
        for harmless in (False, True):
            steps.begin(f"cohorts of {people.name}", 1.0)
            found.append(_measured(people, harmless, seed))
    # Bands would hide the lines, and five people have none: both are in the rows.
    styles = [replace(style, markers=False, band=False) for style in drawing.ATTACKS]
    drawn = [
        line(
            one.people.name,
            style,
            {
                t: (share, low, max(share, high))
                for t, share, low, high in zip(
                    one.curve.t, one.curve.cohorts, one.curve.certain, one.curve.possible, strict=True
                )
            },
        )
        for one, style in zip([f for f in found if not f.harmless and f.people.name != "panel"], styles, strict=False)
    ]
    style = replace(drawing.PUBLISHED, color=drawing.ATTACKS[3].color)
    published = line("Published", style, {t: (share,) * 3 for t, share in PUBLISHED.items()})
    return StudyResult(
        users=users,
        seed=seed,
        rows=tuple(row for one in found for row in _rows(one)),
        lines=(*drawn, published),
        x_title="threshold t",
        x_ticks=(0.01, 0.025, 0.05, 0.1, 0.15, 0.2),
        y_title="cohorts blocked",
        y_linear=True,
        comparisons=_compared(found),
        assumptions=(
            *(people.assumption for people in browsing),
            *missing,
            "Which pages are sensitive is our choice; the paper's categories and its classifier are not public.",
            "Harmless pages only: the SimHash leaves sensitive pages out; sensitivity is still measured on all.",
            "Brackets go from the cohorts whose interval lies above the threshold to those whose interval reaches "
            "above it, at 95 %.",
        ),
    )


def _measured(people: Browsing, harmless: bool, seed: int) -> _Found:
    assignment = people.assignment(harmless)
    visited, names = people.visited(), list(people.sensitive)
    at_ten = cohorts.sensitivity(assignment, visited, t=0.1, categories=names, seed=seed)
    at_five = cohorts.sensitivity_of_counts(at_ten.counts, t=0.05)
    blocklist = at_five.blocklist()
    return _Found(
        people,
        harmless,
        at_ten.summary,
        cohorts.threshold_curve(at_ten.counts, _T),
        cohorts.frequency_histogram(at_ten.counts),
        cohorts.empty_cohort(at_ten.counts, blocklist) if len(blocklist) else None,
    )


def _rows(one: _Found) -> list[Row]:
    curve, summary = one.curve, one.summary
    return [
        {
            "data": one.people.name,
            "simhash of": "harmless pages" if one.harmless else "all pages",
            "t": t,
            "blocked": share,
            "certain": low,
            "possible": high,
            "users blocked": blocked,
            "cohorts": summary.n_cohorts,
            "smallest": summary.k,
            "users": summary.n_users,
            "without a cohort": summary.n_without,
            "categories": summary.n_categories,
        }
        for t, share, low, high, blocked in zip(
            curve.t, curve.cohorts, curve.certain, curve.possible, curve.users, strict=True
        )
    ]


def _compared(found: Sequence[_Found]) -> tuple[Comparison, ...]:
    plain = [one for one in found if not one.harmless]
    why = {
        0.025: "Other people, other pages, and cohorts of hundreds, not thousands: finer groups have larger gaps, "
        "and each gap is less sure, as the brackets show.",
        0.05: "As above. The fewer pages there are, the nearer a cohort comes to a history itself: msnbc has 17.",
        0.1: "As above. Five panelists say nothing beyond chance: any two groups of theirs are sensitive.",
    }
    printed = {0.025: "more than 15 %", 0.05: "roughly 7 %", 0.1: "4 %"}
    rows = [
        Comparison(
            f"cohorts blocked at t = {t:g}",
            printed[t],
            "; ".join(f"{one.people.name} {one.blocked(t)}" for one in plain),
            why[t],
        )
        for t in PUBLISHED
    ]
    rows.append(
        Comparison(
            "categories visited by fewer than 5 % of users",
            "more than 90 %",
            "; ".join(f"{one.people.name} {percent(one.categories.share_below)}" for one in plain),
            "The categories are our choice: countries' areas and interests are rare, sections of a news site are not.",
        )
    )
    profiles = {one.people.name: one.empty for one in plain if one.empty is not None}
    rows.append(
        Comparison(
            "categories off by more than 0.02 in the empty cohort (t = 0.05): blocked users alone; with all others "
            "without a cohort",
            "2 alone, none by more than 0.05",
            "; ".join(
                f"{name} {empty.blocked.off_by(0.02)} alone (largest {100 * empty.blocked.gap:.1f} points), "
                f"{empty.everyone_without.off_by(0.02)} with others ({100 * empty.everyone_without.gap:.1f})"
                for name, empty in profiles.items()
            ),
            "The more is blocked, the more the blocked are like everyone. In our data many people visited too few "
            "pages for a cohort, and hide those who are blocked.",
        )
    )
    rows.append(
        Comparison(
            "cohorts sensitive at t = 0.1: plain, beyond chance, beyond doubt, and by chance",
            "4 % plain; no interval",
            "; ".join(
                f"{one.people.name} {s.sensitive}, {s.beyond_chance}, {s.beyond_doubt}, {s.by_chance or 0:.0f} "
                f"of {s.n_cohorts}"
                for one in plain
                for s in [one.summary]
            ),
            "The paper gives no sizes, so chance cannot be told from interest there.",
        )
    )
    rows.append(
        Comparison(
            "cohorts blocked at t = 0.1 if sensitive pages are left out of the SimHash",
            "not measured",
            "; ".join(f"{one.people.name} {one.blocked(0.1)}" for one in found if one.harmless),
            "A change of ours: what is left is what harmless pages tell of sensitive ones.",
        )
    )
    return tuple(rows)
