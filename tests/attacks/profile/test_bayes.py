"""ProfileBayes against a plain reading of its model, against the weighted Hamming attack, and on odd input."""

import itertools
import math

import numpy as np
import pytest
from attack_twins import expected_users_numpy, pair_scores_numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Bags, Traces, attacks, measure, populations, topics
from reidrisk.attacks import ProfileBayes
from reidrisk.attacks.profile.calibration import draw_rates, simulate_pair, simulate_sets
from reidrisk.attacks.profile.counts import Ladder, count, ladder_of
from reidrisk.attacks.profile.learnt import Learnt
from reidrisk.attacks.profile.likelihoods import build_likelihoods, cell, log_joint
from reidrisk.attacks.profile.prior import (
    Grid,
    Prior,
    expected_users,
    learn,
    log_alone,
    top_set_grid,
)
from reidrisk.base.errors import DataError, OptionError
from reidrisk.mechanisms import TopKNoise
from reidrisk.search.weights import GRID
from reidrisk_studies.jha import personas

API = topics.TopicsAPI(80, top_k=4)


def interests(n, seed=0, n_topics=80):
    """Return visit rates of people with a few lasting interests out of a skewed list."""
    rng = np.random.default_rng(seed)
    popular = 1.0 / np.arange(1, n_topics + 1)
    rates = np.zeros((n, n_topics))
    for row in rates:
        held = rng.choice(n_topics, size=rng.integers(3, 20), replace=False, p=popular / popular.sum())
        row[held] = rng.gamma(1.0, 3.0, size=len(held))
    return rates


RATES = interests(400)


def population(n, epochs, seed=0):
    """Return what two sites see of such people."""
    sets = API.top_sets(populations.real(interests(n, seed)), epochs=epochs, seed=seed)
    return tuple(API.expose(sets, seed=seed, site=site) for site in "ab")


def gappy(traces, share, seed):
    keep = np.random.default_rng(seed).random(traces.tokens.shape) >= share
    return Traces(np.where(keep, traces.tokens, -1), traces.n_tokens)


def calibration_error(probability, right, bins=10):
    """Return the expected calibration error: the mean gap between what is said and what happens, by tenths."""
    tenth = np.minimum((probability * bins).astype(int), bins - 1)
    gaps = [abs(probability[tenth == b].mean() - right[tenth == b].mean()) * np.mean(tenth == b) for b in set(tenth)]
    return sum(gaps)


@st.composite
def pair(draw):
    n_tokens, r = draw(st.integers(2, 7)), draw(st.integers(1, 6))
    tables = []
    for _ in range(2):
        rows = st.lists(st.integers(-1, n_tokens - 1), min_size=r, max_size=r)
        tables.append(Traces(draw(st.lists(rows, min_size=1, max_size=6)), n_tokens))
    return tables[0], tables[1], draw(st.sampled_from([(None, 1), (1, 1), (2, 1), (2, 3), (None, 2)]))


@given(pair())
@settings(deadline=None, max_examples=60)
def test_link_score_and_candidates_agree_with_the_numpy_twin(case):
    targets, queries, (top_k, kinds) = case
    if not (targets.tokens >= 0).any():
        return
    attack = ProfileBayes(top_k, noise=0.1, kinds=kinds).fit(targets)
    links, n = attack.link(queries), len(targets)
    every = np.stack([attack.score(queries, np.full(len(queries), t)) for t in range(n)], axis=1)
    ladder = ladder_of(targets)
    twin = pair_scores_numpy(count(targets, ladder), count(queries, ladder), attack._learnt.tables)
    # Kinds are added up by exp and log, whose last digit NumPy and the compiler may round differently.
    assert np.abs(every - twin).max() <= (0 if kinds == 1 else 3)
    assert np.array_equal(links.score, every.max(axis=1))
    assert np.array_equal(links.target, every.argmax(axis=1))
    assert np.array_equal(links.n_ties, (every == every.max(axis=1, keepdims=True)).sum(axis=1))
    rows, scores = attack.candidates(queries, n)
    assert np.array_equal(rows, np.argsort(-every, axis=1, kind="stable"))
    assert np.array_equal(scores, np.take_along_axis(every, rows, axis=1))
    among = np.arange(n)[::-2].copy()
    rows, scores = attack.candidates(queries, 1, among)
    assert np.array_equal(scores[:, 0], every[:, among].max(axis=1))
    assert np.array_equal(rows[:, 0], among[every[:, among].argmax(axis=1)])


