"""Anonymisation strategies as values: what is done to the records, in which order; nothing is computed here.

At most one step says *whose* records are put together (one's own by default), and any number change the cells: before
it those of each user's own record, after it of what each receives. As text: ``"clusters:7+laplace:0.5"``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from reidrisk.bandits.sharing.weights import WEIGHTS
from reidrisk.base import OptionError, one_of, whole

__all__ = ["Average", "Clusters", "Laplace", "Microaggregation", "Neighbour", "Own", "PrivateClusters"]
__all__ += ["TruncatedSVD"]

_COUNTS = {"order": "the order of a neighbour", "n": "the number of clusters", "k": "k", "rank": "the rank"}
_MOST_EPSILON = 100.0  # beyond it nothing is private, and the calibration leaves the range of floating point
_MOST_VARIANCE = 1e100  # of cells between 0 and 1: beyond it squares, and their products, leave that range as well
_LEAST_DELTA = 1e-30  # its noise grows as 1 / delta


@dataclass(frozen=True)
class Step:
    """One step of a strategy; its parameters are checked here, and whether they fit the data where it is applied."""

    word: ClassVar[str] = ""
    aggregates: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for f in fields(self):
            if f.name in _COUNTS:
                whole(_COUNTS[f.name], getattr(self, f.name))

    def __str__(self) -> str:
        values = [getattr(self, f.name) for f in fields(self)]
        # A number is written briefly, but so that it is read back as it was.
        brief = [f"{v:g}" if not isinstance(v, str) and float(f"{v:g}") == v else str(v) for v in values]
        shown = [text for text in brief if text != WEIGHTS[0]]
        return f"{self.word}:{','.join(shown)}" if shown else self.word


@dataclass(frozen=True)
class Own(Step):
    """Everyone receives one's own record: no aggregation."""

    word = "own"


@dataclass(frozen=True)
class Average(Step):
    """Everyone receives the average record of all users."""

    word = "average"


@dataclass(frozen=True)
class Neighbour(Step):
    """Everyone receives the record of the user with the ``order``-th nearest profile; 1 is the nearest."""

    order: int = 1
    word = "neighbour"


@dataclass(frozen=True)
class Clusters(Step):
    """Everyone receives the average record of a cluster: t-SNE of the profiles to 2 dimensions, then k-means."""

    n: int
    word = "clusters"


@dataclass(frozen=True)
class Microaggregation(Step):
    """Everyone receives the average of a group of at least ``k`` users with near profiles (MDAV): k is guaranteed."""

    k: int
    word = "microaggregation"


@dataclass(frozen=True)
class PrivateClusters(Step):
    """Everyone receives the average of a cluster, made (epsilon, delta)-differentially private by Gaussian noise.

    Neighbours differ in one user's record; who is in which cluster follows from the profiles and is taken as known: the
    guarantee is for the records. The noise here is a *simulation* (seeded, floating point): records of real people need
    a vetted library. It comes first, since it is made for rows that are distributions; noise after it has uniform
    weights, since those from the records would tell what the guarantee does not count.
    """

    n: int
    epsilon: float
    delta: float = 1e-5
    word = "private-clusters"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.epsilon <= _MOST_EPSILON or not _LEAST_DELTA <= self.delta < 1:
            allowed = f"above 0 and at most {_MOST_EPSILON:g}, and delta in [{_LEAST_DELTA:g}, 1)"
            raise OptionError(f"epsilon must be {allowed}, not {self.epsilon!r} and {self.delta!r}")


@dataclass(frozen=True)
class Laplace(Step):
    """Add w Z to every cell, Z a Laplace variable of mean 0 and the given *variance* (galozy, equation 1).

    The scale of Z is sqrt(variance / 2). w is the weight of the cell, see :func:`reidrisk.bandits.cell_weights`.
    """

    variance: float
    weights: str = WEIGHTS[0]
    word = "laplace"
    aggregates = False

    def __post_init__(self) -> None:
        if not 0 <= self.variance <= _MOST_VARIANCE:
            allowed = f"at least 0 and at most {_MOST_VARIANCE:g}"
            raise OptionError(f"the variance of noise must be a number of {allowed}, not {self.variance!r}")
        one_of("weights", self.weights, WEIGHTS)


@dataclass(frozen=True)
class TruncatedSVD(Step):
    """Keep the ``rank`` largest singular values of each matrix (galozy, Section 4)."""

    rank: int
    word = "svd"
    aggregates = False


Strategy = Step | Sequence[Step] | str
"""What :func:`reidrisk.bandits.anonymise` takes: a step, several in order, or their text."""

_STEPS: dict[str, type[Step]] = {
    kind.word: kind
    for kind in (Own, Average, Neighbour, Clusters, Microaggregation, PrivateClusters, Laplace, TruncatedSVD)
}


def parse(text: str) -> tuple[Step, ...]:
    """Read a strategy from its text."""
    steps = []
    for part in re.split(r"\s*\+(?!\d)\s*", text.strip()):  # the + of 1e+3 is none of ours
        word, _, given = part.partition(":")
        if word.strip() not in _STEPS:
            raise OptionError(f"{part!r:.60} is no anonymisation step; use {', '.join(_STEPS)}")
        kind = _STEPS[word.strip()]
        known: Any = fields(kind)
        values = [value.strip() for value in given.split(",")] if given else []
        if len(values) > len(known):
            count = f"{len(values)} value{'s' * (len(values) > 1)}"
            raise OptionError(f"{part!r:.60} has {count}; {word} takes {', '.join(f.name for f in known) or 'none'}")
        try:
            steps.append(kind(*(f.type(value) for value, f in zip(values, known, strict=False))))
        except OptionError:
            raise
        except (TypeError, ValueError) as error:
            takes = ", ".join(f"{f.name} ({f.type.__name__})" for f in known) or "no value"
            raise OptionError(f"{part!r:.60} cannot be read; {word} takes {takes}") from error
    return as_steps(steps)


def as_steps(strategy: Strategy) -> tuple[Step, ...]:
    """Return the steps of a strategy, with :class:`Own` put in where none aggregates."""
    if isinstance(strategy, str):
        return parse(strategy)
    steps = (strategy,) if isinstance(strategy, Step) else tuple(strategy)
    for step in steps:
        if not isinstance(step, Step):
            raise OptionError(f"a strategy is made of steps such as Clusters(7) or Laplace(0.5), not {step!r}")
    whose = [step for step in steps if step.aggregates]
    if len(whose) > 1:
        raise OptionError(f"{whose[0]} and {whose[1]} both say whose records to share; choose one of them")
    private = next((i for i, step in enumerate(steps) if isinstance(step, PrivateClusters)), None)
    if private is not None:
        check_private(steps[private], steps[:private], steps[private + 1 :])
    return steps if whose else (Own(), *steps)


def check_private(private: Step, before: Sequence[Step], after: Sequence[Step]) -> None:
    """Refuse steps that void the guarantee of private clusters: any before them, data-dependent noise after them."""
    if before:
        raise OptionError(f"{before[0]} before {private} voids its guarantee; put it after, or use clusters")
    for step in after:
        if isinstance(step, Laplace) and step.variance > 0 and step.weights != "uniform":
            voids = f"takes its weights from the records, which voids the guarantee of {private}"
            raise OptionError(f"{step} {voids}; use weights 'uniform', or clusters")
