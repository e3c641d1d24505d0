"""A chart on a page with its words, its numbers, and a still picture for readers without scripts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reidrisk.present.html.offline import drawn_specs
from reidrisk.report.sentences import Around
from reidrisk.report.tables import Table


@dataclass(frozen=True)
class Figure:
    """What the template prints: :attr:`still` is HTML, :attr:`specs` are those of a screen and of a phone."""

    name: str
    title: str
    before: str
    after: str
    alt: str
    still: Any
    specs: dict[str, Any]
    table: Table


def drawn(name: str, title: str, around: Around, draw: Callable[[bool], Any], table: Table) -> Figure:
    """Draw a chart for a screen and for a phone, and put it between its words.

    Parameters
    ----------
    name : str
        Its name within the page.
    title : str
        Of the table of its numbers.
    around : Around
        What stands before and after it, and what stands for it where it is not seen.
    draw : callable
        Draws it, narrow or not.
    table : Table
        Its numbers.
    """
    specs, still = drawn_specs(draw)
    return Figure(name, title, around.before, around.after, around.alt, still, specs, table)
