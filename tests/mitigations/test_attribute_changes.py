"""Columns are left out and values merged, and an attacker who knows of it does the same."""

import numpy as np
import pytest

from reidrisk import attacks, mitigations
from reidrisk.base.errors import DataError, OptionError
from reidrisk.mitigations import DropColumns, Generalise, Rotate, SuppressRare, named, tried
from reidrisk.mitigations.scoring import found
from reidrisk.records import Attributes, Case, Truth

N = 400


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    table = {
        "age": rng.integers(18, 90, N),
        "postcode": [f"{code:05d}" for code in rng.integers(0, 60, N) * 1_113],
        "sex": rng.choice(["f", "m"], N),
    }
    known = Attributes(table, columns={"age": "number", "postcode": "prefix", "sex": "category"})
    return Case(known, known, Truth(np.arange(N), "rows"))


def rate(view):
    return float(found(attacks.FellegiSunter(), view, np.arange(N))[0].mean())


def labels(case, column):
    table = case.queries
    place = table.names.index(column)
    return {table.vocabulary.labels[token] for token in table.tokens[:, place] if token >= 0}


def test_generalised_columns_have_fewer_values_and_find_fewer_people(people):
    change = Generalise({"age": 20, "postcode": 1})
    case = change.apply(people)
    assert len(labels(case, "age")) == 5  # 18 to 19, 20 to 39, and so on
    assert {label[9] for label in labels(case, "postcode")} == {label[9] for label in labels(people, "postcode")}
    assert len(labels(case, "postcode")) == len({label[9] for label in labels(people, "postcode")})
    assert rate(change.known_to_attacker(people)) < rate(DropColumns(["sex"]).released(people))
    assert rate(change.known_to_attacker(people)) >= rate(change.released(people))
    assert labels(people, "age") != labels(case, "age")


def test_a_column_that_was_left_out_tells_nothing(people):
    change = DropColumns(["age", "postcode"])
    case = change.apply(people)
    assert labels(case, "age") == set()
    assert rate(change.released(people)) == pytest.approx(2 / N, rel=0.1)
    assert named(change.text) == change


def test_parents_merge_categories_and_misses_are_counted_and_named(people):
    merged = Generalise({"sex": {"f": "any", "m": "any"}}).apply(people)
    assert labels(merged, "sex") == {"sex=f"}
    with pytest.raises(DataError, match="the mapping misses 1 of 2 values, 'm'"):
        Generalise({"sex": {"f": "any"}}).apply(people)


def test_texts_and_refusals(people):
    assert named("generalise:age=10,postcode=2") == Generalise({"age": 10.0, "postcode": 2.0})
    for text, said in (
        ("generalise:age", "no column and number"),
        ("generalise:age=wide", "no column and number"),
        ("generalise:age=0", "above 0"),
        ("drop-columns", "names are those of at least one column"),
    ):
        with pytest.raises(OptionError) as error:
            named(text)
        assert said in str(error.value)
    for change, said in (
        (DropColumns(["age", "postcode", "sex"]), "leaves out every column"),
        (Generalise({"sex": 2}), "holds categories, which have no width"),
        (Generalise({"postcode": 1.5}), "a whole number of letters"),
        (Rotate(1), "Rotate changes Traces and Bags, not Attributes"),
    ):
        with pytest.raises(DataError) as error:
            change.apply(people)
        assert said in str(error.value)
    with pytest.raises(OptionError, match="there is no column 'shoe'"):
        DropColumns(["shoe"]).apply(people)


def test_all_that_fits_attributes_is_tried(people):
    some = people.queries.take(np.arange(120))
    what = tried(Case(some, some, Truth(np.arange(120), "rows")), attacks=[attacks.FellegiSunter()])
    kinds = {one.change.partition(":")[0] for one in what.tried}
    assert kinds == {"draw", "drop-columns", "drop-people", "generalise", "suppress-rare"}
    assert isinstance(SuppressRare(5).apply(people).queries, Attributes)
    for one in what.tried:
        assert one.risk.rate >= one.naive.rate


def test_a_ladder_leaves_out_what_tells_most_first(people):
    ladder = DropColumns.ladder(people)
    assert [one.names for one in ladder] == [("age",), ("age", "postcode")]
    assert len(mitigations.Generalise.ladder(people)) > 4
