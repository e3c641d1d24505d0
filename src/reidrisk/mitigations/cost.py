"""What a change costs: how much of the released records, and of what they say, is as it was.

**Kept** is the share of the released events that are as they were: still there, with the item they had. An event is a
row of a log, a cell of a table, a unit of a count; how much it counts makes no difference. Replacing 60 % of the items
by random ones of m keeps 1 - 0.6 + 0.6 / m: the chance of drawing the same item again counts. Cells that now share a
value with others are not as they were, whichever of the values stands for all. Of vectors, see :class:`Kept`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.base import Floats, Ints, Result, stream
from reidrisk.mitigations.base import Side, View
from reidrisk.mitigations.rows import events
from reidrisk.records import Attributes, Bags, Case, Vectors

_PAIRS = 4_000  # limit: pairs of people whose similarity is compared


@dataclass(frozen=True, eq=False)
class Kept(Result):
    """What a change leaves of the released records, each from 0 (nothing) to 1 (everything).

    ``observations``: the share of events that are as they were (:mod:`reidrisk.mitigations.cost`); ``items``: of the
    different items, the share that still occurs; ``frequencies``: 1 - the total variation distance of the item
    frequencies; ``sizes``: 1 - the mean absolute change of how much a record holds, relative to what it held (of
    several pseudonyms, the one that holds most); ``similarities``: the correlation of the cosine of two people's
    records before and after, on sampled pairs; ``people``: the share who are still in the release.
    Of vectors, ``observations`` and ``frequencies`` are the share of the squared spread that is as it was, ``items``
    that of the dimensions, and ``sizes`` compares the spread itself.
    ``utility`` is what the caller's own use of the records gives, before and after.
    """

    observations: float
    items: float
    frequencies: float
    sizes: float
    similarities: float
    people: float = 1.0
    utility: tuple[float, float] | None = None

    @property
    def overall(self) -> float:
        """The share of observations that are as they were, in one record; or, where there is a utility, what it keeps.

        It is the smaller of ``observations`` and ``sizes``: whatever is under several pseudonyms is as it was, and only
        what the largest of them holds can still be used together.
        """
        if self.utility is not None:
            before, after = self.utility
            return float(np.clip(after / before, 0.0, 1.0)) if before else float(after == before)
        return min(self.observations, self.sizes)


def kept(case: Case, view: View, side: Side = "queries", seed: int = 0) -> Kept:
    """Compare the released records before and after a change.

    >>> from reidrisk import Bags, mitigations
    >>> table = Bags([[2, 1, 0], [2, 0, 1], [1, 1, 1]])
    >>> case = Case(table, table, None)
    >>> kept(case, mitigations.SuppressRare(k=3).released(case)).observations.__round__(2)
    0.56
    """
    name = "targets" if side == "targets" else "queries"
    one, two = getattr(case, name), getattr(view.case, name)
    if isinstance(one, Vectors):
        return _of_vectors(one, two, seed)
    before, after = _events(one), _events(two)
    part_of = view.part_of if name == "queries" else view.known_as
    part_of = np.arange(after.shape[0]) if part_of is None else part_of
    asked = view.asked if view.asked is not None and name == "queries" else np.arange(before.shape[0])
    before = before[asked]
    place = np.full(int(max(part_of.max(initial=0), asked.max(initial=0))) + 1, -1, dtype=np.int64)
    place[asked] = np.arange(len(asked))
    stays = place[part_of] >= 0
    after, owner = after[np.flatnonzero(stays)], place[part_of[stays]]
    total = max(int(before.sum()), 1)
    largest, held = _largest(after, owner, len(asked))
    f, g = (np.asarray(table.sum(axis=0), dtype=np.float64).ravel() for table in (before, after))
    f = np.concatenate((f, np.zeros(len(g) - len(f))))
    return Kept(
        observations=_as_they_were(case, view, name, asked) / total,
        items=float(((f > 0) & (g > 0)).sum() / max((f > 0).sum(), 1)),
        frequencies=1.0 - 0.5 * float(np.abs(f / max(f.sum(), 1.0) - g / max(g.sum(), 1.0)).sum()),
        sizes=max(0.0, 1.0 - float(np.abs(np.asarray(before.sum(axis=1)).ravel() - held).sum()) / total),
        similarities=_similar(before, after, largest, seed),
        people=len(np.unique(owner)) / max(len(asked), 1),
    )


def _of_vectors(before: Vectors, after: Vectors, seed: int) -> Kept:
    """Compare points: what differs from the point before is lost, and so are dimensions that are not there any more."""
    x, y = (
        (table.values if table.several is None else table.several.values).astype(np.float64)
        for table in (before, after)
    )
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    spread, left = float((x**2).sum()), float((y**2).sum())
    same = 0.0
    if x.shape == y.shape:
        same = 1.0 / (1.0 + float(((x - y) ** 2).sum()) / max(spread, 1e-300))
    else:
        same = min(1.0, left / max(spread, 1e-300))
    rng = stream(seed, "kept: pairs")
    one, two = (rng.integers(len(x), size=_PAIRS) for _ in range(2))
    products = [(table[one] * table[two]).sum(axis=1)[one != two] for table in (x, y)]
    flat = any(each.std() < 1e-12 for each in products)
    alike = float(np.allclose(*products)) if flat else float(np.corrcoef(*products)[0, 1])
    wide = min(left, spread) / max(left, spread, 1e-300)
    return Kept(same, min(1.0, y.shape[1] / x.shape[1]), same, wide, alike)


def _events(table: Any) -> Any:
    """Return how many events each record has of each item."""
    return events(table) if isinstance(table, Bags) else table.bags().counts


def _as_they_were(case: Case, view: View, name: str, asked: Ints) -> float:
    """Return how many events of those asked about are there still with the item they had, whoever they are now of."""
    seen = view if view.plain is None or not isinstance(case.queries, Bags) else view.plain
    one, two = getattr(case, name), getattr(seen.case, name)
    part_of = seen.part_of if name == "queries" else seen.known_as
    part_of = np.arange(len(two)) if part_of is None else part_of
    part = np.flatnonzero(np.isin(part_of, asked))
    if isinstance(one, Bags):
        again = 1.0 - view.replaced + view.replaced / one.n_tokens  # a random item may be the same
        return again * _same(_events(one), _events(two)[part], part_of[part])
    then, now = one.tokens[part_of[part]].astype(np.int64), two.tokens[part].astype(np.int64)
    same = (now >= 0) & (now == then)
    if isinstance(one, Attributes):
        same &= ~np.isin(now, now[(now >= 0) & (now != then)])  # a value that now stands for others too
    return float(same.sum())


def _same(before: Any, after: Any, owner: Ints) -> int:
    """Return how many events each person had and still has, whatever pseudonym they are under."""
    from scipy import sparse

    n, width = before.shape[0], after.shape[1]
    ones = np.ones(len(owner), dtype=np.int64)
    together = sparse.csr_array((ones, (owner, np.arange(len(owner)))), shape=(n, len(owner))) @ after
    wide = sparse.csr_array((before.data, before.indices, before.indptr), shape=(n, width))
    return int(wide.minimum(together).sum())


def _largest(after: Any, owner: Ints, n: int) -> tuple[Ints, Floats]:
    """Return the row of each person's largest record, -1 = none, and how much it holds."""
    size = np.asarray(after.sum(axis=1), dtype=np.int64).ravel()
    order = np.lexsort((-np.arange(len(size)), size, owner))
    last = np.flatnonzero(np.diff(owner[order], append=-1) != 0)
    row, held = np.full(n, -1, dtype=np.int64), np.zeros(n)
    row[owner[order[last]]] = order[last]
    held[owner[order[last]]] = size[order[last]]
    return row, held


def _similar(before: Any, after: Any, row: Ints, seed: int) -> float:
    """Return the correlation of the cosines of sampled pairs of people, those who stay, before and after."""
    there = np.flatnonzero(row >= 0)
    if len(there) < 3:
        return 0.0
    rng = stream(seed, "kept: pairs")
    one, two = rng.choice(there, size=_PAIRS), rng.choice(there, size=_PAIRS)
    apart = one != two
    x, y = _cosines(before, one[apart], two[apart]), _cosines(after, row[one[apart]], row[two[apart]])
    if x.std() < 1e-12 or y.std() < 1e-12:
        return float(np.allclose(x, y))
    return float(np.corrcoef(x, y)[0, 1])


def _cosines(table: Any, one: Ints, two: Ints) -> Floats:
    a, b = table[one].astype(np.float64), table[two].astype(np.float64)
    length = np.sqrt(np.asarray(a.multiply(a).sum(axis=1)).ravel() * np.asarray(b.multiply(b).sum(axis=1)).ravel())
    return np.asarray(a.multiply(b).sum(axis=1)).ravel() / np.where(length > 0, length, 1.0)
