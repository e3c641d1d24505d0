"""All studies by name: those of the modules listed here."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module

from reidrisk.base.errors import OptionError
from reidrisk.base.progress import Progress, silent
from reidrisk.base.streams import checked_seed
from reidrisk_studies.results import StudyResult
from reidrisk_studies.sources import missing_data
from reidrisk_studies.study import Study, registered

__all__ = ["STUDIES", "find", "run"]

PAPERS = {
    "carey": ("topics", "single_epoch", "songs", "ceiling", "sequences"),
    "jha": ("users", "over_time", "parameters", "bayes", "improvements", "limits", "ceiling"),
    "dick": ("statistics", "stationary", "synthetic_users"),
    "floc": ("thresholds", "chrome", "weeks", "private"),
    "galozy": ("figures", "tradeoffs", "ads", "weights", "adversary"),
}
"""The papers, and the modules of each that register studies."""


def _place(study: Study) -> tuple[int, int, str]:
    """Order by paper, then figures by number, then the rest by name."""
    paper, _, rest = study.name.partition("-")
    figure = re.match(r"fig(\d+)", rest)
    return list(PAPERS).index(paper), int(figure[1]) if figure else 1_000, rest


def _all() -> dict[str, Study]:
    for paper, modules in PAPERS.items():
        for module in modules:
            import_module(f"reidrisk_studies.{paper}.{module}")
    return {study.name: study for study in sorted(registered(), key=_place)}


STUDIES = _all()


def find(name: str) -> Study:
    """Return the study of this name, or list the names there are.

    Examples
    --------
    >>> find("carey-fig2").reference
    'carey, Figure 2'
    """
    if name not in STUDIES:
        raise OptionError(f"there is no study {name!r}; choose one of {', '.join(STUDIES)}")
    return STUDIES[name]


def run(name: str, users: int | None = None, seed: int = 0, progress: Progress | None = None) -> StudyResult:
    """Run a study.

    Parameters
    ----------
    name : str
        One of ``STUDIES``.
    users : int, optional
        Size of the simulated population; default: as published.
    seed : int
        Same users and seed, same result.
    progress : callable, optional
        Takes what is being done, and the share of the work that is behind.

    Examples
    --------
    >>> result = run("carey-information", users=20_000)
    >>> result.comparisons[0].published
    '7.59'
    """
    study = find(name)
    without = missing_data(study.needs)
    found = study.run(study.size(users), checked_seed(seed), progress or silent)
    return replace(found, without=without)
