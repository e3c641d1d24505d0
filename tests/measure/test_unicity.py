"""Unicity: a twin of Python sets, closed forms, and what a fact is of each kind of records."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import measure
from reidrisk.base.errors import DataError, OptionError
from reidrisk.records import Attributes, Bags, Cells, Events, Traces


def expected(sets, facts):
    """Return the share of all draws, over people with enough facts, that are in nobody else's record."""
    shares = []
    for i, mine in enumerate(sets):
        if len(mine) < facts:
            continue
        draws = [set(draw) for draw in combinations(sorted(mine), facts)]
        shares.append(np.mean([not any(draw <= other for j, other in enumerate(sets) if j != i) for draw in draws]))
    return float(np.mean(shares))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sets(st.integers(0, 6), max_size=6), min_size=2, max_size=14), st.integers(1, 3), st.integers(0, 99))
def test_whoever_holds_all_facts_alone_is_found(sets, facts, seed):
    if not any(len(one) >= facts for one in sets):
        return
    held = np.array([[item in one for item in range(7)] for one in sets], dtype=int)
    found = measure.unicity(Bags(held), facts, seed=seed)
    assert (found.n, found.too_few) == (sum(len(one) >= facts for one in sets), sum(len(one) < facts for one in sets))
    certain = {0.0, 1.0}
    share = expected(sets, facts)
    if share in certain:
        assert found.share == share
    assert 0.0 <= found.low <= found.share <= found.high <= 1.0


def test_the_mean_over_seeds_is_that_of_all_draws():
    rng = np.random.default_rng(0)
    held = rng.random((40, 12)) < 0.4
    sets = [set(np.flatnonzero(row)) for row in held]
    shares = [measure.unicity(Bags(held.astype(int)), 3, seed=seed).share for seed in range(200)]
    assert np.mean(shares) == pytest.approx(expected(sets, 3), abs=4 * np.std(shares) / np.sqrt(200) + 1e-9)


def test_facts_are_items_cells_values_or_items_in_a_period():
    traces = Traces([[0, 1], [1, 0], [0, -1]], n_tokens=2)
    assert measure.unicity(traces, 2).share == 1.0
    assert measure.unicity(traces, 2).too_few == 1
    assert measure.unicity(traces.bags(), 2).share == 0.0
    people = Attributes({"x": ["a", "a", "b"], "y": ["c", "c", "c"]})
    assert measure.unicity(people, 2).share == pytest.approx(1 / 3)
    log = {"who": [1, 1, 2, 2], "what": ["a", "b", "a", "b"], "day": [1, 2, 2, 3]}
    events = Events(log, user="who", items="what", time="day")
    assert measure.unicity(events, 2).share == 0.0
    assert measure.unicity(events, 2, every=1).share == 1.0


def test_counts_make_no_difference():
    held = np.random.default_rng(1).integers(0, 2, (60, 20))
    one, many = Bags(held), Bags(held * 5)
    assert measure.unicity(one, 3, seed=4).share == measure.unicity(many, 3, seed=4).share


def test_a_sample_is_compared_with_everybody():
    held = np.random.default_rng(2).integers(0, 2, (500, 9))
    whole, some = (measure.unicity(Bags(held), 4, sample=n, seed=3) for n in (None, 200))
    assert (some.n, some.n_people) == (200, 500)
    assert some.low <= whole.share <= some.high


def test_independent_items_have_a_closed_form():
    n, items, p, facts = 400, 60, 0.3, 3
    held = np.random.default_rng(5).random((n, items)) < p
    found = measure.unicity(Bags(held.astype(int)), facts, seed=0)
    assert found.share == pytest.approx((1 - p**facts) ** (n - 1), abs=0.03)


def test_what_has_no_facts_is_refused():
    with pytest.raises(DataError, match="nobody has 9 facts"):
        measure.unicity(Bags([[1, 1]]), 9)
    with pytest.raises(DataError, match="Cells"):
        measure.unicity(Cells([[0.5]]))
    with pytest.raises(OptionError, match="every='week'"):
        measure.unicity(Bags([[1, 1]]), 1, every="week")
