"""Changes in words: what each does to the reader's own records, and what it buys."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from reidrisk.present.terms import Terms
from reidrisk.present.words import attack_label, capital, in_words, joined, percent, reads, two_digits

if TYPE_CHECKING:
    from reidrisk.audit.comparison import AuditDifference
    from reidrisk.mitigations import Found, Tried, WhatIf

_SAID: dict[str, Callable[[str, Terms], str]] = {
    "rotate": lambda value, terms: f"giving every {terms.person} a new pseudonym after {_many(value, terms)}",
    "suppress-rare": lambda value, terms: f"leaving out {terms.things} that fewer than {value} {terms.people} hold",
    "random-item": lambda value, terms: (
        f"replacing {percent(float(value))} of the {terms.items} with a random {terms.kind}"
    ),
    "draw": lambda value, terms: f"keeping {percent(float(value))} of the {terms.items}, drawn at random",
    "drop-people": lambda value, terms: f"leaving out the {percent(float(value))} of {terms.people} most exposed",
    "drop-columns": lambda value, terms: f"leaving out {joined(value.split(','))}",
    "generalise": lambda value, terms: f"showing {joined([_coarser(part) for part in value.split(',')])}",
    "gaussian-noise": lambda value, terms: f"adding noise of {float(value):g} times the spread to every coordinate",
    "reduce": lambda value, terms: (
        f"keeping the {'direction' if value == '1' else f'{value} directions'} in which {terms.records} differ most"
    ),
}


def said(change: str, terms: Terms) -> str:
    """Say a change such as ``"rotate:4"``: what is done to the records.

    >>> said("rotate:4", Terms(person="customer", period="week"))
    'giving every customer a new pseudonym after 4 weeks'
    >>> said("shorten:periods=2 + draw:0.5", Terms(item="topic", period="week"))
    'releasing only the first 2 weeks, then keeping 50 % of the topics, drawn at random'
    """
    return ", then ".join(_one_change(one, terms) for one in change.split(" + "))


def _one_change(change: str, terms: Terms) -> str:
    name, _, value = change.partition(":")
    field, equals, number = value.partition("=")
    if name == "shorten":
        many = int(number or value)
        if field == "periods":
            return f"releasing only the first {terms.many('period', many) if many > 1 else terms.period}"
        return f"releasing at most {terms.many('item', many)} of each {terms.person}"
    if name == "coarsen" and equals:
        if field == "every":
            return f"showing one {terms.item} for every {terms.many('period', int(number))}"
        return f"replacing {terms.things} with the {number} parents of a taxonomy"
    if name == "coarsen":
        return f"keeping the {int(value):,} most common {terms.things} and calling the rest ‘other’"
    if name == "system":
        return " and ".join(_system(part, terms) for part in value.split(","))
    return _SAID[name](value, terms) if name in _SAID else change


def _system(part: str, terms: Terms) -> str:
    field, equals, number = part.partition("=")
    if equals and field == "top_k":
        return f"letting the system hold {terms.many('item', int(number))} of each {terms.person}"
    return f"letting the system show a random {terms.kind} in {percent(float(number or part))} of all answers"


def advice(found: WhatIf, terms: Terms) -> str:
    """Say the change that buys most for what it costs, if any lowers the risk measurably."""
    good = [one for one in found.best if one.difference.low > 0.0]
    if not good and not any(one.full and one.difference.low > 0.0 for one in found.tried):
        return f"No change that was tried lowers the risk measurably; {_before(found)} {terms.people} are found."
    good = good or [one for one in found.tried if one.full and one.difference.low > 0.0]
    best = max(good, key=lambda one: one.kept.overall + one.difference.difference / max(found.before.rate, 1e-12))
    return f"{capital(lowers(best, terms))}."


def lowers(one: Tried, terms: Terms) -> str:
    """Say what one change buys and what it leaves."""
    gap = one.difference
    before, after = one.risk.rate + gap.difference, one.risk.rate
    fewer = f"{_hundred(gap.difference)} fewer, {_hundred(gap.low)} to {_hundred(gap.high)}"
    change = f"{said(one.change, terms)} lowers it from {_hundred(before)} to {_hundred(after)} in 100 ({fewer})"
    return f"{change} and leaves {_left(one, terms)}"


def _left(one: Tried, terms: Terms) -> str:
    """Say how many items are as they were, and how many of them can still be used together."""
    left, together = one.kept.observations, one.kept.sizes
    as_they_are = f"{_hundred(left)} in 100 {terms.items} as they are"
    return as_they_are if together >= left else f"{as_they_are}, at most {_hundred(together)} of them under one name"


def confuses(found: WhatIf, terms: Terms) -> str:
    """Name the changes of which most of the gain vanishes against an attacker who knows of them."""
    weak = [
        said(one.change, terms)
        for one in found.tried
        if one.full and one.vanishes > 0.5 and one.risk.low > one.naive.high
    ]
    if not weak:
        return ""
    these, them = ("These help", "them") if len(weak) > 1 else ("This helps", "it")
    return f"{these} mainly against an attacker who does not know of {them}: {'; '.join(weak)}."


def aimed(found: Found, terms: Terms) -> str:
    """Say what a search for an aim came to."""
    aim = in_words(found.max_risk)
    if found.found is not None:
        one = found.found
        high = f"at most {_hundred(one.risk.high)} in 100"
        return (
            f"Within the aim of {aim} {terms.people}: {said(one.change, terms)}. On {one.risk.n_queries:,} "
            f"{terms.people} who had no part in the choice, {_hundred(one.risk.rate)} in 100 are found ({high}); it "
            f"leaves {_left(one, terms)}. {_by_which(found)}"
        )
    best = found.best
    reached = f"{_hundred(best.risk.rate)} in 100 (up to {_hundred(best.risk.high)})"
    return (
        f"No change was confirmed within the aim of {aim} {terms.people}; the best, {said(best.change, terms)}, "
        f"reaches {reached}. {_by_which(found)}"
    )


def _by_which(found: Found) -> str:
    """Say which attack decides, and which were not asked."""
    text = f"The attack of the verdict, {attack_label(found.before.attack)}, decided with the others"
    left_out = [attack_label(name) for name in found.left_out]
    return f"{text}, without {joined(left_out)}, for which there was no time." if left_out else f"{text}."


@reads("AuditDifference")
def _compared(found: AuditDifference, terms: Terms) -> str:
    rates = f"from {_hundred(found.before)} to {_hundred(found.after)} in 100 {terms.people}"
    ends = f"{_hundred(found.low)} to {_hundred(found.high)} in 100"
    sure = "" if found.low > 0.0 or found.high < 0.0 else "; it may be chance"
    way = "falls" if found.difference >= 0.0 else "rises"
    apart = f"The two audits were treated as independent; if they are of the same {terms.people}, the interval is wide."
    if found.paired:
        apart = f"The difference is paired, on {terms.many('person', found.n_people or 0)} who were scored in both."
    return (
        f"The risk {way} {rates}, a difference of {_hundred(found.difference)} in 100 (interval {ends}){sure}. {apart}"
    )


def _hundred(rate: float) -> str:
    return two_digits(100.0 * rate)


def _before(found: WhatIf) -> str:
    return in_words(found.before.rate)


def _many(value: str, terms: Terms) -> str:
    return terms.many("period", int(value))


def _coarser(part: str) -> str:
    """Say how a column is coarsened: its steps, its first letters, or its parents.

    >>> _coarser("age=20"), _coarser("postcode=first 2 digits")
    ('age in steps of 20', 'the first 2 digits of postcode')
    """
    name, _, how = part.rpartition("=")
    if how.startswith("first "):
        return f"the {how} of {name}"
    return f"{name} by {how}" if how.endswith(" parents") else f"{name} in steps of {how}"
