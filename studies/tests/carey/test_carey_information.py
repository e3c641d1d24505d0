from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk import TopSets, populations, topics
from reidrisk.base.errors import DataError
from reidrisk_studies.carey.information import epoch_information


def bits(p):
    p = np.asarray(p)[np.asarray(p) > 0]
    return float(-(p * np.log2(p)).sum())


def enumerated(sets, weights, n_tokens, noise):
    """H(A), I(A; B) and I(S; A) by writing out every (set, A, B) with its probability."""
    k = len(sets[0])
    joint, of_row = np.zeros((n_tokens, n_tokens)), 0.0
    for members, weight in zip(sets, weights, strict=True):
        row = np.full(n_tokens, noise / n_tokens)
        row[list(members)] += (1 - noise) / k
        for a in range(n_tokens):
            for b in range(n_tokens):
                joint[a, b] += weight * row[a] * row[b]
        of_row += weight * bits(row)
    alone = joint.sum(axis=1)
    return bits(alone), 2 * bits(alone) - bits(joint), bits(alone) - of_row


@given(
    shape=st.sampled_from([(2, 1), (3, 2), (4, 2), (5, 3), (4, 4)]),
    noise=st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    seed=st.integers(0, 1000),
)
def test_closed_form_agrees_with_enumeration(shape, noise, seed):
    n_tokens, k = shape
    sets = list(combinations(range(n_tokens), k))
    weights = np.random.default_rng(seed).dirichlet(np.full(len(sets), 0.5))
    holds = np.array([[token in members for token in range(n_tokens)] for members in sets], dtype=float)
    found = epoch_information(weights @ holds, (holds.T * weights) @ holds, noise, k)
    entropy, mutual, about_set = enumerated(sets, weights, n_tokens, noise)
    assert found.entropy == pytest.approx(entropy, abs=1e-10)
    assert found.mutual == pytest.approx(mutual, abs=1e-10)
    assert found.about_set == pytest.approx(about_set, abs=1e-10)
    assert found.conditional == pytest.approx(found.entropy - found.mutual, abs=1e-10)
    # Both observers see the user through the set, so they cannot have more in common than each learns of it.
    assert found.mutual <= found.about_set + 1e-10


def test_closed_form_agrees_with_counting_simulated_pairs():
    # Twenty tokens: 400 cells from 300,000 pairs, so that the bias of counting, about 361 / (2 n ln 2), is small.
    tokens = np.random.default_rng(0).permuted(np.tile(np.arange(20), (300_000, 1)), axis=1)[:, None, :3]
    tokens[::3, 0] = [0, 1, 2]  # every third user has the same set: something to learn
    sets = TopSets(tokens, n_tokens=20)
    api = topics.TopicsAPI(20, top_k=3, noise=0.1)
    a, b = (api.expose(sets, seed=5, site=site).tokens[:, 0].astype(int) for site in "ab")
    joint = np.bincount(a * 20 + b, minlength=400).reshape(20, 20) / len(a)
    plug_in = bits(joint.sum(axis=0)) + bits(joint.sum(axis=1)) - bits(joint)
    x = topics.pairs_from_sets(sets)
    found = epoch_information(np.diag(x), x, noise=0.1, top_k=3)
    assert plug_in == pytest.approx(found.mutual, abs=0.005)
    assert bits(joint.sum(axis=1)) == pytest.approx(found.entropy, abs=0.005)
    assert found.mutual > 0.1


def test_published_bits_of_a_single_epoch():
    x = topics.pairs_from_sets(populations.published(500_000, epochs=1, seed=11))
    found = epoch_information(np.diag(x), x, noise=0.05, top_k=5)
    assert found.entropy == pytest.approx(7.59, abs=0.02)
    assert found.conditional == pytest.approx(6.66, abs=0.02)
    assert found.mutual == pytest.approx(0.93, abs=0.02)


def test_tables_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="do not fit"):
        epoch_information(np.ones(3), np.ones((4, 4)), 0.05, 2)
