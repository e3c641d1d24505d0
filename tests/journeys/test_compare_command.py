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
