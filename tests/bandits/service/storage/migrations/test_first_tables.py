"""Migrations lead to the tables of the schema, and to a ledger that nobody rewrites."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from reidrisk.bandits.service import ledger
from reidrisk.bandits.service.storage.database import Database
from reidrisk.bandits.service.storage.schema import metadata
from reidrisk.base.errors import FormatError


@pytest.fixture
def database(tmp_path):
    found = Database(f"sqlite:///{tmp_path / 'sharing.db'}")
    found.upgrade()
    yield found
    found.close()


def test_the_migrations_lead_to_the_schema(database):
    database.upgrade()  # once more changes nothing
    with database.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_a_later_version_is_refused(database):
    with database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(FormatError, match="9999"):
        database.upgrade()


@pytest.mark.parametrize("change", ["UPDATE ledger SET actor = 'x'", "DELETE FROM ledger"])
def test_the_database_refuses_changes_of_the_ledger(database, change):
    with database.writing() as connection:
        ledger.append(connection, "a", "shared", revision=1)
    with pytest.raises(DBAPIError, match="append-only"), database.writing() as connection:
        connection.execute(text(change))


def test_the_chain_shows_a_change_behind_the_back_of_the_database(database):
    for revision in range(4):
        with database.writing() as connection:
            ledger.append(connection, "a", "shared", revision=revision)
    with database.reading() as connection:
        assert ledger.first_broken(connection) is None
        assert [entry["detail"]["revision"] for entry in ledger.entries(connection, after=1, limit=2)] == [1, 2]
    with database.writing() as connection:
        connection.execute(text("DROP TRIGGER ledger_no_UPDATE"))
        connection.execute(text("UPDATE ledger SET actor = 'b' WHERE id = 3"))
    with database.reading() as connection:
        assert ledger.first_broken(connection) == 3
