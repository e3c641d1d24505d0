"""What is odd about a case is said, and only then."""

import numpy as np
import pytest

from reidrisk import Bags, Traces
from reidrisk.audit.warnings import warnings
from reidrisk.records import Case, Truth, Vectors
from reidrisk.scenarios import Knows, Split


def codes(case, seed=0):
    return [note.code for note in warnings(case, seed)]


def people(n=600, items=80, seed=0):
    """Return two tables of people with habits, in one order, and the shuffled truth."""
    rng = np.random.default_rng(seed)
    rates = rng.gamma(0.2, 1.0, (n, items))
    order = rng.permutation(n)
    a, b = (rng.poisson(rates) + (np.arange(items) == 0) for _ in range(2))
    return Bags(a), Bags(b[order]), Truth(order, "given")


def test_nothing_is_said_of_ordinary_tables():
    for seed in range(3):
        assert codes(Case(*people(seed=seed)), seed) == []
    assert codes(Knows(people()[0], facts=3).case()) == []
    assert codes(Split(people()[0], by="random").case()) == []
    assert codes(Case(*people()[:2], None)) == []


def test_records_cut_apart_by_item_are_named():
    table = people()[0]
    case = Split(table, by="random", apart=True).case()
    note = warnings(case)[0]
    assert note.code == "pairs-share-nothing"
    assert note["pairs"] == 0.0 < note["strangers"]


def test_pairs_that_share_less_than_strangers_are_named():
    rng = np.random.default_rng(0)
    first = rng.random((500, 40)) < 0.5
    second = np.where(rng.random((500, 40)) < 0.2, first, ~first)
    case = Case(Bags(first.astype(int)), Bags(second.astype(int)), Truth(np.arange(500), "cut"))
    (note,) = warnings(case)
    assert note.code == "pairs-share-less"
    assert 0.0 < note["pairs"] < note["strangers"]


def traces(gaps_agree, n=500, epochs=12, seed=0):
    rng = np.random.default_rng(seed)
    there = rng.random((n, epochs)) < 0.5
    also = there if gaps_agree else rng.random((n, epochs)) < 0.5
    order = rng.permutation(n)
    known, asked = (np.where(seen, rng.integers(0, 30, (n, epochs)), -1) for seen in (there, also))
    return Case(Traces(known, 30), Traces(asked[order], 30), Truth(order, "given"))


def test_gaps_that_tell_who_somebody_is_are_named():
    assert codes(traces(False)) == []
    (note,) = warnings(traces(True))
    assert note.code == "presence-identifies"
    assert note["rate"] > 0.5
    assert note["among"] == 500


def test_vectors_without_a_direction_are_counted_with_and_without_truth():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 30, 4))
    assert codes(Case(Vectors(a), Vectors(b), Truth(np.arange(30), "cut"))) == []
    b[[3, 7]] = 0.0
    for truth in (None, Truth(np.arange(30), "cut")):
        (note,) = warnings(Case(Vectors(a), Vectors(b), truth))
        assert (note.code, note["n"], note["of"]) == ("no-direction", 2, 60)
    people = np.repeat(np.arange(15), 2)
    several = Vectors.of_several(b, people)  # each person's mean has a direction
    (note,) = warnings(Case(Vectors(a[:15], np.arange(15)), several, None))
    assert (note["n"], note["of"]) == (2, 45)


@pytest.mark.parametrize("named", [True, False])
def test_an_order_that_tells_is_named(named):
    a, b, truth = people()
    back = np.argsort(truth.target)
    ids = (np.arange(600) + 1_000, np.arange(600) * 7) if named else (None, None)
    case = Case(Bags(a.counts, ids[0]), Bags(b.take(back).counts, ids[1]), Truth(np.arange(600), "given"))
    (note,) = warnings(case)
    assert (note.code, note["by"], round(note["correlation"], 6)) == ("order-tells", "ids" if named else "rows", 1.0)
    # Backwards is an order, too; a few in the same order are none.
    turned = Case(Bags(a.counts[::-1]), Bags(b.take(back).counts), Truth(np.arange(600)[::-1], "given"))
    assert warnings(turned)[0]["correlation"] < -0.99


def test_equal_ids_and_parts_of_one_table_come_in_one_order_by_themselves():
    a, b, truth = people()
    b = b.take(np.argsort(truth.target))
    for origin in ("ids", "rows", "cut", "simulated"):
        assert codes(Case(a, b, Truth(np.arange(600), origin))) == []


def test_too_few_pairs_tell_nothing():
    case = Case(Bags(np.eye(19, 38, dtype=int)), Bags(np.eye(19, 38, k=19, dtype=int)), Truth(np.arange(19), "given"))
    assert warnings(case) == ()
