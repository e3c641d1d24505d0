"""Epochs of any length and step, and which of them a moment belongs to."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError, OptionError
from reidrisk.topics.histories.timestamps import as_text

DAY = 86_400
_MOST = 10_000  # columns of a table; two centuries of weeks
_LONGEST = 2_000 * 365 * DAY
"""No history is longer; sums of seconds stay far from overflow."""
Times = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Epochs:
    """Epoch e lasts from start + e * step to start + e * step + length, the end not included; all in seconds.

    The API has disjoint epochs, length = step = 7 days. Carey, Section 6, shifts epochs of 7 days by 3: then they
    overlap, and a visit counts in two or three of them.

    >>> weeks = Epochs(start=0, length=7 * DAY, step=3 * DAY, n=8)
    >>> [[int(e[0]) for e, inside in weeks.members(np.array([day * DAY])) if inside[0]] for day in (0, 6, 7, 27)]
    [[0], [2, 1, 0], [2, 1], [7]]
    """

    start: int
    length: int
    step: int
    n: int

    @classmethod
    def spanning(
        cls, times: Times, days: float = 7, step_days: float | None = None, start: int | None = None
    ) -> Epochs:
        """Return the whole epochs between the first and the last visit, given in seconds since 1970.

        The first begins at ``start``; default: midnight (UTC) before the first visit. The next one begins ``step_days``
        later; default: ``days``. Epochs that would end after midnight (UTC) behind the last visit are left out: they
        were not observed to the end.

        >>> Epochs.spanning(np.array([9 * 3600, 15 * DAY]))
        Epochs(start=0, length=604800, step=604800, n=2)
        """
        length, step = _seconds(days, "epoch_days"), _seconds(days if step_days is None else step_days, "step_days")
        first = int(times.min()) // DAY * DAY if start is None else int(start)
        end = (int(times.max()) // DAY + 1) * DAY
        n = (end - first - length) // step + 1
        if first >= end:
            raise DataError(f"the first epoch begins at {as_text(first)}, after the last visit; begin earlier")
        if n < 1:
            raise DataError(
                f"the visits, from {as_text(first)} to {as_text(end)}, are shorter than one epoch of {days:g} days; "
                "give a longer history or shorter epochs"
            )
        if n > _MOST:
            raise DataError(
                f"from {as_text(first)} to {as_text(end)} there are {n:,} epochs, more than {_MOST:,}; one wrong time "
                "may be the cause, or choose longer steps"
            )
        return cls(first, length, step, int(n))

    def members(self, times: Times) -> Iterator[tuple[Times, npt.NDArray[np.bool_]]]:
        """Yield, for every number of steps back, the epoch of each moment and whether it is one of its epochs."""
        newest = (times - self.start) // self.step
        for back in range(-(-self.length // self.step)):
            epoch = newest - back
            inside = (epoch >= 0) & (epoch < self.n) & (times - self.start - epoch * self.step < self.length)
            yield epoch, inside

    def latest(self, times: Times) -> Times:
        """Return the last epoch that had ended at each moment, -1 where there is none yet."""
        return np.clip((times - self.start - self.length) // self.step, -1, self.n - 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the epochs for JSON."""
        last = self.start + (self.n - 1) * self.step + self.length
        return {
            "n": self.n,
            "days": self.length / DAY,
            "step_days": self.step / DAY,
            "first_starts": as_text(self.start),
            "last_ends": as_text(last),
        }


def _seconds(days: float, option: str) -> int:
    is_number = isinstance(days, int | float | np.integer | np.floating) and not isinstance(days, bool)
    if not is_number or not math.isfinite(days) or not 1 <= round(days * DAY) <= _LONGEST:
        raise OptionError(
            f"{option} must be a number from 1/{DAY:,} (one second) to {_LONGEST // DAY:,} days, not {days!r}"
        )
    return round(days * DAY)
