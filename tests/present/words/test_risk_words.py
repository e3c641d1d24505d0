"""What rates, differences and profiles are in English."""

import numpy as np
import pytest

from reidrisk import Traces, attacks, measure
from reidrisk.base.notes import Note
from reidrisk.base.results import Difference, Risk
from reidrisk.present import words


def risk(rate, low, high, **changes):
    return Risk(rate, low, high, 1.0 - rate, 0.0, 1e-3, n_targets=1_000, n_queries=1_000, **changes)


def test_an_attacker_who_links_nobody_is_said_to_link_nobody():
    a, b = Traces([[0], [1]], 2), Traces([[1], [0]], 2)
    assert "links nobody correctly (0 to " in measure.random_user(attacks.Hamming(), a, b).reading
    assert "links nobody correctly (0 to " in measure.matching(attacks.Hamming(), a, b).reading


def test_almost_everyone_is_not_about_more_than_so_many():
    assert "links more than 99 in 100 people correctly" in risk(0.9975, 0.98, 1.0).reading


def test_no_better_than_guessing_is_an_answer():
    assert "cannot be told apart from blind guessing" in risk(0.001, 0.0, 0.004).reading


def test_a_difference_names_what_differs_whichever_comes_first():
    said = "More people are linked with plain than with protected; the difference is statistically significant."
    assert Difference("plain", "protected", 4, 0.5, 0.4, 0.6, 0.95, 200).reading == said
    assert Difference("protected", "plain", 4, -0.5, -0.6, -0.4, 0.95, 200).reading == said
    same = Difference("Hamming", "Hamming", 4, -0.5, -0.6, -0.4, 0.95, 200).reading
    assert same.startswith("Hamming links more people in the second measurement than in the first one;")
    level = Difference("a", "b", 4, 0.0, -0.1, 0.1, 0.95, 200).reading
    assert level == "a and b cannot be told apart on these 200 records."


def test_known_victims():
    assert risk(0.3, 0.2, 0.4, setting="known victim").reading.startswith("Of people whose profile is known, 30 in 100")


@pytest.mark.parametrize(("n", "said"), [(1234, "1,234 belong to nobody"), (None, "fewer than 20 belong to nobody")])
def test_few_strangers_are_not_counted(n, said):
    assert said in words.sentence(Note("strangers-scored", n=n, least=20))


def test_every_assumption_of_a_rate_is_a_sentence():
    rng = np.random.default_rng(0)
    a = Traces(rng.integers(0, 9, (40, 3)), 9)
    for found in (measure.random_user(attacks.Hamming(), a, a), measure.matching(attacks.Hamming(), a, a)):
        assert found.assumptions
        assert all(text.endswith(".") and text[0].isupper() for text in found.assumptions)


def test_an_interval_for_people_like_these_promises_what_simulations_showed():
    people = words.sentence(Note("covers-people", level=0.95))
    assert "in the simulations listed in docs/explanation/intervals.md" in people
    assert "does not allow for kinds of records that nobody has here" in people
    few = words.sentence(Note("covers-records", why="few-attract-many", level=0.95))
    assert "many people are taken for the same few known records" in few
