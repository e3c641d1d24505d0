"""Which of two attacks is better, on the same queries: the paired difference with its interval."""

from __future__ import annotations

from reidrisk.errors import OptionError
from reidrisk.intervals import difference_interval
from reidrisk.results import Difference, Risk

__all__ = ["difference"]


def difference(one: Risk, other: Risk) -> Difference:
    """Return the paired difference of two attacks measured on the same queries: rate of one - rate of other.

    Examples
    --------
    >>> from reidrisk import Traces, attacks
    >>> from reidrisk.measure import random_user
    >>> a = Traces([[1, 2], [3, 4], [5, 6]], n_tokens=9)
    >>> gap = difference(random_user(attacks.Hamming(), a, a), random_user(attacks.Hamming(), a, a))
    >>> gap.difference, gap.reading
    (0.0, 'Hamming and Hamming cannot be told apart on these 3 queries.')
    """
    if one.per_user is None or other.per_user is None or len(one.per_user) != len(other.per_user):
        raise OptionError("a paired difference needs two risks measured on the same queries, with per_user kept")
    low, high = difference_interval(one.per_user, other.per_user, one.level)
    if low > 0.0 or high < 0.0:
        better, worse = (one, other) if low > 0.0 else (other, one)
        reading = f"{better.attack} links more people than {worse.attack}, beyond chance."
    else:
        reading = f"{one.attack} and {other.attack} cannot be told apart on these {one.n_queries:,} queries."
    return Difference(
        attack=one.attack,
        other=other.attack,
        n_epochs=one.n_epochs,
        difference=one.rate - other.rate,
        low=low,
        high=high,
        level=one.level,
        n_queries=one.n_queries,
        reading=reading,
    )
