"""Logs become matrices as the paper defines them."""

import functools

import numpy as np
import polars as pl
import pytest

from reidrisk import bandits
from reidrisk.bandits.transitions import checked_records
from reidrisk.base.errors import DataError, FormatError, OptionError

LOG = pl.DataFrame(
    {
        "user": ["ann", "ann", "bob", "ann", "bob", "ann"],
        "timestamp": [0, 30, 5, 40, 25, 100],
        "state": ["rest", "walk", "run", "rest", "rest", "walk"],
    }
)


def test_seconds_stand_on_the_diagonal_and_counts_beside_it():
    found = bandits.from_log(LOG, states=["rest", "run", "walk"])
    assert found.users == ("ann", "bob")
    ann, bob = found.records
    assert ann[0] == pytest.approx(np.array([90, 0, 2]) / 92)  # 30 s and 60 s of rest, twice to a walk
    assert ann[2] == pytest.approx(np.array([1, 0, 10]) / 11)
    assert ann[1] == pytest.approx([1 / 3] * 3), "a missing state's row is uniform over all states"
    assert bob[1] == pytest.approx(np.array([1, 20, 0]) / 21)
    assert bob[0] == pytest.approx([1 / 3] * 3), "entered last, never left, no time in it"
    assert found.profiles == pytest.approx(np.array([[0.9, 0, 0.1], [0, 1, 0]]))


@functools.cache
def busy(days, seed=0, users=30):
    """Return a log of people who change between four states every 15 minutes or so, each in their own way."""
    rng = np.random.default_rng(seed)
    parts = []
    for user in range(users):
        ends, lots = rng.dirichlet(np.ones(3), size=4).cumsum(axis=1)[:, :2], rng.random(days * 96)
        stay = rng.gamma(4.0, 225.0, size=(4, days * 96)) * rng.uniform(0.5, 2.0, size=(4, 1))
        state, time, rows = 0, 0.0, []
        for step in range(days * 96):
            rows.append((time, state))
            time += stay[state, step]
            state = (state + 1 + int(np.searchsorted(ends[state], lots[step]))) % 4
        times, states = zip(*rows, strict=True)
        names = [f"state {s}" for s in states]
        parts.append(pl.DataFrame({"user": [f"user {user}"] * len(rows), "timestamp": times, "state": names}))
    return pl.concat(parts)


@pytest.mark.parametrize("days", [1, 14])
@pytest.mark.parametrize("unit", ["second", "minute", "hour", 900])
def test_ones_own_unchanged_record_is_found_whatever_the_unit_of_time(days, unit):
    users = bandits.from_log(busy(days), unit=unit)
    shared = bandits.anonymise(users.records, "own")
    assert bandits.deanonymisation(users, shared, n_aux=14).rate > 0.999
    spec = bandits.TradeoffSpec(
        strategies=["own"], amounts=[0.0], n_aux=14, runs=5, steps=5, releases=5, likelihood=False, seed=0
    )
    point = bandits.tradeoff(users, spec).points[0]
    assert point.risk.rate > 0.999


def test_the_tolerance_goes_with_the_unit_and_is_never_coarser_than_the_papers():
    log = busy(14)
    found = {unit: bandits.from_log(log, unit=unit) for unit in ("second", "minute", "hour", "day")}
    assert found["second"].tolerance == pytest.approx(found["minute"].tolerance / 60, rel=0.1)
    for users in found.values():
        d = users.records.shape[1]
        beside = users.records[:, ~np.eye(d, dtype=bool)]
        assert users.tolerance <= 1e-3
        assert users.tolerance < beside[beside > 0].min()  # a transition that occurred is told from one that did not
    assert bandits.from_log(LOG).tolerance == 1e-3  # a minute and a half


