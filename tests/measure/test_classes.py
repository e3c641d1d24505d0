"""Equivalence classes: the closed forms, a twin that counts rows in a dictionary, and what a population changes."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import measure
from reidrisk.base.errors import DataError, OptionError
from reidrisk.records import Attributes, Bags

cells = st.one_of(st.none(), st.sampled_from("abc"))
rows = st.lists(st.tuples(cells, cells, st.integers(0, 2)), min_size=1, max_size=30)


def frame(table):
    return {name: [row[place] for row in table] for place, name in enumerate(("x", "y", "z"))}


@settings(deadline=None, max_examples=80)
@given(rows, st.sampled_from([("x",), ("y", "z"), ("x", "y", "z")]))
def test_classes_are_those_of_counting_rows(table, columns):
    named = {name: values for name, values in frame(table).items() if name in columns}
    if all(value is None for values in named.values() for value in values):
        return
    found = measure.classes(Attributes(frame(table)), columns)
    sizes = Counter(zip(*named.values(), strict=True))
    assert (found.n, found.n_classes, found.k) == (len(table), len(sizes), min(sizes.values()))
    assert found.mean == pytest.approx(len(sizes) / len(table))
    assert found.highest == 1.0 / min(sizes.values())
    assert found.unique == pytest.approx(sum(1 for size in sizes.values() if size == 1) / len(table))
    assert found.at_risk == pytest.approx(sum(size for size in sizes.values() if size < 5) / len(table))
    assert found.sizes.tolist() == [sizes[key] for key in zip(*named.values(), strict=True)]


@settings(deadline=None, max_examples=60)
@given(rows, rows)
def test_a_journalist_s_risk_is_that_of_the_population(table, others):
    table = [row for row in table if row[0] is not None] or [("a", "b", 0)]
    population = table + others
    found = measure.classes(Attributes(frame(table)), population=Attributes(frame(population))).journalist
    f, F = Counter(table), Counter(population)
    marketer = sum(n / F[key] for key, n in f.items()) / len(table)
    assert (found.n, found.absent) == (len(population), 0)
    assert found.marketer == pytest.approx(marketer)
    assert found.mean == pytest.approx(max(marketer, len(f) / sum(F[key] for key in f)))
    assert found.highest == pytest.approx(1.0 / min(F[key] for key in f))
    assert found.unique == pytest.approx(sum(n for key, n in f.items() if F[key] == 1) / len(table))


def test_a_population_that_lacks_people_is_said():
    table, population = Attributes({"x": ["a", "a", "b"]}), Attributes({"x": ["a", "c"]})
    found = measure.classes(table, population=population)
    assert found.journalist.absent == 2
    assert found.journalist.marketer == pytest.approx(2 / 3)
    assert [note.code for note in found.notes] == ["not-in-population"]


def test_everybody_alike_is_one_class_and_everybody_different_is_all_alone():
    alike = measure.classes(Attributes({"x": ["a"] * 7}))
    assert (alike.k, alike.mean, alike.unique, alike.at_risk) == (7, 1 / 7, 0.0, 0.0)
    different = measure.classes(Attributes({"x": np.arange(7)}))
    assert (different.k, different.mean, different.unique, different.highest) == (1, 1.0, 1.0, 1.0)


def test_an_empty_cell_is_a_value_and_is_said():
    found = measure.classes(Attributes({"x": ["a", None, "", "?"]}))
    assert (found.n_classes, found.k) == (2, 1)
    assert (found.notes[0].code, found.notes[0]["n"]) == ("empty-is-a-value", 3)


def test_what_has_no_classes_is_refused():
    people = Attributes({"x": ["a", "b"]})
    with pytest.raises(DataError, match="Bags"):
        measure.classes(Bags([[1]]))
    with pytest.raises(OptionError, match="'town'"):
        measure.classes(people, ["town"])
    with pytest.raises(DataError, match="population has no column 'x'"):
        measure.classes(people, population=Attributes({"y": [1]}))
    with pytest.raises(OptionError, match="threshold"):
        measure.classes(people, threshold=2)
