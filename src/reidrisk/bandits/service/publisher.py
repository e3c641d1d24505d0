"""Publishing: what was shared becomes what is handed out, off the request path, one whole version at a time.

A rebuild reads one state of the database, works the next version out without holding anything up, and writes it in one
transaction; then one reference is swapped. A reader has the old version or the new one, never parts of both. Where a
rebuild fails or the risk is too high, nothing is handed out until one succeeds: the version before may hold a record
that was withdrawn.
"""

import json
import logging
import threading
import time
import traceback
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from reidrisk.bandits.service.aggregates.batches import Member, RebuildPlan, applied, check, plan
from reidrisk.bandits.service.aggregates.groups import Built, built
from reidrisk.bandits.service.ledger import SERVICE, append
from reidrisk.bandits.service.members import shape_of
from reidrisk.bandits.service.snapshot import EMPTY, FAILED, Snapshot, loaded, snapshot_of, status_by
from reidrisk.bandits.service.spec import ServiceSpec
from reidrisk.bandits.service.storage.database import Database
from reidrisk.bandits.service.storage.schema import (
    batches,
    groups,
    ledger,
    memberships,
    packed,
    records,
    unpacked,
    versions,
)
from reidrisk.bandits.sharing.strategies import PrivateClusters

_LOG = logging.getLogger("reidrisk.bandits.service")
_KEPT = 2  # versions whose matrices are kept


class Publisher:
    """Rebuilds in a thread of its own, at fixed times, whenever something was shared or withdrawn."""

    def __init__(self, database: Database, spec: ServiceSpec) -> None:
        self.database, self.spec = database, spec
        self.snapshot = Snapshot(0, EMPTY, 0.0)
        self.rebuilding = False
        self.seconds = 0.0  # that the last rebuild took
        self._seen: int | None = None  # the newest entry of the ledger that led to no change
        self._due = threading.Event()
        self._stop = threading.Event()
        self._one = threading.Lock()
        self._next = time.time() + spec.rebuild_every
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Load what was published last, and begin to rebuild; a rebuild that a crash interrupted comes first."""
        with self.database.reading() as connection:
            self.snapshot = loaded(connection, self.spec)
        self._thread = threading.Thread(target=self._run, name="rebuild", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End after the rebuild that may be going on."""
        self._stop.set()
        self._due.set()
        if self._thread is not None:
            self._thread.join(timeout=60.0)

    def next_rebuild(self) -> float:
        """Return when the next rebuild begins."""
        return self._next

    def _run(self) -> None:
        while not self._stop.is_set():
            self._due.wait(max(0.0, self._next - time.time()))
            if self._stop.is_set():
                return
            self._due.clear()
            self._next = time.time() + self.spec.rebuild_every
            self.rebuild()

    def hurry(self) -> None:
        """Rebuild now."""
        self._due.set()

    def rebuild(self) -> Snapshot:
        """Rebuild what is handed out, if anything changed; return what is handed out then."""
        with self._one:
            began, self.rebuilding = time.monotonic(), True
            try:
                self.snapshot = self._rebuilt()
            except Exception as error:  # whatever it is, what is handed out now may hold what was withdrawn
                # Not its text, which may quote a cell of somebody's record.
                where = traceback.extract_tb(error.__traceback__)[-1]
                what = (type(error).__name__, where.filename, where.lineno)
                _LOG.error("a rebuild failed (%s in %s, line %s); nothing is handed out", *what)
                self.snapshot = Snapshot(self.snapshot.version, FAILED, time.time())
            finally:
                self.rebuilding, self.seconds = False, time.monotonic() - began
            return self.snapshot

    def _rebuilt(self) -> Snapshot:
        with self.database.reading() as connection:
            newest = connection.execute(select(func.max(ledger.c.id))).scalar()
            if newest == self._seen and self.snapshot.status != FAILED:
                return self.snapshot  # nobody did anything since
            members, sizes, history = standing(connection)
            highest = connection.execute(select(func.max(batches.c.id))).scalar() or 0
            last = loaded(connection, self.spec)
            spent = connection.execute(select(func.count()).select_from(versions).where(versions.c.draws > 0)).scalar()
        made = plan(members, sizes, history, self.spec.minimum_group, self.spec.batch_size)
        if not made.changes and last.status != FAILED:
            self._seen = newest
            return last
        after, numbers = applied(members, made, highest)
        new = dict(zip(numbers, made.formed, strict=True))
        history |= {number: {after[i].agent for i in batch} for number, batch in new.items()}
        ongoing = {batch: size for batch, size in sizes.items() if batch not in made.dissolved}
        ongoing |= {number: len(batch) for number, batch in new.items()}
        check(members, after, ongoing, history, self.spec.minimum_group)
        private = isinstance(self.spec.steps()[0], PrivateClusters)
        may_draw = not private or (spent or 0) < self.spec.publications
        inside = [member for member in after if member.batch is not None]
        found = built(inside, self.spec, {group.key: group.matrix for group in last.groups}, may_draw)
        status = status_by(self.spec.max_risk, found.groups, found.risk)
        with self.database.writing() as connection:
            if not _still(connection, members):  # somebody withdrew meanwhile: the next rebuild leaves them out
                self._due.set()
                return last if self.snapshot.status == EMPTY else self.snapshot
            return self._written(connection, made, after, numbers, found, status)

    def _written(
        self,
        connection: Connection,
        made: RebuildPlan,
        after: Sequence[Member],
        numbers: Sequence[int],
        found: Built,
        status: str,
    ) -> Snapshot:
        """Write batches, members and groups of a version in one transaction."""
        now = time.time()
        for number, batch in zip(numbers, made.formed, strict=True):
            connection.execute(insert(batches).values(id=number, size=len(batch), made_at=now))
            rows = [{"batch": number, "agent": after[i].agent} for i in batch]
            connection.execute(insert(memberships), rows)
        connection.execute(update(batches).where(batches.c.id.in_(made.dissolved)).values(dissolved_at=now))
        touched = {i for batch in made.formed for i in batch} | set(made.updated)
        left = [i for i, m in enumerate(after) if m.batch is None and m.first_batch is not None]
        for i in sorted(touched | set(left)):
            connection.execute(update(records).where(records.c.agent == after[i].agent).values(_row(after[i])))
        row = {
            "built_at": now,
            "status": status,
            "strategy": self.spec.strategy,
            "members": sum(group.size for group in found.groups),
            "changed": len(touched) + len(made.dissolved),
            "draws": found.draws,
            "risk": json.dumps(found.risk),
        }
        version = int(connection.execute(insert(versions).values(row)).inserted_primary_key[0])  # type: ignore[index]
        for number, group in enumerate(found.groups):
            values = {"key": group.key, "size": group.size, "centre": packed(group.centre)}
            told = {"matrix": packed(group.matrix), "members": json.dumps(group.members)}
            connection.execute(insert(groups).values(version=version, number=number, **values, **told))
        connection.execute(delete(groups).where(groups.c.version <= version - _KEPT))
        append(connection, SERVICE, f"version-{status}", version=version, groups=len(found.groups))
        return snapshot_of(version, status, now, found.groups, found.risk, self.spec)


