"""The DuckDB engine: joins out of core on one machine, within a memory limit and a spill folder."""

import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reidrisk.base.errors import EngineError, OptionError
from reidrisk.base.extras import require
from reidrisk.base.parallel import n_threads
from reidrisk.base.progress import Progress
from reidrisk.search.engines.relational import Columns, Relational, no_space
from reidrisk.search.engines.shards import Question, cut, over
from reidrisk.search.engines.stored import StoredTokens

_GB = 1_000_000_000


class DuckDBEngine(Relational):
    """Searches by SQL in DuckDB, within ``memory`` bytes of its own; what does not fit is spilled to a folder.

    The ``spill`` folder gets one of this engine's own inside, which is removed when a search ends, however it ends;
    default: the system's folder for temporary files. Scores of pairs are found shard by shard, in this process.
    Tables of a ``database`` file are read, never written: its table a is ``table:stored.a`` in an audit.

    >>> import numpy as np
    >>> from reidrisk import search
    >>> ones = np.ones((1, 9), dtype=np.int64)
    >>> scorer = search.EpochScorer(search.Weights(match=ones, mismatch=0 * ones, per_nat=0))
    >>> targets = search.Index(np.array([[1, 2], [3, 4], [3, 5]]), 9)
    >>> DuckDBEngine().best(scorer, targets, np.array([[3, 8]])).n_ties.tolist()
    [2]
    """

    name = "duckdb"

    def __init__(
        self,
        memory: int = 4 * _GB,
        spill: str | Path | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        resume: str | Path | None = None,
        database: str | Path | None = None,
    ) -> None:
        if memory < 1 << 27:
            raise OptionError(f"DuckDB needs at least 128 MB of memory, not {memory:,} bytes")
        self.memory, self.threads, self.progress = int(memory), threads, progress
        self.spill = Path(tempfile.gettempdir() if spill is None else spill)
        self.resume = None if resume is None else Path(resume)
        self.database = None if database is None else Path(database)

    @contextmanager
    def session(self) -> Iterator["DuckDBSession"]:
        """Open a database in memory with a spill folder of its own, and remove both."""
        duckdb = require("duckdb", "bigdata", "the engine 'duckdb'")
        if not self.spill.is_dir():
            raise OptionError(f"{self.spill} is no folder to spill to; make it, or name another (--spill)")
        folder = Path(tempfile.mkdtemp(prefix="reidrisk-", dir=self.spill))
        try:
            connection = duckdb.connect(
                config={
                    "memory_limit": f"{self.memory}B",
                    "temp_directory": str(folder),
                    "threads": n_threads(self.threads),
                    "preserve_insertion_order": False,
                }
            )
            try:
                if self.database is not None:
                    connection.execute(f"ATTACH {_text(str(self.database))} AS stored (READ_ONLY)")
                yield DuckDBSession(connection)
            finally:
                connection.close()
        except duckdb.Error as error:
            raise _told(duckdb, error, self) from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def mapped(self, question: Question, targets: Any) -> Any:
        """Answer shard by shard in this process."""
        if isinstance(targets, StoredTokens):
            return over(question, (piece.shard() for piece in targets.pieces()))
        return over(question, cut(targets))


class DuckDBSession:
    """Statements in one DuckDB database."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def put(self, name: str, columns: Columns) -> None:
        """Make a relation of arrays."""
        import pyarrow as pa

        self.connection.register(name, pa.table(columns))

    def keep(self, name: str, statement: str) -> None:
        """Run a statement, and keep what it gives under a name."""
        self.connection.execute(f"CREATE TABLE {name} AS {statement}")

    def view(self, name: str, statement: str) -> None:
        """Give a statement a name, and run it whenever the name is used."""
        self.connection.execute(f"CREATE OR REPLACE VIEW {name} AS {statement}")

    def drop(self, name: str) -> None:
        """Forget what was kept."""
        self.connection.execute(f"DROP TABLE {name}")

    def fetch(self, statement: str) -> Columns:
        """Run a statement, and return its columns as arrays."""
        found: Columns = self.connection.execute(statement).fetchnumpy()
        return found

    def share(self, column: str, of: int) -> str:
        """Return the condition that chooses one in ``of`` by what a column holds."""
        return f"hash({column}) % {of} = 0"

    def columns(self, name: str) -> dict[str, str]:
        """Return the columns of a table, and the type of each."""
        return {row[0]: str(row[1]) for row in self.connection.execute(f"DESCRIBE SELECT * FROM {name}").fetchall()}

    def parquet(self, name: str, files: Sequence[str], numbered: bool = False) -> None:
        """Name Parquet files; ``numbered`` adds ``file_name`` and ``file_row``, where each row stands."""
        listed = f"[{', '.join(map(_text, files))}]"
        if numbered:
            places = "* EXCLUDE (filename, file_row_number), filename AS file_name, file_row_number AS file_row"
            self.view(name, f"SELECT {places} FROM read_parquet({listed}, filename=true, file_row_number=true)")
        else:
            self.view(name, f"SELECT * FROM read_parquet({listed})")

    def write(self, statement: str, folder: str) -> None:
        """Run a statement, and write what it gives as Parquet files into a folder that is not there yet."""
        self.connection.execute(f"COPY ({statement}) TO {_text(folder)} (FORMAT parquet, PER_THREAD_OUTPUT true)")


def _text(value: str) -> str:
    """Return a string as SQL writes it."""
    return "'" + value.replace("'", "''") + "'"


def _told(duckdb: Any, error: Exception, engine: DuckDBEngine) -> EngineError:
    """Say in one line what went wrong, and what to do about it."""
    said = str(error).strip().splitlines()[0]
    if isinstance(error, duckdb.OutOfMemoryException):
        what = f"DuckDB ran out of its {engine.memory / _GB:.3g} GB of memory, or of disk in {engine.spill}"
        return EngineError(f"{what}; give it more (--memory, --spill): {said}")
    if "space" in said.lower() or "write" in said.lower():
        place = re.search(r'file \\?"([^"\\]+)', said)
        return no_space(engine.spill if place is None else Path(place[1]).parent)
    return EngineError(f"DuckDB could not go on: {said}")
