"""The attacker knows a few facts: so many, true but for the stated errors, of those who have them."""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reidrisk import Bags, Traces, attacks, measure
from reidrisk.base.errors import DataError, OptionError
from reidrisk.records import Events
from reidrisk.scenarios import Knows

tables = hnp.arrays(
    np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.sampled_from([0, 0, 1, 2, 50])
)
seeds = st.integers(0, 2**20)


def dense(bags):
    return bags.counts.toarray()


@settings(deadline=None)
@given(tables, st.integers(1, 6), seeds)
def test_facts_of_bags_are_true_and_as_many_as_asked(table, facts, seed):
    held = table.sum(axis=1)
    enough = np.flatnonzero(held)
    bags = Bags(table, users=np.arange(len(table)) + 5)
    if held.max() < facts:
        with pytest.raises(
            DataError, match=f"nobody has {facts} facts, the most of anybody is {table.sum(axis=1).max()}"
        ):
            Knows(bags, facts).case(seed)
        return
    case = Knows(bags, facts).case(seed)
    assert case.targets is bags
    assert case.truth.target.tolist() == enough.tolist()
    assert (case.queries.users == enough + 5).all()
    assert (dense(case.queries).sum(axis=1) == np.minimum(held[enough], facts)).all()
    assert (dense(case.queries) <= table[enough]).all()
    assert (dense(Knows(bags, facts).case(seed).queries) == dense(case.queries)).all()
    for code, n in (("too-few-facts", np.sum(held == 0)), ("known-with-fewer", np.sum((held > 0) & (held < facts)))):
        assert [note["n"] for note in case.notes if note.code == code] == ([n] if n else [])


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30), seeds, st.randoms())
def test_facts_of_events_are_events_whatever_their_amount_and_order(log, seed, random):
    def table(rows):
        user, item = (np.array(column) for column in zip(*rows, strict=True))
        return Events({"u": user, "i": item, "n": user + 7}, user="u", items="i", amount="n")

    counts = np.bincount([user for user, _ in log])
    if counts.max() < 2:
        return
    case, other = (Knows(table(rows), facts=2).case(seed) for rows in (log, random.sample(log, len(log))))
    assert dense(case.queries).sum(axis=1).tolist() == np.minimum(counts[counts > 0], 2).tolist()
    assert case.queries.users.tolist() == np.flatnonzero(counts).tolist()
    assert (dense(case.queries) <= dense(case.targets)[case.truth.target]).all()
    assert (dense(case.queries) == dense(other.queries)).all()
    assert dense(case.targets).sum(axis=1).tolist() == counts[counts > 0].tolist()


@pytest.mark.parametrize("attack", [attacks.ProfileBayes, attacks.NaiveBayes])
def test_amounts_of_events_hide_nobody(attack):
    """Facts are events. Whoever holds the log sees how many of each there are, however much each was of."""
    rng = np.random.default_rng(0)
    item = np.concatenate([rng.choice(8, 40, p=taste) for taste in rng.dirichlet(np.full(8, 0.7), 300)])
    log = {"who": np.repeat(np.arange(300), 40), "what": item, "n": np.ceil(rng.lognormal(0.0, 2.0, len(item)))}
    rates = []
    for amount in ("n", None):
        case = Knows(Events(log, user="who", items="what", amount=amount), facts=16).case(seed=0)
        rates.append(measure.random_user(attack(), case.targets, case.queries, case.truth).rate)
    assert rates[0] == rates[1] > 0.12


@settings(deadline=None)
@given(hnp.arrays(np.int16, (6, 5), elements=st.integers(-1, 3)), st.integers(1, 4), seeds, st.booleans())
def test_facts_of_traces_stay_in_their_epoch(tokens, facts, seed, some):
    table = Traces(tokens, n_tokens=4)
    columns = (0, 2, 3, 4) if some else None
    among = np.isin(np.arange(5), columns or range(5))
    held = ((tokens >= 0) & among).sum(axis=1)
    enough = np.flatnonzero(held)
    if held.max() < facts:
        return
    case = Knows(table, facts, columns=columns).case(seed)
    shown = case.queries.tokens
    assert case.truth.target.tolist() == enough.tolist()
    assert ((shown >= 0).sum(axis=1) == np.minimum(held[enough], facts)).all()
    assert (shown[shown >= 0] == tokens[enough][shown >= 0]).all()
    assert not (shown[:, ~among] >= 0).any()


def test_every_cell_is_equally_likely():
    case = Knows(Traces(np.zeros((6_000, 4), dtype=np.int16), 1), facts=1).case(3)
    assert np.abs((case.queries.tokens == 0).mean(axis=0) - 0.25).max() < 0.03


