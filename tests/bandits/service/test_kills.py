"""A service that is killed in mid-write loses no acknowledged write, whatever the database."""

import threading
import time

import numpy as np
import processes
import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

from reidrisk.bandits import Client, ServiceError
from reidrisk.bandits.service import ledger
from reidrisk.bandits.service.storage.database import Database
from reidrisk.bandits.service.storage.schema import groups, records, unpacked, versions
from reidrisk.base.errors import DataError

WRITERS = 4
OPTIONS = {"strategy": "microaggregation:3", "minimum_group": 3, "requests_per_minute": 0, "updates_per_day": 0}
OFTEN, NEVER = 0.2, 1e6  # seconds between rebuilds: a rebuild loads compiled kernels, so a few kills do without


class Writer(threading.Thread):
    """Shares a record again and again, each with a number in it, and notes which were acknowledged."""

    def __init__(self, url, token, sent=0, acknowledged=0):
        super().__init__()
        self.client = Client(url, token, tries=1, timeout=5.0)
        self.sent, self.acknowledged, self.trouble = sent, acknowledged, None
        self.revision = self.done = 0
        self.go_on = True

    def run(self):
        while self.go_on:
            self.sent += 1
            share = self.sent / 1e6
            try:
                told = self.client.share([[share, 1.0 - share], [0.5, 0.5]], [float(self.sent % 3)])
            except ServiceError as error:
                self.trouble = error
                return
            self.acknowledged, self.revision = self.sent, told["revision"]
            self.done += 1


def kill_again_and_again(url, folder, kills, seed, crash=None, rebuild_every=NEVER):
    options = OPTIONS | {"rebuild_every": rebuild_every}
    lots = np.random.default_rng(seed)
    service = processes.Running(url, folder, **options)
    admin = Client(service.url, service.administrator)
    codes = admin.call("POST", "/admin/codes", {"count": WRITERS})["codes"]
    tokens = []
    for code in codes:
        client = Client(service.url)
        tokens.append(client.join(code))
        client.close()
    writers = [Writer(service.url, token) for token in tokens]
    for number in range(kills):
        for writer in writers:
            writer.start()
        work_for(writers, int(lots.integers(1, 12)))
        time.sleep(lots.uniform(0.0, 0.05))
        service.kill()
        for writer in writers:
            writer.go_on = False
            writer.join(30)
            assert writer.trouble is None or writer.trouble.code == "unreachable", writer.trouble
        if crash is not None and number % 10 == 4:
            crash()
        check(url, tokens, writers)
        service = processes.Running(url, folder, **options)
        writers = [Writer(service.url, t, w.sent, w.acknowledged) for t, w in zip(tokens, writers, strict=True)]
    assert service.stop() == 0, service.said()
    assert service.said() == ""


def work_for(writers, writes):
    """Wait until this many writes were acknowledged since the start; then the next ones are on their way."""
    ends = time.monotonic() + 60.0
    while sum(writer.done for writer in writers) < writes:
        assert time.monotonic() < ends, "the writers do not get on"
        time.sleep(0.002)


def check(url, tokens, writers):
    database = Database(url)
    with database.reading() as connection:
        rows = {row.agent: row for row in connection.execute(select(records))}
        for token, writer in zip(tokens, writers, strict=True):
            if not writer.acknowledged:
                continue
            row = rows[token.split("_")[1]]
            kept = round(unpacked(row.matrix, 2)[0, 0] * 1e6)
            assert writer.acknowledged <= kept <= writer.sent
            assert row.revision >= writer.revision
        assert ledger.first_broken(connection) is None
        for version in connection.execute(select(versions).order_by(versions.c.id.desc()).limit(1)):
            sizes = connection.execute(select(groups.c.size).where(groups.c.version == version.id)).scalars().all()
            assert sum(sizes) == version.members
            assert all(size >= OPTIONS["minimum_group"] for size in sizes)
        if database.is_sqlite:
            assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"
    database.close()


def on_postgres(tmp_path, kills, crash=False):
    if processes.programs() is None:
        pytest.skip("PostgreSQL is not installed (initdb is in no known place)")
    with processes.postgres() as (url, crashed):
        often = {"crash": crashed, "rebuild_every": OFTEN} if crash else {}
        kill_again_and_again(url, tmp_path, kills, seed=2, **often)
        database, second = Database(url), Database(url)
        database.claim()
        with pytest.raises(DataError, match="another service"):
            second.claim()
        for change in ("UPDATE ledger SET actor = 'x'", "DELETE FROM ledger", "TRUNCATE ledger"):
            with pytest.raises(DBAPIError, match="append-only"), database.writing() as connection:
                connection.execute(text(change))
        database.close()
        second.close()


def test_three_kills_on_sqlite(tmp_path):
    kill_again_and_again(f"sqlite:///{tmp_path / 'sharing.db'}", tmp_path, 3, seed=1)


def test_three_kills_on_postgres(tmp_path):
    on_postgres(tmp_path, 3)


@pytest.mark.stress
def test_many_kills_on_sqlite(tmp_path):
    kill_again_and_again(f"sqlite:///{tmp_path / 'sharing.db'}", tmp_path, 30, seed=3, rebuild_every=OFTEN)


@pytest.mark.stress
def test_many_kills_on_postgres(tmp_path):
    on_postgres(tmp_path, 30, crash=True)
