"""Re-identification rates on real and on synthetic users, trial by trial (dick, Figure 6)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.base import DataError, OptionError, Progress, Risk, Spoken, Stage, checked_seed, silent, whole
from reidrisk.records import TopSets

QUERIES, TRIALS = 10_240, 10  # dick, Section 6.1.3
BAYES_USERS, BAYES_QUERIES = 20_000, 2_048  # ProfileBayes compares every pair of records in full


@dataclass(frozen=True, eq=False)
class RateComparison(Spoken):
    """How often one attack is right on real and on synthetic users: means over the trials.

    Intervals (95 %) are Student's over the trials; of one trial, over its queries. Deviations, the error bars of dick,
    Figure 6, are over the trials; 0 for one.
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
    agrees: bool  # whether the means are within one standard deviation of the real ones (dick, Section 6.1.3)
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

    In every trial two sites see one token per epoch of everybody, and users drawn at random are to be found again among
    all. ``synthetic`` returns, given the number of a trial, full sets of as many synthetic people. ``epochs`` are the
    numbers of epochs observed (default: all of them), and ``bayes_users`` how many users ProfileBayes attacks.

    >>> from reidrisk import populations
    >>> one, two = (populations.published(2_000, epochs=2, seed=seed) for seed in (0, 1))
    >>> found = compare_rates(one, lambda trial: two, trials=1, queries=500, bayes_users=0)
    >>> [(c.attack, abs(c.real - c.synthetic) < 0.02) for c in found]
    [('Hamming', True), ('WeightedHamming', True)]
    """
    if trials < 1 or queries < 1:
        raise OptionError(f"at least 1 trial and 1 query are needed, not {trials} and {queries}")
    bayes_users = whole("bayes_users", bayes_users, least=0)
    seed, say = checked_seed(seed), progress or silent
    counts = tuple(epochs) if epochs is not None else (real.n_epochs,)
    found: dict[tuple[str, int], dict[str, list[Risk]]] = {}
    for trial in range(trials):
        say(Stage("trial-drawn", trial=trial + 1, trials=trials), trial / trials)
        people = {"real": real, "synthetic": synthetic(trial)}
        if len(people["synthetic"]) != len(real) or people["synthetic"].n_epochs < real.n_epochs:
            raise DataError(f"the synthetic users must be {len(real):,}, of {real.n_epochs} epochs, as the real ones")
        for number, (kind, sets) in enumerate(people.items()):
            stage = Stage("trial-attacked", trial=trial + 1, trials=trials, kind=kind)
            say(stage, (trial + 0.4 + 0.3 * number) / trials)
            for risk in _attacked(sets, counts, noise, queries, bayes_users, seed * trials + trial):
                found.setdefault((risk.attack, risk.n_epochs), {"real": [], "synthetic": []})[kind].append(risk)
    return tuple(_compared(both["real"], both["synthetic"]) for both in found.values())


def _attacked(sets: TopSets, counts: Sequence[int], noise: float, queries: int, few: int, seed: int) -> list[Risk]:
    """Attack one population once; ProfileBayes a few of its users."""
    from reidrisk import attacks, measure  # the compiler is loaded by those who attack
    from reidrisk.topics import TopicsAPI

    api = TopicsAPI(sets.n_tokens, top_k=sets.k, noise=noise)
    one, two = (api.expose(sets, seed=seed, site=site) for site in ("site 1", "site 2"))
    risks = []
    for r in counts:
        hamming = (attacks.Hamming(), attacks.WeightedHamming(sets.k, noise))
        tried: list[tuple[Any, int, int]] = [(attack, len(sets), queries) for attack in hamming]
        if few:
            bayes = attacks.ProfileBayes(sets.k, noise, calibrate=False)
            tried.append((bayes, min(few, len(sets)), min(queries, BAYES_QUERIES)))
        for attack, n, sample in tried:
            # Rows are the truth: both sites see the same people in the same order.
            first, second = (site.epochs(r).take(slice(0, n)) for site in (one, two))
            risks.append(measure.random_user(attack, first, second, truth=np.arange(n), sample=sample, seed=seed))
    return risks


def _compared(real: list[Risk], synthetic: list[Risk]) -> RateComparison:
    first = real[0]
    ours, theirs = (_mean(risks) for risks in (real, synthetic))
    agrees = abs(ours[0] - theirs[0]) <= ours[3] if len(real) > 1 else ours[1] <= theirs[0] <= ours[2]
    each = (tuple(risk.rate for risk in risks) for risks in (real, synthetic))
    sizes = (first.n_targets, first.n_queries)
    return RateComparison(first.attack, first.n_epochs, *sizes, *ours, *theirs, first.baseline, agrees, *each)


def _mean(risks: list[Risk]) -> tuple[float, float, float, float]:
    """Return mean, low, high and standard deviation of the rates of the trials."""
    from scipy.special import stdtrit

    rates = np.array([risk.rate for risk in risks])
    if len(rates) == 1:
        return float(rates[0]), risks[0].low, risks[0].high, 0.0
    mean, deviation = float(rates.mean()), float(rates.std(ddof=1))
    half = float(stdtrit(len(rates) - 1, 0.975)) * deviation / float(np.sqrt(len(rates)))
    return mean, max(0.0, mean - half), min(1.0, mean + half), deviation
