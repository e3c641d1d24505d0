"""Weighted Hamming that gives no answer beyond a distance."""

import numpy as np
import pytest

from reidrisk import TopSets, Traces
from reidrisk.base.errors import OptionError
from reidrisk.mechanisms import popularity, token_probabilities
from reidrisk.topics import TopicsAPI
from reidrisk_studies.jha.near import NearHamming


def themed(n=4_000, r=4, seed=0):
    """Two themes: people hold pairs of topics of one theme, so that a mismatch tells, too."""
    rng = np.random.default_rng(seed)
    theme = rng.integers(0, 2, n) * 6
    picks = np.argsort(rng.random((n, r, 6)), axis=2)[:, :, :2]
    return TopSets(picks + theme[:, None, None], 12)


def test_max_distance_abstains_and_matches_theorem_1():
    sets = themed(n=300, r=3)
    api = TopicsAPI(12, top_k=2, noise=0.1)
    a, b = (api.expose(sets, seed=5, site=s) for s in "ab")
    attack = NearHamming(2, 0.1).fit(a)
    links = attack.link(b)
    far = attack.distance(b, links.target)
    q_in, q_out = token_probabilities(12, 2, 0.1)
    p = popularity(a, 2, 0.1)[0]
    d = q_in - q_out
    o, w = b.tokens[0], a.tokens[links.target[0]]
    same = q_out + d * q_in * p[o] / (q_out + d * p[o])
    other = q_out + d * p[o] / (2 - p[o])
    assert far[0] == pytest.approx(-np.log(np.where(o == w, same, other)).sum(), abs=1e-3)
    limit = float(np.median(far))
    choosy = NearHamming(2, 0.1, max_distance=limit).fit(a).link(b)
    assert np.array_equal(choosy.target >= 0, far <= limit)


def test_max_distance_does_not_answer_where_nothing_was_seen_by_both():
    attack = NearHamming(2, 0.1, max_distance=50.0).fit(Traces([[0], [2]], 9))
    assert attack.link(Traces([[-1], [0]], 9)).target.tolist() == [-1, 0]
    with pytest.raises(OptionError, match="at least 0"):
        NearHamming(2, 0.1, max_distance=float("nan")).fit(Traces([[0]], 9))
