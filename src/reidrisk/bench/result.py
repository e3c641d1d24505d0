"""What a benchmark of attacks found: a row for each attack, data set and setting, and who stands where."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reidrisk.base import Covers, Note, Result, Spoken
from reidrisk.measure import Calibration

FORMAT = 1
CALIBRATED = 0.03  # largest excess of the calibration error at which probabilities count as held
ENOUGH = 500  # queries from which on that is judged


@dataclass(frozen=True, eq=False)
class Expected(Result):
    """The rate that an attack expects of itself without having seen the truth, and between which ends."""

    rate: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Assigned(Result):
    """The rate of an attack where all queries are linked at once, one to one, on the same queries as the others.

    ``behind`` is the paired difference to the best attack of the setting as it links by itself, with its interval:
    below 0 where this one is better.
    """

    rate: float
    behind: float
    behind_low: float
    behind_high: float


@dataclass(frozen=True, eq=False)
class Row(Spoken):
    """One attack on the queries of one data set in one setting: its ``rate`` with the interval, and how far ``behind``.

    ``behind`` is the paired difference to the best attack on the same queries, with its interval: 0 for that one
    itself. ``calibration`` is missing where the attack gives no probabilities, ``expected`` where it does not say how
    many links it expects to be right. ``seconds`` are for learning and linking with probabilities, on this machine.
    ``together``: whether it weighed all queries against each other. ``assigned`` is of one that did not, where it was
    tried with a one-to-one assignment, too (:func:`reidrisk.measure.matching`).
    """

    data: str
    setting: str
    attack: str
    rate: float
    low: float
    high: float
    baseline: float
    n_targets: int
    n_queries: int
    covers: Covers
    behind: float
    behind_low: float
    behind_high: float
    seconds: float
    calibration: Calibration | None = None
    held_back: bool = False
    expected: Expected | None = None
    together: bool = False
    assigned: Assigned | None = None

    @property
    def is_beaten(self) -> bool:
        """Whether the best attack is better beyond the interval of the paired difference."""
        return self.behind_low > 0.0

    @property
    def holds(self) -> bool | None:
        """Whether its probabilities held; none where it gives none, or for too few queries to tell."""
        if self.calibration is None or self.calibration.n_queries < ENOUGH:
            return None
        return self.calibration.excess <= CALIBRATED

    @property
    def is_foreseen(self) -> bool | None:
        """Whether its rate lies where the attack expected it without truth; none where it expected nothing."""
        return None if self.expected is None else self.expected.low <= self.rate <= self.expected.high


@dataclass(frozen=True, eq=False)
class Used(Spoken):
    """A data set that was read: how many people, different items and events were drawn from it."""

    name: str
    what: str
    origin: str
    licence: str
    held_back: bool
    people: int
    items: int
    events: int


@dataclass(frozen=True)
class Standing:
    """One line of the leaderboard: over all settings in which the attack ran.

    ``unbeaten`` is in how many no attack was better beyond the paired interval, ``mean_behind`` and ``most_behind`` how
    much of the rate it lost to the best of a setting, ``held`` in how many of the ``judged`` its probabilities held,
    ``foreseen`` in how many of the ``guessed`` its rate lay where it had expected it without truth.
    """

    attack: str
    settings: int
    best: int
    unbeaten: int
    mean_behind: float
    most_behind: float
    where: tuple[str, str]  # data set and setting in which it lost the most
    held: int
    judged: int
    foreseen: int
    guessed: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Bench(Spoken):
    """A benchmark of attacks: what was asked for, the ``rows``, what data was used, and what was ``left_out`` and why.

    With the same seed, sizes, data and version every number but the seconds is the same.
    """

    seed: int
    users: int
    queries: int
    level: float
    version: str
    rows: tuple[Row, ...]
    used: tuple[Used, ...]
    left_out: tuple[Note, ...] = ()
    format: int = FORMAT

    def standings(self, held_back: bool | None = None) -> tuple[Standing, ...]:
        """Return the leaderboard, the smallest mean loss first: of all data, or of that (not) held back."""
        rows = [row for row in self.rows if held_back is None or row.held_back == held_back]
        names = dict.fromkeys(row.attack for row in rows)
        found = [_standing(name, [row for row in rows if row.attack == name]) for name in names]
        return tuple(sorted(found, key=lambda one: (one.mean_behind, one.attack)))

    def plus(self, other: Bench) -> Bench:
        """Return both together, made with the same seed, sizes and attacks: of one setting after the other."""
        left_out = tuple(dict.fromkeys((*self.left_out, *other.left_out)))
        used = {one.name: one for one in (*self.used, *other.used)}
        return replace(self, rows=(*self.rows, *other.rows), used=tuple(used.values()), left_out=left_out)


def _standing(name: str, rows: list[Row]) -> Standing:
    worst = max(rows, key=lambda row: row.behind)
    judged = [row.holds for row in rows if row.holds is not None]
    guessed = [row.is_foreseen for row in rows if row.is_foreseen is not None]
    return Standing(
        attack=name,
        settings=len(rows),
        best=sum(row.behind <= 0.0 for row in rows),
        unbeaten=sum(not row.is_beaten for row in rows),
        mean_behind=sum(row.behind for row in rows) / len(rows),
        most_behind=worst.behind,
        where=(worst.data, worst.setting),
        held=sum(judged),
        judged=len(judged),
        foreseen=sum(guessed),
        guessed=len(guessed),
        seconds=sum(row.seconds for row in rows),
    )