def standing(connection: Connection) -> tuple[list[Member], dict[int, int], dict[int, set[str]]]:
    """Return every member who shares a record, the size of each batch that goes on, and who was in any batch ever."""
    shape = shape_of(connection)
    if shape is None:
        return [], {}, {}
    d, p = shape
    history: dict[int, set[str]] = {}
    first: dict[str, int] = {}
    for row in connection.execute(select(memberships).order_by(memberships.c.batch)):
        history.setdefault(row.batch, set()).add(row.agent)
        first.setdefault(row.agent, row.batch)
    found = connection.execute(select(records).where(records.c.matrix.is_not(None)).order_by(records.c.agent))
    members = [
        Member(
            agent=row.agent,
            revision=row.revision,
            matrix=unpacked(row.matrix, d),
            profile=unpacked(row.profile, p)[0],
            batch=row.batch,
            published_revision=row.published_revision,
            published_matrix=None if row.published_matrix is None else unpacked(row.published_matrix, d),
            published_profile=None if row.published_profile is None else unpacked(row.published_profile, p)[0],
            first_batch=first.get(row.agent),
            withdrawals=row.withdrawals,
        )
        for row in found
    ]
    rows = connection.execute(select(batches.c.id, batches.c.size).where(batches.c.dissolved_at.is_(None)))
    return members, {row.id: row.size for row in rows}, history


def _row(member: Member) -> dict[str, Any]:
    gone = member.batch is None
    return {
        "batch": member.batch,
        "published_revision": None if gone else member.published_revision,
        "published_matrix": None if gone or member.published_matrix is None else packed(member.published_matrix),
        "published_profile": None if gone or member.published_profile is None else packed(member.published_profile),
    }


def _still(connection: Connection, members: Sequence[Member]) -> bool:
    """Return whether nobody whom a rebuild counted on has withdrawn since, not even to share again."""
    rows = connection.execute(select(records.c.agent, records.c.withdrawals).where(records.c.matrix.is_not(None)))
    there = {row.agent: row.withdrawals for row in rows}
    return all(there.get(member.agent) == member.withdrawals for member in members)
