"""Where work runs: one verb, ``map_reduce``, on threads here or on a cluster elsewhere."""

from reidrisk.engines.base import Engine
from reidrisk.engines.threads import ThreadsEngine

__all__ = ["Engine", "ThreadsEngine"]
