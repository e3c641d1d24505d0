"""Visits: events that happened together stay together, wherever the records go."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reidrisk import Bags, Vocabulary
from reidrisk.base.errors import DataError, OptionError
from reidrisk.records import Events, Visits
from reidrisk.records.cut import cut
from reidrisk.scenarios import Split

SHOP = {
    "who": [1, 1, 1, 1, 2, 2],
    "what": ["a", "b", "a", "c", "b", "b"],
    "when": np.array(["2024-01-01T10", "2024-01-01T10", "2024-01-01T12", "2024-01-05T09"] * 2, "M8[s]")[:6],
    "bill": ["x", "x", "y", None, "z", "z"],
}


@st.composite
def logs(draw):
    """Draw (user, item, moment, amount) of a few events."""
    event = st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(0, 3), st.integers(1, 3))
    rows = draw(st.lists(event, min_size=1, max_size=40))
    return dict(
        zip(("who", "what", "when", "n"), (np.array(column) for column in zip(*rows, strict=True)), strict=True)
    )


def bags_of(log, **how):
    return Events(log, user="who", items="what", time="when", amount="n").bags(**how)


def dense(counts):
    return counts.toarray().tolist()


def visits_of(bags):
    """Return the visits of each record as sorted lists."""
    held, owner = bags.visits.counts.toarray(), bags.visits.owner
    return [sorted(held[owner == i].tolist()) for i in range(len(bags))]


@settings(deadline=None)
@given(logs())
def test_the_visits_of_a_log_are_its_moments(log):
    bags = bags_of(log, visit=1)
    assert dense(bags.visits.together()) == dense(bags.counts)
    assert (np.diff(bags.visits.owner) >= 0).all()
    items, users = np.unique(log["what"]), np.unique(log["who"])
    for i, user in enumerate(users):
        wanted = []
        for moment in np.unique(log["when"][log["who"] == user]):
            here = (log["who"] == user) & (log["when"] == moment)
            wanted.append([int(log["n"][here & (log["what"] == item)].sum()) for item in items])
        assert visits_of(bags)[i] == sorted(wanted)


@settings(deadline=None)
@given(logs(), st.lists(st.integers(0, 100), max_size=6))
def test_rows_that_are_taken_keep_their_visits(log, picks):
    bags = bags_of(log, visit=1)
    rows = np.array(picks, dtype=np.int64) % len(bags)
    some = bags.take(rows)
    assert visits_of(some) == [visits_of(bags)[i] for i in rows]
    assert dense(some.visits.together()) == dense(some.counts)
    assert visits_of(bags.take(slice(0, 2))) == visits_of(bags)[:2]


@settings(deadline=None)
@given(logs(), st.lists(st.integers(0, 30), min_size=1, max_size=3), st.integers(0, 2**20))
def test_a_cut_by_visits_moves_whole_visits_and_loses_none(log, sizes, seed):
    bags = bags_of(log, visit=1)
    several = bags.visits.per_record >= 2
    if not several.any():
        with pytest.raises(DataError, match="two visits or more"):
            cut(bags, np.array(sizes), seed, "visits")
        return
    case = cut(bags, np.array(sizes), seed, "visits")
    rows = case.truth.target
    assert sorted(rows) == np.flatnonzero(several).tolist()
    left, asked, whole = visits_of(case.targets), visits_of(case.queries), visits_of(bags)
    back = dict(zip(rows.tolist(), asked, strict=True))
    assert [sorted(one + back.get(i, [])) for i, one in enumerate(left)] == whole
    assert all(asked)
    for side in (case.targets, case.queries):
        assert dense(side.visits.together()) == dense(side.counts)
    taken = np.asarray(case.queries.counts.sum(axis=1)).ravel()
    assert (2 * taken <= np.asarray(bags.counts.sum(axis=1)).ravel()[rows]).all(), "at most half"
    again = cut(bags, np.array(sizes), seed, "visits")
    assert dense(again.queries.counts) == dense(case.queries.counts)


def test_a_cut_comes_as_close_to_the_size_as_visits_allow():
    shape = (60, 1)
    visits = Visits(sparse.csr_array(np.tile([[4], [4], [4], [4], [30]], shape)), np.arange(0, 301, 5))
    bags = Bags(visits.together()).with_visits(visits)
    for size, found in ((1, 4), (7, 8), (9, 8), (100, 16)):
        case = cut(bags, np.array([size]), 0, "visits")
        assert (case.queries.counts.toarray() == found).all(), "a visit of more than half is never taken"


def test_a_cut_by_visits_without_any_is_refused():
    with pytest.raises(DataError, match="cut event by event"):
        cut(Bags([[2, 2]]), np.array([1]), 0, "visits")


def test_what_counts_as_a_visit():
    events = Events(SHOP, user="who", items="what", time="when", keep="bill")
    assert visits_of(events.bags()) == [[[0, 0, 1], [1, 0, 0], [1, 1, 0]], [[0, 2, 0]]]
    assert visits_of(events.bags("day"))[0] == [[0, 0, 1], [2, 1, 0]]
    assert visits_of(events.bags(365))[0] == [[2, 1, 1]]
    assert visits_of(events.bags("bill")) == visits_of(events.bags())
    with pytest.raises(OptionError, match="without the column 'session'"):
        events.bags("session")
    timeless = Events(SHOP, user="who", items="what")
    assert timeless.bags().visits is None
    with pytest.raises(DataError, match="have no time"):
        timeless.bags("day")


def test_moments_of_their_own_are_days_where_there_is_a_calendar():
    hours = np.arange(40)
    log = {"who": hours % 2, "what": hours % 3, "when": hours * 3600}
    assert Events(log, user="who", items="what", time="when").bags().visits is None
    dated = Events(log | {"when": (hours * 3600).astype("M8[s]")}, user="who", items="what", time="when").bags()
    assert dated.visits.per_record.tolist() == [2, 2]
    apart = Events(log | {"when": hours.astype("M8[D]")}, user="who", items="what", time="when").bags()
    assert apart.visits is None


def test_a_split_keeps_visits_unless_it_tears_them():
    rng = np.random.default_rng(0)
    log = {"who": np.arange(900) // 30, "what": rng.integers(0, 9, 900), "when": np.arange(900) // 6}
    events = Events(log | {"site": np.arange(900) // 6 % 2}, user="who", items="what", time="when", keep="site")
    for by in ("time", "column"):
        case = Split(events, by=by).case()
        for side in (case.targets, case.queries):
            assert dense(side.visits.together()) == dense(side.counts)
    torn = Split(events, by="random").case()
    assert torn.targets.visits is torn.queries.visits is None


def test_what_keeps_visits_and_what_does_not():
    events = Events(SHOP, user="who", items="what", time="when")
    bags = events.bags()
    assert visits_of(bags.with_users(["ann", "bob"])) == visits_of(bags) == visits_of(bags.with_notes(()))
    assert bags.with_counts(bags.counts.data).visits is None
    wider = bags.over(Vocabulary(["c", "x", "b", "a"]))
    assert visits_of(wider) == [[[0, 0, 0, 1], [0, 0, 1, 1], [1, 0, 0, 0]], [[0, 0, 2, 0]]]
    assert dense(wider.visits.together()) == dense(wider.counts)
    with pytest.raises(ValueError, match="read-only"):
        bags.visits.counts.data[0] = 7


@pytest.mark.parametrize(
    ("counts", "start", "said"),
    [([[1], [1]], [0, 1], "rise from 0"), ([[1], [0]], [0, 2], "holds nothing"), ([[1]], [1, 1], "rise from 0")],
)
def test_visits_that_are_none_are_refused(counts, start, said):
    with pytest.raises(DataError, match=said):
        Visits(sparse.csr_array(counts), np.array(start))


def test_visits_of_others_are_refused():
    visits = Visits(sparse.csr_array([[1, 1]]), np.array([0, 1]))
    with pytest.raises(DataError, match="do not fit"):
        Bags([[1, 1], [1, 0]]).with_visits(visits)
