"""Everything that a few bytes or digits can ask for is bounded, and refused before memory is taken."""

from __future__ import annotations

import gzip
import json
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reidrisk import TopSets, bandits, cohorts, io, populations, release
from reidrisk.base import sizes
from reidrisk.base.errors import OptionError, ReidRiskError, SizeError
from reidrisk.io.tfrecord.framing import write_frames
from reidrisk.release import PUBLISHED, TypeMixture
from reidrisk_studies.galozy.clustered import clustered_users


def refused(call, *parts: str) -> None:
    """Hold that a call is refused with these parts of the message, and with less than 100 MB of new memory."""
    tracemalloc.start()
    try:
        with pytest.raises(ReidRiskError) as caught:
            call()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 100_000_000, most
    for part in parts:
        assert part in str(caught.value)


def test_a_bound_can_be_moved_and_says_so(monkeypatch):
    limit = sizes.SizeLimit("REIDRISK_MAX_TEST", 10, "things")
    limit.check(10, "x", "take fewer")
    with pytest.raises(SizeError, match=r"x: 11 things are more than the 10 .*; take fewer, or .* REIDRISK_MAX_TEST"):
        limit.check(11, "x", "take fewer")
    monkeypatch.setenv("REIDRISK_MAX_TEST", "11")
    limit.check(11, "x", "take fewer")
    for wrong in ("0", "-3", "many", "1e6", "9" * 30):
        monkeypatch.setenv("REIDRISK_MAX_TEST", wrong)
        with pytest.raises(OptionError, match="REIDRISK_MAX_TEST"):
            limit.check(1, "x", "take fewer")


@pytest.mark.parametrize("figure", [10**18, 10**30, 10**30 - 1, 10**5000, 2**64], ids=range(5))
def test_large_figures_are_written_in_few_letters(figure):
    with pytest.raises(SizeError) as caught:
        sizes.CELLS.check(figure, "x", "y")
    written = str(caught.value).split()[1 if figure in (10**18, 10**30, 10**5000) else 2]
    power = int(written.removeprefix("1e"))
    assert 10**power <= figure < 10 ** (power + 1)
    assert len(str(caught.value)) < 200


def test_the_normal_size_is_allowed():
    people, epochs, topics = 10_000_000, 8, 5
    for limit, figure in ((sizes.CELLS, people * epochs * topics), (sizes.USERS, people), (sizes.RUNS, 10_000)):
        limit.check(figure, "x", "y")


def test_the_documentation_lists_every_bound():
    page = Path(__file__).parents[2] / "docs" / "how-to" / "large-tables.md"
    listed = dict(re.findall(r"\| `(REIDRISK_MAX_[A-Z]+)` \| ([0-9,]+) \|", page.read_text(encoding="utf-8")))
    limits = [value for value in vars(sizes).values() if isinstance(value, sizes.SizeLimit)]
    assert listed == {limit.variable: f"{limit.default:,}" for limit in limits}
    assert len(limits) == 9


def test_a_vocabulary_beyond_all_memory_is_refused_before_it_is_made(tmp_path):
    (tmp_path / "t.csv").write_text("user,epoch_0\nann,news\nbob,sports\n")
    refused(lambda: io.read_traces(tmp_path / "t.csv", n_tokens=100_000_000), "100,000,000", "10,000,000")
    (tmp_path / "n.csv").write_text("user,epoch_0\nann,3\nbob,99999999999\n")
    refused(lambda: io.read_traces(tmp_path / "n.csv"), "100,000,000,000", "n.csv")


def test_a_new_period_in_every_row_is_refused(tmp_path):
    rows = "".join(f"u{i},{1_700_000_000 + i},news\n" for i in range(40_000))
    (tmp_path / "t.csv").write_text("user,epoch,token\n" + rows)
    refused(lambda: io.read_traces(tmp_path / "t.csv"), "40,000 users x 40,000 epochs", "1,600,000,000", "weeks")


def test_compressed_files_are_counted_as_they_unpack(tmp_path, monkeypatch):
    monkeypatch.setenv("REIDRISK_MAX_BYTES", "50000000")
    zeros = b"0" * 1_000_000
    for name in ("t.csv.gz", "t.tfrecord.gz"):
        with gzip.open(tmp_path / name, "wb") as file:
            file.write(b"user,epoch_0\n")
            for _ in range(60):
                file.write(zeros)
    assert (tmp_path / "t.csv.gz").stat().st_size < 100_000
    refused(lambda: io.read_traces(tmp_path / "t.csv.gz"), "50,000,000", "REIDRISK_MAX_BYTES")
    refused(lambda: io.read_channel(tmp_path / "t.csv.gz"), "50,000,000")
    refused(lambda: io.read_tfrecords(tmp_path / "t.tfrecord.gz"), "50,000,000")
    refused(lambda: populations.read_rates(tmp_path / "t.csv.gz"), "50,000,000")


