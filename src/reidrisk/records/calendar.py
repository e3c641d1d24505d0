"""Moments to periods: days, weeks and months of the calendar, or a number of units; and what stands for a period."""

from typing import Any, Literal

import numpy as np

from reidrisk.base import Floats, Ints, OptionError, is_number
from reidrisk.base.frames import Codes

DAY = 86_400.0
_MONDAY = 3  # 1970 began on a Thursday
HOURS = 24  # hours of a day
Every = str | float  # the length of a period: "day", "week" (from Monday), "month", or a number of units
Pick = Literal["first", "last", "most"]
"""Which item stands for a period: the first or the last of it, or the one that it holds most of."""


def periods(time: Floats, is_calendar: bool, every: Every) -> Ints:
    """Return the period of each moment as a whole number that counts on from period to period.

    Periods lie where the calendar has them, or at multiples of a number of units (days, where times are dates): two
    logs are cut at the same moments.

    >>> days = np.array([0.0, 3.0, 4.0]) * DAY      # 1 January 1970, a Thursday; Sunday; Monday
    >>> periods(days, True, "week").tolist(), periods(days, True, 2).tolist()
    ([0, 0, 1], [0, 1, 2])
    """
    if is_number(every) and 0.0 < float(every) < np.inf:
        unit = float(every) * (DAY if is_calendar else 1.0)
        counted = np.floor(time / unit)
        if np.abs(counted).max(initial=0.0) > 2.0**53:
            raise OptionError(f"periods of {every} are too short for times that reach {np.abs(time).max():g}")
        return np.asarray(counted, dtype=np.int64)
    if every not in ("day", "week", "month"):
        raise OptionError(f"a period is a day, a week, a month or a number of units of time, not {every!r}")
    if not is_calendar:
        raise OptionError(f"times are plain numbers, which have no {every}; give every= as a number of their units")
    days = np.asarray(np.floor(time / DAY), dtype=np.int64)
    if every == "day":
        return days
    if every == "week":
        return np.asarray((days + _MONDAY) // 7)
    return np.asarray(days.astype("M8[D]").astype("M8[M]").astype(np.int64))


def moment(value: Any, is_calendar: bool) -> float:
    """Return a moment that somebody gave, a number or a date, as the times of a log are counted.

    >>> moment("1970-01-02", True), moment(12.5, False)
    (86400.0, 12.5)
    """
    if not is_calendar:
        if not is_number(value) or not np.isfinite(value):
            raise OptionError(f"times are plain numbers; give a finite number, not {value!r}")
        return float(value)
    try:
        found = np.datetime64(value, "us")
    except (TypeError, ValueError) as error:
        raise OptionError(f"times are dates; give one such as '2024-05-31', not {value!r}") from error
    if np.isnat(found):
        raise OptionError(f"times are dates; give one such as '2024-05-31', not {value!r}")
    return float(found.astype(np.int64)) / 1e6


def days_by_hour(user: Codes, item: Codes, time: Floats, shape: tuple[int, int]) -> Any:
    """Return on how many days each user has each item, and anything at all, in each hour of the day.

    ``shape`` is the number of users and of items. Columns are the hours of item 0, of item 1 and so on; the last ones
    are of anything.

    >>> tea = days_by_hour(np.array([0, 0]), np.array([0, 0]), np.array([3_600.0, DAY + 3_700.0]), (1, 1))
    >>> tea.shape, tea[0, 1], tea[0, HOURS + 1]
    ((1, 48), np.int64(2), np.int64(2))
    """
    import polars as pl
    from scipy import sparse

    n_users, n_tokens = shape
    hour = np.floor(np.asarray(time) / 3_600.0).astype(np.int64)
    had = pl.DataFrame({"user": user, "item": item.astype(np.int64), "hour": hour}).unique()
    had = pl.concat([had, had.with_columns(item=pl.lit(n_tokens, pl.Int64)).unique()])
    column = had["item"].to_numpy() * HOURS + had["hour"].to_numpy() % HOURS
    ones, both = np.ones(len(had), dtype=np.int64), (n_users, HOURS * (n_tokens + 1))
    return sparse.coo_array((ones, (had["user"].to_numpy(), column)), shape=both).tocsr()


def picked(cell: Ints, item: Codes, amount: Ints, pick: Pick) -> Ints:
    """Return for each user and period the event whose item is picked; ``cell`` rises, within it times do."""
    if pick == "most":
        order = np.argsort(cell * (int(item.max()) + 1) + item, kind="stable")
        new_cell = np.diff(cell[order], prepend=-1) > 0
        starts = np.flatnonzero(new_cell | (np.diff(item[order], prepend=-1) != 0))
        totals = np.add.reduceat(amount[order], starts)
        runs = np.flatnonzero(new_cell[starts])
        most = np.repeat(np.maximum.reduceat(totals, runs), np.diff(runs, append=len(starts)))
        best = np.flatnonzero(totals == most)
        found = order[starts[best]]
        return np.asarray(found[np.diff(cell[found], prepend=-1) > 0])
    change = np.flatnonzero(np.diff(cell) > 0)
    ends = (np.zeros(1, dtype=np.int64), change + 1) if pick == "first" else (change, np.array([len(cell) - 1]))
    return np.concatenate(ends)
