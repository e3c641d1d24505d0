"""What would lower it, and two audits compared, from the command line."""

import json

import numpy as np
import pytest


@pytest.fixture
def tables(tmp_path):
    rng = np.random.default_rng(0)
    habits = rng.integers(30, size=(120, 3))
    paths = []
    for name in ("a", "b"):
        tokens = np.take_along_axis(habits, rng.integers(3, size=(120, 3)), axis=1)
        rows = [f"p{i},{','.join(map(str, row))}" for i, row in enumerate(tokens)]
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join(["user,epoch_0,epoch_1,epoch_2", *rows]) + "\n")
        paths.append(str(path))
    return paths


def test_changes_are_tried_and_two_audits_compared(tables, tmp_path, reidrisk):
    given = [*tables, "--seed", "1", "--attack", "hamming"]
    tried = reidrisk("audit", *given, "--change", "draw:0.5", "--what-if-budget", "1s", "--result", "one.json")
    assert tried.code == 0
    further = json.loads((tmp_path / "one.json").read_text())["further"]
    assert [each["change"] for each in further["what_if"]["tried"]] == ["draw:0.5"]
    assert reidrisk("audit", *given, "--epochs", "1", "--result", "two.json").code == 0
    found = json.loads(reidrisk("compare", "one.json", "two.json", "--json").out)
    assert found["difference"] == pytest.approx(found["before"] - found["after"])
    assert found["reading"]


def test_audits_that_kept_it_are_compared_person_by_person(tables, tmp_path, reidrisk):
    given = [*tables, "--seed", "1", "--attack", "hamming", "--json"]
    for name, epochs in (("one", "1,2,3"), ("two", "1")):
        kept = ("--result", f"{name}.json", "--keep-per-person", f"{name}.people.json")
        shown = reidrisk("audit", *given, "--epochs", epochs, *kept)
        assert shown.code == 0
        assert "p17" not in shown.out + (tmp_path / f"{name}.json").read_text()
    inside = json.loads((tmp_path / "one.people.json").read_text())
    assert inside["internal"] is True
    assert "not to be passed on" in inside["warning"]
    assert (tmp_path / "one.people.json").stat().st_mode & 0o077 == 0
    pairs = ("--per-person", "one.people.json", "two.people.json")
    found = json.loads(reidrisk("compare", "one.json", "two.json", *pairs, "--json").out)
    assert (found["paired"], found["n_people"]) == (True, 120)
    refused = reidrisk("compare", "one.json", "two.json", "--per-person", "one.people.json", "one.people.json")
    assert (refused.code, refused.err.count("\n")) == (2, 1)


@pytest.mark.parametrize(("said", "is_tried"), [((), True), (("--no-what-if",), False)])
def test_a_page_has_changes_unless_they_are_not_wanted(tables, tmp_path, reidrisk, said, is_tried):
    given = [*tables, "--seed", "1", "--attack", "hamming", "--what-if-budget", "5s", "--result", "r.json"]
    assert reidrisk("audit", *given, "--out", "r.html", *said).code == 0
    found = json.loads((tmp_path / "r.json").read_text())
    assert (found["further"] is not None) is is_tried
    assert ('id="lower"' in (tmp_path / "r.html").read_text()) is is_tried


@pytest.mark.parametrize("wrong", [("--change", "scramble:2"), ("--aim", "3"), ("--population", "1")])
def test_what_cannot_be_asked_is_one_line(tables, reidrisk, wrong):
    done = reidrisk("audit", *tables, *wrong)
    assert done.code == 2
    assert done.err.count("\n") == 1
