"""The look at the counts of a release: honest noise passes at the stated rate, too little of it is found."""

import dataclasses

import numpy as np
import pytest

from reidrisk import ReidRiskError, TopSets, release
from reidrisk.release.counts.mechanism import add_noise, plan_noise
from reidrisk.release.counts.pairs import PairCounts, count_pairs, measured_blocks
from reidrisk.release.counts.statistics import from_counts
from reidrisk.release.validate import noise as validate_noise
from reidrisk.release.validate.spread import (
    Differences,
    alike_sums,
    differing_sums,
    finds_less,
    near_zero,
    nearest_shares,
    power_of_tables,
    spread,
)


def people(n=4_000, n_tokens=30, k=3, epochs=2, skew=1.5, seed=0):
    """Draw sets of tokens of which a few are popular: many pairs are had by nobody."""
    rng = np.random.default_rng(seed)
    liking = rng.gumbel(size=(n, epochs, n_tokens)) - skew * np.log(np.arange(1, n_tokens + 1))
    return TopSets(np.argsort(-liking, axis=2)[:, :, :k], n_tokens=n_tokens)


def noisy_counts(exact, plan, share, seed, table=None):
    """Add ``share`` of the noise of a plan, in one table or in all; whole where that of the plan is."""
    sigma = [
        size * (share if table in (None, block.name) else 1.0)
        for block, size in zip(plan.blocks, plan.sigma, strict=True)
    ]
    less = dataclasses.replace(plan, sigma=tuple(sigma), discrete=False)
    noisy = add_noise(exact, less, seed)
    if not plan.discrete:
        return noisy
    return PairCounts({n: np.rint(t) for n, t in noisy.tables.items()}, exact.k, exact.n_tokens, exact.n_epochs)


def found(exact, plan, share, seeds, error):
    """Return how often counts do not fit."""
    statement, n = plan.statement((), 0), exact.n_tokens
    empty = release.Statistics(np.zeros(n), np.zeros((n, n)), np.zeros((n, n)), exact.k, statement)
    made = (dataclasses.replace(empty, counts=noisy_counts(exact, plan, share, seed)) for seed in seeds)
    return np.mean([release.noise_fit(stats, error).fits is False for stats in made])


CASES = {"two epochs": (30, 3, 2), "more epochs": (30, 3, 4), "sets of one": (30, 1, 2), "few tokens": (8, 2, 2)}


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_honest_noise_fails_no_more_often_than_stated_and_too_little_is_found(case, discrete, monkeypatch):
    # The statistics are looked at without error, and are slow to make: here the counts alone.
    monkeypatch.setattr(validate_noise, "_not_of_the_counts", lambda statistics: [])
    n_tokens, k, epochs = CASES[case]
    exact = count_pairs(people(n_tokens=n_tokens, k=k, epochs=epochs))
    plan = plan_noise(measured_blocks(k, n_tokens, epochs), 1.0, 1e-9, discrete=discrete)
    # Four standard deviations above the stated rate.
    assert found(exact, plan, 1.0, range(400), error=0.05) <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 400)
    assert found(exact, plan, 1.0, range(400), error=0.001) <= 0.005
    for share in (0.1, 0.001):
        assert found(exact, plan, share, range(10), error=0.0001) == 1.0
    if case != "few tokens":
        assert found(exact, plan, 0.5, range(20), error=0.0001) >= 0.9


def test_sums_that_agree_leave_exactly_the_stated_variance():
    """Squares add up to a chi-squared variable whatever the people have: both tails at their stated rate."""
    n_tokens, k = 12, 4
    plan = plan_noise(measured_blocks(k, n_tokens, 2), 1.0, 1e-9, discrete=False)
    sigma = dict(zip(("f11", "f22", "f12"), plan.sigma, strict=True))
    exact = count_pairs(people(500, n_tokens, k, skew=0.3))
    assert {name: (one.n, one.square) for name, one in differing_sums(exact, sigma).items()} == {
        "f11": (11, 0.0),
        "f22": (11, 0.0),
        "all": (22, 0.0),
    }
    every = [differing_sums(noisy_counts(exact, plan, 1.0, seed), sigma) for seed in range(4_000)]
    for name, n in (("f11", 11), ("f22", 11), ("all", 22)):
        squares = np.array([sums[name].square for sums in every])
        assert squares.mean() == pytest.approx(n, abs=5 * np.sqrt(2 * n / 4_000))
        assert squares.var() == pytest.approx(2 * n, rel=0.15)
        each = [spread(sums[name], 0.1) for sums in every]
        tails = [(one["p_low"] < 0.1, one["p_high"] < 0.1) for one in each]
        assert np.mean(tails, axis=0) == pytest.approx([0.1, 0.1], abs=5 * np.sqrt(0.09 / 4_000))


