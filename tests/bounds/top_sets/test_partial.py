import itertools
import math

import numpy as np
import pytest
from channel_strategies import quick
from hypothesis import given
from hypothesis import strategies as st

from reidrisk import Traces, bounds
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.streams import stream
from reidrisk.bounds.kernels import largest_shares
from reidrisk.bounds.top_sets.conditional_poisson import inclusion_probabilities, pair_inclusion


def all_sets(weights, k, sure=()):
    """Every k-set with its probability: the sure tokens, and others in proportion to the product of weights."""
    free = [o for o in range(len(weights)) if o not in sure and weights[o] > 0]
    sets = [(*sure, *rest) for rest in itertools.combinations(free, k - len(sure))]
    mass = np.array([math.prod(weights[o] for o in s if o not in sure) for s in sets])
    member = np.zeros((len(sets), len(weights)))
    for row, s in enumerate(sets):
        member[row, list(s)] = 1.0
    return member, mass / mass.sum()


@st.composite
def set_models(draw):
    n_tokens = draw(st.integers(1, 7))
    k = draw(st.integers(1, n_tokens))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = np.exp(draw(st.sampled_from([0.1, 1.0, 4.0])) * rng.normal(size=n_tokens))
    sure = tuple(range(draw(st.integers(0, k - 1)))) if k > 1 else ()
    impossible = n_tokens - draw(st.integers(0, n_tokens - k))
    weights[impossible:] = 0.0
    return all_sets(weights, k, sure), k


@given(set_models())
@quick
def test_pairs_agree_with_the_enumeration_of_all_sets(model):
    (member, mass), k = model
    p = mass @ member
    x = pair_inclusion(inclusion_probabilities(np.minimum(p, 1.0), k), k)
    np.testing.assert_allclose(x, member.T @ (mass[:, None] * member), rtol=1e-9, atol=1e-11)


@given(set_models(), st.sampled_from([0.0, 0.05, 0.5, 1.0]))
@quick
def test_the_posterior_agrees_with_bayes_rule_over_all_sets(model, noise):
    (member, mass), k = model
    q_in, q_out = bounds.token_probabilities(member.shape[1], k, noise)
    answer = q_out + (q_in - q_out) * member  # (sets, tokens)
    joint = answer.T @ (mass[:, None] * answer)  # of the answers to two sites
    shown = joint.sum(axis=1)
    possible = shown > 1e-12
    Q = bounds.topics_posterior(np.minimum(mass @ member, 1.0), k, noise)
    np.testing.assert_allclose(Q[possible], joint[possible] / shown[possible, None], rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(Q.sum(axis=1), 1.0, atol=1e-10)


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30), st.integers(1, 8), st.sampled_from([0.0, 0.05, 1.0])
)  # fmt: skip
@quick
def test_rows_add_up_to_one_for_any_popularity(popularity, k, noise):
    if np.count_nonzero(popularity) < k:
        with pytest.raises((DataError, OptionError)):
            bounds.topics_posterior(popularity, k, noise)
        return
    p = inclusion_probabilities(popularity, k)
    assert p.sum() == pytest.approx(k)
    assert (p >= 0.0).all()
    assert (p <= 1.0).all()
    assert (p[np.asarray(popularity) == 0.0] == 0.0).all()
    Q = bounds.topics_posterior(popularity, k, noise)
    assert (Q >= 0.0).all()
    np.testing.assert_allclose(Q.sum(axis=1), 1.0, atol=1e-8)


def zipf(n_tokens=469, k=5):
    return inclusion_probabilities(1.0 / np.arange(1, n_tokens + 1) ** 0.9, k)


def test_the_size_of_the_real_api():
    p = zipf()
    Q = bounds.topics_posterior(p)
    np.testing.assert_allclose(Q.sum(axis=1), 1.0, atol=1e-11)
    q_in, q_out = bounds.token_probabilities(469)
    shown = q_out + (q_in - q_out) * p
    np.testing.assert_allclose(shown @ Q, shown, atol=1e-12)  # two sites see the same distribution
    joint = shown[:, None] * Q
    np.testing.assert_allclose(joint, joint.T, atol=1e-13)


