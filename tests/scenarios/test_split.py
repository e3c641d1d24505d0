"""A table split in two: every event on one side, the truth where it came from, the same for the same seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reidrisk import Bags, TopSets, Traces
from reidrisk.base.errors import DataError, OptionError
from reidrisk.records import Events
from reidrisk.scenarios import Split

tables = hnp.arrays(
    np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.sampled_from([0, 0, 1, 2, 9])
)
logs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=30)
shares = st.sampled_from([0.1, 0.3, 0.5, 0.8])
seeds = st.integers(0, 2**20)


def events(log, **changes):
    user, item, time = (np.array(column) for column in zip(*log, strict=True))
    return Events({"u": user, "i": item, "t": time}, **{"user": "u", "items": "i", "time": "t"} | changes)


def dense(bags):
    return bags.counts.toarray()


def together(case, whole):
    """Return both sides by the rows of the whole table; and who is left out."""
    known, asked = np.zeros_like(dense(whole)), np.zeros_like(dense(whole))
    rows = np.searchsorted(whole.users, case.targets.users)
    known[rows] = dense(case.targets)
    asked[rows[case.truth.target]] = dense(case.queries)
    return known, asked, np.setdiff1d(np.arange(len(whole)), rows)


def check_sides(case, whole):
    assert type(case.targets) is type(case.queries) is Bags
    assert (case.targets.users[case.truth.target] == case.queries.users).all()
    assert (dense(case.targets).sum(axis=1) > 0).all()
    assert (dense(case.queries).sum(axis=1) > 0).all()
    known, asked, left_out = together(case, whole)
    counted = [note for note in case.notes if note.code == "nothing-on-one-side"]
    unasked = len(case.targets) - len(case.queries)
    assert bool(counted) == (len(left_out) > 0 or unasked > 0)
    if counted:
        assert (counted[0]["unasked"], counted[0]["left_out"]) == (unasked, len(left_out))
    return known, asked, left_out


def tried(split, seed=0):
    """Return the case, or nothing where nobody has something on both sides."""
    try:
        return split.case(seed)
    except DataError:
        return None


@settings(deadline=None)
@given(tables, shares, seeds, st.booleans())
def test_counts_are_conserved_at_random(table, share, seed, apart):
    whole = Bags(table, users=np.arange(len(table)))
    case = tried(Split(whole, by="random", share=share, apart=apart), seed)
    if case is None:
        return
    known, asked, left_out = check_sides(case, whole)
    kept = np.delete(np.arange(len(table)), left_out)
    assert ((known + asked)[kept] == table[kept]).all()
    if apart:
        assert not ((known > 0) & (asked > 0)).any()
    again = Split(whole, by="random", share=share, apart=apart).case(seed)
    assert (dense(again.queries) == dense(case.queries)).all()
    assert (again.truth.target == case.truth.target).all()


@settings(deadline=None)
@given(logs, shares, seeds, st.sampled_from(["random", "time"]), st.randoms())
def test_events_are_conserved_and_the_order_of_rows_does_not_matter(log, share, seed, by, random):
    table = events(log)
    case, other = (tried(Split(one, by, share), seed) for one in (table, events(random.sample(log, len(log)))))
    if case is None:
        assert other is None
        return
    known, asked, left_out = check_sides(case, table.bags())
    kept = np.delete(np.arange(table.n_users), left_out)
    assert ((known + asked)[kept] == dense(table.bags())[kept]).all()
    assert (dense(case.targets) == dense(other.targets)).all()
    assert (dense(case.queries) == dense(other.queries)).all()


@settings(deadline=None)
@given(logs, shares)
def test_the_later_part_is_that_of_a_slow_loop(log, share):
    table = events([(user, at, time) for at, (user, _, time) in enumerate(log)])  # every event its own item
    case = tried(Split(table, "time", share))
    wanted = {}
    for user in {user for user, _, _ in log}:
        times = sorted(time for one, _, time in log if one == user)
        target = min(max(len(times) - round(share * len(times)), 1), max(len(times) - 1, 1))
        cuts = [at for at in range(1, len(times)) if times[at - 1] < times[at]]
        if cuts:
            best = min(cuts, key=lambda at: (abs(at - target), at))
            wanted[user] = {at for at, (one, _, time) in enumerate(log) if one == user and time >= times[best]}
    if case is None:
        assert not wanted
        return
    labels = case.queries.vocabulary.labels
    found = {
        int(user): {int(labels[item]) for item in np.flatnonzero(row)}
        for user, row in zip(case.queries.users, dense(case.queries), strict=True)
    }
    assert found == wanted
    assert len(case.targets) == table.n_users, "who has nothing later is known all the same"


def test_one_moment_for_all():
    table = events([(0, 0, 1), (0, 1, 5), (1, 0, 1), (2, 1, 9)])
    case = Split(table, by="time", at=5).case()
    assert case.targets.users.tolist() == [0, 1]
    assert case.queries.users.tolist() == [0]
    assert dense(case.queries).tolist() == [[0, 1]]
    note = case.notes[-1]
    assert (note["unasked"], note["left_out"], note["of"]) == (1, 1, 3)
    days = {"u": [1, 1], "i": ["a", "b"], "t": np.array(["2024-05-30", "2024-05-31"], dtype="M8[D]")}
    dated = Events(days, user="u", items="i", time="t")
    for at in ("2024-05-31", np.datetime64("2024-05-31")):
        assert dense(Split(dated, at=at).case().queries).tolist() == [[0, 1]]
    with pytest.raises(OptionError, match="times are dates; give one such as '2024-05-31', not 'soon'"):
        Split(dated, at="soon").case()
    with pytest.raises(OptionError, match="times are plain numbers"):
        Split(table, at="2024-05-31").case()
    with pytest.raises(DataError, match="on both sides"):
        Split(table, at=100).case()


def test_a_column_decides():
    log = {"u": [1, 1, 1, 2, 2], "i": ["a", "b", "b", "a", "c"], "shop": ["east", "west", None, "west", "east"]}
    table = Events(log, user="u", items="i", keep=["shop"])
    case = Split(table, by="column").case()
    assert dense(case.targets).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert dense(case.queries).tolist() == [[0, 1, 0], [1, 0, 0]]
    assert (case.notes[-1]["known"], case.notes[-1]["asked"]) == ("east", "west")
    three = Events(log | {"shop": list("xyzzy")}, user="u", items="i", keep=["shop"])
    with pytest.raises(DataError, match="column 'shop' must have two values to split by, not 3"):
        Split(three, by="column", column="shop").case()
    with pytest.raises(OptionError, match="keep 0 columns"):
        Split(Events(log, user="u", items="i"), by="column").case()


@settings(deadline=None)
@given(hnp.arrays(np.int16, (5, 4), elements=st.integers(-1, 3)), seeds, shares)
def test_traces_become_bags(tokens, seed, share):
    table = Traces(tokens, n_tokens=4, users=np.arange(5))
    for by in ("random", "time"):
        case = tried(Split(table, by, share), seed)
        if case is None:
            continue
        known, asked, left_out = check_sides(case, table.bags())
        kept = np.delete(np.arange(5), left_out)
        assert ((known + asked)[kept] == dense(table.bags())[kept]).all()
        if by == "time":
            later = min(max(round(share * 4), 1), 3)
            assert asked.sum(axis=1).max() <= later
            assert known.sum(axis=1).max() <= 4 - later
        assert "periods-apart" in {note.code for note in case.notes}


def test_shares_are_kept_on_average():
    table = Bags(np.full((400, 5), 20))
    case = Split(table, by="random", share=0.3).case(1)
    assert abs(dense(case.queries).mean() / 20 - 0.3) < 0.01
    both = Split(table, by="random", share=0.3, independent=True).case(1)
    assert abs(dense(both.queries).mean() / 20 - 0.3) < 0.01
    assert abs(dense(both.targets).mean() / 20 - 0.3) < 0.01
    log = Events({"u": np.repeat(np.arange(200), 40), "i": np.tile(np.arange(40), 200)}, user="u", items="i")
    seen = Split(log, by="random", share=0.5, independent=True).case(2)
    overlap = (dense(seen.targets) * dense(seen.queries)).mean()
    assert abs(overlap - 0.25) < 0.02, "independent sides both see a quarter"
    assert not (dense(Split(log, by="random").case(2).targets) * dense(Split(log, by="random").case(2).queries)).any()


def test_other_seeds_split_otherwise():
    table = Bags(np.full((20, 5), 3))
    one, two = (dense(Split(table, by="random").case(seed).queries) for seed in (1, 2))
    assert one.shape != two.shape or (one != two).any()


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (Bags([[1]]), {}, "these Bags have no time"),
        (Bags([[1]]), {"by": "column"}, "Bags have no columns to split by"),
        (Traces([[0]], 1), {"by": "column"}, "Traces have no columns to split by"),
        (Events({"u": [1], "i": [1]}, user="u", items="i"), {}, "these Events have no time"),
        (Bags([[1]]), {"by": "half"}, "by must be one of time, random, column, not 'half'"),
        (Bags([[1]]), {"by": "random", "share": 1.0}, "share must lie strictly between 0 and 1"),
        (Traces([[0]], 1), {"apart": True}, "are for by='random'"),
        (Bags([[1]]), {"by": "random", "at": 3}, "at=3 is a moment, for by='time'"),
        (Bags([[1]]), {"by": "random", "apart": True, "independent": True}, "choose one"),
        (Bags([[1]]), {"by": "random", "column": "x"}, "column='x' is for by='column'"),
    ],
)
def test_what_does_not_go_together_is_refused(table, options, message):
    with pytest.raises(OptionError, match=message):
        Split(table, **options)


def test_other_refusals():
    with pytest.raises(DataError, match="Split takes Events, Bags, Traces, Vectors, not TopSets"):
        Split(TopSets([[[0]]], 2))
    with pytest.raises(DataError, match="one epoch, which has no later part"):
        Split(Traces([[0]], 1)).case()
    with pytest.raises(OptionError, match="seed must be a whole number"):
        Split(Bags([[1]]), by="random").case(-1)


def test_periods_may_lie_apart_and_need_not_be_equally_long():
    log = [(1, 0, 1), (1, 1, 5), (1, 2, 9), (2, 0, 2), (2, 3, 8), (3, 1, 4), (3, 1, 9)]
    case = Split(events(log), by="time", at=(4, 8)).case()
    assert dense(case.targets).tolist() == [[1, 0, 0, 0], [1, 0, 0, 0]]
    assert dense(case.queries).tolist() == [[0, 0, 1, 0], [0, 0, 0, 1]]
    assert case.truth.target.tolist() == [0, 1]
    assert [note.code for note in case.notes] == ["split-between", "nothing-on-one-side"]
    traces = Traces(np.arange(12).reshape(2, 6), n_tokens=12)
    case = Split(traces, at=(1, 4)).case()
    assert [bag.counts.sum(axis=1).tolist() for bag in (case.targets, case.queries)] == [[1, 1], [2, 2]]
    assert (case.notes[0]["known"], case.notes[0]["asked"]) == (1, 2)
    assert Split(traces, at=5).case().queries.counts.sum() == 2
    for wrong, message in (((8, 4), "runs backwards"), ((1, 2, 3), "one moment, or a pair")):
        with pytest.raises(OptionError, match=message):
            Split(events(log), at=wrong).case()
    for epoch in (0, 6, 2.5, (3, 2)):
        with pytest.raises(OptionError, match="no epoch from 1 to 5"):
            Split(traces, at=epoch).case()


def test_each_visit_can_be_a_query_of_its_own():
    log = [(1, 0, 1), (1, 1, 5), (1, 2, 5), (1, 2, 9), (2, 0, 2), (2, 3, 8)]
    case = Split(events(log), at=5, visit=1).case()
    assert dense(case.queries).tolist() == [[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert case.truth.target.tolist() == [0, 0, 1]
    assert (case.notes[-1].code, case.notes[-1]["queries"]) == ("several-each", 3)
    with pytest.raises(OptionError, match="visit='day' is for Events split by time or by a column"):
        Split(events(log), by="random", visit="day")
