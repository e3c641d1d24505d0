"""Clocks of two logs that do not agree are put right, and those that do are left alone."""

import numpy as np
import pytest

from reidrisk.audit.clocks import settle_clocks
from reidrisk.records import Events

DAY = 86_400


def log(who, what, when):
    frame = {"who": who, "what": what, "when": ((1_699_833_600 + when) * 1_000_000).astype("M8[us]")}
    return Events(frame, user="who", items="what", time="when")


def same_life(rng, late, n=120):
    """Return two logs that see parts of the same events, the second with a clock that is ahead."""
    taste = rng.dirichlet(np.full(20, 0.4), n)
    who = np.repeat(np.arange(n), 16)
    what = np.concatenate([rng.choice(20, 16, p=one) for one in taste])
    when = (rng.integers(0, 21, len(who)) * DAY + np.clip(rng.normal(14, 3, len(who)), 0, 23.9) * 3_600).astype(int)
    one, two = (rng.random(len(who)) < 0.6 for _ in range(2))
    return [log(who[one], what[one], when[one]), log(who[two], what[two], when[two] + late)]


def own_hours(rng, late, second=lambda own, rng: own, n=200):
    """Return two logs of different months of people who keep to hours of their own, or what ``second`` says of them."""
    taste, own = rng.dirichlet(np.full(15, 0.5), n), rng.normal(12, 3, n)
    sides = []
    for month, hours in enumerate((own, second(own, rng))):
        who = np.repeat(np.arange(n), 25)
        what = np.concatenate([rng.choice(15, 25, p=one) for one in taste])
        hour = (hours[who] + 2 * rng.normal(size=len(who)) + month * late / 3_600) % 24
        sides.append(log(who, what, ((rng.integers(0, 28, len(who)) + 40 * month) * DAY + hour * 3_600).astype(int)))
    return sides


@pytest.mark.parametrize(
    ("made", "by", "hours"),
    [
        *((same_life, "moments", hours) for hours in (8.0, -5.5, 1.0)),
        *((own_hours, "hours", hours) for hours in (8, -6)),
    ],
)
def test_a_clock_that_is_ahead_or_behind_is_put_back(made, by, hours):
    one, two = made(np.random.default_rng(0), int(hours * 3_600))
    (same, moved), (note,) = settle_clocks([one, two])
    assert (note.code, note["hours"], note["by"]) == ("clocks-apart", hours, by)
    assert same is one
    assert np.allclose(moved.time, two.time - hours * 3_600)


def at_night(own, rng):
    return rng.normal(0, 3, len(own))


def some_at_night(own, rng):
    return own + 12 * (np.arange(len(own)) % 2)


@pytest.mark.parametrize("seed", range(4))
def test_clocks_that_agree_are_left_alone_whoever_is_there_at_night(seed):
    rng = np.random.default_rng(seed)
    same = (same_life(rng, 0), own_hours(rng, 0), own_hours(rng, 0, at_night), own_hours(rng, 0, some_at_night))
    for tables in same:
        assert settle_clocks(tables)[1] == ()


def test_days_and_single_tables_have_no_clock():
    rng = np.random.default_rng(1)
    one, two = same_life(rng, 0)
    days = [log(table.user, table.item, (table.time - 1_699_833_600) // DAY * DAY) for table in (one, two)]
    assert settle_clocks(days)[1] == ()
    assert settle_clocks([one]) == ([one], ())
