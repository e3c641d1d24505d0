"""Rates with intervals: how often an attack links a query to the right target (carey, Section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.base import Attack, Links
from reidrisk.errors import OptionError
from reidrisk.intervals import difference_interval, mean_interval
from reidrisk.measure.truth import Truth, find_truth
from reidrisk.results import Difference, Risk
from reidrisk.streams import fresh_seed, stream
from reidrisk.wording import in_words, range_in_words

__all__ = ["chosen_queries", "credits", "curve", "difference", "random_user", "risk_of", "summarise"]


def random_user(
    attack: Attack[Any],
    targets: Any,
    queries: Any,
    truth: npt.ArrayLike | Truth | None = None,
    sample: int | None = None,
    seed: int | None = None,
    level: float = 0.95,
) -> Risk:
    """Measure the random-user setting: for one record at a time, which of the targets it is.

    rate = (1/q) sum over queries of [truth among the best] / t, where t targets share the best score: the
    expectation over random tie-breaks, not one coin toss.

    Parameters
    ----------
    attack : Attack
        Is fitted on the targets here.
    targets, queries : Traces
        What the two observers saw. A target without query is a distractor; a query whose user is not among the
        targets can only be linked wrongly.
    truth : (n_queries,) integers, optional
        Target row of each query; without it, equal user ids are the truth (see :func:`find_truth`).
    sample : int, optional
        Score only so many queries, drawn without replacement; the attacker still sees every record.
    seed : int, optional
        Seed of that draw; drawn and recorded when missing.
    level : float
        Level of the interval.

    Examples
    --------
    >>> from reidrisk import Traces, attacks
    >>> a = Traces([[1, 2], [3, 4], [5, 6]], n_tokens=9)
    >>> risk = random_user(attacks.Hamming(), a, a)
    >>> risk.rate, round(risk.baseline, 2), risk.n_queries
    (1.0, 0.33, 3)
    """
    known = find_truth(targets, queries, truth)
    rows, used = chosen_queries(len(queries), sample, seed)
    asked = queries if rows is None else queries.take(rows)
    target = known.target if rows is None else known.target[rows]
    attack.fit(targets)
    links = attack.link(asked)
    return summarise(attack, targets, asked, links, Truth(target, known.origin), rows is None, used, level)


def curve(
    attack: Attack[Any],
    targets: Any,
    queries: Any,
    epochs: Sequence[int],
    truth: npt.ArrayLike | Truth | None = None,
    sample: int | None = None,
    seed: int | None = None,
    level: float = 0.95,
) -> tuple[Risk, ...]:
    """Measure the random-user setting at several numbers of epochs, on the same queries.

    Parameters
    ----------
    attack, targets, queries, truth, sample, seed, level
        As for :func:`random_user`.
    epochs : sequence of int
        Numbers of epochs; the first so many are looked at each time.

    Examples
    --------
    >>> from reidrisk import Traces, attacks
    >>> a = Traces([[1, 2], [1, 4], [5, 6]], n_tokens=9)
    >>> [round(risk.rate, 2) for risk in curve(attacks.Hamming(), a, a, epochs=(1, 2))]
    [0.67, 1.0]
    """
    known = find_truth(targets, queries, truth)
    used = fresh_seed() if seed is None and sample is not None else seed
    return tuple(random_user(attack, targets.epochs(r), queries.epochs(r), known, sample, used, level) for r in epochs)


def chosen_queries(n: int, sample: int | None, seed: int | None) -> tuple[npt.NDArray[np.int64] | None, int | None]:
    """Draw which queries to score; ``None`` means all of them, and then no seed is used."""
    if sample is None or sample >= n:
        return None, None
    if sample < 1:
        raise OptionError(f"sample must be at least 1 query, not {sample}")
    used = fresh_seed() if seed is None else seed
    rows = stream(used, "sample queries").choice(n, size=sample, replace=False, shuffle=False)
    return np.sort(rows), used


def credits(attack: Attack[Any], queries: Any, links: Links, truth: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the probability of a right link for each query: 1/t if the truth is among the t best, else 0."""
    known = np.flatnonzero((truth >= 0) & (links.target >= 0))
    credit = np.zeros(len(links))
    if known.size:
        asked = queries if known.size == len(links) else queries.take(known)
        among = attack.score(asked, truth[known]) == links.score[known]
        credit[known[among]] = 1.0 / links.n_ties[known[among]]
    return credit


