"""The default engine: threads of this process; kernels release the interpreter lock, so they run side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from reidrisk.base.errors import OptionError

__all__ = ["ThreadsEngine", "n_threads"]

Shard = TypeVar("Shard")
Broadcast = TypeVar("Broadcast")
Value = TypeVar("Value")


def n_threads(threads: int | None = None) -> int:
    """Return how many threads to use: as asked, or one for each core this process may run on."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads < 1:
        raise OptionError(f"threads must be at least 1, not {threads}")
    return threads


class ThreadsEngine:
    """Maps shards on threads, and merges in the order of the shards as they come in.

    Parameters
    ----------
    threads : int, optional
        How many; one for each available core when missing.

    Examples
    --------
    >>> ThreadsEngine(2).map_reduce([[1, 2], [3]], 10, lambda shard, by: sum(shard) * by, lambda a, b: a + b)
    60
    """

    def __init__(self, threads: int | None = None) -> None:
        self.threads = n_threads(threads)

    def map_reduce(
        self,
        shards: Sequence[Shard],
        broadcast: Broadcast,
        map: Callable[[Shard, Broadcast], Value],
        merge: Callable[[Value, Value], Value],
    ) -> Value:
        """Run ``map`` on every shard and fold the values with ``merge``, first shard first."""
        if not shards:
            raise OptionError("there is nothing to map: give at least one shard")
        with ThreadPoolExecutor(min(self.threads, len(shards))) as pool:
            values = pool.map(lambda shard: map(shard, broadcast), shards)
            whole = next(values)
            for value in values:
                whole = merge(whole, value)
        return whole
