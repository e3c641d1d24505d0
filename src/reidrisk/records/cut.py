"""Cut the records of one table in two, so that whoever holds it can practise on people whom they know."""

from typing import Any, Literal, get_args

import numpy as np

from reidrisk.base import DataError, Ints, OptionError, from_0_to_1, one_of, stream
from reidrisk.records.bags import Bags
from reidrisk.records.case import Case
from reidrisk.records.thinning import drawn
from reidrisk.records.truth import Truth

_FEW = 20  # records that are long enough, from which on the others give no query

Way = Literal["part", "visits", "held", "apart"]
"""How the events of a rehearsed query go: out of the record; so, by whole visits; into both; or with all of an item."""


def cut(bags: Bags, sizes: Ints, seed: int, way: Way = "part", kept: float = 0.0, ranked: bool = False) -> Case:
    """Take a query out of every record: targets are what is left, queries come in an order of their own.

    Each record draws a size s from ``sizes``, the totals of real queries, and gives a query of

    * ``"part"``: s of its events, drawn without replacement and taken out of it, at most half of them; each stays in
      it too with probability ``kept``, and then there may be 1 / (2 - kept) of them;
    * ``"visits"``: whole visits, taken out of it in random order, as many as come closest to s events, at most half of
      them; the two parts still know their visits;
    * ``"held"``: s of its events, which stay in the record too: the attacker knows facts that the released record
      still holds. A record of fewer events gives no query, unless all are too short: then they give what they hold;
    * ``"apart"``: s of its different items with all their events, taken out of it, at most half of them, so that the
      two sides have no item in common but those that are ``kept``; ``sizes`` are then numbers of different items.

    With ``ranked``, the sizes that were drawn go to records by rank: whoever holds more is asked about with more.

    A record with fewer than two events (``"apart"``: different items; ``"visits"``: visits) stays whole and gives no
    query. A target keeps its row; the truth is the row that each query was taken from.

    >>> plays = Bags([[4, 0, 6], [1, 0, 0], [0, 3, 5]], users=["ann", "bob", "eve"])
    >>> case = cut(plays, sizes=np.array([3]), seed=0)
    >>> case.targets.counts.sum(axis=1).tolist(), case.queries.counts.sum(axis=1).tolist()
    ([7, 1, 5], [3, 3])
    >>> sorted(case.truth.target.tolist())
    [0, 2]
    """
    one_of("way", way, get_args(Way))
    from_0_to_1("kept", kept, "a share")
    if way == "visits":
        return _cut_visits(bags, sizes, seed, ranked)
    held: Any = bags.counts
    units = held if way != "apart" else _ones(held)
    totals = np.asarray(units.sum(axis=1), dtype=np.int64).ravel()
    enough = totals >= 2
    if not enough.any():
        unit = "different items" if way == "apart" else "events"
        raise DataError(f"no record has two {unit} or more, so there is nothing to cut; leave the rehearsal out")
    wanted = _wanted(sizes, totals, seed, ranked)
    if way == "held" and (totals >= wanted).sum() >= _FEW:
        enough &= totals >= wanted  # whoever is asked about has that many facts
    most = np.where(enough, totals if way == "held" else (totals / (2.0 - kept)).astype(np.int64), 0)
    taken = drawn(units, np.minimum(wanted, most), stream(seed, f"cut: {way}"))
    asked = taken if way != "apart" else np.where(taken > 0, held.data, 0)
    stays = stream(seed, "cut: kept")
    if way == "apart":
        gone = np.where(stays.random(asked.size) >= kept, asked, 0)
    else:
        gone = asked if not kept else stays.binomial(asked, 1.0 - kept)
    left = held.data if way == "held" else held.data - gone
    rows = stream(seed, "cut: order").permutation(np.flatnonzero(enough))
    queries = bags.with_counts(asked).take(rows)
    return Case(bags.with_counts(left), queries, Truth(rows, "cut"))


def _cut_visits(bags: Bags, sizes: Ints, seed: int, ranked: bool) -> Case:
    visits = bags.visits
    enough = np.zeros(0, dtype=bool) if visits is None else visits.per_record >= 2
    if visits is None or not enough.any():
        raise DataError("no record is known to have two visits or more; cut event by event, with way='part'")
    totals = np.asarray(bags.counts.sum(axis=1), dtype=np.int64).ravel()
    wanted = _wanted(sizes, totals, seed, ranked)
    gone = visits.draw(wanted, np.where(enough, totals // 2, 0), stream(seed, "cut: visits"))
    rows = stream(seed, "cut: order").permutation(np.flatnonzero(enough))
    left, asked = (bags.with_visits(visits.keep(part)) for part in (~gone, gone))
    return Case(left, asked.take(rows), Truth(rows, "cut"))


def _ones(held: Any) -> Any:
    from scipy import sparse

    return sparse.csr_array((np.ones(held.nnz, dtype=np.int64), held.indices, held.indptr), shape=held.shape)


def _wanted(sizes: Ints, totals: Ints, seed: int, ranked: bool) -> Ints:
    """Return the size that each record draws, equal records in an order of their own."""
    wanted = stream(seed, "cut: sizes").choice(_checked(sizes), size=len(totals))
    if ranked:
        tie = stream(seed, "cut: equal sizes").random(len(totals))
        wanted[np.lexsort((tie, totals))] = np.sort(wanted)
    return np.asarray(wanted)


def _checked(sizes: Ints) -> Ints:
    """Return the sizes of queries, 1 at least: a query of nothing can be linked to nobody."""
    given = np.asarray(sizes)
    if given.ndim != 1 or not given.size or given.dtype.kind not in "iu" or given.min() < 0:
        raise OptionError(f"sizes are those of real queries, whole numbers in a list, not {given.dtype} {given.shape}")
    return np.maximum(given, 1).astype(np.int64)
