"""The page of a trade-off as one offline HTML file."""

from __future__ import annotations

from pathlib import Path

from reidrisk.bandits import Tradeoff
from reidrisk.present import html
from reidrisk.present.html.offline import save
from reidrisk.present.pages.tradeoff import page


def write_tradeoff(surface: Tradeoff, path: str | Path, command: str = "", attack: str | None = None) -> None:
    """Write a trade-off as one HTML file; an interrupted run leaves the old file or none.

    Parameters
    ----------
    surface : Tradeoff
        From :func:`reidrisk.bandits.tradeoff`.
    path : str or path
        The file.
    command : str
        How to run it again.
    attack : {"scoreboard", "likelihood"}, optional
        By whose success choices are judged; default: as measured.
    """
    save(render_tradeoff(surface, command, attack), path)


def render_tradeoff(surface: Tradeoff, command: str = "", attack: str | None = None) -> str:
    """Return a trade-off as the text of one HTML file that fetches nothing and holds no single person's record."""
    return html.render(page(surface if attack is None else surface.judged_by(attack), command))
