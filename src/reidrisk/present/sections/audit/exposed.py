"""Who is exposed: how the risk is spread over people, and what the exposed have in common."""

from functools import partial
from typing import Any

import numpy as np

from reidrisk.audit import AuditResult
from reidrisk.base import Risk
from reidrisk.base.intervals import counted_interval
from reidrisk.measure import Exposure, Group
from reidrisk.present import Section, Table, Terms, drawing
from reidrisk.present.sections.written import written
from reidrisk.present.words.frequencies import a, attack_label, capital, in_words, interval, percent, ranged, shortened
from reidrisk.present.words.gate import used_at
from reidrisk.present.words.register import filled, phrase, table

_SEEN = {True: "observed", False: "filled in"}
_RARITY, _FORMER = table("seen"), table("former-rarity")


def section(result: AuditResult, terms: Terms) -> Section:
    """Return the spread of risk and the groups that differ; nothing that tells of a few people is in the result."""
    found, risk = result.exposure, result.strongest
    if found is None or risk is None:
        return written("audit.exposed-unknown", terms)
    groups = Section(
        "What the exposed have in common",
        see=(*_summary(found, risk, terms), _left_out(found, terms)),
        table=_groups(found, risk, terms),
    )
    if len(found.histogram) < 2:
        return written("audit.exposed-hidden", terms, {"least": found.min_group}, parts=(groups,))
    see, caution = _around(found, risk, terms)
    bars = tuple((name, percent(part)) for name, part in _bins(found))
    said = {"see": see, "caution": caution, "bars": "; ".join(map(": ".join, bars))}
    draw, numbers = partial(chart, found, terms), Table(("risk", f"share of {terms.people}"), bars, (1,))
    table = _thresholds(found, float(result.spec.get("level", 0.95)), terms)
    return written("audit.exposed", terms, said, draw, numbers, table=table, parts=(groups,))


def chart(found: Exposure, terms: Terms, narrow: bool = False) -> Any:
    """Draw how many people have which risk, as bars."""
    alt = drawing.altair()
    bins = _bins(found)
    rows = [{"risk": name, "share": part, "label": percent(part)} for name, part in bins]
    quarters = [0, 0.5, 1] if narrow else [0, 0.25, 0.5, 0.75, 1]
    percents = alt.Axis(labelExpr="format(100 * datum.value, 'd') + ' %'", values=quarters)
    names = [name for name, _ in bins]
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("risk:N", sort=names, title=None, axis=alt.Axis(domain=False, ticks=False)),
        x=alt.X("share:Q", title=f"share of {terms.people}", scale=alt.Scale(domain=[0, 1]), axis=percents),
    )
    tips = [alt.Tooltip("risk:N", title="risk"), alt.Tooltip("label:N", title=f"share of {terms.people}")]
    bars = base.mark_bar(color=drawing.ATTACKS[0].color, height={"band": 0.72}).encode(tooltip=tips)
    labels = base.mark_text(align="left", dx=6, color=drawing.INK).encode(text=alt.Text("label:N"))
    chart = alt.layer(bars, labels)
    if not _found_or_not(found):
        chart = chart.properties(title=drawing.heading(f"risk of the {terms.person}"))
    return drawing.finished(chart, 30 * len(rows))


def _bins(found: Exposure) -> list[tuple[str, float]]:
    """Return the bins of risk by name, each with its share of people."""
    if _found_or_not(found):
        return [("not linked correctly", found.histogram[0][2]), ("linked correctly", found.histogram[-1][2])]
    names = [f"{100 * low:g} to {100 * high:g} %" for low, high, _ in found.histogram]
    names[0] = f"at most {100 * found.histogram[0][1]:g} %"
    names[-1] = f"above {100 * found.histogram[-1][0]:g} %"
    return [(name, part) for name, (_, _, part) in zip(names, found.histogram, strict=True)]


def _found_or_not(found: Exposure) -> bool:
    """Whether the attack left next to no ties, so that people were either found or not, and nobody is in between."""
    return all(part == 0.0 or high <= 0.001 or low >= 0.9 for low, high, part in found.histogram)


