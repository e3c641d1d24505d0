"""Whether counts in a file have the noise that is stated, and whether that is enough for the stated budget.

The first is read off the counts, the second is arithmetic; neither needs anything but what is published.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reidrisk.base import Note, OptionError, Spoken, between_0_and_1
from reidrisk.privacy import PrivacyStatement, gaussian_delta
from reidrisk.release.counts.mechanism import NoisePlan, overspent
from reidrisk.release.counts.pairs import PairCounts, measured_blocks
from reidrisk.release.counts.statistics import Statistics, from_counts
from reidrisk.release.validate import spread as tests
from reidrisk.release.validate.deviations import noise_of


@dataclass(frozen=True, eq=False)
class NoiseBudget(Spoken):
    """Whether noise of the stated size keeps within the stated budget."""

    enough: bool | None  # None where it could not be examined
    epsilon: float
    delta: float
    promised: float = 0.0
    r""":math:`\mu = \sqrt{\sum_b \Delta_b^2 / \sigma_b^2}` of the stated noise; 0 where it was not examined."""
    delta_promised: float = 0.0  # the delta of that noise at epsilon; it must not exceed delta
    why: Note | None = None  # why it could not be examined, or is not the noise of a release


def noise_budget(statistics: Statistics) -> NoiseBudget:
    r"""Check the stated noise against the stated epsilon and delta, with the sensitivities that the counts have.

    The :func:`reidrisk.privacy.gaussian_delta` of noise of :math:`\mu` must not exceed the stated delta. Discrete noise
    is held to the accounting of a release as well, zero-concentrated differential privacy. The stated sensitivities are
    not believed: they follow from the size of a set and the number of epochs.

    >>> from reidrisk import TopSets, release
    >>> sets = TopSets([[[0, 1], [0, 2]]] * 500, n_tokens=3)
    >>> noise_budget(release.statistics(sets, epsilon=1.0, delta=1e-6, simulation=True, seed=0)).enough
    True
    """
    statement = statistics.statement
    if statement is None:
        raise OptionError("exact statistics have no noise to examine; give released ones")
    budget = (statement.epsilon, statement.delta)
    if not statement.sigma:
        return NoiseBudget(None, *budget, why=Note("noise-not-stated"))
    if statistics.n_epochs is None:
        return NoiseBudget(None, *budget, why=Note("periods-not-stated"))
    try:
        mu, delta, enough = promised(stated_plan(statement, statistics.k, statistics.n_epochs))
    except OptionError:
        size = {"k": statistics.k, "n_epochs": statistics.n_epochs}
        return NoiseBudget(False, *budget, why=Note("noise-of-other-tables", stated=[*statement.sigma], **size))
    return NoiseBudget(enough, *budget, mu, delta)


def stated_plan(statement: PrivacyStatement, k: int, n_epochs: int) -> NoisePlan:
    """Return the noise that the statement promises, on sets of all of k tokens."""
    blocks = measured_blocks(k, k, n_epochs)
    names = [block.name for block in blocks]
    if set(names) != set(statement.sigma):
        stated = f"the statement has the noise of {', '.join(statement.sigma) or 'no table'}"
        given = f"{n_epochs} epochs of sets of {k} give {', '.join(names)}"
        raise OptionError(f"{stated}, but {given}; give those that were measured, of a release made here")
    sigma = tuple(float(statement.sigma[name]) for name in names)
    return NoisePlan(blocks, sigma, statement.epsilon, statement.delta, statement.budget, not statement.simulation)


def promised(plan: NoisePlan) -> tuple[float, float, bool]:
    """Return mu of the noise of a plan, its delta at the epsilon of the plan, and whether it is within the budget."""
    each = {b.name: b.sensitivity / s for b, s in zip(plan.blocks, plan.sigma, strict=True)}
    mu = math.hypot(*each.values())
    delta = gaussian_delta(1.0 / mu, plan.epsilon)
    # Discrete noise is accounted by zCDP, which leaves some of the budget unspent; continuous noise spends it to the
    # last digit, where rounding decides.
    over = plan.discrete and overspent(plan, {name: ratio**2 / 2.0 for name, ratio in each.items()})
    return mu, delta, delta <= plan.delta * (1.0 + 1e-6) and not over


@dataclass(frozen=True, eq=False)
class NoiseFit(Spoken):
    """Whether counts have the noise that is stated."""

    fits: bool | None  # None where some table could not be examined, which is no pass
    error: float  # probability, at most, that a release with the stated noise is said not to fit
    n_sums: int = 0  # independent differences of sums that agree before the noise; 0 where there are none
    ratio: float = 0.0
    """Their spread, as a multiple of what the stated noise gives, with a 95 % interval; 0 where there are none."""
    low: float = 0.0
    high: float = 0.0
    finds_half: float = 0.0  # probability that the sums, or what is alike, show noise of half of the stated size
    alike: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Of counts that people change little, ``orders`` of a pair, ``pairs`` and ``epochs``: how many differences ``n``,
    their spread as a multiple of the least that the stated noise gives, ``ratio``, its p-value ``p``, and
    ``finds_half``, if half is missing in all tables."""
    n_near: int = 0  # counts within three sigma of 0
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Of each table: ``sigma``, ``near``, the share of those ``within`` one sigma of 0 and the most ``expected`` there,
    the p-value ``p`` of too many near 0, and ``finds_half``, if as many of them are empty as seem to be; and the
    ``power``, ``by`` what shows it best, to find half of the noise of this table alone."""
    troubles: tuple[Note, ...] = ()  # what does not fit
    why: Note | None = None  # why not everything could be examined
    notes: tuple[Note, ...] = ()
    sums: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Of two epochs, the sums of ``f11`` and ``f22`` apart, each with ``f12``: as above, with both p-values."""


