"""Whether the truth may be misaligned: links far closer than strangers ever come, and truth calls them wrong.

Half of the targets, A, are what the attack is fitted on. The others are strangers to A, of the same kind of people: how
close *they* come to their best match in A is how close anybody comes by chance. The same is asked of queries whose
tokens were shuffled between people, epoch by epoch, which keeps their gaps and how common tokens are. A query whose
truth lies in A, and whose best match is closer than all but 1 in 100 of both, has most likely met its own person. Where
truth calls most of these links wrong, it is truth that must be looked at: rows sorted differently, ids reassigned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk import measure
from reidrisk.attacks import Attack
from reidrisk.base.intervals import mean_interval
from reidrisk.base.results import Result
from reidrisk.base.streams import stream
from reidrisk.measure.disclosure import few, limits
from reidrisk.records import Traces

__all__ = ["TruthDoubt", "doubt_truth"]

_ASKED = 1_000
"""Queries, and strangers, that are looked at."""

_BY_CHANCE = 0.01
"""Share of strangers that may come as close as a link that counts."""

_TELLING = 5.0 * _BY_CHANCE
"""Share of the queries that must be closer than that, and wrong, before truth is doubted."""

_LEVEL = 0.999


@dataclass(frozen=True, eq=False)
class TruthDoubt(Result):
    """Why the truth is doubted: of ``n_close`` links closer than strangers come, the share ``wrong`` by the truth.

    ``low`` is the lower end of that share at the level 99.9 %; ``attack`` and ``n_epochs`` say where it was found, and
    ``n_asked`` of how many records. Where fewer than ``min_group`` of the links are right, ``wrong`` is None, and
    ``low`` the limit that follows from that alone.
    """

    attack: str
    n_epochs: int
    n_asked: int
    n_close: int
    wrong: float | None
    low: float


def doubt_truth(
    chosen: list[Attack[Any]],
    counts: tuple[int, ...],
    targets: Traces,
    scored: Traces,
    truth: npt.NDArray[np.int64],
    seed: int,
    min_group: int = 1,
) -> TruthDoubt | None:
    """Return the first reason to doubt the truth, over all attacks and numbers of epochs; None where there is none.

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
    min_group : int
        Nothing is said about fewer links, nor about fewer right or wrong ones.

    Examples
    --------
    >>> from reidrisk import attacks
    >>> rng = np.random.default_rng(0)
    >>> people = Traces(rng.integers(0, 50, (300, 6)), n_tokens=50)
    >>> own = np.arange(300)
    >>> print(doubt_truth([attacks.Hamming()], (6,), people, people, own, seed=0))
    None
    >>> doubt_truth([attacks.Hamming()], (6,), people, people, np.roll(own, 1), seed=0).wrong
    1.0
    """
    draw = stream(seed, "doubt the truth")
    order = draw.permutation(len(targets))
    known, strange = np.sort(order[: len(targets) // 2]), order[len(targets) // 2 :][:_ASKED]
    place = np.full(len(targets), -1, dtype=np.int64)
    place[known] = np.arange(len(known))
    inside = draw.permutation(np.flatnonzero(place[truth] >= 0))[:_ASKED]
    if len(inside) < max(min_group, 20) or len(strange) < 20:
        return None
    asked, own = scored.take(inside), place[truth[inside]]
    strangers, shuffled = targets.take(strange), _shuffled(asked, draw)
    for r in counts[::-1]:
        pool = targets.take(known).epochs(r)
        if not pool.observed.any():
            continue
        for attack in chosen:
            attack.fit(pool)
            by_chance = max(
                float(np.quantile(attack.link(people.epochs(r)).score, 1.0 - _BY_CHANCE, method="higher"))
                for people in (strangers, shuffled)
            )
            links = attack.link(asked.epochs(r))
            close = (links.score > by_chance) & (links.target >= 0)
            n_close = int(close.sum())
            if not n_close:
                continue
            wrong = 1.0 - measure.credits(attack, asked.epochs(r), links, own)
            low = mean_interval(wrong[close], _LEVEL)[0]
            often = mean_interval(np.where(close, wrong, 0.0), _LEVEL)[0]
            if low > 0.5 and often > _TELLING and wrong[close].sum() >= min_group:
                return _told(attack.name, r, len(inside), wrong[close], low, min_group)
    return None


def _told(attack: str, r: int, asked: int, wrong: npt.NDArray[np.float64], low: float, min_group: int) -> TruthDoubt:
    right = float((1.0 - wrong).sum())
    if few(right, min_group):
        return TruthDoubt(attack, r, asked, len(wrong), None, limits(float(wrong.sum()), right, min_group)[0])
    return TruthDoubt(attack, r, asked, len(wrong), float(wrong.mean()), low)


def _shuffled(people: Traces, draw: np.random.Generator) -> Traces:
    """Return records that are nobody's: each token replaced by one of somebody else's in the same epoch."""
    tokens = np.array(people.tokens)
    for column in range(tokens.shape[1]):
        seen = np.flatnonzero(tokens[:, column] >= 0)
        tokens[seen, column] = tokens[draw.permutation(seen), column]
    return Traces(tokens, people.n_tokens)