def test_the_probability_to_find_half_of_the_noise_is_right():
    n_tokens, k = 10, 3
    plan = plan_noise(measured_blocks(k, n_tokens, 2), 1.0, 1e-9, discrete=False)
    sigma = dict(zip(("f11", "f22", "f12"), plan.sigma, strict=True))
    exact = count_pairs(people(500, n_tokens, k))
    level = 0.001
    each = [spread(differing_sums(noisy_counts(exact, plan, 0.5, seed), sigma)["all"], level) for seed in range(2_000)]
    told = each[0]["finds_half"]
    assert 0.1 < told < 0.9
    assert np.mean([one["p_low"] <= level for one in each]) == pytest.approx(told, abs=0.05)


@pytest.mark.parametrize("count", [0, 3, 10, 40])
@pytest.mark.parametrize("discrete", [False, True])
def test_whatever_was_counted_no_more_than_the_share_of_empty_ones_lies_near_zero(count, discrete):
    """The bound is over every count, empty or not: here by adding up the probabilities themselves."""
    sigma = 10.0
    at = np.arange(-30, 31) if discrete else np.linspace(-30, 30, 60_001)
    weight = np.exp(-0.5 * ((at - count) / sigma) ** 2)
    windows = np.array([10.0, 5.0, 2.0, 1.0, 0.0] if discrete else [10.0, 5.0, 2.5, 1.25])
    shares = [weight[np.abs(at) <= window].sum() / weight.sum() for window in windows]
    most = nearest_shares(windows, sigma, discrete)
    assert (np.array(shares) <= most + 1e-4).all()
    if count == 0:
        assert shares == pytest.approx(most, abs=1e-4)


def codes(result):
    return {trouble.code for trouble in result.troubles}


def test_counts_of_one_table_without_noise_are_named():
    exact = count_pairs(people(epochs=3))
    plan = plan_noise(measured_blocks(3, 30, 3), 1.0, 1e-9, discrete=False)
    noisy = noisy_counts(exact, plan, 1.0, 0)
    bare = add_noise(exact, dataclasses.replace(plan, sigma=(plan.sigma[0], plan.sigma[1] / 50)), 0)
    tables = {"within": noisy.tables["within"], "across": bare.tables["across"]}
    stats = from_counts(PairCounts(tables, 3, 30, 3), plan.statement((), 0))
    result = release.noise_fit(stats)
    assert result.fits is False
    # By the order of pairs, which is of this table alone, and by its counts near 0.
    assert len(result.troubles) == 2
    assert result.alike["orders"]["p"] < 1e-9 < result.alike["epochs"]["p"]
    assert [trouble.code for trouble in result.troubles] == ["alike-agree-too-well", "too-near-zero"]
    assert (result.troubles[0]["what"], result.troubles[1]["tables"]) == ("orders", ["across"])
    assert result.tables["across"]["p"] < 1e-9 < result.tables["within"]["p"]
    assert release.NoiseFit.from_json(result.to_json()) == result


def test_a_real_release_fits_and_one_under_a_foreign_statement_does_not():
    # Of 30 tokens, 3 in 100 releases leave a table too few empty pairs to show half of its noise; of 50, none does.
    sets = people(n_tokens=50)
    honest = release.statistics(sets, 1.0, 1e-9)
    result = release.noise_fit(honest)
    assert result.fits
    assert result.ratio == pytest.approx(1.0, abs=5 / np.sqrt(2 * result.n_sums))
    assert (result.notes[0].code, result.notes[0]["error"]) == ("noise-test-error", 0.0001)
    generous = release.statistics(sets, 1e3, 1e-9)
    forged = release.noise_fit(dataclasses.replace(generous, statement=honest.statement))
    assert forged.fits is False
    assert codes(forged) >= {"sums-agree-too-well", "too-near-zero"}
    # The other way round nobody is harmed, but the statement is not of these counts.
    other = release.statistics(sets, 5.0, 1e-9)
    assert "sums-differ-too-much" in codes(release.noise_fit(dataclasses.replace(honest, statement=other.statement)))


