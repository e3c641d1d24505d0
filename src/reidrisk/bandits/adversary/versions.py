"""Versions against each other: linear combinations of all that was ever handed out, and whom they give away."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from reidrisk.base import Floats

_NEAR = 1e-6  # unit: of a record's cells; what is handed out is rounded to 9 digits


@dataclass(frozen=True, eq=False)
class HandedOut:
    """A matrix that was handed out, and who was behind it: known in the worst case."""

    matrix: Floats  # (d, d): the mean of the members' records
    members: frozenset[str]


@dataclass(frozen=True, eq=False)
class Combination:
    """A weighted sum of what was handed out, less the adversary's own records."""

    weights: dict[int, float]  # by the place of what was handed out
    members: dict[str, float]  # whose records it is a sum of, with their weights; empty: changes between versions alone
    total: Floats  # (d, d)


def combined(handed: Sequence[HandedOut], own: Mapping[str, Floats], most: int = 4) -> Iterator[Combination]:
    """Yield the sums of at most ``most`` matrices that are about as few members as any sum of the same matrices.

    For incidence A (matrices x members, the adversary's ``own`` left out), these are the weights w whose w A has a
    support that holds no other's: each is 0 at rank - 1 independent columns.

    >>> ann, bob, eve = np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([[0.25, 0.75], [0.0, 1.0]]), np.eye(2)
    >>> before = HandedOut((ann + bob) / 2, frozenset({"ann", "bob"}))
    >>> after = HandedOut((bob + eve) / 2, frozenset({"bob", "eve"}))
    >>> [found.total.tolist() for found in combined([before, after], {"eve": eve}) if set(found.members) == {"ann"}]
    [[[0.5, 0.5], [1.0, 0.0]]]
    """
    sums = [len(h.members) * h.matrix - sum(own[m] for m in sorted(h.members & own.keys())) for h in handed]
    others = [h.members - own.keys() for h in handed]
    for size in range(1, most + 1):
        for chosen in combinations(range(len(handed)), size):
            columns = {
                m: tuple(m in others[i] for i in chosen) for m in frozenset().union(*(others[i] for i in chosen))
            }
            for weights in _elementary(frozenset(columns.values()), size):
                about = {m: float(np.dot(weights, column)) for m, column in columns.items()}
                total = np.sum([w * sums[i] for w, i in zip(weights, chosen, strict=True)], axis=0)
                found = dict(zip(chosen, weights, strict=True))
                yield Combination(found, {m: w for m, w in about.items() if abs(w) > _NEAR}, np.asarray(total))


def given_away(
    found: Combination, records: Mapping[str, Sequence[Floats]], near: float = _NEAR
) -> set[tuple[str, int]]:
    """Return members and rows of their matrices that a combination is equal to, or a row's change between records.

    ``records`` are all that members ever shared, oldest first: the truth.
    """
    away: set[tuple[str, int]] = set()
    for member, shared in records.items():
        known = list(shared) if set(found.members) == {member} else []
        changes = [b - a for a, b in combinations(shared, 2)]
        truths = [weight * one for one in known for weight in found.members.values()]
        truths += [sign * one for one in changes for sign in (-1.0, 1.0)] if not found.members else []
        for truth in truths:
            equal = (np.abs(found.total - truth) < near).all(axis=1) & (np.abs(truth) > near).any(axis=1)
            away |= {(member, int(row)) for row in np.flatnonzero(equal)}
    return away


@cache
def _elementary(columns: frozenset[tuple[bool, ...]], size: int) -> tuple[tuple[float, ...], ...]:
    """Return weights of all ``size`` rows, none of them 0, that are 0 at size - 1 independent ones of these columns."""
    table = np.array(sorted(columns), dtype=np.float64).reshape(-1, size)
    weights: dict[tuple[float, ...], None] = {}
    for zero in combinations(range(len(table)), size - 1):
        _, values, right = np.linalg.svd(table[list(zero)].reshape(-1, size))
        if (values > _NEAR).sum() == size - 1 and np.abs(right[-1]).min() > _NEAR:
            weights[tuple((right[-1] / right[-1][np.abs(right[-1]).argmin()]).round(9).tolist())] = None
    return tuple(weights)
