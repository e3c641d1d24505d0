"""Logs become matrices as the paper defines them, and published formats are read as they are."""

import functools
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reidrisk import bandits
from reidrisk.bandits.casas import OTHER, read_home, sensor_graph
from reidrisk.bandits.endomondo import read_workouts
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


def fitbit(folder: Path, minute: int = 0, hours: range = range(24)) -> None:
    head = ",".join(["Id", "ActivityHour", *(f"Intensity{m:02d}" for m in range(60))])
    rows = [f"7,4/13/2016 {h}:00," + ",".join(["0"] * 59 + ["3" if h == 0 else str(minute)]) for h in (0, 1)]
    rows.append("8,4/13/2016 5:00," + ",".join(["1"] * 30 + ["2"] * 30))
    (folder / "minuteIntensitiesWide_merged.csv").write_text("\n".join([head, *rows]) + "\n")
    hourly = [f"{i},4/{day}/2016 {h}:00,0,{h * day}" for i in (7, 8) for day in (13, 15) for h in hours]
    (folder / "hourlyIntensities_merged.csv").write_text(
        "\n".join(["Id,ActivityHour,TotalIntensity,AverageIntensity", *hourly]) + "\n"
    )


def test_fitbit_files_are_read(tmp_path):
    fitbit(tmp_path)
    found = bandits.read_fitbit(tmp_path)
    assert found.users == ("7", "8")
    first = np.array([[119 * 60, 0, 0, 1], [0.25] * 4, [0.25] * 4, [1, 0, 0, 60]])
    assert found.records[0] == pytest.approx(first / first.sum(axis=1, keepdims=True))
    assert found.records[1][1] == pytest.approx(np.array([0, 1800, 1, 0]) / 1801)
    assert found.profiles == pytest.approx(np.tile(14.0 * np.arange(24), (2, 1)))


def test_fitbit_files_that_are_none_are_refused(tmp_path):
    with pytest.raises(FormatError, match="there is no minuteIntensitiesWide_merged"):
        bandits.read_fitbit(tmp_path)
    fitbit(tmp_path, minute=4)
    with pytest.raises(DataError, match="Intensity59 is '4'"):
        bandits.read_fitbit(tmp_path)
    fitbit(tmp_path, hours=range(20))
    with pytest.raises(DataError, match="user 7 has no intensity at hour 20"):
        bandits.read_fitbit(tmp_path)
    with pytest.raises(FormatError, match="there is no such folder or file"):
        bandits.read_fitbit(tmp_path / "nowhere")
    with pytest.raises(FormatError, match="no column 'Intensity00'"):
        bandits.read_fitbit(tmp_path / "hourlyIntensities_merged.csv")


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("minute", "7,4/13/2016 1:00", "7,4/13/2016 0:00", "row 1 is the second one of user '7' at 2016-04-13 00:00"),
        ("hourly", "7,4/13/2016 1:00", "7,4/13/2016 0:00", "row 1 is the second one of user '7' at 2016-04-13 00:00"),
        ("minute", "4/13/2016 5:00", "4/13/2016 5:30", "row 2 has the time '4/13/2016 5:30'; it should be a full hour"),
        ("minute", "\n8,", "\n,", "row 2 has no Id"),
        ("hourly", "\n7,", "\n,", "row 0 has no Id"),
        ("hourly", "0,13\n", "0,-13\n", "row 1 has the AverageIntensity '-13'"),
        ("hourly", "0,13\n", "0,inf\n", "row 1 has the AverageIntensity 'inf'"),
        ("hourly", "0,13\n", "0,\n", "row 1 has the AverageIntensity None"),
    ],
)
def test_damaged_fitbit_rows_are_named(tmp_path, file, old, new, words):
    fitbit(tmp_path)
    path = next(tmp_path.glob(f"{file}*"))
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(DataError, match=words) as caught:
        bandits.read_fitbit(tmp_path)
    assert str(path) in str(caught.value)


@pytest.mark.data
def test_the_published_fitbit_data_has_33_people_and_1298700_minutes():
    name = "fitbit2016"
    folder = Path(os.environ.get("REIDRISK_DATA") or Path(__file__).parents[2] / "../shared/data") / name
    if not folder.is_dir():
        pytest.skip(f"{name} is not in the data folder")
    found = bandits.read_fitbit(folder)
    assert found.records.shape == (33, 4, 4)
    assert found.profiles.shape == (33, 24)
    assert "1,298,700 minutes" in found.origin
    sticky = np.diagonal(found.records, axis1=1, axis2=2)
    assert np.median(sticky) > 0.98, "seconds against counts: states are very sticky"


