"""What agents and the administrator write, each in one transaction: register, rotate, revoke, share, withdraw."""

import time
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, func, insert, select, update

from reidrisk.bandits.service import credentials
from reidrisk.bandits.service.ledger import ADMINISTRATOR, append
from reidrisk.bandits.service.refusals import Refusal
from reidrisk.bandits.service.storage.schema import agents, codes, packed, records, settings, usage
from reidrisk.bandits.transitions import checked_profiles, checked_records
from reidrisk.base import DataError, Floats

DAY = 86_400

MOST_CODES = 1_000  # enrolment codes issued in one request

_SHAPE = "shape"  # of everybody's records, once somebody has shared one


def issue_codes(connection: Connection, count: int, hours: float) -> list[str]:
    """Issue enrolment codes, each good for one agent; they are shown now and kept as digests."""
    now, shown = time.time(), []
    for _ in range(count):
        code, kept = credentials.new_code()
        connection.execute(insert(codes).values(digest=kept, issued_at=now, expires_at=now + 3600 * hours))
        shown.append(code)
    append(connection, ADMINISTRATOR, "codes-issued", count=count, hours=hours)
    return shown


def register(connection: Connection, code: str) -> tuple[str, str]:
    """Register an agent by its code; return its id and its token, which is not kept."""
    now, kept = time.time(), credentials.digest(code)
    found = connection.execute(select(codes).where(codes.c.digest == kept)).one_or_none()
    if found is None or found.expires_at < now:
        raise Refusal(403, "code-unknown", "this enrolment code is unknown or has expired; ask for another one")
    if found.used_at is not None:
        raise Refusal(409, "code-used", "this enrolment code was used before; ask for another one")
    agent = credentials.new_agent()
    token, digest = credentials.new_token(agent)
    connection.execute(insert(agents).values(id=agent, digest=digest, enrolled_at=now))
    connection.execute(update(codes).where(codes.c.digest == kept).values(used_at=now, agent=agent))
    append(connection, agent, "registered")
    return agent, token


def authenticated(connection: Connection, token: str) -> str:
    """Return the agent whose token this is, or refuse; unknown agents take as long as wrong secrets."""
    agent, secret = credentials.parts(token)
    found = connection.execute(select(agents).where(agents.c.id == agent)).one_or_none()
    known = credentials.matches(secret, None if found is None else found.digest)
    if not known or found is None or found.revoked_at is not None:
        raise Refusal(401, "token-wrong", "this token is unknown, rotated or revoked; register anew")
    return agent


def rotate(connection: Connection, agent: str) -> str:
    """Give an agent another token; the old one is worth nothing from now on."""
    token, digest = credentials.new_token(agent)
    connection.execute(update(agents).where(agents.c.id == agent).values(digest=digest, rotated_at=time.time()))
    append(connection, agent, "token-rotated")
    return token


def revoke(connection: Connection, agent: str, actor: str) -> None:
    """End the token of an agent; its record stays until it is withdrawn."""
    found = connection.execute(select(agents.c.revoked_at).where(agents.c.id == agent)).one_or_none()
    if found is None:
        raise Refusal(404, "agent-unknown", f"there is no agent {agent}")
    if found.revoked_at is None:
        connection.execute(update(agents).where(agents.c.id == agent).values(revoked_at=time.time()))
        append(connection, actor, "token-revoked", agent=agent)


def share(connection: Connection, agent: str, matrix: Any, profile: Any, most_per_day: int = 0) -> int:
    """Share or update the record of an agent; return its revision. What does not fit is refused."""
    record, numbers = _checked(connection, matrix, profile)
    now = time.time()
    found = connection.execute(select(records).where(records.c.agent == agent)).one_or_none()
    revision = 1 if found is None else found.revision + 1
    if most_per_day:
        _count_update(connection, agent, revision, now, most_per_day)
    values = {"revision": revision, "shared_at": now, "matrix": packed(record), "profile": packed(numbers)}
    if found is None:
        connection.execute(insert(records).values(agent=agent, **values))
    else:
        connection.execute(update(records).where(records.c.agent == agent).values(withdrawn_at=None, **values))
    append(connection, agent, "shared" if revision == 1 else "updated", revision=revision)
    return int(revision)


def withdraw(connection: Connection, agent: str, actor: str) -> None:
    """Delete the record of an agent now; the next rebuild dissolves the batch that it was part of."""
    found = connection.execute(select(records).where(records.c.agent == agent)).one_or_none()
    if found is None or found.matrix is None:
        raise Refusal(404, "record-unknown", "this agent shares no record")
    gone = dict.fromkeys(
        ("matrix", "profile", "batch", "published_revision", "published_matrix", "published_profile"), None
    )
    times = {"withdrawn_at": time.time(), "withdrawals": found.withdrawals + 1}
    connection.execute(update(records).where(records.c.agent == agent).values(**times, **gone))
    append(connection, actor, "withdrawn", agent=agent)


def shape_of(connection: Connection) -> tuple[int, int] | None:
    """Return the number of states and of profile numbers that every record has, once somebody has shared one."""
    text = connection.execute(select(settings.c.value).where(settings.c.name == _SHAPE)).scalar()
    if text is None:
        return None
    states, numbers = text.split(",")
    return int(states), int(numbers)


def fix_shape(connection: Connection, states: int, numbers: int) -> None:
    """Fix the shape that every record must have from now on."""
    connection.execute(insert(settings).values(name=_SHAPE, value=f"{states},{numbers}"))


def checked_profile(profile: Any, numbers: int | None) -> Floats:
    """Return metadata as numbers, or refuse them."""
    try:
        found: Floats = checked_profiles([profile], 1)[0]
    except (DataError, ValueError, TypeError) as error:
        raise Refusal(422, "profile-wrong", _sentence(error)) from error
    if numbers is not None and len(found) != numbers:
        raise Refusal(422, "profile-wrong", f"the profile has {len(found)} numbers; here it must have {numbers}")
    return found


def _checked(connection: Connection, matrix: Any, profile: Any) -> tuple[Floats, Floats]:
    shape = shape_of(connection)
    numbers = checked_profile(profile, None if shape is None else shape[1])
    try:
        record = checked_records(np.asarray([matrix], dtype=np.float64))[0]
    except (DataError, ValueError, TypeError) as error:
        raise Refusal(422, "matrix-wrong", _sentence(error)) from error
    if shape is None:
        fix_shape(connection, len(record), len(numbers))
    elif len(record) != shape[0]:
        raise Refusal(422, "matrix-wrong", f"the matrix has {len(record)} states; here it must have {shape[0]}")
    return record, numbers


def _sentence(error: Exception) -> str:
    """Return what is wrong; the checks count users, and here is only one."""
    ragged = "every row must have the same number of cells"
    return str(error).replace(" of user 0", "") if isinstance(error, DataError) else ragged


def _count_update(connection: Connection, agent: str, revision: int, now: float, most: int) -> None:
    today = int(now // DAY)
    kept = (usage.c.agent == agent, usage.c.what.startswith("update "))
    connection.execute(delete(usage).where(*kept, usage.c.day < today))
    made = connection.execute(select(func.count()).select_from(usage).where(*kept, usage.c.day == today)).scalar() or 0
    if made >= most:
        raise Refusal(
            429, "updates-spent", f"{most} updates per day are allowed; try tomorrow", (today + 1) * DAY - now
        )
    connection.execute(insert(usage).values(agent=agent, day=today, what=f"update {revision}"))
