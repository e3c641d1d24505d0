"""Where a search runs: here, or on shards elsewhere; the answers are the same."""

from reidrisk.search.engines.base import Engine, LocalEngine, Scorer, Targets

__all__ = ["ENGINES", "Engine", "LocalEngine", "Scorer", "Targets"]

ENGINES: dict[str, type[Engine]] = {"local": LocalEngine}
"""The engines that have a name."""
