"""Threads: one way to do the same for many parts; kernels release the interpreter lock, so that parts run together."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Self, TypeVar

from reidrisk.base.options import whole
from reidrisk.base.progress import Progress, silent

Part = TypeVar("Part")
Value = TypeVar("Value")


def n_threads(threads: int | None = None) -> int:
    """Return how many threads to use: as asked, or one for each core this process may run on."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole("threads", threads)


def each(
    work: Callable[[Part], Value],
    parts: Iterable[Part],
    threads: int | None = None,
    progress: Progress | None = None,
    stage: str = "working",
) -> list[Value]:
    """Do the same for every part, on threads, and return the answers in the order of the parts.

    What ``work`` answers must not depend on the other parts; then the number of threads (default: one for each core)
    changes nothing but the time. With one thread, or one part, everything runs in the caller's. ``progress`` hears of
    ``stage`` after each part.

    >>> each(lambda part: part * 10, [1, 2, 3], threads=2)
    [10, 20, 30]
    """
    todo = list(parts)
    with Crew(min(n_threads(threads), max(len(todo), 1))) as crew:
        return crew.each(work, todo, progress, stage)


def slices(n: int, size: int) -> list[slice]:
    """Cut ``n`` rows into parts of ``size`` rows, at least one, and a last one of what is left.

    >>> slices(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(size, 1)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


class Crew:
    """Threads that stay for many rounds of short work; :func:`each` is one round.

    >>> with Crew(2) as crew:
    ...     [crew.each(lambda part, by=by: part * by, [1, 2]) for by in (10, 20)]
    [[10, 20], [20, 40]]
    """

    def __init__(self, threads: int | None = None) -> None:
        self.size = n_threads(threads)
        self._pool = ThreadPoolExecutor(self.size) if self.size > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=error is not None)

    def each(
        self,
        work: Callable[[Part], Value],
        parts: Iterable[Part],
        progress: Progress | None = None,
        stage: str = "working",
    ) -> list[Value]:
        """Do the same for every part, and return the answers in the order of the parts."""
        todo, tell = list(parts), progress or silent
        found = []
        for value in map(work, todo) if self._pool is None else self._pool.map(work, todo):
            found.append(value)
            tell(stage, len(found) / len(todo))
        return found
