"""How many of a query's items are the target's where none of these comes twice."""

from itertools import product

import pytest

from reidrisk.attacks.profile.sized.distinct import shown


@pytest.mark.parametrize(("own", "held", "asked"), [(0.5, 2, 2), (0.8, 3, 4), (0.95, 4, 3), (0.1, 1, 5)])
def test_the_share_is_that_of_all_events_in_order(own, held, asked):
    total = shared = 0.0
    for events in product(range(held + 1), repeat=asked):  # the last one is any item that the target does not hold
        mine = [event for event in events if event < held]
        if len(set(mine)) == len(mine):
            weight = (own / held) ** len(mine) * (1.0 - own) ** (asked - len(mine))
            total, shared = total + weight, shared + weight * len(mine) / asked
    assert shown(own, held, asked) == pytest.approx(shared / total)
