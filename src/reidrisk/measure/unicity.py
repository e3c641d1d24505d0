"""Unicity: how many people are the only ones whose record holds a few random facts of theirs."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base import DataError, Ints, Note, OptionError, Spoken, each, mean_interval, njit, slices, whole
from reidrisk.base.streams import blocks, checked_seed, stream
from reidrisk.records import Attributes, Bags, Events, Traces
from reidrisk.records.calendar import Every, periods

_PART = 2_048  # people handed to a thread at a time


@dataclass(frozen=True, eq=False)
class Unicity(Spoken):
    """Share of people whom ``facts`` random facts of theirs single out, with its interval at ``level``.

    ``n`` people have as many facts and were asked about, of ``n_people``; ``too_few`` have fewer, and are not in the
    share: whoever has little on record cannot be asked for more.

    >>> found = unicity(Bags([[1, 1, 0], [1, 0, 1], [1, 0, 0]]), facts=2)
    >>> Unicity.from_json(found.to_json()) == found
    True
    """

    share: float
    low: float
    high: float
    facts: int
    n: int
    too_few: int
    n_people: int
    level: float = 0.95
    seed: int = 0
    notes: tuple[Note, ...] = ()


def unicity(
    table: Traces | Bags | Events,
    facts: int = 4,
    every: Every | None = None,
    sample: int | None = None,
    seed: int = 0,
    level: float = 0.95,
) -> Unicity:
    r"""Measure how often a few random facts of a person are in nobody else's record (de Montjoye et al. 2013).

    unicity = (1/n) sum over people i with at least ``facts`` facts of [ I_i is contained in no other record ],

    where I_i are ``facts`` different facts of i, each set of them equally likely. A fact of Traces is a token in its
    epoch, of Attributes a value of a column, of Bags an item, however often it is held; of Events an item, or, with
    ``every`` (``"day"``, ``"week"``, ``"month"`` or a number of units of time), an item in a period. Only a ``sample``
    of the people is asked about, drawn with ``seed``; they are compared with everybody.

    Facts are true: with errors, see :class:`reidrisk.scenarios.Knows` and an attack.

    >>> watched = Bags([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1]])
    >>> found = unicity(watched, facts=2, seed=1)
    >>> found.n, found.too_few
    (3, 1)
    >>> unicity(watched, facts=3).share
    1.0
    """
    facts, rows = whole("facts", facts), _rows(table, every)
    enough = np.flatnonzero(np.diff(rows.start) >= facts)
    n_people = len(rows.start) - 1
    if not enough.size:
        most = int(np.diff(rows.start).max(initial=0))
        raise DataError(f"nobody has {facts:,} facts, the most of anybody is {most:,}; ask for fewer (facts=)")
    asked = enough
    if sample is not None and whole("sample", sample) < len(enough):
        asked = np.sort(stream(seed, "unicity: people").choice(enough, sample, replace=False))
    chances = np.empty((len(asked), facts))
    for block, start, stop in blocks(len(asked)):
        chances[start:stop] = stream(checked_seed(seed), "unicity: facts", block).random((stop - start, facts))
    alone = np.zeros(len(asked), dtype=np.bool_)

    def work(part: slice) -> None:
        _alone(rows, asked[part], chances[part], alone[part])

    each(work, slices(len(asked), _PART))
    too_few = n_people - len(enough)
    notes = (Note("fewer-facts", n=too_few, of=n_people, facts=facts),) if too_few else ()
    low, high = mean_interval(alone, level)
    return Unicity(float(alone.mean()), low, high, facts, len(asked), too_few, n_people, level, int(seed), notes)


class _Rows(NamedTuple):
    """Facts of each person, rising, and the people who hold each fact, both as the rows of a sparse matrix."""

    start: Any
    fact: Any
    first: Any
    holder: Any


def _rows(table: Any, every: Every | None) -> _Rows:
    """Return who holds which facts, each once."""
    from scipy import sparse

    if not isinstance(table, Traces | Bags | Events):
        raise DataError(f"facts are those of Traces, Attributes, Bags or Events, not of {type(table).__name__}")
    if every is not None and (not isinstance(table, Events) or table.time is None):
        raise OptionError(f"every={every!r} is for Events with a time; leave it out for {type(table).__name__}")
    user: Any
    if isinstance(table, Bags):
        held = table.counts
        user, fact, width = np.repeat(np.arange(len(table)), np.diff(held.indptr)), held.indices, table.n_tokens
    elif isinstance(table, Events):
        user, fact, width = table.user, table.item.astype(np.int64), table.n_tokens
        if every is not None and table.time is not None:
            period = periods(table.time, table.is_calendar, every).astype(np.int64)
            fact, width = _numbered((period - period.min()) * np.int64(width) + fact)
    else:
        user, place = np.nonzero(table.observed)
        fact, width = table.tokens[user, place].astype(np.int64), table.n_tokens
        if not isinstance(table, Attributes):
            fact, width = _numbered(place * np.int64(width) + fact)
    n = table.n_users
    ones = np.ones(len(fact), dtype=np.bool_)
    matrix = sparse.coo_array((ones, (user, fact)), shape=(n, max(width, 1))).tocsr()
    matrix.sum_duplicates()
    matrix.sort_indices()
    turned = matrix.tocsc()
    return _Rows(*(np.asarray(part) for part in (matrix.indptr, matrix.indices, turned.indptr, turned.indices)))


def _numbered(values: Ints) -> tuple[Ints, int]:
    """Give the values that occur numbers from 0 on."""
    import polars as pl

    ranks = pl.Series(values).rank("dense").to_numpy().astype(np.int64) - 1
    return ranks, int(ranks.max(initial=-1)) + 1


@njit(cache=True, nogil=True)
def _alone(rows: Any, asked: Any, chances: Any, alone: Any) -> None:
    """Say of each person asked about whether no other holds all of the facts that are drawn for them."""
    k = chances.shape[1]
    chosen = np.empty(k, dtype=np.int64)
    for number in range(len(asked)):
        i = asked[number]
        begin, size = rows.start[i], rows.start[i + 1] - rows.start[i]
        # Floyd's draw: every set of k places is equally likely, whatever the size.
        for t in range(k):
            top = size - k + t
            place = begin + min(np.int64(chances[number, t] * (top + 1)), top)
            for s in range(t):
                if chosen[s] == rows.fact[place]:
                    place = begin + top
                    break
            chosen[t] = rows.fact[place]
        # The fact that the fewest hold comes first, then the next rarest: others are ruled out soonest.
        for t in range(1, k):
            fact = chosen[t]
            held = rows.first[fact + 1] - rows.first[fact]
            s = t - 1
            while s >= 0 and rows.first[chosen[s] + 1] - rows.first[chosen[s]] > held:
                chosen[s + 1] = chosen[s]
                s -= 1
            chosen[s + 1] = fact
        alone[number] = not _another(rows, i, chosen)


@njit(cache=True, nogil=True)
def _another(rows: Any, i: Any, chosen: Any) -> Any:
    """Whether somebody else than i holds all of these facts."""
    for at in range(rows.first[chosen[0]], rows.first[chosen[0] + 1]):
        other = rows.holder[at]
        if other == i:
            continue
        low, end, all_held = rows.start[other], rows.start[other + 1], True
        for t in range(1, len(chosen)):
            fact, left, right = chosen[t], low, end
            while left < right:
                middle = (left + right) // 2
                if rows.fact[middle] < fact:
                    left = middle + 1
                else:
                    right = middle
            if left == end or rows.fact[left] != fact:
                all_held = False
                break
        if all_held:
            return True
    return False
