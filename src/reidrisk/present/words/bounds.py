"""Sentences about bounds: what no attacker beats and why, what a channel leaks, and which bound is the tightest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from reidrisk.base.results import Bound, Measurement
from reidrisk.present.terms import Terms
from reidrisk.present.words import about_in_words, almost_all, in_words, joined, range_in_words, reads, two_digits

if TYPE_CHECKING:
    from reidrisk.bounds import Tightest

_REACHED = ("optimal attacker", "partial information")
"""Bounds that the best attacker reaches; the others limit without saying that anybody comes near."""


@reads("Bound")
def _bound(bound: Bound, terms: Terms) -> str:
    if bound.name not in _REACHED or bound.value > 1.0:
        return at_most(bound, _because(bound, terms), terms)
    estimated = bound.low < bound.high
    rate = about_in_words(bound.value) if estimated else in_words(bound.value)
    ends = f" ({range_in_words(bound.value, bound.low, bound.high)})" if estimated else ""
    return f"The best attacker {_who(bound, terms)} names {_whom(bound, rate, terms)}{ends}; {_guessing(bound)}."


def at_most(bound: Bound, because: str, terms: Terms) -> str:
    """Say what no attacker can beat, or that nothing is excluded; with the interval of a bound that was estimated.

    >>> at_most(Bound("k-anonymity", "random user", 0.02, 0.001, ""), "50 people are always alike", Terms())
    'Because 50 people are always alike, no attacker names the right person for more than 2 in 100 records; blind
    guessing reaches 1 in 1,000.'
    """
    if not bound.says_something:
        value = two_digits(bound.value) if bound.value < 1e6 else f"{bound.value:.1e}".replace("inf", "infinity")
        much = "" if bound.value == 1.0 else f" (the formula gives {value}, and no rate exceeds 1)"
        return f"This says nothing here: it excludes no rate of success{much}."
    words = in_words(bound.value)
    if almost_all(bound.value):  # so near to everyone that more digits are needed
        words = f"{100 * bound.value:.6g} in 100"
    if bound.low < bound.high:
        words = f"about {words} ({range_in_words(bound.value, bound.low, bound.high)})"
    most = _whom(bound, f"more than {words}", terms)
    return f"Because {because}, no attacker names {most}; {_guessing(bound)}."


def _because(bound: Bound, terms: Terms) -> str:
    given = bound.inputs
    if "epsilon" in given:
        delta = f" with delta {two_digits(given['delta'])}" if given.get("delta") else ""
        return f"epsilon is {two_digits(given['epsilon'])}{delta}"
    if "k" in given:
        return f"every {terms.record} is shared by at least {given['k']:,.0f} {terms.people}"
    if "bits" in given:
        most = "at most " if (bound.n_epochs or 1) > 1 else ""
        return f"a {terms.record} tells {most}{two_digits(given['bits'])} bits about its {terms.person}"
    if bound.name == "distinct representations":
        return f"{terms.people} with the same {terms.record} cannot be told apart"
    if bound.name == "optimal attacker, epoch by epoch":
        return f"each {terms.period} helps by no more than its own factor"
    return f"of {terms.spoken(bound.name)}"


def _who(bound: Bound, terms: Terms) -> str:
    if bound.name == "partial information":
        return f"who saw these {terms.people} once and knows how common each {terms.item} is"
    if any(note.code == "knows-top-sets" for note in bound.notes):
        return f"who knows every {terms.person}'s top {terms.items}"
    return f"who knows every {terms.person}'s probabilities"


def _whom(bound: Bound, rate: str, terms: Terms) -> str:
    together = " when all are seen together" if bound.setting == "matching" else ""
    return f"the right {terms.person} for {rate} {terms.records}{together}"


def _guessing(bound: Bound) -> str:
    return f"blind guessing reaches {in_words(bound.baseline)}"


def setting_name(setting: str, terms: Terms) -> str:
    """Say whom a bound limits."""
    return f"for all {terms.records} together" if setting == "matching" else f"for one {terms.record}"


@reads("Tightest")
def _tightest(found: Tightest, terms: Terms) -> str:
    if not found.name:
        return f"No bound says anything {setting_name(found.setting, terms)} here."
    rest = ""
    if found.silent:
        quoted = joined([f"'{terms.spoken(name)}'" for name in found.silent])
        rest = f"; {quoted} {'says' if len(found.silent) == 1 else 'say'} nothing here"
    best = f"'{terms.spoken(found.name)}' with {in_words(found.value)}"
    return f"The tightest bound {setting_name(found.setting, terms)} is {best}{rest}."


@reads("Measurement")
def _measurement(found: Measurement, terms: Terms) -> str:
    value = two_digits(found.value)
    match found.name:
        case "k" if not found.value:
            return f"Some {terms.person}'s {terms.record} varies, so k-anonymity does not apply."
        case "k":
            return f"Every {terms.record} is shared by at least {found.value:,.0f} {terms.people}."
        case "epsilon" if math.isinf(found.value):
            return f"Some {terms.record} is possible for one {terms.person} and impossible for another."
        case "epsilon":
            factor = two_digits(math.exp(found.value)) if found.value < 20 else f"e^{value}"
            return f"No {terms.record} is more than {factor} times as likely for one {terms.person} as for another."
        case "delta":
            fails = f"fails by at most {two_digits(found.high)} in probability" if found.high > 0.0 else "never fails"
            return f"With epsilon {two_digits(found.inputs['epsilon'])}, the guarantee {fails}."
        case "mutual information":
            needed = two_digits(math.log2(found.inputs["users"]))
            return f"A {terms.record} tells {value} of the {needed} bits it takes to name {terms.a_person}."
        case "Bayes vulnerability":
            right = f"is right for {in_words(found.value)} {terms.people}"
            return f"One guess, made after seeing the {terms.record}, {right}."
        case "min-entropy leakage":
            times = two_digits(2.0**found.value)
            return f"Seeing the {terms.record} makes one guess {times} times as likely to be right."
    return f"{found.name} is {value} {found.unit}".rstrip() + "."