def test_a_unit_of_time_weighs_staying_against_going():
    ann = bandits.from_log(LOG, states=["rest", "run", "walk"], unit="minute").records[0]
    assert ann[0] == pytest.approx(np.array([1.5, 0, 2]) / 3.5)
    assert np.array_equal(bandits.from_log(LOG, unit=60).records, bandits.from_log(LOG, unit="minute").records)
    for unit in ("week", 0, -1.0, float("nan"), float("inf"), True):
        with pytest.raises(OptionError, match="unit must be one of second, minute, hour, day"):
            bandits.from_log(LOG, unit=unit)


def test_a_tolerance_that_is_too_coarse_is_said_to_be():
    users = bandits.from_log(busy(14))
    shared = bandits.anonymise(users.records, "own")
    coarse = bandits.deanonymisation(users.records, shared, n_aux=6, weights="uniform")  # plain matrices: 0.001
    fine = bandits.deanonymisation(users, shared, n_aux=6, weights="uniform")
    assert coarse.rate < 0.9 < fine.rate
    (note,) = (note for note in coarse.notes if note not in fine.notes)
    assert (note.code, note["tolerance"], note["found"]) == ("attack-coarse", 0.001, pytest.approx(coarse.rate))


def test_rows_may_come_in_any_order_and_in_any_file(tmp_path):
    plain = bandits.from_log(LOG)
    assert plain.states == ("rest", "run", "walk")
    shuffled = bandits.from_log(LOG.sample(fraction=1, shuffle=True, seed=3))
    assert np.array_equal(shuffled.records, plain.records)
    LOG.write_csv(tmp_path / "log.csv")
    LOG.write_parquet(tmp_path / "log.parquet")
    times = LOG.with_columns(pl.from_epoch("timestamp").dt.to_string("iso"))
    times.write_csv(tmp_path / "times.csv")
    for name in ("log.csv", "log.parquet", "times.csv"):
        assert np.array_equal(bandits.from_log(tmp_path / name).records, plain.records), name


def test_after_a_long_silence_nothing_is_counted():
    found = bandits.from_log(LOG, states=["rest", "run", "walk"], max_gap=30)
    assert found.records[0][0] == pytest.approx(np.array([30, 0, 1]) / 31)


def test_given_durations_win():
    log = LOG.with_columns(pl.lit(7.0).alias("seconds"))
    assert bandits.from_log(log).records[1][1] == pytest.approx(np.array([1, 7, 0]) / 8)


def test_entries_at_the_same_time_follow_each_other_as_they_stand():
    """A state of less than a second, in a log of whole seconds: entered and left again."""
    log = pl.DataFrame({"user": ["ann"] * 3, "timestamp": [0, 60, 60], "state": ["rest", "walk", "run"]})
    found = bandits.from_log(log)
    assert found.states == ("rest", "run", "walk")
    assert found.records[0][0] == pytest.approx(np.array([60, 0, 1]) / 61)
    assert found.records[0][2] == pytest.approx([0, 1, 0]), "no time in it, and always on to a run"


def test_silence_begins_where_an_entry_ends():
    """Rest of 30 s, and of 60 s from 40 on: with their lengths known there is no silence before the next entry."""
    log = LOG.with_columns(pl.Series("seconds", [30, 10, 20, 55, 1, 1]))
    assert bandits.from_log(log, max_gap=5).records[0][0] == pytest.approx(np.array([85, 0, 2]) / 87)
    assert bandits.from_log(log, max_gap=4).records[0][0] == pytest.approx(np.array([85, 0, 1]) / 86)


def test_times_may_name_their_offset_but_all_the_same_way():
    noon = ["2024-05-01T12:00:00Z", "2024-05-01T14:00:30+02:00", "2024-05-01 11:00:00+00:00"]
    log = pl.DataFrame({"user": ["ann", "ann", "bob"], "timestamp": noon, "state": ["rest", "run", "run"]})
    assert bandits.from_log(log).records[0][0] == pytest.approx(np.array([30, 1]) / 31)
    for odd, row in (("2024-05-01T12:00:30", 1), ("30", 1), ("", 1)):
        mixed = log.with_columns(pl.Series("timestamp", [noon[0], odd, noon[2]]))
        with pytest.raises(DataError, match=f"row {row} has the timestamp '{odd}'"):
            bandits.from_log(mixed)
    seconds = log.with_columns(pl.Series("timestamp", ["1", noon[0], "3"]))
    with pytest.raises(DataError, match="row 1 has the timestamp '2024-05-01T12:00:00Z'"):
        bandits.from_log(seconds)


