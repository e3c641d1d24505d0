"""ByRank: link rows of attributes whose numbers moved, but kept their order: a raise, another unit, inflation."""

from typing import Any, Self

import numpy as np

from reidrisk.attacks.agreement.fellegi_sunter import FellegiSunter, agreement_cost
from reidrisk.attacks.registry import register
from reidrisk.base import Ints
from reidrisk.records import Attributes


@register(kinds=(Attributes,), cost=agreement_cost, default=True, whole=True, together=True)
class ByRank(FellegiSunter):
    """Map every value of the queries to the targets' value of the same rank, then link as :class:`FellegiSunter`.

    x becomes the value that stands at share F_q(x) of the targets' values, with F_q(x) the share of the queries' values
    below x, half of those equal to it included (quantile matching). A change that keeps the order, such as 2 % more for
    all, is undone by it. Categories are in the order of how many hold them: answers under other labels are, too. All
    queries are needed for that.

    >>> known, asked = Attributes({"pay": [100, 200, 300, 400]}), Attributes({"pay": [112, 216, 324, 432]})
    >>> known, asked = Attributes.together(known, asked)
    >>> ByRank().fit(known).look_around(asked).link(asked).target.tolist()
    [0, 1, 2, 3]
    """

    description = (
        "Takes each number for the known number of the same rank, so that changes that keep the order, such as a raise "
        "for all, hide nobody; then compares rows as Fellegi and Sunter do."
    )

    def fit(self, targets: Attributes) -> Self:
        """Count the values of the targets; ranks are those of the queries, which come later."""
        self._same_rank: Ints | None = None
        return super().fit(targets)

    def look_around(self, queries: Attributes) -> Self:
        """Rank all queries, and learn how often cells agree."""
        self._refuse_unfitted("_known")
        if self._same_rank is None and len(queries):
            self._same_rank = same_rank(self._targets, queries)
        return super().look_around(queries)

    def _checked(self, queries: Attributes) -> Any:
        tokens = super()._checked(queries)
        if self._same_rank is None:
            self._same_rank = same_rank(self._targets, queries)
        there = (tokens >= 0) & (tokens < len(self._same_rank))  # gaps have tokens of their own
        return np.where(there, self._same_rank[np.where(there, tokens, 0)], tokens).astype(tokens.dtype)


def same_rank(targets: Attributes, queries: Attributes) -> Ints:
    """Return for each token, if it is a number of a query, the targets' token of the same rank, else itself."""
    into = np.arange(targets.n_tokens)
    for place, column in enumerate(targets.columns):
        known, asked = (table.tokens[table.observed[:, place], place].astype(np.int64) for table in (targets, queries))
        if not len(known) or not len(asked):
            continue
        known, asked = (np.sort(one) if column.kind == "number" else _by_frequency(one) for one in (known, asked))
        first = np.flatnonzero(np.diff(asked, prepend=-1))
        middle = first + np.append(first[1:], len(asked))  # twice the middle of each value's places
        into[asked[first]] = known[np.minimum(middle * len(known) // (2 * len(asked)), len(known) - 1)]
    return into


def _by_frequency(tokens: Ints) -> Ints:
    """Return tokens in the order of how many rows hold them, equals by their own order."""
    held = np.bincount(tokens)
    return np.asarray(tokens[np.lexsort((tokens, held[tokens]))])
