"""Sentences about changes that were made to records."""

from reidrisk.base.notes import Note
from reidrisk.present.terms import Terms
from reidrisk.present.words.register import says, table

_SIDES = table("sides")


@says("change-made")
def _made(note: Note, terms: Terms) -> str:
    side = _SIDES[note["side"]].format(records=terms.records)
    return f"The {side} were changed before they were compared: {note['change']}."
