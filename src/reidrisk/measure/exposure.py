"""Who is exposed: how risk is spread over people, and what the exposed have in common; never who they are."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from reidrisk.base import DataError, Floats, Ints, Result, mean_interval, of_class
from reidrisk.measure.traits import held_names, traits
from reidrisk.records import Bags, Traces, Vectors

_THRESHOLDS = (0.01, 0.1, 0.5, 0.9)
_EDGES = (0.0, 0.001, 0.01, 0.1, 0.2, 0.5, 0.9, 1.0)  # bins of risk; the thresholds must be among their ends


@dataclass(frozen=True, eq=False)
class Group(Result):
    """People who share a trait: ``n`` of them, with a mean risk of ``rate`` and its interval.

    ``trait`` is a code. Of Traces: ``"rarest-item"``, how common a person's rarest token is, by its share of all
    observations; ``"periods-observed"``, in how many epochs the person was seen. Of Bags: ``"rarest-holders"``, how
    many people hold the rarest item of a person; ``"items-held"``, how many items a person has; ``"visits-seen"``, in
    how many visits. Of both, where tokens have names: ``"holds-item"``, who has the item that ``level`` names. Other
    levels are a number, or the ends of a range such as ``"4-9"``, ``"-9"`` and ``"10-"``.
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


def exposure(per_user: Floats, queries: Any, level: float = 0.95, least: int = 20) -> Exposure:
    """Describe how the risk of a right link, ``Risk.per_user``, is spread over the scored queries, Traces or Bags.

    This is for those inside: it tells of groups however small they are. An audit leaves out what tells of a few. Items
    are named only where at least ``least`` people hold them and are found significantly more often than others are
    (after Bonferroni), the five clearest.

    >>> from reidrisk import Traces
    >>> exposure(np.array([1.0, 0.0, 0.05, 0.2]), Traces([[1], [2], [2], [2]], n_tokens=3)).above
    {'1': 0.75, '10': 0.5, '50': 0.25, '90': 0.25}
    """
    risk = _checked(per_user, queries)
    found = []
    if not isinstance(queries, Vectors):  # what people have in common is not read off points
        found = [(trait, name, rows) for trait, levels in traits(queries).items() for name, rows in levels]
        found += [("holds-item", name, rows) for name, rows in held_names(risk, queries, level, least)]
    groups = tuple(
        Group(trait, name, len(rows), float(risk[rows].mean()), *mean_interval(risk[rows], level))
        for trait, name, rows in found
    )
    return counted_exposure(risk, np.ones(len(risk), dtype=np.int64), groups)


def counted_exposure(risks: Floats, counts: Ints, groups: tuple[Group, ...] = ()) -> Exposure:
    """Describe how risk is spread where it was counted: how many people have each of the ``risks``.

    >>> counted_exposure(np.array([0.0, 0.5, 1.0]), np.array([6, 2, 2])).above
    {'1': 0.4, '10': 0.4, '50': 0.2, '90': 0.2}
    """
    n = int(counts.sum())
    beyond = {edge: int(counts[risks > edge].sum()) for edge in _EDGES} | {0.0: n}
    above = {f"{100 * t:g}": beyond[t] / n for t in _THRESHOLDS}
    histogram = tuple((a, b, (beyond[a] - beyond[b]) / n) for a, b in pairwise(_EDGES))
    return Exposure(n, above, histogram, groups)


def _checked(per_user: Any, queries: Any) -> Floats:
    """Return the risks as numbers from 0 to 1, one for each record."""
    of_class("queries", queries, (Traces, Bags, Vectors), "Traces, Bags or Vectors")
    risk = np.asarray(per_user)
    if risk.dtype.kind not in "fiub" or risk.shape != (len(queries),):
        given = f"{risk.dtype} {risk.shape}" if risk.dtype.kind in "fiub" else type(per_user).__name__
        raise DataError(f"give a risk for each of the {len(queries):,} records, not {given}")
    risk = risk.astype(np.float64)
    wrong = np.flatnonzero(~((risk >= 0.0) & (risk <= 1.0)))
    if wrong.size:
        raise DataError(f"the risk of record {wrong[0]} is {risk[wrong[0]]:g}; risks lie in [0, 1]")
    return risk
