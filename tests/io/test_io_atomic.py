"""A file is written in one step or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from reidrisk import Traces, io
from reidrisk.errors import FormatError


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
    with (
        pytest.raises(FormatError, match="does not exist; create it first"),
        io.write_atomically(tmp_path / "no" / "x"),
    ):
        pass
    with pytest.raises(FormatError, match="cannot be written: No space left"), io.write_atomically(tmp_path / "x"):
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []


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


def _write_half(file: Path, stop: type[BaseException]) -> None:
    with io.write_atomically(file) as temporary:
        temporary.write_text("half of the n")
        raise stop
