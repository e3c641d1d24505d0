"""Threads: one way to do the same for many parts; kernels release the interpreter lock, so that parts run together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from reidrisk.base.options import whole

__all__ = ["each", "n_threads"]

Part = TypeVar("Part")
Value = TypeVar("Value")


def n_threads(threads: int | None = None) -> int:
    """Return how many threads to use: as asked, or one for each core this process may run on.

    Examples
    --------
    >>> n_threads(3)
    3
    """
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole("threads", threads)


def each(work: Callable[[Part], Value], parts: Iterable[Part], threads: int | None = None) -> Iterator[Value]:
    """Do the same for every part, on threads, and give the answers in the order of the parts.

    What ``work`` answers must not depend on the other parts; then the number of threads changes nothing but the time.

    Parameters
    ----------
    work : callable
        From a part to its answer.
    parts : iterable
        Taken all at once.
    threads : int, optional
        Default: one for each core. With one thread, or one part, everything runs in the caller's thread.

    Examples
    --------
    >>> list(each(lambda part: part * 10, [1, 2, 3], threads=2))
    [10, 20, 30]
    """
    todo = list(parts)
    workers = min(n_threads(threads), len(todo))
    if workers <= 1:
        yield from map(work, todo)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(work, todo)
