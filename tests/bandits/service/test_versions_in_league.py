"""An adversary over HTTP with members of its own: everything that was ever handed out, up to four at a time."""

import numpy as np
import pytest

from reidrisk.bandits.adversary.collect import digest
from reidrisk.bandits.adversary.versions import HandedOut, combined, given_away

STATES = 5


class Watched:
    """A service whose every version is kept, with who was behind it, and what members ever shared."""

    def __init__(self, scene, **options):
        self.scene = scene(profiles_per_day=0, updates_per_day=0, **options)
        self.lots, self.people, self.shared, self.handed = np.random.default_rng(1), {}, {}, {}

    def join(self, count):
        joined = [one.agent for one in map(self._known, self.scene.join(count, share=False))]
        for agent in joined:
            self.share(agent, 0.5 * self.lots.dirichlet(np.ones(STATES), STATES) + 0.5 / STATES)
        return joined

    def _known(self, one):
        self.people[one.agent] = one
        return one

    def share(self, agent, matrix):
        answer = self.scene.share(self.people[agent], matrix, profile=[0.0])
        assert answer.status_code == 200
        self.shared.setdefault(agent, []).append(np.asarray(matrix))

    def withdraw(self, agent):
        one = self.people[agent]
        assert self.scene.http.delete(one.record, headers=one.headers).status_code == 200

    def rebuild(self):
        """Rebuild, and keep what is handed out; return whether there is something new."""
        before = len(self.handed)
        self.scene.rebuild()
        told = self.scene.http.get("/admin/membership", headers=self.scene.admin).json()
        members = {group["digest"]: frozenset(group["members"]) for group in told["groups"]}
        for group in self.scene.publisher.snapshot.groups:
            self.handed[digest(group.matrix)] = HandedOut(group.matrix, members[digest(group.matrix)])
        return len(self.handed) > before

    def away(self, own=()):
        records = {agent: shared for agent, shared in self.shared.items() if agent not in own}
        known = {agent: self.shared[agent][-1] for agent in own}
        found = combined(list(self.handed.values()), known)
        return set().union(*(given_away(one, records) for one in found))


def test_updates_of_one_row_each_give_no_row_away(scene):
    made = Watched(scene, minimum_group=5, strategy="microaggregation:5")
    people = made.join(5)
    assert made.rebuild()
    for row, agent in enumerate(people):
        matrix = made.shared[agent][0].copy()
        matrix[row, :2] += np.array([0.01, -0.01]) * (6 + row)
        made.share(agent, matrix)
    assert not made.rebuild()
    assert made.away() == set()
    for number, agent in enumerate(people):
        made.share(agent, made.shared[agent][0] + (0.05 + number / 100) * np.array([1, -1, 1, -1, 0]))
    assert made.rebuild(), "what everybody changed comes out"
    assert made.away() == set()


def test_newcomers_of_one_hand_do_not_undo_a_withdrawal(scene):
    made = Watched(scene, minimum_group=5, strategy="microaggregation:5")
    people = made.join(5)
    assert made.rebuild()
    made.withdraw(people[0])
    made.rebuild()
    assert made.scene.publisher.snapshot.groups == (), "nobody is left to hide among"
    newcomers = made.join(5)
    assert made.rebuild()
    assert made.away(newcomers) == set()


@pytest.mark.parametrize("strategy", ["microaggregation:3", "clusters:2", "average"])
def test_no_newcomers_of_one_hand_undo_what_others_do(scene, strategy):
    """Members come, change and go; each time, those who came together hold all they know against everybody else."""
    made = Watched(scene, minimum_group=3, strategy=strategy)
    waves, versions = [made.join(5)], made.rebuild()
    for turn in range(4):
        first = [agent for wave in waves for agent in wave if made.people[agent].matrix is not None]
        for agent in first[:: 1 + turn % 2]:
            matrix = made.shared[agent][-1].copy()
            rows = made.lots.random(STATES) < (0.5 if turn % 2 else 1.1)
            matrix[rows] = made.lots.dirichlet(np.full(STATES, 5.0), STATES)[rows]
            made.share(agent, matrix)
        versions += made.rebuild()
        gone = made.lots.choice(first)
        made.withdraw(gone)
        made.people[gone].matrix = None
        versions += made.rebuild()
        waves.append(made.join(int(made.lots.integers(3, 6))))
        versions += made.rebuild()
    assert versions > 5
    assert made.away() == set()
    for wave in waves:
        assert made.away([agent for agent in wave if len(made.shared[agent]) == 1]) == set()
