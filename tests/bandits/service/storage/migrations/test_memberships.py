"""A database of the version before: who is in a batch is kept, and whose past is not known stays where they are."""

from importlib import import_module

import pytest
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from reidrisk.bandits.service.aggregates.isolation import exclusive, returning
from reidrisk.bandits.service.storage.database import Database

RECORD = (
    "INSERT INTO records (agent, revision, shared_at, withdrawals, batch, ever_published) VALUES (:a, 1, 0, 0, :b, :e)"
)


@pytest.mark.parametrize("dissolved", [False, True])
def test_former_members_whose_batch_is_not_known_do_not_return(tmp_path, dissolved):
    database = Database(f"sqlite:///{tmp_path / 'sharing.db'}")
    with database.writing() as connection:
        with Operations.context(MigrationContext.configure(connection)):
            import_module("reidrisk.bandits.service.storage.migrations.m0001_first_tables").upgrade()
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('0001')"))
        ended = "1" if dissolved else "NULL"
        connection.execute(text(f"INSERT INTO batches VALUES (7, 5, 0, NULL), (6, 5, 0, {ended})"))
        for agent, batch, ever in [*((a, 7, True) for a in "abcde"), ("left", None, True), ("new", None, False)]:
            connection.execute(text(RECORD), {"a": agent, "b": batch, "e": ever})
    database.upgrade()
    with database.reading() as connection:
        history = {}
        for batch, agent in connection.execute(text("SELECT batch, agent FROM memberships ORDER BY batch")):
            history.setdefault(batch, set()).add(agent)
    database.close()
    assert history[7] == set("abcde")
    assert not any("new" in found for found in history.values())
    assert exclusive(history)[7] == (set() if dissolved else set("abcde"))
    assert returning(["left", *"abcde"], history, 3) == ([] if dissolved else ["a", "b"])
    first = {agent: min(batch for batch, found in history.items() if agent in found) for agent in "abcde"}
    assert (min(first.values()) < 0) == dissolved, "updates of whoever may have been in another batch are not counted"
