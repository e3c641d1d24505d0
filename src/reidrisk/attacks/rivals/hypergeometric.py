"""Hypergeometric: link to the target from whose events known ones were most likely drawn, without replacement."""

from typing import Any

import numpy as np

from reidrisk.attacks.registry import per_item, register
from reidrisk.attacks.rivals.base import Rival, rows_of, sizes_of
from reidrisk.base import Ints
from reidrisk.records import Bags

_LEVELS = 32  # limit: of the facts of a person, and of those alike, that count without replacement; further ones with
_MISSING = 4_096.0  # unit: nats by which a target that lacks a fact is behind: more than what is drawn can make up for


@register(kinds=(Bags,), cost=per_item(4e-10), default=True)
class Hypergeometric(Rival):
    """Link to the target that makes known facts most likely: log P(q | t) = sum_i log C(d_i, c_i) - log C(l, m).

    m facts, c_i of them of item i, are taken for a random part of the l events of a target, d_i of item i: drawn
    without replacement (the multivariate hypergeometric distribution), so that a target which lacks one of them is out
    of the question. Where facts are all true and were drawn so, no attack finds more people on average: the posterior
    over targets is exact. Where no target holds them all, those that hold most come first.

    >>> attack = Hypergeometric().fit(Bags([[1, 1, 0], [1, 0, 0], [2, 0, 1]]))
    >>> attack.link(Bags([[1, 0, 0], [2, 0, 0], [0, 1, 1]])).target.tolist()
    [1, 2, 0]
    """

    description = (
        "Takes the known facts for some of a target's events, drawn at random, and links to the target that makes them "
        "most likely. It is the best there is where all facts are true (hypergeometric likelihood)."
    )
    likelihood = True
    of_parts = "only"
    rehearses = True  # no part of a rehearsal: there, how parts come about is what is learnt
    one_scale = False  # more facts are less likely

    def _weigh_targets(self, counts: Any) -> Any:
        held = np.minimum(counts.data, _LEVELS)
        level = _levels(held)
        fact = np.log(np.repeat(counts.data, held) - level) + _MISSING
        sizes = sizes_of(counts)
        many = np.minimum(sizes, _LEVELS)
        size = -np.log(np.repeat(sizes, many) - _levels(many))
        return _laid_out(counts, held, level, many, np.concatenate([fact, size]))

    def _weigh_queries(self, counts: Any) -> Any:
        held, many = np.minimum(counts.data, _LEVELS), np.minimum(sizes_of(counts), _LEVELS)
        level = _levels(held)
        return _laid_out(counts, held, level, many, np.ones(len(level) + int(many.sum()), dtype=np.int64))


def _levels(many: Ints) -> Ints:
    """Return 0, 1, … below each of some numbers, one after the other."""
    return np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)


def _laid_out(counts: Any, held: Ints, level: Ints, many: Ints, weights: Any) -> Any:
    """Return weights of the k-th event of each item, in column k of it, and after all of the j-th event of each row."""
    from scipy import sparse

    n, width = counts.shape
    row = np.concatenate([np.repeat(rows_of(counts), held), np.repeat(np.arange(n), many)])
    column = np.concatenate(
        [np.repeat(counts.indices.astype(np.int64), held) * _LEVELS + level, width * _LEVELS + _levels(many)]
    )
    return sparse.csr_array((weights, (row, column)), shape=(n, (width + 1) * _LEVELS))