CASAS = """\
2012-07-20 10:00:00.5 OutsideDoor ON Step_Out="begin"
2012-07-20 10:00:10.500000 OutsideDoor OFF
2012-07-20 10:00:20.5 Hall ON Step_Out="end"
2012-07-20 10:00:30.5 Kitchen ON
2012-07-20 10:01:30.5 Kitchen OFF Cook
2012-07-20 10:01:31 Hall ON Other_Activity
"""


def test_annotated_sensor_logs_are_read(tmp_path):
    (tmp_path / "csh101").mkdir()
    (tmp_path / "csh101" / "csh101.ann.txt").write_text(CASAS)
    (tmp_path / "csh101" / "csh102.ann.txt").write_text(CASAS.replace(" ", ",").replace("Kitchen", "Bath"))
    home = read_home(tmp_path / "csh101" / "csh101.ann.txt")
    assert [activity for _, _, activity in home] == ["Step_Out"] * 3 + [OTHER, "Cook", OTHER]
    graph = sensor_graph(home)
    assert sorted(map(sorted, graph.edges)) == [["Hall", "Kitchen"], ["Hall", "OutsideDoor"]]
    found = bandits.read_casas(tmp_path, dimensions=8, min_count=1)
    assert found.users == ("csh101", "csh102")
    assert found.states == ("Cook", OTHER, "Step_Out")
    assert found.records[0][2] == pytest.approx(np.array([0, 1, 30]) / 31)
    assert found.records[0][1] == pytest.approx(np.array([1, 60, 0]) / 61)
    assert found.records[0][0] == pytest.approx(np.array([0.5, 1, 0]) / 1.5)
    assert np.array_equal(found.records[0], found.records[1])
    assert found.profiles.shape == (2, 8)
    assert np.array_equal(found.profiles, bandits.read_casas(tmp_path, dimensions=8, min_count=1).profiles)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2012-07-20 10:00:00 Hall\n", "line 1 has 3 fields"),
        ("2012-07-20 25:00:00 Hall ON\n", "line 1 has the time '2012-07-20 25:00:00'; it should look like"),
        ("2012-07-20 10:00:00+02:00 Hall ON\n", "it should look like 2012-07-20 10:38:54.512364"),
        ("2012-07-20\n", "line 1 has 1 field; a log line is"),
        ('2012-07-20 10:00:00 Hall ON Cook="maybe"\n', "line 1 has the annotation"),
        ("\n", "no events"),
    ],
)
def test_sensor_logs_that_are_none_are_refused(tmp_path, text, words):
    (tmp_path / "x.ann.txt").write_text(text)
    with pytest.raises(DataError, match=words):
        read_home(tmp_path / "x.ann.txt")


def test_small_sensor_logs_lower_the_count_of_words_and_say_so(tmp_path):
    """Five homes of one shape have every word 5 times or more; an odd one among them has a word of its own only."""
    for number in range(5):
        (tmp_path / f"h{number}.ann.txt").write_text(CASAS)
    assert "least count" not in bandits.read_casas(tmp_path, dimensions=4).origin
    (tmp_path / "h5.ann.txt").write_text(CASAS.splitlines()[0])  # one sensor, joined to none
    found = bandits.read_casas(tmp_path, dimensions=4)
    assert found.origin.endswith("Small logs: the least count of a word in their graphs is 1, not 5.")
    assert np.array_equal(found.profiles, bandits.read_casas(tmp_path, dimensions=4, min_count=1).profiles)
    with pytest.raises(DataError, match="no word occurs 99 times"):
        bandits.read_casas(tmp_path, min_count=99)


