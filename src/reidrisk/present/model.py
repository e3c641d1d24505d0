"""The page as values: sections of what to see, a figure, a table, what not to conclude; nothing is drawn here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

Mood = Literal["calm", "plain", "unsure", "alarm"]


@dataclass(frozen=True)
class Sentence:
    """A sentence, one part of which matters most."""

    before: str
    strong: str = ""
    after: str = ""

    def __str__(self) -> str:
        return self.before + self.strong + self.after


@dataclass(frozen=True)
class Cell:
    """A cell that says more than its text: a remark in small print, a tag beside it, or that it hardly counts."""

    text: str
    small: str = ""
    tag: str = ""
    soft: bool = False

    def __str__(self) -> str:
        said = " ".join(part for part in (self.text, f"({self.small})" if self.small else "") if part)
        return f"{said} [{self.tag}]" if said and self.tag else said or self.tag


@dataclass(frozen=True)
class Table:
    """Text in rows and columns; ``numbers`` are the columns to align at the right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | Cell, ...], ...]
    numbers: tuple[int, ...] = ()
    caption: str = ""


@dataclass(frozen=True)
class Figure:
    """A chart for a screen or a phone, what those hear who cannot see it, its numbers, and how to read it."""

    draw: Callable[[bool], Any]
    alt: str
    numbers: Table | None = None
    how: str = ""


@dataclass(frozen=True)
class Section:
    """One answer: what to see, the figure and the table that show it, and what not to conclude.

    ``see`` is a paragraph, or several; ``code`` a command or a file, shown as it is; ``parts`` stand under headings of
    their own, and a reader must open those that are ``folded``. A terminal shows what is short and important enough
    (``console``), with ``listed`` the first column of the table alone, and a ``brief`` table in the place of a longer
    one. Links within the page lead to ``name``, and are called ``label``; default: from the title.
    """

    title: str
    see: str | tuple[str, ...] = ()
    table: Table | None = None
    figure: Figure | None = None
    caution: str = ""
    code: str = ""
    parts: tuple[Section, ...] = ()
    folded: bool = False
    console: bool = False
    listed: bool = False
    brief: Table | None = None
    name: str = ""
    label: str = ""

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """What to see, a paragraph each."""
        said = (self.see,) if isinstance(self.see, str) else self.see
        return tuple(text for text in said if text)

    @property
    def anchor(self) -> str:
        """Where links lead to."""
        return self.name or "-".join(self.title.lower().split())

    def figures(self) -> Iterator[tuple[str, Figure]]:
        """Give the figures of this section and its parts, each with the name it has on the page."""
        if self.figure is not None:
            yield self.anchor, self.figure
        for part in self.parts:
            yield from part.figures()


@dataclass(frozen=True)
class Tile:
    """A number to read at a glance."""

    title: str
    value: str
    note: str = ""
    kind: Literal["correct", "wrong", "none"] = "none"


@dataclass(frozen=True)
class Badge:
    """An answer in a word, pass or fail, and the sentence that explains it."""

    answer: str
    sentence: str


@dataclass(frozen=True)
class Page:
    """A whole page; what whoever reads one sentence must know stands ``first``, before the verdict."""

    kind: str
    subject: str
    verdict: Sentence
    sections: tuple[Section, ...]
    facts: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    news: tuple[str, ...] = ()
    tiles: tuple[Tile, ...] = ()
    badge: Badge | None = None
    warning: str = ""
    mood: Mood = "plain"
    footer: str = ""
    heading: str = "What was found"

    def figures(self) -> dict[str, Figure]:
        """Return all figures by the name they have on the page."""
        return {name: figure for section in self.sections for name, figure in section.figures()}
