"""What people read about a benchmark of attacks: the leaderboard, the best of each setting, what was left out."""

from dataclasses import replace

import pytest

from reidrisk.base.notes import Note
from reidrisk.bench import Bench, Expected, Row, Used
from reidrisk.measure import Calibration
from reidrisk.present import render
from reidrisk.present.console import parts_of
from reidrisk.present.pages.bench import page


def row(data, setting, attack, rate, behind, low, **more):
    given = {"low": rate - 0.02, "high": rate + 0.02, "baseline": 0.001, "n_targets": 1_000, "n_queries": 500}
    given |= {"covers": "queries", "behind": behind, "behind_low": low, "behind_high": behind + 0.02, "seconds": 1.5}
    return Row(data=data, setting=setting, attack=attack, rate=rate, **(given | more))


@pytest.fixture
def found():
    held = Calibration(said=0.52, right=0.5, error=0.05, expected=0.03, excess=0.02, n_queries=500)
    rows = (
        row("shop", "halves", "TfIdf", 0.5, 0.0, 0.0, calibration=held, expected=Expected(0.5, 0.45, 0.55)),
        row("shop", "halves", "Overlap", 0.4, 0.1, 0.08),
        row("shop", "knows-4", "TfIdf", 0.79, 0.01, -0.01, calibration=replace(held, excess=0.04)),
        row("shop", "knows-4", "Overlap", 0.8, 0.0, 0.0),
    )
    used = (Used("shop", "purchases", "its authors", "MIT", False, 1_000, 40, 9_000),)
    left_out = (
        Note("data-missing", data="bank", file="bank.csv", origin="its authors"),
        Note("attack-needs", attack="full-information", needs=["top sets"]),
    )
    return Bench(0, 2_000, 500, 0.95, "0.2.0", rows, used, left_out)


def test_the_verdict_names_who_falls_behind_the_least(found):
    assert found.reading == (
        "In 2 settings of 1 data set, TF-IDF falls behind the least: it finds 0.5 people per 100 fewer than the best "
        "attack of each on average, at most 1.0; it is not beaten in 2 of 2."
    )
    assert replace(found, rows=()).reading == "Nothing could be compared: no attack ran on any data set."
    alone = replace(found, rows=found.rows[:1]).reading
    assert alone.endswith("it finds 0.0 people per 100 fewer than the best attack of each; it is not beaten in 1 of 1.")


def test_the_leaderboard_is_the_same_on_terminal_and_page(found):
    shown = page(found, "reidrisk bench --data manifest.toml")
    board = shown.sections[0]
    assert board.table in list(parts_of(shown))
    assert [tuple(map(str, line)) for line in board.table.rows] == [
        ("TF-IDF", "2", "2", "0.5", "1.0 (shop, knows-4)", "1 of 2", "1 of 1", "3"),
        ("Overlap", "2", "1", "5.0", "10.0 (shop, halves)", "", "", "3"),
    ]
    text = render(found)
    for words in ("Leaderboard", "50.0", "Behind the best", "its authors", "bank.csv"):
        assert words in text


def test_the_best_of_each_setting_and_every_rate(found):
    sections = {section.name or section.title: section for section in page(found).sections}
    assert [tuple(map(str, line)) for line in sections["best"].table.rows] == [
        ("shop (halves)", "500 of 1,000", "TF-IDF", "50.0 (48.0 to 52.0)", "0.1", "0"),
        ("shop (knows-4)", "500 of 1,000", "Overlap", "80.0 (78.0 to 82.0)", "0.1", "1"),
    ]
    halves, knows = sections["rates"].parts[0].parts
    assert (halves.title, knows.title) == ("halves", "knows-4")
    lines = [tuple(map(str, line)) for line in halves.table.rows]
    assert lines[0] == ("TF-IDF [not beaten]", "50.0 (48.0 to 52.0)", "0.0", "52.0", "+2.0", "45.0 to 55.0", "1.5")
    assert lines[1][2:6] == ("10.0 (8.0 to 12.0)", "", "", "")
    assert [str(line[0]) for line in knows.table.rows] == ["Overlap [not beaten]", "TF-IDF [not beaten]"]
    assert [line[0] for line in sections["Left out"].table.rows] == [
        "bank is not on this machine: there is no bank.csv. Published by: its authors.",
        "full-information needs more than records (top sets), and was not run.",
    ]


def test_data_held_back_has_a_leaderboard_of_its_own_which_comes_first(found):
    held = tuple(replace(one, data="bank", held_back=True) for one in found.rows[:2])
    both = replace(found, rows=(*found.rows[:2], *held, *found.rows[2:]))
    assert both.reading.startswith(
        "In 1 setting of 1 data set on which nothing was chosen, TF-IDF falls behind the least"
    )
    rates = next(section for section in page(both).sections if section.name == "rates")
    assert [part.title for part in rates.parts] == ["shop", "bank"]
    board = page(both).sections[0]
    assert board.title == "Leaderboard: data on which nothing was chosen"
    assert [line[1] for line in board.table.rows] == ["1", "1"]
    assert board.parts[0].title == "Leaderboard: all other data"
    assert [line[1] for line in board.parts[0].table.rows] == ["2", "2"]
