"""ByRank: link rows of attributes whose numbers moved, but kept their order: a raise, another unit, inflation."""

from typing import Any, Self

import numpy as np

from reidrisk.attacks.agreement.fellegi_sunter import FellegiSunter, agreement_cost
from reidrisk.attacks.registry import register
from reidrisk.base import Ints
from reidrisk.records import Attributes


@register(kinds=(Attributes,), cost=agreement_cost, default=True, whole=True, together=True)
class ByRank(FellegiSunter):
    """Map every number of the queries to the targets' number of the same rank, then link as :class:`FellegiSunter`.

    x becomes the value that stands at share F_q(x) of the targets' values, with F_q(x) the share of the queries' values
    below x, half of those equal to it included (quantile matching). A change that keeps the order, such as 2 % more for
    all, is undone by it. All queries are needed for that.

    >>> known, asked = Attributes({"pay": [100, 200, 300, 400]}), Attributes({"pay": [112, 216, 324, 432]})
    >>> known, asked = Attributes.together(known, asked)
    >>> ByRank().fit(known).look_around(asked).link(asked).target.tolist()
    [0, 1, 2, 3]
    """

    description = (
        "Takes each number for the known number of the same rank, so that changes that keep the order, such as a raise "
        "for all, hide nobody; then compares rows as Fellegi and Sunter do."
    )

    @classmethod
    def applies(cls, targets: Attributes, queries: Attributes) -> bool:
        """Whether some column holds numbers."""
        return any(column.kind == "number" for column in targets.columns)

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
        known, asked = (np.sort(table.tokens[table.observed[:, place], place]) for table in (targets, queries))
        if column.kind != "number" or not len(known) or not len(asked):
            continue
        values = np.unique(asked)
        below = np.searchsorted(asked, values, "left") + np.searchsorted(asked, values, "right")
        into[values] = known[np.minimum(below * len(known) // (2 * len(asked)), len(known) - 1)]
    return into