@pytest.mark.parametrize("top_k", [None, 2])
@pytest.mark.parametrize("every", [2, 3, 5])
def test_scores_of_scaled_records_have_a_numpy_twin(top_k, every):
    rng = np.random.default_rng(every)
    chances = rng.dirichlet(np.full(5, 0.7), 25)
    tables = [np.stack([rng.choice(5, 40, p=row) for row in chances]) for _ in range(2)]
    targets, queries = (Traces(np.where(rng.random(x.shape) < 0.1, -1, x), 5) for x in tables)
    ladder = ladder_of(targets, every)
    attack = ProfileBayes(top_k, 0.1)._fit(targets, ladder)
    twin = pair_scores_numpy(count(targets, ladder), count(queries, ladder), attack._learnt.tables)
    rows, scores = attack.candidates(queries, 25)
    assert np.abs(scores - np.take_along_axis(twin, rows, axis=1)).max() <= 3
    every_pair = np.stack([attack.score(queries, np.full(25, t)) for t in range(25)], axis=1)
    assert np.array_equal(np.take_along_axis(every_pair, rows, axis=1), scores)
    assert np.array_equal(attack.link(queries).target, every_pair.argmax(axis=1))


def test_scaled_counts_by_hand():
    """Three epochs a trial: counts 1, 2, 4 and 5 become 0, 1, 1 and 2, and 14 of 20 epochs 5 of 7 trials."""
    record = Traces([[0] + [1] * 2 + [2] * 5 + [3] * 4 + [-1] * 8], 4)
    ladder = Ladder(7, 1, every=3)
    counts = count(record, ladder)
    assert (counts.token.tolist(), counts.count.tolist(), counts.start.tolist()) == ([1, 2, 3], [1, 2, 1], [0, 3])
    assert ladder.epochs(counts.rung).tolist() == [4.0]  # 12 observed


@pytest.mark.parametrize("top_k", [None, 2])
def test_more_epochs_never_link_fewer(top_k):
    rng = np.random.default_rng(0)
    n, lengths = 120, (60, 120, 240, 480, 1_000)
    if top_k is None:
        chances = rng.dirichlet(np.ones(6), n)
        a, b = (np.stack([rng.choice(6, lengths[-1], p=row) for row in chances]) for _ in range(2))
    else:
        a, b = simulate_sets(top_k * rng.dirichlet(np.ones(6), n), top_k, 0.05, lengths[-1], rng)
    rates = []
    for r in lengths:
        attack, asked = ProfileBayes(top_k, 0.05).fit(Traces(a[:, :r], 6)), Traces(b[:, :r], 6)
        rates.append(np.mean(attack.link(asked).target == np.arange(n)))
        if r == 240:  # epochs, of which several make a trial in the one case
            said = attack.link(asked, probability=True).probability
            assert said.mean() == pytest.approx(rates[-1], abs=0.1)
    assert all(more >= less - 0.02 for less, more in itertools.pairwise(rates)), rates
    assert rates[-1] > 0.97


def test_a_token_seen_in_every_epoch_of_a_long_record_is_not_taken_for_a_rarer_one():
    """Two users see token 0 in 900 and in 300 of 900 epochs: both beyond any table."""
    records = Traces([[0] * 900, [0] * 300 + [1] * 600, [1] * 900] * 5, 2)
    score = ProfileBayes().fit(records).candidates(records, 15)
    best = score[1] == score[1][:, :1]
    assert (best.sum(axis=1) == 5).all()
    assert (score[0][:, :5] % 3 == (np.arange(15) % 3)[:, None]).all()


def test_the_likelihood_of_two_observers_is_that_of_every_top_set():
    """Enumerate whether the token is held, epoch by epoch, and what both observers see of it."""
    q_in, q_out, r = 0.45, 0.03, 3
    grid = top_set_grid(q_in, q_out)
    g = 20
    s = (grid.rate[g] - q_out) / (q_in - q_out)
    for seen in itertools.product([(0, 0), (0, 1), (1, 0), (1, 1)], repeat=r):
        slow = 1.0
        for a, b in seen:
            slow *= sum(chance * (q if a else 1 - q) * (q if b else 1 - q) for chance, q in ((s, q_in), (1 - s, q_out)))
        sights, pairs = sum(a + b for a, b in seen), sum(a * b for a, b in seen)
        fast = log_joint(grid, np.array(sights), np.array(pairs), np.array(2.0 * r), r)[g]
        assert fast == pytest.approx(math.log(slow), abs=1e-9)


