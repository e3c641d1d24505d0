"""A researcher runs a published experiment again."""

import csv
import json
import os
import subprocess
import sys

import pytest


def test_the_list_names_every_study(reidrisk):
    done = reidrisk("study", "list")
    assert done.code == 0, done.err
    for name in ("carey-fig2", "carey-fig4", "carey-information"):
        assert name in done.out
    listed = json.loads(reidrisk("study", "list", "--json").out)
    assert listed[0]["users"] == 10_000_000


def test_a_study_writes_numbers_picture_and_page_and_prints_the_table(reidrisk, tmp_path):
    done = reidrisk("study", "run", "carey-fig2", "--users", 2_000, "--seed", 1, "--out", "new/folder")
    assert done.code == 0, done.err
    assert "published" in done.out
    assert "below 3 %" in done.out
    folder = tmp_path / "new" / "folder"
    assert {path.name for path in folder.iterdir()} == {f"carey-fig2.{ending}" for ending in ("csv", "png", "md")}
    assert (folder / "carey-fig2.png").read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader((folder / "carey-fig2.csv").open()))
    assert {"Hamming", "WeightedHamming", "FullInformation"} <= {row["series"] for row in rows}
    page = (folder / "carey-fig2.md").read_text()
    assert "| quantity | published | ours | why they differ |" in page
    assert "$ reidrisk study run carey-fig2 --users 2000 --seed 1 --out new/folder" in page


def test_the_command_on_the_page_gives_the_same_numbers(reidrisk, tmp_path):
    done = reidrisk("study", "run", "carey-information", "--users", 3_000, "--out", "a")
    assert done.code == 0, done.err
    page = (tmp_path / "a" / "carey-information.md").read_text()
    command = next(line for line in page.splitlines() if line.startswith("$ reidrisk"))
    first = (tmp_path / "a" / "carey-information.csv").read_bytes()
    assert reidrisk(*command.split()[2:]).code == 0
    assert (tmp_path / "a" / "carey-information.csv").read_bytes() == first


def test_json_is_for_programs_and_nothing_is_written_unasked(reidrisk, tmp_path):
    done = reidrisk("study", "run", "carey-information", "--users", 2_000, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["comparisons"][0]["published"] == "7.59"
    assert found["files"] == []
    assert not list(tmp_path.iterdir())


def test_without_the_charts_the_study_stops_before_it_starts(reidrisk, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    done = reidrisk("study", "run", "carey-fig2", "--out", "out")
    assert done.code == 2
    assert 'pip install ".[report]"' in done.err
    assert not (tmp_path / "out").exists()


def test_the_list_marks_what_needs_data_and_whether_it_is_there(reidrisk, tmp_path, monkeypatch):
    monkeypatch.setenv("REIDRISK_DATA", str(tmp_path / "nothing"))
    listed = {entry["name"]: entry for entry in json.loads(reidrisk("study", "list", "--json").out)}
    assert listed["carey-fig2"]["data"] == listed["carey-fig2"]["missing"] == []
    table = listed["floc-chrome"]["data"][0]
    assert table["files"][0]["state"] == "missing"
    assert len(table["files"][0]["sha256"]) == 64
    assert (table["origin"], table["licence"]) == ("GitHub: shigeki/floc_simulator", "MIT, the table is Chrome's")
    assert len(listed["floc-chrome"]["missing"]) == 1
    assert reidrisk("study", "list").out.count("not all here") > 10
    gaps = reidrisk("study", "list", "--missing").out
    assert "floc_lsh_clusters/SortingLshClusters is missing" in " ".join(gaps.split())
    assert "carey-fig2" not in gaps


def test_missing_data_stops_a_run_and_with_skip_missing_only_the_study(reidrisk, tmp_path, monkeypatch):
    monkeypatch.setenv("REIDRISK_DATA", str(tmp_path / "nothing"))
    names = ("floc-chrome", "carey-information")
    assert reidrisk("study", "run", *names, "--users", 2_000, "--out", "a").code == 2
    done = reidrisk("study", "run", *names, "--users", 2_000, "--skip-missing", "--out", "b")
    assert done.code == 0, done.err
    assert "left out: floc-chrome: floc_lsh_clusters/SortingLshClusters" in done.err
    assert {path.stem for path in (tmp_path / "b").iterdir()} == {"carey-information"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("carey-fig9",), "there is no study 'carey-fig9'; choose one of carey-fig2"),
        (("carey-fig2", "--users", 3), "users must be a whole number of at least 100, not 3"),
        (("jha-limits", "--users", -5), "users must be a whole number of at least 100, not -5"),
        (("carey-information", "--users", 500, "--seed", -1), "seed must be a whole number"),
        (("carey-fig2", "--out", "taken/x"), "cannot write into taken/x: "),
    ],
)
def test_bad_options_are_one_line_and_exit_2(reidrisk, table, arguments, told):
    table("taken", "a file, not a folder")
    done = reidrisk("study", "run", *arguments)
    assert done.code == 2
    assert told in done.err
    assert done.err.count("\n") == 1, "no estimate of a job that is not begun"


def test_all_studies_are_written_when_nobody_listens_to_the_first(tmp_path):
    names = ["carey-fig2", "carey-information"]  # which are quick
    reader, writer = os.pipe()
    os.close(reader)  # gone before the first line
    command = [sys.executable, "-m", "reidrisk", "study", "run", *names, "--users", "500", "--out", "new/folder"]
    try:
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, cwd=tmp_path, timeout=120)
    finally:
        os.close(writer)
    assert done.returncode == 141
    written = {path.stem for path in (tmp_path / "new" / "folder").iterdir()}
    assert written == set(names)


def test_an_interrupted_study_leaves_no_folder(reidrisk, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("reidrisk_studies.registry.run", interrupted)
    assert reidrisk("study", "run", "carey-fig2", "--users", 500, "--out", "new/folder").code == 130
    assert list(tmp_path.iterdir()) == []
