"""Members and their batches over many rebuilds, and a search through all that was published for whom it isolates."""

from dataclasses import replace
from itertools import combinations

import numpy as np

from reidrisk.bandits.service.aggregates.batches import Member, applied, check, plan


class Group:
    """Members and their batches; ``published`` has each version of each batch as records by member."""

    def __init__(self, k):
        self.k, self.members, self.sizes, self.history, self.published = k, {}, {}, {}, {}

    def add(self, name, matrix, profile=0.0):
        first = next((batch for batch, found in self.history.items() if name in found), None)
        self.members[name] = Member(name, 1, np.asarray(matrix), np.array([float(profile)]), first_batch=first)

    def update(self, name, matrix):
        old = self.members[name]
        self.members[name] = replace(old, revision=old.revision + 1, matrix=np.asarray(matrix))

    def withdraw(self, name):
        return self.members.pop(name)

    def rebuild(self):
        there = list(self.members.values())
        made = plan(there, self.sizes, self.history, self.k)
        after, numbers = applied(there, made, max(self.history, default=0))
        self.sizes = {batch: size for batch, size in self.sizes.items() if batch not in made.dissolved}
        self.sizes |= {number: len(batch) for number, batch in zip(numbers, made.formed, strict=True)}
        new = {n: {there[i].agent for i in batch} for n, batch in zip(numbers, made.formed, strict=True)}
        self.history |= new
        check(there, after, self.sizes, self.history, self.k)
        self.members = {m.agent: m for m in after}
        for number in self.sizes:
            version = {m.agent: m.published_matrix for m in after if m.batch == number}
            if not any(same(version, old) for old in self.published.setdefault(number, [])):
                self.published[number].append(version)
        return made

    def isolated(self):
        """Return who is isolated by what was published, in any row."""
        versions = [(batch, version) for batch, found in self.published.items() for version in found]
        for row in range(len(next(iter(versions[0][1].values())))) if versions else ():
            found = isolated([(batch, {m: v[row] for m, v in version.items()}) for batch, version in versions], self.k)
            if found:
                return found
        return None


def same(one, other):
    return all(np.array_equal(one[m], other[m]) for m in one)


def isolated(releases, k):
    """Return members whom a combination of published sums is about, and fewer than k of each batch of one of them.

    ``releases`` are pairs of a batch and its members' records, one row of probabilities each: a cell that is equal in
    two releases is the same unknown, and each record adds up to 1. Every set of members is tried: the sums that are
    about nobody else are a null space, and they are about all whom its basis is about.
    """
    names = sorted({m for _, version in releases for m in version})
    blocks, owner = [], []
    for m in names:
        unknowns = sorted({cell for _, version in releases if m in version for cell in enumerate(version[m])})
        place = {unknown: i for i, unknown in enumerate(unknowns)}
        records = [[place[cell] for cell in enumerate(version[m])] for _, version in releases if m in version]
        free = null_space(np.array([np.isin(np.arange(len(unknowns)), r) for r in records], dtype=float))
        zero = np.zeros(free.shape[1])
        blocks.append(
            [
                free[place[c, version[m][c]]] if m in version else zero
                for _, version in releases
                for c in range(len(next(iter(version.values()))))
            ]
        )
        owner += [m] * free.shape[1]
    table, owner = np.concatenate([np.array(block) for block in blocks], axis=1), np.array(owner)
    _, values, right = np.linalg.svd(table, full_matrices=False)
    space = right[values > 1e-9]
    batches = {b: set(version) for b, version in releases}
    for size in range(1, len(names) + 1):
        for chosen in map(set, combinations(names, size)):
            hides = all(any(m in b and len(chosen & b) >= k for b in batches.values()) for m in chosen)
            if not hides:
                left = null_space(space[:, ~np.isin(owner, list(chosen))].T).T @ space
                if {m for m in chosen if np.abs(left[:, owner == m]).max(initial=0.0) > 1e-7} == chosen:
                    return chosen
    return None


def null_space(matrix):
    _, values, right = np.linalg.svd(matrix)
    return right[int((values > 1e-9).sum()) :].T
