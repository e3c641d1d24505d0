"""Isolation: the two conditions against a search through all sets of members."""

import numpy as np
import pytest
from histories import Group, isolated
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk.bandits.service.aggregates.isolation import exclusive, hidden, movable, returning

K, D = 3, 3


def record(seed, d=D):
    return np.random.default_rng(seed).dirichlet(np.ones(d))


def records(*names):
    return {name: record(ord(name)) for name in names}


def test_the_search_finds_who_withdrew_and_returned_without_one():
    first, newcomers = records(*"abcde"), records(*"vwxyz")
    back = {name: first[name] for name in "bcde"}
    assert isolated([(1, first), (2, newcomers)], 5) is None
    assert isolated([(1, first), (2, back | newcomers)], 5) == {"a", *"vwxyz"}, "of whom five are of one hand"
    assert isolated([(1, first), (2, back)], 5) == {"a"}


def test_the_search_finds_a_cell_that_one_member_changed():
    first = records(*"abcde")
    moved = first | {"a": record(0)}
    assert isolated([(1, first), (1, moved)], 3) == {"a"}
    assert isolated([(1, first), (1, {name: record(ord(name) + 99) for name in first})], 3) is None


def test_the_search_finds_a_sum_of_cells():
    """Every cell is changed by three, and only c moves anything between the first two cells and the last two."""
    first = {name: np.full(4, 0.25) for name in "abcde"}
    for at, name in enumerate("abcde"):
        first[name] = first[name] + at * np.array([0.01, -0.01, 0.02, -0.02])
    left, right = np.array([0.05, -0.05, 0.0, 0.0]), np.array([0.0, 0.0, 0.06, -0.06])
    change = {"a": left, "b": -1.1 * left, "c": np.array([0.04, 0.05, -0.02, -0.07]), "d": right, "e": 1.2 * right}
    assert isolated([(1, first), (1, {n: first[n] + change[n] for n in first})], 3) == {"c"}
    assert not hidden(np.array(list(change.values()))[:, None], np.ones(5, bool), 3).any()


patterns = st.lists(st.lists(st.booleans(), min_size=D, max_size=D), min_size=K, max_size=6)


@settings(max_examples=80, deadline=None)
@given(patterns, st.integers(0, 99))
def test_hidden_changes_isolate_nobody(pattern, seed):
    lots = np.random.default_rng(seed)
    before = lots.dirichlet(np.ones(D), len(pattern))
    change = np.array([np.where(cells, lots.uniform(0.02, 0.05, D), 0.0) for cells in pattern])
    change -= np.where(pattern, (change.sum(axis=1) / np.maximum(1, np.sum(pattern, axis=1)))[:, None], 0.0)
    names = [f"m{i}" for i in range(len(pattern))]
    moved = np.abs(change) > 1e-12
    after = np.where(moved, before + change, before)
    found = isolated([(1, dict(zip(names, version, strict=True))) for version in (before, after)], K)
    if hidden((after - before)[:, None], np.ones(len(names), bool), K).all():
        assert found is None
    if any(0 < count < K for count in moved.sum(axis=0)):
        assert found is not None, "a cell that fewer than k changed"


@pytest.mark.parametrize("size", range(3, 8))
@pytest.mark.parametrize("back", range(1, 7))
def test_former_members_return_exactly_where_nobody_is_isolated(size, back):
    if back >= size:
        return
    names = "abcdefg"[:size]
    published = [(1, records(*names)), (2, records(*names[:back], *"xyz"))]
    free = returning(list(names[:back]), {1: set(names)}, K)
    assert (len(free) == back) == (isolated(published, K) is None)


def test_who_left_enough_behind_once_is_free():
    history = {1: set("abcde"), 2: set("abxyz")}
    assert returning(["a", "b", "c", "x"], history, K) == ["a", "b"]
    assert {batch: len(found) for batch, found in exclusive(history).items()} == {1: 3, 2: 3}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 7), st.integers(1, 4))
def test_what_moves_is_hidden_and_nothing_more_than_changed(seed, n, k):
    lots = np.random.default_rng(seed)
    before = lots.dirichlet(np.ones(D), (n, D))
    latest = np.where(lots.random((n, D, 1)) < 0.8, lots.dirichlet(np.ones(D), (n, D)), before)
    counted = lots.random(n) < 0.9
    moved = movable(before, latest, counted, k)
    assert hidden((latest - before) * moved[:, :, None], counted, k).all()
    assert not (moved & (latest == before).all(axis=2)).any()


def test_as_large_changes_by_everybody_move():
    before = np.full((5, 2, 4), 0.25)
    step = np.array([0.1, -0.1, 0.05, -0.05])
    latest = before + step * np.linspace(1.0, 2.0, 5)[:, None, None]
    assert movable(before, latest, np.ones(5, bool), 5).all()
    latest[0, 0] = before[0, 0] + step * 0.01
    assert movable(before, latest, np.ones(5, bool), 5).sum(axis=0).tolist() == [0, 5]
    assert movable(before, latest, np.ones(5, bool), 4)[:, 0].tolist() == [True] * 5, "a small change needs no company"


actions = st.lists(
    st.tuples(st.sampled_from(["join", "join", "withdraw", "return", "update", "few"]), st.integers(0, 9_999)),
    min_size=2,
    max_size=9,
)


@settings(max_examples=60, deadline=None)
@given(actions)
def test_no_history_isolates_a_member(taken):
    group, gone, joined = Group(K), [], 0
    for action, seed in taken:
        lots = np.random.default_rng(seed)
        if action == "join" and joined < 10:
            for _ in range(min(int(lots.integers(1, 6)), 10 - joined)):
                group.add(f"m{joined}", lots.dirichlet(np.ones(D), D), lots.integers(3))
                joined += 1
        elif action == "withdraw" and group.members:
            gone.append(group.withdraw(sorted(group.members)[seed % len(group.members)]))
        elif action == "return" and gone:
            back = gone.pop(seed % len(gone))
            group.add(back.agent, back.matrix)
        elif action in ("update", "few"):
            for name, member in list(group.members.items()):
                few = action == "few" and lots.random() < 0.5
                changed = member.matrix + lots.uniform(0.02, 0.2, (D, D)) * (lots.random((D, D)) < (0.5 if few else 1))
                group.update(name, changed / changed.sum(axis=1, keepdims=True))
        group.rebuild()
    assert group.isolated() is None
