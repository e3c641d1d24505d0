"""The Spark engine: the same joins on a cluster, where the tables already are; shards are scored where they lie.

Shards are scored by a plain function of a column (``udf``) over a frame with one row per shard. ``mapInArrow`` wants
pandas at the driver and brings nothing here: no record passes through the frame, only the names of shards, and answers
of a few bytes per query. RDDs do the same, and not through Spark Connect.
"""

import math
import os
import pickle
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
from reidrisk.search.engines.relational import Columns, Relational, no_space
from reidrisk.search.engines.shards import ROWS, Question, cut
from reidrisk.search.engines.stored import StoredTokens

_PATIENCE = 10.0  # seconds to wait for a master that does not answer
# Pieces that an executor of 1 GB can sort: by default few large ones are made where there are few cores.
_PIECES = {"spark.sql.shuffle.partitions": "64", "spark.sql.adaptive.advisoryPartitionSizeInBytes": "8m"}
_MASTERS = ("local", "yarn", "k8s://")  # what else a master may begin with
_AT_ONCE = 16  # answers of shards that are merged in one place
_CHAIN = 5  # limit: statements in one plan: as text, which Spark always makes of it, it doubles with each
_UNKNOWN_CORES = 8  # shards that are made of targets in memory where a session does not say how many cores it has


