"""Where a search runs: here, out of core, or on a cluster; the answers are the same."""

from reidrisk.search.engines.base import Engine, LocalEngine, Scorer, Targets
from reidrisk.search.engines.duckdb import DuckDBEngine
from reidrisk.search.engines.named import ENGINES, find_engine
from reidrisk.search.engines.spark import SparkEngine

__all__ = ["ENGINES", "DuckDBEngine", "Engine", "LocalEngine", "Scorer", "SparkEngine", "Targets", "find_engine"]