def test_an_npz_bomb_is_refused_by_what_it_declares(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "t.npz", tokens=np.zeros((30_000_000, 2), dtype=np.int8))
    monkeypatch.setenv("REIDRISK_MAX_BYTES", "50000000")
    for read in (io.read_traces, io.read_channel, io.read_top_sets, io.read_bags, bandits.read_matrices):
        refused(lambda read=read: read(tmp_path / "t.npz"), "60,000,", "50,000,000")


def test_what_the_metadata_of_a_file_declares_is_bounded(tmp_path):
    table = pa.table({"user": [1, 2], "epoch_0": [[1, 2], [0]]})
    for document in ({"n_tokens": 10**9}, {"n_tokens": 5, "k": 10**9}, {"k": 10**9}, {"n_tokens": 5, "k": 10**4000}):
        file = tmp_path / "t.parquet"
        pq.write_table(table.replace_schema_metadata({"reidrisk": json.dumps(document)}), file)
        refused(lambda file=file: io.read_top_sets(file), "t.parquet")


def test_rows_that_a_parquet_file_repeats_for_nothing_are_bounded(tmp_path, monkeypatch):
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table({"user": np.arange(100_000), "epoch_0": np.zeros(100_000, dtype=np.int8)}), file)
    monkeypatch.setenv("REIDRISK_MAX_CELLS", "99999")
    refused(lambda: io.read_traces(file), "100,000 cells", "99,999")
    refused(lambda: cohorts.tables.read_assignment(tmp_path / "t.parquet"), "no column 'cohort'")


def test_one_long_list_does_not_make_room_for_as_long_a_list_in_every_record(tmp_path, monkeypatch):
    from reidrisk.io.tfrecord.example import make_example

    records = [{"user_id": [f"u{i}".encode()], "epoch_0_topics": [1]} for i in range(500)]
    records[7]["epoch_0_topics"] = list(range(20_000))
    write_frames(tmp_path / "t.tfrecord", [make_example(record) for record in records])
    monkeypatch.setenv("REIDRISK_MAX_NUMBERS", "10000000")
    refused(lambda: io.read_tfrecords(tmp_path / "t.tfrecord"), "20,000,000 numbers")


def model() -> TypeMixture:
    return TypeMixture(np.zeros((3, 2, 2, 4)), statement=PUBLISHED)


def test_what_is_drawn_and_repeated_is_bounded(tmp_path):
    refused(lambda: model().sample(10**30, seed=0), "1e30")
    refused(lambda: release.write_users(model(), 10**30, 0, tmp_path / "users"), "1e30 users")
    assert not (tmp_path / "users").exists()
    refused(lambda: populations.published(10**12, 8), "cells")
    people = clustered_users(8, n_states=4, n_clusters=2)
    for runs, steps in ((10**12, 10), (10, 10**12)):
        refused(
            lambda r=runs, s=steps: bandits.tradeoff(people, bandits.TradeoffSpec(runs=r, steps=s)), "1,000,000,000,000"
        )
    stats = release.statistics(TopSets([[[0, 1], [0, 2]]] * 500, n_tokens=3), 1.0, 1e-6, simulation=True, seed=0)
    refused(lambda: release.fit_mixture(stats, n_types=10**12), "numbers")
    refused(lambda: release.fit_mixture(stats, n_types=2, steps=10**12), "steps")
    refused(lambda: release.canary(stats.statement, k=2, trials=10**12, seed=1), "runs")
    refused(
        lambda: cohorts.sensitivity([0, 1], [[1], [0]], n_cohorts=10**12, noise={"epsilon": 1.0, "delta": 1e-9}),
        "1,000,000,000,000",
    )


def test_a_log_with_a_state_of_its_own_in_every_row_is_refused(tmp_path):
    rows = "".join(f"u{i % 30},{i},s{i}\n" for i in range(3_000))
    (tmp_path / "log.csv").write_text("user,timestamp,state\n" + rows)
    refused(lambda: bandits.from_log(tmp_path / "log.csv"), "270,000,000 numbers")