def test_the_score_is_the_bayes_factor_by_hand():
    """Two tokens, two rates, two epochs, a prior given: average the likelihoods and divide."""
    s = np.array([0.1, 0.8])
    grid = Grid(rate=s * 0.5 + (1 - s) * 0.05, both=s * 0.25 + (1 - s) * 0.0025, same_epoch=True)
    weight = np.array([[[0.7, 0.3], [0.2, 0.8]]])
    prior = Prior(np.ones(1), weight, np.arange(2), grid)
    a, b, ladder = Traces([[0, 1]], 2), Traces([[0, 0]], 2), Ladder(2, 1)
    tables = build_likelihoods(prior, ladder, 4, gaps=False)
    p11, p1 = grid.both, grid.rate
    p10, p00 = p1 - p11, 1 - 2 * p1 + p11
    together = (weight[0, 0] @ (p11 * p10)) * (weight[0, 1] @ (p10 * p00))
    apart = (weight[0, 0] @ (p1 * (1 - p1))) * (weight[0, 1] @ (p1 * (1 - p1)))
    apart *= (weight[0, 0] @ p1**2) * (weight[0, 1] @ (1 - p1) ** 2)
    score = pair_scores_numpy(count(a, ladder), count(b, ladder), tables)
    assert score[0, 0] / GRID == pytest.approx(math.log(together / apart), abs=1e-4)


def test_bayes_factors_average_to_one_over_strangers():
    """E over queries of another user of P(both | one) / P(both | two) is 1: nothing is counted twice."""
    s = np.array([0.1, 0.8])
    grid = Grid(rate=s * 0.5 + (1 - s) * 0.05, both=s * 0.25 + (1 - s) * 0.0025, same_epoch=True)
    f, r = np.array([0.6, 0.4]), 3
    total = 0.0
    for seen in itertools.product([0, 1], repeat=2 * r):
        a, b = np.array(seen[:r]), np.array(seen[r:])
        c, d, m = int(a.sum()), int(b.sum()), int((a * b).sum())
        joint = f @ np.exp(log_joint(grid, np.array(c + d), np.array(m), np.array(2.0 * r), r))
        total += joint
        if not m:
            alone = [f @ np.exp(log_alone(grid, np.array(x), np.array(float(r)))) for x in (c, d)]
            assert 0 < joint < 3 * alone[0] * alone[1]
    assert total == pytest.approx(1.0)


def test_expectation_has_a_numpy_twin_and_each_round_raises_the_likelihood():
    rng = np.random.default_rng(4)
    weight, histogram = rng.dirichlet(np.ones(5), size=3), rng.poisson(1.0, size=(3, 7)).astype(float)
    likelihood = rng.random((7, 5))
    before = -np.inf
    for _ in range(20):
        found = expected_users(weight, histogram, likelihood)
        assert found == pytest.approx(expected_users_numpy(weight, histogram, likelihood))
        assert found.sum(axis=1) == pytest.approx(histogram.sum(axis=1))
        after = float((histogram * np.log(weight @ likelihood.T)).sum())
        assert after >= before - 1e-9
        before, weight = after, found / found.sum(axis=1, keepdims=True)


def test_the_prior_finds_how_rates_are_spread():
    """Half of the users hold token 0 all the time, nobody else ever does."""
    rng = np.random.default_rng(5)
    held = (rng.random((4_000, 20)) < 0.2) & (np.arange(4_000) % 2 == 0)[:, None]
    tokens = np.where(held, 0, 1 + rng.integers(200, size=(4_000, 20)))
    traces, grid = Traces(tokens, 201), top_set_grid(0.2, 0.0)
    prior = learn(count(traces, ladder_of(traces)), ladder_of(traces), grid, kinds=1)
    weight = prior.weight[0, 0]
    assert weight[grid.rate > 0.15].sum() == pytest.approx(0.5, abs=0.03)
    assert weight[grid.rate < 0.02].sum() == pytest.approx(0.5, abs=0.03)


