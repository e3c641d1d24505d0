"""What an observer knows of each user after N epochs, as sets of tokens: bits in machine words (jha, Section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from reidrisk.base import Array, Bools, Ints, Progress, UInts, each, njit, slices, whole
from reidrisk.records import Traces
from reidrisk.search import Best, ByBlocks

Words = UInts

_QUERIES = 512  # queries handed to a thread at a time


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """The two reconstructed profiles of each user, (n, words); token o is bit ``o % 64`` of word ``o // 64``."""

    seen: Words  # G, the global profile: every token seen at least once (jha, Section 3.1)
    kept: Words  # R^f, the denoised profile: the tokens seen in at least f different epochs (jha, Section 3.2)

    def __len__(self) -> int:
        return len(self.seen)

    def __getitem__(self, rows: Any) -> Reconstruction:
        return Reconstruction(self.seen[rows], self.kept[rows])


def reconstruct(traces: Traces, threshold: int) -> Reconstruction:
    """Reconstruct G and R^f of every user, f = ``threshold``; a missing token is in no set."""
    threshold = whole("threshold", threshold, unit="epochs")
    shape = (len(traces), -(-traces.n_tokens // 64))
    found = Reconstruction(seen=np.zeros(shape, dtype=np.uint64), kept=np.zeros(shape, dtype=np.uint64))
    _build(np.ascontiguousarray(traces.tokens), traces.n_tokens, threshold, found.seen, found.kept)
    return found


def sizes(words: Words) -> Ints:
    """Count the tokens of each set."""
    return np.asarray(np.bitwise_count(words).sum(axis=1, dtype=np.int64))


@njit(nogil=True, cache=True)
def _build(tokens: Any, n_tokens: int, threshold: int, seen: Any, kept: Any) -> None:
    counts = np.zeros(n_tokens, dtype=np.int64)
    for i in range(len(tokens)):
        for token in tokens[i]:
            if token >= 0:
                counts[token] += 1
                bit = np.uint64(1) << np.uint64(token % 64)
                seen[i, token // 64] |= bit
                if counts[token] >= threshold:
                    kept[i, token // 64] |= bit
        for token in tokens[i]:
            if token >= 0:
                counts[token] = 0


@njit(nogil=True, cache=True)
def loose_matches(
    kept_q: Any, seen_q: Any, kept_t: Any, seen_t: Any, usable: Any, starts: Any, members: Any, count: Any, first: Any
) -> None:
    """Count the consistent targets of each query, and find the lowest.

    Targets whose R is empty are not ``usable``. ``members[starts[o]:starts[o + 1]]`` are the usable targets with
    token o in G: only those of the query's rarest kept token can be consistent with it.
    """
    for q in range(len(kept_q)):
        count[q] = 0
        first[q] = -1
        rarest = -1
        for token in range(len(starts) - 1):
            if (kept_q[q, token // 64] >> np.uint64(token % 64)) & np.uint64(1) and (
                rarest < 0 or starts[token + 1] - starts[token] < starts[rarest + 1] - starts[rarest]
            ):
                rarest = token
        if rarest < 0:
            continue
        for i in range(starts[rarest], starts[rarest + 1]):
            t = members[i]
            fits = usable[t]
            for w in range(kept_q.shape[1]):  # each denoised profile is within the other's global profile
                fits = fits and not (kept_q[q, w] & ~seen_t[t, w]) | (kept_t[t, w] & ~seen_q[q, w])
            if fits:
                count[q] += 1
                if first[q] < 0:
                    first[q] = t


@dataclass(frozen=True, eq=False)
class Audience:
    """The targets: their tokens (n, r), and the profiles made of them."""

    tokens: Array
    n_tokens: int
    sets: Reconstruction

    def __len__(self) -> int:
        return len(self.tokens)

    def take(self, rows: Ints) -> Audience:
        """Return the chosen targets, in that order."""
        return Audience(self.tokens[rows], self.n_tokens, self.sets[rows])

    @cached_property
    def usable(self) -> Bools:
        """Whether a target can match at all: an empty R matches nobody."""
        return np.asarray(sizes(self.sets.kept) > 0)

    @cached_property
    def by_token(self) -> tuple[Ints, Ints]:
        """For each token, the usable targets that saw it: (starts, members)."""
        rows, epochs = np.nonzero((self.tokens >= 0) & self.usable[:, None])
        pairs = np.unique(self.tokens[rows, epochs].astype(np.int64) * len(self) + rows)
        starts = np.concatenate([[0], np.cumsum(np.bincount(pairs // len(self), minlength=self.n_tokens))])
        return starts, pairs % len(self)


@dataclass(frozen=True)
class Fit(ByBlocks):
    """Which targets fit a query: strictly, those that keep the same tokens, if it keeps any (jha, Section 3.3.1).

    Loosely, those that saw what the query keeps, and keep what it saw (jha, Section 3.3.2). For :meth:`best` the score
    of a pair that fits is 1; otherwise it is 1 + the number of tokens that both keep.
    """

    strict: bool

    def best(self, targets: Audience, queries: Reconstruction, progress: Progress | None = None) -> Best:
        """Count the targets that fit each query, and find the lowest; -1 where none does."""
        if self.strict:
            count, first = alike(targets.sets.kept, queries.kept)
            count = np.where(sizes(queries.kept) > 0, count, 0)
        else:
            count, first = self._loose(targets, queries)
        return Best((count > 0).astype(np.int64), count, np.where(count > 0, first, -1))

    def scores(self, targets: Audience, queries: Reconstruction, reach: Ints | None = None) -> Ints:
        """Return the (q, n) scores: 0 where two records do not fit."""
        return self._scores(targets.sets, queries[:, None])

    def pairs(self, targets: Audience, queries: Reconstruction, rows: Ints) -> Ints:
        """Return the score of each query with the target row given for it."""
        return self._scores(targets.sets[rows], queries)

    def _scores(self, known: Reconstruction, asked: Reconstruction) -> Ints:
        """Score records that stand side by side, or every one with every other."""
        if self.strict:
            fits = (known.kept == asked.kept).all(axis=-1)
        else:
            fits = ~((asked.kept & ~known.seen) | (known.kept & ~asked.seen)).any(axis=-1)
        fits &= known.kept.any(axis=-1) & asked.kept.any(axis=-1)
        return np.where(fits, 1 + np.bitwise_count(known.kept & asked.kept).sum(axis=-1, dtype=np.int64), 0)

    def _loose(self, targets: Audience, queries: Reconstruction) -> tuple[Ints, Ints]:
        known, usable, by_token = targets.sets, targets.usable, targets.by_token
        count, first = (np.empty(len(queries), dtype=np.int64) for _ in range(2))

        def work(part: slice) -> None:
            asked = queries.kept[part], queries.seen[part]
            loose_matches(*asked, known.kept, known.seen, usable, *by_token, count[part], first[part])

        each(work, slices(len(queries), _QUERIES))
        return count, first


def alike(among: Words, asked: Words) -> tuple[Ints, Ints]:
    """Count for each asked row those equal to it, and find the lowest, -1 where there is none."""
    number = np.unique(np.concatenate([among, asked]), axis=0, return_inverse=True)[1].reshape(-1)
    theirs, mine = np.split(number, [len(among)])
    n_numbers = int(number.max(initial=-1)) + 1
    first = np.full(n_numbers, -1, dtype=np.int64)
    first[theirs[::-1]] = np.arange(len(among))[::-1]
    return np.bincount(theirs, minlength=n_numbers).astype(np.int64)[mine], first[mine]
