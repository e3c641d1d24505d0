"""Files that belong together are the old ones or the new ones, wherever the writer is stopped."""

import os
import shutil

import pytest

from reidrisk import ReidRiskError
from reidrisk.io import together
from reidrisk.io.together import current, found, write_together

NAMES = ("a", "b", "c")


class Killed(BaseException):
    """The process ends here: nothing of it runs any more, not even what tidies up."""


def write(folder, text, names=NAMES):
    with write_together(folder, "set", NAMES) as new:
        for name in names:
            (new / name).write_text(text)


def read(folder):
    paths = {name: current(folder, "set", name) for name in NAMES}
    return {name: path.read_text() for name, path in paths.items() if path.exists()}


def test_a_full_disk_keeps_what_a_folder_holds_and_claims_nothing_of_a_new_one(tmp_path):
    def fail(folder):
        with write_together(folder, "set", NAMES):
            raise OSError(28, "No space left on device")

    with pytest.raises(ReidRiskError, match="what it holds was kept"):
        fail(tmp_path)
    with pytest.raises(ReidRiskError, match="nothing was written"):
        fail(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stop", [OSError(28, "No space left on device"), KeyboardInterrupt(), ValueError()])
def test_a_writer_that_fails_leaves_everything_as_it_was(tmp_path, stop):
    write(tmp_path, "old")
    (tmp_path / "mine").write_text("other")

    def fail():
        with write_together(tmp_path, "set", NAMES) as new:
            (new / "a").write_text("new")
            raise stop

    with pytest.raises(ReidRiskError if isinstance(stop, OSError) else type(stop)):
        fail()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(NAMES, "old") | {
        "mine": "other"
    }


def test_a_folder_that_was_made_for_nothing_is_removed(tmp_path):
    with pytest.raises(ValueError, match="no"), write_together(tmp_path / "x" / "y", "set", NAMES):
        raise ValueError("no")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("names", [NAMES, ("a", "c")])
def test_a_kill_between_any_two_steps_loses_and_mixes_nothing(tmp_path, monkeypatch, names):
    """Count the calls that change the folder, then be killed before each of them."""
    steps = 0

    def counted(change, last):
        def call(*arguments, **options):
            nonlocal steps
            steps += 1
            if steps == last:
                raise Killed
            return change(*arguments, **options)

        return call

    def attempt(folder, last):
        nonlocal steps
        steps = 0
        with monkeypatch.context() as patch:
            patch.setattr(os, "rename", counted(os.rename, last))
            patch.setattr(os, "replace", counted(os.replace, last))
            patch.setattr(together.Path, "unlink", counted(together.Path.unlink, last))
            # What a killed process leaves behind stays; only its last step, removing an emptied folder, is a change.
            patch.setattr(shutil, "rmtree", counted(lambda path, ignore_errors=False: None, last))
            write(folder, "new", names)

    old, new = dict.fromkeys(NAMES, "old"), dict.fromkeys(names, "new")
    write(tmp_path / "all", "old")
    attempt(tmp_path / "all", last=0)
    seen = []
    for last in range(1, steps + 1):
        folder = tmp_path / str(last)
        write(folder, "old")
        with pytest.raises(Killed):
            attempt(folder, last)
        assert read(folder) in (old, new)
        seen.append(read(folder))
        assert [path.name for path in found(folder, "set", "?")] == list(seen[-1])
        write(folder, "newer")
        assert read(folder) == dict.fromkeys(NAMES, "newer")
        assert not (folder / ".set.complete").exists()
    assert seen[0] == old
    assert seen[-1] == new
    assert seen == sorted(seen, key=lambda found: found == new)  # once new, it stays new


def test_links_are_followed_and_permissions_kept(tmp_path):
    (tmp_path / "elsewhere").write_text("old")
    (tmp_path / "elsewhere").chmod(0o640)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a").symlink_to(tmp_path / "elsewhere")
    write(folder, "new")
    assert (folder / "a").is_symlink()
    assert (tmp_path / "elsewhere").read_text() == "new"
    assert (tmp_path / "elsewhere").stat().st_mode & 0o777 == 0o640


def test_a_write_protected_file_is_not_replaced(tmp_path):
    write(tmp_path, "old")
    (tmp_path / "b").chmod(0o444)
    with pytest.raises(ReidRiskError, match="write-protected"):
        write(tmp_path, "new")
    assert read(tmp_path) == dict.fromkeys(NAMES, "old")
