"""Two set attacks in one: what both link, or what either links (jha, Section 6.2.1)."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Self

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.base import Links
from reidrisk.attacks.pooled import Observed
from reidrisk.attacks.scored import Posed
from reidrisk.attacks.sets.strict_loose import SetAttack
from reidrisk.base.errors import OptionError
from reidrisk.records import Traces
from reidrisk.search import ByBlocks
from reidrisk.search.engines import Engine, LocalEngine

__all__ = ["Both", "Either"]

Ints = npt.NDArray[np.int64]


class _Named(ByBlocks):
    """Score 1 for the targets (rows) that were named for a query: (q, m) rows."""

    def scores(self, targets: Ints, queries: Ints, reach: Ints | None = None) -> Ints:
        return np.asarray((targets[None, :, None] == queries[:, None, :]).any(axis=2), dtype=np.int64)

    def pairs(self, targets: Ints, queries: Ints, rows: Ints) -> Ints:
        return np.asarray((targets[rows][:, None] == queries).any(axis=1), dtype=np.int64)


def _named(attack: SetAttack, queries: Traces, engine: Engine) -> Ints:
    """Return the (q, m) targets named for each query, different ones, ascending; -1 fills up."""
    if isinstance(attack, _Pair):
        return attack._named(queries, engine)
    return attack._answers(queries, engine).target[:, None]


class _Pair(SetAttack):
    """Two set attacks, each of which answers for itself; either may be such a pair again."""

    def __init__(self, a: SetAttack, b: SetAttack) -> None:
        for attack in (a, b):
            if not isinstance(attack, SetAttack):
                raise OptionError(f"{self.name} combines set attacks, not {type(attack).__name__}")
        self.a, self.b = a, b

    @property
    def compares_queries(self) -> bool:
        """Whether one of the two does."""
        return self.a.compares_queries or self.b.compares_queries

    def _learn(self, targets: Traces) -> None:
        self.a.fit(targets)
        self.b.fit(targets)

    def _look_around(self, queries: Traces) -> None:
        self.a._look_around(queries)
        self.b._look_around(queries)

    @abstractmethod
    def _named(self, queries: Traces, engine: Engine) -> Ints:
        """Return the (q, m) targets named for each query, different ones, ascending; -1 fills up."""

    def __copy__(self) -> Self:
        # A copy may be fitted without touching the original, so it has attackers of its own.
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.a, new.b = copy.copy(self.a), copy.copy(self.b)
        return new

    def _posed(self, queries: Observed) -> Posed:
        return Posed(_Named(), np.arange(len(self._records)), self._named(self._checked(queries), LocalEngine()))

    def _answers(self, queries: Traces, engine: Engine) -> Links:
        named = self._named(queries, engine)
        ties = (named >= 0).sum(axis=1)
        target = np.where(ties > 0, np.where(named >= 0, named, len(self._records)).min(axis=1), -1)
        return Links(target=target, score=(ties > 0).astype(np.int64), n_ties=ties)


class Both(_Pair):
    """Link only what both attacks link, to the same target: f = 2 AND f = 3 (jha, Section 6.2.1).

    Examples
    --------
    >>> from reidrisk.attacks import LooseSets
    >>> targets = Traces([[1, 1, 1, 4], [2, 2, 5, 5]], n_tokens=9)
    >>> attack = Both(LooseSets(2), LooseSets(3)).fit(targets)
    >>> attack.link(targets).target.tolist()
    [0, -1]
    """

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return f"Links a record only where two attackers agree. One: {self.a.description} Two: {self.b.description}"

    def _named(self, queries: Traces, engine: Engine) -> Ints:
        a, b = _named(self.a, queries, engine), _named(self.b, queries, engine)
        return np.where((a[:, :, None] == b[:, None, :]).any(axis=2), a, -1)


class Either(_Pair):
    """Link what at least one of the attacks links: f = 2 OR f = 3 (jha, Section 6.2.1).

    Where the two name different targets, which the paper leaves open, they tie: the attacker picks one at random.

    Examples
    --------
    >>> from reidrisk.attacks import LooseSets
    >>> targets = Traces([[1, 1, 1, 4], [2, 2, 5, 5]], n_tokens=9)
    >>> attack = Either(LooseSets(2), LooseSets(3)).fit(targets)
    >>> attack.link(targets).target.tolist()
    [0, 1]
    """

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return f"Links a record where either of two attackers does. One: {self.a.description} Two: {self.b.description}"

    def _named(self, queries: Traces, engine: Engine) -> Ints:
        both = [_named(attack, queries, engine) for attack in (self.a, self.b)]
        named = np.sort(np.concatenate(both, axis=1), axis=1)
        named[:, 1:][named[:, 1:] == named[:, :-1]] = -1
        return named
