"""Refusals as problem documents (RFC 9457), and a door that lets no oversized request in."""

import json
import logging
import math
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from reidrisk.bandits.service.refusals import Refusal

MEDIA_TYPE = "application/problem+json"

_LOG = logging.getLogger("reidrisk.bandits.service")
_TITLES = {
    400: "Bad request",
    401: "Not authenticated",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Too large",
    422: "Not acceptable as given",
    429: "Too many",
    500: "Failed",
    501: "Not installed",
    503: "Not now",
}


class Problem(BaseModel):
    """What was refused, and why."""

    type: str
    title: str
    status: int
    detail: str


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return how the OpenAPI document describes these refusals."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {s: {"description": _TITLES[s], "content": {MEDIA_TYPE: {"schema": schema}}} for s in statuses}


def problem(status: int, code: str, detail: str, wait: float | None = None) -> Response:
    """Return a refusal as a response."""
    body = {"type": f"urn:reidrisk:{code}", "title": _TITLES.get(status, "Refused"), "status": status, "detail": detail}
    headers = {"Cache-Control": "no-store"}
    if wait is not None:
        headers["Retry-After"] = str(max(1, math.ceil(wait)))
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return Response(json.dumps(body), status, headers, MEDIA_TYPE)


def answer_with_problems(app: FastAPI) -> None:
    """Make every refusal of an application a problem document."""

    @app.exception_handler(Refusal)
    async def refused(_: Request, error: Refusal) -> Response:
        return problem(error.status, error.code, error.detail, error.wait)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        # Where and what, never the value: it may be somebody's.
        place = ".".join(str(part) for part in first["loc"])[:120]
        return problem(422, "request-invalid", f"{place}: {first['msg']}"[:300])

    @app.exception_handler(HTTPException)
    async def other(_: Request, error: HTTPException) -> Response:
        found = problem(error.status_code, "request-refused", str(error.detail)[:300])
        for name, value in (error.headers or {}).items():
            found.headers[name] = value
        return found

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        _LOG.error("%s %s failed (%s)", request.method, request.url.path, type(error).__name__)
        return problem(500, "failed", "this is a fault of the service; its log says more")


class BodyLimit:
    """Refuses requests of more than ``most`` bytes, by what they say and by what they send."""

    def __init__(self, app: Any, most: int) -> None:
        self.app, self.most = app, most

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, whole, or refuse it."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        said = dict(scope["headers"]).get(b"content-length", b"0")
        size = int(said) if said.isdigit() and len(said) < 16 else self.most + 1
        parts: list[bytes] = []
        more, got = size <= self.most, 0
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return
            parts.append(message.get("body", b""))
            got += len(parts[-1])
            more = message.get("more_body", False) and got <= self.most
        if size > self.most or got > self.most:
            refusal = problem(413, "too-large", f"a request has at most {self.most:,} bytes here")
            await refusal(scope, receive, send)
            return
        sent = False

        async def replay() -> Any:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": b"".join(parts), "more_body": False}

        await self.app(scope, replay, send)
