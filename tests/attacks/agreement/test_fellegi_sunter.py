"""FellegiSunter: weights are those of the formula, what is learnt is what was put in, probabilities hold."""

import numpy as np
import polars as pl
import pytest
from attribute_people import copied, people

from reidrisk import attacks, measure, search
from reidrisk.base.errors import DataError
from reidrisk.records import Attributes, Traces
from reidrisk.search import GRID


def twin(attack, targets, queries):
    """Return the (q, n) scores in nats, cell by cell, from the probabilities that were learnt."""
    found, levels = attack.agreement_, attack.agreement_.levels
    scores = np.zeros((len(queries), len(targets)))
    for i, row in enumerate(queries.tokens):
        for j, other in enumerate(targets.tokens):
            for c, (o, w) in enumerate(zip(row, other, strict=True)):
                if o < 0 or w < 0:
                    continue
                near = [k for k in range(len(levels.first)) if levels.first[k, o] <= w <= levels.last[k, o]]
                level = near[0] if near else len(levels.first)
                if attack.by_value:
                    shares = [*levels.share[:, o], 1.0, levels.share[0, o] * levels.values[c]]
                    ratio = sum(found.drawn[c, k] / shares[k] for k in range(level, len(shares)))
                    ratio /= 1.0 - found.drawn[c, -1] + found.drawn[c, -1] / shares[-1]
                else:
                    ratio = found.m[c, level] / found.u[c, level]
                scores[i, j] += np.log(ratio)
    return scores


@pytest.mark.parametrize("by_value", [True, False])
@pytest.mark.parametrize("kinds", [("number", "category", "prefix"), ("category", "category")])
def test_scores_are_those_of_the_formula(by_value, kinds):
    targets = copied(people(40, kinds=kinds), 0.0, 0.1, seed=5)
    queries = copied(targets.take(np.arange(12)), 0.2, 0.2)
    attack = attacks.FellegiSunter(by_value, gaps=False).fit(targets).look_around(queries)
    every = np.repeat(np.arange(len(queries)), len(targets)), np.tile(np.arange(len(targets)), len(queries))
    scores = attack.score(queries.take(every[0]), every[1]).reshape(len(queries), -1) / GRID
    assert scores == pytest.approx(twin(attack, targets, queries), abs=len(kinds) / GRID)
    links = attack.link(queries)
    assert (links.score / GRID).tolist() == scores.max(axis=1).tolist()
    assert links.n_ties.tolist() == (scores == scores.max(axis=1, keepdims=True)).sum(axis=1).tolist()


def test_categories_alone_are_a_weighted_hamming_distance():
    targets = people(50, kinds=("category", "category"))
    scorer = attacks.FellegiSunter().fit(targets)._posed(targets).scorer
    assert type(scorer.weights) is search.Weights
    assert (scorer.weights.match > scorer.weights.mismatch).all()


@pytest.mark.parametrize("errors", [0.02, 0.1, 0.3])
def test_errors_are_learnt_without_truth(errors):
    targets = people(1_000)
    attack = attacks.FellegiSunter().fit(targets).look_around(copied(targets, errors))
    found = attack.agreement_
    assert found.drawn[:, 0] == pytest.approx(1.0 - errors, abs=0.06)
    assert found.drawn[:, -2:].sum(axis=1) == pytest.approx(errors, abs=0.06)
    assert found.linked > 0.93


def test_errors_that_may_be_any_value_are_told_from_those_like_everybody_s():
    targets = people(1_000, kinds=("category",) * 5)
    rng = np.random.default_rng(2)
    values = [targets.start[c] + rng.integers(0, len(column), 1_000) for c, column in enumerate(targets.columns)]
    queries = targets.with_tokens(np.where(rng.random((1_000, 5)) < 0.2, np.column_stack(values), targets.tokens))
    even = attacks.FellegiSunter().fit(targets).look_around(queries).agreement_.drawn
    like = attacks.FellegiSunter().fit(targets).look_around(copied(targets, 0.2)).agreement_.drawn
    assert even[:, -1].mean() > 2 * even[:, -2].mean()
    assert like[:, -2].mean() > 2 * like[:, -1].mean()


def test_strangers_who_resemble_somebody_do_not_spoil_what_is_learnt():
    """Columns that go together: whoever is not there still has a neighbour who is."""
    rng = np.random.default_rng(4)
    typical, kind = rng.integers(0, 20, (60, 12)), rng.integers(0, 60, 3_000)
    cells = np.where(rng.random((3_000, 12)) < 0.5, typical[kind], rng.integers(0, 20, (3_000, 12)))
    columns = {f"c{c}": "category" for c in range(12)}
    everybody = Attributes(dict(zip(columns, cells.T.astype(str), strict=True)), columns=columns)
    third = everybody.take(np.arange(0, 3_000, 3))
    found = attacks.FellegiSunter().fit(third).look_around(copied(everybody, 0.1, 0.0)).agreement_
    assert found.linked == pytest.approx(1 / 3, abs=0.05)
    assert found.drawn[:, 0].mean() == pytest.approx(0.9, abs=0.05)


