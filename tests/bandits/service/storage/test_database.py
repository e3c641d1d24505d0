"""The database: its doors, its settings, one service at a time, backup and restore."""

import pytest
from sqlalchemy import text

from reidrisk.bandits.service.storage.database import Database
from reidrisk.base.errors import DataError, FormatError, OptionError


@pytest.fixture
def database(tmp_path):
    found = Database(f"sqlite:///{tmp_path / 'sharing.db'}")
    found.upgrade()
    yield found
    found.close()


@pytest.mark.parametrize("url", ["nonsense", "mysql://host/name", "sqlite://", "sqlite:///no/such/folder/x.db"])
def test_other_urls_are_refused(url):
    with pytest.raises(OptionError):
        Database(url)


def test_a_commit_is_on_the_disk(database):
    with database.reading() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2  # FULL


def test_what_fails_half_way_leaves_nothing(database):
    def write():
        with database.writing() as connection:
            connection.execute(text("INSERT INTO settings VALUES ('a', 'b')"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write()
    with database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM settings")).scalar() == 0


def test_a_reader_sees_one_state(database):
    with database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM settings")).scalar() == 0
        with database.writing() as other:
            other.execute(text("INSERT INTO settings VALUES ('a', 'b')"))
        assert connection.execute(text("SELECT count(*) FROM settings")).scalar() == 0


def test_a_second_service_is_refused(database):
    database.claim()
    other = Database(str(database.engine.url))
    with pytest.raises(DataError, match="another service"):
        other.claim()
    database.close()
    other.claim()
    other.close()


def test_tables_of_something_else_are_refused(tmp_path):
    other = Database(f"sqlite:///{tmp_path / 'other.db'}")
    with other.writing() as connection:
        connection.execute(text("CREATE TABLE customers (id INTEGER)"))
    with pytest.raises(FormatError, match="customers"):
        other.upgrade()
    other.close()


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "x.db").write_text("no database, whatever its name says" * 50)
    other = Database(f"sqlite:///{tmp_path / 'x.db'}")
    with pytest.raises(FormatError, match=r"x\.db"):
        other.upgrade()
    other.close()


def test_a_backup_is_a_database_of_its_own(database, tmp_path):
    with database.writing() as connection:
        connection.execute(text("INSERT INTO settings VALUES ('a', 'b')"))
    database.backup(tmp_path / "copy.db")
    with database.writing() as connection:
        connection.execute(text("INSERT INTO settings VALUES ('c', 'd')"))
    copy = Database(f"sqlite:///{tmp_path / 'copy.db'}")
    copy.upgrade()
    with copy.reading() as connection:
        assert connection.execute(text("SELECT name FROM settings")).scalars().all() == ["a"]
    copy.close()
    with pytest.raises(OptionError, match="exists"):
        database.backup(tmp_path / "copy.db")
