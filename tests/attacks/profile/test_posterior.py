"""From scores to probabilities: what made links right is found again, and nothing is surer than it can be."""

import numpy as np
import pytest

from reidrisk import Traces
from reidrisk.attacks import ProfileBayes
from reidrisk.attacks.profile.posterior import Bend, Posterior, Round, best_bend
from reidrisk.search import GRID


def rounds(bend, n=6_000, seed=0):
    """Return links with one rival each, of which as many are right as bent odds say."""
    rng = np.random.default_rng(seed)
    gap = np.rint(rng.exponential(2.5, n) * GRID).astype(np.int64)
    right = rng.random(n) < bend.of(1.0 / (1.0 + np.exp(-gap / GRID)))
    own, rival = np.where(right, gap, 0), np.where(right, 0, gap)
    return [Round.of(own, np.stack([own, rival], axis=1), np.zeros(n, dtype=np.int64))]


@pytest.mark.parametrize("bend", [Bend(), Bend(0.7, -0.2), Bend(1.3, 0.1)])
def test_a_bend_is_found_by_which_links_are_right(bend):
    found = best_bend(rounds(bend), temperature=1.0)
    assert found == pytest.approx(bend, abs=0.12)


def test_few_links_bend_little():
    all_right = rounds(Bend(1.0, 50.0), n=4)
    slope, shift = best_bend(all_right, temperature=1.0)
    assert abs(slope - 1.0) < 0.3
    assert 0.0 < shift < 1.0


def test_surer_links_stay_surer_and_certain_ones_certain():
    found = Posterior.of(rounds(Bend(0.4, 0.0)))
    sure = found.bend.of(np.array([0.0, 0.2, 0.5, 0.9, 1.0]))
    assert (np.diff(sure) > 0.0).all()
    assert (sure[0], sure[-1]) == (0.0, 1.0)


def test_of_targets_that_are_alike_none_is_surer_than_its_share():
    tokens = np.repeat(np.arange(5), 6).reshape(5, 6)
    targets = Traces(np.concatenate([tokens, tokens, tokens]), n_tokens=6)
    links = ProfileBayes(2, 0.05).fit(targets).link(Traces(tokens, n_tokens=6), probability=True)
    assert links.n_ties.tolist() == [3] * 5
    assert (links.probability <= 1 / 3).all()
