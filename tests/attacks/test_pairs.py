import itertools

import numpy as np
import pytest

from reidrisk import TopSets, Traces, attacks
from reidrisk.attacks.hamming import pair_weights
from reidrisk.base.errors import DataError, OptionError
from reidrisk.topics import TopicsAPI, exposure, pairs_from_observers, pairs_from_sets

SETS = [(0, 1), (0, 1), (0, 2), (3, 4), (3, 4), (1, 4)]


def themed(n=4_000, r=4, seed=0):
    """Two themes: people hold pairs of topics of one theme, so that a mismatch tells, too."""
    rng = np.random.default_rng(seed)
    theme = rng.integers(0, 2, n) * 6
    picks = np.argsort(rng.random((n, r, 6)), axis=2)[:, :, :2]
    return TopSets(picks + theme[:, None, None], 12)


def test_pair_weights_are_exact_likelihood_ratios():
    n_tokens, noise = 5, 0.2
    q_in, q_out = exposure(n_tokens, 2, noise)
    sets = TopSets(np.array(SETS)[:, None, :], n_tokens)

    def joint(a, b):
        return np.mean([(q_in if a in s else q_out) * (q_in if b in s else q_out) for s in SETS])

    alone = [sum(joint(a, b) for b in range(n_tokens)) for a in range(n_tokens)]
    together = pairs_from_sets(sets)
    weights = pair_weights(np.diag(together).copy(), together, q_in, q_out)
    for o, w in itertools.product(range(n_tokens), repeat=2):
        assert np.exp(weights[o, w]) == pytest.approx(joint(o, w) / alone[o] / alone[w])


def test_pairs_can_be_learnt_from_two_observers_of_training_users():
    sets = themed(n=60_000, r=2)
    api = TopicsAPI(12, top_k=2, noise=0.2)
    learnt = pairs_from_observers(*(api.expose(sets, seed=3, site=s) for s in "ab"), top_k=2, noise=0.2)
    assert np.abs(learnt - pairs_from_sets(sets)).max() < 0.02


def test_knowing_the_pairs_helps_where_topics_come_in_bundles():
    """Topics 2j and 2j + 1 are only held together: seeing one of each tells as much as seeing the same twice."""
    rng = np.random.default_rng(1)
    bundle = rng.integers(0, 20, (2_000, 3)) * 2
    sets = TopSets(np.stack([bundle, bundle + 1], axis=2), 40)
    api = TopicsAPI(40, top_k=2, noise=0.1)
    a, b = (api.expose(sets, seed=4, site=s) for s in "ab")
    rates = []
    for pairs in (None, sets, pairs_from_sets(sets)):
        attack = attacks.WeightedHamming(2, 0.1, pairs=pairs).fit(a)
        links = attack.link(b)
        among = attack.score(b, np.arange(len(a))) == links.score
        rates.append(np.mean(among / links.n_ties))
    assert rates[1] > 1.5 * rates[0]
    assert rates[1] == rates[2]


def test_one_observer_alone_gives_the_same_weights_as_lemma_11_when_topics_are_interchangeable():
    """Equally popular topics without themes: the full form and its simplification agree where noise is 0."""
    n_tokens = 6
    together = np.full((n_tokens, n_tokens), 1 / 15)
    np.fill_diagonal(together, 1 / 3)
    q_in, q_out = exposure(n_tokens, 2, 0.0)
    full = pair_weights(np.full(n_tokens, 1 / 3), together, q_in, q_out)
    match, mismatch = attacks.hamming.match_weights(np.full(n_tokens, 1 / 3), q_in, q_out, 2)
    assert np.allclose(np.diag(full), match)
    assert np.allclose(full[0, 1:], mismatch[0])


@pytest.mark.parametrize(
    ("pairs", "kind", "message"),
    [
        (np.zeros((3, 3)), OptionError, r"must be \(12, 12\)"),
        (np.full((12, 12), 2.0), OptionError, "probabilities"),
        (np.triu(np.full((12, 12), 0.1)), OptionError, "symmetric"),
        (TopSets([[[0, -1]]], 12), DataError, "pad them once"),
        ((Traces([[0]], 12), Traces([[0, 1]], 12)), DataError, "same users and epochs"),
        ((Traces([[0, -1]], 12), Traces([[-1, 1]], 12)), DataError, "never saw the same user"),
    ],
)
def test_bad_pairs_are_refused(pairs, kind, message):
    with pytest.raises(kind, match=message):
        attacks.WeightedHamming(2, 0.1, pairs=pairs).fit(Traces([[0], [1]], 12))
