"""One run at a time; what a dead run left behind blocks nobody."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from reidrisk import ReidRiskError
from reidrisk.io.atomic import locked

pytest.importorskip("fcntl", reason="locks are those of POSIX")
HOLD = (
    "import sys\nfrom reidrisk.io.atomic import locked\nwith locked(sys.argv[1], True): print(1, flush=True), input()"
)


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the folder."""
    command = [sys.executable, "-c", HOLD, str(tmp_path / "out")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "1\n"
    yield process
    process.kill()
    process.communicate()


def test_a_second_run_is_told_who_is_there(tmp_path, holder):
    with pytest.raises(ReidRiskError, match=f"process {holder.pid}"), locked(tmp_path / "out", True):
        raise AssertionError("both hold it")
    holder.communicate("\n")
    assert holder.returncode == 0
    assert not (tmp_path / "out").exists()  # it was made for the lock, and is empty
    with locked(tmp_path / "out", True) as held:
        assert held


def test_a_killed_run_blocks_nobody(tmp_path, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (tmp_path / "out" / ".lock").exists()
    with locked(tmp_path / "out", True) as held:
        assert held
    assert list((tmp_path / "out").iterdir()) == []


def test_a_file_is_locked_beside_itself_and_others_are_not(tmp_path):
    with locked(tmp_path / "a"), locked(tmp_path / "b"):
        assert sorted(os.listdir(tmp_path)) == [".a.lock", ".b.lock"]
        with pytest.raises(ReidRiskError, match="another run"), locked(tmp_path / "a"):
            pass
        assert sorted(os.listdir(tmp_path)) == [".a.lock", ".b.lock"]
    assert os.listdir(tmp_path) == []


def test_two_never_hold_it_at_once(tmp_path):
    """Twenty threads take and release it as fast as they can; the file comes and goes under their hands."""
    inside, most, taken = 0, 0, 0
    guard = threading.Lock()

    def work():
        nonlocal inside, most, taken
        for _ in range(50):
            try:
                with locked(tmp_path / "x"):
                    with guard:
                        inside, taken = inside + 1, taken + 1
                        most = max(most, inside)
                    with guard:
                        inside -= 1
            except ReidRiskError:
                pass

    threads = [threading.Thread(target=work) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    assert taken > 20
    assert os.listdir(tmp_path) == []
