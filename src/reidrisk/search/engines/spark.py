"""The Spark engine: the same joins on a cluster, where the tables already are; shards are scored where they lie."""

import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from reidrisk.base.errors import EngineError, OptionError
from reidrisk.base.extras import require
from reidrisk.base.progress import Progress
from reidrisk.search.engines.relational import Columns, Relational
from reidrisk.search.engines.shards import ROWS, Question, cut
from reidrisk.search.engines.stored import StoredTokens

_PATIENCE = 10.0  # seconds to wait for a master that does not answer
# Pieces that an executor of 1 GB can sort: by default few large ones are made where there are few cores.
_PIECES = {"spark.sql.shuffle.partitions": "64", "spark.sql.adaptive.advisoryPartitionSizeInBytes": "8m"}


class SparkEngine(Relational):
    """Searches on the Spark session that is active, or on one of its own at ``master``; default: all cores here.

    Nothing comes back but what was asked for: the answers for queries that were handed over, and aggregates. Executors
    need this package where scores of pairs are asked for, since shards are scored by its kernels. An audit writes its
    tables, as whole numbers and without names, to the ``spill`` folder, which executors must see; default: the system's
    folder for temporary files, which is right on one machine only.
    """

    name = "spark"

    def __init__(
        self,
        master: str | None = None,
        spill: str | Path | None = None,
        progress: Progress | None = None,
        options: dict[str, str] | None = None,
        resume: str | Path | None = None,
    ) -> None:
        self.master, self.progress, self.options = master, progress, options or {}
        self.spill = Path(tempfile.gettempdir() if spill is None else spill)
        self.resume = None if resume is None else Path(resume)
        self._spark: Any = None

    @contextmanager
    def session(self) -> Iterator["SparkSession"]:
        """Open a session with names and settings of its own, and forget what it kept."""
        require("pyspark", "spark", "the engine 'spark'")
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        open_here = None
        try:
            open_here = SparkSession(self._connected().newSession())
            yield open_here
        except (PySparkException, Py4JError, ConnectionError) as error:
            raise _told(error, self.master) from error
        finally:
            if open_here is not None:
                open_here.close()

    def close(self) -> None:
        """Stop the session that this engine has started, if any."""
        if self._spark is not None:
            self._spark.stop()
            self._spark = None

    def _connected(self) -> Any:
        from pyspark.sql import SparkSession as Spark

        if self._spark is not None:
            return self._spark
        active = Spark.getActiveSession()
        if active is not None and self.master is None:
            return active
        master = self.master or "local[*]"
        _reachable(master)
        here = master.startswith("local")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        if here:
            pyspark: Any = sys.modules["pyspark"]
            os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
        settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
        if here:
            settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
            settings |= _PIECES | {"spark.executorEnv.PYTHONPATH": _own_path()}
        builder = Spark.builder.master(master).appName("reidrisk")
        for name, value in (settings | self.options).items():
            builder = builder.config(name, value)
        try:
            self._spark = builder.getOrCreate()
        except RuntimeError as error:  # no Java
            raise EngineError(f"Spark did not start: {_line(error)}; it needs Java 17 or later") from error
        self._spark.sparkContext.setLogLevel("ERROR")
        return self._spark

    def mapped(self, question: Question, targets: Any) -> Any:
        """Answer each shard on an executor, and merge there: one answer comes back."""
        with self.session() as session:
            context = session.spark.sparkContext
            if isinstance(targets, StoredTokens):
                pieces: list[Any] = list(targets.pieces())
            else:
                pieces = _shipped(context, targets)
            # Not mapInArrow, which wants pandas on every executor.
            return context.parallelize(pieces, len(pieces)).map(_asking(question)).treeReduce(_merging(question))


