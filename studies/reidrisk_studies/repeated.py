"""Experiments repeated with other seeds: mean rates of right and wrong links, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from reidrisk import measure
from reidrisk.attacks.base import Attack, Links
from reidrisk.base.intervals import mean_interval
from reidrisk.base.parallel import each
from reidrisk.base.progress import Progress
from reidrisk_studies.data import data_folder

__all__ = [
    "REPETITIONS",
    "Outcome",
    "Repeated",
    "combine",
    "each_seed",
    "mean_of_repetitions",
    "once",
    "outcome",
    "repeat",
    "seeds_of",
    "student_interval",
]

Floats = npt.NDArray[np.float64]
Key = TypeVar("Key")
Value = TypeVar("Value")

REPETITIONS = 10
"""jha, Section 6: 'We repeat each experiment 10 times and report the average performance.'"""


def once(compute: Callable[[int, int, Progress], Value]) -> Callable[[int, int, Progress], Value]:
    """Keep the last result, for two figures of one simulation that are asked for one after the other.

    Examples
    --------
    >>> @once
    ... def total(users, seed, progress):
    ...     print("computed")
    ...     return users + seed
    >>> total(1, 2, None), total(1, 2, None)
    computed
    (3, 3)
    """
    kept: dict[tuple[int, int, str], Value] = {}

    def asked(users: int, seed: int, progress: Progress) -> Value:
        key = (users, seed, str(data_folder()))
        if key not in kept:
            kept.clear()
            kept[key] = compute(users, seed, progress)
        return kept[key]

    return asked


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one run of an attack did to each query: probability of a right and of a wrong link."""

    correct: Floats
    wrong: Floats
    baseline: float


@dataclass(frozen=True)
class Repeated:
    """Mean rates of several repetitions; ``rate``, ``incorrect`` and ``abstained`` add up to 1.

    ``low`` to ``high`` and ``incorrect_low`` to ``incorrect_high`` are 95 % intervals, see
    :func:`mean_of_repetitions`; ``each`` has the rate of every repetition.
    """

    rate: float
    low: float
    high: float
    incorrect: float
    incorrect_low: float
    incorrect_high: float
    abstained: float
    baseline: float
    queries: int
    each: tuple[float, ...]

    def columns(self) -> dict[str, float | int]:
        """Return the columns of a row of a study."""
        names = ("rate", "low", "high", "incorrect", "incorrect_low", "incorrect_high", "abstained", "baseline")
        return {name: getattr(self, name) for name in names} | {"queries": self.queries, "repetitions": len(self.each)}


def seeds_of(seed: int, repetitions: int | None = None) -> tuple[int, ...]:
    """Return the seeds of the repetitions, default: ten; those of two seeds of a study have none in common.

    Examples
    --------
    >>> seeds_of(2, 3)
    (6, 7, 8)
    """
    count = REPETITIONS if repetitions is None else repetitions
    return tuple(seed * count + r for r in range(count))


def outcome(
    attack: Attack[Any],
    targets: Any,
    queries: Any,
    truth: npt.NDArray[np.int64] | None = None,
    links: Links | None = None,
) -> Outcome:
    """Fit, link, and compare with the truth: equal rows by default (-1 = not among the targets).

    With ``links`` the attack has been run already, and is only asked whether the truth is among ties.
    """
    known = np.arange(len(queries)) if truth is None else truth
    if links is None:
        links = attack.fit(targets).link(queries)
    correct = measure.credits(attack, queries, links, known)
    return Outcome(correct, (links.target >= 0) - correct, float(np.mean(known >= 0)) / len(targets))


def each_seed(work: Callable[[int], Value], seeds: Sequence[int], threads: int | None = None) -> list[Value]:
    """Run ``work`` with every seed, side by side; what comes back is in the order of the seeds.

    Examples
    --------
    >>> each_seed(lambda seed: seed**2, (1, 2, 3))
    [1, 4, 9]
    """
    return each(work, seeds, threads)


def repeat(
    work: Callable[[int], Mapping[Key, Outcome]],
    seeds: Sequence[int],
    same_users: bool = False,
    threads: int | None = None,
) -> dict[Key, Repeated]:
    """Run ``work`` with every seed, side by side, and combine what each key got."""
    runs = each_seed(work, seeds, threads)
    return {key: combine([run[key] for run in runs], same_users) for key in runs[0]}


def combine(outcomes: Sequence[Outcome], same_users: bool = False) -> Repeated:
    """Average repetitions.

    Parameters
    ----------
    outcomes : sequence of Outcome
        One a repetition.
    same_users : bool
        Whether query i is the same person in each of them, so that a person's repetitions are no independent news.

    Examples
    --------
    >>> run = Outcome(np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0, 0.0]), baseline=0.25)
    >>> found = combine([run, run])
    >>> found.rate, found.incorrect, found.abstained, found.queries
    (0.25, 0.25, 0.5, 4)
    """
    right = mean_of_repetitions([run.correct for run in outcomes], same_users)
    wrong = mean_of_repetitions([run.wrong for run in outcomes], same_users)
    return Repeated(
        *right,
        *wrong,
        abstained=max(0.0, 1.0 - right[0] - wrong[0]),
        baseline=float(np.mean([run.baseline for run in outcomes])),
        queries=len(outcomes[0].correct),
        each=tuple(float(run.correct.mean()) for run in outcomes),
    )


def mean_of_repetitions(values: Sequence[Floats], same_users: bool = False) -> tuple[float, float, float]:
    """Return the mean with a 95 % interval that allows for both reasons why another run would differ.

    One is which users there are: the interval of :func:`reidrisk.base.intervals.mean_interval` over users. The other is
    what all users of a repetition share: Student's interval over the means of the repetitions. The wider end counts.

    Parameters
    ----------
    values : sequence of (n,) arrays
        Values in [0, 1] of the users of each repetition.
    same_users : bool
        Average over repetitions first, user by user.

    Examples
    --------
    >>> mean, low, high = mean_of_repetitions([np.array([0.0] * 50 + [1.0] * 50)] * 10)
    >>> mean, round(low, 2), round(high, 2)    # users alone: the repetitions do not differ
    (0.5, 0.47, 0.53)
    >>> mean, low, high = mean_of_repetitions([np.full(50, x) for x in (0.2, 0.8)])
    >>> low, high                              # two repetitions that differ so much say nothing
    (0.0, 1.0)
    """
    means = np.array([float(each.mean()) for each in values])
    mean = float(means.mean())
    pooled = np.mean(values, axis=0) if same_users else np.concatenate(values)
    low, high = mean_interval(np.clip(pooled, 0.0, 1.0))
    if len(means) > 1:
        ends = student_interval(means)
        low, high = min(low, ends[0]), max(high, ends[1])
    return mean, max(0.0, min(low, mean)), min(1.0, max(high, mean))


def student_interval(means: npt.ArrayLike) -> tuple[float, float]:
    """Return Student's 95 % interval of the mean of a few numbers.

    Examples
    --------
    >>> low, high = student_interval([1.0, 2.0, 3.0])
    >>> round(low, 2), round(high, 2)
    (-0.48, 4.48)
    """
    from scipy.special import stdtrit

    x = np.asarray(means, dtype=np.float64)
    half = float(stdtrit(len(x) - 1, 0.975) * x.std(ddof=1) / np.sqrt(len(x)))
    return float(x.mean()) - half, float(x.mean()) + half
