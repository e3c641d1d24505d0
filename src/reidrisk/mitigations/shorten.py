"""Fewer periods, or fewer items of each person."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from reidrisk.base import DataError, OptionError, whole
from reidrisk.mitigations import rows
from reidrisk.mitigations.base import Mitigation
from reidrisk.mitigations.registry import register
from reidrisk.records import Bags, Case, Traces


@register(kinds=(Traces, Bags), strengths=(20, 10, 5))
@dataclass(frozen=True)
class Shorten(Mitigation):
    """Release at most ``items`` items of each person, drawn at random, or the first ``periods`` periods alone.

    Of Traces, the other periods stay as columns in which nothing is observed.

    >>> table = Traces([[0, 1, 2], [3, 4, 5]], n_tokens=6)
    >>> Shorten(periods=1).apply(Case(table, table, None)).queries.tokens.tolist()
    [[0, -1, -1], [3, -1, -1]]
    """

    items: int | None = None
    periods: int | None = None

    def __post_init__(self) -> None:
        if (self.items is None) == (self.periods is None):
            raise OptionError(f"Shorten takes items or periods, one of them, not {self.items!r} and {self.periods!r}")
        for name in ("items", "periods"):
            if getattr(self, name) is not None:
                whole(name, getattr(self, name))

    def check(self, case: Any, seed: int, side: str) -> None:
        """Refuse periods of records without them."""
        super().check(case, seed, side)
        if self.periods is not None and not isinstance(case.queries, Traces):
            raise DataError(f"{type(case.queries).__name__} have no periods to leave out; shorten them by items=")

    @classmethod
    def usual(cls, case: Case) -> tuple[Self, ...]:
        """Return a half, a quarter and an eighth of the periods or, without periods, 20, 10 and 5 items."""
        if isinstance(case.queries, Traces):
            r = case.queries.n_epochs
            return tuple(cls(periods=k) for k in dict.fromkeys((r // 2, r // 4, r // 8)) if k)
        longest = int(rows.sizes(case.queries).max(initial=0))
        return tuple(cls(items=k) for k in cls.strengths if k < longest)

    @classmethod
    def ladder(cls, case: Case) -> tuple[Self, ...]:
        """Return numbers of periods or items, one fewer than there are at most, down to 1."""
        if isinstance(case.queries, Traces):
            return tuple(cls(periods=k) for k in range(case.queries.n_epochs - 1, 0, -1))
        longest = int(rows.sizes(case.queries).max(initial=0))
        steps = np.unique(np.geomspace(1, max(longest - 1, 1), 16).astype(int))[::-1]
        return tuple(cls(items=int(k)) for k in steps)

    def _repeatable(self) -> bool:
        return self.periods is not None  # which items were drawn nobody can know

    def _changed(self, table: Any, learnt: Any, rng: np.random.Generator) -> Any:
        if self.items is not None:
            return rows.at_most(table, self.items, rng)
        return rows.masked(table, np.arange(table.n_epochs) < (self.periods or 0))
