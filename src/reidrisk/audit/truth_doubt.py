"""Whether the truth may be misaligned: more queries come close than strangers do, and truth calls these links wrong.

Half of the targets are what the attack is fitted on. The others are strangers to them, of the same kind of people: how
close *they* come to their best match is how close anybody comes by chance. The same is asked of queries whose tokens
were shuffled between people, epoch by epoch, which keeps their gaps and how common tokens are. Then the halves change
roles. The share of queries that come close, less the larger share of the two kinds of strangers, is the *excess*:
people who have most likely met themselves. If truth is right, it calls at least that share right: whoever reaches a
score that no stranger reached is linked to their own record. Where truth calls less than half of it right, it is truth
that must be looked at: rows sorted differently, ids reassigned. Where there is no excess to speak of, nothing is
learned about the truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from reidrisk import measure
from reidrisk.attacks import Attack, Links
from reidrisk.base.intervals import mean_interval
from reidrisk.base.results import Result
from reidrisk.base.streams import stream
from reidrisk.records import Traces

_ASKED = 1_000
"""Queries, and strangers, that are looked at."""

_QUANTILES = (0.5, 0.8, 0.9, 0.95, 0.99)
"""Of the strangers' scores: where queries and strangers are compared."""

_TELLING = 0.05
"""Excess, at its lower end, from which something is learned about the truth."""

_LEVEL = 0.999

TruthCheck = Literal["passed", "doubt", "no power"]


@dataclass(frozen=True, eq=False)
class TruthDoubt(Result):
    """Why the truth is doubted: ``n_close`` links closer than most strangers come, the share ``wrong`` by the truth.

    ``low`` is the lower end of that share at the level 99.9 %; ``attack`` and ``n_epochs`` say where it was found, and
    ``n_asked`` of how many records. What would tell of a few people is None, and ``low`` 0 then.
    """

    attack: str
    n_epochs: int
    n_asked: int
    n_close: int | None
    wrong: float | None
    low: float


class _Scores(NamedTuple):
    """Best scores of queries, and of the two kinds of strangers; how far truth calls the queries' links right."""

    asked: npt.NDArray[np.float64]
    strangers: npt.NDArray[np.float64]
    shuffled: npt.NDArray[np.float64]
    right: npt.NDArray[np.float64]