def test_statistics_that_are_not_of_the_counts_are_found():
    """Noisy counts beside exact statistics would hide what is published."""
    sets = people(n=40_000)
    honest, exact = release.statistics(sets, 1.0, 1e-9), release.exact_statistics(sets)
    for changed, code in (
        ({"across": exact.across}, "statistics-not-of-counts"),
        ({"within": exact.within}, "statistics-not-of-counts"),
        ({"n_users": 40_000.0}, "users-not-of-counts"),
    ):
        result = release.noise_fit(dataclasses.replace(honest, **changed))
        assert result.fits is False
        assert len(result.troubles) == 1
        assert codes(result) == {code}


def test_noise_of_another_kind_is_found():
    sets = people()
    real, tried = release.statistics(sets, 1.0, 1e-9), release.statistics(sets, 1.0, 1e-9, simulation=True, seed=0)
    for stats, other, code in ((real, tried, "counts-whole"), (tried, real, "counts-not-whole")):
        assert code in codes(release.noise_fit(dataclasses.replace(stats, statement=other.statement)))


def test_what_cannot_be_examined_is_said():
    sets = people(n_tokens=12, k=1)
    stats = release.statistics(sets, 1.0, 1e-6, simulation=True, seed=0)
    for changed, why in (
        ({"counts": None}, "counts-missing"),
        ({"counts": None, "n_epochs": None}, "no-counts"),
        ({"statement": release.PUBLISHED}, "noise-not-stated"),
        (
            {"statement": dataclasses.replace(stats.statement, sigma={"f12": 0.2}, simulation=False)},
            "noise-below-one-count",
        ),
    ):
        result = release.noise_fit(dataclasses.replace(stats, **changed))
        assert result.fits is None
        assert result.why.code == why
    common = TopSets([[[i % 4], [j % 4]] for i in range(4) for j in range(4)] * 5_000, n_tokens=4)
    large = release.noise_fit(release.statistics(common, 1.0, 1e-6, simulation=True, seed=0))
    assert large.fits is None
    assert large.why.code == "noise-does-not-show"
    with pytest.raises(ReidRiskError, match="no noise to examine"):
        release.noise_fit(release.exact_statistics(sets))
    with pytest.raises(ReidRiskError, match="error"):
        release.noise_fit(stats, error=0.0)
    extra = PairCounts(dict(stats.counts.tables) | {"f11": np.zeros((12, 12))}, 1, 12, 2)
    result = release.noise_fit(dataclasses.replace(stats, counts=extra))
    assert result.fits is False
    assert [(trouble.code, trouble["tables"]) for trouble in result.troubles] == [("counts-of-other-tables", ["f11"])]


def test_no_count_near_zero_is_no_evidence():
    assert near_zero(np.full(50, 1e6), 10.0, True, 0.01)[0]["p"] == 1.0
    assert near_zero(np.zeros(50), 10.0, True, 0.01)[0]["p"] < 1e-9


def answers(exact, plan, share, seeds, monkeypatch, table=None):
    """Return how often counts do not fit, were not examined, and fit."""
    monkeypatch.setattr(validate_noise, "_not_of_the_counts", lambda statistics: [])
    statement, n = plan.statement((), 0), exact.n_tokens
    empty = release.Statistics(np.zeros(n), np.zeros((n, n)), np.zeros((n, n)), exact.k, statement)
    made = (dataclasses.replace(empty, counts=noisy_counts(exact, plan, share, seed, table)) for seed in seeds)
    told = [release.noise_fit(stats).fits for stats in made]
    return [sum(fits is answer for fits in told) for answer in (False, None, True)]


