"""Running the service: where it may listen, one process per database, and an end that loses nothing."""

import ipaddress
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reidrisk.bandits.service.spec import ServiceSpec
from reidrisk.base import OptionError, require

NEEDED = ("fastapi", "uvicorn", "sqlalchemy", "alembic")  # libraries without which there is no service


def serve(
    spec: ServiceSpec,
    database: str,
    administrator: Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8642,
    behind_tls: bool = False,
    page: Callable[[dict[str, Any]], str] | None = None,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Run the service until it is told to stop; ``ready`` hears where it listens."""
    check_host(host, behind_tls)
    for module in NEEDED:
        require(module, "serve", "the sharing service")
    if spec.is_noisy:
        require("opendp.mod", "release", "noise for what is handed out")
    import uvicorn

    from reidrisk.bandits.service.credentials import administrator as token_digest
    from reidrisk.bandits.service.storage.database import Database
    from reidrisk.bandits.service.web.app import create_app

    store = Database(database)
    try:
        store.upgrade()
        store.claim()
        app = create_app(spec, store, token_digest(administrator or _beside(store)), page)
        logging.getLogger("reidrisk.bandits.service").addHandler(logging.StreamHandler())
        config = uvicorn.Config(
            app, host, port, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=10
        )
        _server(config, ready).run()
    finally:
        store.close()


def check_host(host: str, behind_tls: bool) -> None:
    """Refuse to listen where tokens would travel in the clear.

    >>> check_host("0.0.0.0", behind_tls=False)
    Traceback (most recent call last):
    reidrisk.base.errors.OptionError: --host 0.0.0.0 is open to the network, where tokens would travel in the clear;
    listen on 127.0.0.1, or say --behind-tls where a proxy encrypts all that arrives there
    """
    try:
        local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = host == "localhost"
    if not local and not behind_tls:
        clear = f"--host {host} is open to the network, where tokens would travel in the clear"
        raise OptionError(
            f"{clear}; listen on 127.0.0.1, or say --behind-tls where a proxy encrypts all that arrives there"
        )


def _beside(store: Any) -> Path:
    if not store.is_sqlite:
        raise OptionError("--administrator FILE is needed with PostgreSQL: where the administrator's token is kept")
    return Path(f"{store.engine.url.database}.administrator")


def _server(config: Any, ready: Callable[[str], None] | None) -> Any:
    import uvicorn

    class Server(uvicorn.Server):
        """Says where it listens once it does: port 0 is any free one."""

        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if ready is not None and self.started:
                host, port = self.servers[0].sockets[0].getsockname()[:2]
                ready(f"http://{host}:{port}")

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Stop by a signal without passing it on: that is how a service is meant to end."""
            if threading.current_thread() is not threading.main_thread():  # where signals do not come
                yield
                return
            before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
            try:
                yield
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)

    return Server(config)
