"""A raw log becomes events: whatever its frame and the order of its rows, nothing is lost without being counted."""

from collections import Counter, defaultdict
from datetime import UTC, date, datetime

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk.base.errors import DataError, OptionError, SizeError
from reidrisk.records import Events

DAY = 86_400.0
rows = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob", "eve", None, ""]),
        st.sampled_from(["tea", "rum", "gin", None]),
        st.one_of(st.none(), st.integers(-40, 40)),
        st.one_of(st.none(), st.integers(0, 3)),
    ),
    min_size=1,
    max_size=30,
)


def frame(log):
    names, kinds = ("who", "what", "day", "n"), (pa.string(), pa.string(), pa.int64(), pa.int64())
    columns = zip(*log, strict=True)
    return pa.table({name: pa.array(values, kind) for name, values, kind in zip(names, columns, kinds, strict=True)})


def read(table, **changes):
    return Events(table, **{"user": "who", "items": "what", "time": "day", "amount": "n"} | changes)


def whole(log):
    return [row for row in log if row[0] and row[1] and row[2] is not None and row[3]]


@settings(deadline=None)
@given(rows, st.randoms())
def test_every_row_is_an_event_or_counted_and_their_order_does_not_matter(log, random):
    if not whole(log):
        with pytest.raises(DataError, match=f"none of the {len(log)} rows is an event"):
            read(frame(log))
        return
    events, summary = read(frame(log)), read(frame(log)).summary()
    assert summary.events == len(events) == len(whole(log))
    assert summary.rows == len(log) == summary.events + sum(summary.dropped.values())
    assert summary.dropped["user"] == sum(not row[0] for row in log)
    found = zip(events.user, events.item, events.time, events.amount, strict=True)
    users, labels = events.users.to_pylist(), events.vocabulary.labels
    assert sorted((users[u], labels[i], t, n) for u, i, t, n in found) == sorted(whole(log))
    assert set(users) == {row[0] for row in whole(log)}
    assert list(labels) == sorted({row[1] for row in whole(log)})
    shuffled = random.sample(log, len(log))
    other = read(frame(shuffled))
    for name in ("user", "item", "time", "amount"):
        assert np.array_equal(getattr(events, name), getattr(other, name))
    assert (events.notes == ()) == (len(whole(log)) == len(log))


@settings(deadline=None)
@given(rows)
def test_bags_add_amounts_up(log):
    if not whole(log):
        return
    events = read(frame(log))
    wanted = Counter()
    for who, what, _, n in whole(log):
        wanted[who, what] += n
    bags = events.bags()
    matrix = bags.counts.toarray()
    users = bags.users.to_pylist()
    found = {(users[u], bags.vocabulary.labels[i]): matrix[u, i] for u, i in zip(*matrix.nonzero(), strict=True)}
    assert found == wanted
    assert events.summary().amount == matrix.sum()
    assert [note.code for note in bags.take(np.array([0])).notes] == [note.code for note in events.notes]


