"""What tests of both distributions share: the command line, small files, and where the study data is."""

import gc
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reidrisk.cli import main

if "PYTEST_XDIST_WORKER" in os.environ:
    # A worker for each core: threads that libraries start beside it would keep waiting for each other.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

gc.disable()  # until all modules are loaded: none of what they hold is garbage

LONGEST = ("tests/fuzz", "tests/present", "tests/docs", "tests/journeys", "tests/release", "studies", "tests")
"""Where tests take longest, those first: what comes last is short, so that no worker waits for another."""

SHARED = re.compile(r'scope="module"|\bbrowser\b|^@(functools\.)?cache$', re.MULTILINE)
"""In the text of a module whose tests share something that takes long to make."""


@cache
def is_shared(module: str) -> bool:
    """Return whether the tests of a module belong on one worker."""
    return (
        module.startswith(("tests/", "studies/"))
        and SHARED.search((Path(__file__).parent / module).read_text("utf-8")) is not None
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out tests in their order, those of a module with shared fixtures to one worker, which makes them once."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFixtures(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            module = nodeid.partition("::")[0]
            return module if is_shared(module) else nodeid

    gc.enable()  # this process loads no tests
    config.option.loadscopereorder = False  # by the number of tests, which says nothing of their time
    return ByFixtures(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the folders whose tests take longest."""

    def rank(item: pytest.Item) -> int:
        return next((at for at, folder in enumerate(LONGEST) if item.nodeid.startswith(f"{folder}/")), len(LONGEST))

    items.sort(key=rank)


def pytest_collection_finish() -> None:
    """Look for garbage again, but not among what all modules hold: two million objects take a second to go through."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def study_file():
    """Return the path of a file of study data by its name; where it is missing, skip the test and say which it is."""

    def found(name: str) -> Path:
        folder = Path(os.environ.get("REIDRISK_DATA") or Path(__file__).parents[1] / "shared" / "data")
        if not (folder / name).is_file():
            pytest.skip(f"{name} is not in the data folder {folder}")
        return folder / name

    return found


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def reidrisk(capsys, monkeypatch, tmp_path) -> Callable[..., Done]:
    """Run the command line as a person would, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Done:
        capsys.readouterr()
        try:
            main([str(argument) for argument in arguments])
            code = 0
        except SystemExit as leave:
            code = int(leave.code or 0)
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return run


@pytest.fixture
def table(tmp_path) -> Callable[..., Path]:
    """Write a small file and return its path."""

    def write(name: str, text: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print as into a file of 110 columns, whatever the terminal or another test says."""
    monkeypatch.setenv("COLUMNS", "110")
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
