"""What any result rests on: what was assumed, a sentence for each note, and the privacy statement."""

from collections.abc import Iterable

from reidrisk.base.notes import Note
from reidrisk.present import Section, Table, Terms, words
from reidrisk.privacy import PrivacyStatement


def assumed(notes: Iterable[Note], terms: Terms) -> Section | None:
    """Return what the notes say, and what happens to the numbers where it does not hold; nothing without notes."""
    said = [words.assumed(note, terms) for note in notes]
    if not said:
        return None
    table = Table(("assumed", "otherwise"), tuple((one.holds, one.otherwise) for one in said))
    return Section("What was assumed", table=table, console=True, listed=True, name="assumed")


def statement(stated: PrivacyStatement, believed: bool = True) -> Section:
    """Return what protects the people, by how much, and what not; what failed its test is only what is stated."""
    said = stated.reading if believed else f"As stated, but see the top of this page: {stated.reading}"
    rows = (
        ("Mechanism", stated.mechanism),
        ("Epsilon and delta", f"{stated.epsilon:.6g} and {stated.delta:.3g}"),
        ("Unit of privacy", stated.unit),
        ("Neighbouring data", stated.neighbours),
        ("Accounting", stated.accounting),
        ("Noise of a count (sigma)", ", ".join(f"{name}: {sigma:.4g}" for name, sigma in stated.sigma.items())),
        ("Taken as public", "; ".join(stated.taken_as_public)),
        ("Post-processing", "; ".join(stated.post_processing)),
    )
    filled = tuple(row for row in rows if row[1])
    return Section("Privacy statement", see=said, table=Table(("part", "statement"), filled), name="privacy")
