"""A full disk, a second run and a signal: what was there before is still there, or what is new is complete."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from reidrisk import TopSets, io, release

pytest.importorskip("torch", reason="fitting needs torch")
resource = pytest.importorskip("resource", reason="limits are those of POSIX")
MEASURE = ("release", "measure", "sets.parquet", "--epsilon", 1, "--delta", 1e-6, "--out", "stats")
FIT = ("release", "fit", "stats", "--types", 3, "--epochs", 2, "--steps", 20)
# Say when a fit has something to leave as a checkpoint, which it keeps in memory.
TELL = """from reidrisk.release.model import fit
keep = fit._State.keep
def tell(state, seconds):
    had = state.kept
    keep(state, seconds)
    if had is None and state.kept is not None:
        print("kept", flush=True)
fit._State.keep = tell
"""


@pytest.fixture
def stats(reidrisk, tmp_path):
    """A release of 30 tokens in the folder stats, whose budget is spent."""
    drawn = np.argsort(np.random.default_rng(0).random((4000, 2, 30)), axis=2)[:, :, :2]
    io.write_top_sets(TopSets(drawn, 30), tmp_path / "sets.parquet")
    assert reidrisk(*MEASURE, "--top-k", 2).code == 0
    return tmp_path / "stats"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


HEARD = "import signal; signal.signal(1, signal.SIG_DFL); signal.signal(2, signal.default_int_handler); "
"""Makes a process hear signals that it was started to ignore, as jobs in the background are."""


def start(arguments, folder, largest=None, before=""):
    """Start the command line; no file that it writes may be larger than so many bytes, as on a disk that gets full."""
    limit = "" if largest is None else f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({largest},) * 2); "
    code = f"{limit}{before}from reidrisk.cli import main; main({[str(one) for one in arguments]!r})"
    # Python would leave half of a compiled module behind, and fail to load it ever after.
    environment = os.environ | {"NUMBA_DISABLE_JIT": "0", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    pipe, command = subprocess.PIPE, [sys.executable, "-c", HEARD + code]
    return subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True, env=environment)


def repeated(first, *more):
    """Return values of a parameter: the first for every run of the tests, the others for `make stress`."""
    return [first, *(pytest.param(*one, marks=pytest.mark.stress) for one in more)]


# Before, within and after the first table; at any other place of the four files.
@pytest.mark.parametrize(
    "largest", repeated(30_000, *((size,) for size in (100, 80_000, *range(1_000, 120_000, 7_000))))
)
def test_a_full_disk_leaves_the_old_release(stats, tmp_path, largest):
    before, known = contents(stats), release.read_statistics(stats)
    assert len(before["q_within.json"]) > 30_000
    assert len(before["q_across.json"]) > 80_000 > len(before["q_within.json"])
    running = start([*MEASURE, "--top-k", 2, "--replace"], tmp_path, largest)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 2, err
    assert err.count("\n") == 1
    assert contents(stats) == before
    assert np.array_equal(release.read_statistics(stats).across, known.across)


def test_replacing_a_release_replaces_all_of_it(stats, reidrisk):
    before = contents(stats)
    assert reidrisk(*MEASURE, "--top-k", 2).code == 2
    assert contents(stats) == before
    assert reidrisk(*MEASURE, "--top-k", 2, "--replace").code == 0
    after = contents(stats)
    assert after.keys() == before.keys()
    for name in ("q_within.json", "q_across.json", "counts.npz"):
        assert after[name] != before[name]


@pytest.mark.parametrize("name", ["m.json", "m.safetensors"])
def test_a_full_disk_leaves_the_old_model(stats, reidrisk, tmp_path, name):
    assert reidrisk(*FIT, "--out", name).code == 0
    before = contents_of(tmp_path, name)
    running = start([*FIT, "--out", name, "--seed", 5], tmp_path, 1000)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 2, err
    assert contents_of(tmp_path, name) == before
    assert reidrisk("release", "sample", name, "--users", 10, "--out", "users").code == 0


def contents_of(folder, name):
    return {path.name: path.read_bytes() for path in folder.iterdir() if name in path.name}


def test_a_checkpoint_stays_until_the_model_is_in_its_file(stats, reidrisk, tmp_path, monkeypatch):
    from reidrisk.populations import TypeMixture
    from reidrisk.release.model import fit

    monkeypatch.setattr(fit, "_KEEP_EVERY", 0.0)
    monkeypatch.setattr(fit, "_SAVE_EVERY", 0.0)
    save = TypeMixture.save

    def full(model, path):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(TypeMixture, "save", full)
    assert reidrisk(*FIT, "--out", "m.st", "--checkpoint", "c.npz").code == 2
    assert (tmp_path / "c.npz").exists()
    monkeypatch.setattr(TypeMixture, "save", save)
    assert reidrisk(*FIT, "--out", "m.st", "--checkpoint", "c.npz").code == 0
    assert not (tmp_path / "c.npz").exists()


def test_a_sample_that_fails_leaves_no_files(stats, reidrisk, tmp_path):
    assert reidrisk(*FIT, "--out", "m.st").code == 0
    running = start(["release", "sample", "m.st", "--users", 100_000, "--out", "users"], tmp_path, 10_000)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 2, err
    assert not (tmp_path / "users").exists()
    assert reidrisk("release", "sample", "m.st", "--users", 10, "--out", "users").code == 0


@pytest.mark.parametrize(
    "command",
    [
        (*MEASURE, "--top-k", 2, "--replace"),
        (*FIT, "--out", "stats"),
        ("release", "sample", "m.st", "--users", 10, "--out", "stats"),
    ],
)
def test_a_second_run_into_the_same_place_is_refused_in_one_line(stats, reidrisk, tmp_path, command):
    is_folder = command[1] != "fit"
    command = [one if one != "stats" or is_folder or at == 2 else "m.st" for at, one in enumerate(command)]
    before = contents(stats)
    with io.atomic.locked(stats if is_folder else tmp_path / "m.st", is_folder):
        done = reidrisk(*command)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert str(os.getpid()) in done.err
    assert contents(stats) == before


SIGNALS = [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]


@pytest.mark.parametrize(("number", "code"), repeated(*SIGNALS))
def test_a_signal_leaves_a_checkpoint_and_nothing_else(stats, tmp_path, number, code):
    running = start([*FIT[:-1], 10**6, "--out", "m.st", "--checkpoint", "c.npz"], tmp_path, before=TELL)
    assert running.stdout.readline() == "kept\n"
    assert not (tmp_path / "c.npz").exists()
    running.send_signal(number)
    _, err = running.communicate(timeout=60)
    assert running.returncode == code, err
    assert "c.npz" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.npz", "sets.parquet", "stats"]
    assert int(np.load(tmp_path / "c.npz")["step"]) > 0


@pytest.mark.parametrize(("number", "code"), repeated(SIGNALS[1], SIGNALS[0]))
def test_a_signal_in_another_command_leaves_nothing(tmp_path, number, code):
    running = start(["demo", "--users", 2_000_000, "--out", "r.html"], tmp_path)
    running.stderr.readline()  # it has said what it is going to do
    time.sleep(1.0)
    running.send_signal(number)
    _, err = running.communicate(timeout=60)
    assert running.returncode == code, err
    assert "interrupted" in err
    assert list(tmp_path.iterdir()) == []


# Send a signal to this process at one of the imports that follow once the command line was entered.
EARLY = """import builtins, os
real, left = builtins.__import__, [{at}]
def importing(*arguments, **named):
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), {number})
    return real(*arguments, **named)
