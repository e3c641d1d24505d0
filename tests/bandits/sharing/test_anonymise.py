"""What is shared has noise of the stated variance, the stated rank and group sizes, in any order of users."""

import importlib
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import bandits
from reidrisk.bandits.sharing import grouping
from reidrisk.bandits.sharing.anonymise import applied, finished, mean_sensitivity, started
from reidrisk.bandits.sharing.grouping import microaggregates, neighbours
from reidrisk.bandits.sharing.strategies import as_steps, parse
from reidrisk.base.errors import DataError, MissingExtraError, OptionError
from reidrisk.privacy import gaussian_sigma
from reidrisk_studies.galozy.clustered import clustered_users

USERS = clustered_users(24, n_states=7, n_clusters=4, seed=1)
RECORDS, PROFILES = USERS.records, USERS.profiles
STRATEGIES = [
    "own",
    "average",
    "neighbour:1",
    "neighbour:2",
    "clusters:4",
    "microaggregation:5",
    "svd:3",
    "clusters:4+svd:2",
]


@pytest.mark.parametrize("weights", ["inverse entropy", "uniform", "entropy"])
def test_noise_has_the_stated_variance_times_the_squared_weight(weights):
    step, w = bandits.Laplace(0.3, weights), bandits.cell_weights(RECORDS, weights)
    draws = [applied(started(RECORDS, 0, release), step, RECORDS, None) for release in range(400)]
    noise = np.stack([shared.records - RECORDS for shared in draws])
    informative = w > 0
    scaled = (noise / np.where(informative, w, 1.0))[..., informative]
    assert scaled.var() == pytest.approx(0.3, rel=0.02)
    assert abs(scaled.mean()) < 0.005
    assert np.mean(np.abs(scaled)) == pytest.approx(np.sqrt(0.3 / 2), rel=0.01), "Laplace: mean absolute value = scale"
    assert (noise[..., ~informative] == 0).all()
    assert draws[0].scale == pytest.approx(w * np.sqrt(0.15))


@pytest.mark.parametrize("rank", [1, 3, 7])
def test_truncation_gives_the_rank_and_the_best_approximation(rank):
    shared = applied(started(RECORDS, 0), bandits.TruncatedSVD(rank), RECORDS, None)
    assert np.linalg.matrix_rank(shared.records).max() <= rank
    lost = np.linalg.svd(RECORDS, compute_uv=False)[:, rank:]
    error = np.linalg.norm(shared.records - RECORDS, axis=(1, 2))
    assert error == pytest.approx(np.sqrt((lost**2).sum(axis=1)), abs=1e-12)


@pytest.mark.parametrize(
    "strategy",
    [
        *STRATEGIES,
        "clusters:4+laplace:0.1",
        "laplace:2+average",
        "private-clusters:4,1,1e-5",
        "private-clusters:4,1+laplace:0.1,uniform",
    ],
)
def test_what_is_shared_are_transition_matrices(strategy):
    shared = bandits.anonymise(RECORDS, strategy, PROFILES)
    assert (shared.records >= 0).all()
    assert shared.records.sum(axis=2) == pytest.approx(1.0)
    assert shared.name in (strategy, f"own+{strategy}") or strategy.startswith("private")


def test_a_factor_before_the_rows_are_divided_cancels():
    """The paper's L2 normalisation."""
    shared = applied(started(RECORDS, 0), bandits.Laplace(0.05), RECORDS, None)
    norm = np.linalg.norm(shared.records, axis=(1, 2), keepdims=True)
    scaled = applied(started(RECORDS, 0), bandits.Own(), RECORDS, None)
    object.__setattr__(scaled, "records", shared.records / norm)
    assert finished(scaled).records == pytest.approx(finished(shared).records)


def test_a_row_without_a_positive_cell_becomes_uniform():
    shared = started(np.array([[[-1.0, -2.0], [0.5, -1.0]]] * 2), 0)
    assert finished(shared).records[0].tolist() == [[0.5, 0.5], [1.0, 0.0]]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_order_of_users_does_not_matter(strategy):
    order = np.random.default_rng(5).permutation(len(RECORDS))
    plain = bandits.anonymise(RECORDS, strategy, PROFILES)
    moved = bandits.anonymise(RECORDS[order], strategy, PROFILES[order])
    assert moved.records == pytest.approx(plain.records[order], abs=1e-12)
    same = plain.groups[order][:, None] == plain.groups[order]
    assert np.array_equal(moved.groups[:, None] == moved.groups, same)
    assert np.array_equal(moved.sizes, plain.sizes[order])


