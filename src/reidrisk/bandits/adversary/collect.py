"""Collecting: the adversary joins, asks under one guise after another, and keeps every different matrix it is given."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from reidrisk.bandits.client import Client, ServiceError
from reidrisk.base import Floats, OptionError, Progress, silent, stream, whole

_SPENT = ("profiles-spent", "too-many-requests")
_JITTER = 0.25  # of a number's spread, by which a guise differs from the metadata it imitates


@dataclass(eq=False)
class Collection:
    """What came back: different matrices by their digest, with the versions they were seen in."""

    matrices: dict[str, Floats] = field(default_factory=dict)
    seen: dict[str, set[int]] = field(default_factory=dict)
    asked: int = 0
    answered: int = 0
    strategy: str = ""
    members_at_least: int = 1
    publications: int = 1  # over which private clusters spread their budget

    @property
    def versions(self) -> tuple[int, ...]:
        """Versions seen, in order."""
        return tuple(sorted(set().union(*self.seen.values()))) if self.seen else ()


def guises(profiles: Floats, count: int, seed: int = 0) -> Floats:
    """Return metadata to ask with, (count, p): those of known people first, in random order, then others near them.

    >>> guises(np.array([[1.0], [2.0]]), 2).tolist() in ([[1.0], [2.0]], [[2.0], [1.0]])
    True
    """
    whole("guises", count)
    lots = stream(seed, "guises")
    order = [int(i) for _ in range(-(-count // len(profiles))) for i in lots.permutation(len(profiles))][:count]
    made = profiles[order].astype(np.float64)
    others = slice(len(profiles), None)  # the same people again: imitated, not copied
    made[others] += _JITTER * profiles.std(axis=0) * lots.standard_normal(made[others].shape)
    return made


def collect(clients: Sequence[Client], wanted: Floats, progress: Progress = silent) -> Collection:
    """Ask for every guise (g, p), each by the next identity that still may; what is refused is counted, no more.

    A service that hands nothing out, or does not know a token, ends it.
    """
    if not clients:
        raise OptionError("the adversary needs an identity; give an enrolment code or a token")
    found, free = Collection(publications=int(clients[0].about()["publications"])), list(range(len(clients)))
    for number, profile in enumerate(wanted):
        progress("asking", number / len(wanted))
        found.asked += 1
        while free:
            turn = free[number % len(free)]
            try:
                answer = clients[turn].fetch(profile)
            except ServiceError as error:
                if error.code not in _SPENT:
                    raise
                free.remove(turn)
                continue
            found.answered += 1
            found.strategy, found.members_at_least = answer.strategy, answer.members_at_least
            key = digest(answer.matrix)
            found.matrices[key] = answer.matrix
            found.seen.setdefault(key, set()).add(answer.version)
            break
    return found


def digest(matrix: Floats) -> str:
    """Return the digest of a matrix as it was handed out, by which the truth names it."""
    return hashlib.sha256(np.ascontiguousarray(matrix, dtype="<f8").tobytes()).hexdigest()
