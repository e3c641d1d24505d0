"""ProfileBayes on bags: probabilities that add up, parameters found again, and nothing made of how much there is."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import gammaln

from reidrisk import Bags, attacks, measure
from reidrisk.attacks import ProfileBayes
from reidrisk.attacks.profile.sized import KnownBags, Model, Tally, evidence, softening
from reidrisk.attacks.profile.sized.rows import STEPS, all_scores
from reidrisk.base.errors import DataError

TASTES = 0.3 / np.arange(1, 61) ** 0.7


def people(n, seed, strength=4.0, share=0.8, events=(30, 12)):
    """Draw two bags of each person by the model: with probability ``share`` an event is of the person's own taste."""
    rng = np.random.default_rng(seed)
    popular = TASTES / TASTES.sum()
    own = rng.dirichlet(strength * popular, size=n)
    first = np.stack([rng.multinomial(events[0], taste) for taste in own])
    second = np.stack([rng.multinomial(events[1], share * taste + (1.0 - share) * popular) for taste in own])
    return Bags(first), Bags(second)


def calibration_error(said, right):
    order = np.argsort(said, kind="stable")
    parts = np.array_split(order, 10)
    return sum(abs(said[part].mean() - right[part].mean()) * len(part) for part in parts) / len(said)


def likelihoods(model, target, m):
    """Return what the model says of every sequence of m of three items, by the score and by its definition."""
    popularity = np.array([0.5, 0.3, 0.2])
    known = Tally.of(Bags([target]))
    found = []
    for events in itertools.product(range(3), repeat=m):
        counts = np.bincount(events, minlength=3)
        held_twice = (counts[np.array(target) > 0] > 1).any()
        query = Tally(Bags([counts]).counts)
        score = all_scores(model.facing(query), known, query, popularity)[0, 0]
        if model.bursts:
            urn = model.spread * popularity
            base = gammaln(urn + counts) - gammaln(urn)
            anybody = base.sum() + gammaln(model.spread) - gammaln(model.spread + m)
        else:
            anybody = counts @ np.log(popularity)
        found.append((counts, held_twice, math.exp(score + anybody)))
    return found


@pytest.mark.parametrize("target", [[2, 0, 1], [0, 4, 0], [0, 0, 0]])
@pytest.mark.parametrize("share", [0.3, 0.95])
def test_probabilities_of_all_queries_of_a_size_add_up_to_one(target, share):
    for m in (1, 2, 4):
        plain = sum(chance for _, _, chance in likelihoods(Model(share, 1.5), target, m))
        assert plain == pytest.approx(1.0, abs=1e-9)
        bursts = sum(chance for _, _, chance in likelihoods(Model(share, 1.5, spread=4.0), target, m))
        assert bursts == pytest.approx(1.0, abs=0.04)  # the Gamma functions are interpolated


def test_of_distinct_items_none_held_comes_twice():
    """Of sequences without an item of the target twice: one, less where the target could not show as many."""
    target, m = [1, 1, 0], 2
    model = Model(0.7, 0.5, distinct=True, sizes=(2,))
    popularity = np.array([0.5, 0.3, 0.2])
    own = 0.3 * popularity + 0.7 * (np.array(target) + 0.5 * popularity) / 2.5
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b or not target[a]]
    norm = sum(own[a] * own[b] for a, b in pairs)
    known = Tally.of(Bags([target]))
    for a, b in pairs:
        if a == b:
            continue  # a bag of two of the third item is none of distinct items
        query = Tally.of(Bags([np.bincount([a, b], minlength=3)]))
        score = all_scores(model, known, query, popularity)[0, 0]
        assert score == pytest.approx(math.log(own[a] * own[b] / norm / popularity[a] / popularity[b]), abs=1e-9)
    # All of a query is in its target, and any part of the target is as likely: 1 / (n (n - 1)).
    held = Model(1.0 - 1e-12, 1e-12, distinct=True, sizes=(m,))
    known, query = Tally.of(Bags([[1, 1, 1, 1, 0]])), Tally.of(Bags([[1, 0, 1, 0, 0]]))
    even = np.full(5, 0.2)
    assert all_scores(held, known, query, even)[0, 0] == pytest.approx(math.log(25 / 12), abs=1e-6)