class SparkSession:
    """Statements in one Spark session."""

    def __init__(self, spark: Any) -> None:
        self.spark = spark
        self._kept: dict[str, Any] = {}

    def put(self, name: str, columns: Columns) -> None:
        """Make a relation of arrays."""
        import pyarrow as pa

        self.name(name, self.spark.createDataFrame(pa.table(columns)))

    def name(self, name: str, frame: Any) -> None:
        """Give a frame a name."""
        frame.createOrReplaceTempView(name)

    def keep(self, name: str, statement: str) -> None:
        """Run a statement, and keep what it gives under a name; what is lost with an executor is computed again."""
        frame = self.spark.sql(statement).persist()
        self.name(name, frame)
        frame.count()
        self._kept[name] = frame

    def view(self, name: str, statement: str) -> None:
        """Give a statement a name, and run it whenever the name is used."""
        self.name(name, self.spark.sql(statement))

    def drop(self, name: str) -> None:
        """Forget what was kept."""
        self._kept.pop(name).unpersist()

    def fetch(self, statement: str) -> Columns:
        """Run a statement, and return its columns as arrays."""
        found = self.spark.sql(statement).toArrow()
        return {name: found[name].to_numpy() for name in found.column_names}

    def share(self, column: str, of: int) -> str:
        """Return the condition that chooses one in ``of`` by what a column holds."""
        return f"pmod(xxhash64({column}), {of}) = 0"

    def columns(self, name: str) -> dict[str, str]:
        """Return the columns of a table, and the type of each."""
        return dict(self.spark.table(name).dtypes)

    def parquet(self, name: str, files: Sequence[str], numbered: bool = False) -> None:
        """Name Parquet files; ``numbered`` adds ``file_name`` and ``file_row``, where each row stands."""
        frame = self.spark.read.parquet(*files)
        if numbered:
            places = ("_metadata.file_path AS file_name", "_metadata.row_index AS file_row")
            frame = frame.selectExpr("*", *places)
        self.name(name, frame)

    def write(self, statement: str, folder: str) -> None:
        """Run a statement, and write what it gives as Parquet files into a folder that is not there yet."""
        self.spark.sql(statement).write.parquet(folder)

    def close(self) -> None:
        """Forget all that was kept; a master that is gone has forgotten already."""
        for name in list(self._kept):
            with suppress(Exception):
                self.drop(name)


def _shipped(context: Any, targets: Any) -> list[bytes]:
    """Return targets that are in memory as packed shards, at least one for each core."""
    from pyspark import cloudpickle

    size = max(1, -(-len(targets) // context.defaultParallelism))
    return [cloudpickle.dumps(shard) for shard in cut(targets, min(size, ROWS))]


def _asking(question: Question) -> Callable[[Any], Any]:
    def work(piece: Any) -> Any:
        import pickle

        return question.answer(pickle.loads(piece) if isinstance(piece, bytes) else piece.shard())

    return work


def _merging(question: Question) -> Callable[[Any, Any], Any]:
    # A question holds a scorer and all queries: executors that merge need only know which verb it was.
    small = question._replace(scorer=None, queries=None)
    return lambda one, two: small.merged([one, two])


def _reachable(master: str) -> None:
    """Refuse a standalone master that does not answer; Spark itself would try for a minute."""
    if not master.startswith("spark://"):
        return
    host, _, port = master.removeprefix("spark://").partition(",")[0].rpartition(":")
    try:
        socket.create_connection((host, int(port)), _PATIENCE).close()
    except ValueError as error:
        raise OptionError(f"--master is a URL such as spark://host:7077, not {master!r}") from error
    except OSError as error:
        raise EngineError(f"the Spark master {master} does not answer ({_line(error)}); is it up?") from error


def _own_path() -> str:
    """Return where executors on this machine find this package."""
    return os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")])


def _line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _told(error: Exception, master: str | None) -> EngineError:
    """Say in one line what went wrong, and what to do about it."""
    said = _line(error)
    gone = ("stopped SparkContext", "Connection refused", "shut down", "unresponsive")
    # What Java itself complains of is a Py4JJavaError; the others are about a Java that does not answer any more.
    mute = type(error).__name__ in ("Py4JError", "Py4JNetworkError")
    if mute or isinstance(error, ConnectionError) or any(part in str(error) for part in gone):
        return EngineError(f"the connection to Spark ({master or 'the active session'}) was lost; run the job again")
    return EngineError(f"Spark could not go on: {said}")
