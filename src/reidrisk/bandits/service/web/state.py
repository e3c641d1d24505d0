"""What routes share: the database, the publisher, the limits, the counters, and who is asking."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Path, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from reidrisk.bandits.service import credentials, members
from reidrisk.bandits.service.limits import ProfileLimit, RequestLimit
from reidrisk.bandits.service.publisher import Publisher
from reidrisk.bandits.service.refusals import Refusal
from reidrisk.bandits.service.spec import ServiceSpec
from reidrisk.bandits.service.storage.database import Database

_REGISTRATIONS = 600  # per minute, of everybody together: codes cannot be guessed, but need not be tried either

bearer = HTTPBearer(auto_error=False, description="The token that registration showed.")
Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]


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

    def count(self, name: str) -> None:
        """Count something for the metrics."""
        with self.lock:
            self.counts[name] += 1


def state_of(request: Request) -> State:
    """Return what the application was made with."""
    found: State = request.app.state.service
    return found


Service = Annotated[State, Depends(state_of)]
Agent = Annotated[str, Path(pattern=f"^{credentials.AGENT}$", description="Id of an agent.")]


def asking(service: Service, given: Bearer) -> str:
    """Return the agent that asks, after its token and its limit of requests were looked at."""
    if given is None:
        raise Refusal(401, "token-missing", "give the token as 'Authorization: Bearer …'")
    with service.database.reading() as connection:
        agent = members.authenticated(connection, given.credentials)
    service.requests.check(agent)
    return agent


Asking = Annotated[str, Depends(asking)]


def own(agent: Agent, asked_by: Asking) -> str:
    """Return the agent that asks, if it asks about itself."""
    if agent != asked_by:
        raise Refusal(403, "agent-other", "this token is another agent's; an agent reaches its own record alone")
    return agent


Own = Annotated[str, Depends(own)]


def administrating(service: Service, given: Bearer) -> None:
    """Let the administrator pass."""
    if given is None or not credentials.matches(given.credentials, service.administrator):
        raise Refusal(401, "token-wrong", "this needs the administrator's token")
