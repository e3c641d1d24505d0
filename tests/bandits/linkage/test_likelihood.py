"""The attacker who knows the mechanism: closed forms, its twin, and no more found where more is hidden."""

import bandit_twins as twins
import numpy as np
import pytest

from reidrisk import bandits
from reidrisk.bandits.linkage import likelihood
from reidrisk.bandits.linkage.likelihood import model_of
from reidrisk.bandits.linkage.measure import auxiliary
from reidrisk.bandits.sharing.anonymise import Shared
from reidrisk.bandits.sharing.strategies import Laplace, Own
from reidrisk.base.intervals import difference_interval
from reidrisk.search import GRID
from reidrisk_studies.galozy.clustered import clustered_users

USERS = clustered_users(30, n_states=12, n_clusters=5, seed=3)


def _shared(records, scale):
    """Records as they were handed out, with noise of these scales."""
    everyone = np.arange(len(records))
    return Shared(np.asarray(records), everyone, everyone, (Own(), Laplace(1.0)), np.asarray(scale))


def _found(users, strategy, n_aux, releases=4):
    """Share of attacks that find each user, over several draws of the noise."""
    each = []
    for release in range(releases):
        shared = bandits.anonymise(users.records, strategy, users.profiles, release=release)
        each.append(bandits.deanonymisation(users.records, shared, n_aux, attack="likelihood").per_user)
    return np.mean(each, axis=0)


@pytest.mark.parametrize(
    "strategy",
    [
        "own",
        "laplace:1e-3",
        "laplace:3",
        "clusters:6",
        "clusters:24+laplace:0.01",
        "laplace:1e-4+average",
        "svd:3",
        "neighbour:1",
    ],
)
def test_the_likelihood_kernel_scores_as_its_twin(strategy):
    shared = bandits.anonymise(USERS.records, strategy, USERS.profiles)
    known = auxiliary(USERS.records, 25, draws=1)
    fast = likelihood.likelihood_scores(shared, known.cells, known.values)
    slow = twins.likelihood_scores(shared, known.cells, known.values)
    assert np.array_equal(fast, slow)
    assert np.array_equal(likelihood.likelihood_scores(shared, known.cells, known.values, threads=1), fast)


def test_without_protection_the_likelihood_attack_finds_everyone():
    shared = bandits.anonymise(USERS.records, "own")
    assert bandits.deanonymisation(USERS.records, shared, 60, attack="likelihood").rate == 1.0


@pytest.mark.parametrize("strategy", ["clusters:24", "microaggregation:2", "average"])
def test_the_likelihood_attack_has_no_jump_where_noise_vanishes(strategy):
    """Noise that nobody could see leaves the limits of averages, and so the rate, as they are without it."""
    rates = []
    for noise in ("", "+laplace:1e-24,uniform", "+laplace:1e-20,uniform"):
        shared = bandits.anonymise(USERS.records, strategy + noise, USERS.profiles, seed=1)
        rates.append(bandits.deanonymisation(USERS.records, shared, n_aux=40, attack="likelihood").rate)
    assert rates[1:] == pytest.approx([rates[0]] * 2, abs=0.02)


def test_the_full_rank_is_no_truncation():
    plain, full = (
        bandits.anonymise(USERS.records, s, USERS.profiles, seed=1) for s in ("clusters:9", "clusters:9+svd:12")
    )
    known = auxiliary(USERS.records, 20, draws=1)
    assert np.array_equal(
        likelihood.likelihood_scores(plain, known.cells, known.values),
        likelihood.likelihood_scores(full, known.cells, known.values),
    )


def test_records_of_single_precision_are_found_as_those_of_double_precision():
    rough = USERS.records.astype(np.float32)
    shared = bandits.anonymise(rough, "own")
    assert bandits.deanonymisation(rough, shared, n_aux=40, attack="likelihood").rate == 1.0
    assert (
        np.abs(bandits.Behaviour(rough, USERS.profiles, USERS.users, USERS.states, "").records.sum(2) - 1).max() < 1e-12
    )


