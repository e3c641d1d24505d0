"""Limits per agent: requests per minute, and different metadata per day, which is what an adversary's guises are."""

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable

from sqlalchemy import Connection, delete, func, insert, select

from reidrisk.bandits.service.ledger import append
from reidrisk.bandits.service.members import DAY
from reidrisk.bandits.service.refusals import Refusal
from reidrisk.bandits.service.storage.schema import packed, settings, usage
from reidrisk.base.arrays import Floats

_PEPPER = "pepper"
_MOST_KEPT = 100_000  # agents whose recent requests are kept in memory


class RequestLimit:
    """At most ``most`` requests per minute and name, as a bucket that fills evenly; 0 is no limit.

    >>> now = [0.0]
    >>> limit = RequestLimit(2, lambda: now[0])
    >>> [limit.wait("a") for _ in range(3)]
    [0.0, 0.0, 30.0]
    >>> now[0] = 30.0
    >>> limit.wait("a")
    0.0
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self._clock = most, clock
        self._left: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def wait(self, name: str) -> float:
        """Count a request; return 0, or the seconds to wait where it is one too many."""
        if not self.most:
            return 0.0
        with self._lock:
            now = self._clock()
            left, at = self._left.get(name, (float(self.most), now))
            left = min(float(self.most), left + (now - at) * self.most / 60.0)
            if len(self._left) > _MOST_KEPT:  # who made no request for a minute has a full bucket anyway
                self._left = {who: seen for who, seen in self._left.items() if now - seen[1] < 60.0}
            self._left[name] = (left - 1.0 if left >= 1.0 else left, now)
            return 0.0 if left >= 1.0 else (1.0 - left) * 60.0 / self.most

    def check(self, name: str) -> None:
        """Count a request, or refuse it."""
        wait = self.wait(name)
        if wait > 0.0:
            raise Refusal(429, "too-many-requests", f"at most {self.most} requests per minute are allowed", wait)


class ProfileLimit:
    """At most ``most`` different profiles per agent and day; they are kept as keyed digests, in the database."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._seen: set[tuple[str, int, str]] = set()

    def is_known(self, agent: str, digest: str) -> bool:
        """Return whether this profile needs no further look: it was counted today, or nothing is counted."""
        return not self.most or (agent, _today(), digest) in self._seen

    def count(self, connection: Connection, agent: str, digest: str) -> None:
        """Count a profile in the database, or refuse it."""
        today = _today()
        connection.execute(delete(usage).where(usage.c.day < today, usage.c.what.startswith("profile ")))
        mine = (usage.c.agent == agent, usage.c.day == today, usage.c.what.startswith("profile "))
        what = f"profile {digest}"
        if not connection.execute(select(usage.c.what).where(*mine, usage.c.what == what)).scalar():
            made = connection.execute(select(func.count()).select_from(usage).where(*mine)).scalar() or 0
            if made >= self.most:
                wait = (today + 1) * DAY - time.time()
                detail = f"at most {self.most} different profiles per day are allowed; keep to one, or try tomorrow"
                raise Refusal(429, "profiles-spent", detail, wait)
            connection.execute(insert(usage).values(agent=agent, day=today, what=what))
            append(connection, agent, "profile-asked", today=made + 1)
        self._seen = {one for one in self._seen if one[1] == today} if len(self._seen) > _MOST_KEPT else self._seen
        self._seen.add((agent, today, digest))


def pepper(connection: Connection) -> bytes:
    """Return the key of the profiles' digests, which is drawn once: short profiles could be guessed from plain ones."""
    found = connection.execute(select(settings.c.value).where(settings.c.name == _PEPPER)).scalar()
    if found is None:
        found = secrets.token_hex(32)
        connection.execute(insert(settings).values(name=_PEPPER, value=found))
    return bytes.fromhex(found)


def profile_digest(key: bytes, profile: Floats) -> str:
    """Return the keyed digest of a profile."""
    return hmac.new(key, packed(profile), hashlib.sha256).hexdigest()[:48]


def _today() -> int:
    return int(time.time() // DAY)
