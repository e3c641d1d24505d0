"""Services in processes of their own, which can be killed, and a PostgreSQL to keep their records in."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

RUN = """
import sys
from pathlib import Path
from reidrisk.bandits import ServiceSpec
from reidrisk.bandits.service.run import serve
url, administrator, options = sys.argv[1], Path(sys.argv[2]), eval(sys.argv[3])
serve(ServiceSpec(**options), url, administrator, port=0, ready=lambda at: print(at, flush=True))
"""


class Running:
    """A service that runs on a database until it is stopped or killed."""

    def __init__(self, database: str, folder: Path, **options):
        self.token_file = folder / "administrator"
        command = [sys.executable, "-c", RUN, database, str(self.token_file), repr(options)]
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  (it lives as long as the service)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            self.process.wait(30)
            raise AssertionError(self.said())

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    @property
    def administrator(self):
        return self.token_file.read_text().strip()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(60)
        self.process.stdout.close()
        return code


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
