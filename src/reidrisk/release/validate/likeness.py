"""How alike people are: in their number of distinct tokens, real and synthetic, and from epoch to epoch."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.results import Result
from reidrisk.base.streams import blocks, stream
from reidrisk.populations.type_mixture import MixtureStatistics
from reidrisk.records import TopSets

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


def pearson(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float:
    """Return Pearson's correlation; 0 where one of the two does not vary at all."""
    x, y = (np.asarray(v, dtype=np.float64) - np.mean(v) for v in (a, b))
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 0.0 else 0.0


def _distinct(sets: TopSets) -> npt.NDArray[np.int64]:
    """Return how many distinct tokens each user has."""
    found = np.empty(len(sets), dtype=np.int64)
    for _, start, stop in blocks(len(sets), 1 << 17):
        tokens = np.sort(sets.tokens[start:stop].reshape(stop - start, -1), axis=1)
        found[start:stop] = (tokens[:, 0] >= 0) + ((tokens[:, 1:] != tokens[:, :-1]) & (tokens[:, 1:] >= 0)).sum(axis=1)
    return found
