"""Sentences about how a case was made: what was read of a log, how it was split, and what the attacker knows."""

from reidrisk.base.notes import Note
from reidrisk.present.terms import Terms, plural
from reidrisk.present.words import Assumed, joined, percent, says, table

_LACKING = table("lacking")


@says("rows-dropped")
def _rows(note: Note, terms: Terms) -> str:
    an = "an" if terms.item[0] in "aeiou" else "a"
    why = [
        text.format(n=note[name], a_person=terms.a_person, item=terms.item, an=an)
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


@says("split-by-time")
def _by_time(note: Note, terms: Terms) -> Assumed:
    part = "half" if note["share"] == 0.5 else percent(note["share"])
    return Assumed(
        f"The later {part} of each {terms.person}'s {terms.items} is to be identified; the earlier part is known.",
        "An attacker who saw both sides at the same time may link more.",
    )


@says("split-at-random")
def _random(note: Note, terms: Terms) -> Assumed:
    share = percent(note["share"])
    if note["independent"]:
        return Assumed(
            f"Each side sees {share} of {terms.a_person}'s events, drawn at random and independently of the other.",
            "Two real observers see less alike: fewer people are linked.",
        )
    what = f"different {terms.items}" if note["apart"] else "events"
    return Assumed(
        f"Of each {terms.person}'s {what}, {share}, drawn at random, are to be identified; the others are known.",
        "Two real tables are less alike than two parts of one record: fewer people are linked.",
    )


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def number(n: int) -> str:
    """Write a small number as a word.

    >>> number(4), number(40)
    ('four', '40')
    """
    return _NUMBERS[n] if 0 <= n < len(_NUMBERS) else f"{n:,}"


@says("scenario-two-tables")
def _two_tables(note: Note, terms: Terms) -> str:
    by = "" if "every" not in note else f", {terms.period} by {terms.period}"
    return f"Can {terms.people} of one table be found in the other{by}?"


@says("scenario-split")
def _split(note: Note, terms: Terms) -> str:
    if note["by"] == "time":
        return f"Can the pseudonyms that {terms.people} have in one period be linked to those they have in a later one?"
    if note["by"] == "column":
        return f"Can {terms.people} be followed from one side of column {note['column']} to the other?"
    return f"Does one part of {terms.a_person}'s {terms.record} give away whose the other part is?"


@says("scenario-knows")
def _knows(note: Note, terms: Terms) -> str:
    return f"Can somebody who knows {known_facts(note, terms)} find the {terms.person}?"


def known_facts(note: Note, terms: Terms) -> str:
    """Say what an attacker knows of somebody."""
    if note.get("columns"):
        return f"{joined(note['columns'])} of {terms.a_person}"
    n, which = note["facts"], note.get("which", "random")
    known = f"{number(n)} of {terms.a_person}'s {terms.items}"
    if which != "random":
        many = {"first": f"first {number(n)}", "rarest": f"{number(n)} rarest"}[which] if n > 1 else which
        known = f"the {many} {plural(terms.item, n)} of {terms.a_person}"
    return _and_more(known, note, n)


_TOLD, _WHICH = table("told"), table("facts")


def _and_more(known: str, note: Note, n: int) -> str:
    """Say what else is known of each of some events of a log."""
    their = "its" if n == 1 else "their"
    return _TOLD[note.get("told", "what")].format(
        known=known, their=their, days=plural("day", n), rows=plural("row", n)
    )


@says("knows-facts")
def _facts(note: Note, terms: Terms) -> Assumed:
    which, draws = note.get("which", "random"), note.get("draws", 1)
    facts = terms.many("item", note["facts"])
    said = _WHICH[which].format(facts=facts, a_person=terms.a_person, record=terms.record)
    said = _and_more(said, note, note["facts"])
    said += f"; {percent(note['errors'])} of what they know is wrong" if note["errors"] else ""
    said += f"; everyone is looked for {draws:,} times, each time by another draw" if draws > 1 else ""
    more = "Whoever knows more links more." if which == "rarest" else "Whoever knows more, or what is rare, links more."
    return Assumed(f"The attacker knows {said}.", more)


@says("knows-columns")
def _columns(note: Note, terms: Terms) -> Assumed:
    wrong = f"; {percent(note['errors'])} of what they know is wrong" if note["errors"] else ""
    return Assumed(
        f"The attacker knows {joined(note['columns'])} of {terms.a_person}{wrong}.", "Whoever knows more links more."
    )