def assumption_1(p, k, noise):
    """The rows of Theorem 1 with Lemma 11, for sets of k: P(o in S | w in S) = (k - 1) p_o / (k - p_o)."""
    q_in, q_out = bounds.token_probabilities(p.size, k, noise)
    held = np.tile((k - 1) * p / (k - p), (p.size, 1))
    np.fill_diagonal(held, q_in * p / (q_out + (q_in - q_out) * p))
    return q_out + (q_in - q_out) * held


def test_under_assumption_1_rows_do_not_add_up_to_one():
    equal = np.full(10, 0.5)
    np.testing.assert_allclose(assumption_1(equal, 5, 0.0).sum(axis=1), 1.0)
    for noise in (0.0, 0.05):
        sums = assumption_1(zipf(), 5, noise).sum(axis=1)
        assert sums.min() < 0.95
        assert sums.max() > 1.01


def test_exact_for_one_epoch():
    rng = np.random.default_rng(1)
    p = zipf(12, 3)
    tokens = rng.integers(-1, 12, size=(40, 1))
    Q = bounds.topics_posterior(p, 3, 0.1)
    q_in, q_out = bounds.token_probabilities(12, 3, 0.1)
    rows = np.vstack([Q, q_out + (q_in - q_out) * p])[tokens[:, 0]]
    bound = bounds.topics_partial_information(tokens, p, 3, 0.1)
    assert bound.value == bound.low == bound.high == pytest.approx(bounds.partial_information(rows))
    assert (bound.n_epochs, bound.baseline, bound.setting) == (1, 1 / 40, "random user")


@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("per_epoch", [False, True])
def test_several_epochs_agree_with_the_whole_matrix(noise, per_epoch):
    rng = np.random.default_rng(2)
    n, r, n_tokens, k = 30, 3, 6, 2
    p = np.stack([zipf(n_tokens, k), zipf(n_tokens, k)[::-1], np.full(n_tokens, k / n_tokens)])
    if not per_epoch:
        p = p[:1].repeat(r, axis=0)
    tokens = rng.integers(-1, n_tokens, size=(n, r))
    q_in, q_out = bounds.token_probabilities(n_tokens, k, noise)
    rows = np.ones((n, 1))
    for s in range(r):
        Q = np.vstack([bounds.topics_posterior(p[s], k, noise), q_out + (q_in - q_out) * p[s]])[tokens[:, s]]
        rows = (rows[:, :, None] * Q[:, None, :]).reshape(n, -1)
    exact = bounds.partial_information(rows)
    given = p if per_epoch else p[0]
    bound = bounds.topics_partial_information(tokens, given, k, noise, samples=4000, seed=3, level=0.999)
    assert bound.low <= exact <= bound.high
    assert bound.high - bound.low < 0.05


def test_the_interval_covers():
    rng = np.random.default_rng(4)
    p, tokens = zipf(8, 2), rng.integers(8, size=(25, 2))
    Q = bounds.topics_posterior(p, 2, 0.1)
    exact = bounds.partial_information((Q[tokens[:, 0]][:, :, None] * Q[tokens[:, 1]][:, None, :]).reshape(25, -1))
    hits = 0
    for seed in range(60):
        bound = bounds.topics_partial_information(tokens, p, 2, 0.1, samples=100, seed=seed, level=0.8)
        hits += bound.low <= exact <= bound.high
    assert hits >= 40  # 48 expected of 60


def test_the_same_seed_gives_the_same_on_any_number_of_threads():
    tokens = np.random.default_rng(0).integers(-1, 50, size=(3000, 4))
    results = {
        bounds.topics_partial_information(tokens, zipf(50), samples=100, seed=7, threads=threads).to_json()
        for threads in (1, 2, 5)
    }
    assert len(results) == 1
    other = bounds.topics_partial_information(Traces(tokens, 50), zipf(50), samples=100, seed=8).to_json()
    assert other not in results


