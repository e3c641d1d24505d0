"""The compiled loops of the blocked scan: the scores of a block of targets, and what is kept of them."""

import math
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base.kernels import njit
from reidrisk.search.answer import FAR, UNIT


class ScanTargets(NamedTuple):
    """Targets by epoch (r, n), the value that stands for a missing token, and whether any is missing."""

    columns: Any
    missing: int
    gaps: bool


class Queries(NamedTuple):
    """Tokens (q, r) with what a match adds and a mismatch costs there, or a table of pairs of tokens.

    Where tokens near them count, too, ``first``, ``last`` and ``worth`` (q, r, levels) say which and how much.
    """

    tokens: Any
    gain: Any
    mismatch: Any
    pairs: Any
    first: Any
    last: Any
    worth: Any


@njit(cache=True, nogil=True)
def _block_scores(targets: Any, queries: Any, i: Any, start: Any, stop: Any, scores: Any) -> None:
    """Fill scores[: stop - start] with the scores of query i against targets start .. stop."""
    table, missing, gaps = targets
    tokens, gain, mismatch, pairs = queries.tokens[i], queries.gain[i], queries.mismatch[i], queries.pairs
    size = stop - start
    if pairs.shape[0] > 0:
        scores[:size] = 0
        width = pairs.shape[1]
        for s in range(tokens.shape[0]):
            if tokens[s] == missing:
                continue
            worth = pairs[s if pairs.shape[0] > 1 else 0, tokens[s]]
            column = table[s, start:stop]
            for j in range(size):
                scores[j] += worth[min(column[j], width)]
        return
    constant = gain[0] * 0
    if not gaps:
        for s in range(tokens.shape[0]):
            constant += mismatch[s]
    for j in range(size):
        scores[j] = constant
    for s in range(tokens.shape[0]):
        token, reward = tokens[s], gain[s]
        column = table[s, start:stop]
        if reward != 0:
            for j in range(size):
                scores[j] += reward * (column[j] == token)
        if gaps and mismatch[s] != 0:
            penalty = mismatch[s]
            for j in range(size):
                scores[j] += penalty * (column[j] != missing)
    for s in range(tokens.shape[0] if queries.worth.shape[2] > 0 else 0):
        column = table[s, start:stop]
        for level in range(queries.worth.shape[2]):
            first, last, reward = queries.first[i, s, level], queries.last[i, s, level], queries.worth[i, s, level]
            if reward != 0:
                for j in range(size):
                    scores[j] += reward * ((column[j] >= first) & (column[j] <= last))


@njit(cache=True, nogil=True)
def best_rows(targets: Any, queries: Any, best: Any, ties: Any, first: Any, block: Any) -> None:
    """Fill in the best score of each query, how many targets share it, and the first of them."""
    n = targets.columns.shape[1]
    scores = np.empty(block, dtype=queries.gain.dtype)
    for i in range(queries.tokens.shape[0]):
        top, count, where = np.int64(0), np.int64(0), np.int64(-1)
        for start in range(0, n, block):
            stop = min(start + block, n)
            _block_scores(targets, queries, i, start, stop, scores)
            here = scores[0]
            for j in range(stop - start):
                here = max(here, scores[j])
            if where < 0 or here >= top:
                equal = 0
                for j in range(stop - start):
                    equal += scores[j] == here
                if where < 0 or here > top:
                    top, count, where = np.int64(here), np.int64(0), np.int64(-1)
                count += equal
                if where < 0:
                    j = 0
                    while scores[j] != here:
                        j += 1
                    where = np.int64(start + j)
        best[i], ties[i], first[i] = top, count, where


@njit(cache=True, nogil=True)
def all_scores(targets: Any, queries: Any, out: Any, block: Any) -> None:
    """Fill in the score of each query with every target."""
    n = targets.columns.shape[1]
    for i in range(queries.tokens.shape[0]):
        for start in range(0, n, block):
            stop = min(start + block, n)
            _block_scores(targets, queries, i, start, stop, out[i, start:stop])


@njit(cache=True, nogil=True)
def posterior_sums(targets: Any, queries: Any, best: Any, total: Any, nats: Any, block: Any) -> None:
    """Fill in, for each query, the sum over targets of exp((score - best) * nats) in fixed point."""
    n = targets.columns.shape[1]
    scores = np.empty(block, dtype=queries.gain.dtype)
    for i in range(queries.tokens.shape[0]):
        weight = np.int64(0)
        for start in range(0, n, block):
            stop = min(start + block, n)
            _block_scores(targets, queries, i, start, stop, scores)
            for j in range(stop - start):
                below = (best[i] - scores[j]) * nats
                if below < FAR:
                    weight += np.int64(math.exp(-below) * UNIT + 0.5)
        total[i] = weight


@njit(cache=True, nogil=True)
def candidate_rows(targets: Any, queries: Any, rows: Any, score: Any, block: Any) -> None:
    """Fill in the best targets of each query and their scores, best first, lower row first among equals."""
    n, k = targets.columns.shape[1], rows.shape[1]
    scores = np.empty(block, dtype=queries.gain.dtype)
    for i in range(queries.tokens.shape[0]):
        filled = 0
        for start in range(0, n, block):
            stop = min(start + block, n)
            _block_scores(targets, queries, i, start, stop, scores)
            for j in range(stop - start):
                value = scores[j]
                if filled == k and value <= score[i, k - 1]:
                    continue
                place = filled if filled < k else k - 1
                while place > 0 and score[i, place - 1] < value:
                    score[i, place], rows[i, place] = score[i, place - 1], rows[i, place - 1]
                    place -= 1
                score[i, place], rows[i, place] = value, start + j
                filled = min(filled + 1, k)
