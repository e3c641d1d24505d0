"""Two logs of the same time: the sparse sum against event by event, what is learnt, and what must not matter."""

import math

import numpy as np
import pytest

from reidrisk import Bags, attacks
from reidrisk.attacks.coincidences.grid import Laid, widths_of
from reidrisk.attacks.coincidences.overlay import Overlay, Repeats, Say
from reidrisk.records import Events
from reidrisk.records.timeline import Timeline
from reidrisk.scenarios import Split, TwoTables

HOUR, DAY = 3_600.0, 86_400.0
START = 1_699_833_600.0  # a Monday


def log(who, what, when):
    frame = {"who": who, "what": np.char.add("i", what.astype(str)), "when": (when * 1e6).astype("M8[us]")}
    return Events(frame, user="who", items="what", time="when")


def two_logs(rng, n=120, items=25, days=20, each=14, seen=0.6, lag=0.0):
    """Return logs of two observers, each of whom sees a part of the same events of people with one taste."""
    who = np.repeat(np.arange(n), each)
    what, when = rng.integers(0, items, len(who)), START + rng.random(len(who)) * days * DAY
    sides = [rng.random(len(who)) < seen for _ in range(2)]
    return [log(who[side], what[side], when[side] + late) for side, late in zip(sides, (0.0, lag), strict=True)]


def rate(attack, case):
    links = attack.fit(case.targets).look_around(case.queries).link(case.queries)
    asked = case.truth.target >= 0
    return float(np.where(links.target == case.truth.target, 1.0 / links.n_ties, 0.0)[asked].mean())


def event_by_event(targets, queries, habits, n_items):
    """The log likelihood ratio of each pair by the formulas, one event at a time; no period is met twice."""
    k = len(targets.bins)
    everyone = [(laid, row) for laid in (targets, queries) for row in range(len(laid))]
    had = {(laid is targets, int(laid.record[row]), int(laid.item[row])) for laid, row in everyone}
    often = np.array([sum(item == i for _, _, item in had) + 0.5 for i in range(n_items)])
    popular = often / often.sum()
    found = np.zeros((queries.n, targets.n))
    for q in range(queries.n):
        for t in range(targets.n):
            own = targets.record == t
            for row in np.flatnonzero(queries.record == q):
                item = queries.item[row]
                there = [own, *(own & (targets.bins[j] == queries.bins[j, row]) for j in range(k))]
                chance = popular[item]
                for say, here in zip(habits.items, there, strict=True):
                    weight = say.most * here.sum() / max(say.slow + here.sum(), 1e-9)
                    share = (targets.item[here] == item).mean() if here.any() else 0.0
                    chance = (1.0 - weight) * chance + weight * share
                found[q, t] += math.log(chance / popular[item])
                for j, say in enumerate(habits.times):
                    wider, here = there[j].sum(), there[j + 1].sum()
                    crowd = [(laid.bins[j] == queries.bins[j, row]).sum() for laid in (targets, queries)]
                    within = len(targets) + len(queries)
                    if j:
                        within = sum((one.bins[j - 1] == queries.bins[j - 1, row]).sum() for one in (targets, queries))
                    weight = say.most * wider / max(say.slow + wider, 1e-9)
                    if wider:
                        found[q, t] += math.log(1.0 - weight + weight * here / wider / (sum(crowd) / within))
    return found


def test_the_sum_over_columns_is_the_likelihood_event_by_event():
    rng = np.random.default_rng(0)
    widths = (DAY, HOUR)
    each, n_items = [], 4
    for n, many in ((6, 9), (4, 5)):
        # At most one event per day and record, so that nothing is repeated within a period.
        when = np.concatenate([np.sort(rng.choice(12, many, replace=False)) for _ in range(n)]) * DAY
        when = when + rng.integers(0, 6, n * many) * HOUR
        start, item = np.arange(n + 1) * many, rng.integers(0, n_items, n * many)
        empty = Bags(np.ones((n, n_items), dtype=int))
        each.append(Laid.of(empty.with_timeline(Timeline(start, item, START + when, True)), widths))
    habits = Repeats((Say(0.7, 3.0), Say(0.4, 0.0), Say(0.9, 1.0)), (Say(0.2, 5.0), Say(0.6, 0.0)))
    overlay = Overlay(*each, n_items)
    fast = (overlay.asked(each[1], habits) @ overlay.known(habits).T).toarray()
    assert np.allclose(fast, event_by_event(*each, habits, n_items))


