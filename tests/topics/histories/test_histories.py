"""Histories at the door, epochs of any length and step, and top sets that agree with counting by hand."""

from collections import Counter
from datetime import UTC, datetime

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from reidrisk import topics
from reidrisk.base import errors
from reidrisk.base.errors import DataError, FormatError, OptionError
from reidrisk.base.hosts import checked_observers, registrable
from reidrisk.topics import Browser, Epochs, HostClassifier, Taxonomy, histories_from_frame, read_histories, replay

DAY, WEEK = 86_400, 7 * 86_400
TAXONOMY = Taxonomy({1: "/News", 7: "/News/Weather", 4: "/Sports", **{10 + i: f"/T{i}" for i in range(9)}})
HOSTS = {"rain.com": [7, 1], "golf.org": [4], "none.net": [], **{f"t{i}.com": [10 + i] for i in range(9)}}
CLASSIFIER = HostClassifier(TAXONOMY, HOSTS)


def frame(rows):
    users, times, hosts = zip(*rows, strict=True)
    return pl.DataFrame({"user": users, "timestamp": times, "host": hosts})


def visits(rows, **options):
    return histories_from_frame(frame(rows), **options)


def test_every_form_of_time_gives_the_same_visits(tmp_path):
    seconds = [1_714_550_400, 1_714_550_461, 1_714_640_000]
    moments = [datetime.fromtimestamp(s, UTC) for s in seconds]
    forms = {
        "seconds": seconds,
        "zoned": pl.Series(moments).dt.convert_time_zone("Europe/Berlin"),
        "naive": pl.Series([m.replace(tzinfo=None) for m in moments]).dt.cast_time_unit("ns"),
        "milliseconds": pl.Series(moments).dt.cast_time_unit("ms"),
        "text": [m.strftime("%Y-%m-%d %H:%M:%S") for m in moments],
        "fractions": [m.strftime("%Y-%m-%dT%H:%M:%S.25") for m in moments],
        "zoned text": [m.astimezone().strftime("%Y-%m-%dT%H:%M:%S%z") for m in moments],
    }
    for form, times in forms.items():
        table = pl.DataFrame({"who": ["a", "b", "a"], "at": times, "where": ["rain.com", "golf.org", "rain.com"]})
        table.write_parquet(tmp_path / "v.parquet")
        names = {"user": "who", "timestamp": "at", "host": "where"}
        found = read_histories(tmp_path / "v.parquet", **names)
        assert found.time.tolist() == [seconds[0], seconds[2], seconds[1]], form
        assert (found.user.tolist(), found.users.to_pylist()) == ([0, 0, 1], ["a", "b"])
        if form in ("seconds", "text", "fractions", "zoned text"):
            table.write_csv(tmp_path / "v.csv")
            assert read_histories(tmp_path / "v.csv", **names).time.tolist() == found.time.tolist(), form


def test_visits_of_many_users_are_grouped_and_sorted_on_request():
    rows = [(2, 50, "a.com"), (1, 10, "b.com"), (2, 20, "b.com"), (1, 30, "a.com"), (2, 20, "a.com")]
    found = visits(rows, sort=True)
    assert found.users.tolist() == [2, 1]
    assert list(zip(found.user.tolist(), found.time.tolist(), found.host.tolist(), strict=True)) == [
        (0, 20, 1), (0, 20, 0), (0, 50, 0), (1, 10, 1), (1, 30, 0)
    ]  # fmt: skip
    with pytest.raises(DataError, match=r"row 3, column 'timestamp' holds 1970-01-01 00:00:20 UTC, earlier than row 1"):
        visits(rows)