@pytest.mark.parametrize("variance", [1e-30, 1e-300, 1e6])
def test_scores_of_extreme_noise_stay_within_64_bits(variance):
    shared = bandits.anonymise(USERS.records, bandits.Laplace(variance), seed=2)
    known = auxiliary(USERS.records, 91, draws=1)
    scores = likelihood.likelihood_scores(shared, known.cells, known.values)
    assert np.abs(scores).max() < 2**50
    assert np.array_equal(scores, twins.likelihood_scores(shared, known.cells, known.values))
    if variance < 1e-20:
        assert (scores.argmax(axis=1) == known.user).all()


def test_a_cell_without_noise_tells_the_sum_of_its_row():
    """Two states, noise of scale b in one cell alone: the other one, x = 0.4, tells the sum, S = x / r'.

    S is Laplace about 1, and the noisy cell S r' is Laplace about its true value, as if nothing had been divided. The
    two records are far apart, so each is half of the kernel estimates of how common its values are.
    """
    b, noisy = 0.01, 0.613
    row = np.array([noisy, 0.4]) / (noisy + 0.4)
    records = np.array([[row, [0.5, 0.5]], [[0.3, 0.7], [0.5, 0.5]]])
    shared = _shared(records, [[b, 0.0], [0.0, 0.0]])
    right, wrong = likelihood.likelihood_scores(shared, np.array([[0, 1]]), np.array([[0.6, 0.4]]))[0] / GRID
    total = noisy + 0.4
    width = b * np.hypot(1.0, (row[0] + 0.3) / 2)  # of the middle record
    expected = (np.log(2.0) - np.log(total) / b) + (np.log(total) - 0.013 / b + np.log(2.0 * width / b))
    assert right == pytest.approx(expected, abs=1e-3)
    assert wrong < -29.0


def test_zeros_without_noise_stay_zeros_whatever_the_noise_elsewhere():
    """The sum of the row is unknown, but 0 divided by it is 0: one such cell tells two people apart."""
    users = np.array([[[0.5, 0.4997, 0.0003], [1, 0, 0], [0, 0, 1]], [[0.5, 0.5, 0.0], [1, 0, 0], [0, 0, 1]]])
    scale = np.array([[5.0, 5.0, 0.0], [0, 0, 0], [0, 0, 0]])
    lots = np.random.default_rng(0).laplace(size=(2, 3, 3))
    noisy = np.maximum(users + scale * lots, 0.0)
    shared = _shared(noisy / noisy.sum(axis=2, keepdims=True), scale)
    score = likelihood.likelihood_scores(shared, np.array([[2], [2]]), users[:, 0, 2:])
    assert score.argmax(axis=1).tolist() == [0, 1]


def test_a_row_that_noise_emptied_contradicts_nobody():
    """Such a row is handed out as uniform: its cells say nothing of the zeros in the true row."""
    users = np.array([[[0.4, 0.6, 0.0], [1, 0, 0], [0, 0.1, 0.9]], [[0.4, 0.6, 0.0], [1, 0, 0], [0, 0.9, 0.1]]])
    given = users.copy()
    given[0, 0] = 1 / 3
    shared = _shared(given, [[5.0, 5.0, 0.0], [0, 0, 0], [0, 0, 0]])
    score = likelihood.likelihood_scores(shared, np.array([[2, 7]]), np.array([[0.0, 0.1]]))
    assert score[0, 0] > score[0, 1]


@pytest.mark.parametrize("variance", ["1e-6", "1e-4", "1e-3"])
@pytest.mark.parametrize("weights", ["inverse entropy", "uniform"])
def test_averaging_does_not_help_the_attacker(variance, weights):
    users = clustered_users(30, n_states=12, n_clusters=6)
    noise = f"laplace:{variance},{weights}"
    own, averaged = (_found(users, f"{whose}+{noise}", 40) for whose in ("own", "clusters:24"))
    assert averaged.mean() < own.mean() + 0.02


