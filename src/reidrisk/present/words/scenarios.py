"""Sentences about how a case was made: what was read of a log, how it was split, and what the attacker knows."""

from reidrisk.base.notes import Note
from reidrisk.present.terms import Terms
from reidrisk.present.words.frequencies import joined, percent
from reidrisk.present.words.register import Assumed, say, says
from reidrisk.present.words.risk import how_many

_LACKING = {
    "user": "{n:,} without a {person}",
    "item": "{n:,} without {an} {item}",
    "time": "{n:,} without a time",
    "amount": "{n:,} without an amount",
    "zero": "{n:,} with an amount of 0",
}

say(
    {
        "split-by-time": (
            "Each {person}'s later {share:share} of events is to be identified; the earlier part is known.",
            "An attacker who saw both sides at the same time may link more.",
        ),
        "split-at": "Events from {at} on are to be identified; those before are known.",
        "split-by-epochs": "Known are the first {known:period}, to be identified the last {asked:period}.",
        "split-by-column": "Events with {known} in column {column} are known; those with {asked} are to be identified.",
        "periods-apart": (
            "The two sides are of different {periods}, so they are compared without them.",
            "Where both sides are of the same {periods}, an attacker may link more.",
        ),
    }
)


@says("rows-dropped")
def _rows(note: Note, terms: Terms) -> str:
    an = "an" if terms.item[0] in "aeiou" else "a"
    why = [
        text.format(n=note[name], person=terms.person, item=terms.item, an=an)
        for name, text in _LACKING.items()
        if name in note
    ]
    return f"Of {note['of']:,} rows, {note['dropped']:,} were left out: {joined(why)}."


@says("events-dropped")
def _events(note: Note, terms: Terms) -> Assumed:
    picked = {"first": "the first", "last": "the last", "most": "the most frequent"}[note["pick"]]
    return Assumed(
        f"One {terms.item} stands for each {terms.period}, {picked}; {percent(note['share'])} of {note['events']:,} "
        "events are left out.",
        "An attacker who sees what was left out may link more.",
    )


@says("split-at-random")
def _random(note: Note, terms: Terms) -> Assumed:
    share = percent(note["share"])
    if note["independent"]:
        return Assumed(
            f"Each side sees {share} of a {terms.person}'s events, drawn at random and independently of the other.",
            "Two real observers see less alike, and link fewer.",
        )
    what = f"different {terms.items}" if note["apart"] else "events"
    return Assumed(
        f"Of each {terms.person}'s {what}, {share}, drawn at random, are to be identified; the others are known.",
        "Two parts of one record are more alike than two real tables, which links more.",
    )


@says("nothing-on-one-side")
def _one_side(note: Note, terms: Terms) -> str:
    unasked, left_out = (how_many(note, which) for which in ("unasked", "left_out"))
    return (
        f"Of {terms.many('person', note['of'])}, those with nothing to be identified stay as distractors ({unasked}), "
        f"and those with nothing known are left out ({left_out})."
    )


@says("knows-facts")
def _facts(note: Note, terms: Terms) -> Assumed:
    facts = "one fact" if note["facts"] == 1 else f"{note['facts']:,} facts"
    wrong = f", of which {percent(note['errors'])} are wrong" if note["errors"] else ""
    return Assumed(
        f"The attacker knows {facts} of a {terms.person}{wrong}, drawn at random from the record.",
        "Whoever knows more, or what is rare, links more.",
    )


@says("too-few-facts")
def _too_few(note: Note, terms: Terms) -> str:
    return (
        f"Of {terms.many('person', note['of'])}, {how_many(note)} have fewer than {note['facts']:,} facts and are not "
        "looked for; they stay as distractors."
    )
