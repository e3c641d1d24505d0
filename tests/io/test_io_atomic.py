"""A file is written in one step or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from reidrisk import Traces, io
from reidrisk.errors import FormatError
from reidrisk.io.atomic import is_write_protected


@pytest.mark.parametrize("stop", [RuntimeError, KeyboardInterrupt])
def test_an_interrupted_run_leaves_the_old_file(tmp_path: Path, stop: type[BaseException]) -> None:
    file = tmp_path / "result.json"
    file.write_text("old")
    with pytest.raises(stop):
        _write_half(file, stop)
    assert file.read_text() == "old"
    assert [f.name for f in tmp_path.iterdir()] == ["result.json"]


def test_an_interrupted_run_leaves_no_file_where_there_was_none(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        _write_half(tmp_path / "new.json", RuntimeError)
    assert list(tmp_path.iterdir()) == []


def test_the_new_file_replaces_the_old_one_and_follows_links(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    os.symlink(tmp_path / "real.txt", tmp_path / "link.txt")
    with io.write_atomically(tmp_path / "link.txt") as temporary:
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".txt"
        temporary.write_text("new")
        assert (tmp_path / "real.txt").read_text() == "old"
    assert (tmp_path / "real.txt").read_text() == "new"
    assert (tmp_path / "link.txt").is_symlink()


def test_places_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="it is a folder"), io.write_atomically(tmp_path):
        pass
    with pytest.raises(FormatError, match="cannot be written: No space left"), io.write_atomically(tmp_path / "x"):
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(FormatError, match="file is a file; name a folder"):
        _write(tmp_path / "file" / "x", "new")


def test_folders_are_made_and_only_for_a_file_that_is_written(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _write_half(tmp_path / "new" / "folder" / "x.json", KeyboardInterrupt)
    assert list(tmp_path.iterdir()) == []
    _write(tmp_path / "new" / "folder" / "x.json", "{}")
    assert (tmp_path / "new" / "folder" / "x.json").read_text() == "{}"


def test_a_write_protected_file_is_refused_and_other_permissions_stay(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("old")
    file.chmod(0o444)
    with pytest.raises(FormatError, match="write-protected"):
        _write(file, "new")
    assert file.read_text() == "old"
    with open(file) as standard, pytest.MonkeyPatch.context() as patch:
        number = standard.fileno()
        patch.setattr("reidrisk.io.atomic._standard", lambda there: number)
        assert not is_write_protected(file), "standard output is open already, whoever opened it"
    file.chmod(0o600)
    _write(file, "new")
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_named_pipe_is_written_into_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "p.json"
    os.mkfifo(pipe)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    reader.start()
    _write(pipe, "{}")
    reader.join(timeout=10)
    assert heard == ["{}"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [f.name for f in tmp_path.iterdir()] == ["p.json"]


@pytest.mark.parametrize("redirected", [True, False])
def test_standard_output_gets_what_is_written_between_what_is_printed(tmp_path: Path, redirected: bool) -> None:
    code = (
        "from reidrisk import io\n"
        "print('before')\n"
        "with io.write_atomically('/dev/stdout') as t: t.write_text('file\\n')\n"
        "print('after')"
    )
    with open(tmp_path / "out", "w+") as out:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=out if redirected else subprocess.PIPE, text=True, timeout=60
        )
        out.seek(0)
        said = out.read() if redirected else done.stdout
    assert said == "before\nfile\nafter\n"


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow", "npz"])
def test_a_writer_that_fails_midway_leaves_the_old_table(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / f"t.{ending}"
    io.write_traces(Traces([[0], [1]], 2), file)
    before = file.read_bytes()
    calls = []

    def fail(*args: object, **kwargs: object) -> object:
        calls.append(1)
        if len(calls) > 2 or ending == "npz":
            raise RuntimeError("power cut")
        return np.array([0], dtype=np.int16)

    monkeypatch.setattr("reidrisk.io.traces.CHUNK", 1)
    if ending == "npz":
        monkeypatch.setattr(np, "savez", fail)
    else:
        monkeypatch.setattr("reidrisk.io.traces.tokens_as_arrow", fail)
    with pytest.raises(RuntimeError):
        io.write_traces(Traces([[1], [0], [1], [1]], 2), file)
    assert file.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def _write(file: Path, text: str) -> None:
    with io.write_atomically(file) as temporary:
        temporary.write_text(text)


def _write_half(file: Path, stop: type[BaseException]) -> None:
    with io.write_atomically(file) as temporary:
        temporary.write_text("half of the n")
        raise stop
