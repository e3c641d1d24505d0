"""Items that few people hold are left out."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from reidrisk.base import Ints, whole
from reidrisk.mitigations import rows
from reidrisk.mitigations.base import Mitigation, Side, released_tables
from reidrisk.mitigations.registry import register
from reidrisk.records import Attributes, Bags, Case, Traces


@register(kinds=(Traces, Bags, Attributes), strengths=(5, 20, 100))
@dataclass(frozen=True)
class SuppressRare(Mitigation):
    """Leave out items that fewer than ``k`` people of the released side hold.

    Where a person has several records, each counts. What is left out, an attacker sees: it never occurs.

    >>> table = Bags([[1, 2, 0], [1, 0, 5], [1, 0, 1]])
    >>> SuppressRare(k=2).apply(Case(table, table, None)).queries.counts.toarray().tolist()
    [[1, 0, 0], [1, 0, 5], [1, 0, 1]]
    """

    of_items = True
    k: int

    def __post_init__(self) -> None:
        whole("k", self.k)

    @classmethod
    def usual(cls, case: Case) -> tuple[Self, ...]:
        """Return those of 5, 20 and 100 that leave something out and something in."""
        held = rows.holders(case.queries)
        held = held[held > 0]
        return tuple(cls(k) for k in cls.strengths if (held < k).any() and (held >= k).any())

    @classmethod
    def ladder(cls, case: Case) -> tuple[Self, ...]:
        """Return numbers of people from 2 up to those who hold the most common item."""
        most = int(rows.holders(case.queries).max(initial=1))
        return tuple(cls(int(k)) for k in np.unique(np.geomspace(2, max(most, 2), 20).astype(int)))

    def _repeatable(self) -> bool:
        return True

    def _learn(self, case: Case, side: Side) -> Ints:
        held = sum((rows.holders(table) for table in released_tables(case, side)), start=np.int64(0))
        return np.where(held >= self.k, np.arange(case.queries.n_tokens), -1)

    def _changed(self, table: Any, learnt: Any, rng: np.random.Generator) -> Any:
        return rows.relabelled(table, learnt, table.n_tokens, table.vocabulary)