import reidrisk.cli.stopping
from contextlib import contextmanager
stop = reidrisk.cli.stopping.stop_signals
@contextmanager
def watched(*arguments):
    with stop(*arguments) as came:
        builtins.__import__ = importing
        yield came
reidrisk.cli.stopping.stop_signals = watched
"""


@pytest.mark.parametrize("at", [1, 1000, *(pytest.param(at, marks=pytest.mark.stress) for at in (2, 10, 100, 3000))])
@pytest.mark.parametrize(("number", "code"), [SIGNALS[0], SIGNALS[2]])
def test_a_signal_during_the_imports_ends_in_one_line(tmp_path, at, number, code):
    before = EARLY.format(at=at, number=int(number))
    running = start(["demo", "--users", 2_000_000, "--out", "r.html"], tmp_path, before=before)
    _, err = running.communicate(timeout=60)
    assert running.returncode == code, err
    assert err.splitlines()[-1].startswith("reidrisk: interrupted")
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seconds", repeated(0.6, *((seconds,) for seconds in (0.0, 0.05, 0.2, 1.5, 2.5, 4.0))))
def test_a_termination_at_any_early_time_is_never_an_interrupt(tmp_path, seconds):
    running = start(["demo", "--users", 2_000_000, "--out", "r.html"], tmp_path)
    time.sleep(seconds)
    running.terminate()
    _, err = running.communicate(timeout=60)
    assert running.returncode in (-signal.SIGTERM, 143), err  # Python itself was starting, or the command line
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.stress
def test_a_fit_that_is_killed_again_and_again_ends_in_the_same_model(stats, reidrisk, tmp_path):
    fit = [*FIT[:-1], 1_000, "--seed", 3]
    assert reidrisk(*fit, "--out", "whole.st").code == 0
    hurried = "from reidrisk.release.model import fit; fit._KEEP_EVERY = fit._SAVE_EVERY = 0.05; "
    resumed = [*fit, "--out", "killed.st", "--checkpoint", "c.npz"]
    for delay in np.random.default_rng(0).uniform(0.0, 0.3, size=5):
        running = start(resumed, tmp_path, before=hurried)
        while not (tmp_path / "c.npz").exists() and running.poll() is None:
            time.sleep(0.01)
        time.sleep(delay)
        running.kill()
        running.communicate()
    assert reidrisk(*resumed).code == 0
    whole, killed = (release.TypeMixture.load(tmp_path / name) for name in ("whole.st", "killed.st"))
    assert np.array_equal(whole.theta, killed.theta)
    assert not (tmp_path / "c.npz").exists()


def test_a_hang_up_that_is_ignored_stays_ignored(tmp_path):
    code = (
        "import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from reidrisk.cli.stopping import stop_signals\n"
        "with stop_signals() as came:\n  os.kill(os.getpid(), signal.SIGHUP)\nprint(came)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
