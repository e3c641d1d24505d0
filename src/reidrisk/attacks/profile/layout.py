"""The targets of ProfileBayes by block: who holds a token so often, and who showed it in an epoch.

Blocks are small enough for a processor's cache. All targets of a block stand on one rung, so that what a token is worth
there depends on the query alone.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.profile.counts import Counts
from reidrisk.attacks.profile.kernel import largest_counts
from reidrisk.base import Ints, njit

_BLOCK = 8_192  # targets whose sums are built together: 128 KiB for up to four kinds
_STARTS = 50_000_000  # entries of the tables of starts, at most


class Layout(NamedTuple):
    """Targets that hold something, in the order of their rungs, cut into blocks.

    Place p of the order is the target ``order[p]``; those of block b are ``first[b]`` to ``first[b + 1]``, all on
    ``rung[b]``. Tokens that some target holds are numbered (``number``, -1 for the others). Token number v held c times
    has the key ``key[v] + c - 1``: ``member[start[b, k]:start[b, k + 1]]`` are the places within block b with key k.
    Token number v shown in epoch s has the key ``s * len(key) + v`` in ``met_start`` and ``met``; how often the member
    holds it is in ``met_count``.
    """

    order: Ints
    first: Ints
    rung: Ints
    number: Ints
    key: Ints
    most: Ints  # the largest count of each numbered token
    start: Any
    member: Any
    met_start: Any
    met: Any
    met_count: Any


def lay_out(counts: Counts, same_epoch: bool) -> Layout:
    """Cut the records into blocks, and list the members of each by token and count, and by token and epoch."""
    held = np.flatnonzero(np.diff(counts.start))
    order = held[np.argsort(counts.rung[held], kind="stable")]
    most = np.zeros(counts.n_tokens, dtype=np.int64)
    largest_counts(counts.token, counts.count, most)
    tokens = np.flatnonzero(most)
    number = np.full(counts.n_tokens, -1, dtype=np.int64)
    number[tokens] = np.arange(len(tokens))
    most = most[tokens]
    epochs = counts.epochs.shape[1] if same_epoch else 0
    size = int(most.sum()), epochs * len(tokens)
    block = max(_BLOCK, -(-len(order) // max(_STARTS // (sum(size) + 2), 1)))
    first, rung = _blocks(counts.rung[order], block)
    width: Any = np.uint16 if block <= np.iinfo(np.uint16).max else np.int32
    shown = int((counts.epochs[order] >= 0).sum()) if epochs else 0
    found = Layout(
        order,
        first,
        rung,
        number,
        np.cumsum(most) - most,
        most,
        np.zeros((len(rung), size[0] + 1), dtype=np.int32 if len(counts.token) < 2**31 else np.int64),
        np.empty(len(counts.token), dtype=width),
        np.zeros((len(rung), size[1] + 1), dtype=np.int32 if shown < 2**31 else np.int64),
        np.empty(shown, dtype=width),
        np.empty(shown, dtype=np.uint8),
    )
    _list_held(*counts.held, found)
    if epochs:
        _list_met(*counts.held, counts.epochs, found)
    return found


def _blocks(rung: Ints, block: int) -> tuple[Ints, Ints]:
    """Return where blocks of ascending rungs begin, the end added, and the rung of each."""
    edges = np.concatenate([[0], np.flatnonzero(np.diff(rung)) + 1, [len(rung)]])
    begins = [np.arange(a, b, block) for a, b in pairwise(edges)]
    first = np.concatenate([*begins, [len(rung)]]).astype(np.int64)
    return first, np.asarray(rung[first[:-1]], dtype=np.int64)


@njit(nogil=True, cache=True)
def _add_up(start: Any, done: Any, free: Any) -> Any:
    """Turn counts at k + 1 into where lists begin, after those ``done``; return where the last ends."""
    start[0] = done
    for k in range(1, len(start)):
        start[k] += start[k - 1]
    free[:] = start
    return start[-1]


@njit(nogil=True, cache=True)
def _list_held(row: Any, token: Any, count: Any, to: Any) -> None:
    done = 0
    free = np.empty(to.start.shape[1], dtype=np.int64)
    for b in range(len(to.rung)):
        start = to.start[b]
        for p in range(to.first[b], to.first[b + 1]):
            for place in range(row[to.order[p]], row[to.order[p] + 1]):
                start[to.key[to.number[token[place]]] + count[place]] += 1
        done = _add_up(start, done, free)
        for p in range(to.first[b], to.first[b + 1]):
            for place in range(row[to.order[p]], row[to.order[p] + 1]):
                k = to.key[to.number[token[place]]] + count[place] - 1
                to.member[free[k]] = p - to.first[b]
                free[k] += 1


@njit(nogil=True, cache=True)
def _list_met(row: Any, token: Any, count: Any, epochs: Any, to: Any) -> None:
    done, tokens = 0, len(to.key)
    free = np.empty(to.met_start.shape[1], dtype=np.int64)
    times = np.zeros(len(to.number), dtype=np.int64)  # how often the record at hand holds each token
    for b in range(len(to.rung)):
        start = to.met_start[b]
        for p in range(to.first[b], to.first[b + 1]):
            shown = epochs[to.order[p]]
            for s in range(len(shown)):
                if shown[s] >= 0 and to.number[shown[s]] >= 0:
                    start[s * tokens + to.number[shown[s]] + 1] += 1
        done = _add_up(start, done, free)
        for p in range(to.first[b], to.first[b + 1]):
            i = to.order[p]
            for place in range(row[i], row[i + 1]):
                times[token[place]] = count[place]
            for s in range(epochs.shape[1]):
                if epochs[i, s] >= 0 and to.number[epochs[i, s]] >= 0:
                    k = s * tokens + to.number[epochs[i, s]]
                    to.met[free[k]] = p - to.first[b]
                    to.met_count[free[k]] = times[epochs[i, s]]
                    free[k] += 1
            for place in range(row[i], row[i + 1]):
                times[token[place]] = 0
