"""The agent's side of the sharing service: join, share, fetch; with time-outs, retries and writes that happen once.

It needs nothing beyond the standard library and NumPy, so that an agent can be small.
"""

import http.client
import json
import secrets
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from reidrisk.base import ArrayLike, Floats, OptionError, ReidRiskError

_LARGEST = 64_000_000  # bytes of an answer that are read
_AGAIN = (429, 502, 503, 504)  # statuses after which another try may succeed


class ServiceError(ReidRiskError):
    """What the service refused: ``status``, ``code`` for programs, and one sentence."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status, self.code = status, code


@dataclass(frozen=True, eq=False)
class Fitted:
    """A matrix that fits some metadata, of a version of what the service hands out."""

    matrix: Floats  # (d, d)
    version: int
    strategy: str
    members_at_least: int


class Client:
    """An agent's connection to a sharing service; not to be shared by threads.

    Without a ``token``, :meth:`join` gets one; keep it, since it is shown once. A request that finds nobody, or a
    service that is busy, is tried again up to ``tries`` times within ``patience`` seconds, after pauses that double.
    Writes carry an idempotency key, so that a try whose answer was lost is not counted twice.

    >>> Client("ftp://example.org")
    Traceback (most recent call last):
    reidrisk.base.errors.OptionError: url must begin with http:// or https://, not 'ftp://example.org'
    """

    def __init__(
        self, url: str, token: str | None = None, timeout: float = 10.0, tries: int = 5, patience: float = 30.0
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise OptionError(f"url must begin with http:// or https://, not {url!r}")
        self.token, self._parts, self._timeout = token, parts, timeout
        self._tries, self._patience = tries, patience
        self._connection: http.client.HTTPConnection | None = None
        self._sleep: Callable[[float], None] = time.sleep

    def __repr__(self) -> str:
        return f"Client({self._parts.scheme}://{self._parts.netloc.rpartition('@')[2]})"  # no token, no password

    @property
    def agent(self) -> str:
        """The id by which the service knows this agent."""
        parts = (self.token or "").split("_", 2)
        if len(parts) != 3:
            raise OptionError("this client has no token; join with an enrolment code first")
        return parts[1]

    def join(self, code: str) -> str:
        """Register with an enrolment code; return the token, which is shown this once."""
        # Not tried again once it was sent: a code is good once, and the token would be lost.
        found = self.call("POST", "/v1/agents", {"code": code}, once=True)
        self.token = str(found["token"])
        return self.token

    def share(self, matrix: ArrayLike, profile: ArrayLike) -> dict[str, Any]:
        """Share this agent's transition matrix (d, d) and metadata (p,), or update them; return where they stand."""
        body = {"matrix": np.asarray(matrix).tolist(), "profile": np.asarray(profile).tolist()}
        return self.call("PUT", f"/v1/agents/{self.agent}/record", body, key=True)

    def withdraw(self) -> dict[str, Any]:
        """Withdraw the record; ``next_rebuild`` is when it is gone from everything that is handed out."""
        return self.call("DELETE", f"/v1/agents/{self.agent}/record", key=True)

    def standing(self) -> dict[str, Any]:
        """Return where the record stands: none, waiting, included or withdrawn."""
        return self.call("GET", f"/v1/agents/{self.agent}/record")

    def fetch(self, profile: ArrayLike) -> Fitted:
        """Fetch the matrix that fits this metadata (p,)."""
        found = self.call("POST", "/v1/matrix", {"profile": np.asarray(profile).tolist()})
        matrix = np.asarray(found["matrix"], dtype=np.float64)
        return Fitted(matrix, int(found["version"]), str(found["strategy"]), int(found["members_at_least"]))

    def rotate(self) -> str:
        """Replace the token by another one, and return it."""
        found = self.call("POST", f"/v1/agents/{self.agent}/token", once=True)
        self.token = str(found["token"])
        return self.token

    def revoke(self) -> None:
        """End the token; the record stays until it is withdrawn."""
        self.call("DELETE", f"/v1/agents/{self.agent}/token", once=True)
        self.token = None

    def about(self) -> dict[str, Any]:
        """Return how the service anonymises, and what a record must look like."""
        return self.call("GET", "/v1/about")

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def call(self, method: str, path: str, body: Any = None, key: bool = False, once: bool = False) -> dict[str, Any]:
        """Send a request and return its answer; ``key`` makes a write happen once, ``once`` keeps from trying again."""
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        if key:
            headers["Idempotency-Key"] = secrets.token_urlsafe(24)
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        ends, pause = time.monotonic() + self._patience, 0.1
        for left in range(self._tries - 1, -1, -1):
            sent = False
            try:
                connection = self._connected()
                sent = True
                connection.request(method, f"{self._parts.path.rstrip('/')}{path}", data, headers)
                response = connection.getresponse()
                answer = response.read(_LARGEST)
                if response.length:  # the connection ended in the middle of the answer
                    raise http.client.IncompleteRead(answer)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                if (once and sent) or not left or time.monotonic() + pause > ends:
                    reason = f"{type(error).__name__} at {self._parts.netloc.rpartition('@')[2]}"
                    raise ServiceError(0, "unreachable", f"the service did not answer ({reason}); is it up?") from error
                wait = pause
            else:
                if response.status < 400:
                    return json.loads(answer) if answer else {}
                refusal = _refusal(response.status, answer)
                wait = max(pause, _seconds(response.headers.get("Retry-After")))
                if response.status not in _AGAIN or once or not left or time.monotonic() + wait > ends:
                    raise refusal
            # Not all at once: others wait as well.
            self._sleep(wait * (1.0 + secrets.randbelow(1000) / 4000.0))
            pause *= 2.0
        raise AssertionError("the last try returns or raises")

    def _connected(self) -> http.client.HTTPConnection:
        if self._connection is None:
            host, port = str(self._parts.hostname), self._parts.port
            if self._parts.scheme == "https":
                context = ssl.create_default_context()
                made = http.client.HTTPSConnection(host, port, timeout=self._timeout, context=context)
                self._connection = made
            else:
                self._connection = http.client.HTTPConnection(host, port, timeout=self._timeout)
            self._connection.connect()
        return self._connection


def _refusal(status: int, answer: bytes) -> ServiceError:
    try:
        told = json.loads(answer)
        code, detail = str(told["type"]).rpartition(":")[2], str(told["detail"])
    except (ValueError, KeyError, TypeError):
        code, detail = "refused", f"the service answered with status {status}"
    return ServiceError(status, code, detail)


def _seconds(text: str | None) -> float:
    return float(text) if text is not None and text.isdecimal() and len(text) < 8 else 0.0
