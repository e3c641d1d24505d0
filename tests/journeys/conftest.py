from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from reidrisk.cli import main


class Done(NamedTuple):
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


@pytest.fixture
def pair(table) -> tuple[Path, Path]:
    """Two four-row tables: two people agree with themselves, two have changed places."""
    a = table("a.csv", "user,epoch_0,epoch_1\nann,news,sports\nbob,news,music\ncat,cars,music\ndan,food,food\n")
    b = table("b.csv", "user,epoch_0,epoch_1\nann,news,sports\nbob,cars,music\ncat,news,music\ndan,food,food\n")
    return a, b


@pytest.fixture
def crowd(pair, table) -> tuple[Path, Path]:
    """Sixty people, fifteen times the four with tokens of their own: enough to decide a gate, which four are not."""
    made = []
    for path in pair:
        head, *rows = path.read_text().splitlines()
        many = [",".join(f"{cell}{i}" for cell in row.split(",")) for i in range(15) for row in rows]
        made.append(table(f"crowd-{path.name}", "\n".join([head, *many]) + "\n"))
    return made[0], made[1]
