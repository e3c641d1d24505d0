"""The internal validation: model and synthetic users against the real people, without noise; for their owner alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.base import Array, Ints, Note, OptionError, Progress, Result, Spoken, silent, sizes, whole
from reidrisk.base.streams import blocks, checked_seed, stream
from reidrisk.populations.type_mixture import MixtureStatistics, TypeMixture
from reidrisk.records import TopSets
from reidrisk.release.counts.statistics import Statistics, exact_statistics
from reidrisk.release.model.fit import fit_mixture
from reidrisk.release.validate.deviations import ErrorSummary, compare, every_epoch, frequencies, popularity_alone
from reidrisk.release.validate.public import ALONE, MODEL, check_same_tokens
from reidrisk.release.validate.rates import QUERIES, TRIALS, RateComparison, compare_rates

_RESAMPLES = 1000


@dataclass(frozen=True, eq=False)
class Distinct(Result):
    """How many distinct tokens people have over all epochs, real and synthetic (dick, Figure 5).

    ``correlation`` is Pearson's between the two distributions over 1 … r k tokens, ``low`` to ``high`` its 95 %
    interval by the bootstrap over users; ``distance`` is the largest share of people that the two could disagree on
    (total variation), which no scaling hides.
    """

    real: tuple[float, ...]
    synthetic: tuple[float, ...]
    correlation: float
    low: float
    high: float
    distance: float


@dataclass(frozen=True, eq=False)
class InternalValidation(Spoken):
    """How near model and synthetic users are to the real people; private."""

    n_users: int
    n_epochs: int
    seed: int
    refitted: bool
    summaries: tuple[ErrorSummary, ...]
    """Against the exact statistics: of the released ones, of the model, and of the baseline, popularity alone."""
    distinct: Distinct
    real_stationarity: Mapping[str, tuple[tuple[float, ...], ...]]
    """Pearson's correlation between the statistics of any two epochs (dick, Figure 8)."""
    synthetic_stationarity: Mapping[str, tuple[tuple[float, ...], ...]]
    rates: tuple[RateComparison, ...]
    notes: tuple[Note, ...] = ()

    @property
    def warning(self) -> str:
        """That none of this is covered by the privacy statement: the first of the notes."""
        return self.assumptions[0]


