"""Which of two risks is higher, on the same queries: the paired difference with its interval."""

from reidrisk.base import Covers, Difference, Floats, OptionError, Risk, of_class
from reidrisk.base.intervals import design_effect, difference_interval
from reidrisk.measure.jackknife import variance


def difference(one: Risk, other: Risk, names: tuple[str, str] | None = None) -> Difference:
    """Return the paired difference of two risks measured on the same queries: rate of one - rate of other.

    The risks are of two attacks, or of one attack on two versions of the same people's data, with ``per_user`` kept.
    The interval covers no more than those of both risks do. ``names`` are what the two are called; default: the
    attacks' names.

    >>> from reidrisk import Traces, attacks
    >>> from reidrisk.measure import random_user
    >>> a, b = Traces([[1, 2], [3, 4], [5, 6]], n_tokens=9), Traces([[1, 8], [1, 8], [1, 8]], n_tokens=9)
    >>> one, other = (random_user(attacks.Hamming(), a, seen) for seen in (a, b))
    >>> gap = difference(one, other, names=("plain data", "protected data"))
    >>> round(gap.difference, 2), gap.other
    (0.67, 'protected data')
    """
    for risk in (one, other):
        of_class("each side of a difference", risk, Risk, "a Risk, as random_user returns it")
    if one.per_user is None or other.per_user is None or len(one.per_user) != len(other.per_user):
        raise OptionError("a paired difference needs two risks measured on the same queries, with per_user kept")
    if names is not None and (len(names) != 2 or len(set(names)) != 2):
        raise OptionError(f"names are two different ones, for the first and the second risk, not {names!r}")
    covers, effect = _covered(one, other, (one.per_user - other.per_user + 1.0) / 2.0)
    low, high = difference_interval(one.per_user, other.per_user, one.level, effect)
    names = names or (one.attack, other.attack)
    return Difference(
        attack=names[0],
        other=names[1],
        n_epochs=one.n_epochs,
        difference=one.rate - other.rate,
        low=low,
        high=high,
        level=one.level,
        n_queries=one.n_queries,
        covers=covers,
    )


def _covered(one: Risk, other: Risk, halves: Floats) -> tuple[Covers, float]:
    """Return what the interval of the difference covers, and the design effect of (difference + 1) / 2."""
    crowd = max(one.queries_per_person, other.queries_per_person)
    if "none" in (one.covers, other.covers):
        return "none", crowd
    a, b = one.rates_without, other.rates_without
    if a is None or b is None or len(a) != len(b):
        return "queries", crowd
    return "people", max(crowd, design_effect(halves, variance(a - b) / 4.0))
