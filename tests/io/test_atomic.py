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
from reidrisk.base.errors import FormatError
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


def test_what_only_its_owner_may_read_is_never_readable_by_others(tmp_path: Path) -> None:
    file = tmp_path / "x"
    before = os.umask(0o022)
    try:
        _write(file, "old")
        assert stat.S_IMODE(file.stat().st_mode) == 0o644, "a new file is as the user wants new files"
        file.chmod(0o600)
        with io.write_atomically(file) as temporary:
            temporary.write_text("new")
            assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        file.chmod(0o664)
        _write(file, "newer")
        assert stat.S_IMODE(file.stat().st_mode) == 0o664
    finally:
        os.umask(before)


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root may give files away")
def test_root_leaves_a_file_to_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("old")
    os.chown(file, 1234, 4321)
    file.chmod(0o640)
    _write(file, "new")
    there = file.stat()
    assert (there.st_uid, there.st_gid, stat.S_IMODE(there.st_mode)) == (1234, 4321, 0o640)


@pytest.mark.parametrize(("mode", "left"), [(0o640, 0o600), (0o664, 0o644), (0o646, 0o646), (0o600, 0o600)])
def test_a_group_that_cannot_be_kept_hands_its_rights_to_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, left: int
) -> None:
    file = tmp_path / "x"
    file.write_text("old")
    file.chmod(mode)
    real = Path.stat

    def of_another_group(path: Path, **options: bool) -> os.stat_result:
        found = real(path, **options)
        return os.stat_result([*found[:5], found.st_gid + 1, *found[6:]]) if path == file else found

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "stat", of_another_group)
    monkeypatch.setattr(os, "chown", refuse)
    _write(file, "new")
    assert stat.S_IMODE(file.stat().st_mode) == left
    assert file.read_text() == "new"


@pytest.mark.parametrize("name", ["x" * 251 + ".csv", "ü" * 124 + ".csv.gz", "語" * 85, "." + "y" * 254], ids=range(4))
def test_a_name_may_be_as_long_as_names_may_be(tmp_path: Path, name: str) -> None:
    assert len(name.encode()) == 255
    with io.write_atomically(tmp_path / name) as temporary:
        assert temporary.name.endswith(name[-9:])
        temporary.write_text("new")
    assert [f.name for f in tmp_path.iterdir()] == [name]


def test_a_link_that_leads_to_itself_is_refused_and_left(tmp_path: Path) -> None:
    (tmp_path / "here").symlink_to("there")
    (tmp_path / "there").symlink_to("here")
    for name in ("here", "here/x.json"):
        with pytest.raises(FormatError, match="leads back to itself"):
            _write(tmp_path / name, "new")
    assert all(link.is_symlink() for link in tmp_path.iterdir())
    (tmp_path / "link").symlink_to("new.txt")  # to a file that is not there yet: it is made
    _write(tmp_path / "link", "new")
    assert (tmp_path / "new.txt").read_text() == "new"


def test_a_second_name_keeps_the_old_content(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    os.link(tmp_path / "x", tmp_path / "y")
    _write(tmp_path / "x", "new")
    assert (tmp_path / "y").read_text() == "old"


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
        monkeypatch.setattr("reidrisk.io.tables.writing._tokens_as_arrow", fail)
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