def test_totals_of_more_than_two_epochs_leave_exactly_the_stated_variance():
    plan = plan_noise(measured_blocks(4, 12, 4), 1.0, 1e-9, discrete=False)
    sigma = dict(zip(("within", "across"), plan.sigma, strict=True))
    exact = count_pairs(people(500, 12, 4, epochs=4, skew=0.3))
    totals = differing_sums(exact, sigma)["all"]
    assert (totals.n, totals.square) == (1, 0.0)
    every = (differing_sums(noisy_counts(exact, plan, 1.0, seed), sigma)["all"] for seed in range(4_000))
    squares = np.array([one.square for one in every])
    assert squares.mean() == pytest.approx(1, abs=5 * np.sqrt(2 / 4_000))
    assert np.mean(squares > 3.8415) == pytest.approx(0.05, abs=5 * np.sqrt(0.0475 / 4_000))


def test_alike_counts_of_people_who_never_change_leave_exactly_the_stated_variance():
    """Nobody adds to the squares then, which are those of the noise: both statistics, and independent."""
    plan = plan_noise(measured_blocks(4, 12, 4), 1.0, 1e-9, discrete=False)
    sigma = dict(zip(("within", "across"), plan.sigma, strict=True))
    exact = count_pairs(TopSets(np.repeat(people(500, 12, 4).tokens[:, :1], 4, axis=1), 12))
    assert {name: (found.n, found.square) for name, found in alike_sums(exact, sigma).items()} == {
        "orders": (66, 0.0),
        "epochs": (11, pytest.approx(0.0, abs=1e-12)),
    }
    every = [alike_sums(noisy_counts(exact, plan, 1.0, seed), sigma) for seed in range(4_000)]
    squares = np.array([[found[name].square for name in ("orders", "epochs")] for found in every])
    for number, column in zip((66, 11), squares.T, strict=True):
        assert column.mean() == pytest.approx(number, abs=5 * np.sqrt(2 * number / 4_000))
        assert column.var() == pytest.approx(2 * number, rel=0.15)
    assert abs(np.corrcoef(squares.T)[0, 1]) < 5 / np.sqrt(4_000)


MORE = {
    "few users": {"n": 10_000, "n_tokens": 20},
    "some users": {"n": 20_000, "n_tokens": 30},
    "many users": {"n": 50_000, "n_tokens": 30},
    "large sets": {"n": 50_000, "n_tokens": 60, "k": 5},
}


@pytest.mark.parametrize("case", MORE)
def test_half_of_the_noise_over_more_than_two_epochs_is_found(case, monkeypatch):
    """None of it was: few pairs are had by nobody, and counts near 0 were all that was looked at."""
    exact = count_pairs(people(**MORE[case], epochs=4, skew=0.8))
    plan = plan_noise(measured_blocks(exact.k, exact.n_tokens, 4), 1.0, 1e-9)
    # The table within has no means of its own here: less noise in all is found, but none of it is called a fit.
    assert answers(exact, plan, 1.0, range(20), monkeypatch) == [0, 20, 0]
    assert answers(exact, plan, 0.5, range(20), monkeypatch)[0] >= 19


@pytest.mark.parametrize("n_tokens", [8, 20])
def test_large_counts_without_noise_are_found_and_what_shows_nothing_does_not_fit(n_tokens, monkeypatch):
    exact = count_pairs(people(n=100_000, n_tokens=n_tokens, epochs=4, skew=0.3))
    plan = plan_noise(measured_blocks(3, n_tokens, 4), 1.0, 1e-9)
    assert answers(exact, plan, 1e-6, range(5), monkeypatch) == [5, 0, 0]
    # People change more from week to week than the noise does: neither all of it nor half of it is called a fit.
    assert answers(exact, plan, 1.0, range(20), monkeypatch) == [0, 20, 0]
    assert answers(exact, plan, 0.5, range(20), monkeypatch)[2] == 0


def test_near_empty_counts_that_are_not_empty_show_nothing(monkeypatch):
    """Half of the noise on small counts looks like all of it on none: that is no fit."""
    exact = count_pairs(people(n=50_000, k=1, skew=1.2))
    plan = plan_noise(measured_blocks(1, 30, 2), 1.0, 1e-9)
    for share in (1.0, 0.5):
        assert answers(exact, plan, share, range(20), monkeypatch)[2] == 0


