"""The page of a channel: what no attacker can beat."""

from __future__ import annotations

from collections.abc import Sequence

from reidrisk.base.results import Bound, Measurement
from reidrisk.bounds import tightest
from reidrisk.present import words
from reidrisk.present.model import Page, Sentence
from reidrisk.present.sections import channel
from reidrisk.present.terms import Terms

SECTIONS = (channel.section,)


def page(entries: Sequence[Bound | Measurement], subject: str = "", terms: Terms | None = None) -> Page:
    """Return the page of what :func:`reidrisk.bounds.summary` found."""
    terms = terms or Terms()
    settings = dict.fromkeys(entry.setting for entry in entries if isinstance(entry, Bound))
    best = [words.reading(tightest(entries, setting), terms) for setting in settings]
    return Page(
        kind="What no attacker can beat",
        subject=subject,
        verdict=Sentence(best[0] if best else "There is no bound."),
        news=tuple(best[1:]),
        sections=tuple(make(entries, terms) for make in SECTIONS),
    )
