import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Traces, attacks, measure
from reidrisk.base.errors import OptionError, TruthError
from reidrisk.base.notes import Note


def tables(seed, n=60, r=3, n_tokens=4):
    rng = np.random.default_rng(seed)
    targets = rng.integers(0, n_tokens, (n, r))
    queries = np.where(rng.random((n, r)) < 0.6, targets, rng.integers(0, n_tokens, (n, r)))
    return targets, queries


def test_four_users_by_hand():
    """One unique match, one pair that ties, one query whose user is no target."""
    targets = Traces([[1, 2], [3, 4], [3, 4], [0, 0]], n_tokens=5, users=["a", "b", "c", "d"])
    queries = Traces([[1, 2], [3, 4], [3, 4], [1, 2]], n_tokens=5, users=["a", "b", "c", "x"])
    risk = measure.random_user(attacks.Hamming(), targets, queries)
    assert risk.per_user.tolist() == [1.0, 0.5, 0.5, 0.0]
    assert risk.rate == 0.5
    assert risk.incorrect == 0.5
    assert risk.abstained == 0.0
    assert risk.baseline == pytest.approx(0.75 / 4)
    assert risk.everyone
    assert Note("strangers-scored", n=1) in risk.notes


def test_the_tie_aware_rate_is_the_mean_over_random_tie_breaks():
    targets, queries = tables(1)
    risk = measure.random_user(attacks.Hamming(), Traces(targets, 4), Traces(queries, 4))
    same = (queries[:, None, :] == targets[None, :, :]).sum(axis=2)
    rng = np.random.default_rng(0)
    noisy = same[None] + rng.random((4000, 1, 60)) * 0.5  # a random order of the targets breaks ties
    hits = (noisy.argmax(axis=2) == np.arange(60)).mean()
    assert risk.rate == pytest.approx(hits, abs=0.01)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**20))
def test_permuting_users_changes_nothing(seed):
    targets, queries = tables(seed)
    users = np.arange(60)
    rng = np.random.default_rng(seed)
    p, q = rng.permutation(60), rng.permutation(60)
    attack = attacks.WeightedHamming(top_k=2, noise=0.1)
    one = measure.random_user(attack, Traces(targets, 4, users), Traces(queries, 4, users))
    two = measure.random_user(attack, Traces(targets[p], 4, users[p]), Traces(queries[q], 4, users[q]))
    assert one.rate == pytest.approx(two.rate, abs=1e-12)
    assert (one.low, one.high) == (two.low, two.high)
    assert np.array_equal(one.per_user[q], two.per_user)


def test_a_distractor_can_only_hurt_the_attacker():
    targets, queries = tables(2)
    users = np.arange(60)
    alone = measure.random_user(attacks.Hamming(), Traces(targets, 4, users), Traces(queries, 4, users))
    more = np.vstack([targets, targets])
    crowd = measure.random_user(attacks.Hamming(), Traces(more, 4, np.arange(120)), Traces(queries, 4, users))
    assert crowd.rate == pytest.approx(alone.rate / 2)
    assert crowd.baseline == 1 / 120


def test_sample_chooses_queries_by_seed_and_never_targets():
    targets, queries = tables(3)
    a, b = Traces(targets, 4), Traces(queries, 4)
    one, two, three = (measure.random_user(attacks.Hamming(), a, b, sample=20, seed=s) for s in (5, 5, 6))
    assert np.array_equal(one.per_user, two.per_user)
    assert not np.array_equal(one.per_user, three.per_user)
    assert (one.n_queries, one.n_targets, one.everyone, one.seed) == (20, 60, False, 5)
    drawn = measure.random_user(attacks.Hamming(), a, b, sample=20)
    assert drawn.seed is not None
    again = measure.random_user(attacks.Hamming(), a, b, sample=20, seed=drawn.seed)
    assert np.array_equal(drawn.per_user, again.per_user)
    everyone = measure.random_user(attacks.Hamming(), a, b, sample=60)
    assert everyone.everyone


def test_the_sample_is_unbiased():
    targets, queries = tables(4)
    a, b = Traces(targets, 4), Traces(queries, 4)
    whole = measure.random_user(attacks.Hamming(), a, b).rate
    rates = [measure.random_user(attacks.Hamming(), a, b, sample=20, seed=s).rate for s in range(300)]
    assert np.mean(rates) == pytest.approx(whole, abs=0.015)


