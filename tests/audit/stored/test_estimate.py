"""An estimate is made of the same people in both tables, and grows as the times of two parts say."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reidrisk.audit import AuditSpec, Tables, run
from reidrisk.audit.stored import estimate as timing
from reidrisk.base.errors import OptionError
from reidrisk.search.engines import DuckDBEngine


def tables(tmp_path, n=2_000):
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 20, (n, 2))
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        columns = {"user": np.arange(n)} | {f"epoch_{s}": tokens[:, s] for s in range(2)}
        pq.write_table(pa.table(columns), tmp_path / name / "0.parquet")
    return Tables(targets=str(tmp_path / "a"), queries=str(tmp_path / "b"))


def test_parts_are_timed_and_all_of_it_follows(tmp_path, monkeypatch):
    inputs, ran = tables(tmp_path), []
    spec = AuditSpec(inputs=inputs, seed=1, attacks=("hamming",))

    def timed(work):
        found = work()
        ran.append(len(ran))
        return (99.0, 99.0) if len(ran) == 1 else (1.0 + found * 0.001, 0.5)

    monkeypatch.setattr(timing, "_timed", timed)
    monkeypatch.setattr(timing, "run_stored", lambda *arguments: 2_000 / arguments[-1])
    found = timing.estimate(spec, DuckDBEngine(threads=1, memory=200_000_000))
    assert len(ran) == 3
    assert found.people == 2_000
    assert found.timed == 1_000
    assert found.seconds == pytest.approx(1.0 + 2.0 * 2**0.04, rel=1e-6)
    assert found.processor == pytest.approx(0.5)
    assert found.memory > 0
    assert found.disk > 0
    assert found.spilled == 0

    rows, held = [], (2 * 60 + 64) * 2_000  # of 2 epochs
    for limit in (held + 1, held - 1, held // 2 - 1):
        ran.clear()
        engine = DuckDBEngine(threads=1)
        engine.memory = limit
        rows.append(timing.estimate(spec, engine))
    fits, spills, spilt_before = rows
    assert spills.seconds == pytest.approx(1.4 * fits.seconds)
    assert spills.spilled == 1
    assert spilt_before.seconds == pytest.approx(fits.seconds)


def test_an_estimate_runs_parts_of_the_audit_and_leaves_nothing(tmp_path):
    (tmp_path / "spill").mkdir()
    engine = DuckDBEngine(threads=1, spill=tmp_path / "spill")
    spec = AuditSpec(inputs=tables(tmp_path), seed=1, attacks=("hamming",), epochs=(2,))
    assert timing.estimate(spec, engine).seconds > 0.0
    assert not list((tmp_path / "spill").iterdir())
    assert run(spec, engine=engine).n_queries == 2_000


def test_what_cannot_be_estimated_is_refused(tmp_path):
    with pytest.raises(OptionError, match="two stored tables"):
        timing.estimate(AuditSpec(), DuckDBEngine())
    with pytest.raises(OptionError, match="too few"):
        timing.estimate(AuditSpec(inputs=tables(tmp_path, 100)), DuckDBEngine())
