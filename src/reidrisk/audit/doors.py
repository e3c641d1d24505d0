"""Open doors: what an audit saw and could not measure, for which a gate does not pass."""

from typing import TYPE_CHECKING

from reidrisk.base import Note

if TYPE_CHECKING:
    from reidrisk.audit.result import AuditResult

OPEN = (
    "unreadable-column",
    "ids-in-scientific-notation",
    "mixed-date-orders",
    "same-file-twice",
    "labels-disjoint",
)
"""Codes of notes that keep a gate from passing: signs of damage, and evidence that no attack could use."""
_UNASKED = 0.1  # level: share of people without a fact to be asked by, above which a rate says little of all


def open_doors(result: "AuditResult") -> tuple[str, ...]:
    """Return the codes of what keeps a gate from passing this result, of whichever question.

    >>> from reidrisk.audit import assess
    >>> log = {"user": [i % 30 for i in range(300)], "item": [i % 7 for i in range(300)]}
    >>> open_doors(assess(log, seed=1, attacks=("overlap",), say=None))
    ()
    """
    notes = [note for answer in result.questions for note in answer.notes if isinstance(note, Note)]
    return tuple(dict.fromkeys(note.code for note in notes if _is_open(note)))


def _is_open(note: Note) -> bool:
    if note.code == "too-few-facts":
        return bool(note["n"] is not None and note["n"] > _UNASKED * note["of"])
    if note.code == "columns-known-outside":
        return not note["known"]
    return note.code in OPEN
