"""Which columns two tables of the same people share: how often each value occurs agrees better than chance allows.

How likely a query is says nothing of a column that alone is right: an id that one target has is as likely a copy as a
draw. All queries together do. If they are q of n people, and a cell is its person's own with probability h, the counts
of its K values deviate from those of the targets as if drawn with

    chi^2 ~ (1 - h^2 q / n) chi^2(K - 1),

in which h = 0 is a draw from all targets. Small tables with one telling column among others would be learnt wrongly
without: by chance, some target agrees with a query in the others.
"""

from dataclasses import dataclass

import numpy as np

from reidrisk.attacks.agreement.levels import Levels
from reidrisk.base.arrays import Bools, Floats, Ints

_LEAST = 0.05  # of what chance would give, at least: counts that are equal prove no more than that
_RIGHT = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0)  # shares of cells that are tried
_CLEAR = 3.0  # nats from which a column is taken to be shared


@dataclass(frozen=True, eq=False)
class Histograms:
    """By column: ``chi`` (r,) and its degrees of freedom ``free`` (r,), and the ``share`` q / n of people asked for."""

    chi: Floats
    free: Floats
    share: Floats

    def nats(self, right: Floats) -> Floats:
        """Return how likely each column's counts are if this share of its cells is right."""
        scale = np.maximum(1.0 - self.share * np.asarray(right) ** 2, _LEAST)
        return np.asarray(-0.5 * self.free * np.log(scale) - 0.5 * self.chi / scale)

    @property
    def shared(self) -> Bools:
        """Which columns agree clearly better than those of other people would."""
        tried = np.array([self.nats(np.full(len(self.chi), right)) for right in _RIGHT])
        return np.asarray(tried.max(axis=0) - tried[0] > _CLEAR)


def histograms(levels: Levels, targets: Ints, queries: Ints) -> Histograms:
    """Compare the counts of every column's values, of those that either table has.

    >>> from reidrisk.attacks.agreement.levels import levels_of
    >>> from reidrisk.records import Attributes
    >>> rng = np.random.default_rng(0)
    >>> people = Attributes({"id": np.arange(100), "draw": rng.integers(0, 100, 100)})
    >>> drawn = people.tokens[rng.integers(0, 100, 100), 1]
    >>> others = people.with_tokens(np.column_stack([people.tokens[::-1, 0], drawn]))
    >>> histograms(levels_of(people), people.tokens, others.tokens).shared.tolist()
    [True, False]
    """
    r = queries.shape[1]
    chi, free, share = np.zeros(r), np.zeros(r), np.zeros(r)
    for place in range(r):
        known, asked = (table[:, place][table[:, place] >= 0] for table in (targets, queries))
        if not (len(known) and len(asked)):
            continue
        tokens = np.unique(np.concatenate([known, asked]))
        held = np.bincount(np.searchsorted(tokens, asked), minlength=len(tokens))
        expected = levels.share[0, tokens] * len(asked)
        chi[place] = float(((held - expected) ** 2 / expected).sum())
        free[place], share[place] = len(tokens) - 1, min(len(asked) / len(known), 1.0)
    return Histograms(chi, free, share)
