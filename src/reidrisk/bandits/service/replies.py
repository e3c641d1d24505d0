"""Idempotent writes: a request that comes again with its key gets the first answer, and changes nothing."""

import hashlib
import json
import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from reidrisk.bandits.service.refusals import Refusal
from reidrisk.bandits.service.storage.schema import replies

_KEPT = 2 * 86_400.0  # seconds for which answers are kept: retries end long before

Reply = tuple[int, dict[str, Any]]


def once(
    connection: Connection, agent: str, key: str | None, request: tuple[str, Any], act: Callable[[], Reply]
) -> Reply:
    """Act in the transaction of ``connection``, or return what was answered to the same request with this key."""
    if key is None:
        return act()
    digest = hashlib.sha256(json.dumps(request).encode()).hexdigest()
    found = connection.execute(select(replies).where(replies.c.agent == agent, replies.c.key == key)).one_or_none()
    if found is not None:
        if found.digest != digest:
            raise Refusal(409, "key-reused", "this idempotency key was used for another request; draw another one")
        return int(found.status), json.loads(found.body)
    status, body = act()
    now = time.time()
    connection.execute(delete(replies).where(replies.c.agent == agent, replies.c.at < now - _KEPT))
    row = {"agent": agent, "key": key, "digest": digest, "status": status, "body": json.dumps(body), "at": now}
    connection.execute(insert(replies).values(row))
    return status, body
