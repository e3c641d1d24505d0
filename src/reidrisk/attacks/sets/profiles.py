"""What an observer knows of each user after N epochs, as sets of tokens: bits in machine words (jha, Section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.kernels import njit
from reidrisk.base.options import whole
from reidrisk.records import Traces

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Profiles:
    """The two reconstructed profiles of each user, (n, words); token o is bit ``o % 64`` of word ``o // 64``."""

    seen: Words  # G, the global profile: every token seen at least once (jha, Section 3.1)
    kept: Words  # R^f, the denoised profile: the tokens seen in at least f different epochs (jha, Section 3.2)

    def __len__(self) -> int:
        return len(self.seen)

    def __getitem__(self, rows: Any) -> Profiles:
        return Profiles(self.seen[rows], self.kept[rows])


def build_profiles(traces: Traces, threshold: int) -> Profiles:
    """Reconstruct G and R^f of every user, f = ``threshold``; a missing token is in no set.

    Examples
    --------
    >>> p = build_profiles(Traces([[3, 1, 3, -1]], n_tokens=5), threshold=2)
    >>> [int(words[0, 0]) for words in (p.seen, p.kept)] == [2**3 + 2**1, 2**3]
    True
    """
    threshold = whole("threshold", threshold, unit="epochs")
    shape = (len(traces), -(-traces.n_tokens // 64))
    found = Profiles(seen=np.zeros(shape, dtype=np.uint64), kept=np.zeros(shape, dtype=np.uint64))
    _build(np.ascontiguousarray(traces.tokens), traces.n_tokens, threshold, found.seen, found.kept)
    return found


def sizes(words: Words) -> Ints:
    """Count the tokens of each set."""
    return np.asarray(np.bitwise_count(words).sum(axis=1, dtype=np.int64))


@njit(nogil=True, cache=True)
def popcount(word: Any) -> Any:  # pragma: no cover - compiled
    """Count the bits of one word, in pairs, fours and bytes at a time."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(nogil=True, cache=True)
def _build(tokens: Any, n_tokens: int, threshold: int, seen: Any, kept: Any) -> None:  # pragma: no cover - compiled
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
def consistent(kept_q: Any, seen_q: Any, kept_t: Any, seen_t: Any) -> Any:  # pragma: no cover - compiled
    """Tell whether each denoised profile is within the other's global profile: R_q in G_t and R_t in G_q."""
    for w in range(len(kept_q)):  # noqa: SIM110 - a loop compiles to a loop
        if (kept_q[w] & ~seen_t[w]) | (kept_t[w] & ~seen_q[w]):
            return False
    return True


@njit(nogil=True, cache=True)
def loose_matches(
    kept_q: Any, seen_q: Any, kept_t: Any, seen_t: Any, usable: Any, starts: Any, members: Any, count: Any, first: Any
) -> None:  # pragma: no cover - compiled
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
            if usable[t] and consistent(kept_q[q], seen_q[q], kept_t[t], seen_t[t]):
                count[q] += 1
                if first[q] < 0:
                    first[q] = t


@njit(nogil=True, cache=True)
def pair_scores(
    kept_q: Any, seen_q: Any, kept_t: Any, seen_t: Any, rows: Any, strict: bool, out: Any
) -> None:  # pragma: no cover - compiled
    """Score query q with targets ``rows[q]``: 0 without match, else 1 + the number of tokens that both kept."""
    for q in range(len(kept_q)):
        for j in range(rows.shape[1]):
            t = rows[q, j]
            common, size_q, size_t = 0, 0, 0
            for w in range(kept_q.shape[1]):
                common += popcount(kept_q[q, w] & kept_t[t, w])
                size_q += popcount(kept_q[q, w])
                size_t += popcount(kept_t[t, w])
            if strict:
                match = size_q == common and size_t == common
            else:
                match = consistent(kept_q[q], seen_q[q], kept_t[t], seen_t[t])
            out[q, j] = 1 + common if match and size_q > 0 and size_t > 0 else 0
