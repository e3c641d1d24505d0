"""Sentences about audits of stored tables: what an engine measured on everyone, and what on some people."""

from reidrisk.base.notes import Note
from reidrisk.present.terms import Terms
from reidrisk.present.words import Assumed, attack_label, joined, says


@says("stored-tables")
def _stored(note: Note, terms: Terms) -> Assumed:
    said = [f"The tables stayed where they are stored, and were searched with {note['engine']}."]
    if note["joined"]:
        said.append(f"{_names(note['joined'])}: measured on everyone, by joins.")
    if note["shards"]:
        said.append(
            f"{_names(note['shards'])}: measured on {terms.many('person', note['drawn'])} drawn at random, "
            f"against every known {terms.record}."
        )
    return Assumed(" ".join(said), "Which engine searches changes no answer.")


def _names(attacks: list[str]) -> str:
    return joined([attack_label(name) for name in attacks])
