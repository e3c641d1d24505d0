"""Kernels compile where neither the package nor a home can be written, and nothing of strangers is executed."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import reidrisk

CODE = """
import os
from reidrisk.io.crc32c import crc32c
assert crc32c(b"123456789") == 0xE3069283
print(os.environ.get("NUMBA_CACHE_DIR", "none"))
"""


@pytest.fixture
def sealed(tmp_path):
    """A copy of the package beside which no cache can be made, and an environment without a home."""
    shutil.copytree(Path(reidrisk.__file__).parent, tmp_path / "reidrisk", ignore=shutil.ignore_patterns("__pycache__"))
    for folder, _, _ in os.walk(tmp_path / "reidrisk"):
        (Path(folder) / "__pycache__").touch()  # a file of this name stops root, too
    (tmp_path / "tmp").mkdir()
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    return kept | {
        "PYTHONPATH": str(tmp_path),
        "XDG_CACHE_HOME": "/dev/null/none",
        "TMPDIR": str(tmp_path / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def compiled(environment):
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return Path(done.stdout.strip())


def test_kernels_compile_without_a_place_of_their_own(sealed):
    temporary = Path(sealed["TMPDIR"])
    folder = compiled(sealed)
    assert folder.parent == temporary
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert compiled(sealed) == folder, "the next run finds what this one compiled"
    # A home that can be written is numba's own choice, and is left to it.
    assert compiled(sealed | {"XDG_CACHE_HOME": str(temporary / "home")}) == Path("none")


@pytest.mark.parametrize("taken", ["open to others", "a link"])
def test_a_folder_that_others_could_have_filled_is_not_used(sealed, taken):
    mine = Path(sealed["TMPDIR"]) / f"reidrisk-kernels-{os.getuid()}"
    if taken == "a link":
        (mine.parent / "theirs").mkdir()
        mine.symlink_to(mine.parent / "theirs")
    else:
        mine.mkdir()
        mine.chmod(0o777)
    folder = compiled(sealed)
    assert folder != mine
    assert folder.parent == mine.parent
    assert not folder.exists(), "a folder for one run is removed after it"
    assert list(mine.iterdir()) == []
