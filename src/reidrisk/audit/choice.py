"""Which epochs an attacker would choose: measured one at a time, where they differ beyond chance.

Whoever holds eight weeks may use any two, and knows which weeks are reliable. Plain Hamming on each epoch alone says
how much it tells; that needs no search, only how often each token occurs. For each number of epochs r, the r that tell
most are a further choice beside the first r, if they tell significantly more. So are all that tell more than blind
guessing, however many these are, if they tell significantly more than the rest.
"""

import math

import numpy as np

from reidrisk.audit.spec import other_counts
from reidrisk.base.arrays import Floats, Ints
from reidrisk.records import Traces

_CHANCE = 0.001  # how often epochs that tell the same may be taken to differ


def telling_epochs(
    targets: Traces, queries: Traces, truth: Ints, counts: tuple[int, ...]
) -> tuple[tuple[int, ...], ...]:
    """Return, for each number of epochs, those that tell most: only where they tell significantly more than the first.

    Significant means a paired t-test at the level ``0.001 / C(E, r)``, for each of the C(E, r) choices of r among E.
    With the usual numbers of epochs, those that tell significantly more than 1 / n each are one more choice.

    >>> rng = np.random.default_rng(0)
    >>> a, b = (rng.integers(0, 50, (300, 6)) for _ in range(2))
    >>> b[:, [2, 5]] = a[:, [2, 5]]
    >>> telling_epochs(Traces(a, 50), Traces(b, 50), np.arange(300), (2, 6))
    ((2, 5),)
    """
    found = []
    n_epochs = targets.n_epochs
    credit = credits_by_epoch(targets, queries, truth)
    order = np.argsort(-credit.mean(axis=0), kind="stable")
    for r in counts:
        best, first = set(order[:r].tolist()), set(range(r))
        if best == first:
            continue
        # Epochs that are in both tell the same: they are left out, not added up in two orders.
        gain = credit[:, sorted(best - first)].sum(axis=1) - credit[:, sorted(first - best)].sum(axis=1)
        if _above_zero(gain, _CHANCE / math.comb(n_epochs, r)):
            found.append(tuple(sorted(best)))
    others = other_counts(counts, n_epochs)
    above = [_above_zero(credit[:, epoch] - 1.0 / len(targets), _CHANCE / n_epochs) for epoch in order]
    n_telling = [*above, False].index(False)
    if n_telling in others:
        gain = credit[:, order[:n_telling]].mean(axis=1) - credit[:, order[n_telling:]].mean(axis=1)
        if _above_zero(gain, _CHANCE / (len(others) * math.comb(n_epochs, n_telling))):
            found.append(tuple(sorted(order[:n_telling].tolist())))
    return tuple(found)


def _above_zero(gain: Floats, error: float) -> bool:
    """Whether the mean is above 0 by a t-test; what rounding makes of equal sums is 0."""
    from scipy.stats import t

    exact = np.round(gain, 12)
    n = len(exact)
    return bool(n > 1 and exact.mean() * math.sqrt(n) > t.isf(error, n - 1) * exact.std(ddof=1))


def credits_by_epoch(targets: Traces, queries: Traces, truth: Ints) -> Floats:
    """Return the credit of each query by Hamming on each epoch alone: (n_queries, n_epochs)."""
    credit = np.empty(queries.tokens.shape)
    for epoch in range(targets.n_epochs):
        known, asked = targets.tokens[:, epoch], queries.tokens[:, epoch]
        values, inverse, counts = np.unique(known, return_inverse=True, return_counts=True)
        place = np.searchsorted(values, asked).clip(max=len(values) - 1)
        met = (values[place] == asked) & (asked >= 0)
        # A token that no target has, or none at all, ties all targets.
        credit[:, epoch] = np.where(met, (place == inverse[truth]) / counts[place], 1.0 / len(targets))
    return credit


def only(table: Traces, which: tuple[int, ...]) -> Traces:
    """Return the chosen epochs of a table."""
    if which == tuple(range(len(which))):
        return table.epochs(len(which))
    return Traces(table.tokens[:, which], table.n_tokens, table.users, table.vocabulary)
