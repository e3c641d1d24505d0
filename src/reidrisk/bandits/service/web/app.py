"""The application: routes, refusals, counters; made from a spec, a database and the administrator's token."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from sqlalchemy import Connection, insert, select

from reidrisk.bandits.service import members
from reidrisk.bandits.service.limits import pepper
from reidrisk.bandits.service.publisher import Publisher
from reidrisk.bandits.service.spec import ServiceSpec
from reidrisk.bandits.service.storage.database import Database
from reidrisk.bandits.service.storage.schema import settings, versions
from reidrisk.bandits.service.web.admin import admin, public
from reidrisk.bandits.service.web.agents import agents
from reidrisk.bandits.service.web.problems import BodyLimit, Problem, answer_with_problems
from reidrisk.bandits.service.web.state import State
from reidrisk.bandits.sharing.strategies import PrivateClusters
from reidrisk.base.errors import OptionError

_BUDGET = "budget"


def create_app(
    spec: ServiceSpec,
    database: Database,
    administrator: str,
    page: Callable[[dict[str, Any]], str] | None = None,
) -> FastAPI:
    """Return the application; ``administrator`` is the digest of the administrator's token, see ``credentials``."""
    with database.writing() as connection:
        key = pepper(connection)
        _check_shape(members.shape_of(connection), spec)
        _check_budget(connection, spec)
        if spec.states and spec.numbers and members.shape_of(connection) is None:
            members.fix_shape(connection, spec.states, spec.numbers)
    publisher = Publisher(database, spec)
    service = State(spec, database, publisher, administrator, key, page)

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        publisher.start()
        yield
        publisher.stop()

    app = FastAPI(title="reidrisk sharing service", version="1", lifespan=running, docs_url=None, redoc_url=None)
    app.state.service = service
    for routes in (public, agents, admin):
        app.include_router(routes)
    answer_with_problems(app)
    app.add_middleware(BodyLimit, most=spec.largest_body)
    app.add_middleware(_Counted, service=service)
    _describe_problems(app)
    return app


class _Counted:
    """Counts responses by status."""

    def __init__(self, app: Any, service: State) -> None:
        self.app, self.service = app, service

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def counted(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.service.count(f"status {message['status']}")
            await send(message)

        await self.app(scope, receive, counted if scope["type"] == "http" else send)


def _describe_problems(app: FastAPI) -> None:
    """Put problem documents into the OpenAPI document, in the place of the usual validation errors."""
    original = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = original()
            schemas = schema.setdefault("components", {}).setdefault("schemas", {})
            schemas["Problem"] = Problem.model_json_schema()
            for name in ("HTTPValidationError", "ValidationError"):
                schemas.pop(name, None)
        return app.openapi_schema or {}

    app.openapi = described  # type: ignore[method-assign]


def _check_shape(found: tuple[int, int] | None, spec: ServiceSpec) -> None:
    for name, wanted, there in zip(
        ("states", "numbers"), (spec.states, spec.numbers), found or (None, None), strict=True
    ):
        if wanted is not None and there is not None and wanted != there:
            raise OptionError(f"--{name} is {wanted}, but records in this database have {there}; leave it out")


def _check_budget(connection: Connection, spec: ServiceSpec) -> None:
    """Refuse private clusters where the promise of a budget would not hold: it is for all that was ever handed out."""
    private = spec.strategy if isinstance(spec.steps()[0], PrivateClusters) else None
    wanted = None if private is None else f"{private} over {spec.publications} publications"
    kept = connection.execute(select(settings.c.value).where(settings.c.name == _BUDGET)).scalar()
    if kept is not None and kept != wanted:
        raise OptionError(f"this database promised its members {kept}; keep to it, or begin a new database")
    if wanted is None or kept is not None:
        return
    others = connection.execute(select(versions.c.strategy).limit(1)).scalar()
    if others is not None:
        raise OptionError(f"{others} was handed out from this database without a budget; begin a new database")
    connection.execute(insert(settings).values(name=_BUDGET, value=wanted))
