"""Which numbers about people may stand beside each other, so that no few of them can be set apart by subtraction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

__all__ = ["cuts_to_show", "groups_to_show"]


def cuts_to_show(above: Mapping[float, int], n: int, min_group: int, first: Sequence[float]) -> list[float]:
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
        if not any(0 < more - fewer < min_group for more, fewer in pairwise(counts)):
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
    while shown and any(0 < total - sum(sizes[name] for name in shown) < min_group for total in totals):
        shown.pop()
    return set(shown)