@pytest.mark.parametrize("kind", ["bags", "traces", "events"])
def test_errors_are_drawn_by_popularity(kind):
    tokens = np.tile([0, 0, 0, 1, 1, 1, 1, 1], (2_000, 1)).astype(np.int16)
    tokens[:1_000] += 2  # half of the people have tokens 2 and 3 only
    table = Traces(tokens, n_tokens=5)
    if kind == "bags":
        table = table.bags()
    if kind == "events":
        table = Events({"u": np.repeat(np.arange(2_000), 8), "i": tokens.ravel()}, user="u", items="i")
    case = Knows(table, facts=4, errors=0.4).case(0)
    shown = case.queries.bags() if kind == "traces" else case.queries
    rates = dense(shown)[:1_000].mean(axis=0) / 4
    wanted = 0.4 * np.array([3, 5, 3, 5, 0]) / 16 + 0.6 * np.array([0, 0, 3, 5, 0]) / 8
    assert np.abs(rates - wanted[: len(rates)]).max() < 0.03
    assert (dense(shown).sum(axis=1) == 4).all()
    assert (case.notes[0].code, case.notes[0]["errors"]) == ("knows-facts", 0.4)


def test_all_facts_wrong_leave_little_to_find():
    rng = np.random.default_rng(0)
    table = Bags(rng.poisson(0.2, (300, 200)) + np.eye(300, 200, dtype=np.int64))
    rates = []
    for errors in (0.0, 1.0):
        targets, queries, truth = Knows(table, facts=5, errors=errors).case(1)
        rates.append(measure.random_user(attacks.Overlap(), targets, queries, truth=truth).rate)
    assert rates[0] > 0.5
    assert rates[1] < 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"facts": 0}, "facts must be a whole number of at least 1, not 0"),
        ({"facts": 2.0}, "facts must be a whole number"),
        ({"errors": 1.5}, "errors is a probability from 0 to 1, not 1.5"),
        ({"columns": [2]}, r"columns are different epochs from 0 to 1, not \[2\]"),
        ({"columns": []}, "columns are different epochs"),
        ({"columns": [0, 0]}, "columns are different epochs"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        Knows(Traces([[0, 1]], 2), **options)


def test_other_refusals():
    with pytest.raises(OptionError, match="epochs of Traces, which Bags have not"):
        Knows(Bags([[1]]), columns=[0])
    with pytest.raises(DataError, match="Knows takes Events, Bags, Traces, Attributes, not list"):
        Knows([[1]])


@settings(deadline=None)
@given(tables, st.integers(1, 5), seeds)
def test_the_rarest_facts_are_those_of_the_fewest_holders_each_item_once_first(table, facts, seed):
    enough = np.flatnonzero(table.sum(axis=1))
    if table.sum(axis=1).max() < facts:
        return
    case = Knows(Bags(table), facts, which="rarest").case(seed)
    holders = (table > 0).sum(axis=0)
    for row, shown in zip(enough, dense(case.queries), strict=True):
        assert (shown <= table[row]).all()
        # Each item once by rising number of holders, then a second time what is there twice.
        ranks = sorted((again, holders[i]) for i in range(table.shape[1]) for again in range(table[row, i]))
        told = sorted((again, holders[i]) for i in range(table.shape[1]) for again in range(shown[i]))
        assert told == ranks[:facts]


def test_the_rarest_items_of_events_are_counted_by_people_not_by_events():
    # Ann alone has 'x', often; 'y' is rare among events but held by two.
    log = {"u": ["ann"] * 5 + ["bob", "bob", "eve"], "i": ["x", "x", "x", "y", "z", "y", "z", "z"]}
    case = Knows(Events(log, user="u", items="i"), facts=2, which="rarest").case()
    assert dense(case.queries).tolist() == [[1, 1, 0], [0, 1, 1], [0, 0, 1]]


def test_the_first_facts_are_the_first_in_time():
    log = {"u": [1, 1, 1, 2, 2, 2], "i": ["c", "a", "b", "b", "b", "a"], "t": [3, 9, 1, 4, 5, 6]}
    case = Knows(Events(log, user="u", items="i", time="t"), facts=2, which="first").case(5)
    assert dense(case.queries).tolist() == [[0, 1, 1], [0, 2, 0]]
    traces = Traces([[-1, 2, 1, 0], [1, -1, -1, 2]], n_tokens=3)
    assert Knows(traces, facts=2, which="first").case().queries.tokens.tolist() == [[-1, 2, 1, -1], [1, -1, -1, 2]]


def test_the_rarest_cells_of_traces_are_rare_in_their_epoch():
    tokens = np.array([[0, 1, 0], [0, 0, 0], [1, 0, 0], [1, 0, 2]])
    case = Knows(Traces(tokens, n_tokens=3), facts=1, which="rarest").case(2)
    assert case.queries.tokens[0].tolist() == [-1, 1, -1]
    assert case.queries.tokens[3].tolist() == [-1, -1, 2]


def test_rare_facts_find_more_people_than_random_ones():
    rng = np.random.default_rng(3)
    popular = 1.0 / np.arange(1, 201)
    table = Bags(rng.multinomial(12, popular / popular.sum(), size=1_500))
    rates = {}
    for which in ("random", "rarest"):
        targets, queries, truth = Knows(table, facts=3, which=which).case(1)
        rates[which] = measure.random_user(attacks.Overlap(), targets, queries, truth=truth).rate
    assert rates["rarest"] > 1.5 * rates["random"]


@pytest.mark.parametrize("kind", ["bags", "traces"])
def test_several_draws_are_several_queries_of_one_person_and_the_interval_counts_people(kind):
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 12, (400, 6))
    table = Traces(tokens, n_tokens=12)
    table = table if kind == "traces" else table.bags()
    once, often = (Knows(table, facts=2, draws=draws).case(1) for draws in (1, 5))
    assert (len(once.queries), len(often.queries)) == (400, 2_000)
    assert often.queries.users is None
    assert np.bincount(often.truth.target).tolist() == [5] * 400
    assert (often.notes[-1].code, often.notes[-1]["draws"]) == ("knows-facts", 5)
    first, second = (part.queries.take(rows) for part in [often] for rows in (slice(0, 400), slice(400, 800)))
    shown = [part.tokens if kind == "traces" else dense(part) for part in (first, second)]
    assert (shown[0] != shown[1]).any()
    attack = attacks.Hamming() if kind == "traces" else attacks.Overlap()
    targets, queries, truth = often
    many = measure.random_user(attack, targets, queries, truth=truth)
    assert many.queries_per_person == 5.0
    # 2,000 queries of 400 people are worth no more than 400.
    assert many.design_effect >= 5.0


