"""A page as one offline HTML file: nothing in it is fetched, nothing in it is about one person."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

from reidrisk.io import write_atomically
from reidrisk.present.html.offline import drawn_specs, filled
from reidrisk.present.model import Page


def write(page: Page, path: str | Path) -> None:
    """Write a page as one HTML file; an interrupted run leaves the old file or none."""
    text = render(page)
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def render(page: Page) -> str:
    """Return a page as the text of one HTML file; its own security policy forbids any request to a network."""
    specs: dict[str, Any] = {}
    stills: dict[str, Any] = {}
    for name, figure in page.figures().items():
        specs[name], stills[name] = drawn_specs(figure.draw)
    return filled(specs, page=page, stills=stills, version=version("reidrisk"))
