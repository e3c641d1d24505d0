"""Sentences about vectors: how far down the list the right one stands, and what a choosy attacker finds."""

from reidrisk.base.notes import Note
from reidrisk.present.terms import Terms
from reidrisk.present.words import Assumed, attack_label, in_words, joined, percent, says


@says("rank-curve")
def _ranks(note: Note, terms: Terms) -> Assumed:
    k, share = note["at"][-1]
    first = "first candidate" if k == 1 else f"first {k:,} candidates"
    return Assumed(
        f"{attack_label(note['attack'])} has the right {terms.record} among its {first} for {in_words(share)} "
        f"{terms.people} (of {note['n']:,}, among {note['among']:,}).",
        "Whoever can check a few candidates by other means finds all of these.",
    )


@says("recall-at-precision")
def _recalls(note: Note, terms: Terms) -> Assumed:
    said = [f"{in_words(recall)} at {100 * precision:g} right in 100 answers" for precision, recall in note["at"]]
    return Assumed(
        f"An attacker who answers only when sure enough links correctly: {joined(said)}.",
        "How sure is enough was chosen with the truth: an attacker without it may choose worse.",
    )


@says("split-vectors")
def _split(note: Note, terms: Terms) -> Assumed:
    part = "half" if note["share"] == 0.5 else percent(note["share"])
    if note["by"] == "time":
        return Assumed(
            f"Of each {terms.person}'s vectors, the later {part} is to be identified; the earlier ones are known.",
            "An attacker who saw both sides at the same time may link more.",
        )
    return Assumed(
        f"Of each {terms.person}'s vectors, {part}, drawn at random, are to be identified; the others are known.",
        "Vectors of other days or devices differ more than two of one table: fewer people are linked.",
    )


@says("several-vectors")
def _several(note: Note, terms: Terms) -> Assumed:
    return Assumed(
        f"A record is all vectors that {terms.a_person} has on one side: {note['known']:,} vectors are in "
        f"{note['targets']:,} known records, {note['asked']:,} in {note['queries']:,} to identify.",
        f"An attacker who cannot tell which vectors are of one {terms.person} links fewer.",
    )