def test_people_with_several_queries_are_not_taken_for_strangers():
    rng = np.random.default_rng(5)
    people = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 8)) + 0.7 * rng.normal(size=(300, 8))
    half = np.concatenate([people[:150], people[:150]])
    asked = half + rng.normal(size=(300, 8)) * 0.3
    names = [f"m{c}" for c in range(8)]
    known, queries = (dict(zip(names, np.round(50 + 10 * x, 1).T, strict=True)) for x in (people, asked))
    targets, queries = Attributes.together(Attributes(known), Attributes(queries))
    attack = attacks.FellegiSunter().fit(targets).look_around(queries)
    links = attack.link(queries, probability=True)
    right = measure.credits(attack, queries, links, np.arange(300) % 150)
    assert attack.agreement_.linked > 0.9
    assert measure.calibration(links.probability, right, links.n_ties).excess < 0.03


def test_strangers_are_learnt_and_probabilities_allow_for_them():
    everybody = people(2_400, kinds=("number", "category", "category", "category", "prefix"))
    targets = everybody.take(np.arange(1_200))
    queries = copied(everybody.take(np.arange(600, 2_000)), 0.1, 0.1)
    attack = attacks.FellegiSunter().fit(targets).look_around(queries)
    assert attack.agreement_.linked == pytest.approx(600 / 1_400, abs=0.06)
    links = attack.link(queries, probability=True)
    truth = np.where(np.arange(600, 2_000) < 1_200, np.arange(600, 2_000), -1)
    right = measure.credits(attack, queries, links, truth)
    assert links.probability.mean() == pytest.approx(right.mean(), abs=0.04)
    assert right[links.probability > 0.9].mean() > 0.88


def test_numbers_that_are_a_little_off_are_learnt():
    targets = people(1_500, kinds=("number", "category", "category", "category"))
    queries = copied(targets, 0.02, 0.0)
    rng = np.random.default_rng(3)
    last = len(targets.columns[0]) - 1
    moved = np.clip(queries.tokens[:, 0] + (rng.random(1_500) < 0.4) * rng.choice([-1, 1], 1_500), 0, last)
    queries = queries.with_tokens(np.column_stack([moved, queries.tokens[:, 1:]]))
    attack, only_equal = attacks.FellegiSunter(bands={"number0": [1, 5]}), attacks.FellegiSunter(bands={"number0": []})
    rates = [measure.random_user(one, targets, queries).rate for one in (attack, only_equal)]
    equal, near, close, else_ = attack.m_["number0"]
    assert (equal, near) == pytest.approx((0.59, 0.39), abs=0.07)
    assert close + else_ < 0.08
    assert attack.u_["number0"][0] < 0.1
    assert rates[0] > rates[1] + 0.02


def test_codes_that_begin_alike_are_near():
    targets = people(800, kinds=("prefix", "category"))
    attack = attacks.FellegiSunter().fit(targets)
    weights = attack._posed(targets.take(slice(0, 0))).scorer.weights
    assert (weights.worth >= 0).all()
    assert weights.worth.any()


def test_m_and_u_of_equal_weights_are_frequencies():
    targets = people(600, kinds=("category", "category", "category", "prefix"))
    queries = copied(targets, 0.1, 0.0)
    attack = attacks.FellegiSunter(by_value=False).fit(targets).look_around(queries)
    same = queries.tokens == targets.tokens
    pairs = (queries.tokens[:, None] == targets.tokens[None]).mean(axis=(0, 1))
    for place, name in enumerate(targets.names):
        assert attack.m_[name][0] == pytest.approx(same[:, place].mean(), abs=0.04)
        assert attack.u_[name][0] == pytest.approx(pairs[place], abs=1e-12)
        assert sum(attack.m_[name]) == pytest.approx(1.0)
        assert sum(attack.u_[name]) == pytest.approx(1.0)


def test_empty_cells_tell_as_far_as_they_agree():
    whole = people(800, kinds=("category", "category", "prefix"))
    targets = copied(whole, 0.0, 0.3, seed=7)
    same, other = copied(targets, 0.05, 0.0), copied(whole, 0.05, 0.3, seed=8)
    tried = {gaps: attacks.FellegiSunter(gaps=gaps) for gaps in (True, False)}
    for queries, least, most in ((other, -0.02, 0.02), (same, 0.05, 1.0)):
        rates = {gaps: measure.random_user(attack, targets, queries).rate for gaps, attack in tried.items()}
        assert least < rates[True] - rates[False] < most
    found = tried[True].agreement_
    assert found.drawn[3:, 0] == pytest.approx(0.95, abs=0.03)  # an error may be a gap of somebody else's


def test_without_errors_everybody_is_found_as_often_as_classes_say():
    table = copied(people(800, kinds=("number", "category", "category")), 0.0, 0.1)
    found = measure.random_user(attacks.FellegiSunter(), table, table)
    assert found.rate == pytest.approx(measure.classes(table).mean)