def test_drawn_rates_follow_the_posterior():
    """One kind, two rates: count how often the high one is drawn for a token seen twice, and for one never seen."""
    grid = Grid(rate=np.array([0.05, 0.4]), both=np.array([0.05, 0.4]) ** 2, same_epoch=False)
    prior = Prior(np.ones(1), np.array([[[0.7, 0.3], [0.5, 0.5]]]), np.arange(2), grid)
    ladder = Ladder(4, 1)
    counts = count(Traces([[0, 0, -1, -1]] * 20_000, 2), ladder)
    drawn = draw_rates(prior, counts, ladder, np.random.default_rng(0)).mean(axis=0)
    assert drawn[0] == pytest.approx(0.3 * 0.4**2 / (0.3 * 0.4**2 + 0.7 * 0.05**2), abs=0.01)
    assert drawn[1] == pytest.approx(0.6**2 / (0.6**2 + 0.95**2), abs=0.02)


def test_gaps_that_all_share_leave_more_epochs_seen_together():
    """Nobody saw half of the epochs: two records without other gaps saw the same half, not a quarter of all."""
    tokens = np.random.default_rng(1).integers(0, 5, (30, 8))
    shared = np.where(np.arange(8) < 4, tokens, -1)
    assert ladder_of(Traces(shared, 5)).overlap == 2.0
    half = ProfileBayes(2, 0.1).fit(Traces(shared, 5)).candidates(Traces(shared, 5), 30)
    whole = ProfileBayes(2, 0.1).fit(Traces(tokens[:, :4], 5)).candidates(Traces(tokens[:, :4], 5), 30)
    assert np.abs(half[1] - whole[1]).max() <= 8  # steps of 1/65,536 nat


def test_simulated_sites_show_noise():
    """Everybody holds token 0 alone: the rest is noise, half of the epochs, spread over nine tokens of ten."""
    rates = np.tile(np.eye(10)[0], (200, 1))
    for seen in simulate_sets(rates, 1, 0.5, 50, np.random.default_rng(0)):
        assert np.mean(seen != 0) == pytest.approx(0.5 * 0.9, abs=0.02)
        assert np.bincount(seen[seen > 0], minlength=10)[1:].min() > 0.8 * np.sum(seen > 0) / 9
    for seen in simulate_sets(rates, 1, 0.0, 50, np.random.default_rng(0)):
        assert (seen == 0).all()


@pytest.mark.parametrize("system", [None, (4, 0.05)])
def test_simulated_users_have_the_gaps_of_targets(system):
    a, _ = population(80, 6)
    never, seldom = np.arange(6) == 2, (np.arange(80)[:, None] % 4 == 0) & (np.arange(6) > 3)
    targets = Traces(np.where(never | seldom, -1, a.tokens), 80)
    learnt = Learnt(targets, system, 1, 0)
    for one in simulate_pair(learnt, 60, np.random.default_rng(0))[:2]:
        assert {tuple(row) for row in one.observed} == {tuple(row) for row in targets.observed}
        assert np.mean(~one.observed[:, 5]) == pytest.approx(0.25, abs=0.15)


