"""What gives people away, on tables whose answer is known."""

import numpy as np
import pytest

from reidrisk import Bags, Traces, Vocabulary, attacks, measure
from reidrisk.base.errors import DataError, OptionError
from reidrisk.records import Attributes, Truth

N = 120


@pytest.fixture
def one_that_matters():
    rng = np.random.default_rng(0)
    table = {"number": np.arange(N), "coin": rng.integers(2, size=N), "die": rng.integers(6, size=N)}
    people = Attributes(table, columns=dict.fromkeys(table, "category"))
    return people, people


def test_only_one_column_matters(one_that_matters):
    found = measure.attribution(attacks.FellegiSunter(), *one_that_matters)
    parts = {part.name: part for part in found.parts}
    assert found.by == "columns"
    assert parts["number"].alone.rate == pytest.approx(found.whole.rate, abs=0.02)
    assert found.whole.rate > 0.98
    assert parts["number"].without.rate < 0.15
    assert parts["number"].carried.low > 0.8
    for name in ("coin", "die"):
        assert parts[name].without.rate > 0.95
        assert parts[name].alone.rate < 0.1
    assert sum(part.share for part in found.parts) == pytest.approx(1.0)
    assert measure.Attribution.from_json(found.to_json()) == found


def test_of_two_redundant_columns_each_can_be_left_out_and_both_cannot():
    rng = np.random.default_rng(1)
    table = {"code": np.arange(N), "copy": np.arange(N), "coin": rng.integers(2, size=N)}
    people = Attributes(table, columns=dict.fromkeys(table, "category"))
    found = measure.attribution(attacks.Hamming(), people, people)
    parts = {part.name: part for part in found.parts}
    for name in ("code", "copy"):
        assert parts[name].without.rate == found.whole.rate == 1.0
        assert parts[name].carried.difference == 0.0
        assert parts[name].alone.rate == 1.0
    pair = next(pair for pair in found.pairs if set(pair.names) == {"code", "copy"})
    assert pair.without.rate < 0.1
    assert pair.carried.low > 0.8


def test_periods_of_traces_without_and_alone():
    rng = np.random.default_rng(2)
    table = Traces(np.column_stack([rng.integers(40, size=N), rng.integers(2, size=N)]), n_tokens=40)
    found = measure.attribution([attacks.Hamming(), attacks.TfIdf()], table, table, sample=60, seed=0)
    assert [part.name for part in found.parts] == ["1", "2"]
    assert found.parts[0].without.rate == pytest.approx(found.parts[1].alone.rate)
    assert found.parts[0].carried.difference > found.parts[1].carried.difference
    assert found.pairs == ()
    assert found.whole.n_queries == found.parts[0].alone.n_queries == 60


def test_a_period_in_which_nobody_was_seen_is_no_part():
    table = Traces(np.column_stack([np.arange(N), np.full(N, -1)]), n_tokens=N)
    with pytest.raises(DataError, match="1 parts by periods"):
        measure.attribution(attacks.Hamming(), table, table)


def test_kinds_of_items_and_rarity():
    labels = Vocabulary([f"{kind}-{i}" for kind in ("book", "food", "odd") for i in range(40)])
    rng = np.random.default_rng(3)
    counts = np.zeros((N, 120), dtype=int)
    counts[np.arange(N), rng.integers(40, size=N)] = 1  # a book of their own, more or less
    counts[:, 40] = 1  # everybody eats the same
    counts[:5, 80] = 1  # five people have something odd
    table = Bags(counts, vocabulary=labels)
    kinds = {label: label.partition("-")[0] for label in labels.labels}
    found = measure.attribution(attacks.TfIdf(), table, table, by=kinds)
    assert [part.name for part in found.parts] == ["book", "food"]
    assert found.hidden == 1  # what five people hold is not shown
    book, food = found.parts
    assert book.without.rate < 0.1 < book.carried.low
    assert food.without.rate == pytest.approx(found.whole.rate)
    assert food.alone.rate == pytest.approx(1 / N)
    rare = measure.attribution(attacks.TfIdf(), table, table)
    assert rare.by == "rarity"
    assert {part.name for part in rare.parts} <= {"0.001-to-0.01", "0.01-to-0.1", "from-0.1", "other"}


def test_what_cannot_be_taken_apart_is_refused(one_that_matters):
    bags = Bags(np.eye(30, dtype=int))
    with pytest.raises(DataError, match="Bags have no periods"):
        measure.attribution(attacks.TfIdf(), bags, bags, by="periods")
    with pytest.raises(OptionError, match="taken apart by periods, columns, rarity"):
        measure.attribution(attacks.TfIdf(), bags, bags, by="colour")
    with pytest.raises(DataError, match="have no labels"):
        measure.attribution(attacks.TfIdf(), bags, bags, by={"a": "b"})
    with pytest.raises(OptionError, match="at least one attack"):
        measure.attribution([], *one_that_matters)


def test_people_without_counterpart_are_never_found():
    table = Traces(np.column_stack([np.arange(N), np.arange(N)]), n_tokens=N)
    truth = Truth(np.where(np.arange(N) < N // 2, np.arange(N), -1), "given")
    found = measure.attribution(attacks.Hamming(), table, table, truth)
    assert found.whole.rate == 0.5
