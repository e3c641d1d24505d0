"""Sentences about how a case was made: what was read of a log, how it was split, and what the attacker knows."""

from reidrisk.base.notes import Note
from reidrisk.present.terms import Terms
from reidrisk.present.words.frequencies import joined, percent
from reidrisk.present.words.register import Assumed, says

_LACKING = {
    "user": "{n:,} without a {person}",
    "item": "{n:,} without {an} {item}",
    "time": "{n:,} without a time",
    "amount": "{n:,} without an amount",
    "zero": "{n:,} with an amount of 0",
}


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
            "Two real observers see less alike: fewer people are linked.",
        )
    what = f"different {terms.items}" if note["apart"] else "events"
    return Assumed(
        f"Of each {terms.person}'s {what}, {share}, drawn at random, are to be identified; the others are known.",
        "Two real tables are less alike than two parts of one record: fewer people are linked.",
    )


_WHICH = {
    "random": "{facts} of a {person}, drawn at random from the {record}",
    "first": "the first {facts} of a {person}",
    "rarest": "those {facts} of a {person} that the fewest others have",
}


@says("knows-facts")
def _facts(note: Note, terms: Terms) -> Assumed:
    which, draws = note.get("which", "random"), note.get("draws", 1)
    facts = terms.many("item", note["facts"])
    said = _WHICH[which].format(facts=facts, person=terms.person, record=terms.record)
    said += f"; {percent(note['errors'])} of what they know is wrong" if note["errors"] else ""
    said += f"; everyone is looked for {draws:,} times, each time by another draw" if draws > 1 else ""
    more = "Whoever knows more links more." if which == "rarest" else "Whoever knows more, or what is rare, links more."
    return Assumed(f"The attacker knows {said}.", more)
