"""An attack on the release itself: whether one user is in the data, read off the noisy counts.

The noise is drawn anew, of the stated size; :mod:`reidrisk.release.validate.noise` asks if counts in a file have it.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reidrisk.base import Floats, Note, OptionError, Spoken, seed_or_fresh, sizes, stream, whole
from reidrisk.base.arrays import Array, ArrayLike, Ints, UInts
from reidrisk.privacy import PrivacyStatement
from reidrisk.records import TopSets
from reidrisk.records.top_sets import Words
from reidrisk.release.counts.mechanism import NoisePlan, add_noise
from reidrisk.release.counts.pairs import PairCounts, count_pairs, measured_blocks
from reidrisk.release.validate.noise import promised, stated_plan

Mechanism = Callable[[PairCounts, NoisePlan, int | None], PairCounts]
"""Adds the noise of a plan to counts, as :func:`reidrisk.release.counts.mechanism.add_noise` does."""

Padding = Callable[[TopSets, Words], TopSets]
"""Fills short sets by the given random words, as :meth:`reidrisk.TopSets.padded_by` does."""

ALARM = 1e-4  # probability that noise as promised is found too small
_POINTS = 101  # of a curve
_BYSTANDERS = 3
PLACES = ("front", "middle", "end")  # where the rows of one more user with short sets are put
_OTHERS = 60
_NOTES = (Note("canary-known"), Note("canary-moves-most"), Note("canary-of-new-noise"), Note("canary-of-new-padding"))


@dataclass(frozen=True, eq=False)
class CanaryTest(Spoken):
    r"""How well a canary can be told from no canary, beside what the noise promises.

    ``promised`` is :math:`\mu = \sqrt{\sum_b \Delta_b^2 / \sigma_b^2}`: at a rate :math:`\alpha` of false alarms the
    best test finds the canary with probability :math:`\Phi(\Phi^{-1}(\alpha) + \mu)`, whatever the rest of the data.
    ``found``, with its 95 % interval, is the same from the area under the measured curve,
    :math:`\mu = \sqrt2\, \Phi^{-1}(area)`. An area is the probability that a release with the canary looks more like
    one than a release without; 0.5 is blind guessing.
    """

    epsilon: float
    delta: float
    trials: int  # releases with, and as many without the canary
    promised: float
    found: float
    low: float
    high: float
    area: float
    area_low: float
    area_high: float
    area_promised: float
    delta_promised: float  # the delta of the promised noise at epsilon; it must not exceed delta
    passed: bool
    """Whether no curve is significantly above what was promised (one false verdict in 10,000), the noise is enough for
    the budget, and no user moves a table further than the noise was made for."""
    simulation: bool
    seed: int | None
    blocks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """``promised`` and ``found`` of each table alone, and whether it ``passed``."""
    padding: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """How far one more user with short sets, in front of the others, in their middle or at their end, moves each table,
    as a multiple of what the noise was made for."""
    false_alarms: tuple[float, ...] = ()
    detections: tuple[float, ...] = ()
    promised_detections: tuple[float, ...] = ()
    baseline: float = 0.5
    within_budget: bool = True  # whether the stated noise is enough for the stated budget
    notes: tuple[Note, ...] = ()

    @property
    def furthest(self) -> float:
        """The largest distance in ``padding``."""
        return max((far for tables in self.padding.values() for far in tables.values()), default=0.0)


def canary(
    statement: PrivacyStatement,
    k: int,
    n_epochs: int = 2,
    trials: int = 10_000,
    seed: int | None = None,
    mechanism: Mechanism | None = None,
    padding: Padding | None = None,
) -> CanaryTest:
    r"""Attack the noise of a release: tell data with one more user from data without.

    The canary moves every table as far as anyone can: the same full set in every epoch. Given noisy counts y and what
    they would be without the canary, c, the best test there is, the log-likelihood ratio, is a constant plus
    :math:`\sum_b \langle y_b - c_b, d_b \rangle / \sigma_b^2`, where d is what the canary adds. At every rate of false
    alarms, its detections must stay below the trade-off curve of the Gaussian mechanism. Noise is drawn by the code
    that draws it for a release, on the counts that the canary touches: the others say nothing about it.

    All that holds if one more user changes the counts by their own sets alone: :func:`padding_distances` tries it. At
    (log 3, 1e-15), 10,000 trials find half of the noise all but surely; a larger epsilon needs fewer. Only a simulation
    has a seed. ``mechanism`` and ``padding`` are tried in place of what a release does.

    >>> from reidrisk import TopSets, release
    >>> sets = TopSets([[[0, 1], [0, 2]]] * 500, n_tokens=3)
    >>> stats = release.statistics(sets, epsilon=1.0, delta=1e-6, simulation=True, seed=0)
    >>> test = canary(stats.statement, k=2, trials=2000, seed=1)
    >>> test.passed, round(test.promised, 2), test.low < test.promised < test.high
    (True, 0.24, True)
    """
    trials = whole("trials", trials, least=50)
    sizes.RUNS.check(trials, "the canary", "take fewer")
    sizes.NUMBERS.check(trials * k * k, "the canary", "take fewer trials, or smaller sets")
    if statement.simulation:
        seed = seed_or_fresh(seed)
    elif seed is not None:
        raise OptionError(f"seed {seed!r} was given, but the noise of a real release cannot be seeded; leave it out")
    plan = stated_plan(statement, k, n_epochs)
    # Sets of all tokens there are: only counts that the canary touches get noise.
    everything = np.broadcast_to(np.arange(k), (_BYSTANDERS + 1, n_epochs, k))
    without = count_pairs(TopSets(everything[:-1], n_tokens=k), threads=1)
    added = count_pairs(TopSets(everything, n_tokens=k), threads=1)
    sigma = {b.name: s for b, s in zip(plan.blocks, plan.sigma, strict=True)}
    each = {b.name: b.sensitivity / sigma[b.name] for b in plan.blocks}
    mu, delta, within_budget = promised(plan)
    drawn = plan if within_budget else _affordable(plan, mu)
    scores = {}
    for number, (name, counts) in enumerate((("out", without), ("in", added))):
        one = None if seed is None else (2 * seed + number) % 2**63
        noisy = (mechanism or add_noise)(_Copies(counts, trials), drawn, one)
        scores[name] = {b.name: _score(noisy, without, added, b.name) for b in plan.blocks}
    total = {side: np.sum([found[b] / sigma[b] ** 2 for b in sigma], axis=0) for side, found in scores.items()}
    blocks = {name: verdict(scores["in"][name], scores["out"][name], most) for name, most in each.items()}
    overall = verdict(total["in"], total["out"], mu)
    moved = padding_distances(k, n_epochs, padding or TopSets.padded_by)
    apart = max(far for tables in moved.values() for far in tables.values()) <= 1.0 + 1e-9
    passed = overall["passed"] and all(b["passed"] for b in blocks.values()) and within_budget and apart
    false_alarms, detections = curve(total["in"], total["out"])
    return CanaryTest(
        epsilon=plan.epsilon,
        delta=plan.delta,
        trials=trials,
        area_promised=tradeoff_area(mu),
        delta_promised=delta,
        simulation=statement.simulation,
        seed=seed,
        blocks=blocks,
        padding=moved,
        false_alarms=tuple(false_alarms.tolist()),
        detections=tuple(detections.tolist()),
        promised_detections=tuple(tradeoff(false_alarms, mu).tolist()),
        within_budget=within_budget,
        notes=_NOTES,
        **overall | {"passed": bool(passed)},
    )


class _Copies(PairCounts):
    """The same counts many times over, so that all trials get their noise at once; each copy its own."""

    copies: int

    def __init__(self, counts: PairCounts, copies: int) -> None:
        super().__init__(counts.tables, counts.k, counts.n_tokens, counts.n_epochs)
        object.__setattr__(self, "copies", copies)

    def flat(self, name: str) -> Array:
        return np.tile(super().flat(name), self.copies)

    def replaced(self, vectors: Mapping[str, Array]) -> PairCounts:
        tables = {name: values.reshape(self.copies, -1) for name, values in vectors.items()}
        return PairCounts(tables, self.k, self.n_tokens, self.n_epochs)


def _affordable(plan: NoisePlan, mu: float) -> NoisePlan:
    """Return the plan with a budget that its noise keeps within, so that noise that promises too much is drawn too."""
    rho = mu**2 / 2.0
    # Bun and Steinke 2016; above what the tighter conversion asks for.
    epsilon = 1.01 * (rho + 2.0 * math.sqrt(rho * math.log(1.0 / plan.delta)))
    return dataclasses.replace(plan, epsilon=max(epsilon, plan.epsilon), budget="joint")


def _score(noisy: PairCounts, without: PairCounts, added: PairCounts, name: str) -> Floats:
    """Return, for each trial, how far one table lies in the direction in which the canary moves it."""
    start = without.flat(name).astype(np.float64)
    return np.asarray((noisy.tables[name] - start) @ (added.flat(name) - start))


def tradeoff(false_alarms: ArrayLike, mu: float) -> Floats:
    r"""Return the best rate of detections at each rate of false alarms, :math:`\Phi(\Phi^{-1}(\alpha) + \mu)`.

    The trade-off function of the Gaussian mechanism (Dong, Roth and Su 2022), of which dick, Proposition 4 is the
    translation to epsilon and delta; :math:`\mu` is sensitivity over noise.
    """
    from scipy.special import ndtr, ndtri

    return np.asarray(ndtr(ndtri(np.asarray(false_alarms, dtype=np.float64)) + mu))


def tradeoff_area(mu: float) -> float:
    r"""Return the area under the trade-off curve, :math:`\Phi(\mu / \sqrt2)`."""
    from scipy.special import ndtr

    return float(ndtr(mu / math.sqrt(2.0)))


def verdict(inside: Floats, outside: Floats, promised: float) -> dict[str, Any]:
    """Compare the area under the curve with the promised one; its variance is DeLong's."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    n = len(inside)
    ranks = rankdata(np.concatenate([inside, outside]))
    above = (ranks[:n] - rankdata(inside)) / n  # share of releases without that lie below each release with
    below = 1.0 - (ranks[n:] - rankdata(outside)) / n
    area = float(above.mean())
    error = math.sqrt((above.var(ddof=1) + below.var(ddof=1)) / n)

    def mu(at: float) -> float:
        return math.sqrt(2.0) * float(ndtri(min(max(at, 0.5 / n), 1.0 - 0.5 / n)))

    passed = bool(area + float(ndtri(ALARM)) * error <= tradeoff_area(promised))
    low, high = area - 1.96 * error, area + 1.96 * error
    found = {"promised": promised, "found": mu(area), "low": mu(low), "high": mu(high)}
    return found | {"area": area, "area_low": low, "area_high": high, "passed": passed}


