"""What was found of each person: kept in memory, and handed over only where somebody asks, to pair two audits."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.base import Floats, FormatError, Ints, OptionError, Result, difference_interval, take_users
from reidrisk.base.options import option

_FEWEST = 20  # people in both audits, and at least half of the fewer: otherwise they are of other people


@dataclass(frozen=True, eq=False)
class PerPerson(Result):
    """How likely the strongest row of an audit links each person who was scored: internal, about single people.

    ``people`` are the ids of the known records (``named``), or their numbers; ``found`` is the mean over a person's
    records to identify. ``attack`` and ``rate`` are those of the row, so that it can be told whose it is.
    """

    people: tuple[str, ...]
    found: tuple[float, ...]
    named: bool
    attack: str
    rate: float
    level: float
    internal: bool = True

    def __post_init__(self) -> None:
        if len(self.people) != len(self.found) or len(set(self.people)) != len(self.people):
            raise FormatError("what was kept per person has one number for each of different people; keep it again")
        if not all(0.0 <= one <= 1.0 for one in self.found):
            raise FormatError("what was kept per person is no probability; keep it again (--keep-per-person)")


@dataclass(frozen=True, eq=False)
class Scored:
    """Whom the rows of an audit are about, as it is in memory: ids of all known records, and the rows asked for."""

    users: Any
    target: Ints

    def per_person(self, credit: Floats, attack: str, rate: float, level: float) -> PerPerson:
        """Return the mean credit of each person."""
        rows, place = np.unique(self.target, return_inverse=True)
        found = np.bincount(place, weights=credit) / np.bincount(place)
        ids = take_users(self.users, rows)
        names = rows.tolist() if ids is None else ids.tolist() if isinstance(ids, np.ndarray) else ids.to_pylist()
        kept = tuple(np.clip(found, 0.0, 1.0).tolist())
        return PerPerson(tuple(map(str, names)), kept, ids is not None, attack, rate, level)


@dataclass(frozen=True, eq=False)
class Paired:
    """Two audits on the people they have in common: the rates, the difference and its interval."""

    before: float
    after: float
    low: float
    high: float
    n_people: int


def paired(before: PerPerson, after: PerPerson) -> Paired:
    """Return the paired difference, person by person; audits of other people are refused.

    >>> one = PerPerson(tuple("abcdefghijklmnopqrstuvwx"), (1.0,) * 24, True, "Hamming", 1.0, 0.95)
    >>> two = PerPerson(one.people, (0.5,) * 24, True, "Hamming", 0.5, 0.95)
    >>> found = paired(one, two)
    >>> found.before - found.after, found.n_people
    (0.5, 24)
    """
    place = {name: i for i, name in enumerate(after.people)}
    rows = [(i, place[name]) for i, name in enumerate(before.people) if name in place]
    fewer = min(len(before.people), len(after.people))
    if before.named != after.named or len(rows) < min(_FEWEST, fewer) or 2 * len(rows) < fewer:
        common = f"{len(rows):,} of {len(before.people):,} and {len(after.people):,} people are in both audits"
        raise OptionError(
            f"{common}; compare audits of the same people, with one {option('seed')} and {option('sample')}"
        )
    one, two = (np.array([kept.found[pair[side]] for pair in rows]) for side, kept in enumerate((before, after)))
    low, high = difference_interval(one, two, before.level)
    return Paired(float(one.mean()), float(two.mean()), low, high, len(rows))
