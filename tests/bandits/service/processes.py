"""Services in processes of their own, which can be killed, and a PostgreSQL to keep their records in."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

_FORKS = multiprocessing.get_context("forkserver")  # which loads libraries once for all services that it starts
_FORKS.set_forkserver_preload(["reidrisk.bandits.service.web.app", "reidrisk.bandits.service.run", "uvicorn.server"])


def _serve(database, token_file, options, errors, ready):
    from reidrisk.bandits import ServiceSpec
    from reidrisk.bandits.service.run import serve

    os.dup2(os.open(errors, os.O_WRONLY | os.O_APPEND), 2)
    serve(ServiceSpec(**options), database, token_file, port=0, ready=ready.send)


class Running:
    """A service that runs on a database, in a process of its own, until it is stopped or killed."""

    def __init__(self, database: str, folder: Path, **options):
        self.token_file, self.errors = folder / "administrator", folder / "errors"
        self.errors.touch()
        ready, other = _FORKS.Pipe(duplex=False)
        self.process = _FORKS.Process(
            target=_serve, args=(database, self.token_file, options, str(self.errors), other), daemon=True
        )
        self.process.start()
        other.close()
        try:
            self.url = ready.recv()
        except EOFError as error:
            raise AssertionError(self.said()) from error
        ready.close()

    def said(self):
        return self.errors.read_text()

    @property
    def administrator(self):
        return self.token_file.read_text().strip()

    def kill(self):
        self.process.kill()
        self.process.join(30)
        assert self.process.exitcode == -signal.SIGKILL

    def stop(self):
        self.process.terminate()
        self.process.join(60)
        return self.process.exitcode


def programs() -> Path | None:
    """Return where PostgreSQL's programs are, or None."""
    found = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if (path / "initdb").exists()]
    on_path = shutil.which("initdb")
    return max(found) if found else Path(on_path).resolve().parent if on_path else None


@contextmanager
def postgres():
    """Start a PostgreSQL of its own on a free port of this machine; it refuses root, so root runs it as `postgres`."""
    folder = Path(tempfile.mkdtemp(prefix="reidrisk-pg-"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    as_user = []
    if os.getuid() == 0:
        shutil.chown(folder, "postgres")
        as_user = ["runuser", "-u", "postgres", "--"]

    def call(program, *arguments):
        command = [*as_user, str(programs() / program), *arguments]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)

    data = str(folder / "data")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
    try:
        call("initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync")
        call("pg_ctl", "-D", data, "-w", "-o", options, "-l", f"{folder}/log", "start")
        try:
            yield f"postgresql://postgres@127.0.0.1:{port}/postgres", lambda: _crash(call, data, options, folder)
        finally:
            call("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _crash(call, data, options, folder):
    """Stop the server as a power cut would, and start it again."""
    call("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    call("pg_ctl", "-D", data, "-w", "-o", options, "-l", f"{folder}/log", "start")
