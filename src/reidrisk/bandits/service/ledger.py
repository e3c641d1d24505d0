"""The audit log: who did what and when, append-only, each entry sealed with the one before it.

The database refuses changes to the table (triggers), and the chain of digests shows those made by somebody who can
switch triggers off: digest = SHA-256(digest before, time, actor, action, detail). It does not show that the newest
entries were cut off; compare the last digest with one that was noted elsewhere.
"""

import hashlib
import json
import time
from typing import Any

from sqlalchemy import Connection, insert, select

from reidrisk.bandits.service.storage.schema import ledger

START = "0" * 64  # what stands in the place of a digest before the first entry

ADMINISTRATOR, SERVICE = "administrator", "service"


def append(connection: Connection, actor: str, action: str, **detail: Any) -> None:
    """Write an entry in the transaction of what it tells; it must hold no secret, no matrix and no profile."""
    before = connection.execute(select(ledger.c.digest).order_by(ledger.c.id.desc()).limit(1)).scalar() or START
    at, told = time.time(), json.dumps(detail, sort_keys=True)
    sealed = _digest(before, at, actor, action, told)
    row = {"at": at, "actor": actor, "action": action, "detail": told, "before": before, "digest": sealed}
    connection.execute(insert(ledger).values(row))


def entries(connection: Connection, after: int = 0, limit: int = 100) -> list[dict[str, Any]]:
    """Return entries, oldest first."""
    rows = connection.execute(select(ledger).where(ledger.c.id > after).order_by(ledger.c.id).limit(limit))
    return [{**row, "detail": json.loads(row["detail"])} for row in map(dict, rows.mappings())]


def first_broken(connection: Connection) -> int | None:
    """Return the number of the first entry that does not follow from the one before it, or None."""
    before = START
    for row in connection.execute(select(ledger).order_by(ledger.c.id)):
        if row.before != before or row.digest != _digest(before, row.at, row.actor, row.action, row.detail):
            return int(row.id)
        before = row.digest
    return None


def _digest(before: str, at: float, actor: str, action: str, detail: str) -> str:
    return hashlib.sha256(json.dumps([before, repr(at), actor, action, detail]).encode()).hexdigest()
