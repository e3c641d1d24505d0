"""Studies of galozy: few users, each at two sizes, one of minutes and, where that takes longer, the published one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from reidrisk.base.progress import Progress
from reidrisk_studies.galozy.people import FULL, SMALL, Size
from reidrisk_studies.results import StudyResult
from reidrisk_studies.study import study

__all__ = ["LEAST", "two_sizes"]

LEAST = 24
"""Fewest users: three times eight clusters must fit."""

Sized = Callable[[Size, int, int, Progress], StudyResult]


def two_sizes(
    name: str, *, title: str, reference: str, users: int, seconds: tuple[float, float], data: tuple[str, ...]
) -> Callable[[Sized], Sized]:
    """Register a function of (size, users, seed, progress) as ``galozy-NAME``, and as ``galozy-NAME-full``.

    Parameters
    ----------
    name, title, reference, users, data
        As in :func:`reidrisk_studies.study.study`.
    seconds : (float, float)
        How long it takes on two cores, small and at the published size; 0 where the small one is as published.
    """

    def register(run: Sized) -> Sized:
        for size, ending, more, time in ((SMALL, "", "", seconds[0]), (FULL, "-full", ", published size", seconds[1])):
            if time:
                study(
                    f"galozy-{name}{ending}",
                    title=title + more,
                    reference=reference,
                    users=users,
                    seconds=(time, 0.0),
                    data=data,
                    least=LEAST,
                )(partial(run, size))
        return run

    return register
