"""The data sets of galozy are read as they were published, and what is none of them is refused in one line."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

from reidrisk.base.errors import DataError, FormatError, ReidRiskError
from reidrisk_studies.galozy.casas import OTHER, read_casas, read_home, sensor_graph
from reidrisk_studies.galozy.endomondo import read_endomondo, read_workouts
from reidrisk_studies.galozy.fitbit import read_fitbit


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
    found = read_fitbit(tmp_path)
    assert found.users == ("7", "8")
    first = np.array([[119 * 60, 0, 0, 1], [0.25] * 4, [0.25] * 4, [1, 0, 0, 60]])
    assert found.records[0] == pytest.approx(first / first.sum(axis=1, keepdims=True))
    assert found.records[1][1] == pytest.approx(np.array([0, 1800, 1, 0]) / 1801)
    assert found.profiles == pytest.approx(np.tile(14.0 * np.arange(24), (2, 1)))


def test_fitbit_files_that_are_none_are_refused(tmp_path):
    with pytest.raises(FormatError, match="there is no minuteIntensitiesWide_merged"):
        read_fitbit(tmp_path)
    fitbit(tmp_path, minute=4)
    with pytest.raises(DataError, match="Intensity59 is '4'"):
        read_fitbit(tmp_path)
    fitbit(tmp_path, hours=range(20))
    with pytest.raises(DataError, match="user 7 has no intensity at hour 20"):
        read_fitbit(tmp_path)
    with pytest.raises(FormatError, match="there is no such folder or file"):
        read_fitbit(tmp_path / "nowhere")
    with pytest.raises(FormatError, match="no column 'Intensity00'"):
        read_fitbit(tmp_path / "hourlyIntensities_merged.csv")


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
        read_fitbit(tmp_path)
    assert str(path) in str(caught.value)


@pytest.mark.data
def test_the_published_fitbit_data_has_33_people_and_1298700_minutes():
    name = "fitbit2016"
    folder = Path(os.environ.get("REIDRISK_DATA") or Path(__file__).parents[3] / "../shared/data") / name
    if not folder.is_dir():
        pytest.skip(f"{name} is not in the data folder")
    found = read_fitbit(folder)
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
    found = read_casas(tmp_path, dimensions=8, min_count=1)
    assert found.users == ("csh101", "csh102")
    assert found.states == ("Cook", OTHER, "Step_Out")
    assert found.records[0][2] == pytest.approx(np.array([0, 1, 30]) / 31)
    assert found.records[0][1] == pytest.approx(np.array([1, 60, 0]) / 61)
    assert found.records[0][0] == pytest.approx(np.array([0.5, 1, 0]) / 1.5)
    assert np.array_equal(found.records[0], found.records[1])
    assert found.profiles.shape == (2, 8)
    assert np.array_equal(found.profiles, read_casas(tmp_path, dimensions=8, min_count=1).profiles)


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
    assert "least count" not in read_casas(tmp_path, dimensions=4).origin
    (tmp_path / "h5.ann.txt").write_text(CASAS.splitlines()[0])  # one sensor, joined to none
    found = read_casas(tmp_path, dimensions=4)
    assert found.origin.endswith("Small logs: the least count of a word in their graphs is 1, not 5.")
    assert np.array_equal(found.profiles, read_casas(tmp_path, dimensions=4, min_count=1).profiles)
    with pytest.raises(DataError, match="no word occurs 99 times"):
        read_casas(tmp_path, min_count=99)


def test_homes_that_are_none_are_refused(tmp_path):
    with pytest.raises(FormatError, match="there is no such folder or file"):
        read_casas(tmp_path / "nowhere")
    (tmp_path / "h1.ann.txt").write_bytes(CASAS.replace("Kitchen", "Küche").encode("latin-1"))
    with pytest.raises(FormatError, match=r"h1.ann.txt: line 4 is not UTF-8 text"):
        read_casas(tmp_path)
    (tmp_path / "h1.ann.txt").write_text(CASAS)
    with pytest.raises(DataError, match=r"h1.ann.txt: the event of 2012-07-20 10:00:30 has the state 'Other_Activity'"):
        read_casas(tmp_path, states=["Cook", "Step_Out"])
    (tmp_path / "h2.ann.txt").mkdir()
    with pytest.raises(FormatError, match=r"h2.ann.txt: is a folder, not a file"):
        read_casas(tmp_path)


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
    found = read_endomondo(path, states=sports)
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


def test_a_line_that_python_would_have_to_parse_is_bounded_and_its_parser_keeps_silent(tmp_path, recwarn):
    path = tmp_path / "w.json"
    for line, word in (("1," * 300_000, "600,001 characters"), ("{'userId': 1if 1else 2}", "neither JSON nor")):
        path.write_text(line + "\n")
        with pytest.raises(FormatError, match=f"line 1 is .*{word}"):
            list(read_workouts(path))
    assert not recwarn.list


WORKOUT = {"userId": 1, "sport": "run", "timestamp": [0, 60]}


@pytest.mark.parametrize("name", ["timestamp", "heart_rate", "longitude"])
def test_workouts_with_words_for_numbers_are_refused(name, tmp_path):
    (tmp_path / "w.json").write_text(json.dumps(WORKOUT | {name: ["fast", {}]}))
    with pytest.raises(ReidRiskError, match=f"line 1 has a '{name}' that is no list of numbers"):
        read_endomondo(tmp_path / "w.json")


def test_compressed_workouts_that_are_cut_off_are_refused(tmp_path):
    lines = "\n".join(json.dumps(WORKOUT | {"userId": i}) for i in range(500))
    whole = gzip.compress(lines.encode())
    for name, content in (("cut.json.gz", whole[: len(whole) // 2]), ("none.json.gz", b"no archive")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ReidRiskError, match=f"{name}: cannot be read as workouts"):
            read_endomondo(tmp_path / name)


def test_the_origin_counts_workouts_and_people(tmp_path):
    workouts = [
        {
            "userId": u,
            "sport": ("run", "bike", "row")[(u + i * (1 + u % 2)) % 3],
            "timestamp": [1000 * i, 1000 * i + 300 + u],
        }
        for u in range(5)
        for i in range(9)
    ]
    (tmp_path / "w.json").write_text("\n".join(map(json.dumps, workouts)))
    assert "45 workouts of 5 people" in read_endomondo(tmp_path / "w.json").origin


DAMAGED = {
    "no home": (read_casas, {"x.txt": CASAS}, ".", "there is no annotated log"),
    "empty home": (read_casas, {"a.ann.txt": ""}, ".", "a.ann.txt: the log has no events"),
    "cut home": (read_casas, {"a.ann.txt": CASAS + "2012-07-20 10:02:00 Ha"}, ".", "a.ann.txt: line 7 has 3 fields"),
    "home in latin-1": (read_casas, {"a.ann.txt": CASAS.encode() + b"\xfc"}, ".", "a.ann.txt: line 7 is not UTF-8"),
    "compressed home": (read_casas, {"a.ann.txt": gzip.compress(CASAS.encode())}, ".", "line 1 is not UTF-8"),
    "nowhere": (read_casas, {}, "nowhere", "there is no such folder or file"),
    "no workouts": (read_endomondo, {"w.json": "\n"}, "w.json", "the file has no workouts"),
    "cut workout": (read_endomondo, {"w.json": '{"userId": 1, "spo'}, "w.json", "line 1 is neither JSON"),
    "folder of workouts": (read_endomondo, {}, ".", "is a folder, not a file"),
    "no minutes": (read_fitbit, {}, ".", "there is no minuteIntensitiesWide_merged.csv"),
    "a log for minutes": (read_fitbit, {"log.csv": "user,timestamp,state\nann,0,rest\n"}, "log.csv", "no column 'Id'"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_files_are_refused_in_one_line(case, tmp_path):
    reader, files, path, message = DAMAGED[case]
    for name, content in files.items():
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ReidRiskError) as caught:
        reader(tmp_path / path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_pipes_and_devices_are_no_input(tmp_path):
    for name, read in (("w.json", lambda path: list(read_workouts(path))), ("h.txt", read_home)):
        os.mkfifo(tmp_path / name)
        with pytest.raises(ReidRiskError, match="pipe"):
            read(tmp_path / name)
        (tmp_path / name).unlink()
        (tmp_path / name).symlink_to("/dev/zero")
        with pytest.raises(ReidRiskError, match="device"):
            read(tmp_path / name)
