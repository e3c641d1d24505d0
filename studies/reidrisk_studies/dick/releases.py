"""What the studies of dick share: a population, its released statistics, and models fitted to them.

The people are those of the published population, so 'real' in these studies means drawn from printed figures. Where the
files of the public release are in the data folder, a model of its statistics is studied as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from reidrisk import populations, release
from reidrisk.records import TopSets
from reidrisk.release import Statistics, TypeMixture
from reidrisk_studies.data import MissingDataError, data_file

__all__ = [
    "ASSUMED",
    "EPOCHS",
    "FULL_SIZE",
    "Size",
    "fitted",
    "measured",
    "people",
    "public_release",
    "size_of",
    "with_fits",
]

EPSILON, DELTA = math.log(3.0), 1e-15
"""dick, Section 4.2."""

EPOCHS = 4
"""dick, Section 6: statistics are of the first two weeks, everything else of all four."""

FULL_SIZE = 10_000_000
"""dick, Section 6.1.3: users of the re-identification; the statistics are of more than a hundred million."""

_FOLDER = "topics_release"

ASSUMED = (
    "'Real' people are drawn from the published population, whose rates are printed in the paper; nobody here is real.",
    "Statistics are of two weeks at epsilon = log 3, delta = 1e-15, one mechanism over all tables, simulated noise "
    "with a seed: they would protect nobody.",
)


@dataclass(frozen=True)
class Size:
    """How large the models of a study are, and how often it is repeated."""

    types: int
    steps: int
    trials: int
    learning_rate: float = 0.1

    def summary(self) -> str:
        """Say it, beside what was published."""
        return f"T = {self.types} types fitted in {self.steps} steps (published: 500 types)"


def size_of(users: int) -> Size:
    """Return the published size from 10 million users on, and a smaller one below, which two cores do in a minute.

    Examples
    --------
    >>> size_of(1_000_000)
    Size(types=50, steps=250, trials=3, learning_rate=0.2)
    >>> size_of(10_000_000)
    Size(types=500, steps=2000, trials=10, learning_rate=0.1)
    """
    # A short schedule gets further with a higher rate.
    return Size(500, 2000, 10) if users >= FULL_SIZE else Size(50, 250, 3, learning_rate=0.2)


def with_fits(base: float, per_million: float, fits: int = 1, fits_at_full_size: int = 1) -> Callable[[int], float]:
    """Say how long a study takes that fits models: from 10 million users on large ones, 15 minutes each without a GPU.

    Examples
    --------
    >>> seconds = with_fits(5.0, 10.0, fits=3)
    >>> seconds(1_000_000), seconds(10_000_000)
    (105.0, 1005.0)
    """

    def seconds(users: int) -> float:
        fitting = 900.0 * fits_at_full_size if users >= FULL_SIZE else 30.0 * fits
        return fitting + base + per_million * users / 1e6

    return seconds


@lru_cache(maxsize=1)
def people(users: int, seed: int) -> TopSets:
    """Draw the people: four weeks of top sets."""
    return populations.published(users, EPOCHS, seed=seed)


@lru_cache(maxsize=1)
def measured(users: int, seed: int) -> Statistics:
    """Release statistics of the people's first two weeks, with simulated noise."""
    return release.statistics(people(users, seed).epochs(2), EPSILON, DELTA, simulation=True, seed=seed)


@lru_cache(maxsize=2)
def fitted(users: int, seed: int, trial: int = 0, public: bool = False) -> TypeMixture:
    """Fit a model to the released statistics, or to those of the public release; another start for every trial."""
    size = size_of(users)
    targets = public_release() if public else measured(users, seed)
    assert targets is not None
    return release.fit_mixture(
        targets,
        size.types,
        EPOCHS,
        seed * size.trials + trial,
        steps=size.steps,
        learning_rate=size.learning_rate,
    )


def public_release() -> Statistics | None:
    """Return the statistics of the public release, or None where its files are not in the data folder.

    They are looked for as ``topics_release/q_within.json``, ``q_across.json`` and, if it is there, ``taxonomy.json``.
    """
    try:
        within, across = (data_file(f"{_FOLDER}/{name}.json") for name in ("q_within", "q_across"))
    except MissingDataError:
        return None
    try:
        return release.read_published(within, across, data_file(f"{_FOLDER}/taxonomy.json"))
    except MissingDataError:
        return release.read_published(within, across)
