"""Batches: who is put together, who leaves, who returns, and whose updates are taken over."""

from dataclasses import replace

import numpy as np
import pytest
from histories import Group

from reidrisk.bandits.service.aggregates.batches import Member, check, plan

K = 3
EVEN = np.full((2, 2), 0.5)


def matrix(*moves):
    """Return a matrix whose rows are this far from even."""
    return EVEN + np.array([[move, -move] for move in moves])


def group_of(count, k=K):
    group = Group(k)
    for i in range(count):
        group.add(f"m{i}", EVEN)
    group.rebuild()
    return group


def test_one_who_withdraws_takes_the_whole_batch_out():
    group = Group(K)
    for i in range(6):
        group.add(f"m{i}", EVEN, 10 * (i // 3))
    group.rebuild()
    assert sorted(group.sizes.values()) == [3, 3]
    group.withdraw("m0")
    made = group.rebuild()
    assert (len(made.dissolved), made.formed) == (1, ())
    assert {name for name, m in group.members.items() if m.batch is None} == {"m1", "m2"}


@pytest.mark.parametrize("size", [3, 4, 5])
def test_who_stays_behind_returns_with_newcomers_only_if_enough_do_not(size):
    group = group_of(size)
    group.withdraw("m0")
    group.rebuild()
    for i in range(6, 9):
        group.add(f"m{i}", EVEN)
    group.rebuild()
    returned = {name for name, m in group.members.items() if m.batch is not None} - {"m6", "m7", "m8"}
    assert returned == {f"m{i}" for i in range(1, 1 + size - K)}, "k of the batch are published no more"


def test_larger_batches_let_more_return():
    there = [Member(f"m{i}", 1, EVEN, np.array([0.0])) for i in range(8)]
    assert plan(there[:5], {}, {}, K, 6).formed == ()
    assert plan(there[:6], {}, {}, K, 6).formed == (tuple(range(6)),)
    former = [replace(m, first_batch=1) for m in there[1:6]]
    new = [Member(f"n{i}", 1, EVEN, np.array([0.0])) for i in range(6)]
    (formed,) = plan([*former, *new], {}, {1: {m.agent for m in there[:6]}}, K, 6).formed
    assert len(formed) == 9, "three of the six are published no more"


def test_who_withdraws_and_shares_the_same_again_is_not_new():
    group = group_of(K)
    gone = [group.withdraw(f"m{i}") for i in range(K)]
    group.rebuild()
    for one in gone:
        group.add(one.agent, one.matrix)
    assert group.rebuild().formed == ()


def test_updates_of_a_row_wait_for_k_others_of_comparable_size():
    group = group_of(4)
    group.update("m0", matrix(0.4, 0.0))
    assert group.rebuild().updated == {}
    for name in ("m1", "m2"):
        group.update(name, matrix(0.001, 0.0))
    assert group.rebuild().updated == {}, "two changes of next to nothing hide nobody"
    group.update("m3", matrix(0.0015, 0.0))
    assert group.rebuild().updated == {1: (0,), 2: (0,), 3: (0,)}, "and the large one waits"
    for name in ("m1", "m2"):
        group.update(name, matrix(0.3, 0.0))
    assert group.rebuild().updated == {0: (0,), 1: (0,), 2: (0,)}


def test_changes_of_different_rows_hide_nobody():
    group = Group(K)
    for i in range(K):
        group.add(f"m{i}", np.full((3, 3), 1 / 3))
    group.rebuild()
    for i in range(K):
        changed = np.full((3, 3), 1 / 3)
        changed[i] = [0.6, 0.1, 0.3]
        group.update(f"m{i}", changed)
    assert not group.rebuild().changes


def test_rows_are_taken_over_by_themselves():
    group = group_of(K)
    for i in range(K):
        group.update(f"m{i}", matrix(0.1 + i / 100, 0.1 if i == 0 else 0.0))
    assert group.rebuild().updated == dict.fromkeys(range(K), (0,))
    assert not group.rebuild().changes
    for i in range(1, K):
        group.update(f"m{i}", matrix(0.1 + i / 100, 0.2))
    assert group.rebuild().updated == dict.fromkeys(range(K), (1,)), "what waited comes with the others"


def test_the_same_shared_again_is_no_change():
    group = group_of(K)
    for name, one in list(group.members.items()):
        group.update(name, one.matrix)
    assert not group.rebuild().changes


@pytest.mark.parametrize("seed", range(5))
def test_a_version_comes_of_enough_newcomers_and_of_updates_by_everybody(seed):
    lots = np.random.default_rng(seed)
    group = group_of(int(lots.integers(K, 9)))
    for sign in (1, -1, 1):
        versions = sum(map(len, group.published.values()))
        for name in list(group.members):
            group.update(name, matrix(*sign * lots.uniform(0.1, 0.4, 2)))
        assert set(group.rebuild().updated) == set(range(len(group.members)))
        assert sum(map(len, group.published.values())) == versions + len(group.sizes)
        for _ in range(K):
            group.add(f"m{len(group.members)}", EVEN)
        assert len(group.rebuild().formed) == 1


@pytest.mark.parametrize("count", range(1, 12))
def test_a_new_batch_has_at_least_k(count):
    made = plan([Member(f"m{i}", 1, EVEN, np.array([float(i)])) for i in range(count)], {}, {}, K)
    assert all(K <= len(batch) < 2 * K for batch in made.formed)
    assert sum(map(len, made.formed)) == (count if count >= K else 0)


def test_batches_below_a_raised_minimum_end():
    group = group_of(3)
    assert plan(list(group.members.values()), group.sizes, group.history, 5).dissolved == (1,)


def test_whatever_planned_it_a_state_that_isolates_somebody_is_refused():
    group = group_of(5)
    before = list(group.members.values())
    check(before, before, group.sizes, group.history, K)
    changed = replace(before[0], published_matrix=matrix(0.1, 0.0))
    with pytest.raises(AssertionError, match="changes of fewer"):
        check(before, [changed, *before[1:]], group.sizes, group.history, K)
    with pytest.raises(AssertionError, match="with 4 members"):
        check(before[1:], before[1:], group.sizes, group.history, K)
    waiting = [replace(m, batch=None) for m in before]
    again = [replace(m, batch=2) for m in before[:3]]
    with pytest.raises(AssertionError, match="all but 2 members of batch 1"):
        check(waiting[:3], again, {2: 3}, group.history | {2: {"m0", "m1", "m2"}}, K)
    new = [replace(m, agent=f"n{i}", batch=None) for i, m in enumerate(before[:2])]
    there = [waiting[0], *new]
    history = group.history | {2: {m.agent for m in there}}
    with pytest.raises(AssertionError, match="all but 2 members of batch 2"):
        check(there, [replace(m, batch=2) for m in there], {2: 3}, history, K)
