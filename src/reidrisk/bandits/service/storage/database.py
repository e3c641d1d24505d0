"""The database: opened, brought up to date, read and written in transactions that survive a crash once acknowledged.

SQLite writes ahead with ``synchronous=FULL``: a commit that returned is on the disk. PostgreSQL does so by its own
default. Writers follow one another on both, so that checks made in a transaction still hold when it commits.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError

from reidrisk.bandits.service.storage.schema import metadata
from reidrisk.base.errors import DataError, FormatError, OptionError

_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x7265_6964  # by this number writers of one PostgreSQL database know each other, and by the next services do
_PATIENCE = 10  # seconds that a writer waits for another


class Database:
    """A database of the service: ``reading()`` and ``writing()`` give a connection inside a transaction.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     database = Database(f"sqlite:///{folder}/sharing.db")
    ...     database.upgrade()
    ...     with database.reading() as connection:
    ...         print(connection.execute(text("SELECT count(*) FROM agents")).scalar())
    ...     database.close()
    0
    """

    def __init__(self, url: str) -> None:
        self.engine = _engine(url)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        self._writer = threading.Lock()
        self._alone: Connection | None = None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection that sees one state of the database from beginning to end."""
        with self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a connection whose changes are on the disk when the block is left, or none of them are made."""
        with self._writer, self.engine.connect().execution_options(writing=True) as connection, connection.begin():
            if not self.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            yield connection

    def upgrade(self) -> None:
        """Bring the tables up to date; a database of a later version, or of something else, is refused."""
        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS.parent).replace("%", "%%"))
        config.set_main_option("version_locations", str(_MIGRATIONS).replace("%", "%%"))
        config.set_main_option("path_separator", "os")
        script = ScriptDirectory.from_config(config)
        known = {step.revision for step in script.walk_revisions()}
        try:
            with self.writing() as connection:
                self._check_ours(connection, known)
                with EnvironmentContext(config, script) as environment:
                    environment.configure(
                        connection=connection,
                        target_metadata=metadata,
                        fn=lambda revision, _: script._upgrade_revs("head", revision),
                    )
                    environment.run_migrations()
        except DBAPIError as error:
            raise _unusable(self.engine, error) from error

    def _check_ours(self, connection: Connection, known: set[str]) -> None:
        tables = set(inspect(connection).get_table_names())
        if "alembic_version" in tables:
            found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
            if found is not None and found not in known:
                raise FormatError(f"the database is of a later version ({found}); install that version of reidrisk")
        elif tables:
            shown = ", ".join(sorted(tables)[:3])
            raise FormatError(f"the database holds other tables ({shown}); give the service a database of its own")

    def claim(self) -> None:
        """Make sure that no other service uses this database: limits and rebuilds know of one process only."""
        connection = self.engine.connect()
        if self.is_sqlite:
            taken = not _locked(connection, Path(str(self.engine.url.database)))
        else:
            taken = not connection.execute(text("SELECT pg_try_advisory_lock(:lock)"), {"lock": _LOCK + 1}).scalar()
            connection.commit()
        if taken:
            connection.close()
            raise DataError(f"another service runs on {_shown(self.engine)}; stop it, or give another --database")
        self._alone = connection

    def backup(self, path: Path) -> None:
        """Write a copy of a SQLite database as it is now, while the service goes on."""
        if not self.is_sqlite:
            raise OptionError("back PostgreSQL up with pg_dump; this is for SQLite")
        if path.exists():
            raise OptionError(f"{path} exists; give a name that is free")
        try:
            connection = self.engine.raw_connection()  # not in a transaction, which this does by itself
            try:
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
                connection.cursor().execute("VACUUM INTO ?", (str(path),))
            finally:
                connection.close()
        except (sqlite3.Error, DBAPIError) as error:
            path.unlink(missing_ok=True)
            raise FormatError(f"{_shown(self.engine)}: {error}; it is no database of a service, or damaged") from error

    def close(self) -> None:
        """Give everything back."""
        if self._alone is not None:
            lock = self._alone.info.pop("lock", None)
            if lock is not None:
                lock.close()
            self._alone.close()
            self._alone = None
        self.engine.dispose()


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
        if parsed.drivername in ("postgresql", "postgres"):
            parsed = parsed.set(drivername="postgresql+psycopg")
        if parsed.drivername not in ("sqlite", "sqlite+pysqlite", "postgresql+psycopg"):
            raise OptionError(f"--database takes sqlite:///FILE or postgresql://…, not {parsed.drivername}")
        if parsed.drivername.startswith("sqlite"):
            return _sqlite(parsed)
        return create_engine(parsed, pool_size=8, max_overflow=32, pool_pre_ping=True)
    except (ArgumentError, NoSuchModuleError) as error:
        raise OptionError("--database takes a URL such as sqlite:///sharing.db or postgresql://host/name") from error


def _sqlite(url: Any) -> Engine:
    if url.database in (None, "", ":memory:"):
        raise OptionError("--database must name a file, such as sqlite:///sharing.db: what is shared must last")
    if not Path(url.database).absolute().parent.is_dir():
        raise OptionError(f"--database: the folder of {url.database} does not exist; make it first")
    # Records of people are for the eyes of the service alone; what SQLite puts beside the file is permitted alike.
    os.close(os.open(url.database, os.O_RDWR | os.O_CREAT, 0o600))
    engine = create_engine(url, pool_size=8, max_overflow=32, connect_args={"timeout": _PATIENCE})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # the driver must not begin transactions of its own
        for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
            connection.execute(f"PRAGMA {setting}").close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get("writing", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def _locked(connection: Connection, path: Path) -> bool:
    """Lock the file beside the database; the lock ends with the process, however that ends."""
    import fcntl

    file = open(f"{path}.lock", "w")  # noqa: SIM115  (it is held until the service ends)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return False
    connection.info["lock"] = file
    return True


def _shown(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=True)


def _unusable(engine: Engine, error: DBAPIError) -> FormatError:
    reason = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error.orig).__name__
    do = "is the server up, and may this user log in?" if isinstance(error, OperationalError) else "check the database"
    return FormatError(f"{_shown(engine)}: {reason}; {do}")
