"""What an observer knows of each user after N epochs, as sets of tokens: bits in machine words (jha, Section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Ints
from reidrisk.base.kernels import njit
from reidrisk.base.options import whole
from reidrisk.records import Traces

Words = npt.NDArray[np.uint64]


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
    """Reconstruct G and R^f of every user, f = ``threshold``; a missing token is in no set."""
    threshold = whole("threshold", threshold, unit="epochs")
    shape = (len(traces), -(-traces.n_tokens // 64))
    found = Profiles(seen=np.zeros(shape, dtype=np.uint64), kept=np.zeros(shape, dtype=np.uint64))
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