def internal_validation(
    top_sets: TopSets,
    statistics: Statistics,
    model: TypeMixture,
    *,
    noise: float = 0.05,
    trials: int = TRIALS,
    queries: int = QUERIES,
    models: Callable[[int], TypeMixture] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> InternalValidation:
    """Compare with the real people (dick, Section 6 and Appendix C); the answer is private.

    ``noise``, ``trials`` and ``queries`` are those of :func:`compare_rates`; 0 trials leave it out. ``models`` gives a
    model for the number of a trial, such as :func:`refitted` does; default: one for all, which hides how much a fit
    depends on its start.

    >>> from reidrisk import TopSets, release
    >>> sets = TopSets([[[0, 1], [0, 1]], [[2, 3], [2, 3]]] * 2_000, n_tokens=4)
    >>> stats = release.statistics(sets, epsilon=1.0, delta=1e-6, simulation=True, seed=0)
    >>> model = release.fit_mixture(stats, n_types=4, n_epochs=2, steps=300, device="cpu")
    >>> found = internal_validation(sets, stats, model, trials=0)
    >>> found.notes[0].code
    'not-covered-by-the-privacy-statement'
    """
    check_same_tokens(model, statistics)
    check_same_tokens(model, top_sets)
    trials = whole("trials", trials, least=0)
    sizes.RUNS.check(trials, "the trials", "take fewer")
    seed, say = checked_seed(seed), progress or silent
    say("counting-real", 0.0)
    real = (top_sets if top_sets.is_padded else top_sets.padded(seed)).epochs(min(top_sets.n_epochs, model.n_epochs))
    r, n = real.n_epochs, len(real)
    measured = 2 if statistics.counts is None else statistics.counts.n_epochs
    exact = exact_statistics(real.epochs(min(measured, r)))
    synthetic = model.sample(n, seed).padded(seed).epochs(r)
    ours = model.statistics()
    found = {
        "released statistics": every_epoch(statistics.single, statistics.within, statistics.across, r),
        MODEL: MixtureStatistics(ours.single[:r], ours.within[:r], ours.across[: r - 1]),
        ALONE: popularity_alone(exact, r),
    }
    summaries = [summary for what, values in found.items() for summary in compare(values, exact, what)[0]]

    def people(trial: int) -> TopSets:
        return (model if models is None else models(trial)).sample(n, seed + trial).padded(seed + trial).epochs(r)

    def then(stage: str, share: float) -> None:
        say(stage, 0.1 + 0.9 * share)

    rates: tuple[RateComparison, ...] = ()
    if trials:
        how: Any = {"noise": noise, "trials": trials, "queries": queries, "seed": seed}
        rates = compare_rates(real, people, **how, progress=then)
    notes = [
        Note("not-covered-by-the-privacy-statement"),
        Note("real-users", n_users=n, n_epochs=r, measured=min(measured, r)),
        Note("short-sets-padded"),
    ]
    if trials:
        notes.append(Note("one-item-per-period", noise=noise))
        notes.append(Note("model-fitted-anew") if models is not None else Note("one-model-for-all-trials"))
    distinct = distinct_tokens(real, synthetic, seed)
    alike = [stationarity(frequencies(sets)) for sets in (real, synthetic)]
    anew = models is not None
    return InternalValidation(n, r, seed, anew, tuple(summaries), distinct, alike[0], alike[1], rates, tuple(notes))


def refitted(model: TypeMixture, statistics: Statistics, device: str | None = None) -> Callable[[int], TypeMixture]:
    """Return a function that fits the model again for every trial but the first, each from another start."""
    report = model.report
    if report is None:
        raise OptionError("the model does not say how it was fitted; use it in all trials: --no-refit, or models=None")

    def fitted(trial: int) -> TypeMixture:
        if trial == 0:
            return model
        how: Any = {"steps": report.steps, "learning_rate": report.learning_rate, "device": device}
        return fit_mixture(statistics, model.n_types, model.n_epochs, report.seed + trial, **how)

    return fitted


def distinct_tokens(real: TopSets, synthetic: TopSets, seed: int = 0) -> Distinct:
    """Compare how many distinct tokens people have over all epochs (dick, Figure 5).

    >>> a = TopSets([[[0, 1], [0, 1]], [[0, 1], [1, 2]]] * 50, n_tokens=3)
    >>> distinct_tokens(a, a).real
    (0.0, 0.5, 0.5, 0.0)
    """
    counts = [np.bincount(_distinct(sets), minlength=(real.n_epochs * real.k) + 1)[1:] for sets in (real, synthetic)]
    shares = [count / count.sum() for count in counts]
    rng = stream(seed, "release distinct tokens")
    drawn = [rng.multinomial(int(c.sum()), s, size=_RESAMPLES) for c, s in zip(counts, shares, strict=True)]
    low, high = np.quantile([pearson(a, b) for a, b in zip(*drawn, strict=True)], (0.025, 0.975))
    distance = float(np.abs(shares[0] - shares[1]).sum() / 2.0)
    ours, theirs = (tuple(share.tolist()) for share in shares)
    return Distinct(ours, theirs, pearson(*shares), float(low), float(high), distance)


def stationarity(found: MixtureStatistics) -> dict[str, tuple[tuple[float, ...], ...]]:
    """Return Pearson's correlation between the statistics of any two epochs, or steps (dick, Figure 8)."""
    upper = np.triu_indices(found.single.shape[1], 1)
    rows = {
        "single": list(found.single),
        "within": [table[upper] for table in found.within],
        "across": [table.ravel() for table in found.across],
    }
    return {kind: tuple(tuple(pearson(a, b) for b in each) for a in each) for kind, each in rows.items()}


def pearson(a: Array, b: Array) -> float:
    """Return Pearson's correlation; 0 where one of the two does not vary at all."""
    x, y = (np.asarray(v, dtype=np.float64) - np.mean(v) for v in (a, b))
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 0.0 else 0.0


def _distinct(sets: TopSets) -> Ints:
    """Return how many distinct tokens each user has."""
    found = np.empty(len(sets), dtype=np.int64)
    for _, start, stop in blocks(len(sets), 1 << 17):
        tokens = np.sort(sets.tokens[start:stop].reshape(stop - start, -1), axis=1)
        found[start:stop] = (tokens[:, 0] >= 0) + ((tokens[:, 1:] != tokens[:, :-1]) & (tokens[:, 1:] >= 0)).sum(axis=1)
    return found
