"""A page in a notebook: the verdict and what shows it, as HTML with its charts in it that runs and fetches nothing."""

import base64
from collections.abc import Iterator
from html import escape
from typing import Any

from reidrisk.base import printable
from reidrisk.base.errors import MissingExtraError
from reidrisk.present.model import Cell, Figure, Page, Section, Table


def shown(result: Any) -> str | None:
    """Return the page of a result for a notebook; None where it has no page, so that it is shown as text."""
    from reidrisk.present import has_page, page

    return render(page(result)) if has_page(result) else None


def render(page: Page, whole: bool = False) -> str:
    """Return the verdict and the first section that has a figure, or with ``whole`` all sections, as HTML.

    >>> from reidrisk.present import Section, Sentence
    >>> render(Page("", "two shops", Sentence("It links ", "3 in 100", " people."), ()))
    '<div class="reidrisk"><p>It links <strong>3 in 100</strong> people.</p></div>'
    """
    first = next((one for one in page.sections if one.figure is not None), None)
    sections = page.sections if whole else () if first is None else (first,)
    parts = [*_top(page), *(part for section in sections for part in _section(section, 3))]
    return f'<div class="reidrisk">{"".join(parts)}</div>'


def _top(page: Page) -> Iterator[str]:
    """Give what stands before the sections, in the order of a terminal."""
    for text in (page.warning, *page.first):
        if text:
            yield f"<p><strong>{_text(text)}</strong></p>"
    said = page.verdict
    strong = f"<strong>{_text(said.strong)}</strong>" if said.strong else ""
    yield f"<p>{_text(said.before)}{strong}{_text(said.after)}</p>"
    yield from _paragraphs(page.news)
    if page.badge is not None:
        yield f"<p><strong>{_text(page.badge.answer)}</strong>: {_text(page.badge.sentence)}</p>"
    if page.tiles:
        yield _table(Table(("", "", ""), tuple((one.title, one.value, one.note) for one in page.tiles), (1,)))


def _section(section: Section, level: int) -> Iterator[str]:
    title = _text(section.title)
    if section.folded:
        yield f"<details><summary>{title}</summary>"
    elif title:
        yield f"<h{level}>{title}</h{level}>"
    yield from _paragraphs(section.paragraphs)
    if section.figure is not None:
        yield _figure(section.figure)
    if section.table is not None and section.table.rows:
        yield _table(section.table)
    if section.code:
        yield f"<pre>{escape(section.code)}</pre>"
    for part in section.parts:
        yield from _section(part, min(level + 1, 6))
    if section.caution:
        yield f"<p><em>{_text(section.caution)}</em></p>"
    if section.folded:
        yield "</details>"


def _figure(figure: Figure) -> str:
    """Return the chart as a picture; its numbers where what draws it (the extra ``report``) is not installed."""
    from reidrisk.present.html.offline import still

    try:
        picture = base64.b64encode(still(figure.draw).encode()).decode()
    except MissingExtraError:
        return f"<p>{_text(figure.alt)}</p>" + ("" if figure.numbers is None else _table(figure.numbers))
    shown = f'<img alt="{_text(figure.alt)}" src="data:image/svg+xml;base64,{picture}"/>'
    return shown + "".join(_paragraphs((figure.how,)))


def _table(table: Table) -> str:
    heads = "".join(f"<th>{_text(name)}</th>" for name in table.columns) if any(table.columns) else ""
    rows = "".join(f"<tr>{''.join(_cells(table, row))}</tr>" for row in table.rows)
    caption = f"<caption>{_text(table.caption)}</caption>" if table.caption else ""
    return f"<table>{caption}{f'<thead><tr>{heads}</tr></thead>' if heads else ''}<tbody>{rows}</tbody></table>"


def _cells(table: Table, row: tuple[str | Cell, ...]) -> Iterator[str]:
    for number, cell in enumerate(row):
        side = "right" if number in table.numbers else "left"
        yield f'<td style="text-align: {side}">{_text(str(cell))}</td>'


def _paragraphs(texts: tuple[str, ...]) -> Iterator[str]:
    return (f"<p>{_text(text)}</p>" for text in texts if text)


def _text(text: str) -> str:
    """Return a text as HTML; whatever a label holds, it stays text."""
    return escape(printable(text))
