"""The attacks find whom they should on data whose answer is known, and expectations are those of a simulation."""

import bandit_twins as twins
import numpy as np
import pytest

from reidrisk import attacks, bandits, measure
from reidrisk.attacks.scoreboard import Cells
from reidrisk.bandits.linkage.measure import auxiliary, credits
from reidrisk.bandits.sharing.anonymise import Shared
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.intervals import difference_interval
from reidrisk_studies.galozy.clustered import clustered_users

FOUR = np.array(
    [
        [[0.9, 0.1], [0.5, 0.5]],
        [[0.9, 0.1], [0.2, 0.8]],
        [[0.6, 0.4], [0.5, 0.5]],
        [[0.6, 0.4], [0.5, 0.5]],
    ]
)
USERS = clustered_users(30, n_states=12, n_clusters=5, seed=3)


def test_four_users_by_hand():
    """Knowing all cells: 0 and 1 are unique, 2 and 3 are the same, so each of these is found half the time."""
    own = bandits.anonymise(FOUR, "own")
    risk = bandits.deanonymisation(FOUR, own, n_aux=4, weights="uniform", draws=1)
    assert risk.per_user.tolist() == [1.0, 1.0, 0.5, 0.5]
    assert risk.rate == 0.75
    assert risk.baseline == 0.25
    assert risk.mean_ties == 1.5
    assert risk.incorrect == 0.25


def test_one_cell_by_hand():
    """Cell (0, 0) is 0.9 for two users, 0.6 for two; cell (1, 0) is 0.2 for user 1 alone and 0.5 for three."""
    own = bandits.anonymise(FOUR, "own")
    expected = {0: [1 / 2, 1 / 2, 1 / 2, 1 / 2], 2: [1 / 3, 1, 1 / 3, 1 / 3]}
    known = auxiliary(FOUR, 1, draws=200)
    credit, _ = credits(FOUR, own, known)
    for cell, right in expected.items():
        for user in range(4):
            mine = (known.user == user) & (known.cells[:, 0] == cell)
            assert credit[mine] == pytest.approx(right[user])


def test_groups_share_the_credit():
    """Users {0, 1} and {2, 3} receive their averages."""
    groups = np.array([0, 0, 1, 1])
    means = np.array([FOUR[:2].mean(axis=0), FOUR[2:].mean(axis=0)])
    shared = Shared(means[groups], groups, groups, (), np.zeros((2, 2)))
    risk = bandits.deanonymisation(FOUR, shared, n_aux=4, weights="uniform", draws=1)
    # Users 0 and 1 match the first average in row 0. Row 1 of user 0 matches the second average: a tie of both groups.
    assert risk.per_user == pytest.approx([0.25, 0.5, 0.5, 0.5])


def test_truth_follows_the_record():
    """Everyone receives another's record: user i is found where i's record went, never by whom received it."""
    source = np.array([1, 0, 0, 0])
    shared = Shared(FOUR[source], source, np.arange(4), (), np.zeros((2, 2)))
    risk = bandits.deanonymisation(FOUR, shared, n_aux=4, weights="uniform", draws=1)
    # Nobody received the records of 2 and 3. User 0's record went to 1, 2 and 3: the best three, all right.
    assert risk.per_user == pytest.approx([1.0, 1.0, 0.0, 0.0])


@pytest.mark.parametrize("attack", ["scoreboard", "likelihood"])
@pytest.mark.parametrize("strategy", ["laplace:1e-4", "clusters:8", "neighbour:1+laplace:1e-5"])
def test_the_expectation_is_that_of_a_simulated_attacker(strategy, attack):
    shared = bandits.anonymise(USERS.records, strategy, USERS.profiles)
    known = auxiliary(USERS.records, 9, draws=2)
    credit, _ = credits(USERS.records, shared, known, attack=attack)
    flat = shared.records.reshape(30, -1)
    rng, hits = np.random.default_rng(0), np.zeros(len(credit))
    w = np.rint(bandits.cell_weights(USERS.records).ravel() * 65536)
    for q, user in enumerate(known.user):
        if attack == "scoreboard":
            near = np.abs(flat[:, known.cells[q]] - known.values[q]) < 1e-3
            score = near @ w[known.cells[q]]
        else:
            score = twins.likelihood_scores(shared, known.cells[q : q + 1], known.values[q : q + 1])[0]
        best = np.flatnonzero(score == score.max())
        members = np.flatnonzero(shared.groups == shared.groups[user])
        picked = shared.source[rng.choice(best, size=400)]
        named = rng.choice(members, size=400)
        hits[q] = np.mean((picked == shared.groups[user]) & (named == user))
    assert np.abs(hits - credit).max() < 0.15
    assert hits.mean() == pytest.approx(credit.mean(), abs=0.01)


def test_it_is_the_common_attack_where_records_are_not_put_together():
    shared = bandits.anonymise(USERS.records, "laplace:1e-5")
    known = auxiliary(USERS.records, 20, draws=1)
    values = np.full((30, 144), np.nan)
    np.put_along_axis(values, known.cells, known.values, axis=1)
    attack = attacks.Scoreboard(weights=bandits.cell_weights(USERS.records).ravel())
    common = measure.random_user(attack, Cells(shared.records.reshape(30, -1)), Cells(values))
    ours = bandits.deanonymisation(USERS.records, shared, 20, draws=1)
    assert np.array_equal(common.per_user, ours.per_user)
    assert (common.rate, common.baseline, common.mean_ties) == (ours.rate, ours.baseline, ours.mean_ties)