def test_a_query_of_nothing_ties_with_everybody_and_nobody_teaches_nothing():
    targets = people(30)
    attack = attacks.FellegiSunter().fit(targets)
    empty = targets.take(np.arange(2)).with_tokens(np.full((2, 4), -1))
    assert attack.look_around(targets.take(slice(0, 0))).agreement_.drawn[0, 0] == 0.8
    links = attack.link(empty)
    assert links.n_ties.tolist() == [30, 30]
    assert links.score.tolist() == [0, 0]


def test_order_of_rows_changes_no_rate():
    targets = people(700, kinds=("number", "category"))
    queries = copied(targets, 0.1, 0.1)
    rng = np.random.default_rng(0)
    one, two = rng.permutation(700), rng.permutation(700)
    plain = measure.random_user(attacks.FellegiSunter(), targets, queries)
    place = np.argsort(one)
    mixed = measure.random_user(attacks.FellegiSunter(), targets.take(one), queries.take(two), truth=place[two])
    assert mixed.rate == pytest.approx(plain.rate, abs=0.01)


def test_a_narrowed_attack_keeps_what_it_learnt():
    targets = people(200)
    queries = copied(targets)
    attack = attacks.FellegiSunter().fit(targets).look_around(queries)
    rows = np.arange(50, 150)
    view = attack.narrowed(rows)
    assert np.array_equal(view.score(queries, np.full(200, 3)), attack.score(queries, np.full(200, 53)))
    assert view.link(queries).target.max() < 100


def test_other_records_are_refused():
    with pytest.raises(DataError, match="Traces"):
        attacks.FellegiSunter().fit(Traces([[1], [0]], 2))
    attack = attacks.FellegiSunter().fit(Attributes({"x": ["a", "b"], "y": ["c", "d"]}))
    with pytest.raises(DataError, match=r"different vocabularies|tokens"):
        attack.link(Attributes({"x": ["a", "e"], "y": ["c", "d"]}))


def test_no_simple_count_finds_more():
    """Ten lines: agreements, weighed by how rare the value is."""
    targets = people(1_000, kinds=("number", "category", "category", "category"))
    queries = copied(targets, 0.1, 0.1)
    share = np.bincount(targets.tokens.ravel(), minlength=targets.n_tokens) / len(targets)
    rarity = -np.log(np.maximum(share, 1e-9))
    credit = 0.0
    for i, row in enumerate(queries.tokens):
        scores = (rarity[np.maximum(row, 0)] * (row >= 0) * (targets.tokens == row)).sum(axis=1).round(9)
        credit += (scores[i] == scores.max()) / (scores == scores.max()).sum()
    assert measure.random_user(attacks.FellegiSunter(), targets, queries).rate >= credit / len(queries)


@pytest.mark.data
def test_no_simple_count_finds_more_in_noisy_copies_of_the_census(study_file):
    path = study_file("adult_census/adult.data.gz")
    frame = pl.read_csv(path).drop_nulls("age").drop("fnlwgt")  # a weight of the survey, nearly an id
    targets = Attributes(frame.head(6_000))
    queries = copied(targets, 0.1, 0.1)
    rows = np.arange(0, 6_000, 10)
    share = np.bincount(targets.tokens[targets.observed], minlength=targets.n_tokens) / len(targets)
    rarity, credit = -np.log(np.maximum(share, 1e-9)), 0.0
    for i in rows:
        row = queries.tokens[i]
        scores = (rarity[np.maximum(row, 0)] * (row >= 0) * (targets.tokens == row)).sum(axis=1).round(9)
        credit += (scores[i] == scores.max()) / (scores == scores.max()).sum()
    attack = attacks.FellegiSunter().fit(targets).look_around(queries)
    asked = queries.take(rows)
    found = measure.credits(attack, asked, attack.link(asked), rows).mean()
    assert found >= credit / len(rows)


@pytest.mark.parametrize(
    ("n", "asked", "others", "errors"), [(120, 120, 2, 0.0), (120, 120, 6, 0.1), (30, 30, 2, 0.0), (200, 80, 3, 0.0)]
)
def test_unrelated_columns_do_not_hide_one_that_tells(n, asked, others, errors):
    rng = np.random.default_rng(n + others)
    ids = rng.permutation(10 * n)[:n]
    wrong = np.where(rng.random(n) < errors, rng.permutation(ids), ids)
    sides = [{"id": np.char.add("v", values.astype(str))} for values in (ids, wrong)]
    for side in sides:
        side |= {f"other {c}": np.char.add("v", rng.integers(0, 5 + 3 * c, n).astype(str)) for c in range(others)}
    known, queries = Attributes.together(Attributes(sides[0]), Attributes(sides[1]))
    queries = queries.take(np.arange(asked))
    alone = [table.only(["id"]) for table in (known, queries)]
    rates = [
        measure.random_user(attacks.FellegiSunter(), *tables, np.arange(asked)).rate
        for tables in ((known, queries), alone)
    ]
    assert rates[0] >= rates[1] - 0.02 > 0.7