@settings(deadline=None)
@given(rows, st.sampled_from(["first", "last", "most"]), st.integers(1, 30))
def test_traces_are_those_of_a_slow_loop(log, pick, every):
    if not whole(log):
        return
    events = read(frame(log))
    traces = events.traces(every, pick)
    labels, cells = events.vocabulary.labels, defaultdict(list)
    for who, what, day, n in whole(log):
        cells[who, day // every].append((day, labels.index(what), n))
    start = min(period for _, period in cells)
    wanted = np.full(traces.tokens.shape, -1)
    assert traces.n_epochs == max(period for _, period in cells) - start + 1
    for (who, period), held in cells.items():
        total = Counter()
        for _, item, n in held:
            total[item] += n
        most = min(total, key=lambda item: (-total[item], item))
        token = {"first": min(held)[1], "last": max(held)[1], "most": most}[pick]
        wanted[events.users.to_pylist().index(who), period - start] = token
    assert np.array_equal(traces.tokens, wanted)
    note = traces.notes[-1]
    assert (note.code, note["events"]) == ("events-dropped", len(events))
    assert note["share"] == pytest.approx(1.0 - len(cells) / len(events))


def test_any_frame_gives_the_same_events():
    import importlib.util

    log = {"who": [7, 3, 7], "what": ["tea", "rum", "tea"], "day": [1.0, 2.0, 0.5], "n": [1, 2, 3]}
    frames = [log, {name: np.array(values) for name, values in log.items()}, pl.DataFrame(log), pa.table(log)]
    frames.append(pl.DataFrame(log).with_columns(pl.col("what").cast(pl.Categorical)))
    frames.append({name: pl.Series(values) for name, values in log.items()})
    if importlib.util.find_spec("pandas"):
        import pandas as pd

        frames.append(pd.DataFrame(log).astype({"what": "category"}))
    for one in frames:
        events = read(one)
        assert events.users.tolist() == [3, 7]
        assert events.bags().counts.toarray().tolist() == [[2, 0], [0, 4]]
        assert events.time.tolist() == [2.0, 0.5, 1.0]


def test_numbers_are_ids_and_items_even_where_gaps_made_them_fractions():
    events = Events({"u": np.array([2.0, np.nan, 10.0]), "i": np.array([10.0, 2.0, 9.0])}, user="u", items="i")
    assert events.users.tolist() == [2, 10]
    assert events.vocabulary.labels == ("9", "10")
    assert events.summary().dropped["user"] == 1
    stars = Events({"u": [1, 1], "i": [3.5, 4.0]}, user="u", items="i")
    assert stars.vocabulary.labels == ("3.5", "4")


def test_several_columns_are_one_item():
    log = {"u": [1, 1, 1, 2, 2], "a": ["x", "x", None, "x/y", None], "b": [1, 2, 2, 1, None]}
    events = Events(log, user="u", items=["a", "b"])
    assert events.vocabulary.labels == (" // 2", "x // 1", "x // 2", "x/y // 1")
    assert events.bags().counts.toarray().tolist() == [[1, 1, 1, 0], [0, 0, 0, 1]]
    assert events.summary().dropped["item"] == 1


def test_weeks_begin_on_monday_and_months_are_those_of_the_calendar():
    days = [date(2024, 1, 31), date(2024, 2, 4), date(2024, 2, 5), date(2024, 2, 29), date(2024, 3, 1)]
    events = Events({"u": [1] * 5, "i": list("abcde"), "t": days}, user="u", items="i", time="t")
    assert events.traces("week").tokens.tolist() == [[0, 2, -1, -1, 3]]
    assert events.traces("month").tokens.tolist() == [[0, 1, 4]]
    assert events.traces("day", "last").n_epochs == 31
    assert events.traces(7).n_epochs == 6, "sevens of days since 1970, a Thursday"


def test_a_day_ends_at_midnight_of_the_place():
    late = pl.Series([datetime(2024, 5, 31, 23, 30, tzinfo=UTC)]).dt.convert_time_zone("Asia/Tokyo")
    events = Events({"u": [1], "i": ["a"], "t": late}, user="u", items="i", time="t")
    assert events.time[0] % DAY == 8.5 * 3600
    plain = Events({"u": [1], "i": ["a"], "t": [datetime(2024, 5, 31, 23, 30)]}, user="u", items="i", time="t")
    assert plain.time[0] == datetime(2024, 5, 31, 23, 30, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("t", ["31.05.2024", "x"], "column 't' holds '31.05.2024', of type large_string; times are dates"),
        ("t", [True, False], "column 't' holds True, of type bool; times are"),
        ("t", [1.0, np.inf], "row 1, column 't' holds inf; times are finite"),
        ("n", [1, -2], "row 1, column 'n' holds -2; amounts are whole numbers from 0 on"),
        ("n", [1.0, 0.5], "row 1, column 'n' holds 0.5; amounts"),
        ("n", [np.inf, 1.0], "row 0, column 'n' holds inf; amounts"),
        ("n", ["1", "2"], "column 'n' holds '1', of type large_string; amounts are whole numbers"),
        ("n", [2**53, 2**53 + 2], "row 1, column 'n' holds .*; amounts"),
        ("u", [1.5, 2.0], "column 'u' holds 1.5; give whole numbers or text"),
        ("u", [[1], [2]], "column 'u' is of type list"),
        ("i", [b"a", b"b"], "column 'i' is of type binary"),
        ("i", [None, None], "none of the 2 rows is an event"),
        ("i", ["a", 1], "the columns cannot be read"),
        ("i", ["a"], "the columns cannot be read"),
    ],
)
def test_what_is_wrong_is_named(column, values, message):
    log = {"u": [1, 2], "i": ["a", "b"], "t": [1, 2], "n": [1, 1]} | {column: values}
    with pytest.raises(DataError, match=message) as refused:
        Events(log, user="u", items="i", time="t", amount="n")
    assert "\n" not in str(refused.value)


def test_other_refusals():
    log = {"u": [1], "i": ["a"], "t": [1.0]}
    with pytest.raises(DataError, match="no column 'x'; choose from 'u', 'i', 't'"):
        Events(log, user="x", items="i")
    with pytest.raises(DataError, match="a list has no Arrow interface"):
        Events([1], user="u", items="i")
    with pytest.raises(OptionError, match="items names no column"):
        Events(log, user="u", items=[])
    events = Events(log, user="u", items="i", time="t")
    with pytest.raises(OptionError, match="times are plain numbers, which have no week"):
        events.traces("week")
    for every in ("year", 0, -1, np.nan, True, None):
        with pytest.raises(OptionError, match="a period is a day, a week, a month or a number"):
            events.traces(every)
    with pytest.raises(OptionError, match="pick must be one of first, last, most, not 'best'"):
        events.traces(1, "best")
    with pytest.raises(DataError, match="have no time"):
        Events(log, user="u", items="i").traces("week")
    with pytest.raises(OptionError, match="without the column 'shop'"):
        events.kept("shop")
    far = Events({"u": [1, 1], "i": ["a", "a"], "t": [0.0, 1e12]}, user="u", items="i", time="t")
    with pytest.raises(SizeError, match="take longer periods"):
        far.traces(1)
    with pytest.raises(OptionError, match="too short for times that reach"):
        far.traces(1e-9)


def test_chosen_events_keep_users_vocabulary_and_further_columns():
    log = {"u": ["b", "a", "a"], "i": ["x", "y", "x"], "shop": ["s", "s", None]}
    events = Events(log, user="u", items="i", keep="shop")
    assert events.columns == ("shop",)
    codes, values = events.kept("shop")
    assert (codes.tolist(), values) == ([-1, 0, 0], ("s",))
    some = events.take(events.user == 0)
    assert (len(some), some.n_users, some.n_tokens) == (2, 2, 2)
    assert some.bags().counts.toarray().tolist() == [[1, 1], [0, 0]]
    with pytest.raises(ValueError, match="read-only"):
        events.user[0] = 1
