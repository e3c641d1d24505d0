"""Routes of the administrator: codes, agents, the ledger, the overview and its page; and health and metrics."""

import base64
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from reidrisk.bandits.adversary.collect import digest
from reidrisk.bandits.service import credentials, ledger, members
from reidrisk.bandits.service.ledger import ADMINISTRATOR
from reidrisk.bandits.service.refusals import Refusal
from reidrisk.bandits.service.snapshot import PUBLISHED
from reidrisk.bandits.service.web.overview import metrics, overview
from reidrisk.bandits.service.web.problems import documented, problem
from reidrisk.bandits.service.web.state import Agent, Service, administrating
from reidrisk.base.extras import INSTALL

admin = APIRouter(
    prefix="/admin", tags=["administrator"], dependencies=[Depends(administrating)], responses=documented(401, 422)
)
public = APIRouter()


class Codes(BaseModel):
    """How many enrolment codes are wanted, and for how long they are good."""

    model_config = ConfigDict(extra="forbid")
    count: int = Field(default=1, ge=1, le=members.MOST_CODES)
    hours: float = Field(default=48.0, gt=0.0, le=24.0 * 366, allow_inf_nan=False)


class Issued(BaseModel):
    """Enrolment codes, shown once."""

    codes: list[str]


class Health(BaseModel):
    """Whether the service runs, and whether it hands matrices out."""

    status: str
    serving: str


@admin.post("/codes", status_code=201, response_model=Issued, responses=documented(400, 413))
def issue(service: Service, given: Codes) -> dict[str, Any]:
    """Issue enrolment codes; they are shown once."""
    with service.database.writing() as connection:
        return {"codes": members.issue_codes(connection, given.count, given.hours)}


@admin.delete("/agents/{agent}", status_code=204, responses=documented(404, 413))
def revoke(service: Service, agent: Agent, withdraw: bool = False) -> Response:
    """Revoke the token of an agent, and withdraw its record if asked for."""
    with service.database.writing() as connection:
        members.revoke(connection, agent, ADMINISTRATOR)
        if withdraw:
            members.withdraw(connection, agent, ADMINISTRATOR)
    service.tokens.forget(agent)
    return Response(status_code=204)


@admin.get("/overview")
def told(service: Service) -> dict[str, Any]:
    """Return what the page shows, as values."""
    return overview(service)


@admin.get("/membership")
def membership(service: Service) -> dict[str, Any]:
    """Return who is in which group now: the truth that a measured attack is scored with."""
    snapshot = service.publisher.snapshot
    found = [{"digest": digest(group.matrix), "members": list(group.members)} for group in snapshot.groups]
    return {"version": snapshot.version, "groups": found}


@admin.post("/rebuild", status_code=202, responses=documented(413))
def rebuild(service: Service) -> dict[str, Any]:
    """Rebuild now rather than at the next fixed time."""
    service.publisher.hurry()
    return {"version": service.publisher.snapshot.version}


@admin.get("/ledger")
def entries(
    service: Service,
    after: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> dict[str, Any]:
    """Return entries of the audit log, oldest first."""
    with service.database.reading() as connection:
        return {"entries": ledger.entries(connection, after, limit)}


@public.get("/health", response_model=Health, responses={503: {"model": Health}})
def health(service: Service, response: Response) -> dict[str, str]:
    """Say whether the service runs; it answers 503 where the database does not."""
    status = service.publisher.snapshot.status
    try:
        with service.database.reading() as connection:
            members.shape_of(connection)
    except Exception:  # whatever the driver raises: a probe wants an answer
        response.status_code = 503
        return {"status": "down", "serving": "no"}
    return {"status": "up", "serving": "yes" if status == PUBLISHED else "no"}


@public.get("/metrics", dependencies=[Depends(administrating)], responses=documented(401), response_class=Response)
def measured(service: Service) -> Response:
    """Return metrics for Prometheus, which sends the administrator's token: counts over time tell who came and went."""
    return Response(metrics(service), media_type="text/plain; version=0.0.4; charset=utf-8")


@public.get("/admin", include_in_schema=False)
def page(service: Service, authorization: Annotated[str, Header()] = "") -> Response:
    """Show the administrator's page: it only shows, so that a browser's stored password cannot be made to act."""
    if not credentials.matches(_password(authorization), service.administrator):
        found = problem(401, "token-wrong", "log in as any user with the administrator's token as password")
        found.headers["WWW-Authenticate"] = 'Basic realm="reidrisk"'
        return found
    if service.page is None:
        raise Refusal(501, "page-missing", f'the page needs more libraries; {INSTALL} ".[report]"')
    headers = {"Cache-Control": "no-store", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer"}
    return Response(service.page(overview(service)), media_type="text/html; charset=utf-8", headers=headers)


def _password(header: str) -> str:
    scheme, _, value = header.partition(" ")
    if scheme.lower() == "bearer":
        return value
    try:
        return base64.b64decode(value, validate=True).decode().partition(":")[2] if scheme.lower() == "basic" else ""
    except ValueError:  # no base64, or no text in it
        return ""
