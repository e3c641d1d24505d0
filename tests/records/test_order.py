"""An order of what people and items hold: the same however rows lie, items are numbered and counts are scaled."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Bags
from reidrisk.records.order import Order
from reidrisk.records.visits import Visits


def two_tables(n, items, seed):
    rng = np.random.default_rng(seed)
    tastes = rng.gamma(0.3, 3.0, (n, items))
    return [Bags(rng.poisson(tastes)) for _ in range(2)]


def moved(bags, rows, names, times=1):
    """The same records in other rows, item i as ``names[i]``, each count ``times`` as large."""
    new = bags.take(rows).renumbered(names, len(names))
    return new.with_counts(new.counts.data * times)


def same(one, two):
    return (one.counts != two.counts).nnz == 0


@given(st.integers(1, 40), st.integers(1, 30), st.integers(0, 2**16), st.integers(1, 5))
@settings(deadline=None, max_examples=60)
def test_moved_tables_come_out_the_same(n, items, seed, times):
    targets, queries = two_tables(n, items, seed)
    rng = np.random.default_rng(seed)
    rows, asked, names = rng.permutation(n), rng.permutation(n), rng.permutation(items)
    others = moved(targets, rows, names, times), moved(queries, asked, names, times)
    one, two = Order.of(targets, queries), Order.of(*others)
    assert same(one.known(targets), two.known(others[0]))
    assert same(one.asked(queries.take(one.queries)), two.asked(others[1].take(two.queries)))
    assert np.array_equal(one.targets[one.back], np.arange(n))
    if targets.counts.nnz:
        assert two.unit == times * one.unit


def test_which_table_a_record_is_of_matters():
    one, two = two_tables(30, 20, 0)
    assert not same(Order.of(one, two).known(one), Order.of(two, one).known(one))


def test_visits_and_hours_go_along():
    from scipy import sparse

    visits = Visits(sparse.csr_array([[2, 2, 0], [0, 0, 4], [0, 6, 0]]), np.array([0, 2, 3]))
    hours = sparse.csr_array(np.arange(2 * 96).reshape(2, 96))
    bags = Bags(visits.together()).with_visits(visits).with_clock(hours)
    order = Order.of(bags, bags)
    found = order.known(bags)
    assert order.unit == 2
    for place, row in enumerate(order.targets):
        for item, number in enumerate(order.items):
            assert found.counts[place, number] == bags.counts[row, item] / 2
            part = slice(24 * number, 24 * number + 24), slice(24 * item, 24 * item + 24)
            assert np.array_equal(found.clock[place].toarray()[part[0]], hours[row].toarray()[part[1]])
    assert found.visits.sizes.sum() == visits.sizes.sum() / 2


def test_records_seen_later_are_in_the_same_unit_rounded_up():
    order = Order.of(Bags([[2, 4]]), Bags([[2, 0]]))
    assert order.asked(Bags([[3, 0]])).counts.sum() == 2


def test_a_unit_is_no_larger_than_what_a_visit_holds():
    from scipy import sparse

    twice = Visits(sparse.csr_array([[1, 0], [1, 0]]), np.array([0, 2]))
    bags = Bags(twice.together()).with_visits(twice)
    order = Order.of(bags, bags)
    assert order.unit == 1
    assert order.known(bags).counts.sum() == 2
