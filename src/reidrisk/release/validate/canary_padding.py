"""Whether padding is of each user by themselves: one more user with short sets, in front, in the middle, at the end.

Noise is made for how far one user moves the counts. If their arrival also changes how others are padded, the counts
move much further, and the noise hides nothing. Here everybody else keeps the random words they had, so that whatever
else changes is the fault of the padding.
"""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from reidrisk.base.streams import stream
from reidrisk.records import TopSets
from reidrisk.records.top_sets import Words
from reidrisk.release.counts.pairs import count_pairs, measured_blocks

Padding = Callable[[TopSets, Words], TopSets]
"""Fills short sets by the given random words, as :meth:`reidrisk.TopSets.padded_by` does."""

PLACES = ("front", "middle", "end")  # where the rows of one more user are put
_OTHERS = 60


def padding_distances(k: int, n_epochs: int, padding: Padding = TopSets.padded_by) -> Mapping[str, Mapping[str, float]]:
    r"""Return how far one more user with short sets moves each table, as a multiple of its sensitivity.

    Of each place in the table the largest over users whose sets hold 0 to k tokens, as everybody else's do. More than 1
    means that the noise was made for less.

    >>> found = padding_distances(k=3, n_epochs=2)
    >>> max(max(tables.values()) for tables in found.values()) <= 1.0
    True
    """
    # Any people will do, so these are always the same.
    rng = stream(0, "people beside a canary")
    n_tokens = 3 * k + 2
    sensitivity = {block.name: block.sensitivity for block in measured_blocks(k, n_tokens, n_epochs)}
    others = _short_sets(rng, np.arange(_OTHERS)[:, None] + np.arange(n_epochs), k, n_tokens)
    words = rng.integers(2**64, size=(_OTHERS, n_epochs, k), dtype=np.uint64)
    ids = np.arange(1, _OTHERS + 1)
    found: dict[str, dict[str, float]] = {}
    for place, row in zip(PLACES, (0, _OTHERS // 2, _OTHERS), strict=True):
        worst = dict.fromkeys(sensitivity, 0.0)
        for size in range(k + 1):
            one = _short_sets(rng, np.full((1, n_epochs), size), k, n_tokens)
            own = rng.integers(2**64, size=(1, n_epochs, k), dtype=np.uint64)
            both = []
            for tokens, drawn, users in (
                (others, words, ids),
                (np.insert(others, row, one, axis=0), np.insert(words, row, own, axis=0), np.insert(ids, row, 0)),
            ):
                both.append(count_pairs(padding(TopSets(tokens, n_tokens, users), _given(drawn)), threads=1))
            for name, limit in sensitivity.items():
                moved = both[1].flat(name).astype(np.float64) - both[0].flat(name)
                worst[name] = max(worst[name], float(np.linalg.norm(moved)) / limit)
        found[place] = worst
    return found


def _short_sets(rng: np.random.Generator, sizes: npt.NDArray[np.int64], k: int, n_tokens: int) -> npt.NDArray[np.int64]:
    """Draw sets of the given sizes, each a number from 0 to k (modulo k + 1); -1 fills them up."""
    shuffled = rng.permuted(np.broadcast_to(np.arange(n_tokens), (*sizes.shape, n_tokens)), axis=-1)[..., :k]
    return np.where(np.arange(k) < (sizes % (k + 1))[..., None], shuffled, -1)


def _given(drawn: npt.NDArray[np.uint64]) -> Words:
    return lambda rows, epochs, k: drawn[rows, epochs]
