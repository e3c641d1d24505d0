"""What changes do to the rows of Traces and Bags: relabel items, keep some of them, put others in their place."""

from dataclasses import replace
from typing import Any

import numpy as np

from reidrisk.base import Bools, Ints, Vocabulary
from reidrisk.records import Attributes, Bags, Traces, Vectors, Visits
from reidrisk.records.thinning import drawn
from reidrisk.records.traces import TokenRecords


def relabelled(table: TokenRecords, to: Ints, n_tokens: int, vocabulary: Vocabulary | None) -> TokenRecords:
    """Return the table with token t called ``to[t]``, over a vocabulary of ``n_tokens``; -1 = left out.

    >>> relabelled(Traces([[0, 2], [1, -1]], n_tokens=3), np.array([1, 1, -1]), 2, None).tokens.tolist()
    [[1, -1], [1, -1]]
    """
    if isinstance(table, Attributes):
        return table.with_tokens(np.where(table.observed, to[table.tokens], -1))
    if isinstance(table, Traces):
        renamed = np.where(table.observed, to[table.tokens], -1)
        return Traces(renamed, n_tokens, table.users, vocabulary).with_notes(table.notes)
    visits = table.visits
    moved = _moved(table.counts if visits is None else visits.counts, to, n_tokens)
    when = None if table.timeline is None else table.timeline.renamed(to)
    if visits is None:
        return Bags(moved, table.users, vocabulary).with_notes(table.notes).with_timeline(when)
    there = np.diff(moved.indptr) > 0  # a visit of which nothing is left is none
    start = np.concatenate(([0], np.cumsum(there)))[visits.start]
    kept = Visits(moved[np.flatnonzero(there)], start)
    changed = Bags(kept.together(), table.users, vocabulary).with_notes(table.notes).with_visits(kept)
    return changed.with_timeline(when if when is None else replace(when, visit=None))  # visits are numbered anew


def _moved(counts: Any, to: Ints, n_tokens: int) -> Any:
    from scipy import sparse

    item = to[counts.indices]
    stays = item >= 0
    start = np.concatenate(([0], np.cumsum(stays)))[counts.indptr]
    moved = sparse.csr_array((counts.data[stays], item[stays], start), shape=(counts.shape[0], n_tokens))
    moved.sum_duplicates()
    return moved


def thinned(table: TokenRecords, p: float, rng: np.random.Generator) -> TokenRecords:
    """Return the table with each observation kept with probability p."""
    if isinstance(table, Traces):
        return masked(table, rng.random(table.tokens.shape) < p)
    changed = table.with_counts(rng.binomial(table.counts.data, p))
    # Moments are drawn by themselves: which event of an item is meant makes no difference to what is left of it.
    when, own = table.timeline, rng.spawn(1)[0]
    return changed if when is None else changed.with_timeline(when.kept(own.random(len(when)) < p))


def at_most(table: TokenRecords, size: int, rng: np.random.Generator) -> TokenRecords:
    """Return the table with at most ``size`` observations of each row, drawn at random without replacement."""
    if isinstance(table, Traces):
        keys = np.where(table.observed, rng.random(table.tokens.shape), np.inf)
        rank = np.argsort(np.argsort(keys, axis=1), axis=1)
        return masked(table, rank < size)
    changed = table.with_counts(drawn(table.counts, np.full(len(table), size), rng))
    when = table.timeline
    if when is None:
        return changed
    order = np.lexsort((rng.spawn(1)[0].random(len(when)), when.owner))
    rank = np.empty(len(when), dtype=np.int64)
    rank[order] = np.arange(len(when)) - np.repeat(when.start[:-1], np.diff(when.start))
    return changed.with_timeline(when.kept(rank < size))


def masked(table: Traces, kept: Bools) -> Traces:
    """Return the traces with the cells that are not kept missing."""
    return table._with(np.where(kept, table.tokens, table.tokens.dtype.type(-1)), table.users)


def randomised(table: TokenRecords, p: float, rng: np.random.Generator) -> TokenRecords:
    """Return the table with each observation replaced by a uniformly drawn item with probability p."""
    if isinstance(table, Traces):
        replaced = table.observed & (rng.random(table.tokens.shape) < p)
        tokens = table.tokens.astype(np.int64)
        tokens[replaced] = rng.integers(table.n_tokens, size=int(replaced.sum()))
        return Traces(tokens, table.n_tokens, table.users, table.vocabulary).with_notes(table.notes)
    from scipy import sparse

    held = table.counts
    gone = rng.binomial(held.data, p)
    row = np.repeat(np.repeat(np.arange(len(table)), np.diff(held.indptr)), gone)
    item = rng.integers(table.n_tokens, size=len(row))
    ones = np.ones(len(row), dtype=np.int64)
    left = sparse.csr_array((held.data - gone, held.indices, held.indptr), shape=held.shape)
    counts = left + sparse.coo_array((ones, (row, item)), shape=held.shape).tocsr()
    changed = Bags(counts, table.users, table.vocabulary).with_notes(table.notes)
    when, own = table.timeline, rng.spawn(1)[0]
    if when is None:
        return changed
    other = own.integers(table.n_tokens, size=len(when)).astype(when.item.dtype)
    return changed.with_timeline(when.with_items(np.where(own.random(len(when)) < p, other, when.item)))


def observations(table: TokenRecords) -> Any:
    """Return how often each row holds each item, as a csr_array of whole numbers."""
    return table.counts if isinstance(table, Bags) else table.bags().counts


def holders(table: TokenRecords) -> Ints:
    """Return how many rows hold each item."""
    return np.bincount(observations(table).indices, minlength=table.n_tokens).astype(np.int64)


def frequencies(table: TokenRecords) -> Ints:
    """Return how often each item occurs."""
    if isinstance(table, Traces):
        return np.bincount(table.tokens[table.observed].astype(np.int64), minlength=table.n_tokens)
    return np.asarray(table.counts.sum(axis=0), dtype=np.int64).ravel()


def sizes(table: TokenRecords | Vectors) -> Ints:
    """Return how many observations each row has; a vector is one."""
    if isinstance(table, Vectors):
        return np.ones(len(table), dtype=np.int64) if table.several is None else table.several.per_record
    if isinstance(table, Traces):
        return np.asarray(table.observed.sum(axis=1), dtype=np.int64)
    return np.asarray(table.counts.sum(axis=1), dtype=np.int64).ravel()
