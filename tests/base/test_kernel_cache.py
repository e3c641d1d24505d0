"""Kernels compile where neither the package nor a home can be written, and nothing of strangers is executed."""

import importlib.util
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import reidrisk
from reidrisk.base import kernel_cache
from reidrisk.io.tfrecord.example import make_example
from reidrisk.io.tfrecord.framing import write_frames

KERNEL = """
from reidrisk.base.kernels import njit

@njit(cache=True)
def double(x):
    return 2 * x
"""
CODE = """
import os
from reidrisk.tiny import double
assert double(21) == 42
print(os.environ.get("NUMBA_CACHE_DIR", "none"))
"""


@pytest.fixture
def sealed(tmp_path):
    """A copy of the package's base beside which no cache can be made, and an environment without a home."""
    package = Path(reidrisk.__file__).parent
    shutil.copytree(package / "base", tmp_path / "reidrisk" / "base", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(package / "__init__.py", tmp_path / "reidrisk")
    (tmp_path / "reidrisk" / "tiny.py").write_text(KERNEL)
    for folder, _, _ in os.walk(tmp_path / "reidrisk"):
        (Path(folder) / "__pycache__").touch()  # a file of this name stops root, too
    (tmp_path / "tmp").mkdir(mode=0o700)
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    return kept | {
        "PYTHONPATH": str(tmp_path),
        "XDG_CACHE_HOME": "/dev/null/none",
        "TMPDIR": str(tmp_path / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def compiled(environment, code=CODE, folder=None):
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return Path(done.stdout.strip())


def test_kernels_compile_without_a_place_of_their_own(sealed):
    temporary = Path(sealed["TMPDIR"])
    folder = compiled(sealed)
    assert folder.parent == temporary
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert compiled(sealed) == folder, "the next run finds what this one compiled"
    alone = 'import os, reidrisk; print(os.environ.get("NUMBA_CACHE_DIR", "none"))'
    assert compiled(sealed, alone) == Path("none"), "importing the package changes nothing"
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


NO_USER = """
import pwd
def nobody(user):
    raise KeyError(user)
pwd.getpwuid = nobody
"""


@pytest.mark.parametrize("home", ["missing", "an empty variable", "relative"])
def test_nothing_is_executed_from_the_working_folder(sealed, tmp_path, home):
    (tmp_path / "public").mkdir()
    environment = {name: value for name, value in sealed.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    if home == "an empty variable":
        environment["XDG_CACHE_HOME"] = ""
    elif home == "relative":
        environment["HOME"] = "home"
    folder = compiled(environment, (NO_USER if home == "missing" else "") + CODE, tmp_path / "public")
    assert folder.parent == Path(sealed["TMPDIR"])
    assert list((tmp_path / "public").iterdir()) == []


@pytest.mark.parametrize("mode", [0o1777, 0o777, 0o770, 0o700])
def test_a_home_that_others_can_write_is_not_used(sealed, tmp_path, mode):
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(mode)
    environment = {name: value for name, value in sealed.items() if name != "XDG_CACHE_HOME"} | {"HOME": str(home)}
    folder = compiled(environment)
    assert folder == Path("none") if mode == 0o700 else folder.parent == Path(sealed["TMPDIR"])
    assert bool(list(home.iterdir())) == (mode == 0o700)


@pytest.mark.parametrize("layer", ["numba", ".cache", "above"])
def test_a_cache_folder_that_a_stranger_has_or_could_exchange_is_not_ours(tmp_path, monkeypatch, layer):
    folder = tmp_path / "home" / ".cache" / "numba"
    folder.mkdir(parents=True)
    for part in (tmp_path / "home", folder.parent, folder):
        part.chmod(0o755)
    assert kernel_cache._ours(str(folder))
    if layer == "above":
        (tmp_path / "home").chmod(0o777)
        assert not kernel_cache._ours(str(folder))
        (tmp_path / "home").chmod(0o1777)
        assert kernel_cache._ours(str(folder)), "the sticky bit keeps others from renaming what is there"
        assert not kernel_cache._ours(str(tmp_path / "home" / "new")), "but not from making what is not there yet"
        return
    theirs = folder if layer == "numba" else folder.parent
    real = os.stat

    def stranger(path, *rest, **options):
        found = real(path, *rest, **options)
        if os.fspath(path) != str(theirs):
            return found
        return os.stat_result([*found[:4], os.getuid() + 1, *found[5:]])

    monkeypatch.setattr(os, "stat", stranger)
    assert not kernel_cache._ours(str(folder))


DAMAGE = {
    "an empty index": ("*.nbi", lambda content: b""),
    "half an index": ("*.nbi", lambda content: content[: len(content) // 2]),
    "an index that is none": ("*.nbi", lambda content: b"\x80\x05K\x01."),
    "an empty kernel": ("*.nbc", lambda content: b""),
    "half a kernel": ("*.nbc", lambda content: content[: len(content) // 2]),
    "a kernel with one other byte": ("*.nbc", lambda content: content[:500] + b"?" + content[501:]),
    "a kernel of somebody else": ("*.nbc", lambda content: b"cos\nabort\n."),
}  # fmt: skip


def doubled(source: Path) -> str:
    """Load a module with a kernel as another run would, and return whether the kernel came from the cache."""
    specification = importlib.util.spec_from_file_location("kept", source)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    assert module.double(21) == 42
    return "hit" if sum(module.double.stats.cache_hits.values()) else "miss"


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_cache_is_built_anew(tmp_path, monkeypatch, damage):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "kernels"))
    source = tmp_path / "kept.py"
    source.write_text(KERNEL)
    assert [doubled(source), doubled(source)] == ["miss", "hit"]
    pattern, changed = DAMAGE[damage]
    files = sorted((tmp_path / "kernels").rglob(pattern))
    assert files
    for file in files:
        file.write_bytes(changed(file.read_bytes()))
    assert doubled(source) == "miss", "what is damaged counts as not there"
    assert doubled(source) == "hit", "and is kept again"


def test_a_command_runs_with_an_empty_index(reidrisk, tmp_path):
    record = {"user_id": [b"u7"], "epoch_0_topics": [1, 2], "epoch_0_weights": [1.0, 1.0]}
    write_frames(tmp_path / "t.tfrecord", [make_example(record)])
    words = ["convert", str(tmp_path / "t.tfrecord"), "--out", str(tmp_path / "t.csv")]
    first = reidrisk(*words)
    assert first.code == 0, first.err
    # What this process has just compiled or loaded, where it keeps that in one place, as `make test` does.
    kept = Path(os.environ.get("NUMBA_CACHE_DIR", tmp_path / "none"))
    for folder in kept.glob("tfrecord_*"):
        shutil.copytree(folder, tmp_path / "kernels" / folder.name)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    command = [sys.executable, "-m", "reidrisk", *words]
    if not kept.exists():
        subprocess.run(command, env=environment, capture_output=True, timeout=300, check=True)
    indexes = list((tmp_path / "kernels").rglob("*.nbi"))
    assert indexes
    for file in indexes:
        file.write_bytes(b"")
    again = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert (again.returncode, again.stdout) == (0, first.out)
    # Others may be of former versions of the module, which nobody loads.
    assert any(file.stat().st_size for file in indexes), "compiled anew, and kept"


def test_every_kernel_is_made_by_the_module_that_guards_the_cache():
    package = Path(reidrisk.__file__).parent
    direct = [
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if file.name != "kernels.py" and ("import numba" in file.read_text() or "from numba" in file.read_text())
    ]
    assert direct == []
