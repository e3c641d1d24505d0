"""Routes of agents: register, rotate and revoke a token, share, withdraw, fetch."""

from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Header, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from starlette.concurrency import run_in_threadpool

from reidrisk.bandits.service import members
from reidrisk.bandits.service.limits import profile_digest
from reidrisk.bandits.service.replies import Reply, once
from reidrisk.bandits.service.snapshot import moment
from reidrisk.bandits.service.storage.schema import records
from reidrisk.bandits.service.web.problems import documented
from reidrisk.bandits.service.web.state import Asking, Own, Service, State

agents = APIRouter(prefix="/v1", tags=["agents"])

Number = Annotated[float, Field(allow_inf_nan=False)]
Profile = Annotated[list[Number], Field(min_length=1, max_length=10_000, description="Metadata: numbers.")]
Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", pattern=r"^[!-~]{1,64}$", description="Drawn anew for each write."),
]
_WRITE = documented(400, 401, 403, 404, 409, 413, 422, 429)


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Registration(_Body):
    """A code from the administrator."""

    code: str = Field(min_length=1, max_length=100)


class Registered(_Body):
    """The token is shown here and never again."""

    agent: str
    token: str


class Record(_Body):
    """A transition matrix and the metadata it is found by."""

    matrix: list[Annotated[list[Number], Field(min_length=2, max_length=1_000)]] = Field(
        min_length=2, max_length=1_000, description="Row by row; rows add up to 1."
    )
    profile: Profile


class Wanted(_Body):
    """Metadata for which a matrix is wanted."""

    profile: Profile


class RecordStanding(_Body):
    """Where a record stands: none, waiting (for enough others), included, withdrawn.

    ``included_revision`` is the last of which at least a row is included.
    """

    state: str
    revision: int
    included_revision: int | None
    next_rebuild: str


class Fitting(_Body):
    """The matrix that fits the metadata: never one member's record, unless the strategy says so."""

    version: int
    built_at: str
    strategy: str
    members_at_least: int
    matrix: list[list[float]]


class About(_Body):
    """What everyone may know of the service, adversaries included."""

    strategy: str
    minimum_group: int
    states: int | None
    numbers: int | None
    publications: int
    version: int


@agents.get("/about", response_model=About)
def about(service: Service) -> dict[str, Any]:
    """Say how matrices are anonymised, and what a record must look like."""
    with service.database.reading() as connection:
        shape = members.shape_of(connection) or (service.spec.states, service.spec.numbers)
    spec = service.spec
    told = {"strategy": spec.strategy, "minimum_group": spec.minimum_group, "states": shape[0], "numbers": shape[1]}
    return {**told, "publications": spec.publications, "version": service.publisher.snapshot.version}


@agents.post("/agents", status_code=201, response_model=Registered, responses=documented(400, 403, 409, 413, 422, 429))
def register(service: Service, given: Registration) -> dict[str, str]:
    """Register with an enrolment code; the token is shown once."""
    service.registrations.check("everybody")
    with service.database.writing() as connection:
        agent, token = members.register(connection, given.code)
    service.count("registered")
    return {"agent": agent, "token": token}


@agents.post("/agents/{agent}/token", response_model=Registered, responses=documented(401, 403, 413, 422, 429))
def rotate(service: Service, agent: Own) -> dict[str, str]:
    """Replace the token; the old one ends now."""
    with service.database.writing() as connection:
        token = members.rotate(connection, agent)
    service.tokens.forget(agent)
    return {"agent": agent, "token": token}


@agents.delete("/agents/{agent}/token", status_code=204, responses=documented(401, 403, 404, 413, 422, 429))
def revoke(service: Service, agent: Own) -> Response:
    """End the token; the record stays until it is withdrawn."""
    with service.database.writing() as connection:
        members.revoke(connection, agent, agent)
    service.tokens.forget(agent)
    return Response(status_code=204)


@agents.get("/agents/{agent}/record", response_model=RecordStanding, responses=documented(401, 403, 422, 429))
def standing(service: Service, agent: Own) -> dict[str, Any]:
    """Say where the own record stands; the record itself is not sent back."""
    return _standing(service, agent)


@agents.put("/agents/{agent}/record", response_model=RecordStanding, responses=_WRITE)
def share(service: Service, agent: Own, given: Record, key: Key = None) -> Response:
    """Share a record, or update it; it counts from a rebuild on in which enough others are with it."""
    matrix, profile = given.matrix, given.profile

    def act() -> Reply:
        members.share(connection, agent, matrix, profile, service.spec.updates_per_day)
        return 200, {}

    with service.database.writing() as connection:
        status, _ = once(connection, agent, key, ("share", [matrix, profile]), act)
    service.count("shared")
    return JSONResponse(_standing(service, agent), status)


@agents.delete("/agents/{agent}/record", response_model=RecordStanding, responses=_WRITE)
def withdraw(service: Service, agent: Own, key: Key = None) -> Response:
    """Withdraw the record: it is deleted now, and every matrix that it was part of is gone at ``next_rebuild``."""

    def act() -> Reply:
        members.withdraw(connection, agent, agent)
        return 200, {}

    with service.database.writing() as connection:
        status, _ = once(connection, agent, key, ("withdraw", None), act)
    service.count("withdrawn")
    return JSONResponse(_standing(service, agent), status)


@agents.post("/matrix", response_model=Fitting, responses=documented(400, 401, 413, 422, 429, 503))
async def fetch(service: Service, agent: Asking, given: Wanted) -> Response:
    """Fetch the matrix that fits this metadata."""
    # Not in a thread: all it needs is in memory, but for metadata that were not seen today.
    snapshot = service.publisher.snapshot  # once: the rest of the request sees this version
    numbers = None if snapshot.centres is None else snapshot.centres.shape[1]
    profile = members.checked_profile(given.profile, numbers)
    digest = profile_digest(service.pepper, np.asarray(profile))
    if not service.profiles.is_known(agent, digest):
        await run_in_threadpool(_count_profile, service, agent, digest)
    body = snapshot.answer(profile, service.spec, agent)
    service.count("fetched")
    return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})


def _count_profile(service: State, agent: str, digest: str) -> None:
    with service.database.writing() as connection:
        service.profiles.count(connection, agent, digest)


def _standing(service: State, agent: str) -> dict[str, Any]:
    with service.database.reading() as connection:
        found = connection.execute(select(records).where(records.c.agent == agent)).one_or_none()
    if found is None:
        state = "none"
    elif found.matrix is None:
        state = "withdrawn"
    else:
        state = "waiting" if found.batch is None else "included"
    return {
        "state": state,
        "revision": 0 if found is None else found.revision,
        "included_revision": None if found is None else found.published_revision,
        "next_rebuild": moment(service.publisher.next_rebuild()),
    }
