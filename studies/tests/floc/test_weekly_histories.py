"""Synthetic people with habits: the same whoever else is drawn, and back at their sites."""

import numpy as np
import pytest

from reidrisk.base.errors import OptionError
from reidrisk_studies.floc.weekly_histories import weekly_histories


def test_more_people_and_weeks_leave_the_first_ones_as_they_are():
    histories = weekly_histories(6_000, weeks=6, seed=1)
    small = weekly_histories(100, weeks=2, seed=1)
    for few, many in zip(small, histories, strict=False):
        assert (few.starts == many.starts[:101]).all()
        assert (few.codes == many.codes[: few.starts[-1]]).all()


def test_habits_bring_people_back_to_their_sites():
    def overlap(habit):
        one, two = weekly_histories(300, weeks=2, seed=0, habit=habit)
        shares = []
        for u in range(300):
            a, b = (set(week.codes[week.starts[u] : week.starts[u + 1]].tolist()) for week in (one, two))
            shares.append(len(a & b) / max(len(a | b), 1))
        return np.mean(shares)

    assert overlap(0.0) < overlap(0.6) < overlap(1.0)


@pytest.mark.parametrize("option", [{"habit": 1.5}, {"sites_per_interest": 0}, {"n_interests": 2.5}])
def test_what_cannot_be_is_refused_by_name(option):
    with pytest.raises(OptionError, match=next(iter(option))):
        weekly_histories(10, 1, **option)