def test_each_user_receives_what_the_strategy_says():
    nearest = bandits.anonymise(RECORDS, "neighbour:2", PROFILES)
    for i in range(len(RECORDS)):
        far = np.linalg.norm(PROFILES - PROFILES[i], axis=1)
        far[i] = np.inf
        assert nearest.source[i] == np.argsort(far)[1]
        assert nearest.records[i] == pytest.approx(RECORDS[nearest.source[i]])
    assert (nearest.sizes == 1).all()
    clustered = bandits.anonymise(RECORDS, "clusters:4", PROFILES)
    for i in range(len(RECORDS)):
        assert clustered.records[i] == pytest.approx(RECORDS[clustered.groups == clustered.groups[i]].mean(axis=0))
    assert len(set(clustered.groups.tolist())) == 4
    assert np.array_equal(clustered.source, clustered.groups)


def test_clusters_find_the_types_they_were_made_of():
    groups = bandits.anonymise(RECORDS, "clusters:4", PROFILES).groups
    pairs = Counter(zip(groups.tolist(), (np.arange(24) % 4).tolist(), strict=True))
    assert len(pairs) <= 6, "nearly one cluster a type"


def test_noise_is_each_users_own_and_each_releases_own():
    shared = bandits.anonymise(RECORDS, "average+laplace:0.01")
    assert len(np.unique(shared.records.reshape(24, -1), axis=0)) == 24
    other = bandits.anonymise(RECORDS, "average+laplace:0.01", release=1)
    assert not np.array_equal(other.records, shared.records)
    assert np.array_equal(bandits.anonymise(RECORDS, "average+laplace:0.01").records, shared.records)
    assert np.array_equal(bandits.anonymise(RECORDS, "laplace:0").records, bandits.anonymise(RECORDS, "own").records)


@given(st.integers(0, 10_000), st.integers(2, 60), st.integers(1, 20))
@settings(max_examples=80, deadline=None)
def test_every_microaggregate_has_at_least_k_users(seed, n, k):
    profiles = np.random.default_rng(seed).integers(5, size=(n, 3)).astype(float)
    if k > n:
        with pytest.raises(OptionError, match=f"groups of {k}"):
            microaggregates(profiles, k)
        return
    sizes = np.bincount(microaggregates(profiles, k))
    assert sizes.min() >= k
    assert sizes.max() <= max(2 * k - 1, k)


def test_the_private_mean_has_the_noise_its_epsilon_asks_for(monkeypatch):
    step = bandits.PrivateClusters(3, epsilon=2.0, delta=1e-4)
    exact = bandits.anonymise(RECORDS, "clusters:3", PROFILES)
    module = importlib.import_module("reidrisk.bandits.sharing.anonymise")
    monkeypatch.setattr(module, "clusters", lambda *_: exact.groups)  # the same ones, without 300 times t-SNE
    noise = [applied(started(RECORDS, 0, r), step, RECORDS, PROFILES).records - exact.records for r in range(300)]
    for group in range(3):
        first = int(np.flatnonzero(exact.groups == group)[0])
        wanted = gaussian_sigma(2.0, 1e-4, float(mean_sensitivity(7, (exact.groups == group).sum())))
        assert np.std([draw[first] for draw in noise]) == pytest.approx(wanted, rel=0.03)
    one = noise[0][exact.groups == 0]
    assert np.ptp(one, axis=0) == pytest.approx(0.0, abs=1e-12), "one release a cluster: its members receive the same"


