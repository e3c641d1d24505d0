"""The engines that have a name, and the one that was asked for."""

from typing import Any

from reidrisk.base.errors import OptionError
from reidrisk.search.engines.base import Engine, LocalEngine
from reidrisk.search.engines.duckdb import DuckDBEngine
from reidrisk.search.engines.spark import SparkEngine

ENGINES: dict[str, type[Engine]] = {"local": LocalEngine, "duckdb": DuckDBEngine, "spark": SparkEngine}
"""The engines that have a name."""


def find_engine(engine: Any) -> Engine | None:
    """Return the engine of a name, with its defaults; an engine and None as they are.

    >>> type(find_engine("duckdb")).__name__
    'DuckDBEngine'
    """
    if isinstance(engine, str) and engine in ENGINES:
        return ENGINES[engine]()
    if engine is not None and (isinstance(engine, type) or not hasattr(engine, "best")):
        names = ", ".join(map(repr, ENGINES))
        raise OptionError(f"engine must be one of {names}, or an object such as DuckDBEngine(), not {engine!r}")
    found: Engine | None = engine
    return found