def _around(found: Exposure, risk: Risk, terms: Terms) -> tuple[str, str]:
    """Return what to see in the distribution of risk, and what not to conclude."""
    first, last = found.histogram[0], found.histogram[-1]
    name = f"{attack_label(risk.attack)} {used_at(risk, terms)}"
    if last[2] == 1.0:
        high = f"with {name}, it is above {100 * last[0]:g} % for all of them"
        return f"Everybody carries the risk: {f'{name} found all of them' if risk.rate == 1.0 else high}.", ""
    if _found_or_not(found):
        see = f"See who carries the risk: {name} linked {percent(last[2])} of {terms.people} correctly and "
        see += f"{percent(first[2])} not; nobody is in between."
        whom = f"{terms.people} who were not found"
    else:
        by = "with" if terms.axis == "epochs" else "by"
        low = f"a risk of at most {100 * first[1]:g} %, and {percent(last[2])} one"
        some = (
            f"{percent(first[2])} of {terms.people} have {low}"
            if first[2]
            else f"{percent(last[2])} of {terms.people} have a risk"
        )
        see = f"See how unevenly the risk is spread: {by} {name}, {some} above {100 * last[0]:g} %."
        whom = f"{terms.people} in the first bar" if first[2] else f"{terms.people} at a lower risk"
    caution = f"Do not conclude that {whom} are safe for good: this is how one set of observations turned out. With "
    return see, caution + f"other {terms.periods}, or more of them, others may be among those who are found."


def _thresholds(found: Exposure, level: float, terms: Terms) -> Table:
    """Return the shares of people above each threshold, with intervals; one row where all are the same people."""
    above = {f"risk above {threshold} %": part for threshold, part in found.above.items()}
    if _found_or_not(found) and "90" in found.above:
        above = {"linked correctly": found.above["90"]}
    rows = []
    for name, part in above.items():
        many = round(part * found.n)
        low, high = counted_interval(np.array([0.0, 1.0]), np.array([found.n - many, many], dtype=float), level)
        rows.append((capital(name), percent(part), f"{percent(low)} to {percent(high)}"))
    return Table((terms.people, "share", "interval"), tuple(rows), (1, 2))


def _groups(found: Exposure, risk: Risk, terms: Terms) -> Table:
    rows = []
    for group in found.groups:
        rate = in_words(group.rate), interval(group.rate, group.low, group.high)
        rows.append((capital(_group_name(group, risk.n_epochs, terms)), f"{group.n:,}", *rate))
    return Table(("group", terms.people, "linked correctly", "interval"), tuple(rows), (1, 2, 3))


def _summary(found: Exposure, risk: Risk, terms: Terms) -> list[str]:
    """Say, for each trait that tells people apart, who is linked least and most."""
    said = []
    for trait in dict.fromkeys(group.trait for group in found.groups):
        ordered = sorted((group for group in found.groups if group.trait == trait), key=lambda group: group.rate)
        least, most = ordered[0], ordered[-1]
        if most.low > least.high:  # otherwise the two cannot be told apart
            named = (
                "all others" if one.level == "other" else _group_name(one, risk.n_epochs, terms)
                for one in (least, most)
            )
            ends = (f"{in_words(one.rate)} ({name})" for one, name in zip((least, most), named, strict=True))
            said.append(f"By {_trait_name(trait, terms)}, the share linked correctly goes from {' to '.join(ends)}.")
    return said


def _left_out(found: Exposure, terms: Terms) -> str:
    """Say how many groups are not shown and why."""
    n, few = found.hidden_groups, f"fewer than {found.min_group:,} {terms.people}"
    if not n and not found.groups:
        return phrase("exposed.left-out", terms)
    if not n:
        return ""
    which = f"{n:,} {'group is' if n == 1 else 'groups are'}" if found.groups else "All groups are"
    return f"{which} left out: the numbers would tell of {few}."


def _trait_name(trait: str, terms: Terms) -> str:
    name = table("traits").get(trait, trait)  # what an older version wrote in words stays as it is
    return filled(name, {"seen": _SEEN[terms.axis == "epochs"]}, terms) if name != trait else trait


def _group_name(group: Group, n_epochs: int, terms: Terms) -> str:
    if group.level == "other":
        return f"all others, by {_trait_name(group.trait, terms)}"
    if group.trait == "rarest-holders":
        if group.level == "1":
            return f"{a(terms.kind)} that no other of these {terms.people} has"
        return f"rarest {terms.kind} held by {ranged(group.level, terms.person)}"
    if group.trait == "holds-item":
        return f"with {shortened(group.level)} among their {terms.items}"
    if group.trait == "rarest-item":
        level = _FORMER.get(group.level, group.level)
        return f"rarest {terms.kind} seen {_RARITY.get(level, level)}"
    if group.trait == "periods-observed" and terms.axis == "epochs":
        return f"seen in {ranged(group.level)} of {terms.many('period', n_epochs)}"
    if group.trait == "periods-observed":
        return f"{ranged(group.level)} of {terms.many('period', n_epochs)} filled in"
    nouns = {"items-held": terms.item, "visits-seen": "visit"}
    return ranged(group.level, nouns[group.trait]) if group.trait in nouns else group.level
