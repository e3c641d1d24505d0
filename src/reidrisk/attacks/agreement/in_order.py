"""Order as evidence: people who stand in two files in a like order are linked without a look at what they did."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from reidrisk.attacks.agreement.fellegi_sunter import FellegiSunter, agreement_cost
from reidrisk.attacks.registry import register
from reidrisk.base import DataError, Ints
from reidrisk.records import Attributes, Bags, Traces, Vectors

_FEWEST = 20  # level: people of either file below which an order is an accident
_KINDS = (Bags, Traces, Attributes, Vectors)


def _cost(targets: Any) -> Callable[[int], float]:
    return agreement_cost(targets, 1)


class InOrder(FellegiSunter):
    """Link to the target at the same share of the order: place p of q queries is place p n / q of n targets.

    How far places are off is learnt as the error of a number (:class:`FellegiSunter` with one column).
    """

    by_order: ClassVar[tuple[str, ...]] = ("given",)
    reads_cells = True
    rehearses: ClassVar[bool] = True  # no part of simulated training: records that were cut have no order

    @staticmethod
    @abstractmethod
    def keys(records: Any) -> Ints | None:
        """Return what people are ordered by, -1 where somebody has no place; ``None`` where there is no order."""

    @classmethod
    def applies(cls, targets: Any, queries: Any) -> bool:
        """Whether both tables have an order of their own."""
        if targets.raw is not None and queries.raw is not None and targets.raw.columns is queries.raw.columns:
            return False  # two parts of one file
        return all(len(table) >= _FEWEST and cls.keys(table) is not None for table in (targets, queries))

    def fit(self, targets: Any) -> Self:
        """Put the targets in order."""
        self._n, self._order = len(targets), np.zeros(0, dtype=np.int64)
        self._scale = Attributes({"place": np.arange(self._n)})
        return super().fit(self._placed(targets, np.sort(self._keys(targets))))

    def look_around(self, queries: Any) -> Self:
        """Put all queries in order."""
        if not len(self._order):
            self._order = np.sort(self._keys(queries))
        return super().look_around(queries)

    def _keys(self, records: Any) -> Ints:
        found = self.keys(records)
        if found is None:
            raise DataError(f"{self.name} needs the order of the people in both files, and these records have none")
        return found

    def _placed(self, records: Any, among: Ints) -> Attributes:
        """Return the place of each record as a number of the targets' scale."""
        keys = self._keys(records)
        among = among[among >= 0]
        place = np.searchsorted(among, keys) * self._n // max(len(among), 1)
        found = self._scale.take(np.clip(place, 0, self._n - 1))
        return found.with_tokens(np.where(keys[:, None] < 0, -1, found.tokens))

    def _checked(self, queries: Any) -> Any:
        if not len(self._order):
            self._order = np.sort(self._keys(queries))
        return super()._checked(self._placed(queries, self._order))


@register(kinds=_KINDS, cost=_cost, default=True, whole=True, together=True)
class RowOrder(InOrder):
    """Link people by the order in which they first appear in the two files.

    >>> from reidrisk import io
    >>> one = [f"a{i:02d}" for i in np.random.default_rng(0).permutation(40)]
    >>> two = [f"b{i:02d}" for i in np.random.default_rng(1).permutation(40)]
    >>> known, asked = (io.read_export({"user": who * 2, "item": ["x"] * 80}).records.bags() for who in (one, two))
    >>> links = RowOrder().fit(known).look_around(asked).link(asked)
    >>> [known.users[i].as_py() for i in links.target[:2].tolist()] == [one[two.index(u)] for u in ("b00", "b01")]
    True
    """

    by_order = ("given", "ids")  # an order that is not that of the ids says more than equal ids do
    description = (
        "Links people by their place in the file alone: whoever stands first in one table is taken for the first of "
        "the other. It finds people where rows were released in the order in which they are kept."
    )

    @classmethod
    def applies(cls, targets: Any, queries: Any) -> bool:
        """Whether both files have an order, and not that of their ids."""
        return super().applies(targets, queries) and not any(_by_id(table) for table in (targets, queries))

    @staticmethod
    def keys(records: Any) -> Ints | None:
        """Return the first row of each person in the file; ``None`` where no file is known."""
        raw = records.raw
        if raw is None or not len(raw.row):
            return None
        there = np.flatnonzero(raw.per_record)
        first = np.full(len(raw), -1, dtype=np.int64)
        first[there] = np.minimum.reduceat(raw.row, raw.start[there])
        return first


@register(kinds=_KINDS, cost=_cost, default=True, whole=True, together=True)
class IdOrder(InOrder):
    """Link people by the order of their ids, numbers or text.

    >>> from reidrisk.records import Bags
    >>> known, asked = (Bags(np.ones((30, 1)), users=np.arange(30) + start) for start in (0, 777_777))
    >>> (IdOrder().fit(known).look_around(asked).link(asked).target == np.arange(30)).all().item()
    True
    """

    description = (
        "Links people by the order of their ids alone: the lowest id of one table is taken for the lowest of the "
        "other. It finds people where pseudonyms were given out in the order of the old ids."
    )

    @staticmethod
    def keys(records: Any) -> Ints | None:
        """Return the place of each id among the sorted ids."""
        if records.users is None:
            return None
        ids = np.asarray(records.users)
        return np.asarray(
            np.unique(ids.astype(str) if ids.dtype == object else ids, return_inverse=True)[1], dtype=np.int64
        )


def _by_id(records: Any) -> bool:
    """Tell whether people first appear in the order of their ids."""
    first, ids = RowOrder.keys(records), IdOrder.keys(records)
    return first is not None and ids is not None and bool((np.diff(first[np.argsort(ids, kind="stable")]) >= 0).all())