def test_people_without_a_taste_are_found_by_what_they_had_at_the_same_time():
    case = TwoTables(*two_logs(np.random.default_rng(1), items=5)).case()
    assert rate(attacks.Coincidences(), case) > 0.95
    assert rate(attacks.Matched(), case) < 0.3
    late = TwoTables(*two_logs(np.random.default_rng(1), items=5, lag=400.0)).case()
    assert rate(attacks.Coincidences(), late) > 0.9


def test_being_there_is_enough_where_items_mean_nothing():
    one, two = two_logs(np.random.default_rng(2))
    other = log(two.users[two.user], np.random.default_rng(3).integers(0, 25, len(two)), two.time)
    case = TwoTables(one, other).case()
    assert rate(attacks.Coincidences(), case) > 0.9
    found = attacks.Coincidences().fit(case.targets).look_around(case.queries).repeats_
    assert max(say.most for habits in found for say in habits.times) > 0.5


def test_where_nothing_coincides_items_are_as_good_as_without_times():
    rng = np.random.default_rng(4)
    taste = rng.dirichlet(np.full(30, 0.3), 150)
    sides = []
    for _ in range(2):  # the same tastes and weeks, other events
        what = np.concatenate([rng.choice(30, 12, p=one) for one in taste])
        sides.append(log(np.repeat(np.arange(150), 12), what, START + rng.random(1800) * 20 * DAY))
    case = TwoTables(*sides).case()
    alone = attacks.NaiveBayes()
    assert rate(attacks.Coincidences(jointly=False), case) > rate(alone, case) - 0.05


def test_order_names_and_weeks_make_no_difference():
    rng = np.random.default_rng(5)
    one, two = two_logs(rng, n=60)
    people, names = rng.permutation(60), rng.permutation(25)
    first = attacks.Coincidences().fit(one.bags()).link(two.bags())
    moved = []
    for side, order in ((one, people), (two, np.arange(60))):
        old = np.array([int(label[1:]) for label in side.vocabulary.labels])[side.item]
        place = np.argsort(order)
        moved.append(log(place[side.user], names[old], side.time + 7 * DAY))
    case = TwoTables(*moved).case()
    then = attacks.Coincidences().fit(case.targets).link(case.queries)
    assert np.mean(people[then.target] == first.target) > 0.98


def test_sizes_count_where_they_agree_and_not_where_they_are_given():
    rng = np.random.default_rng(6)
    each = rng.integers(2, 40, 150)
    who = np.repeat(np.arange(150), each)
    what, when = rng.integers(0, 6, len(who)), START + rng.integers(0, 40, len(who)) * DAY
    sides = [rng.random(len(who)) < 0.7 for _ in range(2)]
    case = TwoTables(*(log(who[side], what[side], when[side]) for side in sides)).case()
    attack = attacks.Coincidences().fit(case.targets).look_around(case.queries)
    assert [note.code for note in attack.rests_on] == ["linked-together", "sizes-agree"]
    assert [note.code for note in attack.given_sizes().look_around(case.queries).rests_on] == ["linked-together"]
    assert attack.one_by_one().setting == "random user"
    some = np.array([3, 7, 11])
    narrow = attack.narrowed(some).one_by_one()
    assert set(narrow.link(case.queries).target.tolist()) <= {0, 1, 2}
    assert np.array_equal(
        narrow.score(case.queries, np.zeros(len(case.queries), int)),
        attack.one_by_one().score(case.queries, np.full(len(case.queries), 3)),
    )


def test_it_applies_to_two_logs_of_one_time_only():
    one, two = (side.bags() for side in two_logs(np.random.default_rng(7), n=30))
    assert attacks.Coincidences.applies(one, two)
    assert not attacks.Coincidences.applies(one, two.with_timeline(None))
    months = Timeline(two.timeline.start, two.timeline.item, two.timeline.time + 90 * DAY, True)
    assert not attacks.Coincidences.applies(one, two.with_timeline(months))
    assert widths_of(one.timeline, Timeline(np.array([0, 1]), np.array([0]), np.array([5.0]), False)) == ()
    apart = attacks.Coincidences().fit(one).link(two.with_timeline(None))
    assert len(apart) == len(two)


@pytest.mark.parametrize(("by", "known"), [("random", False), ("time", False), ("column", True)])
def test_what_one_log_was_cut_into_has_moments_only_where_a_column_decides(by, known):
    rng = np.random.default_rng(8)
    frame = {
        "who": np.arange(200) % 20,
        "what": rng.integers(0, 5, 200),
        "t": np.arange(200),
        "site": np.arange(200) // 20 % 2,
    }
    events = Events(frame, user="who", items="what", time="t", keep="site")
    case = Split(events, by=by).case(1)
    assert (case.queries.timeline is not None) == known
