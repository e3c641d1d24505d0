"""Sentences about who is alone: in a class of people with the same columns, or with a few facts."""

from typing import Any

from reidrisk.base.notes import Note
from reidrisk.present.terms import Terms
from reidrisk.present.words import in_words, joined, percent, range_in_words, reads, says


@reads("Classes")
def _classes(found: Any, terms: Terms) -> str:
    known = joined(list(found.columns))
    said = (
        f"Of {terms.many('person', found.n)}, {percent(found.unique)} are alone with their {known}; the smallest class "
        f"has {found.k:,}, and somebody who looks everyone up names {in_words(found.mean)} correctly"
    )
    if found.journalist is None:
        return f"{said}."
    among = f"among {terms.many('person', found.journalist.n)} of the population"
    return f"{said}, and {in_words(found.journalist.marketer)} {among}."


@reads("Unicity")
def _unicity(found: Any, terms: Terms) -> str:
    ends, drawn = range_in_words(found.share, found.low, found.high), terms.many("fact", found.facts)
    return (
        f"Of {terms.people} with at least {drawn}, {in_words(found.share)} ({ends}) are the only ones whose "
        f"{terms.record} holds {found.facts:,} of theirs, drawn at random."
    )


@says("equivalence-classes")
def _same(note: Note, terms: Terms) -> str:
    alone = f"fewer than {note['least']:,}" if note["alone"] is None else f"{note['alone']:,}"
    people, mean, highest = terms.many("person", note["n"]), note["classes"] / note["n"], 1.0 / note["k"]
    fall = f"{'falls' if note['n'] == 1 else 'fall'} into {terms.many('class', note['classes'])}"
    return (
        f"In these columns {people} {fall} of equal values; the smallest has "
        f"{note['k']:,} (k-anonymity), and {alone} are alone. An attacker who knows who is in the table, and makes no "
        f"errors, names {in_words(mean)} correctly, and {in_words(highest)} of the smallest class."
    )