def shop(n=300, each=8, seed=0):
    """A log of purchases with a day and a price, in any order."""
    rng = np.random.default_rng(seed)
    who = rng.permutation(np.repeat(np.arange(n), each))
    day = np.datetime64("2024-01-01") + rng.integers(0, 60, len(who))
    return {"u": who, "i": rng.integers(0, 5, len(who)), "t": day, "price": rng.integers(0, 9, len(who))}


def rate(attack, case):
    return measure.random_user(attack, case.targets, case.queries, case.truth).rate


def test_each_step_tells_more_of_the_same_events():
    log = shop()
    events = Events(log, user="u", items="i", time="t", keep="price")
    codes = {told: events.facts(told)[0] for told in ("what", "day", "row")}
    for coarse, fine in (("what", "day"), ("day", "row")):  # a finer code says the coarser one
        assert len(set(zip(codes[coarse], codes[fine], strict=True))) == len(set(codes[fine]))
    assert len(set(codes["day"])) == len(set(zip(log["i"], log["t"], strict=True)))
    seen = {}
    for told in codes:
        case = Knows(events, facts=3, told=told).case(4)
        held, asked = (dense(side) for side in (case.targets, case.queries))
        assert (asked.sum(axis=1) == 3).all()
        assert (asked <= held).all()
        seen[told] = [sorted(np.repeat(np.arange(len(row)), row)) for row in asked]
    first = {told: dict(zip(codes["row"], codes[told], strict=True)) for told in codes}
    for told in ("what", "day"):
        assert [sorted(first[told][code] for code in row) for row in seen["row"]] == seen[told]
    # ... whatever the order of the rows
    order = np.random.default_rng(1).permutation(len(log["u"]))
    again = Events({name: cells[order] for name, cells in log.items()}, user="u", items="i", time="t", keep="price")
    for told in codes:
        assert (
            dense(Knows(again, 3, told=told).case(4).queries) == dense(Knows(events, 3, told=told).case(4).queries)
        ).all()


def test_more_is_found_at_each_step_and_everybody_where_item_and_day_are_theirs_alone():
    events = Events(shop(), user="u", items="i", time="t", keep="price")
    rates = [
        rate(attacks.Hypergeometric(), Knows(events, facts=2, told=told).case(1)) for told in ("what", "day", "row")
    ]
    assert rates == sorted(rates)
    assert rates[0] < 0.05 < 0.5 < rates[2]
    alone = {"u": np.repeat(np.arange(50), 2), "i": ["a", "b"] * 50, "day": np.repeat(np.arange(50), 2)}
    log = Events(alone, user="u", items="i", time="day")
    assert [rate(attacks.Hypergeometric(), Knows(log, facts=1, told=told).case(1)) for told in ("what", "day")] == [
        0.02,
        1.0,
    ]