def test_replacing_a_record_moves_a_mean_by_at_most_its_sensitivity():
    worst = np.zeros((2, 5, 5))
    worst[0, :, 0], worst[1, :, 1] = 1.0, 1.0
    assert np.linalg.norm((worst[0] - worst[1]) / 4) == pytest.approx(mean_sensitivity(5, 4))


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_the_entropy_of_a_cell_is_that_of_its_rounded_values(n):
    records = np.random.default_rng(n).dirichlet(np.ones(3), size=(n, 3)).round(1)
    records /= records.sum(axis=2, keepdims=True)
    entropy = bandits.cell_entropy(records, alpha=0.05)
    for i in range(3):
        for j in range(3):
            share = np.array(list(Counter(np.rint(records[:, i, j] / 0.05)).values())) / n
            assert entropy[i, j] == pytest.approx(-np.sum(share * np.log2(share)), abs=1e-12)
    w = bandits.cell_weights(records, alpha=0.05)
    assert np.array_equal(w == 0, entropy == 0)
    assert w[entropy > 0] == pytest.approx(1 / entropy[entropy > 0])


@pytest.mark.parametrize(
    "text", ["own", "average", "neighbour:2", "clusters:7+laplace:0.5", "own+svd:3+laplace:1e-06,entropy"]
)
def test_a_strategy_and_its_text_are_the_same(text):
    assert "+".join(map(str, parse(text))) == text
    assert as_steps(text) == parse(text)


@given(st.floats(0, 1e100, allow_subnormal=False))
def test_the_text_of_a_strategy_keeps_every_digit(variance):
    step = bandits.Laplace(variance)
    assert parse(str(step)) == as_steps(step)


@pytest.mark.parametrize(
    ("strategy", "error", "words"),
    [
        ("clusters:25", OptionError, "24 users, so no 25 clusters"),
        ("private-clusters:25,1", OptionError, "no 25 clusters"),
        ("microaggregation:25", OptionError, "groups of 25"),
        ("neighbour:24", OptionError, "no neighbour 24 among 24"),
        ("svd:8", OptionError, "at most 7"),
        ("laplace:-1", OptionError, "variance"),
        ("laplace:1e101", OptionError, "at most 1e\\+100, not 1e\\+101"),
        ("laplace:1.7e308", OptionError, "at most 1e\\+100"),
        ("private-clusters:3,1,1e-300", OptionError, "delta in \\[1e-30, 1\\)"),
        ("laplace:1,heavy", OptionError, "weights"),
        ("clusters:0", OptionError, "number of clusters"),
        ("clusters:x", OptionError, "cannot be read"),
        ("clusters", OptionError, "cannot be read"),
        ("average:3", OptionError, "has 1 value; average takes none"),
        ("average+clusters:3", OptionError, "choose one"),
        ("shuffle", OptionError, "no anonymisation step"),
        ("private-clusters:3,0", OptionError, "epsilon"),
        ("private-clusters:3,1+laplace:0.1", OptionError, "takes its weights from the records"),
        ("private-clusters:3,1+laplace:0.1,entropy", OptionError, "takes its weights from the records"),
        ("svd:2+private-clusters:3,1", OptionError, "voids its guarantee"),
        ("laplace:0.1,uniform+private-clusters:3,1", OptionError, "voids its guarantee"),
        (["average"], OptionError, "made of steps"),
    ],
)
def test_bad_strategies_are_refused_in_one_line(strategy, error, words):
    with pytest.raises(error, match=words) as caught:
        bandits.anonymise(RECORDS, strategy, PROFILES)
    assert "\n" not in str(caught.value)


def test_bad_records_and_profiles_are_refused():
    with pytest.raises(DataError, match="only 1 user"):
        bandits.anonymise(RECORDS[:1], "average")
    with pytest.raises(DataError, match="adds up to"):
        bandits.anonymise(RECORDS * 0.9, "average")
    with pytest.raises(DataError, match="give profiles="):
        bandits.anonymise(RECORDS, "clusters:3")
    with pytest.raises(DataError, match="each of the 24 users"):
        bandits.anonymise(RECORDS, "clusters:3", PROFILES[:3])
    with pytest.raises(DataError, match="not finite"):
        bandits.anonymise(RECORDS, "clusters:3", np.full((24, 1), np.nan))
    with pytest.raises(DataError, match="number 0 of the profile of user 2 is -1e\\+200; give it in a larger unit"):
        bandits.anonymise(RECORDS, "neighbour", np.where(np.arange(24)[:, None] == 2, -1e200, 1.0))


