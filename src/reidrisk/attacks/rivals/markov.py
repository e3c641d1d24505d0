"""Markov: link to the target that goes from one item to the next in the same way."""

from typing import Any, Self

import numpy as np

from reidrisk.attacks.registry import per_item, register
from reidrisk.attacks.rivals.base import Counted
from reidrisk.attacks.rivals.tf_idf import TfIdf
from reidrisk.base.arrays import Ints
from reidrisk.records import Traces


@register(kinds=(Traces,), cost=per_item(2e-10), default=True, epochs=2)
class Markov(TfIdf):
    """Link to the target with the most similar transitions: pairs of a token and the one that is observed next.

    Transitions are compared as :class:`TfIdf` compares items: the cosine of counts, where rare transitions weigh more.
    Gaps are passed over, so that a token after a gap follows the last before it; the first token of an observer follows
    none of another's. Transitions that no target shows are left out. (A likelihood of transitions, smoothed by each
    target's own items, was no better than the items alone on check-ins and purchases.) Renaming items and shuffling
    people change nothing. A query that shares no transition with anybody ties with everybody.

    >>> attack = Markov().fit(Traces([[0, 1, 2, 0, 1], [1, 0, 2, 1, 0]], n_tokens=3))
    >>> attack.link(Traces([[2, 1, 0, -1, -1]], n_tokens=3)).target.tolist()
    [1]
    """

    description = (
        "Compares which item followed which in two records, where steps that few targets take count for more. "
        "It knows nothing of the system (a first-order Markov chain, compared by tf-idf)."
    )
    kinds = (Traces,)

    def fit(self, targets: Counted) -> Self:
        """Find the transitions that targets show, then count and weigh them."""
        n_epochs, table = self._table(targets)
        self.transitions_ = np.unique(_steps(table, n_epochs)[1])
        return super().fit(targets)

    def _counts(self, table: Any, n_epochs: int) -> Any:
        from scipy import sparse

        rows, steps = _steps(table, n_epochs)
        width = max(len(self.transitions_), 1)
        at = np.minimum(np.searchsorted(self.transitions_, steps), width - 1)
        known = self.transitions_[at] == steps if len(self.transitions_) else np.zeros(len(steps), dtype=np.bool_)
        ones = np.ones(int(known.sum()), dtype=np.int64)
        return sparse.csr_array((ones, (rows[known], at[known])), shape=(len(table), width))


def _steps(table: Any, n_epochs: int) -> tuple[Ints, Ints]:
    """Return row and code (first token x n_tokens + second) of every step from an observed token to the next."""
    lines = table.tokens.reshape(-1, n_epochs)  # a line for each record and observer
    seen = lines >= 0
    line, tokens = np.nonzero(seen)[0], lines[seen].astype(np.int64)
    together = line[1:] == line[:-1]
    rows = line[1:][together] // (len(lines) // len(table))
    return rows, tokens[:-1][together] * table.n_tokens + tokens[1:][together]
