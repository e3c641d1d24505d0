"""What routes share: the database, the publisher, the limits, the counters, and who is asking."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Path, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool

from reidrisk.bandits.service import credentials, members
from reidrisk.bandits.service.limits import ProfileLimit, RequestLimit
from reidrisk.bandits.service.publisher import Publisher
from reidrisk.bandits.service.refusals import Refusal
from reidrisk.bandits.service.spec import ServiceSpec
from reidrisk.bandits.service.storage.database import Database

_REGISTRATIONS = 600  # per minute, of everybody together: codes cannot be guessed, but need not be tried either
_TRUSTED = 5.0  # seconds for which a token that was right is taken to be so
_MOST_TOKENS = 10_000

bearer = HTTPBearer(auto_error=False, description="The token that registration showed.")
Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]


class KnownTokens:
    """Tokens that were right a moment ago, by their digests, so that not every request asks the database.

    A token that is rotated or revoked here is forgotten at once; one revoked in the database by hand within seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[str, float]] = {}
        self._lock = threading.Lock()

    def agent(self, token: str) -> str | None:
        """Return whose token it is, if that is known."""
        agent, until = self._kept.get(credentials.digest(token), (None, 0.0))
        return agent if self._clock() < until else None

    def keep(self, token: str, agent: str) -> None:
        """Keep a token that was right."""
        with self._lock:
            now = self._clock()
            if len(self._kept) > _MOST_TOKENS:
                self._kept = {key: kept for key, kept in self._kept.items() if kept[1] > now}
            self._kept[credentials.digest(token)] = (agent, now + _TRUSTED)

    def forget(self, agent: str) -> None:
        """Forget the tokens of an agent."""
        with self._lock:
            self._kept = {key: kept for key, kept in self._kept.items() if kept[0] != agent}


@dataclass(eq=False)
class State:
    """Everything a request may need; ``page`` writes the administrator's page from an overview."""

    spec: ServiceSpec
    database: Database
    publisher: Publisher
    administrator: str  # digest of the administrator's token
    pepper: bytes
    page: Callable[[dict[str, Any]], str] | None = None
    counts: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.requests = RequestLimit(self.spec.requests_per_minute)
        self.registrations = RequestLimit(_REGISTRATIONS)
        self.profiles = ProfileLimit(self.spec.profiles_per_day)
        self.tokens = KnownTokens()

    def count(self, name: str) -> None:
        """Count something for the metrics."""
        with self.lock:
            self.counts[name] += 1


async def state_of(request: Request) -> State:
    """Return what the application was made with."""
    found: State = request.app.state.service
    return found


Service = Annotated[State, Depends(state_of)]
Agent = Annotated[str, Path(pattern=f"^{credentials.AGENT}$", description="Id of an agent.")]


async def asking(service: Service, given: Bearer) -> str:
    """Return the agent that asks, after its token and its limit of requests were looked at."""
    if given is None:
        raise Refusal(401, "token-missing", "give the token as 'Authorization: Bearer …'")
    agent = service.tokens.agent(given.credentials)
    if agent is None:
        agent = await run_in_threadpool(_looked_up, service, given.credentials)
    service.requests.check(agent)
    return agent


def _looked_up(service: State, token: str) -> str:
    with service.database.reading() as connection:
        agent = members.authenticated(connection, token)
    service.tokens.keep(token, agent)
    return agent


Asking = Annotated[str, Depends(asking)]


async def own(agent: Agent, asked_by: Asking) -> str:
    """Return the agent that asks, if it asks about itself."""
    if agent != asked_by:
        raise Refusal(403, "agent-other", "this token is another agent's; an agent reaches its own record alone")
    return agent


Own = Annotated[str, Depends(own)]


async def administrating(service: Service, given: Bearer) -> None:
    """Let the administrator pass."""
    if given is None or not credentials.matches(given.credentials, service.administrator):
        raise Refusal(401, "token-wrong", "this needs the administrator's token")
