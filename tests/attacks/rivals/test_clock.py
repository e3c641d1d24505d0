"""Clock: hours of the day as evidence, by its formula, and where it helps."""

import numpy as np
import pytest

from reidrisk import Bags, attacks, measure
from reidrisk.attacks import Clock
from reidrisk.base.errors import DataError
from reidrisk.records import Case, Events
from reidrisk.scenarios import Split

START = np.datetime64("2024-03-04", "s")  # a Monday


def days_of(people, days, seed, levels=4, times=1):
    """Return a log of everybody's level of activity at every hour; what they do at which hour is a habit."""
    rng = np.random.default_rng(seed)
    shares = np.random.default_rng(99).dirichlet(np.full(levels, 0.7), size=(people, 24))
    user, day, hour = (x.ravel() for x in np.indices((people, days, 24)))
    ends = np.cumsum(shares[user, hour], axis=1)
    level = np.minimum((rng.random((len(user), 1)) > ends).sum(axis=1), levels - 1)
    when = START + (day * 24 + hour) * np.timedelta64(3_600, "s")
    log = {"who": user, "what": level.astype(str), "when": when, "n": np.full(len(user), times)}
    return Events(log, user="who", items="what", time="when", amount="n")


def score_by_definition(attack, target, query, popular):
    """Return log P(query) - log P(query of anybody) of (there, joint) tables, from the formula."""
    (known, d), (there, c) = target, query
    p, p_hour = popular
    r, a, b = attack.habits_.shares
    score = 0.0
    for hour in range(24):
        own = b * known[hour] / max(known.sum(), 1) + (1 - b) * p_hour[hour]
        score += there[hour] * np.log(own / p_hour[hour])
        for item in range(len(p)):
            alone = a * d[item].sum() / max(d.sum(), 1) + (1 - a) * p[item]
            chance = r * d[item, hour] / max(d[:, hour].sum(), 1) + (1 - r) * alone
            score += c[item, hour] * np.log(chance / ((1 - r) * (1 - a) * p[item]))
    return score


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_the_formula(seed):
    rng = np.random.default_rng(seed)
    n, when = 300, START + rng.integers(0, 40 * 24, size=300) * np.timedelta64(3_600, "s")
    log = {"who": np.sort(rng.integers(0, 8, size=n)), "what": rng.integers(0, 3, size=n), "when": when}
    bags = Events(log, user="who", items="what", time="when").bags()
    attack = Clock().fit(bags)
    tables = bags.clock.toarray().reshape(8, 4, 24)
    sides = [(one[3], one[:3]) for one in tables]
    holders, there = (tables[:, :3].sum(axis=2) > 0).sum(axis=0) + 0.5, (tables[:, 3] > 0).sum(axis=0) + 0.5
    popular = holders / holders.sum(), there / there.sum()
    for target in range(8):
        found = attack.score(bags, np.full(8, target)) / Clock.steps
        wanted = [score_by_definition(attack, sides[target], query, popular) for query in sides]
        assert found == pytest.approx(wanted, abs=0.02)


def test_hours_find_people_whose_levels_alone_are_alike():
    log = days_of(100, 14, seed=0)
    case = Split(log, by="time").case()
    assert Clock.applies(case.targets, case.queries)
    ours, *others = (
        measure.random_user(attack, case.targets, case.queries)
        for attack in (Clock(), attacks.NaiveBayes(), attacks.Hellinger())
    )
    assert ours.rate > 0.9
    assert max(other.rate for other in others) < 0.6


def test_shares_are_found_again():
    shares = Clock().fit(days_of(60, 30, seed=1).bags()).habits_.shares
    assert shares.repeat > 0.5  # what is done goes by the hour
    rng = np.random.default_rng(2)
    when = START + rng.integers(0, 60 * 24, size=6_000) * np.timedelta64(3_600, "s")
    log = {"who": np.sort(rng.integers(0, 60, size=6_000)), "what": rng.integers(0, 5, size=6_000), "when": when}
    shares = Clock().fit(Events(log, user="who", items="what", time="when").bags()).habits_.shares
    assert shares.repeat < 0.1  # people without any habits


def test_amounts_names_and_order_change_nothing():
    log, twice = (days_of(40, 6, seed=2, times=times) for times in (1, 2))
    one, two = Split(log, by="time").case(), Split(twice, by="time").case()
    links = Clock().fit(one.targets).link(one.queries, probability=True)
    again = Clock().fit(two.targets).link(two.queries, probability=True)
    assert np.array_equal(links.score, again.score)
    order = np.random.default_rng(0).permutation(40)
    moved = Clock().fit(one.targets.take(order)).link(one.queries)
    assert np.array_equal(order[moved.target], links.target)
    assert np.array_equal(moved.score, links.score)
    other = Events(
        {"who": log.user, "what": (3 - log.item).astype(str), "when": log.time.astype("M8[s]")},
        user="who",
        items="what",
        time="when",
    )
    renamed = Split(other, by="time").case()
    assert np.array_equal(Clock().fit(renamed.targets).link(renamed.queries).score, links.score)


def test_hours_go_with_the_records():
    bags = days_of(5, 3, seed=3).bags()
    assert bags.clock.sum() == 2 * 5 * 3 * 24  # each item, and anything at all
    part = bags.take(np.array([3, 1])).with_users(["a", "b"]).with_notes(())
    assert np.array_equal(part.clock.toarray(), bags.clock.toarray()[[3, 1]])
    more = bags.over(type(bags.vocabulary)(("x", *bags.vocabulary.labels)))
    assert np.array_equal(more.clock.toarray()[:, 24:], bags.clock.toarray())
    assert bags.with_counts(bags.counts.data).clock is None
    assert bags.with_clock(None).clock is None
    with pytest.raises(DataError, match="hours have the shape"):
        bags.with_clock(bags.counts)


def test_without_hours_on_one_side_items_count_alone():
    bags = days_of(30, 4, seed=4).bags()
    plain = bags.with_clock(None)
    assert not Clock.applies(bags, plain)
    assert not Clock.applies(plain, plain)
    for targets, queries in ((bags, plain), (plain, bags), (plain, plain)):
        links = Clock().fit(targets).link(queries)
        assert np.mean(links.target == np.arange(30)) > 0.5
    numbers = Events({"who": [1, 2], "what": [1, 2], "when": [0, 1]}, user="who", items="what", time="when")
    assert numbers.bags().clock is None
    midnight = Case(*(Bags([[1]]),) * 2, None)
    assert not Clock.applies(midnight.targets, midnight.queries)
