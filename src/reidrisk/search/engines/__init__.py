"""Where a search runs: here, or on shards elsewhere; the answers are the same."""

from reidrisk.search.engines.base import Engine, Scorer, Targets
from reidrisk.search.engines.local import LocalEngine

__all__ = ["ENGINES", "Engine", "LocalEngine", "Scorer", "Targets"]

ENGINES: dict[str, type[Engine]] = {"local": LocalEngine}
"""The engines that have a name."""