def test_no_better_than_chance_is_an_answer():
    rng = np.random.default_rng(5)
    a, b = (Traces(rng.integers(0, 50, (300, 2)), 50) for _ in range(2))
    risk = measure.random_user(attacks.Hamming(), a, b)
    assert risk.low <= risk.baseline <= risk.high


def test_given_pairs_win_over_ids():
    a = Traces([[1], [2]], 3, users=["x", "y"])
    b = Traces([[1], [2]], 3, users=["p", "q"])
    risk = measure.random_user(attacks.Hamming(), a, b, truth=[0, 1])
    assert risk.rate == 1.0
    assert risk.notes[0] == Note("truth", origin="given")


def test_row_numbers_count_only_where_nobody_is_named_and_the_result_says_so():
    a = Traces([[1], [2]], 3)
    assert measure.random_user(attacks.Hamming(), a, a).notes[0]["origin"] == "rows"


NAMED = Traces([[1], [2]], 3, users=["x", "y"])


@pytest.mark.parametrize(
    ("targets", "queries", "truth", "message"),
    [
        (NAMED, Traces([[1]], 3, users=["z"]), None, "no user is in both tables"),
        (NAMED, Traces([[1], [2]], 3), None, "only the targets name their users"),
        (Traces([[1]], 3), Traces([[1], [2]], 3), None, "differ in length"),
        (NAMED, NAMED, [0], "one target row for each of the 2 queries"),
        (NAMED, NAMED, [0, 7], "truth of query 1 is target 7"),
        (NAMED, NAMED, [-1, -1], "no query has a target"),
    ],
)
def test_no_truth_no_rate(targets, queries, truth, message):
    with pytest.raises(TruthError, match=message):
        measure.random_user(attacks.Hamming(), targets, queries, truth=truth)


def test_paired_difference():
    targets, queries = tables(6)
    a, b = Traces(targets, 4), Traces(queries, 4)
    one = measure.random_user(attacks.WeightedHamming(2, 0.1), a, b)
    two = measure.random_user(attacks.Hamming(), a, b)
    gap = measure.difference(one, two)
    assert gap.difference == pytest.approx(one.rate - two.rate)
    assert gap.low <= gap.difference <= gap.high
    with pytest.raises(OptionError, match="same queries"):
        measure.difference(one, measure.random_user(attacks.Hamming(), a, b, sample=5, seed=0))
    with pytest.raises(OptionError, match="at least 1, not 0"):
        measure.random_user(attacks.Hamming(), a, b, sample=0)


def test_intervals_cover_the_rate_of_a_population():
    """Measure fresh draws of users like these; the interval of each should hold the mean over all draws."""
    risks = []
    for seed in range(200):
        targets, queries = tables(seed, n=80, n_tokens=6)
        risks.append(measure.random_user(attacks.Hamming(), Traces(targets, 6), Traces(queries, 6)))
    truth = np.mean([risk.rate for risk in risks])
    assert np.mean([risk.low <= truth <= risk.high for risk in risks]) >= 0.92


def test_a_curve_is_the_same_as_measuring_each_number_of_epochs():
    targets, queries = tables(7, r=4)
    a, b = Traces(targets, 4), Traces(queries, 4)
    found = measure.curve(attacks.Hamming(), a, b, epochs=(1, 3, 4), sample=30, seed=2)
    for r, risk in zip((1, 3, 4), found, strict=True):
        alone = measure.random_user(attacks.Hamming(), a.epochs(r), b.epochs(r), sample=30, seed=2)
        assert (risk.rate, risk.low, risk.high, risk.n_epochs) == (alone.rate, alone.low, alone.high, r)
        assert np.array_equal(risk.per_user, alone.per_user)
        assert risk.notes == alone.notes


def test_a_difference_names_what_differs():
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 50, (200, 4))
    a, b = Traces(tokens, 50), Traces(np.where(rng.random(tokens.shape) < 0.7, 0, tokens), 50)
    plain, protected = (measure.random_user(attacks.Hamming(), a, seen) for seen in (a, b))
    named = measure.difference(plain, protected, names=("plain", "protected"))
    assert (named.attack, named.other) == ("plain", "protected")
    assert named.low > 0
    back = measure.difference(protected, plain, names=("protected", "plain"))
    assert (back.difference, back.high) == (-named.difference, -named.low)
    same = measure.difference(protected, plain)
    assert (same.attack, same.other, same.high < 0) == ("Hamming", "Hamming", True)
    with pytest.raises(OptionError, match="two different ones"):
        measure.difference(plain, protected, names=("plain", "plain"))
