"""Batches: whatever members do, no weighted sum of what was published is about fewer than k of them."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk.bandits.service.aggregates.batches import Member, applied, plan

K = 3


def member(name, at, revision=1, move=0.0):
    matrix = np.array([[0.5 + move, 0.5 - move], [0.5, 0.5]])
    return Member(name, revision, matrix, np.array([float(at)]))


class Group:
    """Members and their batches over many rebuilds, with what was published as 0/1 vectors over members."""

    def __init__(self):
        self.members, self.sizes, self.published, self.highest = {}, {}, [], 0

    def rebuild(self):
        there = list(self.members.values())
        made = plan(there, self.sizes, K)
        after, numbers = applied(there, made, self.highest)
        self.highest += len(numbers)
        for batch in made.dissolved:
            del self.sizes[batch]
        self.sizes |= {number: len(batch) for number, batch in zip(numbers, made.formed, strict=True)}
        self.members = {m.agent: m for m in after}
        for number in self.sizes:
            self.published.append({m.agent for m in after if m.batch == number})
        return made

    def withdraw(self, name):
        return self.members.pop(name)


steps = st.lists(
    st.one_of(
        st.tuples(st.just("join"), st.integers(1, 5)),
        st.tuples(st.just("withdraw"), st.integers(0, 99)),
        st.tuples(st.just("return"), st.integers(0, 99)),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(steps)
def test_no_weighted_sum_is_about_fewer_than_k_members(actions):
    group, gone, joined = Group(), [], 0
    for action, value in actions:
        if action == "join":
            for _ in range(value):
                group.members[f"m{joined}"] = member(f"m{joined}", joined * 7 % 11)
                joined += 1
        elif action == "withdraw" and group.members:
            gone.append(group.withdraw(sorted(group.members)[value % len(group.members)]))
        elif action == "return" and gone:
            back = gone.pop(value % len(gone))
            group.members[back.agent] = replace(back, batch=None, published_matrix=None, revision=back.revision + 1)
        group.rebuild()
    least = least_touched(group.published)
    assert least is None or least >= K


def least_touched(published):
    """Return how few members a weighted sum of published sets is about, by trying weights."""
    sets = list(dict.fromkeys(map(frozenset, published)))[:6]
    names = sorted(set().union(*sets)) if sets else []
    table = np.array([[name in one for name in names] for one in sets], dtype=np.int64).reshape(len(sets), len(names))
    touched = [np.count_nonzero(np.array(w) @ table) for w in product((-1, 0, 1), repeat=len(sets)) if any(w)]
    return min((count for count in touched if count), default=None)


def test_the_search_for_telling_sums_finds_one():
    """A group that lost one member, and two groups that swapped members while one joined."""
    assert least_touched([{"a", "b", "c", "d"}, {"a", "b", "c"}]) == 1
    assert least_touched([{"a", "b", "c"}, {"d", "e", "f"}, {"a", "d", "e"}, {"b", "c", "f", "g"}]) == 1


def test_one_who_withdraws_takes_the_whole_batch_out():
    group = Group()
    for i in range(6):
        group.members[f"m{i}"] = member(f"m{i}", 10 * (i // 3))
    group.rebuild()
    assert sorted(group.sizes.values()) == [3, 3]
    group.withdraw("m0")
    made = group.rebuild()
    assert (len(made.dissolved), made.formed) == (1, ())
    waiting = {name for name, m in group.members.items() if m.batch is None}
    assert waiting == {"m1", "m2"}
    for i in range(6, 9):
        group.members[f"m{i}"] = member(f"m{i}", 0)
    assert [len(batch) for batch in group.rebuild().formed] == [5]


def test_updates_wait_for_k_others_of_comparable_size():
    group = Group()
    for i in range(4):
        group.members[f"m{i}"] = member(f"m{i}", 0)
    group.rebuild()

    def update(name, move):
        old = group.members[name]
        group.members[name] = replace(old, revision=old.revision + 1, matrix=member(name, 0, move=move).matrix)

    update("m0", 0.4)
    assert group.rebuild().updated == ()
    update("m1", 0.001)
    update("m2", 0.001)
    assert group.rebuild().updated == (), "two changes of next to nothing hide nobody"
    update("m3", 0.0015)
    assert group.rebuild().updated == (1, 2, 3), "and the large one waits"
    for name in ("m1", "m2"):
        update(name, 0.3)
    assert group.rebuild().updated == (0, 1, 2)


def test_the_same_shared_again_is_no_change():
    group = Group()
    for i in range(3):
        group.members[f"m{i}"] = member(f"m{i}", 0)
    group.rebuild()
    group.members = {name: replace(m, revision=2) for name, m in group.members.items()}
    assert not group.rebuild().changes


@pytest.mark.parametrize("count", range(1, 12))
def test_a_new_batch_has_at_least_k(count):
    made = plan([member(f"m{i}", i) for i in range(count)], {}, K)
    assert all(K <= len(batch) < 2 * K for batch in made.formed)
    assert sum(map(len, made.formed)) == (count if count >= K else 0)


def test_batches_below_a_raised_minimum_end():
    there = [replace(member(f"m{i}", 0), batch=1, ever_published=True) for i in range(3)]
    assert plan(there, {1: 3}, 5).dissolved == (1,)
