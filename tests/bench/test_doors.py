"""The exports of `benchmarks/doors.py` are what they claim to be, and its runner counts them rightly."""

import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(FOLDER))
try:
    doors, exports, case = (import_module(name) for name in ("doors", "exports", "exports.case"))
finally:
    sys.path.remove(str(FOLDER))

EVERY = {export.name: export for export in exports.LEAKY + exports.SAFE}


def test_there_are_as_many_exports_as_a_measurement_takes():
    assert len(EVERY) == len(exports.LEAKY) + len(exports.SAFE)
    assert len(exports.LEAKY) >= 60
    assert len(exports.SAFE) >= 40
    assert sum(export.hard for export in exports.LEAKY) <= 6


@pytest.mark.parametrize("name", EVERY)
def test_by_hand_finds_what_is_there(name, tmp_path):
    export = EVERY[name]
    files = export.write(tmp_path, 1)
    assert all(path.exists() for path in files)
    people, rate = len(case.per_person(files[-1])), export.by_hand(files)
    assert 100 <= people <= 800
    if export.best is None:
        assert rate >= 0.5
    elif len(files) == 1:
        assert rate == pytest.approx(export.best, rel=0.1)
    else:
        assert people * (rate - export.best) <= 4 * np.sqrt(people * export.best) + 1
    if len(files) == 2 and not name.startswith(("row-order", "identical")):
        assert case.by_order(files) < 0.05


def test_another_seed_draws_other_people_and_the_same_seed_the_same(tmp_path):
    export = EVERY["device-id"]
    texts = []
    for i, seed in enumerate((1, 1, 2)):
        (folder := tmp_path / str(i)).mkdir()
        texts.append([path.read_bytes() for path in export.write(folder, seed)])
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize(
    ("name", "code", "low", "exit_code"),
    [
        ("log-second", 0, 0.01, 1),
        ("log-second", 1, 0.5, 0),
        ("log-second", 2, 0.0, 0),
        ("vectors-permuted", 0, 0.0, 0),
        ("classes-people-6", 0, 0.01, 0),
        ("classes-people-6", 3, 0.01, 1),
        ("classes-people-6", 2, 0.0, 1),
    ],
)
def test_the_runner_fails_if_a_leaky_export_passes_or_safe_ones_do_not(
    name, code, low, exit_code, monkeypatch, tmp_path
):
    asked = []

    def called(folder, *words):
        asked.append(words)
        assert all((folder / word).exists() for word in words if word.endswith(".csv"))
        gate = {"rate": low, "low": low, "high": low, "attack": "Some", "why": "within"}
        return (0, "") if words[0] == "audit" else (code, json.dumps(gate) if code != 2 else "refused")

    monkeypatch.setattr(doors, "called", called)
    monkeypatch.setattr(sys, "argv", ["doors.py", "--only", name, "--limit", "0.05", "--out", str(tmp_path / "found")])
    assert doors.main() == exit_code
    (row,) = json.loads((tmp_path / "found").read_text())
    assert (row["name"], row["answer"]) == (name, doors.ANSWERS[code])
    assert [words[0] for words in asked] == ["audit", "gate"]
    assert "0.05" in asked[1]


def test_a_rate_above_the_possible_one_is_a_false_alarm(monkeypatch, capsys):
    monkeypatch.setattr(doors, "called", lambda *words: (0, '{"rate": 0.09, "low": 0.05, "high": 0.1, "attack": "a"}'))
    rows = [doors.tried(name, 0.1, 1, None, False) for name in ("classes-people-6", "classes-people-4", "counts")]
    assert all(row["alarm"] for row in rows)
    assert doors.summed(rows[:2])
    assert not doors.summed(rows)
    assert "false alarms: 3" in capsys.readouterr().out


def test_a_command_in_this_process_answers_as_one_of_its_own(tmp_path):
    words = ("gate", "nothing.json", "--max-risk", "0.1")
    apart, here = doors.called(tmp_path, *words), doors.called_here(tmp_path, *words)
    assert apart == here
    assert "nothing.json" in apart[1]