def check_truth(
    chosen: list[Attack[Any]],
    counts: tuple[int, ...],
    targets: Traces,
    scored: Traces,
    truth: npt.NDArray[np.int64],
    seed: int,
) -> tuple[TruthCheck, TruthDoubt | None]:
    """Return whether the truth stands up, and the first reason to doubt it over all attacks and numbers of epochs.

    The answer is ``"no power"`` where no attack finds clearly more queries close than strangers, or truth calls too
    little of the largest excess right to stand and too much to be doubted: then a wrong truth may look the same.

    Parameters
    ----------
    chosen : list of Attack
        Are fitted here on half of the targets.
    counts : tuple of int
        Numbers of epochs.
    targets, scored : Traces
        The known records, and queries that have a counterpart.
    truth : (n_scored,) array
        Target row of each query.
    seed : int
        Of the draws.

    Examples
    --------
    >>> from reidrisk import attacks
    >>> rng = np.random.default_rng(0)
    >>> people = Traces(rng.integers(0, 50, (300, 6)), n_tokens=50)
    >>> own = np.arange(300)
    >>> check_truth([attacks.Hamming()], (6,), people, people, own, seed=0)
    ('passed', None)
    >>> answer, doubt = check_truth([attacks.Hamming()], (6,), people, people, np.roll(own, 1), seed=0)
    >>> answer, doubt.wrong
    ('doubt', 1.0)
    """
    draw = stream(seed, "doubt the truth")
    order = draw.permutation(len(targets))
    half, other = np.sort(order[: len(targets) // 2]), np.sort(order[len(targets) // 2 :])
    if len(half) < 10:
        return "no power", None
    pairs = ((half, other), (other, half))
    splits = [_Split.drawn(known, strange, targets, scored, truth, draw) for known, strange in pairs]
    largest, stands = 0.0, False
    for r in counts[::-1]:
        for attack in chosen:
            found = [split.scores(attack, r) for split in splits]
            if not all(len(one.asked) for one in found):
                continue
            scores = _Scores(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
            for close, excess, low in _excesses(scores, r):
                right = np.where(close, scores.right, 0.0)
                if 2.0 * mean_interval(right, _LEVEL)[1] < low:
                    wrong = 1.0 - scores.right[close]
                    told = len(wrong), float(wrong.mean()), mean_interval(wrong, _LEVEL)[0]
                    return "doubt", TruthDoubt(attack.name, r, len(close), *told)
                if low > largest:
                    largest, stands = low, 2.0 * float(right.mean()) > excess
    return ("passed" if stands else "no power"), None


class _Split(NamedTuple):
    """One half of the targets, the queries whose truth lies in it, and the two kinds of strangers to it."""

    known: Traces
    asked: Traces
    strangers: Traces
    shuffled: Traces
    own: npt.NDArray[np.int64]

    @classmethod
    def drawn(
        cls,
        known: npt.NDArray[np.int64],
        strange: npt.NDArray[np.int64],
        targets: Traces,
        scored: Traces,
        truth: npt.NDArray[np.int64],
        draw: np.random.Generator,
    ) -> _Split:
        place = np.full(len(targets), -1, dtype=np.int64)
        place[known] = np.arange(len(known))
        inside = draw.permutation(np.flatnonzero(place[truth] >= 0))[: _ASKED // 2]
        asked = scored.take(inside)
        strangers = targets.take(draw.permutation(strange)[: _ASKED // 2])
        return cls(targets.take(known), asked, strangers, _shuffled(asked, draw), place[truth[inside]])

    def scores(self, attack: Attack[Any], r: int) -> _Scores:
        pool, asked = self.known.epochs(r), self.asked.epochs(r)
        if not (len(asked) and pool.observed.any()):
            return _Scores(*(np.zeros(0) for _ in _Scores._fields))
        attack.fit(pool)
        links = attack.link(asked)
        strangers, shuffled = (_best(attack.link(one.epochs(r))) for one in (self.strangers, self.shuffled))
        return _Scores(_best(links), strangers, shuffled, measure.credits(attack, asked, links, self.own))


def _best(links: Links) -> npt.NDArray[np.float64]:
    """Return the score of each link, the lowest there is where none was made."""
    return np.where(links.target >= 0, links.score, -np.inf)


def _excesses(scores: _Scores, r: int) -> Iterator[tuple[npt.NDArray[np.bool_], float, float]]:
    """Yield which queries come close, how many more than strangers, and the lower end of that where it is telling."""
    # Shuffled records of one epoch are the records themselves.
    kinds = [scores.strangers, scores.shuffled] if r > 1 else [scores.strangers]
    for cut in np.unique(np.quantile(np.concatenate(kinds), _QUANTILES, method="higher")):
        for reaches in (np.greater_equal, np.greater):
            close = reaches(scores.asked, cut)
            excess, low = min(_difference(close, reaches(one, cut)) for one in kinds)
            if low > _TELLING:
                yield close, excess, low


def _difference(a: npt.NDArray[np.bool_], b: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Return the difference of two independent shares, and its lower end (Newcombe)."""
    up, down = float(a.mean()), float(b.mean())
    apart = np.hypot(up - mean_interval(a, _LEVEL)[0], mean_interval(b, _LEVEL)[1] - down)
    return up - down, up - down - float(apart)


def _shuffled(people: Traces, draw: np.random.Generator) -> Traces:
    """Return records that are nobody's: each token replaced by one of somebody else's in the same epoch."""
    tokens = np.array(people.tokens)
    for column in range(tokens.shape[1]):
        seen = np.flatnonzero(tokens[:, column] >= 0)
        tokens[seen, column] = tokens[draw.permutation(seen), column]
    return Traces(tokens, people.n_tokens)
