"""What breaks in the middle: an executor, the connection, the disk, the job itself. `make stress` runs these."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reidrisk import search
from reidrisk.base.errors import EngineError
from reidrisk.search.engines import DuckDBEngine, SparkEngine

pytestmark = pytest.mark.stress
needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java here")


def case(n=60_000, r=3, n_tokens=300, gaps=0.0):
    rng = np.random.default_rng(0)
    targets = np.where(rng.random((n, r)) < gaps, -1, rng.integers(0, n_tokens, (n, r)))
    queries = np.where(rng.random((n, r)) < 0.5, targets, rng.integers(0, n_tokens, (n, r)))
    gain = rng.integers(1, 9, (r, n_tokens))
    return search.EpochScorer(search.Weights(match=gain, mismatch=0 * gain)), search.Index(targets, n_tokens), queries


def executors():
    """Return the executors that this process has started, by way of its Java process."""
    parents, found = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if "CoarseGrainedExecutorBackend" in (folder / "cmdline").read_text():
                found.append(int(folder.name))
        except (OSError, ValueError):
            continue

    def ours(process):
        while process > 1:
            if process == os.getpid():
                return True
            process = parents.get(process, 0)
        return False

    return [process for process in found if ours(process)]


@needs_java
@pytest.mark.parametrize(("late", "more"), [(0.0, {}), (0.5, {"n": 2_000, "r": 4, "n_tokens": 20, "gaps": 0.4})])
def test_an_executor_killed_in_mid_run_changes_no_answer(late, more):
    """Check it early, where what was lost is computed again, and after a plan was cut, where another has it."""
    pytest.importorskip("pyspark")
    killed = []

    def kill_one(stage, share):
        if share > late and not killed:
            killed.append(executors()[0])
            os.kill(killed[0], signal.SIGKILL)

    engine = SparkEngine("local-cluster[2,1,1024]", progress=kill_one)
    scorer, targets, queries = case(**more)
    try:
        found = engine.best(scorer, targets, queries)
    finally:
        engine.close()
    assert killed
    for ours, theirs in zip(found, scorer.best(targets, queries), strict=True):
        assert np.array_equal(ours, theirs)


@needs_java
def test_a_connection_lost_in_mid_run_is_said_in_one_line():
    pytest.importorskip("pyspark")
    script = """
        import os, signal, sys
        sys.path.insert(0, {folder!r})
        from test_engine_faults import case
        from reidrisk.base.errors import EngineError
        from reidrisk.search.engines import SparkEngine

        def kill(stage, share):
            if share > 0:
                os.kill(engine._spark.sparkContext._gateway.proc.pid, signal.SIGKILL)

        engine = SparkEngine("local[1]", progress=kill)
        try:
            engine.best(*case(3000))
        except EngineError as error:
            print("told:", error)
            os._exit(2)
    """
    code = textwrap.dedent(script).format(folder=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=500, check=False)
    told = [line for line in done.stdout.splitlines() if line.startswith("told:")]
    assert done.returncode == 2, done.stderr[-2000:]
    assert len(told) == 1
    assert "was lost" in told[0]


@pytest.fixture
def tiny_disk(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    if (
        os.geteuid()
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", place], check=False).returncode
    ):
        pytest.skip("a small disk cannot be mounted here")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_is_said_and_no_part_of_an_answer_is_given(tiny_disk):
    engine = DuckDBEngine(memory=140_000_000, spill=tiny_disk, threads=1)
    with pytest.raises(EngineError, match="--spill") as told:
        engine.best(*case(2_000_000, 4))
    assert "\n" not in str(told.value)
    assert not list(tiny_disk.iterdir())


def write_tables(folder, n):
    rng = np.random.default_rng(1)
    a = rng.integers(0, 99, (n, 2)).astype(np.int16)
    b = np.where(rng.random(a.shape) < 0.6, a, rng.integers(0, 99, a.shape)).astype(np.int16)
    for name, tokens in (("a", a), ("b", b)):
        (folder / name).mkdir()
        for i, rows in enumerate(np.array_split(np.arange(n), 4)):
            columns = {"user": rows} | {f"epoch_{s}": tokens[rows, s] for s in range(2)}
            pq.write_table(pa.table(columns), folder / name / f"{i}.parquet")


def audit(folder, *more):
    call = [sys.executable, "-m", "reidrisk", "audit", str(folder / "a"), str(folder / "b"), "--engine", "duckdb"]
    return [
        *call,
        "--attack",
        "hamming",
        "--attack",
        "bm25",
        "--sample",
        "400",
        "--epochs",
        "1,2",
        "--seed",
        "1",
        *more,
    ]


def test_a_killed_command_goes_on_where_it_was(tmp_path):
    write_tables(tmp_path, 1_010_000)
    results = [tmp_path / f"{name}.json" for name in ("whole", "resumed")]
    subprocess.run(audit(tmp_path, "--result", str(results[0])), check=True, capture_output=True)
    resuming = audit(tmp_path, "--resume", str(tmp_path / "parts"), "--result", str(results[1]))
    job = subprocess.Popen(resuming, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(3_000):
        if (tmp_path / "parts" / "Hamming-1-row.json").exists() or job.poll() is not None:
            break
        time.sleep(0.1)
    assert job.poll() is None, "it ended before it could be killed"
    job.kill()
    job.wait()
    assert not results[1].exists()
    before = (tmp_path / "parts" / "Hamming-1-row.json").stat().st_mtime_ns
    subprocess.run(resuming, check=True, capture_output=True)
    assert (tmp_path / "parts" / "Hamming-1-row.json").stat().st_mtime_ns == before
    whole, resumed = (json.loads(path.read_text()) for path in results)
    assert whole == resumed