def test_weights_of_zero_leave_a_fingerprint_that_uniform_noise_covers():
    """Where all values of a cell round to one number, 1/H gives it no noise; its true values still differ."""
    users = clustered_users(30, n_states=12, n_clusters=6)
    weights = bandits.cell_weights(users.records)
    bare = weights == 0
    assert 0 < bare.mean() < 0.2
    assert len(np.unique(users.records[:, bare].round(9), axis=0)) > 20
    holes, covered = (_found(users, f"own+laplace:0.1,{w}", 40) for w in ("inverse entropy", "uniform"))
    low, _ = difference_interval(holes, covered)
    assert low > 0.2


def test_a_record_that_two_people_receive_is_still_one_persons():
    """Whose record it is counts, not how many receive it: two thirds of all have the same nearest neighbour."""
    profiles = np.array([[0.0], [1.0], [-1.1]])
    users = clustered_users(3, n_states=12, n_clusters=3)
    shared = bandits.anonymise(users.records, "neighbour:1+laplace:1e-4", profiles)
    assert shared.source.tolist() == [1, 0, 0]
    known = auxiliary(users.records, 40, draws=1)
    model = model_of(shared, known.cells, known.values)
    assert model.targets.single.all()
    assert model.targets.behind.tolist() == [1, 1, 1]


def test_the_rows_of_missing_states_are_no_emptied_rows_where_noise_is_lost_in_rounding():
    records = np.array([[[0.25] * 4, [0.1, 0.2, 0.3, 0.4]] * 2, [[0.4, 0.3, 0.2, 0.1], [0.25] * 4] * 2])
    for variance in (0.0, 1e-30, 1e-20):
        shared = bandits.anonymise(records, f"laplace:{variance!r},uniform")
        assert bandits.deanonymisation(records, shared, 4, attack="likelihood").rate == 1.0


def test_the_sum_of_a_row_has_the_moments_of_its_cells():
    """Mean and spread of sum_i max(x_i + b_i Z_i, 0), against ten thousand draws."""
    scale = np.array([[0.3, 0.02, 0.5], [0.1, 0.1, 0.1], [0.0, 0.0, 2.0]])
    x = np.array([[0.1, 0.7, 0.2], [0.0, 0.0, 1.0], [0.5, 0.25, 0.25]])
    lots = np.random.default_rng(0).laplace(size=(10_000, 3, 3))
    sums = np.maximum(x + scale * lots, 0.0).sum(axis=2)
    shared = _shared(np.stack([x, x]), scale)
    known = model_of(shared, np.arange(9)[None], x.reshape(1, 9)).known
    assert known.total[0, ::3] == pytest.approx(sums.mean(axis=0), rel=0.03)
    assert known.unsure[0, ::3] * np.sqrt(2) == pytest.approx(sums.std(axis=0), rel=0.05)


def test_limits_of_averages_are_not_for_private_ones():
    """Noise of private clusters is larger in small ones than its mean: limits that use the mean would be wrong."""
    shared = bandits.anonymise(USERS.records, "private-clusters:6,1.0", USERS.profiles)
    known = auxiliary(USERS.records, 10, draws=1)
    assert not model_of(shared, known.cells, known.values).limited
    averages = bandits.anonymise(USERS.records, "clusters:6", USERS.profiles)
    assert model_of(averages, known.cells, known.values).limited


def test_what_this_attacker_knows_is_said():
    shared = bandits.anonymise(USERS.records, "laplace:1e-4")
    plain, known = (
        bandits.deanonymisation(USERS.records, shared, 10, attack=name) for name in ("scoreboard", "likelihood")
    )
    assert [note.code for note in known.notes if note not in plain.notes] == ["mechanism-known"]
