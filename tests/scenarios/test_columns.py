"""An attacker who knows columns of a row of attributes: what is looked up, how it is wrong, and who is left out."""

import numpy as np
import pytest

from reidrisk import attacks, measure, scenarios
from reidrisk.base.errors import DataError, OptionError
from reidrisk.records import Attributes

PEOPLE = Attributes(
    {
        "id": ["a", "b", "c", "d"],
        "age": [31, 31, 40, None],
        "sex": ["f", "m", "m", "f"],
        "zip": ["10", "10", "20", "20"],
    },
    user="id",
)


def test_the_columns_known_are_looked_up():
    case = scenarios.Knows(PEOPLE, columns=["age", "zip"]).case()
    assert case.targets.names == case.queries.names == ("age", "zip")
    assert case.truth.target.tolist() == [0, 1, 2, 3]
    assert np.array_equal(case.targets.tokens, case.queries.tokens)
    assert [note.code for note in case.notes] == ["cells-missing", "knows-columns", "equivalence-classes"]
    alone = scenarios.Knows(PEOPLE, columns=["age"]).case()
    assert alone.truth.target.tolist() == [0, 1, 2]
    assert (alone.notes[-1].code, alone.notes[-1]["n"]) == ("too-few-facts", 1)


def test_a_prosecutor_finds_as_many_as_the_classes_say():
    rng = np.random.default_rng(0)
    table = Attributes({"age": rng.integers(20, 60, 500), "sex": rng.choice(["f", "m"], 500)})
    case = scenarios.Knows(table, columns=["age", "sex"]).case()
    found = measure.random_user(attacks.FellegiSunter(), case.targets, case.queries, truth=case.truth)
    assert found.rate == pytest.approx(measure.classes(table).mean)
    assert found.per_user == pytest.approx(1.0 / measure.classes(table).sizes)


def test_the_case_says_how_many_are_alike():
    rng = np.random.default_rng(0)
    table = Attributes({"age": rng.integers(20, 60, 90), "sex": rng.choice(["f", "m"], 90), "x": np.arange(90)})
    note = scenarios.Knows(table, columns=["age", "sex"]).case().notes[-1]
    found = measure.classes(table, ["age", "sex"])
    assert (note["n"], note["k"], note["classes"]) == (found.n, found.k, found.n_classes)
    assert note["alone"] == round(found.unique * found.n)


def test_errors_are_values_of_the_same_column():
    rng = np.random.default_rng(1)
    table = Attributes({"x": rng.choice(list("abcd"), 2_000), "y": rng.choice(list("efgh"), 2_000)})
    case = scenarios.Knows(table, columns=["x", "y"], errors=0.4).case(seed=2)
    changed = (case.queries.tokens != case.targets.tokens).mean()
    assert changed == pytest.approx(0.4 * 0.75, abs=0.03)  # a quarter of those drawn are right by chance
    twice = scenarios.Knows(table, columns=["x"], errors=0.4, draws=2).case()
    assert len(twice.queries) == 4_000
    assert twice.queries.users is None


def test_facts_of_attributes_are_cells():
    rng = np.random.default_rng(1)
    table = Attributes({name: rng.choice(list("abcdefgh"), 300) for name in "uvwxyz"})
    case = scenarios.Knows(table, facts=3, errors=0.5).case()
    assert isinstance(case.queries, Attributes)
    assert set((case.queries.tokens >= 0).sum(axis=1).tolist()) == {3}
    rarest = scenarios.Knows(table, facts=2, which="rarest").case()
    assert (
        rarest.queries.tokens[rarest.queries.tokens >= 0] == rarest.targets.tokens[rarest.queries.tokens >= 0]
    ).all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"columns": ["town"]}, "'town'"),
        ({"columns": ["age", "age"]}, "different names"),
        ({"columns": ["age"], "which": "rarest"}, "all of the columns"),
        ({"which": "first"}, "no time"),
    ],
)
def test_what_cannot_be_known_is_refused(options, said):
    with pytest.raises(OptionError, match=said):
        scenarios.Knows(PEOPLE, **options)


def test_rows_are_not_split():
    with pytest.raises(OptionError, match="no column in common"):
        scenarios.Split(PEOPLE, by="random")


def test_two_tables_of_attributes_come_over_one_vocabulary():
    other = Attributes({"id": ["c", "e"], "sex": ["m", "x"], "age": [41, 7], "town": ["u", "v"]}, user="id")
    case = scenarios.TwoTables(PEOPLE, other).case()
    assert case.targets.names == case.queries.names == ("age", "sex")
    assert case.truth.target.tolist() == [2, -1]
    assert {"columns-in-one-table", "in-one-table-only"} <= {note.code for note in case.notes}
    with pytest.raises(DataError, match="no column in common"):
        scenarios.TwoTables(PEOPLE, other.only(["town"])).case()