@pytest.mark.parametrize(
    ("log", "options", "error", "words"),
    [
        (LOG, {"states": ["rest", "run"]}, DataError, "row 1 has the state 'walk'"),
        (LOG, {"states": ["rest", "rest"]}, OptionError, "different names"),
        (LOG.drop("state"), {}, FormatError, "no column 'state'"),
        (LOG.with_columns(pl.lit("rest").alias("state")), {}, DataError, "only the state 'rest'"),
        (
            LOG.with_columns(pl.lit("soon").alias("timestamp")),
            {},
            DataError,
            "row 0 has the timestamp 'soon'; write seconds",
        ),
        (
            LOG.with_columns(pl.lit("5/1/2024 12:00").alias("timestamp")),
            {},
            DataError,
            "row 0 has the timestamp '5/1/2024",
        ),
        (LOG.with_columns(pl.lit(1.7e18).alias("timestamp")), {}, DataError, "row 0 has the timestamp '1.7e"),
        (pl.concat([LOG, LOG]), {}, DataError, "rows 0 and 6 are the same entry: one user, one time, one state"),
        (LOG.with_columns(pl.lit([1, 2]).alias("user")), {}, FormatError, "column 'user' holds List"),
        (LOG.with_columns(pl.lit("  ").alias("state")), {}, DataError, "row 0 has no state"),
        (
            LOG.with_columns(pl.lit("long").alias("seconds")),
            {},
            DataError,
            "row 0 has the seconds 'long'; write seconds,",
        ),
        (LOG.with_columns(pl.lit(None, pl.String).alias("user")), {}, DataError, "row 0 has no user"),
        (LOG.with_columns(pl.lit(-1.0).alias("seconds")), {}, DataError, "row 0 lasts -1 seconds"),
        (LOG.head(0), {}, DataError, "no entries"),
    ],
)
def test_bad_logs_are_refused(log, options, error, words):
    with pytest.raises(error, match=words) as caught:
        bandits.from_log(log, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([[[0.5, 0.4], [0.5, 0.5]]], "row 0 of the matrix of user 0 adds up to 0.9, not to 1"),
        ([[[0.5, 0.5000012], [0.5, 0.5]]], "row 0 of the matrix of user 0 adds up to 1.0000012, not to 1"),
        ([[[0.5, 0.4999989], [0.5, 0.5]]], "row 0 of the matrix of user 0 adds up to 0.9999989, not to 1"),
        (np.full((1, 2, 2), 1.7e308), "adds up to inf, not to 1"),
        (np.empty((0, 2, 2)), "there are no users"),
        ([np.eye(2), [[1.0, 0.0], [0.0, np.nan]]], r"cell \(1, 1\) of the matrix of user 1"),
        (np.ones((2, 3)), "shape"),
        (np.eye(1)[None], "2 states"),
    ],
)
def test_matrices_that_are_none_are_refused(records, words):
    with pytest.raises(DataError, match=words):
        checked_records(records)


def test_matrices_are_read_with_their_names(tmp_path):
    records = np.array([[[0.9, 0.1], [0.5, 0.5]], [[0.7, 0.3], [0.1, 0.9]]])
    np.savez(tmp_path / "behaviour.npz", records=records, profiles=[[1.0], [2.0]], users=["ann", "bob"])
    found = bandits.read_matrices(tmp_path / "behaviour.npz")
    assert np.array_equal(found.records, records)
    assert (found.users, found.states) == (("ann", "bob"), ("0", "1"))
