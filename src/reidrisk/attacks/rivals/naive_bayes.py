"""NaiveBayes: link to the target from whose items the query was most likely drawn, one by one."""

from typing import Any

import numpy as np

from reidrisk.attacks.registry import per_item, register
from reidrisk.attacks.rivals.base import Rival, sizes_of, with_column, with_data
from reidrisk.base import Floats, Ints, OptionError
from reidrisk.records import Bags, Traces

SMOOTHINGS = np.geomspace(1e-4, 1.0, 25)  # the smoothings from which one is chosen

_MOST = 4.0  # times the mean size of a record that smoothing may add to it


@register(kinds=(Bags, Traces), cost=per_item(3e-10), default=True)
class NaiveBayes(Rival):
    """Link to the target that makes the query most likely: log P(q | t) = sum_i c_i log((d_i + s) / (l + s V)).

    c_i events of the query are taken for draws, with replacement, from the d_i of l events of the target, after ``s``
    was added to each of V items (multinomial, additive smoothing). The default: the ``s`` under which the targets'
    events are most likely, each given the others of its record,

        sum over targets and items of d_i log((d_i - 1 + s) / (l - 1 + s V)),

    on a grid from 0.0001 to 1, as long as s V is at most four times a record's mean size: where records hold an item
    once at most (sets), the likelihood knows no bound. Renaming items and shuffling people change nothing; doubling
    every count does. A query without items ties with everybody; one that shares none goes to the smallest record. The
    posterior over targets is the link's probability: as events of a record are seldom independent, it is too sure.

    >>> attack = NaiveBayes().fit(Bags([[8, 2, 0], [1, 9, 0]]))
    >>> attack.link(Bags([[4, 1, 0], [0, 0, 0]])).n_ties.tolist()
    [1, 2]
    """

    description = (
        "Takes the events of a record for draws from those of one target, and links to the target that makes them most "
        "likely. It knows nothing of the system; how much to smooth it learns from the targets (naive Bayes)."
    )
    likelihood = True
    one_scale = False  # a longer query is less likely

    def __init__(self, smoothing: float | None = None) -> None:
        if smoothing is not None and not 0.0 < smoothing < np.inf:
            raise OptionError(f"smoothing must be a number above 0, not {smoothing!r}")
        self.smoothing = smoothing

    def _learn(self, counts: Any) -> None:
        self.smoothing_ = learnt_smoothing(counts) if self.smoothing is None else float(self.smoothing)

    def _weigh_targets(self, counts: Any) -> Any:
        s, width = self.smoothing_, counts.shape[1]
        nothing = np.log(s) - np.log(sizes_of(counts) + s * width)
        return with_column(with_data(counts, np.log1p(counts.data / s)), nothing)

    def _weigh_queries(self, counts: Any) -> Any:
        return with_column(counts, sizes_of(counts))


def learnt_smoothing(counts: Any) -> float:
    """Return the smoothing of the grid under which each event is most likely given the others of its record.

    >>> from scipy import sparse
    >>> learnt_smoothing(sparse.csr_array([[9, 0, 0, 0], [0, 9, 0, 0]])) < 0.001
    True
    """
    n, width = counts.shape
    # Over how often each count and size occurs: the same sum whatever the order of people and items.
    events, sizes = (np.unique(values, return_counts=True) for values in (counts.data, sizes_of(counts)))

    def logs(value: Ints, times: Ints, more: float) -> float:
        left: Floats = np.maximum(value - 1, 0) + more
        return float(np.sum(value * times * np.log(left)))

    most = _MOST * int(counts.data.sum()) / n / width
    allowed = [float(s) for s in SMOOTHINGS if s <= max(most, SMOOTHINGS[0])]
    return max(allowed, key=lambda s: logs(*events, s) - logs(*sizes, s * width))
