"""Cohorts week by week: k-anonymous in each, and not at all as a sequence."""

import numpy as np
import pytest

from reidrisk import attacks, bounds, cohorts, measure
from reidrisk.base.errors import DataError
from reidrisk_studies.floc.weekly_histories import weekly_histories


@pytest.fixture(scope="module")
def histories():
    return weekly_histories(6_000, weeks=6, seed=1)


@pytest.fixture(scope="module")
def weekly(histories):
    return cohorts.weekly_cohorts(histories, min_size=200)


def test_every_cohort_is_k_anonymous_in_every_week(weekly):
    for week, k in zip(weekly.traces.tokens.T, weekly.k, strict=True):
        assert cohorts.k_anonymity(week) == k >= 200
        assert np.unique(week[week >= 0], return_counts=True)[1].max() <= max(weekly.largest)
    assert len(weekly.table) > 5
    assert "199" not in weekly.reading or min(weekly.k) == 200


def test_the_common_table_keeps_every_cut_that_all_weeks_allow(histories, weekly):
    """Halving any cohort once more would leave fewer than k users on one side in some week."""
    hashes = [cohorts.simhash(week) for week in histories]
    has = [column >= 0 for column in weekly.traces.tokens.T]
    start = 0
    for log_size in weekly.table.log_sizes.tolist():
        middle, end = start + 2 ** (log_size - 1), start + 2**log_size
        least = min(
            min(int(((h >= start) & (h < middle) & k).sum()), int(((h >= middle) & (h < end) & k).sum()))
            for h, k in zip(hashes, has, strict=True)
        )
        assert least < 200
        start = end


def test_a_part_of_the_space_without_users_does_not_stop_the_cuts():
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 2**48, 100_000)  # a quarter of the 50-bit space
    table = cohorts.SortingLSH.fit(hashes, min_size=100)
    sizes = np.bincount(table.assign(hashes), minlength=len(table))
    assert sizes[sizes > 0].min() >= 100
    assert sizes.max() < 400
    assert (sizes == 0).sum() == 2, "one for each bit that nobody has, and no more"
    # With the whole space in use nothing changes: the same cuts, two bits further up.
    whole = cohorts.SortingLSH.fit(hashes << 2, min_size=100)
    assert (whole.log_sizes == table.log_sizes[sizes > 0] + 2).all()


def test_people_who_are_all_alike_are_one_cohort():
    assert cohorts.SortingLSH.fit([5] * 100, min_size=10, bits=8).log_sizes.tolist() == [8]
    # A single user in the other half cannot be cut off, nor hidden elsewhere.
    assert cohorts.SortingLSH.fit([*range(100), 255], min_size=10, bits=8).log_sizes.tolist() == [8]


def test_one_week_keeps_the_bound_and_several_weeks_do_not(weekly):
    rates = {}
    for r in (1, 2, 6):
        traces = weekly.traces.epochs(r)
        risk = measure.random_user(attacks.Hamming(), traces, traces)
        rates[r] = risk.rate
        # Two sites are told the same: whoever was seen every week is one of those with the same sequence.
        seen = (traces.tokens >= 0).all(axis=1)
        distinct = len(np.unique(traces.tokens[seen], axis=0))
        assert risk.per_user[seen].sum() == pytest.approx(distinct)
    assert rates[1] <= bounds.from_k_anonymity(min(weekly.k))
    assert rates[6] > 0.9 > 0.2 > rates[2] > rates[1]


def test_users_with_few_domains_have_no_cohort_in_that_week():
    plenty = [[f"s{u}-{i}.org" for i in range(8)] for u in range(20)]
    found = cohorts.weekly_cohorts([plenty, [*plenty[:-1], ["one.org"]]], min_size=5)
    assert (found.traces.tokens[:, 0] >= 0).all()
    assert (found.traces.tokens[:, 1] < 0).tolist() == [False] * 19 + [True]


def test_bad_input_is_named():
    week = [["a.org"] * 3, ["b.org"]]
    with pytest.raises(DataError, match="no week"):
        cohorts.weekly_cohorts([], 1)
    with pytest.raises(DataError, match="week 1 has another number of users"):
        cohorts.weekly_cohorts([week, week[:1]], 1, min_domains=0)
    with pytest.raises(DataError, match="week 0 has 0 users with enough domains"):
        cohorts.weekly_cohorts([week], 1)
