"""Whether the counts in a file have the noise that their statement promises: read off the counts themselves.

It needs nothing but what is published.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reidrisk.base.errors import OptionError
from reidrisk.base.notes import Note
from reidrisk.base.options import between_0_and_1
from reidrisk.base.results import Spoken
from reidrisk.privacy import PrivacyStatement
from reidrisk.release.counts.pairs import Counts, measured_blocks
from reidrisk.release.counts.statistics import Statistics, from_counts
from reidrisk.release.validate.errors import noise_of
from reidrisk.release.validate.spread import alike_sums, differing_sums, least_spread, near_zero, spread

SHOWS = 0.5  # alike or near-empty counts tell if half of the noise would show in them with at least this probability


@dataclass(frozen=True, eq=False)
class NoiseFit(Spoken):
    """Whether counts have the noise that is stated."""

    fits: bool | None  # None where nothing could be examined, which is no pass
    error: float  # probability, at most, that a release with the stated noise is said not to fit
    n_sums: int = 0  # independent differences of sums that agree before the noise; 0 where there are none
    ratio: float = 0.0
    """Their spread, as a multiple of what the stated noise gives, with a 95 % interval; 0 where there are none."""
    low: float = 0.0
    high: float = 0.0
    finds_half: float = 0.0  # probability that the sums, or what is alike, show noise of half of the stated size
    alike: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Of counts that people change little, ``orders`` of a pair and ``epochs``: how many differences ``n``, their
    spread as a multiple of the least that the stated noise gives, ``ratio``, its p-value ``p``, and ``finds_half``."""
    n_near: int = 0  # counts within three sigma of 0
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Of each table: ``sigma``, ``near``, the share of those ``within`` one sigma of 0 and the most ``expected`` there,
    the p-value ``p`` of too many near 0, and ``finds_half``, if as many of them are empty as seem to be."""
    troubles: tuple[Note, ...] = ()  # what does not fit
    why: Note | None = None  # why nothing could be examined
    notes: tuple[Note, ...] = ()


def noise_fit(statistics: Statistics, error: float = 0.0001) -> NoiseFit:
    r"""Test whether released counts have the noise that their statement promises.

    **Sums.** Of two epochs with full sets of k, :math:`k \sum_b f_{11}[a, b]` and :math:`(k - 1) \sum_b f_{12}[a, b]`
    are equal before the noise, for every token a, and so are those of :math:`f_{22}` and columns. Off its mean, their
    difference has the variance :math:`k^2 (N - 2) \sigma_{11}^2 + (k - 1)^2 N \sigma_{12}^2`, so that the squares add
    up to a :math:`\chi^2` of :math:`2 (N - 1)` degrees of freedom. Of E > 2 epochs only the totals must agree.

    **Counts that are alike.** Elsewhere, counts that people change little take their place. What people change adds to
    the squares (a noncentral :math:`\chi^2`): squares too small for the noise alone show too little of it.

    **Near-empty counts.** Given that a count y with noise of size sigma lies within :math:`3 \sigma` of 0, it lies
    within h with a probability of at most :math:`P(|\sigma Z| \le h) / P(|\sigma Z| \le 3 \sigma)`: the likelihood
    ratio of :math:`|y|` is monotone, so an empty count is nearest. The number within h is therefore at most binomial; h
    is sigma, a half, a quarter and so on, at a Bonferroni level.

    Sums and alike counts have half of ``error``, near-empty counts the other half. That real counts are whole, and that
    the statistics follow from the counts, is checked without error.

    Examples
    --------
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
    n_sums, square = differing_sums(counts, statement.sigma)
    differing = alike_sums(counts, statement.sigma)
    share = error / (2.0 * (2 * bool(n_sums) + len(differing))) if n_sums or differing else 0.0
    sums = spread(n_sums, square, share)
    differ = {name: sums[name] for name in ("ratio", "low", "high")}
    if n_sums and sums["p_low"] <= share:
        troubles.append(Note("sums-agree-too-well", **differ))
    if n_sums and sums["p_high"] <= share:
        troubles.append(Note("sums-differ-too-much", **differ))
    alike = {name: least_spread(*found, share) for name, found in differing.items()}
    for name, found in alike.items():
        if found["p"] <= share:
            troubles.append(Note("alike-agree-too-well", what=name, ratio=found["ratio"]))
    tables, near = {}, {}
    for name, sigma in statement.sigma.items():
        level = (error / 2.0 if share else error) / len(statement.sigma)
        tables[name], near[name] = near_zero(counts.flat(name), sigma, discrete, level)
    crowded = [name for name, excess in near.items() if excess]
    if crowded:
        troubles.append(Note("too-near-zero", tables=crowded, **near[crowded[0]]))
    troubles += _not_of_the_counts(statistics)
    finds_half = max([sums["finds_half"], *(found["finds_half"] for found in alike.values())])
    in_near = max((found["finds_half"] for found in tables.values()), default=0.0)
    # One difference of totals shows exact counts alone; those of every token, of two epochs, show the size of noise.
    unseen = not troubles and (bool(alike) or not n_sums) and max(finds_half, in_near) < SHOWS
    notes = [Note("noise-test-error", error=error)]
    number = sum(int(found["n"]) for found in alike.values()) or n_sums
    if number:
        notes.append(Note("noise-test-power", n=number, alike=bool(alike), finds_half=finds_half))
    notes.append(Note("noise-test-limits"))
    return NoiseFit(
        fits=None if unseen else not troubles,
        error=error,
        n_sums=n_sums,
        **differ,
        finds_half=finds_half,
        alike=alike,
        n_near=sum(int(found["near"]) for found in tables.values()),
        tables=tables,
        troubles=tuple(troubles),
        why=Note("noise-does-not-show") if unseen else None,
        notes=tuple(notes),
    )


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


def _not_whole(counts: Counts, discrete: bool) -> list[Note]:
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
