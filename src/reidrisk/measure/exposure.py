"""Who is exposed: how risk is spread over people, and what the exposed have in common; never who they are."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.intervals import mean_interval
from reidrisk.base.results import Result
from reidrisk.records import Traces

_THRESHOLDS = (0.01, 0.1, 0.5, 0.9)
_EDGES = (0.0, 0.001, 0.01, 0.1, 0.2, 0.5, 0.9, 1.0)  # bins of risk; the thresholds must be among their ends
_RARITY = {"below 1 in 1,000": (0.0, 0.001), "1 in 1,000 to 100": (0.001, 0.01), "above 1 in 100": (0.01, np.inf)}


@dataclass(frozen=True, eq=False)
class Group(Result):
    """People who share a trait: ``n`` of them, with a mean risk of ``rate`` and its interval.

    ``trait`` is a code: ``"rarest-item"``, how common a person's rarest token is, by its share of all observations; or
    ``"periods-observed"``, in how many epochs the person was seen.
    """

    trait: str
    level: str
    n: int
    rate: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Exposure(Result):
    """Distribution of per-user risk."""

    n: int
    above: dict[str, float]  # share of people whose risk is above each threshold, by percent: {"1": 0.1, …}
    histogram: tuple[tuple[float, float, float], ...]
    """(low, high, share): of people whose risk is above ``low`` and at most ``high``, the first bin with 0 included."""
    groups: tuple[Group, ...]
    min_group: int = 1  # the fewest people that any of this is about
    hidden_groups: int = 0  # how many groups are left out for it


def exposure(per_user: Floats, queries: Traces, level: float = 0.95) -> Exposure:
    """Describe how the risk of a right link, ``Risk.per_user``, is spread over the scored queries.

    This is for those inside: it tells of groups however small they are. An audit leaves out what tells of a few.

    >>> exposure(np.array([1.0, 0.0, 0.05, 0.2]), Traces([[1], [2], [2], [2]], n_tokens=3)).above
    {'1': 0.75, '10': 0.5, '50': 0.25, '90': 0.25}
    """
    groups = [
        Group(trait, name, len(risk), float(risk.mean()), *mean_interval(risk, level))
        for trait, found in _traits(queries).items()
        for name, risk in ((name, per_user[members]) for name, members in found)
    ]
    n = len(per_user)
    beyond = {edge: int(np.sum(per_user > edge)) for edge in _EDGES} | {0.0: n}
    above = {f"{100 * t:g}": beyond[t] / n for t in _THRESHOLDS}
    histogram = tuple((a, b, (beyond[a] - beyond[b]) / n) for a, b in pairwise(_EDGES))
    return Exposure(n, above, histogram, tuple(groups))


def _traits(queries: Traces) -> dict[str, list[tuple[str, Ints]]]:
    """Return the people of each level of each trait; a trait that all share tells nothing and is left out."""
    tokens = queries.tokens
    seen = tokens >= 0
    share = np.bincount(tokens[seen], minlength=queries.n_tokens) / max(len(queries), 1) / queries.n_epochs
    rarest = np.where(seen, share[tokens], np.inf).min(axis=1)
    rarity = [(name, np.flatnonzero((rarest >= low) & (rarest < high))) for name, (low, high) in _RARITY.items()]
    observed = seen.sum(axis=1)
    found = {
        "rarest-item": [group for group in rarity if len(group[1])],
        "periods-observed": [(str(r), np.flatnonzero(observed == r)) for r in np.unique(observed)],
    }
    return {trait: groups for trait, groups in found.items() if len(groups) > 1}
