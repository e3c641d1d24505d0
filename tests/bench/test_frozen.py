"""The comparison with a frozen menu: regret by group, its error, and the losses, on a toy."""

import json
import math
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def compare(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from frozen import compare

    yield compare
    sys.modules.pop("frozen.compare", None)
    sys.modules.pop("frozen", None)


def menu(rates: dict[str, float]) -> dict[str, dict[str, float]]:
    return {name: {"rate": rate, "error": 0.01, "seconds": 2.0} for name, rate in rates.items()}


def test_regret_is_the_best_of_the_frozen_menu_less_the_best_of_the_new_one(compare, tmp_path):
    cases = [
        {"data": "a", "setting": "later", "seed": 0, "attacks": menu({"x": 0.4, "y": 0.5}) | {"z": {"refused": True}}},
        {"data": "b", "setting": "later", "seed": 0, "attacks": menu({"x": 0.2})},
        {"data": "b", "setting": "halves", "seed": 0, "attacks": menu({"x": 0.9})},
        {"data": "c", "setting": "later", "seed": 0, "attacks": menu({"x": 0.9})},  # not run again
    ]
    path = tmp_path / "menu.json"
    path.write_text(json.dumps({"cases": cases}))
    frozen = compare.read(path)
    assert frozen["a", "later", 0] == compare.Case(0.5, "y", 0.01, 4.0)
    new = {
        ("a", "later", 0): compare.best(menu({"p": 0.44, "q": 0.1})),
        ("b", "later", 0): compare.best(menu({"p": 0.24, "q": 0.1})),
        ("b", "halves", 0): compare.best(menu({"p": 0.5})),
    }
    found = compare.regret(frozen, new)
    assert (found["natural"].n, found["contrived"].n, found["all"].n) == (2, 1, 3)
    assert found["natural"].mean == pytest.approx(0.01)  # 0.06 lost, 0.04 won
    assert found["natural"].error == pytest.approx(math.sqrt(0.005 / 2))
    assert found["contrived"].mean == pytest.approx(0.4)
    assert found["all"].seconds == (8.0, 10.0)
    assert [key for key, _, _ in compare.losses(frozen, new)] == [("b", "halves", 0), ("a", "later", 0)]
    assert len(compare.lines(frozen, new)) == 4 + 2


def test_the_frozen_menu_has_every_natural_setting_of_two_seeds(compare):
    frozen = compare.read(BENCHMARKS / "frozen" / "attackers.json")
    natural = {key for key in frozen if compare.group(key) == "natural"}
    assert {seed for _, _, seed in natural} == {0, 1}
    assert {setting for _, setting, _ in natural} == {
        "two-tables",
        "later",
        "independent",
        *(f"knows-{n}" for n in (2, 4, 8, 16)),
    }
    assert all(0.0 <= case.rate <= 1.0 for case in frozen.values())