@pytest.mark.parametrize(
    "strategy",
    [
        "laplace:1e100",
        "laplace:1e100+svd:3",
        "laplace:1e100+average",
        "clusters:4+laplace:1e100,uniform",
        "private-clusters:4,1e-9,1e-30+laplace:1e100,uniform",
    ],
)
def test_the_most_noise_that_is_taken_works(strategy):
    shared = bandits.anonymise(RECORDS, strategy, PROFILES)
    assert shared.records.sum(axis=2) == pytest.approx(1.0)
    assert np.isfinite(shared.scale**2 * bandits.cell_entropy(RECORDS) ** 2).all(), "attackers square the scale"
    assert 0 <= bandits.ads(RECORDS, shared) <= 1


@pytest.mark.parametrize("alpha", [1e-320, 1e-16, float("inf")])
def test_no_rounding_step_beyond_floating_point(alpha):
    with pytest.raises(OptionError, match="alpha must be finite and at least 1e-15"):
        bandits.cell_entropy(RECORDS, alpha)


def test_weights_beyond_floating_point_are_refused():
    for bad in (-1.0, 1e101, np.nan):
        with pytest.raises(DataError, match=r"the weight of cell \(0, 2\) is .*at most 1e\+100"):
            bandits.cell_weights(RECORDS, np.where(np.arange(7) == 2, bad, np.ones((7, 7))))


@pytest.mark.parametrize("module", ["sklearn.manifold", "sklearn.cluster"])
def test_a_missing_library_is_one_sentence_with_the_install_command(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[bandits\]"'):
        bandits.anonymise(RECORDS, "clusters:3", PROFILES)
    assert len(bandits.anonymise(RECORDS, "microaggregation:3+laplace:1", PROFILES).records) == 24, "the rest works"


def test_two_users_with_profiles_of_one_number_are_apart():
    """The missing coordinate is 0 for both, not the other user's number."""
    from reidrisk.bandits.sharing.grouping import embedding

    assert embedding(np.array([[1.0], [5.0]])).tolist() == [[1.0, 0.0], [5.0, 0.0]]


@pytest.mark.parametrize("sigma", [0.0, 1e-200, 1e200, float("nan"), float("inf")])
def test_rewards_beyond_floating_point_are_refused(sigma):
    with pytest.raises(OptionError, match="sigma must be a number above 0"):
        bandits.LatentBandit(RECORDS, bandits.hard_rewards(7), sigma)


@pytest.mark.parametrize("order", [1, 2, 5, 29])
@pytest.mark.parametrize("cells", [1, 64, 1 << 19])
def test_neighbours_in_blocks_are_those_of_the_whole_table(monkeypatch, order, cells):
    """Profiles on a coarse grid have many ties: among equals the lower row comes first."""
    profiles = np.random.default_rng(order).integers(0, 3, (30, 2)).astype(float)
    table = ((profiles[:, None] - profiles) ** 2).sum(axis=2)
    np.fill_diagonal(table, np.inf)
    monkeypatch.setattr(grouping, "BLOCK_CELLS", cells)
    monkeypatch.setattr(grouping, "_FEW", 4)  # by passes, and by sorting
    assert np.array_equal(neighbours(profiles, order), np.argsort(table, axis=1, kind="stable")[:, order - 1])


def test_ads_in_blocks_is_that_of_the_whole_table(monkeypatch):
    shared = bandits.anonymise(RECORDS, "laplace:1e-7")
    w = bandits.cell_weights(RECORDS)
    among = np.linalg.norm(w * (RECORDS[:, None] - RECORDS), axis=(2, 3)) + np.diag([np.inf] * len(RECORDS))
    given = np.linalg.norm(w * (RECORDS[:, None] - shared.records), axis=(2, 3))
    expected = np.mean(given.min(axis=1) < among.min(axis=1))
    assert 0 < expected < 1
    for cells in (1, 64, 1 << 19):
        monkeypatch.setattr("reidrisk.bandits.linkage.measure.BLOCK_CELLS", cells)
        assert bandits.ads(RECORDS, shared) == expected
