"""Pseudonyms put together: how an attacker finds the next one of a person, and what a pool of them holds."""

from typing import Any

import numpy as np

from reidrisk.attacks import TfIdf
from reidrisk.base import Bools, DataError, Ints
from reidrisk.records import Bags, Traces
from reidrisk.records.traces import TokenRecords


def next_pseudonyms(table: TokenRecords, moment: Ints, first: Ints) -> Ints:
    """Return, for each of some first pseudonyms, the row at each moment that seems to be the same person; -1 = none.

    ``moment`` says when each row of the table was in use. Row by row of the answer, what was pooled so far is compared
    with all pseudonyms of the next moment (:class:`reidrisk.attacks.TfIdf`); the nearest is the next one if it is the
    only one that near and, looking back, the last one is the only one nearest to it. A chain that breaks has ended.

    >>> table = Traces([[1, -1], [-1, 1], [2, -1], [-1, 2]], n_tokens=3)
    >>> next_pseudonyms(table, np.array([0, 1, 0, 1]), np.array([0, 2])).tolist()
    [[0, 1], [2, 3]]
    """
    held = table if isinstance(table, Bags) else table.bags()
    chain = np.full((len(first), int(moment.max(initial=0)) + 1), -1, dtype=np.int64)
    chain[np.arange(len(first)), moment[first]] = first
    for now in range(1, chain.shape[1]):
        then, here = np.flatnonzero(moment == now - 1), np.flatnonzero(moment == now)
        open_ = np.flatnonzero((chain[:, now - 1] >= 0) & (chain[:, now] < 0))
        if not (len(then) and len(here) and len(open_)):
            continue
        nearest, sure = _only_best(held.take(here), _sums(held, chain[open_, :now]))
        found = here[nearest]
        back, surely_back = _only_best(held.take(then), held.take(found))
        mutual = sure & surely_back & (then[back] == chain[open_, now - 1])
        chain[open_[mutual], now] = found[mutual]
    return chain


def joined(table: TokenRecords, chain: Ints) -> TokenRecords:
    """Return one record per row of ``chain``: all that its members hold."""
    if isinstance(table, Bags):
        return _sums(table, chain)
    # No two members are of one moment, so that at most one of them holds a token in a period.
    tokens = np.full((len(chain), table.n_epochs), -1, dtype=table.tokens.dtype)
    for column in chain.T:
        there = column >= 0
        tokens[there] = np.maximum(tokens[there], table.tokens[column[there]])
    return Traces(tokens, table.n_tokens, None, table.vocabulary)


def stacked(one: TokenRecords, two: TokenRecords) -> TokenRecords:
    """Return the rows of both tables, which are of one kind, without names."""
    if isinstance(one, Traces) and isinstance(two, Traces):
        return Traces(np.concatenate((one.tokens, two.tokens)), one.n_tokens, None, one.vocabulary)
    if isinstance(one, Bags) and isinstance(two, Bags):
        from scipy import sparse

        both = Bags(sparse.vstack([one.counts, two.counts]).tocsr(), None, one.vocabulary)
        if one.clock is not None and two.clock is not None:
            both = both.with_clock(sparse.vstack([one.clock, two.clock]))
        if one.timeline is None or two.timeline is None:
            return both
        return both.with_timeline(one.timeline.beside(two.timeline))
    raise DataError(f"{type(one).__name__} and {type(two).__name__} have no rows of one kind; bring both into one form")


def _only_best(targets: Bags, queries: Bags) -> tuple[Ints, Bools]:
    """Return the nearest target of each query, and whether it is the only one that near."""
    links = TfIdf().fit(targets).link(queries)
    return np.maximum(links.target, 0), (links.n_ties == 1) & (links.target >= 0)


def _sums(held: Bags, chain: Ints) -> Bags:
    from scipy import sparse

    there = chain >= 0
    start = np.concatenate(([0], np.cumsum(there.sum(axis=1))))
    ones = np.ones(int(start[-1]), dtype=np.int64)
    together: Any = sparse.csr_array((ones, chain[there], start), shape=(len(chain), len(held)))
    pooled = Bags(together @ held.counts, None, held.vocabulary)
    if held.clock is not None:
        pooled = pooled.with_clock(together @ held.clock)
    if held.timeline is None:
        return pooled
    when = held.timeline.take(chain[there])
    return pooled.with_timeline(when.regrouped(np.nonzero(there)[0][when.owner], len(chain)))
