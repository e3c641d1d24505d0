"""Who is exposed, in words and tables: how risk is spread, which groups differ, and what is left out and why."""

from __future__ import annotations

import numpy as np

from reidrisk.base.intervals import mean_interval
from reidrisk.measure import Exposure
from reidrisk.present.terms import Terms
from reidrisk.present.words.exposed import group_name, trait_name
from reidrisk.present.words.frequencies import capital
from reidrisk.report.charts import risk_bins
from reidrisk.report.phrases import attack_label, epochs, frequency, interval, share, span
from reidrisk.report.sentences import Around
from reidrisk.report.tables import Table


def found_or_not(found: Exposure) -> bool:
    """Whether the attack left next to no ties, so that people were either found or not, and nobody is in between.

    Examples
    --------
    >>> found_or_not(Exposure(40, {}, ((0.0, 0.001, 0.5), (0.001, 0.9, 0.0), (0.9, 1.0, 0.5)), (), 20, 0))
    True
    >>> found_or_not(Exposure(40, {}, ((0.0, 0.9, 0.5), (0.9, 1.0, 0.5)), (), 20, 0))
    False
    """
    return all(part == 0.0 or high <= 0.001 or low >= 0.9 for low, high, part in found.histogram)


def around_exposure(found: Exposure, attack: str, n_epochs: int) -> Around:
    """Return the words around the distribution of per-user risk, with the attack and epochs it was measured at."""
    first, last = found.histogram[0], found.histogram[-1]
    name = f"{attack_label(attack)} at {epochs(n_epochs)}"
    if found_or_not(found):
        before = (
            f"See who carries the risk: {name} linked {share(last[2])} of people correctly and {share(first[2])} not; "
            "nobody is in between."
        )
        whom = "people who were not found are safe for good"
    else:
        before = (
            f"See how unevenly the risk is spread: with {name}, {share(first[2])} of people have a risk of at most "
            f"{100 * first[1]:g} %, and {share(last[2])} one above {100 * last[0]:g} %."
        )
        whom = "people in the first bar are safe for good"
    after = (
        f"Do not conclude that {whom}: this is how one set of observations turned out. With other epochs, or more of "
        "them, others may be among those who are found."
    )
    bins = "; ".join(f"{100 * low:g} to {100 * high:g} %: {share(part)}" for low, high, part in found.histogram)
    return Around(before, after, f"Share of people by their risk of being linked correctly. {bins}.")


def spread_left_out(found: Exposure) -> str:
    """Say why the spread of risk is not shown; an empty string where it is."""
    if len(found.histogram) > 1:
        return ""
    if found.n < found.min_group:
        return f"How the risk is spread over people is not shown: fewer than {found.min_group} were scored."
    return (
        "How the risk is spread over people is not shown: wherever a line is drawn between higher and lower risk, "
        f"fewer than {found.min_group} people are on one side of it."
    )


def groups_left_out(found: Exposure) -> str:
    """Say which groups are not shown and why."""
    hidden, few = found.hidden_groups, f"fewer than {found.min_group} people"
    if not hidden and not found.groups:
        return "There are no groups to compare: people were seen equally often and hold tokens that are equally rare."
    if not hidden:
        return f"Groups of {few} would not be shown; there are none."
    if hidden == 1:
        return f"1 group is not shown: {few} are in it, or would be left by it."
    which = f"{hidden} groups are not shown: they" if found.groups else f"No group is shown: the {hidden} there are"
    return f"{which} have, or would leave, {few}."


def groups_summary(found: Exposure, n_epochs: int, terms: Terms) -> list[str]:
    """Say, for each trait that tells people apart, who is linked least and most."""
    said = []
    for trait in dict.fromkeys(group.trait for group in found.groups):
        rates = [(group.rate, group_name(group, n_epochs, terms)) for group in found.groups if group.trait == trait]
        if rates and max(rates)[0] > min(rates)[0]:
            (low, least), (high, most) = min(rates), max(rates)
            said.append(
                f"By {trait_name(trait, terms)}, the share linked correctly goes from {frequency(low)} ({least}) "
                f"to {frequency(high)} ({most})."
            )
    return said


def exposure_table(found: Exposure) -> Table:
    """Return the bins of per-user risk."""
    rows = [(name, share(part)) for name, (_, _, part) in zip(risk_bins(found), found.histogram, strict=True)]
    return Table(("Risk of the person", "Share of people"), tuple(rows), (1,))


def threshold_table(found: Exposure, level: float) -> Table:
    """Return the shares of people above each threshold, with intervals; one row where all of them are the same people.

    Examples
    --------
    >>> both = Exposure(40, {"1": 0.5, "90": 0.5}, ((0.0, 0.001, 0.5), (0.001, 0.9, 0.0), (0.9, 1.0, 0.5)), (), 20, 0)
    >>> threshold_table(both, 0.95).rows
    (('linked correctly', '50 %', '34 to 66 %'),)
    """
    above = {f"above {threshold} %": part for threshold, part in found.above.items()}
    what = "Risk of the person"
    if found_or_not(found) and "90" in found.above:
        above, what = {"linked correctly": found.above["90"]}, "People"
    rows = []
    for name, part in above.items():
        many = round(part * found.n)
        low, high = mean_interval(np.repeat([0.0, 1.0], [found.n - many, many]), level)
        rows.append((name, share(part), span(low, high)))
    return Table((what, "Share of people", "Interval"), tuple(rows), (1, 2))


def group_table(found: Exposure, n_epochs: int, terms: Terms) -> Table:
    """Return the groups with their sizes and mean risks."""
    rows = [
        (
            capital(group_name(group, n_epochs, terms)),
            f"{group.n:,}",
            frequency(group.rate),
            interval(group.rate, group.low, group.high),
        )
        for group in found.groups
    ]
    return Table(("Group", "People in it", "Linked correctly", "Interval"), tuple(rows), (1, 2, 3))
