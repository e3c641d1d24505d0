"""Personas and extremes follow the definitions of the paper, any block alone, for any size."""

import math

import numpy as np
import pytest

from reidrisk import populations
from reidrisk.base.errors import DataError, OptionError
from reidrisk.populations.rates import BLOCK
from reidrisk_studies.jha import personas

MATRIX = np.array([[2.0, 0.0, 1.0, 0.5, 0.0], [4.0, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 3.0, 0.0, 0.0]])
MODELS = {
    "iid": lambda n, seed: personas.iid(MATRIX, n, seed),
    "crossover": lambda n, seed: personas.crossover(MATRIX, n, seed),
    "distinct": lambda n, seed: personas.distinct(n, n_topics=40, seed=seed),
}


@pytest.mark.parametrize("model", MODELS)
def test_a_larger_population_starts_with_the_same_users_and_any_block_comes_alone(model):
    small, large = MODELS[model](100, 3), MODELS[model](BLOCK + 50, 3)
    assert np.array_equal(small.toarray(), large.toarray()[:100])
    assert large.n_blocks == 2
    assert np.array_equal(large.block(1).toarray(), large.toarray()[BLOCK:])
    assert large.block(1).shape == (50, large.n_topics)
    assert not np.array_equal(small.toarray(), MODELS[model](100, 4).toarray())


def test_iid_personas_share_the_first_order_statistics():
    n = 60_000
    dense = personas.iid(MATRIX, n, seed=0).toarray()
    sizes = np.bincount((dense > 0).sum(axis=1), minlength=4) / n
    assert sizes == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3], abs=0.01)
    assert [sorted(set(c)) for c in dense.T.tolist()] == [[0, 7 / 3], [0], [0, 2], [0, 0.5], [0]]


def test_iid_topics_are_drawn_one_after_the_other_by_popularity():
    dense = personas.iid(MATRIX, 60_000, seed=1).toarray()
    w = np.array([3, 2, 1]) / 6  # topics 0, 2 and 3
    one, two = (dense[(dense > 0).sum(axis=1) == size][:, [0, 2, 3]] > 0 for size in (1, 2))
    assert one.mean(axis=0) == pytest.approx(w, abs=0.015)
    first_two = [
        w[i] + sum(w[j] * w[i] / (1 - w[j]) for j in range(3) if j != i) for i in range(3)
    ]  # drawn first, or second after j
    assert two.mean(axis=0) == pytest.approx(first_two, abs=0.015)


def test_a_user_without_topics_gives_personas_without_topics():
    dense = personas.iid([[0.0, 0.0], [1.0, 1.0]], 10_000, seed=0).toarray()
    assert np.mean(dense.sum(axis=1) == 0) == pytest.approx(0.5, abs=0.03)


def test_crossover_takes_each_topic_from_one_of_two_different_parents():
    matrix = np.arange(1.0, 4.0)[:, None] * np.ones((1, 8))
    dense = personas.crossover(matrix, 40_000, seed=0).toarray()
    parents = [frozenset(row) for row in dense.tolist()]
    assert max(map(len, parents)) == 2
    pairs = [sum(p == frozenset(pair) for p in parents) / 40_000 for pair in [(1, 2), (1, 3), (2, 3)]]
    # All eight bits are equal with probability 2/256; otherwise both parents show, and they are never the same.
    assert pairs == pytest.approx([(1 - 2 / 256) / 3] * 3, abs=0.01)
    assert np.mean(dense[:, 0] == dense[:, 1]) == pytest.approx(0.5, abs=0.01)


def test_the_extremes_of_appendix_a():
    same = personas.identical(BLOCK + 3).toarray()
    assert same.shape == (BLOCK + 3, 349)
    assert (same == same[0]).all()
    assert same[0, :5] == pytest.approx(5 * math.log(10))
    assert same[0, 5:].sum() == 0
    other = personas.distinct(3 * BLOCK, seed=1).toarray()
    assert ((other > 0).sum(axis=1) == 5).all()
    assert len(np.unique(other > 0, axis=0)) == 3 * BLOCK
    assert (other > 0).any(axis=0).all()


def test_distinct_can_use_up_every_set_and_no_more():
    every = personas.distinct(math.comb(24, 4), n_topics=24, top_k=4, seed=5).toarray()
    assert len(np.unique(every > 0, axis=0)) == len(every) == math.comb(24, 4)
    with pytest.raises(OptionError, match="10 different sets of 2, too few for 11 users"):
        personas.distinct(11, n_topics=5, top_k=2)
    huge = personas.distinct(500, n_topics=469, top_k=20)
    assert len(np.unique(huge.toarray() > 0, axis=0)) == 500


def test_too_few_users_and_bad_options_are_named():
    for make in (personas.iid, personas.crossover):
        with pytest.raises(DataError, match=r"row 0, column 1 holds the rate nan"):
            make([[1.0, np.nan]], 5, 0)
    with pytest.raises(DataError, match="two parents"):
        personas.crossover([[1.0]], 5, 0)
    with pytest.raises(DataError, match="every rate is 0"):
        personas.iid([[0.0]], 5, 0)
    for n in (0, -1, 2.5, True):
        with pytest.raises(OptionError, match="n must be a whole number"):
            personas.iid(MATRIX, n, 0)
    with pytest.raises(OptionError, match="top_k must lie"):
        personas.identical(3, n_topics=4)
    with pytest.raises(OptionError, match="rate must be"):
        personas.identical(3, rate=0.0)
    with pytest.raises(OptionError, match="seed"):
        personas.iid(MATRIX, 3, -1)


@pytest.mark.data
def test_personas_of_the_real_users_have_as_many_topics(study_file):
    matrix = populations.read_rates(study_file("topics_rates_jha/lambda-user-topic.csv.gz"), n_topics=349)
    iid = personas.iid(matrix, 4_000, seed=0).toarray() > 0
    assert iid.sum(axis=1).mean() == pytest.approx((matrix > 0).sum(axis=1).mean(), rel=0.05)