def shares_in_numpy(tokens, counts, tables):
    """The NumPy twin of the compiled loop."""
    out = []
    for table in tables:
        logs = sum(table[s, tokens[:, s]] for s in range(tokens.shape[1]))
        likelihood = np.exp(logs - logs.max())
        out.append(1.0 / (counts @ likelihood))
    return np.array(out)


@given(st.integers(1, 700), st.integers(1, 12), st.integers(0, 2**32 - 1))
@quick
def test_the_kernel_agrees_with_its_twin(n, r, seed):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(9, size=(n, r)).astype(np.uint16)
    counts = rng.integers(1, 4, size=n).astype(np.float64)
    tables = np.log(rng.random((3, r, 9)))
    tables[rng.random(tables.shape) < 0.05] = -np.inf
    tables[:, :, tokens[0]] = -1.0  # somebody is possible
    out = np.empty(3)
    largest_shares(tokens, counts, tables, out)
    np.testing.assert_allclose(out, shares_in_numpy(tokens, counts, tables), rtol=1e-10)


def test_hundreds_of_epochs_do_not_underflow():
    tokens = np.random.default_rng(0).integers(20, size=(50, 300))
    bound = bounds.topics_partial_information(tokens, zipf(20), samples=50)
    assert 0.9 < bound.value <= 1.0


def test_more_epochs_never_help_less():
    tokens = np.random.default_rng(0).integers(30, size=(500, 4))
    values = [bounds.topics_partial_information(tokens[:, :r], zipf(30), samples=500) for r in (1, 2, 3, 4)]
    for fewer, more in itertools.pairwise(values):
        assert more.high >= fewer.low


def test_lemma_10_holds_as_often_as_it_says():
    n, n_tokens, k, noise, delta = 400, 12, 3, 0.1, 0.2
    error = bounds.popularity_error(n, n_tokens, k, noise, delta)
    q_in, q_out = bounds.token_probabilities(n_tokens, k, noise)
    p = zipf(n_tokens, k)
    shown = stream(0, "lemma 10").multinomial(n, q_out + (q_in - q_out) * p, size=2000) / n
    worst = np.abs((shown - q_out) / (q_in - q_out) - p).max(axis=1)
    assert (worst <= error).mean() >= 1 - delta
    assert error < 3 * np.quantile(worst, 1 - delta)  # and is not idle


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: bounds.topics_posterior([0.5, 1.5]), OptionError, "from 1 to 2 tokens, not 5"),
        (lambda: bounds.topics_posterior([0.5, 1.5], 1), DataError, r"the popularity of token 1 is 1.5"),
        (lambda: bounds.topics_posterior([0.5, math.nan], 1), DataError, r"the popularity of token 1 is nan"),
        (lambda: bounds.topics_posterior([1.0, 0.0], 2), DataError, "only 1 tokens are ever in a set, but sets have 2"),
        (lambda: bounds.topics_posterior([1.0, 1.0], 2, 1.1), OptionError, "noise is a probability from 0 to 1"),
        (lambda: bounds.topics_posterior([[1.0]], 1), DataError, r"shape \(1, 1\)"),
        (lambda: bounds.token_probabilities(3, 4), OptionError, "top_k must be a whole number from 1 to the 3 tokens"),
        (lambda: bounds.popularity_error(10, 5, noise=1.0), OptionError, "noise below 1"),
        (lambda: bounds.popularity_error(0, 5), OptionError, "n must be"),
        (lambda: bounds.popularity_error(10, 5, delta=0.0), OptionError, "delta must lie strictly between 0 and 1"),
        (lambda: bounds.topics_partial_information([[2]], [0.5, 0.5], 1), DataError, "row 0, epoch 0 holds token 2"),
        (
            lambda: bounds.topics_partial_information([[1, 1]], np.full((3, 2), 0.5), 1),
            DataError,
            r"popularity has shape \(3, 2\), but the traces have 2 epochs of 2 tokens",
        ),
        (
            lambda: bounds.topics_partial_information([[1, 1]], [0.5, 0.5], 1, samples=0),
            OptionError,
            "samples must be a whole number of at least 1, not 0",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
