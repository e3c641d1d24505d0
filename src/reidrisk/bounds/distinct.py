"""Distinct representations in a table of tokens, and the matching bound that follows from their number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.notes import Note
from reidrisk.base.options import between_0_and_1
from reidrisk.base.results import Bound
from reidrisk.records import Traces

_LARGEST = int(np.iinfo(np.int64).max)


def distinct_outputs(traces: Traces, level: float = 0.95, notes: tuple[Note, ...] = ()) -> Bound:
    """Return the matching bound estimated from what was seen: the number D of distinct traces over n.

    The bound of carey, Lemma 4, *is* the expected number of distinct representations over the number of users, so one
    table of traces, one row per user, estimates it without knowing the channel. Changing one user changes D by at most
    1, so ``|D - E D| <= sqrt(n log(2 / (1 - level)) / 2)`` with probability ``level`` (McDiarmid). A missing token
    counts as one more value that a token can take. ``notes`` say what else the result rests on.

    >>> bound = distinct_outputs(Traces([[0, 1], [2, 2], [0, 1], [0, 1]], n_tokens=4))
    >>> bound.value, bound.setting
    (0.5, 'matching')
    """
    level = between_0_and_1("level", level)
    n = traces.n_users
    distinct = int(np.unique(row_keys(traces.tokens, traces.n_tokens)).size)
    slack = math.sqrt(n * math.log(2.0 / (1.0 - level)) / 2.0)
    return Bound(
        name="distinct representations",
        setting="matching",
        value=distinct / n,
        low=max(distinct - slack, 1.0) / n,
        high=min(distinct + slack, float(n)) / n,
        baseline=1.0 / n,
        reference="carey, Lemma 4",
        inputs={"distinct": float(distinct), "level": level},
        n_epochs=traces.n_epochs,
        notes=(*notes, Note("estimated-from-records")),
    )


def row_keys(tokens: npt.NDArray[np.signedinteger[Any]], n_tokens: int) -> npt.NDArray[np.int64]:
    """Return one integer per row of (n, r) tokens in ``[-1, n_tokens)``, equal exactly where rows are equal.

    Columns are digits of a number in base ``n_tokens + 1`` (-1 is a digit too); whenever the next digit would not fit,
    the numbers so far are replaced by their ranks.

    >>> row_keys(np.array([[3, -1], [0, 1], [3, -1]]), n_tokens=5).tolist()
    [24, 8, 24]
    """
    base = n_tokens + 1
    keys = np.zeros(len(tokens), dtype=np.int64)
    size = 1
    for column in tokens.T:
        if size > _LARGEST // base:
            values, keys = np.unique(keys, return_inverse=True)
            keys, size = keys.astype(np.int64), int(values.size)
        keys *= base
        keys += column
        keys += 1
        size *= base
    return keys
