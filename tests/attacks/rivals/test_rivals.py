"""The simple attacks: by their formulas, with exact ties, whatever the order of people and the names of items."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Bags, Traces, attacks
from reidrisk.attacks.rivals import naive_bayes
from reidrisk.attacks.rivals.base import UNIT_STEPS, counts_of
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.vocabulary import Vocabulary

sys.path.insert(0, str(Path(__file__).parent))
import rival_twins as twins

TWINS = {
    attacks.Hellinger: twins.hellinger,
    attacks.TfIdf: twins.tf_idf,
    attacks.BM25: twins.bm25,
    attacks.NaiveBayes: lambda targets, queries: twins.naive_bayes(targets, queries, 0.1),
}
BY_CLASS = pytest.mark.parametrize("attack", TWINS, ids=lambda attack: attack.__name__)


def made(attack):
    return attack(smoothing=0.1) if attack is attacks.NaiveBayes else attack()


def table(rng, n, width, often=1.0):
    """Return counts with empty records, large ones, and some that are equal."""
    counts = rng.poisson(often, (n, width)) * rng.integers(0, 2, (n, 1)) * rng.choice([1, 1, 3, 50], (n, 1))
    counts[n // 2] = counts[0]
    return counts


@BY_CLASS
@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**20))
def test_scores_rank_as_the_formula_does_and_equal_records_tie(attack, seed):
    rng = np.random.default_rng(seed)
    n, q, width = (int(rng.integers(1, top)) for top in (15, 8, 9))
    targets, queries = table(rng, n, width), table(rng, q, width, 0.5)
    expected, fitted = TWINS[attack](targets, queries), made(attack).fit(Bags(targets))
    links = fitted.link(Bags(queries))
    scores = fitted.near_best(Bags(queries), np.full(q, -1))
    unit = fitted.steps == UNIT_STEPS
    # Half a step for each weight: so two targets that differ by more rank as in the formula.
    within = np.full(q, 1e-6) if unit else (1 + queries.sum(axis=1)) / fitted.steps
    assert (np.abs(scores / fitted.steps ** (1 + unit) - expected) <= within[:, None]).all()
    assert np.array_equal(links.score, scores.max(axis=1))
    assert np.array_equal(links.n_ties, (scores == scores.max(axis=1, keepdims=True)).sum(axis=1))
    assert np.array_equal(links.target, scores.argmax(axis=1))
    assert np.array_equal(scores[:, n // 2], scores[:, 0])
    assert (scores[queries.sum(axis=1) == 0] == 0).all()
    rows = rng.integers(0, n, q)
    assert np.array_equal(fitted.score(Bags(queries), rows), scores[np.arange(q), rows])
    found, values = fitted.candidates(Bags(queries), n)
    assert np.array_equal(found, np.argsort(-scores, axis=1, kind="stable"))
    assert np.array_equal(values, -np.sort(-scores, axis=1))


@BY_CLASS
@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**20))
def test_the_order_of_people_and_the_names_of_items_change_nothing(attack, seed):
    rng = np.random.default_rng(seed)
    targets, queries = table(rng, 12, 7), table(rng, 6, 7)
    people, items = rng.permutation(12), rng.permutation(7)
    one = attack().fit(Bags(targets)).near_best(Bags(queries), np.full(6, -1))
    two = attack().fit(Bags(targets[people][:, items])).near_best(Bags(queries[:, items]), np.full(6, -1))
    assert np.array_equal(one[:, people], two)


@pytest.mark.parametrize(("attack", "side"), [(attacks.Hellinger, 2), (attacks.Hellinger, 1), (attacks.BM25, 1)])
def test_twice_the_counts_of_queries_or_of_all_change_no_link(attack, side):
    rng = np.random.default_rng(3)
    targets, queries = table(rng, 30, 7), table(rng, 20, 7)
    one, two = attack().fit(Bags(targets)), attack().fit(Bags(targets * side))
    a, b = one.link(Bags(queries)), two.link(Bags(queries * 2))
    assert np.array_equal(a.target, b.target)
    assert np.array_equal(a.n_ties, b.n_ties)


@BY_CLASS
def test_traces_are_counted(attack):
    rng = np.random.default_rng(4)
    tokens, asked = rng.integers(-1, 6, (20, 9)), rng.integers(-1, 6, (8, 5))
    asked[0] = -1
    one = attack().fit(Traces(tokens, 6)).link(Traces(asked, 6))
    counts = [np.stack([np.bincount(row[row >= 0], minlength=6) for row in rows]) for rows in (tokens, asked)]
    two = attack().fit(Bags(counts[0])).link(Bags(counts[1]))
    assert np.array_equal(counts_of(Traces(tokens, 6)).toarray(), counts[0])
    for field in ("target", "score", "n_ties"):
        assert np.array_equal(getattr(one, field), getattr(two, field))
    assert one.n_ties[0] == 20
    pooled = attack().fit([Traces(tokens[:, :4], 6), Traces(tokens[:, 4:8], 6)]).link(Traces(asked, 6))
    alone = attack().fit(Traces(tokens[:, :8], 6)).link(Traces(asked, 6))
    assert np.array_equal(pooled.score, alone.score)


@BY_CLASS
def test_extreme_records(attack):
    nothing = Bags(np.zeros((3, 4), dtype=int))
    huge = Bags(np.array([[10**6, 1, 0, 0], [1, 10**6, 0, 0], [0, 0, 10**6, 0]]))
    asked = Bags(np.array([[10**6, 2, 0, 0], [0, 0, 0, 7], [0, 0, 0, 0]]))
    assert attack().fit(nothing).link(asked).n_ties.tolist() == [3, 3, 3]
    links = attack().fit(huge).link(asked, probability=True)
    assert links.target[0] == 0
    assert links.n_ties[2] == 3
    if links.probability is not None:
        assert np.isfinite(links.probability).all()


@BY_CLASS
def test_what_does_not_fit_is_refused(attack):
    new = attack()
    with pytest.raises(OptionError, match="call fit"):
        new.link(Bags([[1]]))
    with pytest.raises(DataError, match="compares traces or bags, not ndarray"):
        new.fit(np.zeros((2, 2)))
    new.fit(Bags([[1, 0]], vocabulary=Vocabulary(["a", "b"])))
    with pytest.raises(DataError, match="tokens in the vocabulary"):
        new.link(Bags([[1]]))
    with pytest.raises(DataError, match="different vocabularies"):
        new.link(Bags([[1, 0]], vocabulary=Vocabulary(["b", "a"])))
    with pytest.raises(DataError, match="targets are Bags, the queries Traces"):
        new.link(Traces([[1, 0]], 2))


def test_smoothing_of_sets_is_bounded():
    sets = (np.random.default_rng(7).random((40, 400)) < 0.05).astype(int)
    fitted = attacks.NaiveBayes().fit(Bags(sets))
    assert 2 < fitted.smoothing_ * 400 / sets.sum(axis=1).mean() <= 4
    assert attacks.NaiveBayes().fit(Bags(np.zeros((2, 3), dtype=int))).smoothing_ == naive_bayes.SMOOTHINGS[0]


def test_smoothing_is_the_most_likely_of_the_grid():
    rng = np.random.default_rng(5)
    targets = rng.poisson(rng.gamma(0.3, 3.0, (20, 8)))
    likelihoods = [twins.left_out_likelihood(targets, s) for s in naive_bayes.SMOOTHINGS]
    fitted = attacks.NaiveBayes().fit(Bags(targets))
    assert fitted.smoothing_ == naive_bayes.SMOOTHINGS[np.argmax(likelihoods)]


def test_naive_bayes_gives_the_posterior_of_its_model():
    rng = np.random.default_rng(6)
    targets, queries = rng.poisson(1.0, (30, 8)), rng.poisson(0.4, (10, 8))
    expected = twins.naive_bayes(targets, queries, 0.5)
    chance = np.exp(expected - expected.max(axis=1, keepdims=True))
    links = attacks.NaiveBayes(0.5).fit(Bags(targets)).link(Bags(queries), probability=True)
    assert np.allclose(links.probability, 1.0 / chance.sum(axis=1), atol=1e-3)
    assert attacks.Hellinger().fit(Bags(targets)).link(Bags(queries), probability=True).probability is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: attacks.NaiveBayes(0.0), "smoothing must be"),
        (lambda: attacks.NaiveBayes(float("nan")), "smoothing must be"),
        (lambda: attacks.BM25(k1=-1.0), "k1 must be"),
        (lambda: attacks.BM25(b=1.5), "b must lie"),
    ],
)
def test_bad_options_are_refused(make, message):
    with pytest.raises(OptionError, match=message):
        make()
