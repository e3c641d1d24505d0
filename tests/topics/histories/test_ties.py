"""Ties of replayed histories: each user's are broken by themselves, and what a seed decided is not released."""

import json

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from reidrisk import ReidRiskError, TopSets, io, populations, release
from reidrisk.release.counts.pairs import count_pairs, measured_blocks
from reidrisk.topics import HostClassifier, Taxonomy, TopicsAPI, histories_from_frame, replay
from reidrisk.topics.histories.replay import ties_from_seed

WEEK, T = 7 * 86_400, 40
TAXONOMY = Taxonomy({i: f"/T{i}" for i in range(1, T + 1)})
CLASSIFIER = HostClassifier(TAXONOMY, {f"h{i}.com": [i] for i in range(1, T + 1)})


def history(user, seed, sites=12):
    """Two weeks with one visit to each of some sites: nothing but ties."""
    rng = np.random.default_rng(seed)
    return [
        (user, week * WEEK + int(rng.integers(WEEK)), f"h{site + 1}.com")
        for week in range(2)
        for site in rng.choice(T, sites, replace=False)
    ]


def sets_of(rows, **options):
    table = pl.DataFrame(rows, schema=["user", "timestamp", "host"], orient="row")
    return replay(histories_from_frame(table, sort=True), CLASSIFIER, start=0, **options).top_sets


def people(n, sites=12):
    return [visit for i in range(n) for visit in history(i, i, sites)]


def test_ties_of_one_user_do_not_look_at_the_others():
    rows = people(50)
    before = sets_of(rows, seed=3).tokens
    for who in (0, 25, 49):
        before_them, behind_them = ([v for v in rows if v[0] < who], [v for v in rows if v[0] > who])
        after = sets_of(before_them + history(who, 999, sites=20) + behind_them, seed=3).tokens
        assert np.array_equal(np.delete(before, who, axis=0), np.delete(after, who, axis=0))


@pytest.mark.parametrize("row", [0, 150, 300])
def test_one_more_history_moves_the_counts_no_further_than_the_noise_was_made_for(monkeypatch, row):
    rows = people(300)
    one = history(-1, 9)
    both = [v for v in rows if v[0] < row] + one + [v for v in rows if v[0] >= row]
    words, found = ties_from_seed(5), []
    for one_more in (False, True):

        def own(rows, epochs, topics, one_more=one_more):
            """Everybody else keeps their words, wherever their row is now."""
            person = np.where(rows == row, 10**6, rows - (rows > row)) if one_more else rows
            return words(person, epochs, topics)

        monkeypatch.setitem(replay.__globals__, "ties_from_the_system", own)
        sets = sets_of(both if one_more else rows, seed=None)
        assert sets.is_padded
        found.append(count_pairs(sets))
    for block in measured_blocks(5, T, 2):
        moved = found[1].flat(block.name).astype(float) - found[0].flat(block.name)
        assert np.linalg.norm(moved) <= block.sensitivity * (1 + 1e-12)


def test_what_was_made_with_a_seed_is_not_released():
    api = TopicsAPI(n_topics=T, top_k=5)
    rates = populations.real(np.random.default_rng(1).random((500, T)) * 3)
    for sets in (sets_of(people(400), seed=0), sets_of(people(400, 3), seed=0), api.top_sets(rates, epochs=2, seed=3)):
        assert sets.is_padded
        assert sets.made_with_seed
        with pytest.raises(ReidRiskError, match="made with a seed"):
            release.statistics(sets, 5.0, 1e-6)
        assert release.statistics(sets, 5.0, 1e-6, simulation=True, seed=0).statement.simulation
    for sites in (12, 3):
        one, two = (sets_of(people(400, sites), seed=None) for _ in range(2))
        assert not one.made_with_seed
        assert not np.array_equal(one.tokens, two.tokens)
        assert not release.statistics(one, 5.0, 1e-6).statement.simulation


def test_without_a_seed_no_visit_moves_the_epochs():
    table = pl.DataFrame(people(5), schema=["user", "timestamp", "host"], orient="row")
    with pytest.raises(ReidRiskError, match="give start"):
        replay(histories_from_frame(table, sort=True), CLASSIFIER, seed=None)


def test_the_mark_stays_in_files_and_under_its_former_name(tmp_path):
    sets = TopSets([[[0, 1]], [[1, 2]]], 3, made_with_seed=True)
    io.write_top_sets(sets, tmp_path / "sets.csv")
    assert io.read_top_sets(tmp_path / "sets.csv").made_with_seed
    io.write_top_sets(TopSets(sets.tokens, 3), tmp_path / "plain.csv")
    assert "made_with_seed" not in (tmp_path / "plain.csv").read_text()
    (tmp_path / "odd.csv").write_text("epoch_0_0,made_with_seed\n1,perhaps\n")
    with pytest.raises(ReidRiskError, match="write true or false"):
        io.read_top_sets(tmp_path / "odd.csv")
    with pytest.raises(ReidRiskError, match="made with a seed"):
        io.write_tfrecords(tmp_path / "sets.tfrecord", sets)
    io.write_top_sets(sets, tmp_path / "sets.parquet")
    table = pq.read_table(tmp_path / "sets.parquet")
    for former in ({"n_tokens": 3, "padded_with_seed": True}, {"n_tokens": 3, "made_with_seed": True}):
        pq.write_table(table.replace_schema_metadata({"reidrisk": json.dumps(former)}), tmp_path / "old.parquet")
        assert io.read_top_sets(tmp_path / "old.parquet").made_with_seed
    with pytest.warns(DeprecationWarning, match="made_with_seed"):
        assert TopSets(sets.tokens, 3, padded_with_seed=True).made_with_seed
    with pytest.warns(DeprecationWarning, match="made_with_seed"):
        assert sets.padded_with_seed
