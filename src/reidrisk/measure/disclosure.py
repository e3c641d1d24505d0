"""Which numbers about people may stand beside each other, so that no few of them can be set apart by subtraction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise


def few(people: float, min_group: int) -> bool:
    """Whether so many are some, but fewer than ``min_group``; credits of ties add up to fractions of people.

    Examples
    --------
    >>> few(0, 20), few(0.3, 20), few(19, 20), few(20, 20)
    (False, True, True, False)
    """
    return 1e-9 < people < min_group - 1e-9


def cuts_to_show(above: Mapping[float, float], n: float, min_group: int, first: Sequence[float]) -> list[float]:
    """Choose the thresholds whose counts may be shown together.

    Shown thresholds cut the n people into cells, and whoever subtracts learns unions of cells and nothing else. So
    a threshold is shown only if every cell, the outer ones included, holds nobody or at least ``min_group`` people.

    Parameters
    ----------
    above : mapping of threshold to count
        People beyond each threshold; fewer, the higher the threshold is.
    n : int
        All people.
    min_group : int
        The fewest people a number may be about.
    first : sequence of float
        Thresholds in the order in which they are wanted: where two cannot both be shown, the earlier one is.

    Examples
    --------
    Of 33 people 32 are above one half: that would tell of the one who is not.

    >>> cuts_to_show({0.1: 33, 0.5: 32, 0.9: 0}, n=33, min_group=20, first=[0.9, 0.5, 0.1])
    [0.1, 0.9]
    """
    kept: list[float] = []
    for threshold in first:
        tried = sorted([*kept, threshold])
        counts = [n, *(above[t] for t in tried), 0]
        if not any(few(more - fewer, min_group) for more, fewer in pairwise(counts)):
            kept = tried
    return kept


def groups_to_show(sizes: Mapping[str, int], totals: Sequence[int], min_group: int) -> set[str]:
    """Choose the groups of a trait that may be shown, when sizes and means of larger circles are known.

    Groups of fewer than ``min_group`` people are hidden, and then the smallest of the others, until what is left of
    each total is nobody or at least ``min_group`` people.

    Parameters
    ----------
    sizes : mapping of name to int
        People in each group; groups do not overlap.
    totals : sequence of int
        Sizes of the circles that hold all groups and whose mean is shown, such as everybody.
    min_group : int
        The fewest people a number may be about.

    Examples
    --------
    >>> groups_to_show({"a": 20, "b": 13}, [33], min_group=20)
    set()
    >>> sorted(groups_to_show({"a": 40, "b": 30, "c": 12}, [82], min_group=20))
    ['a']
    """
    shown = sorted((name for name in sizes if sizes[name] >= min_group), key=lambda name: sizes[name], reverse=True)
    while shown and any(few(total - sum(sizes[name] for name in shown), min_group) for total in totals):
        shown.pop()
    return set(shown)


def splits_to_show(
    right: Mapping[str, float], wrong: Mapping[str, float], totals: Sequence[tuple[float, float]], min_group: int
) -> set[str]:
    """Choose the groups of a trait of which it may be shown how many were linked rightly, and how many not.

    Of each group shown, and of what is left of each total without those shown, nobody or at least ``min_group`` people
    were linked rightly, and nobody or at least so many were not. The totals themselves are known in any case.

    Parameters
    ----------
    right, wrong : mapping of name to float
        People of each group who were linked rightly, and who were not; groups do not overlap.
    totals : sequence of (right, wrong)
        The same of the circles that hold all groups.
    min_group : int
        The fewest people a number may be about.

    Examples
    --------
    Seven of the group b were not found: neither that nor what is left of everybody without a may be shown.

    >>> splits_to_show({"a": 60, "b": 46}, {"a": 40, "b": 7}, [(106, 47)], min_group=20)
    set()
    >>> sorted(splits_to_show({"a": 60, "b": 46}, {"a": 40, "b": 27}, [(106, 67)], min_group=20))
    ['a', 'b']
    """
    by_size = sorted(right, key=lambda name: right[name] + wrong[name], reverse=True)
    shown = [name for name in by_size if not (few(right[name], min_group) or few(wrong[name], min_group))]
    while shown and any(
        few(total - sum(part[name] for name in shown), min_group)
        for circle in totals
        for total, part in zip(circle, (right, wrong), strict=True)
    ):
        shown.pop()
    return set(shown)


def limits(right: float, wrong: float, min_group: int) -> tuple[float, float]:
    """Return between which shares the right links lie, where all that is said is which of the two are few.

    Examples
    --------
    >>> limits(right=140, wrong=10, min_group=20), limits(5, 35, 20), limits(30, 30, 20)
    ((0.8666666666666667, 1.0), (0.0, 0.5), (0.0, 1.0))
    """
    n = right + wrong
    low = (n - min_group) / n if wrong < min_group - 1e-9 else 0.0
    high = min_group / n if right < min_group - 1e-9 else 1.0
    return max(low, 0.0), min(high, 1.0)
