"""Sentences about measured rates: how many people are linked, for whom that holds, and what it rests on."""

from reidrisk.base import Difference, Note, Risk
from reidrisk.present.terms import Terms
from reidrisk.present.words.frequencies import about_in_words, attack_label, in_words, people, range_in_words
from reidrisk.present.words.register import Assumed, phrase, reads, says, table

ORIGINS = table("origins")

_WHY_NOT = table("only-records")


def linked_by(risk: Risk, terms: Terms) -> str:
    """Name the attack of a row, and say where it linked all records together.

    >>> linked_by(Risk(0.5, 0.4, 0.6, 0.5, 0.0, 0.01, 100, 100, "TfIdf", "matching"), Terms())
    'TF-IDF (all records together)'
    """
    label = attack_label(risk.attack)
    return f"{label} (all {terms.records} together)" if risk.setting == "matching" else label


@reads("Risk")
def _risk(risk: Risk, terms: Terms) -> str:
    if risk.setting == "linkage":
        from reidrisk.present.words.bandits import linkage_reading

        cells = next((note["cells"] for note in risk.notes if note.code == "cells-known"), 0)
        return linkage_reading(risk, cells)
    ends = range_in_words(risk.rate, risk.low, risk.high)
    guessing = f"guessing blindly would link {in_words(risk.baseline)}"
    if risk.setting == "matching":
        linked = people(risk.rate)
        return f"An attacker who sees all {terms.records} at once links {linked} correctly ({ends}); {guessing}."
    if risk.setting == "known victim":
        return phrase("risk.known-victim", terms, risk=risk, ends=ends)
    if risk.low <= risk.baseline:
        return phrase("risk.like-guessing", terms, risk=risk, ends=ends, linked=people(risk.rate))
    return f"An attacker who holds both tables links {about_in_words(risk.rate)} people correctly ({ends}); {guessing}."


@reads("Difference")
def _difference(gap: Difference, terms: Terms) -> str:
    same = gap.attack == gap.other
    if gap.low <= 0.0 <= gap.high:
        two = f"The first and the second measurement of {gap.attack}" if same else f"{gap.attack} and {gap.other}"
        return f"{two} cannot be told apart on these {gap.n_queries:,} {terms.records}."
    more, less = ("first", "second") if same else (gap.attack, gap.other)
    if gap.low <= 0.0:
        more, less = less, more
    if same:
        linked = f"{gap.attack} links more people in the {more} measurement than in the {less} one"
    else:
        linked = f"More people are linked with {more} than with {less}"
    return f"{linked}; the difference is statistically significant."


@says("truth")
def _truth(note: Note, terms: Terms) -> Assumed:
    return Assumed(ORIGINS.get(note["origin"], note["origin"]), "Wrong pairs make every attack look weaker than it is.")


@says("covers-records")
def _covers_records(note: Note, terms: Terms) -> str:
    return phrase("risk.covers-records", terms, why=_WHY_NOT.get(note["why"], note["why"]), level=100 * note["level"])


@says("assignment")
def _assignment(note: Note, terms: Terms) -> str:
    if note["optimal"]:
        return "The assignment has the highest possible sum of scores."
    return (
        f"The assignment was found greedily among each {terms.record}'s best candidates: it need not be the best one."
    )
