"""What an engine must do, and what a caller must keep to so that every engine gives the same answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

__all__ = ["Engine"]

Shard = TypeVar("Shard")
Broadcast = TypeVar("Broadcast")
Value = TypeVar("Value")


class Engine(Protocol):
    """Runs the same function over shards of data and merges what comes back.

    The caller keeps two promises. ``map`` depends on its shard and the broadcast alone. ``merge`` is associative and
    does not depend on how the data was cut into shards: merging the values of two halves equals the value of the
    whole. Then threads, processes and clusters of any size agree bit for bit.
    """

    def map_reduce(
        self,
        shards: Sequence[Shard],
        broadcast: Broadcast,
        map: Callable[[Shard, Broadcast], Value],
        merge: Callable[[Value, Value], Value],
    ) -> Value:
        """Return merge(... merge(map(shards[0], broadcast), map(shards[1], broadcast)) ...), in the order of shards."""
        ...
