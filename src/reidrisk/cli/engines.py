"""Where an audit searches: the options of engines, and the engine they ask for."""

from pathlib import Path
from typing import Any

from reidrisk.base import OptionError
from reidrisk.base.options import one_of, size
from reidrisk.cli.groups import group
from reidrisk.cli.parameters import option


@group
class EngineOptions:
    """Where to search, and what may be used there; no answer depends on it."""

    engine: str = option("local", "Where to search: 'local', 'duckdb' or 'spark'. No engine changes an answer.")
    memory: str = option("4GB", "Memory that DuckDB may use, such as 4GB.")
    spill: Path | None = option(None, "Folder for what does not fit in memory; emptied at the end.")
    resume: Path | None = option(None, "Folder for finished parts of a long audit; the next run continues from there.")
    people: Path | None = option(None, "Folder for what the joins found about each person: one row each, as Parquet.")
    estimate: bool = option(False, "Say what an audit of stored tables will take, and stop.", "--estimate")
    master: str | None = option(None, "Spark master, such as spark://host:7077; default: the cores of this machine.")

    def made(self) -> Any:
        """Return the engine, ready to search."""
        from reidrisk.search.engines import ENGINES, DuckDBEngine, SparkEngine

        one_of("--engine", self.engine, ENGINES)
        if self.master is not None and self.engine != "spark":
            raise OptionError("--master is for --engine spark; leave it out, or choose that engine")
        made: Any
        if self.engine == "duckdb":
            made = DuckDBEngine(size("--memory", self.memory), self.spill, resume=self.resume)
        elif self.engine == "spark":
            made = SparkEngine(self.master, self.spill, resume=self.resume)
        elif self.resume is not None:
            raise OptionError("--resume is for --engine duckdb or spark; leave it out, or choose one of these")
        elif self.people is not None:
            raise OptionError("--people is for --engine duckdb or spark; see --keep-per-person")
        else:
            return ENGINES[self.engine]()
        made.people = self.people
        return made