GOOD = [("a", 5, "a.com"), ("b", 6, "b.com")]


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [([*GOOD, ("b", 7, "http://x.org/")], {}, r"row 3, column 'host' holds 'http://x.org/': it has a scheme"),
     ([*GOOD, ("b", 7, "10.0.0.1")], {}, "row 3, column 'host' holds '10.0.0.1': it is an IP address"),
     ([*GOOD, ("b", 7, None)], {}, "row 3, column 'host' holds None: it is empty"),
     ([*GOOD, (None, 7, "a.com")], {}, "row 3, column 'user' has no user id"),
     ([*GOOD, ("b", None, "a.com")], {}, "row 3, column 'timestamp' is empty"),
     ([*GOOD, ("b", 1_714_550_400_000, "a.com")], {}, "row 3.* holds 1714550400000; .*seconds .*not milliseconds"),
     ([*GOOD, ("b", -7, "a.com")], {}, "row 3.* holds -7; whole numbers are seconds since 1970, and not negative"),
     ([*GOOD, ("a", 99, "a.com")], {"now": 50}, "row 3.* 00:01:39 UTC, later than now, 1970-01-01 00:00:50 UTC"),
     ([*GOOD, ("a", 99, "a.com")], {"now": "1970-01-01T00:00:50Z"}, "later than now, 1970-01-01 00:00:50 UTC"),
     ([*GOOD, ("a", 1_500_000_001, "a.com")], {"now": " 1500000000"}, "later than now, 2017-07-14 02:40:00 UTC"),
     (GOOD, {"now": "1789000000000"}, r"now \(--now\) is 1789000000000; .* seconds since 1970, not milliseconds"),
     (GOOD, {"now": "soon"}, "is 'soon'; give times such as"), (GOOD, {"now": True}, "is True"),
     (GOOD, {"invalid": "keep"}, "invalid must be"), (GOOD, {"host": "url"}, "no column 'url' in it, only 'user'"),
     (GOOD, {"host": "user"}, "three different columns")],
)  # fmt: skip
def test_bad_visits_are_one_clear_line(rows, options, message):
    with pytest.raises(errors.ReidRiskError, match=message) as caught:
        visits(rows, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("times", "message"),
    [(["2024-05-01 08:00:00", "yesterday"], "row 2, column 'timestamp' holds 'yesterday', which is no time"),
     (["2024-05-01 08:00:00", "2024-13-01 08:00:00"], "row 2.*'2024-13-01 08:00:00', which is no time"),
     (["2024-05-01 08:00:00", "2024-05-01 08:00:00Z"], "row 2.*; name the zone in every row or in none"),
     (["2024-05-01 08:00:00Z", "2024-05-01 08:00:00"], "row 2.*; name the zone in every row or in none"),
     (["2024-05-01", "12"], "row 2, column 'timestamp' holds '12'"), (["", "2024-05-01"], "row 1.*is empty"),
     (["2024-05-01", "9024-05-01"], "row 2.*9024-05-01 00:00:00 UTC, later than now"),
     (["nan", "2024-05-01"], "row 1, column 'timestamp' holds 'nan'"), (["1.5", "2.5"], "row 1.*holds '1.5'")],
)  # fmt: skip
def test_bad_times_are_one_clear_line(times, message, tmp_path):
    file = tmp_path / "visits.csv"
    file.write_text("user,timestamp,host\n" + "".join(f"{i},{t},a.com\n" for i, t in enumerate(times)))
    with pytest.raises(errors.ReidRiskError, match=message):
        read_histories(file)


def test_the_first_bad_time_of_many_is_found(tmp_path):
    times = ["2024-05-01 08:00:00"] * 3000
    times[1234] = times[2000] = "08:00"
    with pytest.raises(DataError, match=r"row 1235, .*holds '08:00'"):
        histories_from_frame(pl.DataFrame({"user": range(3000), "timestamp": times, "host": ["a.com"] * 3000}))


def test_damaged_and_empty_files_are_refused(tmp_path):
    file = tmp_path / "v.parquet"
    frame(GOOD * 500).write_parquet(file)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match="cannot be read as Parquet"):
        read_histories(file)
    frame(GOOD).clear().write_parquet(file)
    with pytest.raises(DataError, match="the table is empty; give at least one visit"):
        read_histories(file)
    with pytest.raises(FormatError, match="'timestamp' is of type double"):
        visits([("a", 1.5, "a.com")])


def test_times_beyond_the_calendar_do_not_break_the_message():
    far = pl.Series([0, 2**62]).cast(pl.Datetime("us"))
    with pytest.raises(DataError, match=r"row 2.*second \d+ since 1970, later than now"):
        histories_from_frame(pl.DataFrame({"user": [1, 2], "timestamp": far, "host": ["a.com", "a.com"]}))


