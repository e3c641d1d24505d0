"""How well targets explain queries, as log Bayes factors of simple models: draws from a record, or a part of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from reidrisk.base.arrays import Floats
from reidrisk.base.streams import stream
from reidrisk.records import Bags
from reidrisk.records.thinning import drawn


def mixture_factors(targets: Bags, queries: Bags, share: float, strength: float) -> Floats:
    """Return the (q, n) log Bayes factors of drawing a query's events from a target's, or from anybody's.

        sum_i c_i log((1 - share) + share (d_i + strength p_i) / ((d + strength) p_i))

    with p_i how common item i is among the targets' events.
    """
    from scipy import sparse

    held = targets.counts.astype(np.float64)
    sizes = np.asarray(held.sum(axis=1)).ravel()
    common = _common(targets)
    rest = (1.0 - share) + share * strength / (sizes + strength)
    rows = np.repeat(np.arange(len(targets)), np.diff(held.indptr))
    more = np.log1p(share * held.data / ((sizes[rows] + strength) * common[held.indices] * rest[rows]))
    gains = sparse.csr_array((more, held.indices, held.indptr), held.shape)
    asked = queries.counts.astype(np.float64)
    shared = (asked @ gains.T.tocsr()).toarray()
    return np.asarray(shared + np.asarray(asked.sum(axis=1)).reshape(-1, 1) * np.log(rest))


def damped(bags: Bags) -> Bags:
    """Return records in which an item counts 1 + log2 of its events, rounded down: one of many plays tells little."""
    return bags.with_counts(1 + np.floor(np.log2(np.maximum(bags.counts.data, 1))).astype(np.int64))


def once(bags: Bags) -> Bags:
    """Return records in which each item counts once."""
    return bags.with_counts(np.ones(bags.counts.nnz, dtype=np.int64))


def held_factors(targets: Bags, queries: Bags, wrong: float) -> Floats:
    """Return the (q, n) log Bayes factors of drawing a query's events, without replacement, from a target's.

    log(wrong + (1 - wrong) prod_i (d_i)_c_i / ((d)_m prod_i p_i^c_i)),  (d)_c = d (d - 1) … (d - c + 1)
    """
    from scipy.special import gammaln

    columns, sizes = targets.counts.tocsc(), np.asarray(targets.counts.sum(axis=1), dtype=np.float64).ravel()
    common, asked = np.log(_common(targets)), queries.counts
    out = np.empty((len(queries), len(targets)))
    for i in range(len(queries)):
        part = slice(asked.indptr[i], asked.indptr[i + 1])
        items, times = asked.indices[part], asked.data[part].astype(np.float64)
        m = times.sum()
        held = columns[:, items].tocsr()
        row, c, d = np.repeat(np.arange(len(targets)), np.diff(held.indptr)), times[held.indices], held.data
        enough = d >= c
        falls = gammaln(d[enough] + 1.0) - gammaln(d[enough] - c[enough] + 1.0)
        whole = np.bincount(row[enough], minlength=len(targets)) == len(items)
        fits = whole & (sizes >= m)
        room = np.maximum(sizes, m)
        factor = np.bincount(row[enough], falls, len(targets)) - gammaln(room + 1.0) + gammaln(room - m + 1.0)
        factor = factor - times @ common[items]
        out[i] = np.where(fits, np.logaddexp(np.log(wrong), np.log1p(-wrong) + factor), np.log(wrong))
    return out


def thinned(bags: Bags, share: float, seed: int, items: bool = False) -> Bags:
    """Return the records with this share of their events, or of their items with all their events; one at least."""
    units = once(bags) if items else bags
    wanted = np.maximum(np.rint(totals_of(units) * share), 1.0).astype(np.int64)
    taken = drawn(units.counts, wanted, stream(seed, "ways: shorter"))
    return bags.with_counts(taken * bags.counts.data if items else taken)


def mistaken(queries: Bags, targets: Bags, wrong: float, seed: int) -> Bags:
    """Return queries of which this share of the events is wrong: any items instead, as common as among the targets."""
    from scipy import sparse

    held, rng = queries.counts, stream(seed, "ways: wrong facts")
    row = np.repeat(np.repeat(np.arange(len(queries)), np.diff(held.indptr)), held.data)
    item = np.repeat(held.indices, held.data).astype(np.int64)
    off = np.flatnonzero(rng.random(len(item)) < wrong)
    item[off] = rng.choice(queries.n_tokens, size=len(off), p=_common(targets))
    counts = sparse.coo_array((np.ones(len(item), dtype=np.int64), (row, item)), shape=held.shape)
    return Bags(counts, vocabulary=queries.vocabulary)


def of_sizes(queries: Bags, like: Bags, seed: int) -> Bags:
    """Return queries thinned to the sizes of others, rank by rank."""
    sizes = np.sort(totals_of(like)).astype(np.int64)
    rank = np.argsort(np.argsort(totals_of(queries), kind="stable"), kind="stable")
    wanted = sizes[np.minimum(rank * len(sizes) // len(queries), len(sizes) - 1)]
    return queries.with_counts(drawn(queries.counts, wanted, stream(seed, "ways: thinned")))


def mean_log(factors: Floats) -> Floats:
    """Return the log of the mean of exp over each row."""
    top = factors.max(axis=1)
    return np.asarray(top + np.log(np.exp(factors - top[:, None]).mean(axis=1)))


def _common(targets: Bags) -> Floats:
    total = np.asarray(targets.counts.sum(axis=0), dtype=np.float64).ravel() + 0.5
    return np.asarray(total / total.sum())


def anybody(targets: Bags, queries: Bags) -> float:
    """Return the mean log-likelihood of the queries' events if anybody made them."""
    return float(np.mean(queries.counts @ np.log(_common(targets))))


def totals_of(bags: Any) -> Floats:
    """Return how many events each record holds, 1 at least."""
    return np.maximum(np.asarray(bags.counts.sum(axis=1), dtype=np.float64).ravel(), 1.0)
