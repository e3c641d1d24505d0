"""Which targets to look at closely: the nearest by any score, and some of the rest to stand for all."""

from __future__ import annotations

import numpy as np

from reidrisk.base.arrays import Floats, Ints

CLOSE, FAR = 120, 40  # close targets of all readings together, and others beside them
_SHORT, _GROUP = 512, 32  # of a row of scores: sorted as a whole up to, else in groups of


def largest(values: Floats, k: int) -> Ints:
    """Return the places of the k largest values of each row, in any order.

    Of long rows only the columns are looked at that hold one of the k largest maxima of as many columns as fit.

    >>> np.sort(largest(np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]]), 2)).tolist()
    [[0, 2], [1, 2]]
    """
    n = values.shape[1]
    k = min(k, n)
    if n <= _SHORT or n // _GROUP <= k:
        return np.argpartition(-values, k - 1, axis=1)[:, :k]
    groups = n // _GROUP
    even = values[:, : groups * _GROUP].reshape(len(values), _GROUP, groups)
    top = np.argpartition(-even.max(axis=1), k - 1, axis=1)[:, :k]
    inside = (top[:, :, None] + groups * np.arange(_GROUP)).reshape(len(values), -1)
    rest = np.broadcast_to(np.arange(groups * _GROUP, n), (len(values), n - groups * _GROUP))
    places = np.concatenate([inside, rest], axis=1)
    found = np.argpartition(-np.take_along_axis(values, places, axis=1), k - 1, axis=1)[:, :k]
    return np.take_along_axis(places, found, axis=1)


def chosen(own: Ints, near: Ints, drawn: Ints, n: int) -> tuple[Ints, Floats]:
    """Return the rows (q, c) of the own target, of near ones, and of others drawn; and log how many each stands for.

    Each row comes once. Where a query has fewer than others, the rest stands for none: minus infinity.

    >>> rows, stand = chosen(np.array([4]), np.array([[7, 4, 7, 2]]), np.array([[2, 9, 4, 8]]), n=102)
    >>> rows.tolist(), np.exp(stand).round(1).tolist()
    ([[4, 7, 2, 9, 8]], [[1.0, 1.0, 1.0, 49.5, 49.5]])
    """
    rows = np.concatenate([own[:, None], near, drawn], axis=1)
    order = np.argsort(rows, axis=1, kind="stable")
    ranked = np.take_along_axis(rows, order, axis=1)
    first = np.ones(rows.shape, dtype=np.bool_)
    first[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    once = np.empty_like(first)
    np.put_along_axis(once, order, first, axis=1)
    close, far = once[:, 1 : 1 + near.shape[1]], once[:, 1 + near.shape[1] :]
    close &= np.cumsum(close, axis=1) <= CLOSE
    if n - 1 > CLOSE + FAR:
        far &= np.cumsum(far, axis=1) <= FAR
    n_close, n_far = close.sum(axis=1), far.sum(axis=1)
    stands = np.log(np.maximum(n - 1 - n_close, 1) / np.maximum(n_far, 1))
    stand = np.where(once, 0.0, -np.inf)
    stand[:, 1 + near.shape[1] :][far] = np.repeat(stands, n_far)
    keep = np.argsort(~once, axis=1, kind="stable")[:, : 1 + int((n_close + n_far).max())]
    return np.take_along_axis(rows, keep, axis=1), np.take_along_axis(stand, keep, axis=1)
