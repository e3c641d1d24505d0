"""A page on a terminal: the verdict, then the sections that are short and important enough for one."""

from collections.abc import Iterator
from typing import Any

from reidrisk.base.foreign import printable
from reidrisk.present.model import Page, Section, Table


def print_page(page: Page, screen: Any) -> None:
    """Print a page on a Rich console; text is shown as it is, never as markup, and control characters as escapes."""
    for part in parts_of(page):
        screen.print(_table(part) if isinstance(part, Table) else harmless(part))


def harmless(text: str) -> Any:
    """Return a text to print; line ends at either end of it are layout and stay, those within it become escapes."""
    from rich.text import Text

    within = text.strip("\n")
    before, _, after = text.partition(within) if within else (text, "", "")
    return Text(before + printable(within) + after)


def parts_of(page: Page) -> Iterator[str | Table]:
    """Give what a terminal shows of a page, in order: texts and tables."""
    if page.warning:
        yield page.warning
    yield from (*page.first, f"\n{page.verdict}", *page.news)
    if page.badge is not None:
        yield f"\n{page.badge.answer}: {page.badge.sentence}"
    for section in page.sections:
        if section.console:
            yield from _section(section)


def _section(section: Section) -> Iterator[str | Table]:
    if section.title:
        yield f"\n{section.title}" + ("" if section.title.endswith("?") else ":")
    yield from section.paragraphs
    shown = section.brief or section.table or (section.figure and section.figure.numbers)
    if shown and section.listed:
        yield from (f"- {row[0]}" for row in shown.rows)
    elif shown and shown.rows:
        yield shown
    for part in section.parts:
        if part.console:
            yield from _section(part)


def _table(data: Table) -> Any:
    from rich.table import Column
    from rich.table import Table as Drawn

    title = harmless(data.caption) if data.caption else None
    drawn = Drawn(*(Column(harmless(name)) for name in data.columns), title=title)
    for number in data.numbers:
        drawn.columns[number].justify = "right"
    for row in data.rows:
        drawn.add_row(*(harmless(str(value)) for value in row))
    return drawn