def noise_fit(statistics: Statistics, error: float = 0.0001) -> NoiseFit:
    r"""Test whether released counts have the noise that their statement promises.

    **Sums.** Of two epochs with full sets of k, :math:`k \sum_b f_{11}[a, b]` and :math:`(k - 1) \sum_b f_{12}[a, b]`
    are equal before the noise, for every token a, and so are those of :math:`f_{22}` and columns. Off its mean, their
    difference has the variance :math:`k^2 (N - 2) \sigma_{11}^2 + (k - 1)^2 N \sigma_{12}^2`, so that the squares add
    up to a :math:`\chi^2` of :math:`N - 1` degrees of freedom: f11 with f12, f22 with f12, and all together. Of E > 2
    epochs only the totals of within and across must agree.

    **Counts that are alike.** What people change adds to the squares (a noncentral :math:`\chi^2`), so that squares too
    small for the noise alone show too little of it; large ones show nothing. The two orders of a pair are of f12, or
    across, alone; the same pair in either of two epochs is of f11 and f22; the two ways of E > 2 epochs to count who
    has a token are of within and across.

    **Near-empty counts**, of each table alone. Given that a count y with noise of size sigma lies within
    :math:`3 \sigma` of 0, it lies within h with a probability of at most
    :math:`P(|\sigma Z| \le h) / P(|\sigma Z| \le 3 \sigma)`: the likelihood ratio of :math:`|y|` is monotone, so an
    empty count is nearest. The number within h is therefore at most binomial; h is sigma, a half, a quarter and so on,
    at a Bonferroni level.

    Counts fit only if **every** table would show half of its noise missing, the others having theirs, as likely as not.
    What holds the noise of two tables clears neither by itself: it counts for one if the other would show the same by
    other means. Even so, more noise than stated in one can make up for less in the other.

    Sums and alike counts have half of ``error``, near-empty counts the other half. That real counts are whole, and that
    the statistics follow from the counts, is checked without error.

    >>> from reidrisk import TopSets, release
    >>> sets = TopSets([[[i, (i + 1) % 20], [i, (i + 2) % 20]] for i in range(20)] * 500, n_tokens=20)
    >>> found = noise_fit(release.statistics(sets, epsilon=1.0, delta=1e-6, simulation=True, seed=0))
    >>> found.fits, found.n_sums, bool(found.low < 1.0 < found.high)
    (True, 38, True)
    """
    error = between_0_and_1("error", error)
    statement, counts = statistics.statement, statistics.counts
    if statement is None:
        raise OptionError("exact statistics have no noise to examine; give released ones")
    why = _not_examined(statistics, statement)
    if why is not None or counts is None:
        return NoiseFit(None, error, why=why)
    measured = {block.name for block in measured_blocks(counts.k, counts.n_tokens, counts.n_epochs)}
    missing = sorted((set(counts.tables) ^ set(statement.sigma)) | (set(counts.tables) ^ measured))
    if missing:
        return NoiseFit(False, error, troubles=(Note("counts-of-other-tables", tables=missing),))
    discrete = not statement.simulation
    troubles = _not_whole(counts, discrete)
    differing = tests.differing_sums(counts, statement.sigma)
    differing_alike = tests.alike_sums(counts, statement.sigma)
    share = error / (2.0 * (2 * len(differing) + len(differing_alike)) or 1.0)
    sums = {name: tests.spread(found, share) for name, found in differing.items()}
    alike = {name: tests.least_spread(found, share) for name, found in differing_alike.items()}
    every = sums.pop("all", None) or tests.spread(None, share)
    troubles += _sums_off(sums, every, share)
    for name, found in alike.items():
        if found["p"] <= share:
            troubles.append(Note("alike-agree-too-well", what=name, ratio=found["ratio"]))
    tables: dict[str, dict[str, Any]] = {}
    near = {}
    for name, sigma in statement.sigma.items():
        level = (error / 2.0 if differing or alike else error) / len(statement.sigma)
        tables[name], near[name] = tests.near_zero(counts.flat(name), sigma, discrete, level)
    crowded = [name for name, excess in near.items() if excess]
    if crowded:
        troubles.append(Note("too-near-zero", tables=crowded, **near[crowded[0]]))
    troubles += _not_of_the_counts(statistics)
    in_near = {name: found["finds_half"] for name, found in tables.items()}
    for name, (power, by) in tests.power_of_tables(in_near, differing, differing_alike, share).items():
        tables[name] |= {"power": power, "by": by}
    unseen = [name for name, found in tables.items() if found["power"] < tests.SHOWS]
    finds_half = max(found["finds_half"] for found in (every, *alike.values()))
    notes = [Note("noise-test-error", error=error)]
    number = int(every["n"]) if every["n"] > 1 else sum(int(found["n"]) for found in alike.values())
    if number:
        notes.append(Note("noise-test-power", n=number, alike=every["n"] <= 1, finds_half=finds_half))
    powers = [float(found["power"]) for found in tables.values()]
    notes += [Note("noise-table-power", tables=list(tables), powers=powers), Note("noise-test-limits")]
    return NoiseFit(
        fits=False if troubles else None if unseen else True,
        error=error,
        n_sums=int(every["n"]),
        **{name: every[name] for name in ("ratio", "low", "high")},
        finds_half=finds_half,
        alike=alike,
        n_near=sum(int(found["near"]) for found in tables.values()),
        tables=tables,
        troubles=tuple(troubles),
        why=Note("noise-does-not-show", tables=unseen) if unseen and not troubles else None,
        notes=tuple(notes),
        sums=sums,
    )


