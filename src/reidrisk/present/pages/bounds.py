"""The page of a channel: what no attacker can beat."""

from collections.abc import Sequence

from reidrisk.base.results import Bound, Measurement
from reidrisk.bounds import tightest
from reidrisk.present import Cell, Page, Section, Sentence, Table, Terms, words
from reidrisk.present.words.bounds import setting_name
from reidrisk.present.words.frequencies import percent, two_digits


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
        sections=(_section(entries, terms),),
    )


def _section(entries: Sequence[Bound | Measurement], terms: Terms) -> Section:
    """Return the bounds of a channel, the tightest of each setting marked, and what was measured of it."""
    best = {(setting, tightest(entries, setting).name) for setting in ("random user", "matching")}
    rows = []
    for entry in entries:
        what: str | Cell = entry.name
        value = f"{two_digits(entry.value)} {entry.unit}".strip() if isinstance(entry, Measurement) else ""
        if isinstance(entry, Bound):
            named = f"{terms.spoken(entry.name)}, {setting_name(entry.setting, terms)}"
            what = Cell(named, tag="tightest" if (entry.setting, entry.name) in best else "")
            value = percent(entry.value) if entry.says_something else "says nothing"
        rows.append((what, value, words.reading(entry, terms), entry.reference))
    table = Table(("what", "value", "in words", "reference"), tuple(rows), (1,))
    return Section("Bounds and what they follow from", table=table, console=True)
