"""DuckDB finds what the kernels find, bit for bit, and leaves nothing behind."""

import numpy as np
import pytest
from hypothesis import given, settings
from sharding import ShardingEngine
from twins import cases, twin

from reidrisk import search
from reidrisk.base.errors import EngineError, OptionError
from reidrisk.search.engines import DuckDBEngine, shards
from reidrisk.search.engines.join import LatticeJoin, joinable, n_sets

ENGINE = DuckDBEngine(threads=1)


@settings(deadline=None, max_examples=40)
@given(case=cases())
def test_the_join_finds_what_a_loop_over_pairs_finds(case):
    targets, queries, weights = case
    index = search.Index(targets, weights.match.shape[1])
    found = ENGINE.best(search.EpochScorer(weights), index, queries)
    for ours, theirs in zip(found, twin(targets, queries, weights), strict=True):
        assert ours.tolist() == theirs.tolist()


@settings(deadline=None, max_examples=5)
@given(case=cases(gaps=True, n_epochs=7))
def test_more_patterns_than_joins_allow_go_to_the_kernels(case):
    targets, queries, weights = case
    index = search.Index(targets, weights.match.shape[1])
    found = ENGINE.best(search.EpochScorer(weights), index, queries)
    for ours, theirs in zip(found, twin(targets, queries, weights), strict=True):
        assert ours.tolist() == theirs.tolist()


def test_weights_that_count_against_agreement_and_scans_are_not_joined(monkeypatch):
    rng = np.random.default_rng(0)
    targets, queries = rng.integers(-1, 5, (50, 3)), rng.integers(0, 5, (20, 3))
    weights = search.Weights(match=rng.integers(-4, 5, (3, 5)), mismatch=rng.integers(-4, 5, (3, 5)))
    monkeypatch.setattr(DuckDBEngine, "session", lambda self: pytest.fail("a join was asked for"))
    assert not joinable(weights)
    found = ENGINE.best(search.EpochScorer(weights), search.Index(targets, 5), queries)
    assert found.score.tolist() == twin(targets, queries, weights)[0].tolist()
    plain = search.Weights(match=np.ones((1, 5), dtype=np.int64), mismatch=np.zeros((1, 5), dtype=np.int64))
    ENGINE.best(search.EpochScorer(plain, "scan"), search.Index(targets, 5), queries)


def test_a_large_vocabulary_needs_more_than_one_key():
    n_tokens = 1 << 30
    join = LatticeJoin(3, n_tokens, ((0, 1, 2),), True)
    assert "k1" in join.advance("s", (((0, 1, 2), (0, 1, 2)),))
    assert n_sets(join.patterns) == sum(len(batch) for batch in join.batches())


@pytest.mark.parametrize("rows", [1, 7, 40])
def test_shards_are_merged_as_one(rows, monkeypatch):
    rng = np.random.default_rng(1)
    targets, queries = rng.integers(0, 4, (40, 3)), rng.integers(0, 4, (9, 3))
    scorer = search.EpochScorer(search.Weights(match=-np.ones((1, 4), dtype=int), mismatch=np.zeros((1, 4), dtype=int)))
    index = search.Index(targets, 4)
    monkeypatch.setattr(shards.cut, "__defaults__", (rows,))
    here = scorer.best(index, queries)
    for ours, theirs in zip(ENGINE.best(scorer, index, queries), here, strict=True):
        assert ours.tolist() == theirs.tolist()
    some, there = (
        ENGINE.candidates(scorer, index, queries, 5),
        ShardingEngine([3]).candidates(scorer, index, queries, 5),
    )
    assert some.target.tolist() == there.target.tolist()
    total = ENGINE.total(scorer, index, queries, here.score)
    assert total.tolist() == scorer.total(index, queries, here.score).tolist()


def test_the_spill_folder_is_removed_after_success_and_after_failure(tmp_path):
    engine = DuckDBEngine(spill=tmp_path)
    with engine.session() as session:
        session.keep("few", "SELECT 1 AS x")
        assert len(list(tmp_path.iterdir())) == 1
    assert not list(tmp_path.iterdir())
    with pytest.raises(EngineError, match="could not go on"), engine.session() as session:
        session.keep("none", "SELECT nothing FROM nowhere")
    assert not list(tmp_path.iterdir())


def test_options_that_cannot_work_are_refused(tmp_path):
    with pytest.raises(OptionError, match="128 MB"):
        DuckDBEngine(memory=1000)
    with pytest.raises(OptionError, match="no folder"), DuckDBEngine(spill=tmp_path / "not").session():
        pass


@pytest.mark.parametrize("sign", [1, -1])
def test_stored_targets_are_searched_by_joins_and_by_shards(sign, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    from reidrisk.search.engines.stored import StoredTokens

    rng = np.random.default_rng(4)
    targets, queries = rng.integers(-1, 6, (90, 3)), rng.integers(-1, 6, (25, 3))
    order = rng.permutation(90)  # rows may lie in any order: they are known by their ids
    for i, rows in enumerate((order[:50], order[50:])):
        columns = {"id": rows} | {f"c{s}": targets[rows, s] for s in range(3)}
        pq.write_table(pa.table(columns), tmp_path / f"{i}.parquet", row_group_size=20)
    stored = StoredTokens("targets", tuple(str(tmp_path / f"{i}.parquet") for i in range(2)), 90, 3, 6)
    scorer = search.EpochScorer(search.Weights(match=sign * rng.integers(1, 4, (3, 6)), mismatch=np.zeros((3, 6), int)))
    index = search.Index(targets, 6)
    here = scorer.best(index, queries)
    for ours, theirs in zip(ENGINE.best(scorer, stored, queries), here, strict=True):
        assert ours.tolist() == theirs.tolist()
    found, some = ENGINE.candidates(scorer, stored, queries, 4), scorer.candidates(index, queries, 4)
    assert found.target.tolist() == some.target.tolist()
    assert (
        ENGINE.total(scorer, stored, queries, here.score).tolist() == scorer.total(index, queries, here.score).tolist()
    )
