"""A service in this process, on a free port of this machine: for examples, studies and measurements."""

import secrets
import tempfile
import threading
import time
from types import TracebackType
from typing import Any, Self

from reidrisk.bandits.client import Client
from reidrisk.bandits.service.spec import ServiceSpec
from reidrisk.base import DataError, require

_PATIENCE = 30.0  # seconds until it must listen


class LocalService:
    """Runs while its block does; it keeps records in a temporary SQLite file, or where ``database`` says.

    It rebuilds when :meth:`rebuild` is called, and at the times of its spec. ``joined(n)`` gives clients that have
    registered, ``membership()`` the truth for a measured attack.
    """

    def __init__(self, spec: ServiceSpec, database: str | None = None) -> None:
        require("fastapi", "serve", "the sharing service")
        require("sqlalchemy", "serve", "the sharing service")
        self.spec, self._database = spec, database
        self.administrator = secrets.token_urlsafe(32)
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        from reidrisk.bandits.service.credentials import digest
        from reidrisk.bandits.service.storage.database import Database
        from reidrisk.bandits.service.web.app import create_app

        if self._database is None:
            self._folder = tempfile.TemporaryDirectory(prefix="reidrisk-")
        self.store = Database(self._database or f"sqlite:///{self._folder.name if self._folder else ''}/sharing.db")
        self.store.upgrade()
        app = create_app(self.spec, self.store, digest(self.administrator))
        self.publisher = app.state.service.publisher
        uvicorn = require("uvicorn", "serve", "the sharing service")
        self._server = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", 0, log_level="warning", access_log=False))
        self._thread = threading.Thread(target=self._server.run, name="service", daemon=True)
        self._thread.start()
        ends = time.monotonic() + _PATIENCE
        while not self._server.started:
            if time.monotonic() > ends or not self._thread.is_alive():
                raise DataError("the service did not start; the lines above say why")
            time.sleep(0.01)
        self.url = f"http://127.0.0.1:{self._server.servers[0].sockets[0].getsockname()[1]}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(_PATIENCE)
        self.store.close()
        if self._folder is not None:
            self._folder.cleanup()

    def codes(self, count: int) -> list[str]:
        """Issue enrolment codes, as the administrator."""
        found: list[str] = self._asked("POST", "/admin/codes", {"count": count})["codes"]
        return found

    def joined(self, count: int) -> list[Client]:
        """Return clients of agents that have registered."""
        clients = []
        for code in self.codes(count) if count else []:
            client = Client(self.url)
            client.join(code)
            clients.append(client)
        return clients

    def membership(self) -> dict[str, Any]:
        """Return who is behind which matrix, as the administrator."""
        return self._asked("GET", "/admin/membership")

    def rebuild(self) -> None:
        """Rebuild now, and wait for it."""
        self.publisher.rebuild()

    def _asked(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        client = Client(self.url, self.administrator)
        try:
            return client.call(method, path, body)
        finally:
            client.close()
