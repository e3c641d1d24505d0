"""The three data sets of galozy: Fitbit as published, made-up users in the place of the other two; sizes of runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reidrisk.bandits import Behaviour
from reidrisk.base.errors import OptionError
from reidrisk_studies.data import MissingDataError, data_file
from reidrisk_studies.galozy.clustered import clustered_users
from reidrisk_studies.galozy.fitbit import read_fitbit

__all__ = [
    "FULL",
    "HOMES",
    "LEVELS",
    "SMALL",
    "SPORTSPEOPLE",
    "WEARERS",
    "People",
    "Size",
    "casas",
    "endomondo",
    "fitbit",
]

HOMES, SPORTSPEOPLE, WEARERS = 30, 200, 33
"""Users of the three: as many homes as the public CASAS data has; a number of ours; as many as the Fitbit data has."""

LEVELS = 50
"""Amounts of noise in the paper, evenly spaced from 0 on, without the end."""


@dataclass(frozen=True)
class Size:
    """How much is run: the paper's numbers, or fewer.

    ``printed`` of the paper's 50 amounts of noise, ``finer`` ones of ours on a logarithmic scale, ``on_counts`` of
    ours for noise on counts, at most ``ranks`` ranks, and numbers of auxiliary cells in figure 11.
    """

    runs: int
    steps: int
    printed: int
    finer: int
    on_counts: int
    ranks: int
    cells: int

    def printed_amounts(self, end: float) -> list[float]:
        """Return the paper's amounts of noise, or some of them: 0, the first step, and up to the last.

        Examples
        --------
        >>> [round(v, 2) for v in SMALL.printed_amounts(3.0)], len(FULL.printed_amounts(3.0))
        ([0.0, 0.06, 2.94], 50)
        """
        levels = np.linspace(0.0, end, LEVELS, endpoint=False)
        if self.printed >= LEVELS:
            return [float(v) for v in levels]
        rest = np.linspace(1, LEVELS - 1, self.printed - 1).round().astype(int)
        return [float(levels[i]) for i in (0, *rest)]

    def finer_amounts(self, low: float, high: float) -> list[float]:
        """Return amounts of ours, evenly spaced by their logarithm."""
        return _spaced(low, high, self.finer)

    def amounts_on_counts(self) -> list[float]:
        """Return variances of ours for noise on counts: from far below one transition to hundreds of them."""
        return _spaced(0.1, 1e5, self.on_counts)

    def ranks_of(self, n_states: int) -> list[float]:
        """Return ranks from the full one to 1."""
        count = min(self.ranks, n_states)
        return [float(r) for r in sorted({round(r) for r in np.linspace(1, n_states, count)}, reverse=True)]


def _spaced(low: float, high: float, count: int) -> list[float]:
    return [float(f"{v:.3g}") for v in np.geomspace(low, high, count)]


SMALL = Size(runs=100, steps=2500, printed=3, finer=6, on_counts=4, ranks=6, cells=4)
FULL = Size(runs=500, steps=2500, printed=LEVELS, finer=25, on_counts=15, ranks=41, cells=15)


@dataclass(frozen=True, eq=False)
class People:
    """One data set.

    Attributes
    ----------
    name : str
        What tables call it.
    behaviour : Behaviour
        The users.
    clusters, n_aux : int
        The paper's number of clusters, and of cells that the attacker knows.
    cells : tuple of int
        Numbers of known cells in figure 11.
    end : float
        Where the paper's amounts of noise end.
    finer : (float, float)
        From where to where ours go.
    real : bool
        Whether these are the people of the paper.
    """

    name: str
    behaviour: Behaviour
    clusters: int
    n_aux: int
    cells: tuple[int, ...]
    end: float
    finer: tuple[float, float]
    real: bool

    @property
    def note(self) -> str:
        """Say who these are."""
        d = len(self.behaviour.states)
        if self.real:
            return f"{self.name}: {self.behaviour.origin}"
        return (
            f"{self.name}: {len(self.behaviour.users)} made-up users of {self.clusters} types with {d} states. The "
            "paper's data was not at hand: what is found is about the method, not about those people."
        )

    def why(self, reason: str) -> str:
        """Say first whose users these are, where not the paper's."""
        return reason if self.real else f"Made-up users, not the paper's. {reason}"

    def some_cells(self, count: int) -> list[int]:
        """Return some of the numbers of known cells, the smallest and the paper's among them."""
        chosen = np.linspace(0, len(self.cells) - 1, min(count, len(self.cells))).round().astype(int)
        return sorted({*(self.cells[i] for i in chosen), self.n_aux})


def casas(users: int, seed: int) -> People:
    """Return made-up homes with 41 activities."""
    made = clustered_users(users, 41, 7, seed)
    return People("CASAS stand-in", made, 7, 91, tuple(range(1, 101, 10)), 3.0, (1e-9, 1e-4), False)


def endomondo(users: int, seed: int) -> People:
    """Return made-up people with 39 sports."""
    made = clustered_users(users, 39, 8, seed)
    return People("Endomondo stand-in", made, 8, 91, tuple(range(1, 101, 10)), 3.0, (1e-9, 1e-4), False)


def fitbit(users: int, seed: int) -> People:
    """Return the people of the Fitbit data, or made-up ones with 4 states where it is not at hand."""
    try:
        folder = data_file("fitbit2016/minuteIntensitiesWide_merged.csv.gz").parent
        data_file("fitbit2016/hourlyIntensities_merged.csv.gz")
    except MissingDataError:
        made = clustered_users(users, 4, 8, seed)
        return People("Fitbit stand-in", made, 8, 14, tuple(range(1, 16)), 3e-4, (1e-7, 1e-3), False)
    real = read_fitbit(folder)
    if users != len(real.users):
        raise OptionError(f"the Fitbit data has {len(real.users)} people, so it cannot be run with {users}")
    return People("Fitbit", real, 8, 14, tuple(range(1, 16)), 3e-4, (1e-7, 1e-3), True)
