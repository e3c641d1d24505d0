"""Who is exposed: how risk is spread over people, and what the exposed have in common; never who they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reidrisk.base.intervals import mean_interval
from reidrisk.base.results import Result
from reidrisk.measure.disclosure import cuts_to_show, groups_to_show, limits, splits_to_show
from reidrisk.records import Traces

THRESHOLDS = (0.01, 0.1, 0.5, 0.9)
_CUTS = (0.9, 0.5, 0.1, 0.01, 0.2, 0.001)
"""Where the bins of risk end, the most wanted first; the thresholds are among them, so that shares are sums of bins."""

_RARITY = "how common the rarest token is"


@dataclass(frozen=True, eq=False)
class Group(Result):
    """People who share a trait: ``n`` of them, with a mean risk of ``rate`` and its interval.

    ``rate`` is None where it would tell of fewer than ``min_group`` people who were found, or who were not, in the
    group or in what is left of everybody without it. Then ``low`` and ``high`` are the limits that hold for it in
    any case.
    """

    trait: str
    level: str
    n: int
    rate: float | None
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Exposure(Result):
    """Distribution of per-user risk.

    Attributes
    ----------
    above : mapping of str to float
        Share of people whose risk is above each threshold, by percent: ``{"1": 0.1, …}``. A threshold is left out
        where it would set apart fewer than ``min_group`` people, above it, below it, or between it and another one.
    histogram : tuple of (low, high, share)
        Shares of people whose risk is above ``low`` and at most ``high``, the first bin with 0 included; bins are
        joined until none of them holds only a few people. Each share above a threshold is a sum of bins.
    groups : tuple of Group
        Mean risk by trait; groups of fewer than ``min_group`` people are left out, and of the others so many that
        nobody can subtract those shown from everybody and be left with a few. The same goes for those who were found,
        and for those who were not: where they are few, the group has limits instead of a rate.
    """

    n: int
    above: dict[str, float]
    histogram: tuple[tuple[float, float, float], ...]
    groups: tuple[Group, ...]
    min_group: int
    hidden_groups: int


def exposure(per_user: npt.NDArray[np.float64], queries: Traces, min_group: int = 20, level: float = 0.95) -> Exposure:
    """Describe how the risk of a right link is spread over the scored queries.

    Traits are in the words of the data: how common a person's rarest token is among all scored records, and
    in how many epochs the person was seen.

    Parameters
    ----------
    per_user : (q,) array
        Probability of a right link of each query, ``Risk.per_user``.
    queries : Traces
        The same queries.
    min_group : int
        Groups of fewer people are not shown.
    level : float
        Level of the groups' intervals.

    Examples
    --------
    >>> e = exposure(np.array([1.0, 0.0, 0.05, 0.2]), Traces([[1], [2], [2], [2]], n_tokens=3), min_group=1)
    >>> e.above
    {'1': 0.75, '10': 0.5, '50': 0.25, '90': 0.25}
    """
    groups: list[Group] = []
    hidden = 0
    # Who was never seen is in no group of rarity; how many were seen at all follows from the other trait.
    seen = queries.observed.any(axis=1)
    totals = [len(per_user), int(seen.sum())]
    circles = [_split(per_user), _split(per_user[seen])]
    for trait, found in _traits(queries).items():
        kept = groups_to_show({name: len(members) for name, members in found}, totals, min_group)
        hidden += len(found) - len(kept)
        split = {name: _split(per_user[members]) for name, members in found if name in kept}
        told = splits_to_show(
            {name: right for name, (right, _) in split.items()},
            {name: wrong for name, (_, wrong) in split.items()},
            circles if trait == _RARITY else circles[:1],
            min_group,
        )
        for name, members in found:
            if name in told:
                low, high = mean_interval(per_user[members], level)
                groups.append(Group(trait, name, len(members), float(per_user[members].mean()), low, high))
            elif name in kept:
                groups.append(Group(trait, name, len(members), None, *limits(*split[name], min_group)))
    counts = {cut: int(np.sum(per_user > cut)) for cut in _CUTS}
    cuts = cuts_to_show(counts, len(per_user), min_group, _CUTS)
    edges = [0.0, *cuts, 1.0]
    beyond = [len(per_user), *(counts[cut] for cut in cuts), 0]
    return Exposure(
        n=len(per_user),
        above={f"{100 * t:g}": counts[t] / len(per_user) for t in THRESHOLDS if t in cuts},
        histogram=tuple(
            (edges[i], edges[i + 1], (beyond[i] - beyond[i + 1]) / len(per_user)) for i in range(len(edges) - 1)
        ),
        groups=tuple(groups),
        min_group=min_group,
        hidden_groups=hidden,
    )


def _split(risk: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return how many people were found and how many not, ties counted by their share."""
    return float(risk.sum()), float((1.0 - risk).sum())


def _traits(queries: Traces) -> dict[str, list[tuple[str, npt.NDArray[np.int64]]]]:
    """Return the people of each level of each trait; a trait that all share tells nothing and is left out."""
    tokens = queries.tokens
    seen = tokens >= 0
    counts = np.bincount(tokens[seen], minlength=queries.n_tokens)
    share = counts / max(len(queries), 1) / queries.n_epochs
    rarest = np.where(seen, share[tokens], np.inf).min(axis=1)
    rarity = []
    for level, low, high in (
        ("rarest token seen less than once in 1,000 observations", 0.0, 0.001),
        ("rarest token seen once in 100 to 1,000 observations", 0.001, 0.01),
        ("rarest token seen more than once in 100 observations", 0.01, np.inf),
    ):
        rarity.append((level, np.flatnonzero((rarest >= low) & (rarest < high))))
    observed = seen.sum(axis=1)
    times = [(f"seen in {r} of {queries.n_epochs} epochs", np.flatnonzero(observed == r)) for r in np.unique(observed)]
    found = {
        _RARITY: [group for group in rarity if len(group[1])],
        "epochs observed": times,
    }
    return {trait: groups for trait, groups in found.items() if len(groups) > 1}
