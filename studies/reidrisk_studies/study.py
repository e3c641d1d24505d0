"""What a study is: a function that runs a published experiment again, registered with what is to be known before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps

from reidrisk.base.errors import OptionError
from reidrisk.base.options import whole
from reidrisk.base.progress import Progress
from reidrisk_studies.results import StudyResult

__all__ = ["Run", "Seconds", "Study", "registered", "study"]

Run = Callable[[int, int, Progress], StudyResult]
"""From users, seed and progress to what was found."""

Seconds = tuple[float, float] | Callable[[int], float]
"""How long a study takes on two cores: a base and more per million users, or a function of the number of users."""

_REGISTERED: dict[str, Study] = {}


@dataclass(frozen=True)
class Study:
    """A published experiment that can be run again.

    ``run(users, seed, progress)`` does it; ``users`` is the published size, ``least`` the smallest that says anything.
    ``needs`` names the data it reads, see :data:`reidrisk_studies.sources.SOURCES`.
    """

    name: str
    title: str
    reference: str
    users: int
    seconds: Seconds
    run: Run
    needs: tuple[str, ...] = ()
    least: int = 100

    def size(self, users: int | None) -> int:
        """Return how many users it is run with; default: as many as published.

        Examples
        --------
        >>> Study("a", "A", "nobody", 100, (2.0, 30.0), lambda users, seed, progress: None).size(None)
        100
        """
        return whole("users", self.users if users is None else users, least=self.least)

    def estimate(self, users: int) -> float:
        """Return about how many seconds it takes.

        Examples
        --------
        >>> Study("a", "A", "nobody", 100, (2.0, 30.0), lambda users, seed, progress: None).estimate(2_000_000)
        62.0
        """
        if callable(self.seconds):
            return self.seconds(users)
        base, per_million = self.seconds
        return base + per_million * users / 1e6


def study(
    name: str,
    *,
    title: str,
    reference: str,
    users: int,
    seconds: Seconds,
    data: tuple[str, ...] = (),
    least: int = 100,
) -> Callable[[Run], Run]:
    """Register a function as a study; what it finds gets the name, the title and the reference that are given here.

    Parameters
    ----------
    name : str
        What the command line calls it: the paper, a hyphen, the figure.
    title, reference : str
        What it shows, and where it was published.
    users : int
        The published size.
    seconds : (float, float) or callable
        How long that takes, see :data:`Seconds`.
    data : tuple of str
        The data it reads, see :data:`reidrisk_studies.sources.SOURCES`.
    least : int
        With fewer users, no rate of the study says anything.

    Examples
    --------
    >>> from reidrisk.base.progress import silent
    >>> @study("doc-fig1", title="Nothing", reference="nobody", users=100, seconds=(1.0, 0.0))
    ... def figure_1(users, seed, progress):
    ...     return StudyResult(users=users, seed=seed, rows=(), lines=(), x_title="", comparisons=(), assumptions=())
    >>> figure_1(100, 0, silent).title, _REGISTERED.pop("doc-fig1").reference
    ('Nothing', 'nobody')
    """

    def register(run: Run) -> Run:
        @wraps(run)
        def named(users: int, seed: int, progress: Progress) -> StudyResult:
            return replace(run(users, seed, progress), name=name, title=title, reference=reference)

        if name in _REGISTERED:
            raise OptionError(f"there are two studies named {name!r}")
        _REGISTERED[name] = Study(name, title, reference, users, seconds, named, data, least)
        return named

    return register


def registered() -> tuple[Study, ...]:
    """Return the studies of all modules that have been imported."""
    return tuple(_REGISTERED.values())
