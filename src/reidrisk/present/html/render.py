"""A page as the text of one HTML file: figures for a screen, for a phone, and still for readers without scripts."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

from reidrisk.present.html.offline import drawn_specs, filled, save
from reidrisk.present.model import Page


def write(page: Page, path: str | Path) -> None:
    """Write a page as one HTML file; an interrupted run leaves the old file or none."""
    save(render(page), path)


def render(page: Page) -> str:
    """Return a page as the text of one HTML file.

    The file holds the scripts that draw its charts once, and makes no request to any network: its own security policy
    forbids it.
    """
    specs: dict[str, Any] = {}
    stills: dict[str, Any] = {}
    for name, figure in page.figures().items():
        specs[name], stills[name] = drawn_specs(figure.draw)
    return filled("page.html", specs, page=page, stills=stills, version=version("reidrisk"))