def test_a_record_of_fewer_items_is_not_that_of_somebody_of_whom_more_are_known():
    model, even = Model(0.999, 0.01, distinct=True, sizes=(2, 3)), np.full(6, 1 / 6)
    known = Tally.of(Bags([[1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0]]))
    scores = all_scores(model, known, Tally.of(Bags([[1, 1, 1, 0, 0, 0]])), even)[0]
    assert scores[0] < -3.0 < 3.0 < scores[1]


@pytest.mark.parametrize(("share", "strength"), [(0.8, 4.0), (0.4, 4.0), (0.8, 30.0)])
def test_share_and_strength_are_found_again(share, strength):
    targets, queries = people(1_200, 1, strength, share, events=(60, 40))
    known = KnownBags(Tally.of(targets), TASTES / TASTES.sum())
    sample = evidence.sampled(known, Tally.of(queries), seed=0)
    found = evidence.learn(sample, distinct=False)
    # The two make up for each other, where records are about as long: what a record's 60 events are worth is found.
    assert found.share / (1.0 + found.strength / 60) == pytest.approx(share / (1.0 + strength / 60), abs=0.1)
    assert found.share == pytest.approx(share, abs=0.21)


def test_sharing_all_half_or_none_is_found_in_sets():
    rng = np.random.default_rng(0)
    whole = rng.random((600, 300)) < 0.1
    for kept in (1.0, 0.5):
        part = whole & (rng.random(whole.shape) < 0.3)
        shown = (whole & ~part) | (part & (rng.random(whole.shape) < kept))
        attack = ProfileBayes().fit(Bags(shown.astype(int))).look_around(Bags(part.astype(int)))
        assert attack.model_.distinct
        assert attack.model_.share * 27 / (27 + attack.model_.strength) == pytest.approx(kept, abs=0.2)


def test_on_people_of_the_model_it_is_calibrated_and_nobody_is_better():
    targets, queries = people(1_000, 2)
    attack = ProfileBayes()
    ours = measure.random_user(attack, targets, queries)
    some = slice(0, 300)  # enough for one that practises for long
    of_some = measure.random_user(ProfileBayes(), targets.take(some), queries.take(some))
    for entry in attacks.registry():
        able = Bags in entry.kinds and not entry.needs and not entry.attack.reads_cells
        if able and entry.attack is not ProfileBayes:
            slow = entry.attack is attacks.Rehearsed
            case = (targets.take(some), queries.take(some)) if slow else (targets, queries)
            other = measure.random_user(entry.attack().one_by_one().given_sizes(), *case)
            assert measure.difference(other, of_some if slow else ours).low <= 0.0, entry.name
    links = attack.link(queries, probability=True)
    assert calibration_error(links.probability, links.target == np.arange(1_000)) < 0.06


def test_parts_of_whole_records_are_found_and_the_probability_says_so():
    rng = np.random.default_rng(3)
    targets = Bags((rng.random((800, 200)) < 0.08).astype(int))
    rows = np.flatnonzero(np.asarray(targets.counts.sum(axis=1)).ravel() >= 3)
    known = np.zeros((len(rows), 200), dtype=int)
    for i, row in enumerate(rows):
        known[i, rng.choice(targets.counts[[row]].indices, 3, replace=False)] = 1
    attack = ProfileBayes().fit(targets).look_around(Bags(known))
    links = attack.link(Bags(known), probability=True)
    right = np.where(attack.score(Bags(known), rows) == links.score, 1.0 / links.n_ties, 0.0)
    assert calibration_error(links.probability, right) < 0.06
    assert attack.model_.share > 0.98


def test_records_of_one_to_ten_thousand_events():
    rng = np.random.default_rng(4)
    own = rng.dirichlet(np.full(40, 0.1), size=60)
    sizes = np.geomspace(1, 10_000, 60).astype(int)
    targets = Bags(np.stack([rng.multinomial(n, taste) for n, taste in zip(rng.permutation(sizes), own, strict=True)]))
    queries = Bags(np.stack([rng.multinomial(n, taste) for n, taste in zip(sizes, own, strict=True)]))
    links = ProfileBayes().fit(targets).link(queries, probability=True)
    assert np.isfinite(links.probability).all()
    assert np.mean(links.target == np.arange(60)) > 0.5
    assert len(np.unique(links.target)) > 30  # neither the longest nor the shortest record draws all of them


