"""Re-identification rates on real and on synthetic users, trial by trial (dick, Figure 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.options import whole
from reidrisk.base.progress import Progress, silent
from reidrisk.base.results import Risk, Spoken
from reidrisk.base.streams import checked_seed
from reidrisk.records import TopSets, Traces

QUERIES, TRIALS = 10_240, 10
"""dick, Section 6.1.3."""

BAYES_USERS, BAYES_QUERIES = 20_000, 2_048
"""ProfileBayes compares every pair of records in full, so it is tried on fewer people."""


@dataclass(frozen=True, eq=False)
class RateComparison(Spoken):
    """How often one attack is right on real and on synthetic users.

    Attributes
    ----------
    attack, n_epochs, n_targets, n_queries : str and int
        What was tried, on how many records.
    real, synthetic : float
        Mean rate over the trials.
    real_low, real_high, synthetic_low, synthetic_high : float
        95 % intervals of the means: Student's over the trials; of one trial, over its queries.
    real_deviation, synthetic_deviation : float
        Standard deviation over the trials, 0 for one trial; the error bars of dick, Figure 6.
    real_each, synthetic_each : tuple of float
        The rate of every trial.
    baseline : float
        What blind guessing gets.
    agrees : bool
        Whether the means are within one standard deviation of the real ones (dick, Section 6.1.3).
    """

    attack: str
    n_epochs: int
    n_targets: int
    n_queries: int
    real: float
    real_low: float
    real_high: float
    real_deviation: float
    synthetic: float
    synthetic_low: float
    synthetic_high: float
    synthetic_deviation: float
    baseline: float
    agrees: bool
    real_each: tuple[float, ...] = ()
    synthetic_each: tuple[float, ...] = ()


def compare_rates(
    real: TopSets,
    synthetic: Callable[[int], TopSets],
    *,
    noise: float = 0.05,
    trials: int = TRIALS,
    queries: int = QUERIES,
    epochs: Sequence[int] | None = None,
    bayes_users: int = BAYES_USERS,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[RateComparison, ...]:
    """Attack real and synthetic users alike: both Hamming attacks and ProfileBayes, several times.

    In every trial two sites see one token per epoch of everybody, and the records of users drawn at random are
    to be found again among all. Each kind of data is attacked by itself.

    Parameters
    ----------
    real : TopSets
        Full sets of real people.
    synthetic : callable
        Given the number of a trial, returns full sets of as many synthetic people: of a model fitted anew for every
        trial, where the published experiment is followed.
    noise : float
        Probability that a site is shown a random token.
    trials, queries : int
        How often, and how many users are to be found.
    epochs : sequence of int, optional
        Numbers of epochs observed; default: all of them.
    bayes_users : int
        How many users, from the first, ProfileBayes attacks; 0 for none.
    seed : int
        Of what sites see, and of who is to be found.

    Examples
    --------
    >>> from reidrisk import populations
    >>> sets = populations.published(2_000, epochs=2)
    >>> other = lambda trial: populations.published(2_000, epochs=2, seed=trial + 1)
    >>> found = compare_rates(sets, other, trials=3, queries=500, bayes_users=0)
    >>> [(c.attack, c.agrees or abs(c.real - c.synthetic) < 0.02) for c in found]
    [('Hamming', True), ('WeightedHamming', True)]
    """
    if trials < 1 or queries < 1:
        raise OptionError(f"at least 1 trial and 1 query are needed, not {trials} and {queries}")
    bayes_users = whole("bayes_users", bayes_users, least=0)
    seed, say = checked_seed(seed), progress or silent
    counts = tuple(epochs) if epochs is not None else (real.n_epochs,)
    found: dict[tuple[str, int], dict[str, list[Risk]]] = {}
    for trial in range(trials):
        say(f"trial {trial + 1} of {trials}: synthetic users", trial / trials)
        people = {"real": real, "synthetic": synthetic(trial)}
        if len(people["synthetic"]) != len(real) or people["synthetic"].n_epochs < real.n_epochs:
            raise DataError(f"the synthetic users must be {len(real):,}, of {real.n_epochs} epochs, as the real ones")
        for number, (kind, sets) in enumerate(people.items()):
            say(f"trial {trial + 1} of {trials}: attacks on {kind} users", (trial + 0.4 + 0.3 * number) / trials)
            for risk in _attacked(sets, counts, noise, queries, bayes_users, seed * trials + trial):
                found.setdefault((risk.attack, risk.n_epochs), {"real": [], "synthetic": []})[kind].append(risk)
    return tuple(_compared(both["real"], both["synthetic"]) for both in found.values())


def _attacked(
    sets: TopSets, counts: Sequence[int], noise: float, queries: int, bayes_users: int, seed: int
) -> list[Risk]:
    """Attack one population once."""
    from reidrisk import attacks  # the compiler is loaded by those who attack
    from reidrisk.topics import TopicsAPI

    api = TopicsAPI(sets.n_tokens, top_k=sets.k, noise=noise)
    one, two = (api.expose(sets, seed=seed, site=site) for site in ("site 1", "site 2"))
    risks = []
    for r in counts:
        for attack in (attacks.Hamming(), attacks.WeightedHamming(sets.k, noise)):
            risks.append(_risk(attack, one.epochs(r), two.epochs(r), queries, seed))
        if bayes_users:
            first = slice(0, min(bayes_users, len(sets)))
            bayes = attacks.ProfileBayes(sets.k, noise, calibrate=False)
            fewer = min(queries, BAYES_QUERIES)
            risks.append(_risk(bayes, one.epochs(r).take(first), two.epochs(r).take(first), fewer, seed))
    return risks


def _risk(attack: Any, one: Traces, two: Traces, queries: int, seed: int) -> Risk:
    from reidrisk import measure

    # Rows are the truth: both sites see the same people in the same order.
    return measure.random_user(attack, one, two, truth=np.arange(len(one)), sample=queries, seed=seed)


def _compared(real: list[Risk], synthetic: list[Risk]) -> RateComparison:
    first = real[0]
    ours, theirs = (_mean(risks) for risks in (real, synthetic))
    agrees = abs(ours[0] - theirs[0]) <= ours[3] if len(real) > 1 else ours[1] <= theirs[0] <= ours[2]
    return RateComparison(
        first.attack,
        first.n_epochs,
        first.n_targets,
        first.n_queries,
        *ours,
        *theirs,
        baseline=first.baseline,
        agrees=bool(agrees),
        real_each=tuple(risk.rate for risk in real),
        synthetic_each=tuple(risk.rate for risk in synthetic),
    )


def _mean(risks: list[Risk]) -> tuple[float, float, float, float]:
    """Return mean, low, high and standard deviation of the rates of the trials."""
    from scipy.special import stdtrit

    rates = np.array([risk.rate for risk in risks])
    if len(rates) == 1:
        return float(rates[0]), risks[0].low, risks[0].high, 0.0
    mean, deviation = float(rates.mean()), float(rates.std(ddof=1))
    half = float(stdtrit(len(rates) - 1, 0.975)) * deviation / float(np.sqrt(len(rates)))
    return mean, max(0.0, mean - half), min(1.0, mean + half), deviation