def curve(inside: Floats, outside: Floats) -> tuple[Floats, Floats]:
    """Return rates of false alarms and of detections over all thresholds, at most :data:`_POINTS` of them."""
    thresholds = np.quantile(np.concatenate([inside, outside]), np.linspace(0.0, 1.0, _POINTS)[::-1])
    alarms, detections = (1.0 - np.searchsorted(np.sort(v), thresholds) / len(v) for v in (outside, inside))
    return np.concatenate([[0.0], alarms]), np.concatenate([[0.0], detections])


def padding_distances(k: int, n_epochs: int, padding: Padding = TopSets.padded_by) -> Mapping[str, Mapping[str, float]]:
    r"""Return how far one more user with short sets moves each table, as a multiple of its sensitivity.

    Of each place in the table the largest over users whose sets hold 0 to k tokens, as everybody else's do. More than 1
    means that the noise was made for less: if the arrival of one user also changes how others are padded, the counts
    move much further, and the noise hides nothing. Here everybody else keeps the random words they had, so that
    whatever else changes is the fault of the padding.

    >>> found = padding_distances(k=3, n_epochs=2)
    >>> max(max(tables.values()) for tables in found.values()) <= 1.0
    True
    """
    # Any people will do, so these are always the same.
    rng = stream(0, "people beside a canary")
    n_tokens = 3 * k + 2
    sensitivity = {block.name: block.sensitivity for block in measured_blocks(k, n_tokens, n_epochs)}
    others = _short_sets(rng, np.arange(_OTHERS)[:, None] + np.arange(n_epochs), k, n_tokens)
    words = rng.integers(2**64, size=(_OTHERS, n_epochs, k), dtype=np.uint64)
    ids = np.arange(1, _OTHERS + 1)
    found: dict[str, dict[str, float]] = {}
    for place, row in zip(PLACES, (0, _OTHERS // 2, _OTHERS), strict=True):
        worst = dict.fromkeys(sensitivity, 0.0)
        for size in range(k + 1):
            one = _short_sets(rng, np.full((1, n_epochs), size), k, n_tokens)
            own = rng.integers(2**64, size=(1, n_epochs, k), dtype=np.uint64)
            both = []
            for tokens, drawn, users in (
                (others, words, ids),
                (np.insert(others, row, one, axis=0), np.insert(words, row, own, axis=0), np.insert(ids, row, 0)),
            ):
                both.append(count_pairs(padding(TopSets(tokens, n_tokens, users), _given(drawn)), threads=1))
            for name, limit in sensitivity.items():
                moved = both[1].flat(name).astype(np.float64) - both[0].flat(name)
                worst[name] = max(worst[name], float(np.linalg.norm(moved)) / limit)
        found[place] = worst
    return found


def _short_sets(rng: np.random.Generator, sizes: Ints, k: int, n_tokens: int) -> Ints:
    """Draw sets of the given sizes, each a number from 0 to k (modulo k + 1); -1 fills them up."""
    shuffled = rng.permuted(np.broadcast_to(np.arange(n_tokens), (*sizes.shape, n_tokens)), axis=-1)[..., :k]
    return np.where(np.arange(k) < (sizes % (k + 1))[..., None], shuffled, -1)


def _given(drawn: UInts) -> Words:
    return lambda rows, epochs, k: drawn[rows, epochs]