@pytest.mark.parametrize("strategy", ["laplace:1e-6", "laplace:1e-5", "clusters:40"])
def test_an_attacker_who_knows_the_mechanism_is_stronger(strategy):
    users = clustered_users(120, n_states=12, n_clusters=6, seed=0)
    shared = bandits.anonymise(users.records, strategy, users.profiles)
    weak, strong = (
        bandits.deanonymisation(users.records, shared, 40, attack=name) for name in ("scoreboard", "likelihood")
    )
    low, _ = difference_interval(strong.per_user, weak.per_user)
    assert low > 0.0, (weak.rate, strong.rate)


@pytest.mark.parametrize("attack", ["scoreboard", "likelihood"])
def test_a_guaranteed_k_bounds_every_attack(attack):
    shared = bandits.anonymise(USERS.records, "microaggregation:4", USERS.profiles)
    risk = bandits.deanonymisation(USERS.records, shared, 144, attack=attack)
    assert risk.per_user.max() <= 0.25


@pytest.mark.parametrize("attack", ["scoreboard", "likelihood"])
def test_the_order_of_users_does_not_matter(attack):
    shared = bandits.anonymise(USERS.records, "laplace:1e-4")
    order = np.random.default_rng(1).permutation(30)
    moved = Shared(shared.records[order], np.arange(30), np.arange(30), shared.steps, shared.scale)
    plain = bandits.deanonymisation(USERS.records, shared, 144, attack=attack, draws=1)
    other = bandits.deanonymisation(USERS.records[order], moved, 144, attack=attack, draws=1)
    assert other.per_user == pytest.approx(plain.per_user[order])
    assert bandits.ads(USERS.records[order], moved) == bandits.ads(USERS.records, shared)


def test_more_noise_hides_better_and_more_cells_find_better():
    rates = [
        bandits.deanonymisation(USERS.records, bandits.anonymise(USERS.records, bandits.Laplace(v)), 40).rate
        for v in (0.0, 1e-5, 1e-2, 3.0)
    ]
    assert rates == sorted(rates, reverse=True)
    shared = bandits.anonymise(USERS.records, "laplace:1e-5")
    few, many = (bandits.deanonymisation(USERS.records, shared, n).rate for n in (2, 100))
    assert few < many


def test_known_cells_are_different_uniform_and_the_same_for_a_seed():
    known = auxiliary(USERS.records, 10, seed=1, draws=100)
    assert all(len(set(row)) == 10 for row in known.cells.tolist())
    count = np.bincount(known.cells.ravel(), minlength=144)
    expected = 30 * 100 * 10 / 144
    assert np.abs(count - expected).max() < 6 * np.sqrt(expected)
    assert np.array_equal(auxiliary(USERS.records, 10, seed=1, draws=3).cells, known.cells[:90])


def test_ads_by_hand_and_by_loops():
    shared = bandits.anonymise(USERS.records, "laplace:1e-6")
    for weights in (None, "uniform", "entropy"):
        w = bandits.cell_weights(USERS.records, weights or "inverse entropy")
        count = 0
        for i, record in enumerate(USERS.records):
            nearest = min(np.linalg.norm(w * (record - other)) for j, other in enumerate(USERS.records) if j != i)
            count += min(np.linalg.norm(w * (record - given)) for given in shared.records) < nearest
        assert bandits.ads(USERS.records, shared, weights) == pytest.approx(count / 30)
    assert bandits.ads(FOUR, bandits.anonymise(FOUR, "own")) == 0.5, "2 and 3 have a twin at distance 0 already"


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"n_aux": 145}, OptionError, "from 1 to the 144 cells"),
        ({"n_aux": 0}, OptionError, "from 1 to"),
        ({"n_aux": 3, "alpha": 0.0}, OptionError, "alpha"),
        ({"n_aux": 3, "attack": "magic"}, OptionError, "magic"),
        ({"n_aux": 3, "weights": "heavy"}, OptionError, "heavy"),
        ({"n_aux": 3, "weights": np.ones(3)}, DataError, "weights must be"),
        ({"n_aux": 3, "draws": 0}, OptionError, "draws"),
        ({"n_aux": 3, "seed": -1}, OptionError, "seed"),
    ],
)
def test_bad_options_are_refused_in_one_line(options, error, words):
    shared = bandits.anonymise(USERS.records, "own")
    with pytest.raises(error, match=words) as caught:
        bandits.deanonymisation(USERS.records, shared, **options)
    assert "\n" not in str(caught.value)


def test_records_that_do_not_fit_are_refused():
    shared = bandits.anonymise(USERS.records, "own")
    for call in (lambda r: bandits.deanonymisation(r, shared, 2), lambda r: bandits.ads(r, shared)):
        with pytest.raises(DataError, match="both must be the same"):
            call(USERS.records[:5])
        with pytest.raises(DataError, match="only 1 user"):
            call(USERS.records[:1])
        with pytest.raises(DataError, match="adds up to"):
            call(USERS.records * 1.1)


def test_weights_whose_scores_do_not_fit_are_refused():
    with pytest.raises(DataError, match="largest of 3 weights is 1e\\+300"):
        attacks.Scoreboard(weights=[1e300, 1, 1]).fit(Cells([[0.1, 0.2, 0.7]]))
    weights = np.full((12, 12), 1e90)
    with pytest.raises(DataError, match="too large"):
        bandits.deanonymisation(USERS.records, bandits.anonymise(USERS.records, "own"), 4, weights=weights)