def test_tables_that_sets_of_one_do_not_have_are_no_bug():
    stats = release.statistics(people(k=2, epochs=3), 1.0, 1e-6, simulation=True, seed=0)
    damaged = PairCounts(stats.counts.tables, 1, 30, 3)
    assert release.noise_fit(dataclasses.replace(stats, counts=damaged)).fits is False


# Epochs, tokens, size of a set, people: popular pairs alone, so that nothing of a table is near 0.
LARGE = [(2, 30, 2, 60_000), (2, 30, 3, 60_000), (2, 30, 5, 60_000), (2, 60, 3, 100_000), (4, 30, 3, 60_000)]


@pytest.mark.parametrize("shape", LARGE)
def test_one_table_with_too_little_noise_is_never_called_a_fit(shape, monkeypatch):
    """Sums of all tables were pooled, and one table that showed its noise stood for those that did not."""
    epochs, n_tokens, k, n = shape
    exact = count_pairs(people(n, n_tokens, k, epochs, skew=0.2))
    plan = plan_noise(measured_blocks(k, n_tokens, epochs), 1.0, 1e-9)
    assert answers(exact, plan, 1.0, range(10), monkeypatch)[0] == 0
    for block in plan.blocks:
        for share in (0.0, 0.02, 0.5):
            assert answers(exact, plan, share, range(10), monkeypatch, block.name)[2] == 0


@pytest.mark.parametrize("epochs", [2, 4])
def test_where_every_table_can_be_examined_too_little_noise_in_one_of_them_is_found(epochs, monkeypatch):
    exact = count_pairs(people(4_000, 60, epochs=epochs))
    plan = plan_noise(measured_blocks(3, 60, epochs), 1.0, 1e-9)
    assert answers(exact, plan, 1.0, range(20), monkeypatch) == [0, 0, 20]
    for block in plan.blocks:
        for share in (0.0, 0.5):
            assert answers(exact, plan, share, range(20), monkeypatch, block.name) == [20, 0, 0]


def test_the_tables_that_were_not_examined_are_named():
    stats = release.statistics(people(20_000, 30, 3, 4, skew=0.8), 1.0, 1e-9, simulation=True, seed=0)
    result = release.noise_fit(stats)
    assert result.fits is None
    assert (result.why.code, result.why["tables"]) == ("noise-does-not-show", ["within"])
    assert result.tables["within"]["power"] < 0.5 <= result.tables["across"]["power"]
    assert result.tables["across"]["by"] == "orders"
    assert release.NoiseFit.from_json(result.to_json()) == result


def test_differences_of_two_tables_clear_neither_of_them_alone():
    both = Differences(1_000, 1_000.0, {"f11": 0.7, "f12": 0.3})
    alone = Differences(1_000, 1_000.0, {"f12": 1.0})
    blind = {"f11": 0.0, "f12": 0.0}
    assert power_of_tables(blind, {"f11": both}, {}, 1e-5) == {"f11": (0.0, "near"), "f12": (0.0, "near")}
    found = power_of_tables(blind, {"f11": both}, {"orders": alone}, 1e-5)
    assert {name: by for name, (_, by) in found.items()} == {"f11": "f11", "f12": "orders"}
    assert min(power for power, _ in found.values()) > 0.99


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_the_probability_to_find_half_of_the_noise_of_one_table_is_right(share):
    n_tokens, k, level = 40, 3, 0.001
    plan = plan_noise(measured_blocks(k, n_tokens, 2), 1.0, 1e-9, discrete=False)
    sigma = dict(zip(("f11", "f22", "f12"), plan.sigma, strict=True))
    exact = count_pairs(people(500, n_tokens, k))
    each = [differing_sums(noisy_counts(exact, plan, share, seed, "f11"), sigma)["f11"] for seed in range(2_000)]
    power = finds_less(each[0], level, 1.0 - (1.0 - share**2) * each[0].shares["f11"], 0.0)
    assert 0.1 < power < 0.99
    assert np.mean([spread(one, level)["p_low"] <= level for one in each]) == pytest.approx(power, abs=0.05)
