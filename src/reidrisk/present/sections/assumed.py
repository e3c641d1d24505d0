"""What was assumed, a sentence for each note of a result, and what happens to the numbers where it does not hold."""

from collections.abc import Iterable

from reidrisk.base.notes import Note
from reidrisk.present import words
from reidrisk.present.model import Cell, Section, Table
from reidrisk.present.terms import Terms


def assumed(notes: Iterable[Note], terms: Terms) -> Section | None:
    """Return what the notes say, or nothing where there are none."""
    said = [words.assumed(note, terms) for note in notes]
    rows: tuple[tuple[str | Cell, ...], ...] = tuple((one.holds, one.otherwise) for one in said)
    if not rows:
        return None
    table = Table(("assumed", "otherwise"), rows)
    return Section("What was assumed", table=table, console=True, listed=True, name="assumed")
