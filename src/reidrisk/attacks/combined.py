"""Two set attacks in one: what both link, or what either links (jha, Section 6.2.1)."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.base import Links
from reidrisk.attacks.sets import SetAttack
from reidrisk.errors import OptionError
from reidrisk.traces import Traces

__all__ = ["Both", "Either"]

Ints = npt.NDArray[np.int64]


class _Pair(SetAttack):
    """Two set attacks, each of which answers for itself."""

    def __init__(self, a: SetAttack, b: SetAttack) -> None:
        for attack in (a, b):
            if not isinstance(attack, SetAttack):
                raise OptionError(f"{self.name} combines set attacks, not {type(attack).__name__}")
        self.a, self.b = a, b

    def _learn(self, targets: Traces) -> None:
        self.a.fit(targets)
        self.b.fit(targets)

    def _look_around(self, queries: Traces) -> None:
        self.a._look_around(queries)
        self.b._look_around(queries)

    def _scores(self, queries: Traces, rows: Ints) -> Ints:
        a, b = self._named(queries)
        return np.asarray((rows == a[:, None]) | (rows == b[:, None]), dtype=np.int64)

    def _answers(self, queries: Traces) -> Links:
        a, b = self._named(queries)
        target = np.where((a >= 0) & (b >= 0), np.minimum(a, b), np.maximum(a, b))
        ties = (a >= 0).astype(np.int64) + ((b >= 0) & (b != a))
        return Links(target=target, score=(target >= 0).astype(np.int64), n_ties=ties)

    @abstractmethod
    def _named(self, queries: Traces) -> tuple[Ints, Ints]:
        """Return the two targets named for each query, -1 = none."""

    def _each(self, queries: Traces) -> tuple[Ints, Ints]:
        links = self.a._answers(queries), self.b._answers(queries)
        for one in links:
            if (one.n_ties[one.target >= 0] != 1).any():
                raise OptionError(f"{self.name} combines attacks that name one target each; nest Either outermost")
        return links[0].target, links[1].target


class Both(_Pair):
    """Link only what both attacks link, to the same target: f = 2 AND f = 3 (jha, Section 6.2.1).

    Parameters
    ----------
    a, b : SetAttack
        Such as ``LooseSets(2)`` and ``LooseSets(3)``.

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

    def _named(self, queries: Traces) -> tuple[Ints, Ints]:
        a, b = self._each(queries)
        agreed = np.where(a == b, a, -1)
        return agreed, agreed


class Either(_Pair):
    """Link what at least one of the attacks links: f = 2 OR f = 3 (jha, Section 6.2.1).

    Where the two name different targets, which the paper leaves open, they tie: the attacker picks one at random.

    Parameters
    ----------
    a, b : SetAttack
        Such as ``LooseSets(2)`` and ``LooseSets(3)``.

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

    def _named(self, queries: Traces) -> tuple[Ints, Ints]:
        return self._each(queries)
