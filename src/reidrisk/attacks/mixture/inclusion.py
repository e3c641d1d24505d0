r"""How probable it is that a type's padded set holds a token, or two tokens at once: in closed form.

A type fills k slots, slot s with token o with probability :math:`x_s(o)`; the set U is what the slots hold, and
:math:`k - |U|` further tokens, uniform among the others, pad it to P. With the partitions :math:`\sigma` of the slots
and :math:`z_B = \sum_o \prod_{s \in B} x_s(o)`, the probability that slots are equal exactly where :math:`\rho` says so
is a sum over coarser partitions (Möbius inversion), so that for any function f of the size

.. math:: E[f(|U|);\ a, b \notin U] = \sum_\sigma c_f(\sigma)
          \prod_{B \in \sigma} \Big( z_B - \prod_{s \in B} x_s(a) - \prod_{s \in B} x_s(b) \Big),
          \qquad c_f(\sigma) = \sum_{\rho \le \sigma} f(|\rho|)\, \mu(\rho, \sigma).

Multiplied out this is a bilinear form in the :math:`2^k` products of slots of a and those of b. What the padding does
to a pair in P depends on the size of U alone; it is put into f before anything is summed, so that small probabilities
are not differences of large ones.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import factorial, prod

import numpy as np

from reidrisk.base.arrays import Floats, Ints

Partition = tuple[int, ...]  # blocks, each a bit mask of slots
MOST_SLOTS = 7  # Bell(7) = 877 partitions


@lru_cache
def partitions(slots: int) -> tuple[Partition, ...]:
    """Return the partitions of the slots in a bit mask: ``partitions(0b11)`` is both apart, and both together."""
    if not slots:
        return ((),)
    first = slots & -slots
    rest = slots ^ first
    found = []
    inside = rest
    while True:  # over the subsets of the rest that share the first one's block
        found += [(first | inside, *other) for other in partitions(rest ^ inside)]
        if not inside:
            return tuple(sorted(found, key=len, reverse=True))
        inside = (inside - 1) & rest


def _finer(block_sizes: list[int]) -> dict[int, float]:
    """Return, of the partitions finer than one with such blocks, the sum of Möbius numbers by number of blocks."""
    total: dict[int, float] = {0: 1.0}
    for size in block_sizes:
        of_block: dict[int, float] = {}
        for parts in partitions((1 << size) - 1):
            # mu(rho, sigma) of one block cut into p parts: (-1)^(p - 1) (p - 1)!.
            p = len(parts)
            of_block[p] = of_block.get(p, 0.0) + (-1.0) ** (p - 1) * factorial(p - 1)
        total = _spread(total, of_block)
    return total


def _spread(one: dict[int, float], other: dict[int, float]) -> dict[int, float]:
    sums: dict[int, float] = {}
    for a, x in one.items():
        for b, y in other.items():
            sums[a + b] = sums.get(a + b, 0.0) + x * y
    return sums


def _coefficient(sigma: Partition, by_size: Floats) -> float:
    """Return c_f(sigma) of the function whose value for sets of m tokens is ``by_size[m]``."""
    finer = _finer([block.bit_count() for block in sigma])
    return float(sum(by_size[m] * weight for m, weight in finer.items()))


class Inclusion:
    """Membership of a type's padded sets in one epoch, from its slot probabilities (T, k, N).

    >>> one = Inclusion(np.array([[[0.5, 0.5, 0.0]]]))      # one slot, a coin between tokens 0 and 1
    >>> one.single.tolist(), one.pairs(0).tolist()
    ([[0.5, 0.5, 0.0]], [[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]])
    """

    def __init__(self, slots: Floats) -> None:
        self._slots = slots
        self.n_types, self.k, self.n_tokens = slots.shape
        self._whole = (1 << self.k) - 1
        sums = np.ones((self.n_types, 1 << self.k))
        for mask in range(1, 1 << self.k):
            sums[:, mask] = self._product(slots, mask).sum(axis=-1)
        m, n, k = np.arange(self.k + 1, dtype=np.float64), self.n_tokens, self.k
        padded = (k - m) / np.maximum(n - m, 1.0)  # that padding holds a token which is not in U
        both_padded = padded * (k - m - 1.0) / np.maximum(n - m - 1.0, 1.0)
        avoided = 1.0 - padded
        # P(a, b in P) = 1 - P(a not) - P(b not) + P(neither): what of each multiplies the products of a and of b.
        neither = 1.0 - 2.0 * padded + both_padded
        by_size = {(False, False): both_padded, (True, False): neither - avoided, (True, True): neither}
        self._kernel = np.zeros((self.n_types, 1 << k, 1 << k))
        single = np.zeros((self.n_types, 1 << k))
        for of_a in range(1 << k):
            for of_b in _subsets(self._whole ^ of_a):
                held = by_size[(bool(of_a or of_b), bool(of_a and of_b))]
                self._kernel[:, of_a, of_b] = self._terms(sums, of_a, of_b, held)
            single[:, of_a] = self._terms(sums, of_a, 0, -avoided if of_a else padded)
        self.single: Floats = np.maximum(np.einsum("tm,tmn->tn", single, self._products()), 0.0)
        """(T, N) probability that a token is in the padded set."""

    def _terms(self, sums: Floats, of_a: int, of_b: int, by_size: Floats) -> Floats:
        """Add up the partitions in which both masks are unions of blocks: their blocks count -1, the others z_B."""
        total = np.zeros(len(sums))
        for blocks_a in partitions(of_a):
            for blocks_b in partitions(of_b):
                taken = blocks_a + blocks_b
                for others in partitions(self._whole ^ of_a ^ of_b):
                    weight = (-1.0) ** len(taken) * _coefficient(taken + others, by_size)
                    if weight:
                        total += weight * prod((sums[:, block] for block in others), start=np.ones(len(sums)))
        return total

    def _product(self, slots: Floats, mask: int) -> Floats:
        chosen = [s for s in range(self.k) if mask >> s & 1]
        return np.asarray(np.prod(slots[..., chosen, :], axis=-2))

    def _products(self) -> Floats:
        """Return the (T, 2^k, N) products of slots of every token."""
        return np.stack([self._product(self._slots, mask) for mask in range(1 << self.k)], axis=1)

    def pairs(self, kind: int, tokens: Ints | None = None) -> Floats:
        """Return how probable both tokens are in a padded set of this type: of some ``tokens`` (default: all) and all.

        A token with itself is as probable as alone.
        """
        slots = self._slots[kind]
        some = np.arange(self.n_tokens) if tokens is None else tokens
        products = np.stack([self._product(slots, mask) for mask in range(1 << self.k)])
        both = np.maximum(products[:, some].T @ self._kernel[kind] @ products, 0.0)
        both[np.arange(len(some)), some] = self.single[kind, some]
        return np.asarray(both)


def _subsets(mask: int) -> list[int]:
    bits = [1 << s for s in range(mask.bit_length()) if mask >> s & 1]
    return [sum(chosen) for size in range(len(bits) + 1) for chosen in combinations(bits, size)]
