"""Results as pages: one model of sections, shown in a terminal or a notebook, or written as one offline HTML file."""

import importlib
from pathlib import Path
from typing import Any

from reidrisk.base import DataError, OptionError
from reidrisk.present.model import Cell, Figure, Page, Section, Sentence, Table
from reidrisk.present.terms import Terms

__all__ = ["Cell", "Figure", "Page", "Section", "Sentence", "Table", "Terms"]
__all__ += ["chart", "page", "render", "save_chart", "write", "write_evidence"]

_PAGES = {
    "AuditResult": ("audit", "page"),
    "CohortAudit": ("cohorts", "page"),
    "Tradeoff": ("tradeoff", "page"),
    "Bench": ("bench", "page"),
    "PublicValidation": ("release", "public_page"),
    "Validation": ("release", "public_page"),
    "InternalValidation": ("release", "internal_page"),
}


def has_page(result: Any) -> bool:
    """Whether there is a page for such results."""
    return type(result).__name__ in _PAGES


def page(result: Any, *how: Any, **options: Any) -> Page:
    """Return the page of a result: of an audit, of cohorts, of a trade-off, of a release, or of a benchmark.

    Cohorts also take ``subject`` and ``command``, a trade-off ``command`` and ``attack``, a benchmark
    ``command``, the public page of a release
    ``canary``, ``noise`` and ``budget``, and each ``terms``.
    """
    if not has_page(result):
        raise DataError(f"there is no page for results of class {type(result).__name__}; give one that has a page")
    module, function = _PAGES[type(result).__name__]
    made: Page = getattr(importlib.import_module(f"reidrisk.present.pages.{module}"), function)(result, *how, **options)
    return made


def render(result: Any, *how: Any, **options: Any) -> str:
    """Return the page of a result as the text of one HTML file, which fetches nothing and holds aggregates only."""
    from reidrisk.present import html

    return html.render(page(result, *how, **options))


def write(result: Any, path: str | Path, *how: Any, **options: Any) -> None:
    """Write the page of a result as one HTML file; an interrupted run leaves the old file or none."""
    from reidrisk.present import html

    html.write(page(result, *how, **options), path)


def write_evidence(result: Any, path: str | Path) -> None:
    """Write all that backs a result as one ZIP file: page, result, spec, tables, charts, and the sum of each."""
    from reidrisk.present import evidence

    evidence.write(result, path)


def chart(result: Any, name: str, narrow: bool = False) -> Any:
    """Return a chart of a result's page by the name of its section, such as ``"growth"``, as an Altair chart."""
    figures = page(result).figures()
    if name not in figures:
        raise OptionError(f"this page has no chart {name!r}; it has {', '.join(figures) or 'none'}")
    return figures[name].draw(narrow)


def save_chart(chart: Any, path: str | Path, width: int = 720) -> None:
    """Write a chart as a picture, ``.png`` or ``.svg``, ``width`` pixels wide (a PNG has twice as many)."""
    from reidrisk.present.drawing import save

    save(chart, path, width)
