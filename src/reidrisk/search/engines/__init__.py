"""Where a search runs: threads here, or shards elsewhere; the answers are the same."""

from reidrisk.search.engines.base import Engine
from reidrisk.search.engines.threads import ThreadsEngine

__all__ = ["Engine", "ThreadsEngine"]
