"""Where evidence does not decide between two models, a rehearsal does: that with which links are more likely."""

import numpy as np

from reidrisk import Bags
from reidrisk.attacks import ProfileBayes
from reidrisk.attacks.profile.sized import KnownBags, Tally, evidence, softening


def shoppers(n, seed, items=800, kinds=12):
    """Draw two bags of each: most of what somebody buys is new, as others of their kind do; a little comes again."""
    rng = np.random.default_rng(seed)
    popular = 1.0 / np.arange(1, items + 1) ** 0.7
    tastes = rng.dirichlet(30.0 * popular / popular.sum(), size=kinds)
    kind, sides = rng.integers(kinds, size=n), []
    usual = np.stack([rng.choice(items, 6, p=popular / popular.sum()) for _ in range(n)])
    for _ in range(2):
        sizes = rng.integers(10, 60, size=n)
        counts = np.stack([rng.multinomial(m, tastes[k]) for m, k in zip(sizes, kind, strict=True)])
        np.add.at(
            counts, (np.repeat(np.arange(n), 3), usual[np.arange(n)[:, None], rng.integers(6, size=(n, 3))].ravel()), 1
        )
        sides.append(Bags(counts))
    return sides


def test_models_that_evidence_rules_out_are_not_tried():
    targets, queries = (Tally.of(side) for side in shoppers(200, 0))
    sample = evidence.sampled(KnownBags(targets, targets.popularity), queries, 0)
    found = evidence.learn(sample, distinct=False)
    least = sample.evidence(found) - 3.0
    others = evidence.nearly_as_likely(sample, found)
    assert all(sample.evidence(other) >= least for other in others)
    assert all(other.spread == found.spread for other in others)


def test_a_model_is_left_only_for_one_that_is_better_at_the_rehearsal(monkeypatch):
    targets, queries = shoppers(400, 1)
    attack = ProfileBayes().fit(targets).look_around(queries)
    monkeypatch.setattr(evidence, "nearly_as_likely", lambda sample, model: [])
    plain = ProfileBayes().fit(targets).look_around(queries)
    parts = plain._habits._parts
    rated = [softening.likelihood(parts, one.model_) for one in (attack, plain)]
    assert attack.model_ == plain.model_ or rated[0] > rated[1] + 0.05
    assert attack.model_.strength <= plain.model_.strength


def test_what_sets_share_beyond_the_taste_of_a_subject_tells_more():
    """Students of one subject have the same few courses to choose from: strangers share most of them."""
    rng = np.random.default_rng(0)
    n, subjects, courses = 400, 20, 24
    chosen = np.zeros((n, subjects * courses), dtype=np.int64)
    for i, subject in enumerate(rng.integers(subjects, size=n)):
        chosen[i, subject * courses + rng.choice(courses, 12, replace=False)] = 1
        chosen[i, rng.choice(subjects * courses, 2)] = 1
    one, two = (Bags(chosen * (rng.random(chosen.shape) < 0.7)) for _ in range(2))
    attack = ProfileBayes().fit(one).look_around(two)
    assert attack.model_.distinct
    assert attack.model_.taste is not None
    plain = rng.permuted(chosen, axis=1)  # the same sizes, and no subject
    one, two = (Bags(plain * (rng.random(plain.shape) < 0.7)) for _ in range(2))
    assert ProfileBayes().fit(one).look_around(two).model_.taste is None
