"""Validation: errors by another way, samples of the wrong model found out, the private apart from the public."""

import dataclasses
import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import ReidRiskError, TopSets, Vocabulary, populations, release
from reidrisk.release import PUBLISHED, Statistics, TypeMixture
from reidrisk.release.validate.deviations import compare, frequencies, noise_of, popularity_alone
from reidrisk.release.validate.internal import distinct_tokens, pearson, stationarity

torch = pytest.importorskip("torch", reason="torch is not installed; fitting needs it")

N_USERS = 12_347


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """These models are tiny: threads would wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def random_sets(seed, n=40, epochs=3, k=3, n_tokens=6, short=0.3):
    rng = np.random.default_rng(seed)
    tokens = np.argsort(rng.random((n, epochs, n_tokens)), axis=2)[:, :, :k]
    tokens[rng.random(tokens.shape) < short] = -1
    return TopSets(tokens, n_tokens)


@pytest.fixture(scope="module")
def world():
    """Two groups of people with lasting habits, statistics of them, a model, users drawn from it."""
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=N_USERS)
    tokens = np.stack(
        [np.argsort(rng.random((N_USERS, 4)), axis=1)[:, :2] + 4 * group[:, None] for _ in range(3)], axis=1
    )
    sets = TopSets(tokens, n_tokens=9)
    stats = release.statistics(sets.epochs(2), 2.0, 1e-6, simulation=True, seed=0)
    model = release.fit_mixture(stats, n_types=8, n_epochs=3, steps=300, device="cpu")
    return sets, stats, model, model.sample(50_000, seed=0)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32 - 1))
def test_frequencies_are_those_of_a_count_by_hand(seed):
    sets = random_sets(seed)
    found = frequencies(sets)
    n = len(sets)
    for epoch in range(3):
        held = [set(row[row >= 0].tolist()) for row in sets.tokens[:, epoch]]
        after = [set(row[row >= 0].tolist()) for row in sets.tokens[:, min(epoch + 1, 2)]]
        for a in range(6):
            assert found.single[epoch, a] == pytest.approx(sum(a in s for s in held) / n)
            for b in range(6):
                if a != b:
                    assert found.within[epoch, a, b] == pytest.approx(sum({a, b} <= s for s in held) / n)
                if epoch < 2:
                    both = sum(a in s and b in t for s, t in zip(held, after, strict=True))
                    assert found.across[epoch, a, b] == pytest.approx(both / n)


def test_errors_are_counted_term_by_term():
    sets = random_sets(1, n=500, short=0.0)
    exact = release.exact_statistics(sets)
    found = frequencies(sets)
    terms = []
    for epoch in range(3):
        terms += [(exact.single[a], found.single[epoch, a]) for a in range(6)]
        terms += [(exact.within[a, b], found.within[epoch, a, b]) for a, b in itertools.combinations(range(6), 2)]
    for epoch in range(2):
        terms += [(exact.across[a, b], found.across[epoch, a, b]) for a in range(6) for b in range(6)]
    summaries, curves = compare(found, exact, "sample")
    whole = summaries[0]
    assert whole.n == len(terms) == sum(s.n for s in summaries[1:])
    target, ours = np.array(terms).T
    assert whole.within_point == pytest.approx(np.mean(np.abs(ours - target) <= 0.001))
    large = target >= 1e-4
    relative = np.abs(ours - target)[large] / target[large]
    assert whole.n_large == large.sum()
    assert whole.within_fifth == pytest.approx(np.mean(relative <= 0.2))
    assert whole.median_relative == pytest.approx(np.median(relative))
    assert whole.root_mean_square == pytest.approx(np.sqrt(np.mean((ours - target) ** 2)))
    assert curves.relative[-1] == pytest.approx(np.mean(relative <= 1.0))
    assert list(curves.absolute) == sorted(curves.absolute)


def test_popularity_alone_keeps_the_sums_and_forgets_the_pairs():
    exact = release.exact_statistics(random_sets(2, n=300, short=0.0))
    alone = popularity_alone(exact, 2)
    assert alone.within[0].sum() == pytest.approx(3 * 2)
    assert alone.across[0].sum() == pytest.approx(9)
    assert np.linalg.matrix_rank(alone.across[0]) == 1


def test_the_noise_of_a_statistic_is_what_it_is_stated_to_be(world):
    sets, stats, _, _ = world
    exact = release.exact_statistics(sets.epochs(2))
    noise = noise_of(stats)
    raw = stats.counts.tables
    across = raw["f12"] / N_USERS - exact.across
    within = (raw["f11"] + raw["f22"])[np.triu_indices(9, 1)] / (2 * N_USERS) - exact.within[np.triu_indices(9, 1)]
    assert across.std() == pytest.approx(noise["across"], rel=0.3)
    assert within.std() == pytest.approx(noise["within"], rel=0.4)


def test_a_public_report_needs_one_release(world):
    """The report shows the statement of the statistics, so nothing with another one may be in it."""
    sets, stats, model, users = world
    other = release.statistics(sets.epochs(2), 2.0, 1e-6)
    assert not other.statement.simulation
    for statement, told in (
        (stats.statement, "simulation True"),
        (None, "exact statistics"),
        (dataclasses.replace(other.statement, epsilon=3.0), "epsilon 3.0"),
        (dataclasses.replace(other.statement, delta=1e-3), "delta 0.001"),
        (dataclasses.replace(other.statement, sigma={"f12": 1.0}), "sigma"),
    ):
        with pytest.raises(ReidRiskError, match=told):
            release.public_validation(TypeMixture(model.theta, statement=statement), other)
        if statement is not None:
            fitted = TypeMixture(model.theta, statement=other.statement.after("fitted"))
            with pytest.raises(ReidRiskError, match="of the users"):
                release.public_validation(fitted, other, users, statement)


def test_the_public_validation_finds_a_good_model_good(world):
    _, stats, model, users = world
    found = release.public_validation(model, stats, users)
    # Pairs that never occur have noise for a statistic, which no model follows; the rest is met.
    assert found.summary("model").within_fifth > found.summary("popularity alone").within_fifth + 0.4
    assert found.summary("model", "single").within_fifth > 0.85
    assert 0.90 <= found.agreement <= 0.99
    assert found.objective == pytest.approx(model.objective(stats))
    assert found.statement.post_processing[-1] == "model and samples were compared with the statistics"
    assert [note.code for note in found.notes][-1] == "sample-as-drawn"
    assert release.PublicValidation.from_json(found.to_json()) == found


def test_a_sample_of_another_model_is_found_out(world):
    _, stats, model, _ = world
    other = TypeMixture(np.roll(model.theta, 1, axis=3)).sample(50_000, seed=0)
    assert release.public_validation(model, stats, other).agreement < 0.5


def test_the_public_validation_says_nothing_of_the_data_but_the_release(world):
    sets, stats, model, users = world
    text = release.public_validation(model, stats, users).to_json()
    assert str(N_USERS) not in text
    assert f"{N_USERS:,}" not in text
    # Another data set with the same release gives the same public validation: it never sees the data.
    again = Statistics(stats.single, stats.within, stats.across, stats.k, stats.statement, None, stats.n_users)
    assert release.public_validation(model, again, users).to_dict()["summaries"] == json.loads(text)["summaries"]
    with pytest.raises(ReidRiskError, match="exact statistics are private"):
        release.public_validation(model, release.exact_statistics(sets.epochs(2)))


def test_what_does_not_belong_together_is_refused(world):
    sets, stats, model, users = world
    other = TypeMixture(np.zeros((2, 3, 2, 8)))
    with pytest.raises(ReidRiskError, match="8 tokens, the statistics over 9"):
        release.public_validation(other, stats)
    with pytest.raises(ReidRiskError, match="sets of 3"):
        release.public_validation(TypeMixture(np.zeros((2, 3, 3, 9))), stats)
    with pytest.raises(ReidRiskError, match="2 epochs, the model 3"):
        release.public_validation(model, stats, users.epochs(2))
    words = [Vocabulary([f"{name} {i}" for i in range(9)]) for name in "ab"]
    named = Statistics(stats.single, stats.within, stats.across, 2, PUBLISHED, words[0])
    with pytest.raises(ReidRiskError, match="another vocabulary"):
        release.public_validation(TypeMixture(model.theta, words[1]), named)
    with pytest.raises(ReidRiskError, match="tokens"):
        release.internal_validation(TopSets(sets.tokens, n_tokens=10), stats, model)


def test_the_internal_validation_is_marked_and_measures_the_real_people(world):
    sets, stats, model, _ = world
    told = []
    found = release.internal_validation(
        sets, stats, model, trials=3, queries=500, progress=lambda stage, share: told.append(share)
    )
    assert found.notes[0].code == "not-covered-by-the-privacy-statement"
    assert found.n_users == N_USERS
    assert {rate.attack for rate in found.rates} == {"Hamming", "WeightedHamming", "ProfileBayes"}
    for rate in found.rates:
        assert len(rate.real_each) == len(rate.synthetic_each) == 3
        assert rate.real == pytest.approx(np.mean(rate.real_each))
        assert rate.real_deviation == pytest.approx(np.std(rate.real_each, ddof=1))
        assert rate.agrees == (abs(rate.real - rate.synthetic) <= rate.real_deviation)
        assert rate.real_low <= rate.real <= rate.real_high
    assert told == sorted(told)
    assert json.loads(json.dumps(found.to_dict()))["rates"][0]["attack"] == "Hamming"
    assert found.real_stationarity["within"][0][1] > 0.9
    assert not found.refitted


def test_models_fitted_anew_serve_the_trials(world):
    sets, stats, model, _ = world
    again = release.refitted(model, stats, "cpu")
    assert again(0) is model
    assert not np.array_equal(again(1).theta, model.theta)
    assert again(1).report.steps <= model.report.steps
    seen = []

    def models(trial):
        seen.append(trial)
        return model

    found = release.internal_validation(sets, stats, model, trials=2, queries=100, models=models)
    assert seen == [0, 1]
    assert found.refitted
    with pytest.raises(ReidRiskError, match="how it was fitted"):
        release.refitted(TypeMixture(model.theta), stats)


def test_rates_tell_people_apart_who_are_not_alike():
    real = populations.published(4_000, epochs=3, seed=0)
    rng = np.random.default_rng(0)

    def strangers(trial):
        # Each week of another person: what two sites see of a week is as alike, what lasts is gone.
        return TopSets(np.stack([real.tokens[rng.permutation(4_000), e] for e in range(3)], axis=1), real.n_tokens)

    alike = release.compare_rates(real, lambda trial: real, trials=2, queries=1000)
    assert all(rate.real == rate.synthetic and rate.agrees for rate in alike)
    apart = {rate.attack: rate for rate in release.compare_rates(real, strangers, trials=2, queries=1000)}
    assert apart["ProfileBayes"].synthetic < apart["ProfileBayes"].real
    assert alike[0].baseline == pytest.approx(1 / 4_000)
    one = release.compare_rates(real, lambda trial: real, trials=1, queries=500, bayes_users=0, epochs=(1, 3))
    assert [rate.n_epochs for rate in one] == [1, 1, 3, 3]
    assert all(rate.real_low < rate.real < rate.real_high for rate in one)


@pytest.mark.parametrize(
    ("options", "told"), [({"trials": 0}, "1 trial"), ({"bayes_users": -1}, "bayes_users"), ({"seed": -1}, "seed")]
)
def test_bad_options_of_the_rates_are_refused(options, told):
    real = populations.published(200, epochs=2)
    with pytest.raises(ReidRiskError, match=told):
        release.compare_rates(real, lambda trial: real, **options)
    with pytest.raises(ReidRiskError, match="must be 200"):
        release.compare_rates(real, lambda trial: populations.published(100, epochs=2), trials=1)


def test_distinct_tokens_are_counted_and_their_correlation_covers():
    one, two = random_sets(3, n=400), random_sets(4, n=400, short=0.1)
    found = distinct_tokens(one, two)
    for sets, shares in ((one, found.real), (two, found.synthetic)):
        sizes = [len(set(user[user >= 0].tolist())) for user in sets.tokens]
        assert list(shares) == pytest.approx([sizes.count(c) / np.count_nonzero(sizes) for c in range(1, 10)])
    assert found.correlation == pytest.approx(np.corrcoef(found.real, found.synthetic)[0, 1])
    assert found.low <= found.correlation <= found.high
    assert found.distance == pytest.approx(np.abs(np.subtract(found.real, found.synthetic)).sum() / 2)


def test_stationarity_is_the_usual_correlation():
    found = frequencies(random_sets(5, n=300, short=0.0))
    matrices = stationarity(found)
    assert np.array(matrices["single"]) == pytest.approx(np.corrcoef(found.single))
    assert np.array(matrices["across"]) == pytest.approx(np.corrcoef(found.across.reshape(2, -1)))
    assert pearson(np.ones(3), np.arange(3)) == 0.0