def test_cells_have_no_holes():
    cells = [int(cell(s, m)) for s in range(30) for m in range(s // 2 + 1)]
    assert cells == list(range(len(cells)))


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_it_beats_the_attacks_of_the_papers(share):
    a, b = (gappy(x, share, i) for i, x in enumerate(population(400, 8)))
    ours = measure.random_user(ProfileBayes(4, 0.05), a, b)
    for other in (attacks.WeightedHamming(4, 0.05), attacks.LooseSets()):
        assert measure.difference(ours, measure.random_user(other, a, b)).low > 0.0
    without = measure.random_user(ProfileBayes(), a, b)
    assert ours.rate > without.rate > 5 * without.baseline


def test_the_probability_is_calibrated_and_abstaining_keeps_the_sure_links():
    a, b = population(1_000, 8, seed=3)
    attack = ProfileBayes(4, 0.05).fit(a)
    links = attack.link(b, probability=True)
    right = links.target == np.arange(len(b))
    assert ((links.probability > 0) & (links.probability <= 1)).all()
    assert calibration_error(links.probability, right) < 0.05
    assert links.probability[right].mean() > links.probability[~right].mean() + 0.2
    choosy = ProfileBayes(4, 0.05, min_probability=0.9).fit(a).link(b)
    assert np.array_equal(choosy.target >= 0, links.probability >= 0.9)
    assert np.mean(right[choosy.target >= 0]) > 0.85


def test_probabilities_hold_where_strangers_resemble_each_other_in_ways_unknown_to_the_model():
    sets = populations.published(3_000, 8, seed=909)
    api = topics.TopicsAPI(n_topics=sets.n_tokens, top_k=sets.k)
    a, b = (api.expose(sets, seed=909, site=site) for site in "ab")
    attack = ProfileBayes(api.top_k, api.noise).fit(a)
    links = attack.link(b, probability=True)
    right = links.target == np.arange(len(b))
    assert measure.calibration(links.probability, right).excess < 0.01  # 0.02 with a temperature alone
    assert abs(links.probability.mean() - right.mean()) < 0.04
    assert attack.temperature_ > 1.08  # simulated strangers would say 1.03


def test_probabilities_are_those_of_all_scores_and_leave_room_for_the_absent():
    a, b = population(60, 8)
    attack = ProfileBayes(4, 0.05, calibrate=False).fit(a)
    scores = attack.candidates(b, 60)[1]
    odds = np.exp(scores / GRID)
    assert attack.link(b, probability=True).probability == pytest.approx(odds[:, 0] / odds.sum(axis=1), abs=1e-6)
    absent = ProfileBayes(4, 0.05, calibrate=False, absent=0.5).fit(a).link(b, probability=True).probability
    assert absent == pytest.approx(odds[:, 0] / (60 + odds.sum(axis=1)), abs=1e-6)


def test_strangers_are_told_apart_when_some_may_be_absent():
    a, b = population(600, 25, seed=5)
    attack = ProfileBayes(4, 0.05, absent=0.5).fit(a.take(slice(0, 300)))
    sure = attack.link(b, probability=True).probability
    assert sure[:300].mean() > sure[300:].mean() + 0.2


def test_the_order_of_users_and_the_names_of_tokens_do_not_matter():
    a, b = population(150, 12)
    links = ProfileBayes(4, 0.05).fit(a).link(b)
    order, names = np.random.default_rng(0).permutation(150), np.random.default_rng(1).permutation(80)
    other = ProfileBayes(4, 0.05).fit(Traces(names[a.tokens[order]], 80)).link(Traces(names[b.tokens], 80))
    assert np.array_equal(order[other.target], links.target)
    assert np.abs(other.score - links.score).max() <= 200  # sums of floats in another order, 1/300 nat


def test_the_same_answer_on_any_number_of_threads_and_for_any_part_of_the_queries():
    a, b = (gappy(x, 0.1, i) for i, x in enumerate(population(300, 12)))
    attack = ProfileBayes(4, 0.05, threads=1).fit(a)
    one = attack.link(b, probability=True)
    two = ProfileBayes(4, 0.05, threads=2).fit(a).link(b, probability=True)
    part = attack.link(b.take(slice(100, 110)), probability=True)
    for name in ("target", "score", "n_ties", "probability"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
        assert np.array_equal(getattr(one, name)[100:110], getattr(part, name))


def test_queries_with_gaps_after_queries_without():
    a, b = population(100, 10)
    attack = ProfileBayes(4, 0.05).fit(a)
    before = attack.link(b)
    attack.link(gappy(b, 0.5, 0))
    assert np.array_equal(attack.link(b).score, before.score)


def test_a_record_without_any_token_tells_nothing():
    a, _ = population(50, 6)
    empty = Traces([[-1] * 6], 80)
    links = ProfileBayes(4, 0.05).fit(a).link(empty, probability=True)
    assert (links.score[0], links.n_ties[0]) == (0, 50)
    assert links.probability[0] == pytest.approx(1 / 50)
    half = Traces(np.concatenate([a.tokens, empty.tokens]), 80)
    assert ProfileBayes(4, 0.05).fit(half).score(a, np.full(50, 50)).tolist() == [0] * 50


def test_bags_of_lasting_tastes_are_linked():
    rng = np.random.default_rng(0)
    taste = rng.dirichlet(5.0 / np.arange(1, 301), size=300)
    a, b = (Bags(np.stack([rng.multinomial(15, p) for p in taste])) for _ in range(2))
    ours = measure.random_user(ProfileBayes(), a, b)
    assert measure.difference(ours, measure.random_user(attacks.Overlap(), a, b)).low > 0.0
    links = ProfileBayes().fit(a).link(b, probability=True)
    assert calibration_error(links.probability, links.target == np.arange(300)) < 0.08


def test_colluding_observers_link_more():
    sets = API.top_sets(populations.real(RATES), epochs=6, seed=1)
    a, b, c = (API.expose(sets, seed=1, site=site) for site in "abc")
    alone = measure.random_user(ProfileBayes(4, 0.05), a, b)
    together = measure.random_user(ProfileBayes(4, 0.05), attacks.pool([a, c]), b)
    assert measure.difference(together, alone).low > 0.0
    with pytest.raises(DataError, match="queries come from 2 observers, the targets from 1"):
        ProfileBayes(4, 0.05).fit(a).link([b, c])


def test_narrowed_to_some_targets_nothing_else_changes():
    a, b = (gappy(x, 0.1, i) for i, x in enumerate(population(120, 10)))
    attack = ProfileBayes(4, 0.05).fit(a)
    rows = np.array([70, 3, 99, 4])
    links = attack.narrowed(rows).link(b, probability=True)
    every = np.stack([attack.score(b, np.full(120, t)) for t in rows], axis=1)
    assert np.array_equal(links.score, every.max(axis=1))
    assert np.array_equal(links.target, every.argmax(axis=1))
    odds = np.exp(every / GRID / attack.temperature_)
    bend = attack._learnt.posterior.bend
    assert links.probability == pytest.approx(bend.of(odds.max(axis=1) / odds.sum(axis=1)), abs=1e-6)


def test_what_was_narrowed_stays_when_its_parent_is_fitted_anew():
    (a, b), (c, _) = population(60, 10), population(40, 7, seed=9)
    attack, rows = ProfileBayes(4, 0.05).fit(a), np.array([7, 3, 20])
    narrow = attack.narrowed(rows)
    before = narrow.link(b)
    attack.fit(c)
    gaps = gappy(b, 0.5, 0)
    again = ProfileBayes(4, 0.05).fit(a).narrowed(rows)
    for x, y in ((before, narrow.link(b, probability=True)), (again.link(gaps), narrow.link(gaps))):
        assert np.array_equal(x.score, y.score)
        assert np.array_equal(x.target, y.target)
    again.link(b, probability=True)
    assert (narrow.temperature_, attack.temperature_) == (again.temperature_, None)
    for none in ([], np.zeros(0, dtype=np.int64)):
        with pytest.raises(OptionError, match="give the rows of at least one target"):
            again.narrowed(none)


def test_a_large_vocabulary_shares_priors_among_rare_tokens():
    rng = np.random.default_rng(1)
    own = rng.integers(0, 50_000, size=(80, 6))
    a, b = (Traces(own[np.arange(80)[:, None], rng.integers(6, size=(80, 12))], 50_000) for _ in range(2))
    attack = ProfileBayes().fit(a)
    assert attack.prior_.weight.shape[1] < 1_200
    assert np.mean(attack.link(b).target == np.arange(80)) > 0.95


def test_no_noise_and_sets_of_one_are_handled_before_the_logarithm():
    rng = np.random.default_rng(2)
    a = Traces(rng.integers(0, 9, size=(40, 12)), 9)
    for top_k, noise in ((1, 0.0), (9, 0.0), (3, 0.0), (1, 0.5)):
        links = ProfileBayes(top_k, noise).fit(a).link(a, probability=True)
        assert np.isfinite(links.probability).all()
    assert np.array_equal(ProfileBayes(1, 0.0).fit(a).link(a).target, np.arange(40))


def test_what_cannot_happen_stays_impossible_however_long_the_record():
    """Two users hold the same tokens equally often, never in the same epoch; one alone would exceed 32 bits."""
    base = np.random.default_rng(0).integers(0, 20, (60, 60))
    base[0, :30], base[0, 30:], base[1, :30], base[1, 30:] = 1, 2, 2, 1
    records = Traces(base, 20)
    links = ProfileBayes(top_k=1, noise=0.0).fit(records).link(records, probability=True)
    assert np.array_equal(links.target, np.arange(60))
    assert (ProfileBayes(top_k=1, noise=0.0).fit(records).score(records, np.roll(np.arange(60), 1)) < 0).all()


@pytest.mark.data
@pytest.mark.parametrize(
    ("model", "least", "sure", "matched"),
    [("iid", 0.60, 0.51, 0.64), ("crossover", 0.84, 0.74, 0.92), ("real", 0.78, 0.61, 0.86)],
)
def test_the_real_users_of_the_paper(study_file, model, least, sure, matched):
    matrix = populations.read_rates(study_file("topics_rates_jha/lambda-user-topic.csv.gz"), n_topics=349)
    rates = {
        "iid": lambda: personas.iid(matrix, 1_000, 0),
        "crossover": lambda: personas.crossover(matrix, 1_000, 0),
        "real": lambda: populations.real(matrix),
    }[model]()
    api = topics.TopicsAPI(349)
    sets = api.top_sets(rates, epochs=30, seed=0)
    a, b = (api.expose(sets, seed=0, site=site) for site in "ab")
    risk = measure.random_user(ProfileBayes(5, 0.05), a, b)
    assert risk.rate > least
    assert measure.difference(risk, measure.random_user(attacks.WeightedHamming(5, 0.05), a, b)).low > 0.0
    links = ProfileBayes(5, 0.05).fit(a).link(b, probability=True)
    right = links.target == np.arange(len(b))
    assert calibration_error(links.probability, right) < 0.05
    order = np.argsort(-links.probability, kind="stable")
    wrong = np.cumsum(~right[order]) / len(b)
    assert np.cumsum(right[order])[wrong <= 0.04][-1] / len(b) > sure
    assert measure.matching(ProfileBayes(5, 0.05), a, b, seed=0).rate > matched


def test_a_mechanism_says_what_top_k_and_noise_do():
    a, b = population(60, 8)
    known = ProfileBayes(TopKNoise(4, 0.05, 80)).fit(a).link(b)
    for same in (ProfileBayes(4, 0.05), ProfileBayes(top_k=4, noise=0.05), ProfileBayes(mechanism=4)):
        assert np.array_equal(same.fit(a).link(b).score, known.score)
    guessed = ProfileBayes(TopKNoise(4, 0.05, 80, declared="nothing"))
    assert np.array_equal(guessed.fit(a).link(b).score, ProfileBayes().fit(a).link(b).score)
    with pytest.raises(OptionError, match="the mechanism or top_k, not both"):
        ProfileBayes(TopKNoise(4, 0.05, 80), top_k=4)
    with pytest.raises(OptionError, match="the mechanism has 81 tokens, the targets 80"):
        ProfileBayes(TopKNoise(4, 0.05, 81)).fit(a)


def test_bad_input_is_one_clear_line():
    a = Traces([[1, 2], [3, 4]], 9)
    for attack, message in (
        (ProfileBayes(kinds=0), "kinds must be a whole number from 1 to 64, not 0"),
        (ProfileBayes(absent=1.0), "absent must lie in"),
        (ProfileBayes(min_probability=1.5), "min_probability must lie in"),
        (ProfileBayes(5, 1.0), "noise must lie in"),
        (ProfileBayes(5, "x"), r"noise must lie in \[0, 1\), not 'x'"),
        (ProfileBayes(noise="x"), r"noise must lie in \[0, 1\), not 'x'"),
        (ProfileBayes(absent=None), "absent must lie in .*, not None"),
        (ProfileBayes(min_probability="1"), "min_probability must lie in .*, not '1'"),
        (ProfileBayes("5"), "top_k must be a whole number of tokens or None, not '5'"),
        (ProfileBayes(10), "10"),
        (ProfileBayes(seed=-1), "seed must be"),
    ):
        with pytest.raises(OptionError, match=message) as caught:
            attack.fit(a)
        assert "\n" not in str(caught.value)
    fitted = ProfileBayes().fit(a)
    for queries, message in (
        (Traces([[1]], 9), "targets have 2 epochs, queries have 1"),
        (Traces([[1, 1]], 8), "targets have 9 tokens in the vocabulary, queries have 8"),
        (Bags([[1] * 9]), "the targets are Traces, the queries Bags"),
    ):
        with pytest.raises(DataError, match=message):
            fitted.link(queries)
    with pytest.raises(DataError, match="compares traces or bags, not dict"):
        ProfileBayes().fit({})
    with pytest.raises(DataError, match="no target holds a single token"):
        ProfileBayes().fit(Traces([[-1, -1]], 9))
    with pytest.raises(OptionError, match=r"call fit\(targets\) first"):
        ProfileBayes().link(a)
    with pytest.raises(OptionError, match="cannot give 3 candidates of 2 targets"):
        fitted.candidates(a, 3)
    with pytest.raises(OptionError, match=r"target rows lie in \[0, 2\)"):
        fitted.score(a, np.array([0, 2]))
