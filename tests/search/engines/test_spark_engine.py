"""Spark finds what the kernels find, bit for bit: by joins, and by shards scored on executors."""

import shutil

import numpy as np
import pytest
from twins import twin

from reidrisk import Bags, Traces, attacks, search
from reidrisk.base.errors import EngineError, OptionError
from reidrisk.search.engines import SparkEngine

pytest.importorskip("pyspark")
pytestmark = pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java here")


def test_spark_finds_what_the_kernels_find(tmp_path, monkeypatch):
    """Check everything in one test: workers that share tests would each start a session, which takes longest."""
    options = {"spark.sql.shuffle.partitions": "2", "spark.default.parallelism": "2"}
    # Java compiles once, and quickly: what runs for seconds takes half the time.
    options["spark.driver.extraJavaOptions"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    engine = SparkEngine("local[2]", options=options)
    try:
        check_joins(engine, gaps=False, one_row=False)
        check_joins(engine, gaps=True, one_row=True)
        check_long_plans_with_gaps(engine)
        check_pairs_are_scored_on_executors(engine)
        check_stored_tables(engine, tmp_path, monkeypatch)
    finally:
        engine.close()


def check_joins(engine, gaps, one_row):
    rng = np.random.default_rng(gaps)
    r = 2 if gaps else 3
    targets, queries = (rng.integers(-1 if gaps else 0, 4, (n, r)) for n in (60, 25))
    mismatch = rng.integers(-3, 3, (1 if one_row else r, 4))
    weights = search.Weights(match=mismatch + rng.integers(0, 3, mismatch.shape), mismatch=mismatch)
    found = engine.best(search.EpochScorer(weights), search.Index(targets, 4), queries)
    for ours, theirs in zip(found, twin(targets, queries, weights), strict=True):
        assert ours.tolist() == theirs.tolist()


def check_long_plans_with_gaps(engine):
    """Check 81 sets of epochs, joined in one plan after the other, and 6,561, which are left to the kernels."""
    for r in (4, 8):
        rng = np.random.default_rng(r)
        targets, queries = (np.where(rng.random((n, r)) < 0.4, -1, rng.integers(9, size=(n, r))) for n in (500, 300))
        mismatch = rng.integers(-3, 3, (r, 9))
        weights = search.Weights(match=mismatch + rng.integers(0, 3, mismatch.shape), mismatch=mismatch)
        scorer, index = search.EpochScorer(weights), search.Index(targets, 9)
        for ours, theirs in zip(engine.best(scorer, index, queries), scorer.best(index, queries), strict=True):
            assert np.array_equal(ours, theirs)


def check_pairs_are_scored_on_executors(engine):
    rng = np.random.default_rng(2)
    tokens = rng.integers(0, 6, (40, 4))
    other = np.where(rng.random(tokens.shape) < 0.6, tokens, rng.integers(0, 6, tokens.shape))[:15]
    attack = attacks.ProfileBayes(2, 0.1).fit(Traces(tokens, 6))
    queries = Traces(other, 6)
    here, there = (attack.link(queries, probability=True, engine=one) for one in (None, engine))
    for field in ("target", "score", "n_ties", "probability"):
        assert np.array_equal(getattr(here, field), getattr(there, field)), field
    bags = Bags(rng.poisson(1.0, (30, 8)))
    rival = attacks.BM25().fit(bags)
    near, far = (rival.candidates(bags, 4, engine=one) for one in (None, engine))
    assert np.array_equal(near[0], far[0])
    assert np.array_equal(near[1], far[1])


def test_a_master_that_is_not_there_is_said_in_one_line():
    with pytest.raises(EngineError, match="does not answer") as told, SparkEngine("spark://127.0.0.1:9").session():
        pass
    assert "\n" not in str(told.value)
    for url in ("spark://nowhere", "spark://host:port", "http://host:7077", "nonsense"):
        with pytest.raises(OptionError, match="--master"), SparkEngine(url).session():
            pass
    with pytest.raises(EngineError, match="does not answer"), SparkEngine("sc://127.0.0.1:9").session():
        pass
    with pytest.raises(OptionError, match="not both"):
        SparkEngine("local[1]", session=object())


def check_stored_tables(engine, tmp_path, monkeypatch):
    import pyarrow as pa
    import pyarrow.parquet as pq

    from reidrisk.audit import AuditSpec, Tables, run
    from reidrisk.audit.stored import run as stored_run
    from reidrisk.search.engines import DuckDBEngine

    monkeypatch.setattr(stored_run.run_stored, "__defaults__", (None, 0, 1))
    rng = np.random.default_rng(3)
    a = rng.integers(0, 9, (400, 2))
    b = np.where(rng.random(a.shape) < 0.7, a, rng.integers(0, 9, a.shape))
    (tmp_path / "a").mkdir()
    for i, rows in enumerate(np.array_split(np.arange(400), 2)):
        table = {"user": rows} | {f"epoch_{s}": a[rows, s] for s in range(2)}
        pq.write_table(pa.table(table), tmp_path / "a" / f"{i}.parquet")
    (tmp_path / "b").mkdir()  # long, with other names, in CSV
    lines = [f"q{i},week {s + 1},{b[i, s]}" for i in range(400) for s in range(2)]
    (tmp_path / "b" / "0.csv").write_text("\n".join(["user,epoch,token", *lines]))
    (tmp_path / "pairs.csv").write_text("\n".join(["query,target", *(f"q{i},{i}" for i in range(390))]))
    inputs = Tables(
        targets=str(tmp_path / "a"), queries=str(tmp_path / "b"), truth=str(tmp_path / "pairs.csv"), n_tokens=9
    )
    spec = AuditSpec(inputs=inputs, seed=1, epochs=(2,), attacks=("hamming", "bm25"), sample=300)
    here, there = (run(spec, engine=one) for one in (DuckDBEngine(threads=1), engine))
    assert [risk.to_dict() for risk in here.risks] == [risk.to_dict() for risk in there.risks]
    assert here.exposure == there.exposure
    assert here.bounds == there.bounds