def test_a_row_is_every_cell_of_it_and_a_day_is_a_whole_unit():
    log = {"u": [1, 1, 2, 2], "i": ["a", "a", "a", "a"], "t": [0.1, 0.9, 0.2, 3.0], "n": [1, 1, 1, 2]}
    events = Events(log, user="u", items="i", time="t", amount="n")
    assert [len(set(events.facts(told)[0])) for told in ("what", "day", "row")] == [1, 2, 4]
    raw = {"other": pa.chunked_array([["x", "x", "x", "y"]]), "empty": pa.chunked_array([[None, None, None, 1.5]])}
    kept = Events(log | {"row": [0, 1, 2, 3]}, user="u", items="i", time="t", row="row", raw=raw)
    assert len(set(kept.facts("row")[0])) == 2
    case = Knows(kept, facts=1, told="row").case(0)
    assert case.targets.raw is not None
    assert case.targets.n_tokens == 2


def test_the_likeliest_part_of_a_record_is_the_best_there_is():
    """By enumeration: two of a, a, b and c; of a, b, b and c; of a, b and c; and of b and c, which lack most of it."""
    table = np.array([[2, 1, 1], [1, 2, 1], [1, 1, 1], [0, 1, 1]])
    draws = {who: list(combinations(np.repeat(np.arange(3), row), 2)) for who, row in enumerate(table)}
    chance = {}
    for who, drawn in draws.items():
        for facts in drawn:
            found = np.bincount(facts, minlength=3)
            chance.setdefault(tuple(found), np.zeros(4))[who] += 1.0 / len(drawn)
    queries = Bags(np.array([*chance]))
    links = attacks.Hypergeometric().fit(Bags(table)).link(queries, probability=True)
    for i, at in enumerate(chance.values()):
        assert at[links.target[i]] == pytest.approx(at.max(), abs=1e-9)
        assert links.n_ties[i] == np.sum(np.isclose(at, at.max()))
        assert links.probability[i] == pytest.approx(at.max() / at.sum(), abs=1e-4)


def test_it_finds_no_fewer_than_attacks_that_learn():
    rng = np.random.default_rng(2)
    table = Bags(rng.multinomial(20, rng.dirichlet(np.full(12, 0.7), 400)))
    case = Knows(table, facts=6, draws=8).case(0)
    assert case.of_parts
    assert not case.suits(attacks.Rehearsed)
    assert case.suits(attacks.Hypergeometric)
    best = rate(attacks.Hypergeometric(), case)
    others = (attacks.ProfileBayes(), attacks.NaiveBayes(), attacks.TfIdf(), attacks.Overlap())
    assert best > max(rate(one, case) for one in others) - 0.002  # on average; they may be luckier
    wrong = Knows(table, facts=6, errors=0.2).case(0)
    assert not wrong.of_parts
    assert not wrong.suits(attacks.Hypergeometric)
    assert wrong.suits(attacks.Rehearsed)


def test_people_with_one_fact_are_asked_with_it():
    """Four fifths have one event each, which nobody else has: they are found, and were not asked for before."""
    who = np.concatenate([np.arange(80), np.repeat(np.arange(80, 100), 5)])
    item = np.concatenate([np.arange(80), np.full(100, 80)])
    case = Knows(Events({"u": who, "i": item}, user="u", items="i"), facts=4).case(0)
    assert len(case.queries) == 100
    assert rate(attacks.Hypergeometric(), case) == pytest.approx(0.8 + 0.2 / 20)
    assert dict(case.notes[-1]) == {"n": 80, "of": 100, "facts": 4}


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (Bags([[1, 2]]), {"which": "last"}, "which must be one of random, first, rarest, not 'last'"),
        (Bags([[1, 2]]), {"which": "first"}, "these Bags have no time, so no fact is the first"),
        (Events({"u": [1], "i": [1]}, user="u", items="i"), {"which": "first"}, "these Events have no time"),
        (Bags([[1, 2]]), {"draws": 2, "which": "rarest"}, "2 draws of the rarest facts would be alike"),
        (Bags([[1, 2]]), {"told": "day"}, "told='day' is for Events"),
        (Events({"u": [1], "i": [1]}, user="u", items="i"), {"told": "day"}, "no time, so there is no day to know"),
        (Events({"u": [1], "i": [1]}, user="u", items="i"), {"told": "all"}, "told must be one of what, day, row"),
        (Bags([[1, 2]]), {"draws": 0}, "draws must be a whole number of at least 1, not 0"),
    ],
)
def test_facts_that_cannot_be_known_are_refused(table, options, message):
    with pytest.raises(OptionError, match=message):
        Knows(table, facts=1, **options)


def test_only_facts_with_more_than_what_they_are_are_compound():
    events = Events(shop(n=20), user="u", items="i", time="t")
    compound = [Knows(events, facts=2, **told).case().compound for told in ({}, {"told": "what"}, {"told": "day"})]
    assert compound == [False, False, True]
    assert not Knows(Bags([[1, 2]]), facts=2).case().compound
    assert not Knows(Traces([[0, 1]], 2), facts=2).case().compound
