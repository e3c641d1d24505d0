"""The kernel that turns visit rates into top sets: Poisson visits, the k most visited topics, padding."""

from typing import Any

import numpy as np

from reidrisk.base import Signed, njit

_LAST = 170  # 30 + 25 standard deviations: beyond it rounding, not chance, would keep the walk going
_OVER = np.concatenate([[0.0], 1.0 / np.arange(1, _LAST + 1)])  # 1 / count: a product is quicker than a quotient
_SEARCHED = 30.0
"""Below this rate a count is found by walking up its distribution; above, by the library's rejection method."""


def visit_blocks(rates: Any, rngs: list[np.random.Generator], out: Signed) -> None:
    """Fill ``out`` (users, epochs, k) from the (users, topics) ``csr_array`` of rates, one generator per epoch."""
    starts, topics = rates.indptr.astype(np.int64), rates.indices.astype(np.int64)
    lambdas = rates.data.astype(np.float64)
    _most_visited_first(starts, topics, lambdas)
    never = np.exp(-lambdas)
    few = never * (1.0 + lambdas + lambdas**2 / 2)
    for epoch, rng in enumerate(rngs):
        top_sets(rng, starts, topics, lambdas, never, few, rates.shape[1], out[:, epoch])


@njit(nogil=True, cache=True)
def _most_visited_first(starts: Any, topics: Any, lambdas: Any) -> None:
    """Put the highest rates of each user first: then the set is full of much visited topics early."""
    for user in range(len(starts) - 1):
        row = slice(starts[user], starts[user + 1])
        order = np.argsort(-lambdas[row], kind="mergesort")
        topics[row] = topics[row][order]
        lambdas[row] = lambdas[row][order]


@njit(nogil=True, cache=True)
def top_sets(rng: Any, starts: Any, topics: Any, lambdas: Any, never: Any, few: Any, n_topics: int, out: Any) -> None:
    """Draw one epoch of every user, in order, so that fewer users are a prefix of more.

    ``never`` and ``few`` are the probabilities of no and of at most two visits. Once the set is full of topics with
    three visits or more, most of the others are done with after one look at ``few``.
    """
    k = out.shape[1]
    key = np.empty(k)  # visits plus a lot in [0, 1): the lot decides among equals
    for user in range(len(starts) - 1):
        held = 0
        for i in range(starts[user], starts[user + 1]):
            if lambdas[i] < _SEARCHED:
                count = 0
                uniform = rng.random()
                if held == k and key[k - 1] >= 3.0 and uniform < few[i]:
                    continue
                chance = never[i]
                left = uniform - chance
                while left >= 0.0 and count < _LAST:
                    count += 1
                    chance *= lambdas[i] * _OVER[count]
                    left -= chance
            else:
                count = rng.poisson(lambdas[i])
            if count == 0 or (held == k and count + 1.0 <= key[k - 1]):
                continue
            this = count + rng.random()
            if held == k:
                if this <= key[k - 1]:
                    continue
                place = k - 1
            else:
                place = held
                held += 1
            while place > 0 and key[place - 1] < this:
                key[place] = key[place - 1]
                out[user, place] = out[user, place - 1]
                place -= 1
            key[place] = this
            out[user, place] = topics[i]
        while held < k:
            drawn = int(rng.random() * n_topics)
            new = True
            for j in range(held):
                if out[user, j] == drawn:
                    new = False
            if new:
                out[user, held] = drawn
                held += 1
