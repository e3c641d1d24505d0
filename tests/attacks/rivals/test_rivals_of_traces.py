"""The simple attacks on traces alone: when anything was seen, and what followed what."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Bags, Traces, attacks
from reidrisk.attacks.rivals.base import UNIT_STEPS
from reidrisk.base.errors import DataError, OptionError
from reidrisk.search import GRID

sys.path.insert(0, str(Path(__file__).parent))
import rival_twins as twins

TOKENS = 4
BOTH = pytest.mark.parametrize("attack", [attacks.Presence, attacks.Markov], ids=lambda attack: attack.__name__)


def tokens(rng, n, r):
    return np.where(rng.random((n, r)) < rng.random((n, 1)), -1, rng.integers(0, TOKENS, (n, r)))


def all_scores(attack, queries):
    return attack.near_best(Traces(queries, TOKENS), np.full(len(queries), -1))


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**20))
def test_presence_agrees_with_the_formula(seed):
    rng = np.random.default_rng(seed)
    targets, queries = tokens(rng, 12, 6), tokens(rng, 7, 6)
    targets[5] = targets[2]
    scores = all_scores(attacks.Presence().fit(Traces(targets, TOKENS)), queries)
    assert np.allclose(scores / GRID, twins.presence(targets, queries), atol=6 / GRID)
    assert np.array_equal(scores[:, 5], scores[:, 2])
    assert (scores[(queries < 0).all(axis=1)] == 0).all()


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**20), r=st.sampled_from([1, 2, 8]))
def test_markov_is_tf_idf_of_transitions(seed, r):
    rng = np.random.default_rng(seed)
    targets, queries = tokens(rng, 12, r), tokens(rng, 7, 5)
    scores = all_scores(attacks.Markov().fit(Traces(targets, TOKENS)), queries)
    known, asked = (twins.transitions(side, TOKENS) for side in (targets, queries))
    asked = asked * (known.sum(axis=0) > 0)
    assert np.allclose(scores / UNIT_STEPS**2, twins.tf_idf(known, asked), atol=1e-6)


@BOTH
def test_the_order_of_people_and_the_names_of_items_change_nothing(attack):
    rng = np.random.default_rng(3)
    targets, queries, names, people = (
        tokens(rng, 30, 7),
        tokens(rng, 9, 7),
        rng.permutation(TOKENS),
        rng.permutation(30),
    )
    one = all_scores(attack().fit(Traces(targets, TOKENS)), queries)
    renamed = [np.where(side < 0, -1, names[side]) for side in (targets[people], queries)]
    assert np.array_equal(one[:, people], all_scores(attack().fit(Traces(renamed[0], TOKENS)), renamed[1]))


def test_presence_finds_who_was_there_at_the_same_time():
    rng = np.random.default_rng(4)
    there = rng.random((300, 40)) < 0.3
    a, b = (np.where(there & (rng.random(there.shape) < 0.9), rng.integers(0, TOKENS, there.shape), -1) for _ in "ab")
    links = attacks.Presence().fit(Traces(a, TOKENS)).link(Traces(b, TOKENS))
    assert np.mean(links.target == np.arange(300)) > 0.95
    everywhere = Traces(np.abs(a), TOKENS)
    assert (attacks.Presence().fit(everywhere).link(everywhere).n_ties == 300).all()


def test_pooled_observers_were_there_when_one_was_and_take_steps_of_their_own():
    one, two = Traces([[0, -1, 1], [2, 2, -1]], TOKENS), Traces([[-1, 3, 2], [-1, -1, -1]], TOKENS)
    query = Traces([[1, 1, 2]], TOKENS)
    both, either = attacks.Presence().fit([one, two]), attacks.Presence().fit(Traces([[0, 3, 1], [2, 2, -1]], TOKENS))
    assert np.array_equal(both.link(query).score, either.link(query).score)
    assert attacks.Markov().fit([one, two]).transitions_.tolist() == [0 * 4 + 1, 2 * 4 + 2, 3 * 4 + 2]


@BOTH
def test_what_does_not_fit_is_refused(attack):
    with pytest.raises(DataError, match="compares traces, not Bags"):
        attack().fit(Bags([[1]]))
    with pytest.raises(OptionError, match="call fit"):
        attack().link(Traces([[0]], 1))
    with pytest.raises(DataError, match="tokens in the vocabulary"):
        attack().fit(Traces([[0, 1]], 2)).link(Traces([[0, 1]], 3))


def test_presence_asks_for_the_same_epochs():
    with pytest.raises(DataError, match="targets have 2 epochs, queries have 3"):
        attacks.Presence().fit(Traces([[0, 1]], 2)).link(Traces([[0, 1, 1]], 2))
    for shared in (0.0, 1.0, float("nan")):
        with pytest.raises(OptionError, match="shared must lie between"):
            attacks.Presence(shared)
