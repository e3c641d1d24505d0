"""What bounds and measured quantities of a channel are in English."""

import math

import numpy as np
import pytest

from reidrisk import Bound, Measurement, Traces, bounds
from reidrisk.present import words
from reidrisk.present.terms import Terms


def named(results, name, kind=Bound):
    return next(r for r in results if r.name == name and isinstance(r, kind))


def test_readings_use_natural_frequencies():
    results = bounds.summary(np.repeat(np.eye(4), 25, axis=0))
    assert named(results, "optimal attacker").reading == (
        "The best attacker who knows every person's probabilities names the right person for 4 in 100 records; blind "
        "guessing reaches 1 in 100."
    )
    assert named(results, "k-anonymity").reading.startswith(
        "Because every record is shared by at least 25 people, no attacker names the right person for more than 4 in "
        "100 records"
    )
    assert all(result.reading.endswith(".") for result in results)


def test_what_says_nothing_is_said_to_say_nothing():
    n = 1001
    second = np.arange(n) / (n - 1)
    found = bounds.tightest(bounds.summary(np.column_stack([1 - second, second])), "random user")
    assert found.reading.endswith("'local differential privacy' and 'k-anonymity' say nothing here.")
    nothing = bounds.tightest(bounds.summary(np.eye(4)), "random user")
    assert nothing.reading == "No bound says anything for one record here."
    assert bounds.distinct_outputs(Traces([[0], [1], [2]], 4)).reading.startswith("This says nothing here")


def test_an_estimated_bound_is_about_and_has_its_interval():
    bound = bounds.distinct_outputs(Traces([[0, -1], [0, -1], [0, 1], [-1, 0]], 4))
    assert "for more than about 75 in 100" in bound.reading


@pytest.mark.parametrize(
    ("epsilon", "words_of"), [(math.inf, "impossible for another"), (math.log(3), "more than 3 times")]
)
def test_epsilon_is_a_factor(epsilon, words_of):
    assert words_of in Measurement("epsilon", epsilon, "", "").reading


def test_the_reader_has_words_of_their_own():
    bound = Bound("distinct representations", "matching", 0.5, 0.1, "")
    said = words.reading(bound, Terms(person="customer", record="basket"))
    assert said.startswith(
        "Because customers with the same basket cannot be told apart, no attacker names the right customer"
    )


def test_a_bound_near_everyone_has_the_digits_it_needs_and_one_of_everyone_says_nothing():
    near = words.reading(Bound("k-anonymity", "random user", 0.9975, 0.5, ""))
    assert "for more than 99.75 in 100 records; blind guessing reaches 50 in 100." in near
    for value, formula in ((1.0, ""), (2.5, " (the formula gives 2.5,"), (math.inf, " (the formula gives infinity,")):
        said = words.reading(Bound("k-anonymity", "random user", value, 0.001, ""))
        assert said.startswith(f"This says nothing here: it excludes no rate of success{formula}")