class SparkEngine(Relational):
    """Searches on the ``session`` given, or the one that is active, or one of its own at ``master``.

    A session may be one of Spark Connect (``master="sc://host:15002"`` opens one); default: one on all cores here.
    Nothing comes back but what was asked for: the answers for queries that were handed over, and aggregates. Executors
    need this package where scores of pairs are asked for, since shards are scored by its kernels. An audit writes its
    tables, as whole numbers and without names, to the ``spill`` folder, which this machine and executors must see;
    default: the system's folder for temporary files, which is right on one machine only.
    """

    name = "spark"

    def __init__(
        self,
        master: str | None = None,
        spill: str | Path | None = None,
        progress: Progress | None = None,
        options: dict[str, str] | None = None,
        resume: str | Path | None = None,
        session: Any = None,
    ) -> None:
        if session is not None and master is not None:
            raise OptionError(f"give a session or a master, not both (master={master!r})")
        self.master, self.progress, self.options, self._given = master, progress, options or {}, session
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

        if self._given is not None or self._spark is not None:
            return self._given or self._spark
        active = Spark.getActiveSession()
        if active is not None and self.master is None:
            return active
        master = self.master or "local[*]"
        _reachable(master)
        if master.startswith("sc://"):
            self._spark = _remote(Spark, master)
            return self._spark
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
        """Answer each shard on an executor, and merge there where there are many: a few answers come back."""
        from pyspark import cloudpickle

        with self.session() as session:
            if isinstance(targets, StoredTokens):
                pieces = [cloudpickle.dumps(piece) for piece in targets.pieces()]
            else:
                size = max(1, -(-len(targets) // _cores(session.spark)))
                pieces = [cloudpickle.dumps(shard) for shard in cut(targets, min(size, ROWS))]
            answers = session.asked(pieces, _asking(question), _merging(question))
        return question.merged([pickle.loads(answer) for answer in answers])


class SparkSession:
    """Statements in one Spark session."""

    def __init__(self, spark: Any) -> None:
        self.spark = spark
        self._kept: dict[str, Any] = {}
        self._statements = 0

    def put(self, name: str, columns: Columns) -> None:
        """Make a relation of arrays."""
        import pyarrow as pa

        self.name(name, self.spark.createDataFrame(pa.table(columns)))

    def name(self, name: str, frame: Any) -> None:
        """Give a frame a name."""
        frame.createOrReplaceTempView(name)

    def keep(self, name: str, statement: str) -> None:
        """Run a statement, and keep what it gives under a name; what is lost with an executor is computed again.

        Every few statements the plan is cut: what was made is kept twice instead of how it was made.
        """
        from pyspark import StorageLevel

        frame = self.spark.sql(statement)
        self._statements += 1
        if self._statements % _CHAIN == 0:
            frame = frame.localCheckpoint(storageLevel=StorageLevel.MEMORY_AND_DISK_2)
        else:
            frame.persist().count()
        self.name(name, frame)
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
        frame = self.spark.read.parquet(*map(_place, files))
        if numbered:
            places = ("_metadata.file_path AS file_name", "_metadata.row_index AS file_row")
            frame = frame.selectExpr("*", *places)
        self.name(name, frame)

    def write(self, statement: str, folder: str) -> None:
        """Run a statement, and write what it gives as Parquet files into a folder that is not there yet."""
        self.spark.sql(statement).write.parquet(_place(folder))
        if "://" not in folder and not Path(folder).is_dir():
            raise EngineError(f"{folder} was written by Spark and is not seen here; name a shared folder (--spill)")

    def asked(self, pieces: list[bytes], ask: Callable[[bytes], bytes], merge: Callable[[list[bytes]], bytes]) -> Any:
        """Put a question to each piece on some executor, and return the answers, merged if there are many."""
        from pyspark.sql import functions as f

        frame = self.spark.createDataFrame(list(enumerate(pieces)), "place int, piece binary")
        # One piece for each task: by range, rows do not meet by chance as they do by hash.
        frame = frame.repartitionByRange(len(pieces), "place")
        found = frame.select("place", f.udf(ask, "binary", useArrow=False)("piece").alias("answer"))
        if len(pieces) > _AT_ONCE:
            group = (f.col("place") % math.isqrt(len(pieces))).alias("place")
            found = found.groupBy(group).agg(f.collect_list("answer").alias("answers"))
            found = found.select(f.udf(merge, "binary", useArrow=False)("answers").alias("answer"))
        return [bytes(row.answer) for row in found.select("answer").collect()]

    def close(self) -> None:
        """Forget all that was kept; a master that is gone has forgotten already."""
        for name in list(self._kept):
            with suppress(Exception):
                self.drop(name)


def _place(path: str) -> str:
    """Return where Spark finds what lies here: a bare path would be one of the cluster's own file system."""
    return path if "://" in path else Path(path).absolute().as_uri()


def _cores(spark: Any) -> int:
    """Return how many cores a session has; one of Spark Connect does not say."""
    context = getattr(spark, "sparkContext", None)
    return _UNKNOWN_CORES if context is None else int(context.defaultParallelism)


def _asking(question: Question) -> Callable[[bytes], bytes]:
    def work(packed: bytes) -> bytes:
        piece = pickle.loads(packed)
        return pickle.dumps(question.answer(piece.shard() if hasattr(piece, "shard") else piece))

    return work


def _merging(question: Question) -> Callable[[list[bytes]], bytes]:
    # A question holds a scorer and all queries: executors that merge need only know which verb it was.
    small = question._replace(scorer=None, queries=None)
    return lambda answers: pickle.dumps(small.merged([pickle.loads(answer) for answer in answers]))


def _remote(spark: Any, url: str) -> Any:
    """Open a session of Spark Connect."""
    try:
        return spark.builder.remote(url).getOrCreate()
    except ImportError as error:
        what = f"Spark Connect ({url}) needs more than Spark itself ({_line(error)})"
        raise EngineError(f"{what}; pip install 'pyspark[connect]'") from error


def _reachable(master: str) -> None:
    """Refuse a standalone master that does not answer; Spark itself would try for a minute."""
    kind, _, place = master.partition("://")
    if kind not in ("spark", "sc") or not place:
        if not master.startswith(_MASTERS):
            raise OptionError(f"--master is a URL such as spark://host:7077, yarn or local[4], not {master!r}")
        return
    host, _, port = place.partition(",")[0].partition("/")[0].rpartition(":")
    if kind == "sc" and not host:
        host, port = port, "15002"
    try:
        socket.create_connection((host, int(port)), _PATIENCE).close()
    except (ValueError, OverflowError) as error:
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
    if "No space left" in str(error):
        return no_space("a folder of this machine or of an executor (spark.local.dir)")
    gone = ("stopped SparkContext", "Connection refused", "shut down", "unresponsive")
    # What Java itself complains of is a Py4JJavaError; the others are about a Java that does not answer any more.
    mute = type(error).__name__ in ("Py4JError", "Py4JNetworkError")
    if mute or isinstance(error, ConnectionError) or any(part in str(error) for part in gone):
        return EngineError(f"the connection to Spark ({master or 'the active session'}) was lost; run the job again")
    return EngineError(f"Spark could not go on: {said}")