def summarise(
    attack: Attack[Any],
    targets: Any,
    queries: Any,
    links: Links,
    truth: Truth,
    everyone: bool,
    seed: int | None,
    level: float,
) -> Risk:
    """Turn the links of the scored queries into a :class:`Risk`."""
    risk = risk_of(
        credits(attack, queries, links, truth.target),
        float(np.mean(links.target < 0)),
        attack,
        targets,
        queries,
        truth,
        level,
    )
    return replace(
        risk,
        mean_ties=float(links.n_ties.mean()),
        everyone=everyone,
        seed=seed,
        assumptions=_assumptions(truth, len(queries), everyone, level),
        reading=_reading(risk.rate, risk.low, risk.high, risk.baseline),
    )


def risk_of(
    credit: npt.NDArray[np.float64],
    abstained: float,
    attack: Attack[Any],
    targets: Any,
    queries: Any,
    truth: Truth,
    level: float,
) -> Risk:
    """Return the rate of these credits with its interval, its baseline and the sizes, in whatever setting."""
    rate = float(credit.mean())
    low, high = mean_interval(np.clip(credit, 0.0, 1.0), level)
    credit.flags.writeable = False
    return Risk(
        rate=rate,
        low=low,
        high=high,
        incorrect=max(0.0, 1.0 - rate - abstained),
        abstained=abstained,
        baseline=float(np.mean(truth.target >= 0)) / len(targets),
        n_targets=len(targets),
        n_queries=len(queries),
        attack=attack.name,
        n_epochs=getattr(queries, "n_epochs", 0),
        level=level,
        per_user=credit,
    )


def difference(one: Risk, other: Risk) -> Difference:
    """Return the paired difference of two attacks measured on the same queries: rate of one - rate of other.

    Examples
    --------
    >>> from reidrisk import Traces, attacks
    >>> a = Traces([[1, 2], [3, 4], [5, 6]], n_tokens=9)
    >>> gap = difference(random_user(attacks.Hamming(), a, a), random_user(attacks.Hamming(), a, a))
    >>> gap.difference, gap.reading
    (0.0, 'Hamming and Hamming cannot be told apart on these 3 queries.')
    """
    if one.per_user is None or other.per_user is None or len(one.per_user) != len(other.per_user):
        raise OptionError("a paired difference needs two risks measured on the same queries, with per_user kept")
    low, high = difference_interval(one.per_user, other.per_user, one.level)
    if low > 0.0 or high < 0.0:
        better, worse = (one, other) if low > 0.0 else (other, one)
        reading = f"{better.attack} links more people than {worse.attack}, beyond chance."
    else:
        reading = f"{one.attack} and {other.attack} cannot be told apart on these {one.n_queries:,} queries."
    return Difference(
        attack=one.attack,
        other=other.attack,
        n_epochs=one.n_epochs,
        difference=one.rate - other.rate,
        low=low,
        high=high,
        level=one.level,
        n_queries=one.n_queries,
        reading=reading,
    )


def _assumptions(truth: Truth, n_queries: int, everyone: bool, level: float) -> tuple[str, ...]:
    notes = [truth.origin]
    if everyone:
        notes.append(
            "Every query was scored: the rate is exact for these users, and the interval is for users like these."
        )
    else:
        notes.append(f"The rate was measured on {n_queries:,} queries drawn at random; the interval covers that draw.")
    strangers = int(np.sum(truth.target < 0))
    if strangers:
        notes.append(
            f"{strangers:,} of the scored queries belong to nobody among the targets; any link of them is wrong."
        )
    notes.append(f"The interval holds the rate in {100 * level:g} of 100 such measurements, if users are independent.")
    return tuple(notes)


def _reading(rate: float, low: float, high: float, baseline: float) -> str:
    if low <= baseline:
        return (
            f"This attacker cannot be told apart from blind guessing: it links {in_words(rate)} people correctly "
            f"({range_in_words(rate, low, high)}), guessing links {in_words(baseline)}."
        )
    return (
        f"An attacker who holds both tables links about {in_words(rate)} people correctly "
        f"({range_in_words(rate, low, high)}); guessing blindly would link {in_words(baseline)}."
    )