def test_homes_that_are_none_are_refused(tmp_path):
    with pytest.raises(FormatError, match="there is no such folder or file"):
        bandits.read_casas(tmp_path / "nowhere")
    (tmp_path / "h1.ann.txt").write_bytes(CASAS.replace("Kitchen", "Küche").encode("latin-1"))
    with pytest.raises(FormatError, match=r"h1.ann.txt: line 4 is not UTF-8 text"):
        bandits.read_casas(tmp_path)
    (tmp_path / "h1.ann.txt").write_text(CASAS)
    with pytest.raises(DataError, match=r"h1.ann.txt: the event of 2012-07-20 10:00:30 has the state 'Other_Activity'"):
        bandits.read_casas(tmp_path, states=["Cook", "Step_Out"])
    (tmp_path / "h2.ann.txt").mkdir()
    with pytest.raises(FormatError, match=r"h2.ann.txt: is a folder, not a file"):
        bandits.read_casas(tmp_path)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"[" * 100_000, "line 2 is neither JSON nor a Python literal"),
        (b"{[]: 1}", "line 2 is neither JSON nor a Python literal"),
        (b"{'a': " + b"-" * 200_000 + b"1}", "line 2 is neither JSON nor a Python literal"),
        (b'{"userId": ' + b"9" * 5000 + b"}", "line 2 is neither JSON nor a Python literal"),
        (b'{"userId": 1, "sport": "r\xfcn", "timestamp": [1]}', "line 2 is not UTF-8 text"),
        (b'{"userId": null, "sport": "run", "timestamp": [1]}', "line 2 has the userId None; write text or a number"),
        (
            b'{"userId": 1, "sport": ["run"], "timestamp": [1]}',
            r"line 2 has the sport \['run'\]; write text or a number",
        ),
        (b'{"userId": 1, "sport": " ", "timestamp": [1]}', "line 2 has the sport ' '; write text or a number"),
        (b'{"userId": 1, "sport": "run", "timestamp": [-1e308, 1]}', r"line 2 has -1e\+308 in 'timestamp'"),
        (b'{"userId": 1, "sport": "run", "timestamp": [1], "heart_rate": [1e308]}', r"1e\+308 in 'heart_rate'"),
    ],
)
def test_damaged_workouts_are_named(tmp_path, line, words):
    path = tmp_path / "workouts.json"
    path.write_bytes(b'\xef\xbb\xbf{"userId": 1, "sport": "run", "timestamp": [1]}\n' + line + b"\n")
    with pytest.raises((DataError, FormatError), match=words) as caught:
        list(read_workouts(path))
    assert len(str(caught.value)) < 300
    with pytest.raises(FormatError, match="is a folder, not a file"):
        list(read_workouts(tmp_path))


def test_workouts_are_read_from_json_and_from_the_published_literals(tmp_path):
    lines = [
        "{'userId': 5, 'sport': 'run', 'timestamp': [100, 700], 'heart_rate': [100, 140], "
        "'longitude': [0, 0], 'latitude': [0, 1]}",
        '{"userId": 5, "sport": "bike", "timestamp": [90000, 93600], "heart_rate": [120]}',
        "{'userId': 5, 'sport': 'run', 'timestamp': [180000, 180600], 'gender': 'male'}",
        "{'userId': 9, 'sport': 'bike', 'timestamp': [1, 11]}",
    ]
    path = tmp_path / "endomondoHR_proper.json"
    path.write_text("\n".join(lines) + "\n")
    sports = ["bike", "run", *(f"sport {i}" for i in range(37))]
    found = bandits.read_endomondo(path, states=sports)
    assert found.records.shape == (2, 39, 39)
    assert found.profiles.shape == (2, 42), "39 frequencies, time, heart rate, distance"
    assert found.records[0][0][:2] == pytest.approx(np.array([3600, 1]) / 3601)
    assert found.records[0][1][:2] == pytest.approx(np.array([1, 1200]) / 1201)
    assert found.profiles[0][:2] == pytest.approx([1 / 3, 2 / 3])
    assert found.profiles[0][39:] == pytest.approx([1600 / 3600, 120, 111.19], rel=1e-3)
    assert found.profiles[1][40:] == pytest.approx([0, 0])
    path.write_text("{'userId': 5, 'sport': 'run'\n")
    with pytest.raises(FormatError, match="line 1 is neither"):
        list(read_workouts(path))
    path.write_text('{"userId": 5, "sport": "run"}\n')
    with pytest.raises(DataError, match="line 1 has no 'timestamp'"):
        list(read_workouts(path))


def test_made_up_users_are_alike_within_their_type():
    found = bandits.clustered_users(60, n_states=39, n_clusters=6, seed=2)
    assert found.records.shape == (60, 39, 39)
    flat, kind = found.records.reshape(60, -1), np.arange(60) % 6
    distance = np.linalg.norm(flat[:, None] - flat, axis=2)
    same = kind[:, None] == kind
    assert distance[same & ~np.eye(60, dtype=bool)].max() < distance[~same].mean()
    again = bandits.clustered_users(60, n_states=39, n_clusters=6, seed=2)
    assert np.array_equal(again.records, found.records)
    with pytest.raises(OptionError, match="no 61 clusters"):
        bandits.clustered_users(60, n_clusters=61)


def test_a_line_that_python_would_have_to_parse_is_bounded_and_its_parser_keeps_silent(tmp_path, recwarn):
    path = tmp_path / "w.json"
    for line, word in (("1," * 300_000, "600,001 characters"), ("{'userId': 1if 1else 2}", "neither JSON nor")):
        path.write_text(line + "\n")
        with pytest.raises(FormatError, match=f"line 1 is .*{word}"):
            list(read_workouts(path))
    assert not recwarn.list
