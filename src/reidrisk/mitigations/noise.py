"""Chance: replace some items with random ones, or keep only some of them."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from reidrisk.base import Ints, from_0_to_1
from reidrisk.mitigations.base import Mitigation, Side, View
from reidrisk.mitigations.registry import register
from reidrisk.mitigations.rows import randomised, thinned
from reidrisk.records import Attributes, Bags, Case, Traces

_STEPS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)


@register(kinds=(Traces, Bags), strengths=(0.1, 0.3, 0.6))
@dataclass(frozen=True)
class RandomItem(Mitigation):
    """Replace each observation, with probability ``p``, with an item drawn uniformly from the vocabulary.

    A record of one token drawn uniformly from N, known to an attacker who holds it unchanged, keeps it with probability
    1 - p + p / N. The attacker knows p.

    >>> table = Traces([[0, 1], [2, 3]], n_tokens=4)
    >>> case = Case(table, table, None)
    >>> RandomItem(p=0.0).apply(case).queries.tokens.tolist()
    [[0, 1], [2, 3]]
    """

    of_items = True
    p: float

    def __post_init__(self) -> None:
        from_0_to_1("p", self.p)

    def released(self, case: Case, seed: int = 0, side: Side = "queries") -> View:
        """Return the changed case; by the case as it was, what is kept is counted."""
        view = super().released(case, seed, side)
        return replace(view, replaced=self.p, plain=View(case, view.part_of))

    def known_to_attacker(self, case: Case, seed: int = 0, side: Side = "queries", rows: Ints | None = None) -> View:
        """Return the case as released: whoever knows p weighs agreement less."""
        # Attacks are told of one noise for both sides: as much as makes two records of one person agree as often.
        both = self.p if side == "both" else 1.0 - (1.0 - self.p) ** 0.5
        return replace(self.released(case, seed, side), noise=both)

    def helps_to_know(self, side: Side = "queries") -> bool:
        """Whether there is any noise to know of."""
        return self.p > 0.0

    @classmethod
    def ladder(cls, case: Case) -> tuple[Self, ...]:
        """Return probabilities from 0.02 to 0.98."""
        return tuple(cls(p) for p in _STEPS)

    def _changed(self, table: Any, learnt: Any, rng: np.random.Generator) -> Any:
        return randomised(table, self.p, rng)


@register(kinds=(Traces, Bags, Attributes), strengths=(0.8, 0.5, 0.2))
@dataclass(frozen=True)
class Draw(Mitigation):
    """Keep each observation with probability ``p``, whatever becomes of the others.

    >>> table = Bags([[4, 0], [0, 3]])
    >>> Draw(p=0.0).apply(Case(table, table, None)).queries.counts.nnz
    0
    """

    p: float

    def __post_init__(self) -> None:
        from_0_to_1("p", self.p)

    @classmethod
    def ladder(cls, case: Case) -> tuple[Self, ...]:
        """Return probabilities from 0.98 down to 0.02."""
        return tuple(cls(round(1.0 - p, 2)) for p in _STEPS)

    def _changed(self, table: Any, learnt: Any, rng: np.random.Generator) -> Any:
        return thinned(table, self.p, rng)