def _sums_off(sums: Mapping[str, Mapping[str, float]], every: Mapping[str, float], level: float) -> list[Note]:
    """Complain of sums that agree too well or differ too much: of one epoch, or else of all of them together."""
    found = []
    for tail in ("p_low", "p_high"):
        off = [([name, "f12"], one) for name, one in sums.items() if one[tail] <= level]
        if not off and every["n"] and every[tail] <= level:
            off = [([], every)]
        for tables, one in off:
            seen = {"tables": tables, **{name: one[name] for name in ("ratio", "low", "high")}}
            note = Note("sums-agree-too-well", **seen) if tail == "p_low" else Note("sums-differ-too-much", **seen)
            found.append(note)
    return found


def _not_examined(statistics: Statistics, statement: PrivacyStatement) -> Note | None:
    if statistics.counts is None and statement.sigma and statistics.n_epochs is not None:
        return Note("counts-missing")
    if statistics.counts is None:
        return Note("no-counts")
    if not statement.sigma:
        return Note("noise-not-stated")
    if not statement.simulation and min(statement.sigma.values()) < 1.0:
        return Note("noise-below-one-count", sigma=min(statement.sigma.values()))
    return None


def _not_whole(counts: PairCounts, discrete: bool) -> list[Note]:
    """Complain of discrete noise that leaves fractions, and of continuous noise that leaves none."""
    found = []
    for name in counts.tables:
        values = counts.flat(name)
        whole = float(np.mean(values == np.rint(values))) if len(values) else 1.0
        if discrete and whole < 1.0:
            found.append(Note("counts-not-whole", table=name, share=1.0 - whole))
        if not discrete and whole > 0.5:
            found.append(Note("counts-whole", table=name, share=whole))
    return found


def _not_of_the_counts(statistics: Statistics) -> list[Note]:
    """Complain of statistics that are not what comes out of the noisy counts: only those were examined."""
    assert statistics.counts is not None
    assert statistics.statement is not None
    again = from_counts(statistics.counts, statistics.statement)
    noise = noise_of(again)
    for kind in ("within", "across"):
        ours, theirs = getattr(again, kind), getattr(statistics, kind)
        # Far below the noise, and above what another machine's rounding does to the projections.
        if np.abs(ours - theirs).max() > (0.01 * noise.get(kind, 0.0) + 1e-6 * statistics.k**2):
            return [Note("statistics-not-of-counts", kind=kind)]
    if math.isfinite(statistics.n_users) and abs(again.n_users - statistics.n_users) > 1e-6 * again.n_users:
        return [Note("users-not-of-counts")]
    return []
