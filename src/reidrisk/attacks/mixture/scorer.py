r"""Scores of pairs of traces under a mixture of types: the logarithm of a Bayes factor, on the integer grid.

A system shows each observer a token of the user's padded set S, or any token: with :math:`\beta = q_{out}` and
:math:`\gamma = q_{in} - q_{out}` (carey, equation 6) two observers of a user of type t see a and b in one epoch with

.. math:: p(a, b \mid t) = \beta^2 + \beta \gamma (\pi_a + \pi_b) + \gamma^2 \pi_{ab},
          \qquad p(a \mid t) = \beta + \gamma \pi_a,

where :math:`\pi` are the probabilities that S holds the tokens (:mod:`reidrisk.attacks.mixture.inclusion`). Epochs are
independent given the type, so that with :math:`w_t` the posterior of the target's type

.. math:: P(b \mid a) = \sum_t w_t(a) \prod_i \frac{p_i(a_i, b_i \mid t)}{p_i(a_i \mid t)};

the score is its logarithm, less that of the product of the b's own probabilities, which is the same for all targets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.mixture import device
from reidrisk.attacks.mixture.inclusion import Inclusion
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.kernels import njit
from reidrisk.base.parallel import Crew
from reidrisk.base.progress import Progress
from reidrisk.search import gpu
from reidrisk.search.answer import UNIT, Best, ByBlocks
from reidrisk.search.plan import Device
from reidrisk.search.weights import GRID, to_grid

_WORTH_A_GPU = 1e9  # factors that take a processor a few seconds
_LEAST = 1e-300  # of a Bayes factor: pairs that the model rules out


@dataclass(frozen=True, eq=False)
class Typed:
    """Targets as the scorer takes them: tokens (n, r), missing ones ``n_tokens``, and posteriors of types (n, T)."""

    tokens: npt.NDArray[np.int32]
    posterior: Any  # scipy.sparse.csr_array

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def by_type(self) -> Any:
        """The posteriors, type by type: a ``scipy.sparse.csc_array``."""
        return self.posterior.tocsc()

    def take(self, rows: Ints) -> Typed:
        """Return the chosen rows, in that order."""
        return Typed(self.tokens[rows], self.posterior[rows])


@dataclass(frozen=True, eq=False)
class MixtureScorer(ByBlocks):
    """What the attack knows: the membership of each epoch's sets, and how often a token is shown in and out of them."""

    epochs: tuple[Inclusion, ...]
    inside: float
    outside: float
    seen: tuple[Floats, ...] = field(init=False)  # of each epoch, the (T, N) probabilities that a token is shown
    _common: tuple[Floats, ...] = field(init=False)  # and those of anybody
    on: Device = "auto"
    per_nat: ClassVar[int] = GRID
    at_once: ClassVar[int] = 16_000_000  # tables of a type are made for every block of queries

    def __post_init__(self) -> None:
        gain = self.inside - self.outside
        object.__setattr__(self, "seen", tuple(self.outside + gain * epoch.single for epoch in self.epochs))
        object.__setattr__(self, "_common", tuple(shown.mean(axis=0) for shown in self.seen))

    def factors(self, kind: int, epoch: int, tokens: Ints) -> Floats:
        """Return p(b | a, t) / p(b) of these tokens b (rows) and every token a of the target, the last one missing.

        A token -1 stands for a missing b, which says nothing.
        """
        gain, least = self.inside - self.outside, self.outside
        held = self.epochs[epoch].single[kind]
        table = np.ones((len(tokens), len(held) + 1))
        there = tokens >= 0
        b = tokens[there]
        alone = self.seen[epoch][kind]
        both = self.epochs[epoch].pairs(kind, b)
        joint = least**2 + least * gain * (held[b][:, None] + held[None, :]) + gain**2 * both
        common = np.maximum(self._common[epoch][b], _LEAST)[:, None]
        table[there, :-1] = joint / np.maximum(alone, _LEAST)[None, :] / common
        table[there, -1:] = alone[b][:, None] / common
        return table

    def best(self, targets: Typed, queries: Ints, progress: Progress | None = None) -> Best:
        """Find best score, number of ties and lowest tied target of each query, on a GPU where that is worth it."""
        work = targets.posterior.nnz * len(queries) * queries.shape[1]
        if self.on == "cuda" or (self.on == "auto" and work > _WORTH_A_GPU and gpu.available()):
            return device.best(self.factors, targets, queries, _LEAST)
        return super().best(targets, queries, progress)

    def scores(self, targets: Typed, queries: Ints, reach: Ints | None = None) -> Ints:
        """Return the (q, n) scores, all of them exact."""
        factor = np.zeros((len(queries), len(targets)))
        shown = [np.unique(queries[:, i], return_inverse=True) for i in range(queries.shape[1])]
        places = np.stack([place for _, place in shown], axis=1)
        most = max(len(tokens) for tokens, _ in shown)
        tables = np.ones((queries.shape[1], most, self.epochs[0].n_tokens + 1))
        by_type = targets.by_type
        with Crew() as crew:
            cuts = np.linspace(0, len(queries), crew.size + 1).astype(np.int64)
            parts = [slice(*cut) for cut in pairwise(cuts)]
            # In the order of types, whatever the threads: sums are the same to the last bit.
            for kind in np.flatnonzero(np.diff(by_type.indptr)).tolist():
                of_type = slice(by_type.indptr[kind], by_type.indptr[kind + 1])
                rows, weight = by_type.indices[of_type], by_type.data[of_type]
                for i, (tokens, _) in enumerate(shown):
                    tables[i, : len(tokens)] = self.factors(kind, i, tokens)
                held = targets.tokens[rows]

                def add(part: slice, held: Any = held, rows: Any = rows, weight: Any = weight) -> None:
                    add_type(factor[part], tables, places[part], held, rows, weight)

                crew.each(add, parts)
        return to_grid(np.log(np.maximum(factor, _LEAST, out=factor), out=factor))

    def pairs(self, targets: Typed, queries: Ints, rows: Ints) -> Ints:
        """Return the score of each query with the target row given for it."""
        chosen = targets.take(rows)
        found = np.zeros(len(queries), dtype=np.int64)
        size = 256
        for start in range(0, len(queries), size):
            part = np.arange(start, min(start + size, len(queries)))
            found[part] = np.diagonal(self.scores(chosen.take(part), queries[part]))
        return found

    def total(self, targets: Typed, queries: Ints, score: Ints) -> Ints:
        """Add up exp(score of a target - score given) over the targets, in whole steps of 1 / UNIT."""
        sums = np.zeros(len(queries), dtype=np.int64)
        for part, scores in self._blocks(targets, queries):
            relative = np.minimum(scores - score[part, None], 0) / GRID
            sums[part] = np.rint(np.exp(relative) * UNIT).astype(np.int64).sum(axis=1)
        return sums


@njit(cache=True, nogil=True)
def add_type(factor: Any, tables: Any, places: Any, held: Any, rows: Any, weight: Any) -> None:
    """Add one type's share: factor[q, rows[j]] += weight[j] prod_i tables[i, places[q, i], held[j, i]]."""
    for q in range(len(places)):
        for j in range(len(rows)):
            product = weight[j]
            for i in range(places.shape[1]):
                product *= tables[i, places[q, i], held[j, i]]
            factor[q, rows[j]] += product
