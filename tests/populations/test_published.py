"""The published population has the figures that were printed, week by week, and is the same on any machine load."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from reidrisk import populations
from reidrisk.base.errors import OptionError
from reidrisk.populations.published import Parameters, draw, embedded
from reidrisk_studies import calibrate_published

# Copied from the papers a second time, apart from the calibration, so that a slip of the pen in one shows up.
NEWS, ARTS, SHOPPING, SPORTS, GAMES, INTERNET, SOFTWARE, COMPUTERS, COOKING, TV, SOCCER, LOCAL = range(12)
LABELS = (
    "/News",
    "/Arts & Entertainment",
    "/Shopping",
    "/Sports",
    "/Games/Computer & Video Games",
    "/Internet & Telecom",
    "/Computers & Electronics/Software",
    "/Computers & Electronics",
    "/Food & Drink/Cooking & Recipes",
    "/Arts & Entertainment/TV & Video",
    "/Sports/Soccer",
    "/News/Local News",
)
SINGLE = (0.3460, 0.2452, 0.2334, 0.1831, 0.1770, 0.1297, 0.1182, 0.1046, 0.0972, 0.0802)
WITHIN = {
    (ARTS, NEWS): 0.1177,
    (NEWS, SPORTS): 0.0858,
    (ARTS, INTERNET): 0.0674,
    (INTERNET, NEWS): 0.0527,
    (ARTS, GAMES): 0.0500,
    (SPORTS, SOCCER): 0.0460,
    (ARTS, TV): 0.0458,
    (NEWS, SHOPPING): 0.0441,
    (NEWS, TV): 0.0418,
    (NEWS, LOCAL): 0.0417,
}
ACROSS = {
    (NEWS, NEWS): 0.2201,
    (ARTS, ARTS): 0.1227,
    (SHOPPING, SHOPPING): 0.1205,
    (SPORTS, SPORTS): 0.1166,
    (GAMES, GAMES): 0.1084,
    (NEWS, ARTS): 0.1016,
    (ARTS, NEWS): 0.1011,
    (SPORTS, NEWS): 0.0820,
    (NEWS, SPORTS): 0.0797,
    (NEWS, SHOPPING): 0.0586,
}
EPOCHS = 3


@pytest.fixture(scope="module")
def million() -> np.ndarray:
    return populations.published(1_000_000, EPOCHS, seed=7).tokens


@pytest.fixture(scope="module")
def weeks(million: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    return [calibrate_published.rates(million[:, epoch]) for epoch in range(EPOCHS)]


def unlisted(table: np.ndarray, listed: list[tuple[int, ...]]) -> float:
    rest = table.copy()
    for cell in listed:
        rest[cell] = 0
    return float(rest.max())


def test_single_rates_are_those_of_figure_1_every_week(weeks):
    for single, _ in weeks:
        assert single[:10] == pytest.approx(SINGLE, rel=0.05)
        assert single[10:].max() <= 0.0802


def test_within_rates_are_those_of_figure_7a_every_week(weeks):
    for _, within in weeks:
        for pair, rate in WITHIN.items():
            assert within[pair] == pytest.approx(rate, rel=0.05), pair
        assert unlisted(within, [*WITHIN, *((b, a) for a, b in WITHIN)]) <= 0.0417


def test_across_rates_are_those_of_figure_7b_every_pair_of_weeks(million):
    for epoch in range(EPOCHS - 1):
        across = calibrate_published.rates_across(million[:, epoch], million[:, epoch + 1])
        for pair, rate in ACROSS.items():
            assert across[pair] == pytest.approx(rate, rel=0.05), pair
        assert unlisted(across, list(ACROSS)) <= 0.0586


def test_entropy_and_mutual_information_of_one_epoch(weeks):
    for single, within in weeks:
        entropy, shared = calibrate_published.information(single, within)
        assert entropy == pytest.approx(7.59, rel=0.01)
        assert shared == pytest.approx(0.93, rel=0.05)


def test_every_set_is_full_distinct_ascending_and_of_the_vocabulary(million):
    assert million.min() >= 0
    assert million.max() < 469
    assert (np.diff(million, axis=2) > 0).all()
    assert np.unique(million).size == 469


def test_weeks_correlate_as_figure_8_says(weeks):
    for (one, pairs), (other, other_pairs) in combinations(weeks, 2):
        assert np.corrcoef(one, other)[0, 1] >= 0.998
        assert np.corrcoef(pairs.ravel(), other_pairs.ravel())[0, 1] >= 0.997


def test_named_topics_carry_their_printed_labels():
    labels = populations.published(1, 1).vocabulary.labels
    assert labels[:12] == LABELS
    assert labels[12] == "unlisted topic 001"
    assert len(set(labels)) == 469


@pytest.mark.parametrize("n", [1, 8191, 8192, 20_000])
def test_threads_do_not_change_the_answer(n):
    parameters = embedded()
    assert np.array_equal(draw(parameters, n, 2, 5, threads=1), draw(parameters, n, 2, 5, threads=2))


def test_more_users_and_more_epochs_start_with_the_same_ones():
    long = populations.published(20_000, 4, seed=3).tokens
    assert np.array_equal(populations.published(9000, 2, seed=3).tokens, long[:9000, :2])


def test_seeds_blocks_and_weeks_differ():
    zero, one = populations.published(20_000, 2, seed=0).tokens, populations.published(20_000, 2, seed=1).tokens
    for left, right in permutations((zero[:8192, 0], one[:8192, 0], zero[8192:16384, 0], zero[:8192, 1]), 2):
        assert (left != right).any(axis=1).mean() > 0.5


def test_users_keep_their_interests_for_good():
    # Weeks are independent given the user, so what is shared does not fade: week 1 to 8 as week 1 to 2.
    tokens = populations.published(50_000, 8, seed=2).tokens
    near, far = ((tokens[:, 0, :, None] == tokens[:, e, None, :]).sum((1, 2)).mean() for e in (1, 7))
    assert far == pytest.approx(near, rel=0.02)


@pytest.mark.parametrize("bad", [0, -3, 2.0, "10", True, None])
@pytest.mark.parametrize("argument", ["n", "epochs"])
def test_bad_sizes_are_refused_by_name_and_value(argument, bad):
    with pytest.raises(OptionError) as refused:
        populations.published(**{"n": 10, "epochs": 2, argument: bad})
    assert str(refused.value).startswith(f"{argument} must be a whole number")
    assert repr(bad) in str(refused.value)


@pytest.mark.parametrize("bad", [-1, 0.5, "x"])
def test_bad_seeds_and_threads_are_refused(bad):
    with pytest.raises(OptionError, match="seed"):
        populations.published(10, 2, seed=bad)
    with pytest.raises(OptionError, match="threads"):
        populations.published(10, 2, threads=bad)


def test_the_parameter_file_round_trips():
    given = calibrate_published.written(embedded())
    assert calibrate_published.written(Parameters.from_dict(given)) == given


def test_named_covariances_split_a_variance_of_one():
    parameters = embedded()
    assert np.diag(parameters.lasting + parameters.weekly) == pytest.approx(np.ones(12), abs=2e-5)
    for matrix in (parameters.lasting, parameters.weekly):
        assert np.linalg.eigvalsh(matrix)[0] > 0
