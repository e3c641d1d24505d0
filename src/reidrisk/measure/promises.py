"""What a measured rate rests on and what its interval promises, as notes."""

from __future__ import annotations

import numpy as np

from reidrisk.base.notes import Note
from reidrisk.base.results import Risk
from reidrisk.records import Truth


def notes_of(truth: Truth, risk: Risk, why_not: str) -> tuple[Note, ...]:
    """Return what a rate rests on and for whom its interval is; ``why_not`` is why that is not people like these."""
    scored = Note("everyone-scored") if risk.everyone else Note("sample-scored", n=risk.n_queries, level=risk.level)
    notes = [Note("truth", origin=truth.origin), scored]
    strangers = int(np.sum(truth.target < 0))
    if strangers:
        notes.append(Note("strangers-scored", n=strangers))
    if risk.covers == "people":
        notes.append(Note("covers-people", level=risk.level))
    elif risk.covers == "none":
        notes.append(Note("covers-nothing"))
    elif risk.everyone:
        notes.append(Note("covers-records", why=why_not or "one-person", level=risk.level))
    return (*notes, Note("gaffke-conjectured"))