@pytest.mark.parametrize(
    ("number", "kind"),
    [(2**64 // 10**6, pa.timestamp("s")), (-(2**64) // 10**6, pa.timestamp("s", "UTC")),
     (2**64 // 1000 + 1, pa.timestamp("ms")), (2**31 - 1, pa.date32()), (86_400_000 * 10**9, pa.date64())],
)  # fmt: skip
def test_a_time_that_would_wrap_to_1970_is_refused(number, kind):
    table = pa.table({"user": [1, 2], "timestamp": pa.array([0, number], kind), "host": ["a.com", "a.com"]})
    with pytest.raises(
        DataError, match=rf"row 2, column 'timestamp' holds {number} .*out of range; give times such as"
    ):
        histories_from_frame(table)


def test_dates_and_nanoseconds_are_whole_microseconds():
    days = pa.array([3, 4], pa.date32())
    for times in (days, days.cast(pa.date64()), pa.array([3 * DAY * 10**9 + 999, 4 * DAY * 10**9], pa.timestamp("ns"))):
        found = histories_from_frame(pa.table({"user": [1, 2], "timestamp": times, "host": ["a.com", "a.com"]}))
        assert found.time.tolist() == [3 * DAY, 4 * DAY]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(0, 60 * DAY), min_size=1, max_size=30), st.integers(1, 20), st.integers(1, 20))
def test_epochs_agree_with_their_definition(times, days, step):
    moments = np.array(times)
    end = (max(times) // DAY + 1) * DAY
    starts = [e * step * DAY for e in range(100) if e * step * DAY + days * DAY <= end]
    if not starts:
        with pytest.raises(DataError, match="shorter than one epoch"):
            Epochs.spanning(moments, days, step, start=0)
        return
    epochs = Epochs.spanning(moments, days, step, start=0)
    assert epochs.n == len(starts)
    members = list(epochs.members(moments))
    for i, time in enumerate(times):
        direct = {e for e, start in enumerate(starts) if start <= time < start + days * DAY}
        assert {int(epoch[i]) for epoch, inside in members if inside[i]} == direct
        ended = [e for e, start in enumerate(starts) if start + days * DAY <= time]
        assert epochs.latest(moments)[i] == max(ended, default=-1)


def test_the_epochs_of_the_first_paper():
    """Eight intervals of 7 days shifted by 3, days [1, 7], [4, 10], [7, 13], ... (carey, Section 6): 28 days."""
    epochs = Epochs.spanning(np.array([0, 28 * DAY - 1]), 7, 3)
    assert epochs.n == 8
    days = [[int(e[0]) for e, inside in epochs.members(np.array([(d - 1) * DAY])) if inside[0]] for d in range(1, 29)]
    assert [d + 1 for d in range(28) if 1 in days[d]] == list(range(4, 11))
    assert [d + 1 for d in range(28) if 7 in days[d]] == list(range(22, 29))


@pytest.mark.parametrize("days", [0, -1, float("nan"), float("inf"), True, "7", 1e9, 1e-6])
def test_bad_epochs_are_named(days):
    for options in ({"days": days}, {"step_days": days}):
        with pytest.raises(OptionError, match=r"must be a number from 1/86,400 \(one second\) to 730,000 days, not "):
            Epochs.spanning(np.array([0, 20 * DAY]), **options)


def test_one_wrong_time_does_not_fill_the_memory():
    with pytest.raises(DataError, match="epochs, more than 10,000; one wrong time may be the cause"):
        replay(visits([("a", 0, "a.com"), ("b", 1_700_000_000, "a.com")]), CLASSIFIER, step_days=0.5)


def many(seed=0, n_users=60, n=9000, weeks=6):
    rng = np.random.default_rng(seed)
    hosts = np.array([*HOSTS, "www.rain.com", "unheard-of.net"])
    favourite = rng.integers(len(hosts), size=(n_users, 3))
    user = rng.integers(n_users, size=n)
    host = np.where(rng.random(n) < 0.6, favourite[user, rng.integers(3, size=n)], rng.integers(len(hosts), size=n))
    return [
        (int(u), int(t), str(hosts[h])) for u, t, h in zip(user, rng.integers(weeks * WEEK, size=n), host, strict=True)
    ]


@pytest.mark.parametrize(("days", "step"), [(7, 7), (7, 3), (2, 5)])
def test_top_sets_agree_with_counting_by_hand(days, step):
    rows = many()
    found = replay(visits(rows, sort=True), CLASSIFIER, top_k=3, epoch_days=days, step_days=step, seed=4)
    sets = found.top_sets
    counts: dict[tuple[int, int], Counter] = {}
    outside = 0
    for user, time, host in rows:
        hit = [e for e in range(found.epochs.n) if 0 <= time - e * step * DAY < days * DAY]
        outside += not hit
        for e in hit:
            ids = HOSTS.get(host.removeprefix("www."), [])
            counts.setdefault((user, e), Counter()).update(TAXONOMY.to_tokens(ids).tolist())
    assert found.n_outside == outside
    padding = 0
    for row, user in enumerate(sets.users.tolist()):
        for epoch in range(sets.n_epochs):
            counted = counts.get((user, epoch), Counter())
            held = sets.tokens[row, epoch].tolist()
            best = sorted(counted.values(), reverse=True)[:3]
            assert [counted[t] for t in held[: len(best)]] == best
            assert not any(counted[t] for t in held[len(best) :])
            padding += 3 - len(best)
    assert found.n_padding == padding
    assert sets.is_padded
    assert found.visits.n == len(rows)
    assert found.visits.shares["unknown"] == pytest.approx(np.mean([h == "unheard-of.net" for _, _, h in rows]))
    assert (found.hosts.n, found.hosts.no_topic, found.hosts.unknown) == (14, 1, 1)


def test_top_sets_are_those_of_a_browser_by_the_specification():
    """Same history, untied places: exactly the same topics, with and without utility buckets."""
    rows = many(seed=1, n_users=8, n=4000, weeks=4)
    for high in ((), (4, 12)):
        found = replay(visits(rows, sort=True), CLASSIFIER, top_k=3, start=0, high_utility=high)
        compared = 0
        for row, user in enumerate(found.top_sets.users.tolist()):
            browser = Browser(
                TAXONOMY, start=-1, top_k=3, high_utility=high
            )  # a browser's week includes its last second
            own = sorted((time, host) for who, time, host in rows if who == user)
            for epoch in range(4):
                for time, host in own:
                    if time // WEEK == epoch:
                        browser.visit(time, HOSTS.get(host.removeprefix("www."), []), ["ads.example"])
                browser.topics((epoch + 1) * WEEK, "a.example", "ads.example")
                counted = Counter(
                    t for time, host in own if time // WEEK == epoch for t in HOSTS.get(host.removeprefix("www."), [])
                )
                held = TAXONOMY.to_ids(found.top_sets.tokens[row, epoch]).tolist()
                tied = {count for count, times in Counter(counted.values()).items() if times > 1}
                for ours, theirs in zip(held, browser.epochs[-1].topics, strict=True):
                    if counted[theirs] not in tied and counted[theirs]:
                        assert ours == theirs
                        compared += 1
        assert compared > 20


def test_ties_and_padding_are_uniform_and_follow_the_seed():
    rows = [(user, 6 * DAY, host) for user in range(9000) for host in ("t0.com", "t1.com", "t2.com")]
    found = replay(visits(rows), CLASSIFIER, top_k=2, start=0, seed=3).top_sets.tokens[:, 0]
    values, counts = np.unique(found[:, 0] * 100 + found[:, 1], return_counts=True)
    assert len(values) == 6
    assert chisquare(counts).pvalue > 1e-3
    padded = replay(
        visits([(u, 6 * DAY, "t0.com") for u in range(9000)]), CLASSIFIER, top_k=2, start=0, seed=3
    ).top_sets.tokens
    values, counts = np.unique(padded[:, 0, 1], return_counts=True)
    assert len(values) == len(TAXONOMY) - 1
    assert chisquare(counts).pvalue > 1e-3
    again, other = (replay(visits(rows), CLASSIFIER, top_k=2, start=0, seed=s).top_sets.tokens[:, 0] for s in (3, 4))
    assert np.array_equal(found, again)
    assert not np.array_equal(found, other)


def test_idle_browsers_hold_padding_or_their_users_are_left_out():
    rows = [("a", 0, "t0.com"), ("b", 1, "t1.com"), ("c", 2, "t2.com")]
    rows += [("a", WEEK + 1, "t0.com"), ("b", 2 * WEEK - 1, "t1.com")]
    found = replay(visits(rows), CLASSIFIER, top_k=2)
    assert (found.top_sets.users.to_pylist(), found.n_idle, found.n_padding, found.n_dropped) == (
        ["a", "b", "c"],
        1,
        7,
        0,
    )
    active = replay(visits(rows), CLASSIFIER, top_k=2, every_epoch=True)
    assert (active.top_sets.users.to_pylist(), active.n_idle, active.n_dropped) == (["a", "b"], 0, 1)
    assert "only-active-kept" in [note.code for note in active.notes]
    with pytest.raises(DataError, match="only 1 of 3 users has a visit in every one of 2 epochs; give at least 2"):
        replay(visits([rows[0], rows[1], rows[2], rows[4]]), CLASSIFIER, top_k=2, every_epoch=True)
    with pytest.raises(DataError, match="none of 2 users has a visit in every one of 2 epochs; give at least 2"):
        replay(
            visits([rows[0], ("b", WEEK + 1, "t1.com"), ("b", 2 * WEEK - 1, "t1.com")]), CLASSIFIER, every_epoch=True
        )
    with pytest.raises(DataError, match="there is 1 user; give at least 2"):
        replay(visits([("a", 6 * DAY, "t0.com")]), CLASSIFIER)
    with pytest.raises(OptionError, match="top_k must be"):
        replay(visits(rows), CLASSIFIER, top_k=99)
    with pytest.raises(OptionError, match="high_utility names root topics; 7 is '/News/Weather'"):
        replay(visits(rows), CLASSIFIER, high_utility=[7])


def test_an_observer_learns_the_epochs_that_had_ended_when_the_user_came():
    rows = [("a", day * DAY, "t0.com") for day in range(28)] + [("b", 0, "t1.com"), ("b", 27 * DAY, "t1.com")]
    rows += [("a", 3 * DAY, "shop.co.uk"), ("a", 2 * WEEK, "www.shop.co.uk"), ("b", 4 * WEEK - 1, "pay.shop.co.uk")]
    found = replay(visits(rows, sort=True), CLASSIFIER, top_k=2)
    came = found.visits_to(["shop.co.uk", "other.com"])
    assert came.shape == (2, 2, 4)
    assert came[0].astype(int).tolist() == [[0, 1, 0, 0], [0, 0, 1, 0]]  # the first visit is before any epoch ended
    assert not came[1].any()
    api = topics.TopicsAPI(len(TAXONOMY), top_k=2)
    seen = api.observe(found.top_sets, 1, "shop.co.uk", came[0])
    assert seen.observed.astype(int).tolist() == [[1, 1, 0, 0], [1, 1, 1, 0]]


def test_browsers_by_the_specification_tell_topics_of_the_same_sets():
    rows = many(seed=2, n_users=20, n=8000)
    rows += [(user, week * WEEK + user * 20_000, "pay.shop.com") for user in range(20) for week in range(6) if user % 2]
    found = replay(visits(rows, sort=True), CLASSIFIER, top_k=3, start=0)
    one, two = topics.browse(found, CLASSIFIER, ["shop.com", "b.com"], noise=0.0, seed=1)
    real = found.top_sets.tokens
    for seen in (one, two):
        told = seen.observed
        assert told.mean() > 0.9  # everybody visits many topics: hardly any padding
        # Ties are drawn by each browser for itself: a tied third place may be held by another topic there.
        assert (real[told] == seen.tokens[told][:, None]).any(axis=1).mean() > 0.9
    both = one.observed & two.observed
    assert np.mean(one.tokens[both] == two.tokens[both]) == pytest.approx(1 / 3, abs=0.15)

    came = topics.browse(found, CLASSIFIER, ["shop.com", "b.com"], noise=0.0, presence="visits", seed=1)
    assert not came[1].observed.any()
    seen, full = came[0].tokens, one.tokens
    assert (seen[came[0].observed] == full[came[0].observed]).all()  # asked on another day, the same answer
    # A new epoch comes up to two days late, and the oldest of three stays as long: never more than four in question.
    matrix = found.visits_to(["shop.com"])[0]
    api = topics.TopicsAPI(len(TAXONOMY), top_k=3)
    assert not (came[0].observed & ~api.observe(found.top_sets, 0, "shop.com", matrix, shown=4).observed).any()
    two_old = matrix.copy()
    two_old[:, :-1] = matrix[:, 1:]  # while e + 1 is the latest, e is always shown
    two_old[:, -1] = False
    assert (came[0].observed | ~two_old | ~one.observed).all()
    with pytest.raises(OptionError, match="by the specification epochs have 7 days"):
        topics.browse(replay(visits(rows, sort=True), CLASSIFIER, step_days=3), CLASSIFIER, ["b.com"])
    with pytest.raises(OptionError, match="presence must be"):
        topics.browse(found, CLASSIFIER, ["b.com"], presence="never")


def test_noise_that_everybody_is_told_is_not_told_of_weeks_without_a_visit():
    """By the original rule a caller is told random topics of idle weeks as well, unless nobody met the user there."""
    rows = [row for row in many(seed=3, n_users=12) if not (row[0] % 3 == 0 and row[1] // WEEK in (2, 4))]
    found = replay(visits(rows, sort=True), CLASSIFIER, top_k=3, start=0)
    assert found.n_idle == 2 * 4
    noisy = {"noise": 1.0, "noise_rule": "original", "seed": 1}
    always, active = (
        topics.browse(found, CLASSIFIER, ["b.com"], presence=presence, **noisy)[0] for presence in ("always", "active")
    )
    assert always.observed.all()
    assert np.array_equal(active.observed, found.active)
    assert np.array_equal(active.tokens[found.active], always.tokens[found.active])


def test_observers_are_registrable_domains():
    assert registrable(["A.b.co.uk.", "x.github.io", "com", None], "none") == ["b.co.uk", "x.github.io", None, None]
    for bad, why in {
        "www.a.com": "it belongs to a.com; give a.com", "co.uk": "public suffix", "a.com/x": "more than a host",
        "": "it is empty", "localhost": "public suffix", "a b.com": "it has blanks",
    }.items():  # fmt: skip
        with pytest.raises(OptionError, match=why):
            checked_observers(["ok.com", bad])
    with pytest.raises(OptionError, match=r"'B.com' is named twice"):
        checked_observers(["b.com", "B.com"])
    with pytest.raises(OptionError, match="at least one observer"):
        checked_observers([])


@pytest.mark.data
def test_the_panel_of_five_people(study_file):
    pyreadr = pytest.importorskip("pyreadr")
    panel = study_file("webtrackr_panel/testdt_tracking.rda")
    table = pyreadr.read_r(panel, output_format="polars")["testdt_tracking"]
    host = pl.col("url").str.extract(r"^[a-z]+://([^/:?#]*)")
    histories = histories_from_frame(table.with_columns(host=host), user="panelist_id", invalid="count")
    assert (len(histories), histories.n_users) == (49_612, 5)
    taxonomy = Taxonomy.read(study_file("topics_taxonomy/taxonomy_v2.md"))
    listed = study_file("topics_chrome_model/chrome5/override_list.tsv")
    chrome = HostClassifier.from_override_list(listed, taxonomy)
    found = replay(histories, chrome)
    assert found.top_sets.tokens.shape == (5, 24, 5)
    assert found.visits.shares["topics"] == pytest.approx(0.505, abs=0.001)
    shifted = replay(histories, chrome, step_days=3)
    assert shifted.epochs.n == (169 - 7) // 3 + 1  # 169 days, the last one included
    assert shifted.top_sets.users.equals(found.top_sets.users)
