"""Two tables as they are, with what is known of who is whom; and the scenarios that can be chosen by name."""

import numpy as np
import pytest

import reidrisk
from reidrisk import Bags, Traces
from reidrisk.base.errors import DataError, OptionError, TruthError
from reidrisk.records import Events
from reidrisk.scenarios import Knows, Scenario, Split, TwoTables, register, registry
from reidrisk.scenarios.registry import entry


def codes(case):
    return [note.code for note in case.notes]


def test_equal_ids_are_the_truth_and_who_is_alone_is_counted():
    a = Traces([[0], [1], [2]], 3, users=["ann", "bob", "cid"])
    b = Traces([[1], [0]], 3, users=["bob", "eve"])
    case = TwoTables(a, b).case()
    assert case.truth.target.tolist() == [1, -1]
    assert (case.notes[0]["targets"], case.notes[0]["queries"]) == (2, 1)
    assert case.targets is a


def test_equal_rows_are_the_truth_where_nobody_is_named():
    case = TwoTables(Bags([[1], [2]]), Bags([[1], [2]])).case(7)
    assert case.truth.target.tolist() == [0, 1]
    assert codes(case) == ["rows-are-people"]


def test_unknown_truth_is_none_and_said():
    assert TwoTables(Bags([[1]]), Bags([[1], [2]])).case().truth is None
    assert codes(TwoTables(Bags([[1]]), Bags([[1], [2]])).case()) == ["lengths-differ"]
    apart = TwoTables(Bags([[1]], users=["a"]), Bags([[1]], users=["b"])).case()
    assert apart.truth is None
    assert codes(apart) == ["nobody-in-common"]
    with pytest.raises(TruthError, match="only the targets name their users"):
        TwoTables(Bags([[1]], users=["a"]), Bags([[1]])).case()


def test_given_truth_wins():
    case = TwoTables(Bags([[1], [2]]), Bags([[1], [2], [3]]), truth=[1, 1, -1]).case()
    assert case.truth.target.tolist() == [1, 1, -1]
    assert (case.notes[0].code, case.notes[0]["n"], case.notes[0]["of"]) == ("without-pair", 1, 3)
    with pytest.raises(TruthError, match="truth of query 0 is target 2"):
        TwoTables(Bags([[1], [2]]), Bags([[1]]), truth=[2]).case()


def test_two_logs_are_brought_over_the_items_of_either():
    a = Events({"u": ["ann", "bob"], "i": ["tea", "rum"]}, user="u", items="i")
    b = Events({"u": ["bob", "bob", None], "i": ["gin", "rum", "rum"]}, user="u", items="i")
    case = TwoTables(a, b).case()
    assert case.targets.vocabulary.labels == ("gin", "rum", "tea")
    assert case.targets.counts.toarray().tolist() == [[0, 0, 1], [0, 1, 0]]
    assert case.queries.counts.toarray().tolist() == [[1, 1, 0]]
    assert case.truth.target.tolist() == [1]
    assert codes(case) == ["rows-dropped", "in-one-table-only"]


def test_several_queries_may_be_of_one_person():
    a = Events({"u": ["ann", "bob"], "i": ["tea", "rum"]}, user="u", items="i")
    trips = {"u": ["bob", "bob", "ann", "eve"], "i": ["gin", "rum", "tea", "tea"], "trip": [1, 2, 1, 7]}
    b = Events(trips, user="u", items="i", keep=["trip"])
    case = TwoTables(a, b, visit="trip").case()
    assert case.truth.target.tolist() == [0, 1, 1, -1]
    assert case.queries.counts.toarray().tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert codes(case) == ["in-one-table-only", "several-each"]
    given = TwoTables(Bags([[1, 0], [0, 2]]), Bags([[1, 0], [1, 0], [0, 1]]), truth=[0, 0, 1]).case()
    assert given.truth.target.tolist() == [0, 0, 1]
    with pytest.raises(OptionError, match="visit='day' is for Events; the second table are Bags"):
        TwoTables(Bags([[1]]), Bags([[1]]), visit="day")


def test_traces_of_different_lengths_are_compared_without_periods():
    case = TwoTables(Traces([[0, 1, 1], [2, 2, 0]], 3), Traces([[1], [2]], 3)).case()
    assert type(case.targets) is type(case.queries) is Bags
    assert case.targets.counts.toarray().tolist() == [[1, 2, 0], [1, 0, 2]]
    assert codes(case) == ["periods-apart", "rows-are-people"]


def test_tables_that_cannot_be_compared_are_refused():
    with pytest.raises(DataError, match="targets are Bags and queries are Traces"):
        TwoTables(Bags([[1]]), Traces([[0]], 1)).case()
    with pytest.raises(DataError, match="TwoTables takes Events, Bags, Traces, Attributes, Vectors, not ndarray"):
        TwoTables(Bags([[1]]), np.ones((1, 1)))
    with pytest.raises(DataError, match="no vocabulary"):
        Bags([[1]]).over(None)


def test_scenarios_are_registered_next_to_their_class():
    assert {one.scenario for one in registry()} >= {TwoTables, Split, Knows}
    assert entry("two-tables").scenario is TwoTables
    assert (entry("two-tables").tables, entry("knows").tables) == (2, 1)
    assert entry("two-tables").label == "Two Tables"
    assert all(one.description.endswith((".", "named.")) for one in registry())
    with pytest.raises(OptionError, match="no scenario called 'guess'; choose from"):
        entry("guess")

    class Knows2(Scenario):
        def case(self, seed=0):
            return TwoTables(Bags([[1]]), Bags([[1]])).case(seed)

    Knows2.__name__ = "Split"
    with pytest.raises(OptionError, match="a scenario called split already"):
        register(kinds=(Bags,))(Knows2)


def test_the_package_knows_them():
    assert reidrisk.scenarios.Split is Split
    assert "scenarios" in dir(reidrisk)


def test_each_says_which_question_it_asks():
    table = Bags([[1, 2], [2, 1]])
    log = Events({"u": [1, 2], "i": [1, 2], "shop": ["a", "b"]}, user="u", items="i", keep=["shop"])
    assert TwoTables(table, table).question.code == "scenario-two-tables"
    assert Split(table, by="random").question["by"] == "random"
    assert Split(log, by="column").question["column"] == "shop"
    assert dict(Knows(table, facts=2, which="rarest").question) == {"facts": 2, "errors": 0.0, "which": "rarest"}