def test_doubling_every_count_on_either_side_changes_nothing():
    targets, queries = people(150, 5)
    links = ProfileBayes().fit(targets).link(queries, probability=True)
    for one, two in ((2, 1), (1, 3), (5, 2)):
        more = ProfileBayes().fit(Bags(one * targets.counts)).link(Bags(two * queries.counts), probability=True)
        assert np.array_equal(more.target, links.target)
        assert np.array_equal(more.score, links.score)
        assert np.array_equal(more.probability, links.probability)


def test_names_of_items_and_the_order_of_people_do_not_matter():
    targets, queries = people(150, 6)
    names, order = np.random.default_rng(0).permutation(60), np.random.default_rng(1).permutation(150)
    links = ProfileBayes().fit(targets).link(queries)
    other = ProfileBayes().fit(Bags(targets.counts.toarray()[order][:, names]))
    again = other.link(Bags(queries.counts.toarray()[:, names]))
    assert np.array_equal(order[again.target], links.target)
    assert np.abs(again.score - links.score).max() < STEPS / 1_000


def test_what_is_learnt_depends_on_no_order_where_only_some_targets_are_taken():
    targets, queries = people(300, 7)
    order = np.random.default_rng(1).permutation(300)
    found = []
    for one, two in ((targets, queries), (targets.take(order), queries.take(order[::-1]))):
        known = KnownBags(Tally.of(one), Tally.of(one).popularity)
        sample = evidence.sampled(known, Tally.of(two), 0, (20, 60))
        assert 60 < len(sample.targets) <= 140
        assert sample.weight.sum() == pytest.approx(300)
        found.append((sample.targets.counts.toarray(), evidence.learn(sample, distinct=False)))
    assert np.array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]


def test_the_same_answer_for_any_part_of_queries_and_targets():
    targets, queries = people(200, 8)
    attack = ProfileBayes().fit(targets).look_around(queries)
    links = attack.link(queries, probability=True)
    part = attack.link(queries.take(slice(50, 60)), probability=True)
    rows = np.array([70, 3, 199, 4])
    narrow = attack.narrowed(rows).link(queries)
    every = np.stack([attack.score(queries, np.full(200, row)) for row in rows], axis=1)
    for name in ("target", "score", "probability"):
        assert np.array_equal(getattr(links, name)[50:60], getattr(part, name))
    assert np.array_equal(narrow.score, every.max(axis=1))
    assert np.array_equal(narrow.target, every.argmax(axis=1))
    assert not attack.compares_queries


def test_records_of_nothing_tell_nothing():
    targets, queries = people(40, 9)
    empty = np.zeros((1, 60), dtype=int)
    more = Bags(np.concatenate([targets.counts.toarray(), empty]))
    attack = ProfileBayes().fit(more).look_around(queries)
    assert attack.score(queries, np.full(40, 40)).tolist() == [0] * 40
    links = attack.link(Bags(empty), probability=True)
    assert (links.score[0], links.n_ties[0]) == (0, 41)
    assert links.probability[0] == pytest.approx(1 / 41)
    with pytest.raises(DataError, match="no target holds a single token"):
        ProfileBayes().fit(Bags(empty))


def test_a_rehearsal_has_the_sizes_of_real_queries_and_knows_who_is_whom():
    targets, queries = people(300, 10)
    one, two = Tally.of(targets), Tally.of(queries)
    found = softening.cut_targets(one, two, 0)
    assert (found.queries.totals >= 12).mean() > 0.9
    for query, row in zip(found.queries.counts.toarray(), found.truth, strict=True):
        assert (query <= found.whole.counts.toarray()[row]).all()
    assert sorted(found.whole.totals) == sorted(one.totals)
    assert softening.cut_targets(one.take(np.arange(15)), two, 0) is None


def test_where_nothing_is_shared_the_probability_knows():
    rng = np.random.default_rng(11)
    held = rng.poisson(rng.gamma(0.05, 4.0, size=(400, 400)))
    side = rng.random(held.shape) < 0.5
    links = ProfileBayes().fit(Bags(held * side)).link(Bags(held * ~side), probability=True)
    assert links.probability.mean() < 0.02
