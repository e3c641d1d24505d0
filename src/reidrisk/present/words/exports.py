"""Sentences about files: how an export was understood, what was read of it or left out, and what was converted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from reidrisk.base.notes import Note
from reidrisk.present.terms import Terms, plural
from reidrisk.present.words import CHECK, Assumed, joined, reads, says, table

if TYPE_CHECKING:
    from reidrisk.io.convert import Converted

_KINDS = table("layouts")
_TIMES = table("times")
_ENCODINGS = table("encodings")
_SEPARATED = table("separators")
_STEPS = {1: "1", 2: "2 to 4", 5: "5 to 9", 10: "10 to 19", 20: "20 to 49", 50: "50 to 99", 100: "100 or more"}
_SHOWN = 8


@says("understood-as")
def _understood(note: Note, terms: Terms) -> Assumed:
    """Say in one line which column is what."""
    said = [f"people by {note['user']!r}"] if note["user"] is not None else ["people by rows"]
    if note["time"] is not None:
        form = _TIMES.get(note["times"] or "", note["times"] or "")
        if note["proof"]:
            form += f", as {note['proof']!r} shows"
        clock = f" and {note['clock']!r}" if note.get("clock") else ""
        said.append(f"time {note['time']!r}{clock}{f' ({form})' if form else ''}")
    if note["items"]:
        what = {"people": "attributes", "traces": "columns", "vectors": "columns", "several-vectors": "columns"}.get(
            note["kind"], plural("item", len(note["items"]))
        )
        said.append(f"{what} {_listed(note['items'])}")
    if note["place"]:
        said.append(f"places {' and '.join(map(repr, note['place']))}")
    if note["amount"] is not None:
        said.append(f"amount {note['amount']!r}")
    written = [_ENCODINGS[note["encoding"]]] if note.get("encoding") in _ENCODINGS else []
    if note.get("delimiter") is not None and note["delimiter"] != ",":
        written.append(f"cells between {_SEPARATED.get(note['delimiter'], repr(note['delimiter']))}")
    if note["unused"]:
        said.append(f"{'in whole rows only' if note.get('whole_rows') else 'not used'}: {_listed(note['unused'])}")
    form = f" ({', '.join(written)})" if written else ""
    return Assumed(
        f"{_file(note)}{form} is read as {_KINDS.get(note['kind'], note['kind'])}: {'; '.join(said)}.", CHECK
    )


def _file(note: Note) -> str:
    """Name a file without the folders it is in, which are nobody else's business."""
    return PurePath(note["name"]).name


def _listed(names: Sequence[str]) -> str:
    """Name some columns in quotation marks, and count the others."""
    return shown([repr(name) if i < _SHOWN else name for i, name in enumerate(names)])


def shown(names: Sequence[str]) -> str:
    """Name some columns, and count the others.

    >>> shown(["age", "sex"]), shown([f"q{i}" for i in range(20)])
    ('age and sex', 'q0, q1, q2, q3, q4, q5, q6, q7 and 12 more')
    """
    more = len(names) - _SHOWN
    return joined([*names[:_SHOWN], *([f"{more} more"] if more > 0 else [])])


_WHY = table("dropped")


@says("export-read")
def _read(note: Note, terms: Terms) -> str:
    """Say how many rows became events, and whose."""
    why = [
        f"{n:,} {_WHY[name].format(a_person=terms.a_person, item=terms.item)}"
        for name, n in note["dropped"].items()
        if n
    ]
    lost = f" Left out: {joined(why)}." if why else ""
    shown = [f"{n:,} with {_STEPS[step]}" for step, n in note["people"]]
    by = f" {terms.people.capitalize()} by number of events: {joined(shown)}." if shown else ""
    events = terms.many("event", note["events"])
    of = f"{events} of {terms.many('person', note['users'])} over {note['items']:,} {terms.things}"
    return f"{_file(note)}: {terms.many('row', note['rows'])} read, {of} kept.{lost}{by}"


@says("labels-alike")
def _alike(note: Note, terms: Terms) -> Assumed:
    shown = "; ".join(" and ".join(map(repr, group)) for group in note["shown"])
    such = f", such as {shown}" if shown else ""
    return Assumed(
        f"{terms.many('label', note['labels'])} differ only in case or blanks from another one{such}; they "
        f"are taken to be different {terms.things}, and would be {note['merged']:,} (--merge-case).",
        f"If they are the same {terms.things}, more people may be found.",
    )


@says("bad-rows")
def _bad(note: Note, terms: Terms) -> Assumed:
    first = "; ".join(note["first"])
    return Assumed(
        f"{_file(note)}: {note['n']:,} of {note['of']:,} rows cannot be read and were left out, such as {first}.",
        "An attacker who reads them may link more.",
    )


@says("people-read")
def _people(note: Note, terms: Terms) -> str:
    lost = f" Left out: {note['nobody']:,} without an id." if note["nobody"] else ""
    return f"{_file(note)}: {terms.many('row', note['rows'])} read, {terms.many('person', note['people'])} kept.{lost}"


@says("counts-read")
def _counts(note: Note, terms: Terms) -> Assumed:
    nothing = f" {note['nothing']:,} of them have nothing." if note["nothing"] else ""
    read = f"{_file(note)}: every cell counts how often a {terms.person} has the {terms.item} of that column"
    found = f"{terms.many('person', note['people'])}, {note['items']:,} {terms.items}"
    return Assumed(f"{read}; {found}. Zeros and empty cells are no agreement.{nothing}", CHECK)


_NEVER = {"constant": "one value for all", "id": "an id", "text": "free text"}


@says("columns-known-outside")
def _outside(note: Note, terms: Terms) -> Assumed:
    """Say which columns somebody outside is taken to know, and which not."""
    if not note["guessed"]:
        return Assumed(f"{_file(note)}: an outsider is taken to know {_listed(note['known'])}, as was said.", CHECK)
    known = _listed(note["known"]) if note["known"] else "any of the others, since no name says what others see"
    said = f"{_file(note)}: an outsider is taken to know {known} (guessed from the names; say which with --columns)."
    if note["others"] and note["known"]:
        said += f" Asked as well, all together: {_listed(note['others'])}."
    if note["never"]:
        said += f" Not known to anybody: {joined([f'{name!r} ({_NEVER[why]})' for name, why in note['never']])}."
    return Assumed(said, "An attacker who knows more columns finds more people.")


@reads("Converted")
def _converted(found: Converted, terms: Terms) -> str:
    said = "; ".join(f"{what} to {where}" for what, where in found.written)
    return " ".join([f"Wrote {said}.", *found.assumptions])
