"""What people read about a trade-off: the verdict, the caution, the choices, what was assumed."""

from dataclasses import replace
from html import unescape

import pytest

from reidrisk import bandits
from reidrisk.base.notes import Note
from reidrisk.present import words
from reidrisk.present.console import parts_of
from reidrisk.present.pages.tradeoff import page
from reidrisk.present.words.bandits import choice_text, linkage_reading, stronger_attacker
from reidrisk.present.words.frequencies import percent
from reidrisk_studies.galozy.clustered import clustered_users

USERS = clustered_users(16, n_states=6, n_clusters=4, seed=0)


@pytest.fixture(scope="module")
def surface():
    spec = bandits.TradeoffSpec(amounts=[0.0, 1e-4, 1e-2], n_aux=12, runs=30, steps=80, seed=0)
    return bandits.tradeoff(USERS, spec)


@pytest.mark.parametrize("attack", ["scoreboard", "likelihood"])
def test_the_reading_goes_from_the_safest_to_the_cheapest_choice(surface, attack):
    found = surface.judged_by(attack)
    front = found.front(attack)
    assert f"{len(front)} of {len(found.points)} choices are Pareto-optimal" in found.reading
    for point in (front[0], front[-1]):
        rate = (point.risk if attack == "scoreboard" else point.likelihood).rate
        assert f"{choice_text(point)} ({percent(rate)} found, regret " in found.reading
    only = replace(found, points=(front[0],))
    assert only.reading.startswith(f"One choice is best in both: {choice_text(front[0])}")


def test_the_stronger_attacker_is_named_where_the_scoreboard_is_fooled(surface):
    assert stronger_attacker(surface) == ""
    safest = surface.front()[0]
    everyone = replace(safest.likelihood, rate=1.0, low=0.9, high=1.0, incorrect=0.0)
    points = tuple(replace(p, likelihood=everyone) if p is safest else p for p in surface.points)
    fooled = replace(surface, points=points)
    said = stronger_attacker(fooled)
    assert said.startswith(f"Careful: for {choice_text(safest)}, the scoreboard finds {percent(safest.risk.rate)}, ")
    assert said.endswith("finds 100 %.")
    assert said in page(fooled).news
    assert stronger_attacker(fooled.judged_by("likelihood")) == ""


def test_terminal_and_page_show_the_same_choices(surface):
    shown = page(surface, command="reidrisk bandits tradeoff log.csv --seed 0")
    choices = next(section for section in shown.sections if section.name == "choices")
    assert choices.table in list(parts_of(shown))
    status = [row[-1] for row in choices.table.rows]
    assert status.count("Pareto-optimal") == len(surface.front())
    assert len(choices.parts[0].table.rows) == len(surface.points)
    assert list(shown.figures()) == ["scoreboard", "likelihood"]
    assert list(page(surface.judged_by("likelihood")).figures()) == ["likelihood", "scoreboard"]


def test_a_page_without_the_stronger_attacker_has_one_chart_and_no_column_for_it(surface):
    less = replace(surface, points=tuple(replace(p, likelihood=None) for p in surface.points))
    shown = page(less)
    assert list(shown.figures()) == ["scoreboard"]
    choices = next(section for section in shown.sections if section.name == "choices")
    assert choices.table.columns == ("each receives", "on top", "regret", "found", "ADS", "status")


def test_what_was_assumed_is_said(surface):
    assert surface.assumptions == tuple(words.sentence(note) for note in surface.notes)
    for code, values, text in (
        ("profiles-alike", {"users": 2}, "2 people share their profile"),
        ("cells-without-noise", {"cells": 3, "of": 144, "weights": "entropy"}, "3 of 144 cells get no noise"),
        ("noise-drawn", {"times": 1}, "Noise is drawn 1 time for each choice"),
        ("noise-simulated", {}, "must not protect real people"),
        ("mechanism-known", {}, "which cells have none, and how many users are behind each"),
        ("log-read", {"entries": 1200, "name": "a.csv", "unit": "minute"}, "1,200 entries; a stay of one minute"),
        ("log-read", {"entries": 1200, "name": "a.csv", "unit": 90.0}, "a stay of 90 seconds"),
        ("attack-coarse", {"tolerance": 0.001, "found": 0.25}, "finds 25 in 100 owners even of records"),
    ):
        assert text in words.sentence(Note(code, **values))


def test_regret_and_differences_are_said():
    env = bandits.LatentBandit(USERS.records, bandits.hard_rewards(6), 2.0)
    true = bandits.regret(env, runs=100, steps=200)
    blind = bandits.regret(env, runs=100, steps=200, agent="uniform")
    assert true.reading.startswith("In 200 recommendations this agent loses ")
    assert " less per run than the second." in bandits.compare(true, blind).reading
    assert "no difference" in bandits.compare(true, true).reading


def test_linkage_is_said(surface):
    risk = surface.points[0].risk
    assert linkage_reading(risk, 12).startswith("An attacker who knows 12 cells of a record finds its owner in ")
    assert linkage_reading(replace(risk, low=0.0), 12).startswith("No better than a guess: an attacker")


def test_the_html_page_is_whole(surface):
    pytest.importorskip("altair", reason="the extra report is not installed")
    from reidrisk.present import render

    text = unescape(render(surface))
    for part in ("by the attack 'scoreboard'", "Pareto-optimal", 'id="choices"', 'data-chart="likelihood"'):
        assert part in text
    assert "by the attack 'likelihood'" in unescape(render(surface, attack="likelihood"))
