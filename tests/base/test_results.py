import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk import Bound, Risk
from reidrisk.base.errors import DataError
from reidrisk.base.notes import Note

unit = st.floats(0, 1)


@given(unit, unit, st.lists(unit, max_size=5), st.lists(st.text(max_size=10), max_size=3))
def test_risk_round_trips(one, two, credits, notes):
    low, rate = sorted((one, two))
    said = tuple(Note("own-words", holds=text) for text in notes)
    risk = Risk(rate, low, 1.0, 0.5, 0.0, 0.01, 100, len(credits), notes=said,
                per_user=np.array(credits))  # fmt: skip
    assert Risk.from_json(risk.to_json()) == risk
    again = Risk.from_dict(json.loads(json.dumps(risk.to_dict(per_user=True))))
    assert np.array_equal(again.per_user, risk.per_user)
    assert [note["holds"] for note in again.notes] == notes


def test_per_user_stays_out_unless_asked_for():
    risk = Risk(0.1, 0.0, 0.2, 0.9, 0.0, 0.01, 100, 2, per_user=np.array([0.123456, 0.0]))
    assert "0.123456" not in risk.to_json()
    assert "per_user" not in risk.to_dict()
    assert "0.123456" not in repr(risk)


def test_bound_keeps_infinity_and_says_nothing_above_one():
    bound = Bound("ldp", "random user", math.inf, 0.1, "carey, Lemma 3", inputs={"epsilon": math.inf})
    again = Bound.from_json(bound.to_json())
    assert again == bound
    assert again.value == math.inf
    assert again.inputs["epsilon"] == math.inf
    assert not bound.says_something
    assert Bound("a", "matching", 0.5, 0.1, "r").says_something
    assert (again.low, again.high) == (math.inf, math.inf)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": 5.0}, "rate of a risk must be a number in"),
        ({"high": math.nan}, "high of a risk"),
        ({"high": "abc"}, "high of a risk"),
        ({"low": 0.3, "high": 0.4}, "must lie in its interval"),
        ({"n_epochs": None}, "n_epochs of a risk must be a whole number"),
    ],
)
def test_a_risk_that_cannot_be_is_refused(change, message):
    good = {"rate": 0.1, "low": 0.0, "high": 0.2, "incorrect": 0.9, "abstained": 0.0, "baseline": 0.01,
            "n_targets": 100, "n_queries": 2}  # fmt: skip
    with pytest.raises(DataError, match=message):
        Risk(**(good | change))


def test_what_an_interval_covers_is_data():
    with pytest.raises(DataError, match="covers of a risk must be one of people, queries, none, not 'all'"):
        Risk(0.1, 0.0, 0.2, 0.9, 0.0, 0.01, 100, 2, covers="all")
