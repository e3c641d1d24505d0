"""Levels of dense records: the density is one, people drawn from the model are found, and probabilities hold."""

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import multivariate_normal, norm

from reidrisk import Bags, measure
from reidrisk.attacks import Hellinger, NaiveBayes, ProfileBayes, TfIdf
from reidrisk.attacks.profile.sized.levels import ItemLevels
from reidrisk.attacks.profile.sized.model import Model
from reidrisk.attacks.profile.sized.rows import all_scores
from reidrisk.attacks.profile.sized.scale import Scale, log_mean
from reidrisk.attacks.profile.sized.tally import Tally


def walkers(n, seed, burst=8, drift=0.1, items=30, bursts=1_500):
    """Draw two bags of each person: items go together in sixes, levels drift, and events come in bursts."""
    rng = np.random.default_rng(seed)
    usual = np.log(rng.dirichlet(np.full(items, 9.0)))
    together = np.repeat(np.eye(items // 6), 6, axis=1)

    def drawn():
        """Draw what a person has beyond the usual."""
        return 0.5 * (rng.normal(size=(n, items // 6)) @ together + 0.5 * rng.normal(size=(n, items)))

    person, sides = drawn(), []
    for _ in range(2):
        level = usual + np.sqrt(1.0 - drift) * person + np.sqrt(drift) * drawn()
        share = np.exp(level) / np.exp(level).sum(axis=1, keepdims=True)
        sides.append(burst * np.stack([rng.multinomial(bursts, one) for one in share]) + rng.integers(0, 2, (n, items)))
    order = rng.permutation(n)
    return Bags(sides[0]), Bags(sides[1][order]), order


def shoppers(n, seed, total=600):
    """Draw two bags of each person that differ by chance alone."""
    rng = np.random.default_rng(seed)
    own = rng.dirichlet(np.full(30, 3.0), size=n)
    return [Bags(np.stack([rng.multinomial(total, one) for one in own])) for _ in range(2)]


@pytest.mark.parametrize("floor", [0.0, 0.01, 0.3])
def test_the_density_of_counts_adds_up_to_one_where_the_total_is_given(floor):
    rng = np.random.default_rng(0)
    own = rng.dirichlet([20.0, 12.0, 8.0], size=400)
    one, two = (np.stack([rng.multinomial(80, p) for p in own]).astype(float) for _ in range(2))
    each = np.array([(i, j, 80 - i - j) for i in range(81) for j in range(81 - i)], dtype=float)
    assert np.exp(Scale.learnt(one, two, floor).density(each)).sum() == pytest.approx(1.0, abs=0.2)


def test_the_score_is_that_of_normal_numbers_less_what_strangers_have():
    targets, queries, _ = walkers(60, 1)
    one, two = (bags.counts.toarray().astype(float) for bags in (targets, queries))
    scale = Scale.learnt(one, two).at((0.2, 4.0))
    (known, alone), (asked, own) = scale.of_targets(one), scale.of_queries(two)
    r = scale.correlation
    x, y = (each / np.sqrt(r / (1.0 - r**2)) for each in (known, asked))

    def factor(a, b):
        """Return the log Bayes factor of two records on all axes."""
        pairs = (multivariate_normal([0.0, 0.0], [[1.0, c], [c, 1.0]]) for c in r)
        both = sum(pair.logpdf([a[k], b[k]]) for k, pair in enumerate(pairs))
        return both - norm.logpdf(a).sum() - norm.logpdf(b).sum()

    for t in (0, 17):
        strangers = [factor(x[t], other) if abs(other - x[t]).max() > 1e-6 else -1e9 for other in scale.strangers]
        norms = max(log_mean(np.array([strangers]), np.ones(len(strangers)))[0], 0.0)
        for q in (3, 40):
            found = asked[q] @ known[t] + alone[t] + own[q]
            assert found == pytest.approx(factor(x[t], y[q]) - norms)


def test_the_mean_of_two_scales_is_the_score():
    targets, queries, _ = walkers(40, 7)
    one, two = Tally.of(targets), Tally.of(queries)
    levels = ItemLevels.learnt(one, two).likeliest(one, two, np.ones(len(one)))
    (known, alone), (asked, own) = levels.of_targets(one), levels.of_queries(two)
    parts = []
    for scale in levels.scales:
        (x, first), (y, second) = (
            scale.of_targets(targets.counts.toarray().astype(float)),
            scale.of_queries(queries.counts.toarray().astype(float)),
        )
        parts.append(y @ x.T + first + second[:, None])
    assert asked @ known.T + alone + own[:, None] == pytest.approx(np.mean(parts, axis=0))


def test_people_whose_levels_go_together_are_found_and_probabilities_hold():
    targets, queries, order = walkers(300, 2)
    attack = ProfileBayes().fit(targets).look_around(queries)
    assert attack.model_.levels is not None
    links = attack.link(queries, probability=True)
    right = links.target == order
    for other in (Hellinger, NaiveBayes, TfIdf):
        theirs = other().fit(targets).look_around(queries).link(queries).target == order
        gain = right.astype(float) - theirs
        assert gain.mean() > 2.0 * gain.std() / np.sqrt(len(gain))
    assert measure.calibration(links.probability, right.astype(float), links.n_ties, 0).excess < 0.03


@pytest.mark.parametrize("floor", [0.0, 0.03])
def test_what_lasts_is_learnt_without_truth(floor):
    kept = []
    for burst, drift in ((4, 0.0), (16, 0.0), (4, 0.5)):
        targets, queries, _ = walkers(150, 3, burst, drift, bursts=9_600 // burst)
        one, two = (bags.counts.toarray().astype(float) for bags in (targets, queries))
        scale = Scale.learnt(one, two, floor).likeliest(one, two, np.ones(len(one)))
        kept.append((scale.correlation[-5:].mean(), scale.noise))
    assert kept[0][1][1] < kept[1][1][1]  # longer bursts
    assert kept[0][0] > 0.8
    assert kept[2][0] == pytest.approx(0.5, abs=0.2)


def test_neither_units_nor_names_nor_order_change_links():
    targets, queries, _ = walkers(60, 4)
    plain = ProfileBayes().fit(targets).look_around(queries)
    assert plain.model_.levels is not None
    links = plain.link(queries, probability=True)
    doubled = [Bags(2 * bags.counts) for bags in (targets, queries)]
    again = ProfileBayes().fit(doubled[0]).look_around(doubled[1]).link(doubled[1], probability=True)
    assert np.array_equal(again.target, links.target)
    assert np.array_equal(again.probability, links.probability)
    rng = np.random.default_rng(0)
    items, people = rng.permutation(30), rng.permutation(60)
    renamed = [Bags(bags.counts.toarray()[:, items]) for bags in (targets, queries)]
    moved = ProfileBayes().fit(renamed[0].take(people)).look_around(renamed[1]).link(renamed[1], probability=True)
    assert np.array_equal(people[moved.target], links.target)
    assert moved.probability == pytest.approx(links.probability, abs=1e-3)
    few = plain.link(queries.take(np.arange(5)))
    assert np.array_equal(few.target, links.target[:5])


def test_levels_are_for_dense_tables_that_differ_by_more_than_chance():
    for bags in (shoppers(100, 5), shoppers(100, 5, total=60)):  # by chance alone; and with few events
        assert ProfileBayes().fit(bags[0]).look_around(bags[1]).model_.levels is None
    targets, queries, _ = walkers(19, 6)
    assert ItemLevels.learnt(Tally.of(targets), Tally.of(queries)) is None


def test_records_that_are_alike_are_told_apart_by_nothing():
    counts = np.tile(np.array([40, 90, 9, 200, 31]), (30, 1))
    counts[0, 0] = 41
    links = ProfileBayes().fit(Bags(counts)).look_around(Bags(counts)).link(Bags(counts[1:]), probability=True)
    assert np.all(np.isfinite(links.probability))
    assert links.probability.max() < 0.1


@pytest.mark.parametrize(("usual", "spread"), [(10, 30.0), (1_000, 300.0), (10_000, 3_000.0)])
def test_what_bursts_tell_is_tabulated_for_large_counts(usual, spread):
    rng = np.random.default_rng(0)
    targets, queries = (1 + rng.poisson(rng.gamma(0.7, usual, size=(6, 40))) for _ in range(2))
    targets[:, ::3] = 0
    popularity = rng.dirichlet(np.full(40, 2.0))
    mu = 0.3 * popularity + 0.7 * (targets + 5.0 * popularity) / (targets.sum(axis=1, keepdims=True) + 5.0)

    def likely(share):
        """Return the log-probability of queries from an urn of such shares."""
        return (gammaln(spread * share + queries[:, None]) - gammaln(spread * share)).sum(axis=2)

    tables = (Tally(Bags(counts).counts) for counts in (targets, queries))
    found = all_scores(Model(0.7, 5.0, spread, fine=True), *tables, popularity)
    assert found == pytest.approx(likely(mu[None]) - likely(popularity[None, None]), abs=0.1)
