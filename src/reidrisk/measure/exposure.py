"""Who is exposed: how risk is spread over people, and what the exposed have in common; never who they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.results import Result
from reidrisk.traces import Traces

__all__ = ["THRESHOLDS", "Exposure", "Group", "exposure"]

THRESHOLDS = (0.01, 0.1, 0.5, 0.9)
_EDGES = (0.0, 0.001, 0.01, 0.1, 0.2, 0.5, 0.9, 1.0)


@dataclass(frozen=True, eq=False)
class Group(Result):
    """People who share a trait: ``n`` of them, with a mean risk of ``rate``."""

    trait: str
    level: str
    n: int
    rate: float


@dataclass(frozen=True, eq=False)
class Exposure(Result):
    """Distribution of per-user risk.

    Attributes
    ----------
    above : mapping of str to float
        Share of people whose risk is above each threshold, by percent: ``{"1": 0.1, …}``.
    histogram : tuple of (low, high, share)
        Shares of people in bins of risk.
    groups : tuple of Group
        Mean risk by trait; groups of fewer than ``min_group`` people are left out.
    """

    n: int
    above: dict[str, float]
    histogram: tuple[tuple[float, float, float], ...]
    groups: tuple[Group, ...]
    min_group: int
    hidden_groups: int

    @classmethod
    def from_dict(cls, values: Any) -> Exposure:
        """Rebuild from plain values, the groups included."""
        groups = tuple(Group.from_dict(group) for group in values["groups"])
        histogram = tuple((float(a), float(b), float(c)) for a, b, c in values["histogram"])
        return cls(**{**values, "groups": groups, "histogram": histogram})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, the groups included."""
        return {**super().to_dict(), "groups": [group.to_dict() for group in self.groups]}


def exposure(per_user: npt.NDArray[np.float64], queries: Traces, min_group: int = 20) -> Exposure:
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

    Examples
    --------
    >>> e = exposure(np.array([1.0, 0.0, 0.05, 0.2]), Traces([[1], [2], [2], [2]], n_tokens=3), min_group=1)
    >>> e.above
    {'1': 0.75, '10': 0.5, '50': 0.25, '90': 0.25}
    """
    groups: list[Group] = []
    hidden = 0
    for trait, level, members in _traits(queries):
        if len(members) < max(min_group, 1):
            hidden += 1
        else:
            groups.append(Group(trait=trait, level=level, n=len(members), rate=float(per_user[members].mean())))
    return Exposure(
        n=len(per_user),
        above={f"{100 * t:g}": float(np.mean(per_user > t)) for t in THRESHOLDS},
        histogram=_histogram(per_user),
        groups=tuple(groups),
        min_group=min_group,
        hidden_groups=hidden,
    )


def _histogram(per_user: npt.NDArray[np.float64]) -> tuple[tuple[float, float, float], ...]:
    counts, _ = np.histogram(per_user, bins=_EDGES)
    return tuple((a, b, float(c) / len(per_user)) for a, b, c in zip(_EDGES, _EDGES[1:], counts, strict=False))


def _traits(queries: Traces) -> list[tuple[str, str, npt.NDArray[np.int64]]]:
    tokens = queries.tokens
    seen = tokens >= 0
    counts = np.bincount(tokens[seen], minlength=queries.n_tokens)
    share = counts / max(len(queries), 1) / queries.n_epochs
    rarest = np.where(seen, share[tokens], np.inf).min(axis=1)
    found = []
    for level, low, high in (
        ("rarest token seen less than once in 1,000 observations", 0.0, 0.001),
        ("rarest token seen once in 100 to 1,000 observations", 0.001, 0.01),
        ("rarest token seen more than once in 100 observations", 0.01, np.inf),
    ):
        found.append(("how common the rarest token is", level, np.flatnonzero((rarest >= low) & (rarest < high))))
    observed = seen.sum(axis=1)
    for r in np.unique(observed):
        found.append(("epochs observed", f"seen in {r} of {queries.n_epochs} epochs", np.flatnonzero(observed == r)))
    return [group for group in found if len(group[2])]
