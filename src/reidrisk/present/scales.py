"""Axes of rates: logarithmic where rates lie far apart, linear where not, and where labels go so that none overlap."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_FAR_APART = 30.0
"""From this ratio of the largest to the smallest rate on, the smaller ones would be lost on a linear axis."""


@dataclass(frozen=True)
class RateScale:
    """An axis for rates from ``bottom`` to ``top``; with ``zero``, the bottom stands for a rate of 0.

    A logarithm has no place for 0: it gets one a step below the smallest rate.
    """

    log: bool
    bottom: float
    top: float
    ticks: tuple[float, ...]
    zero: bool

    @property
    def label_expression(self) -> str:
        """How a tick is written: natural frequencies, in the expression language of the charts."""
        if self.log:
            many = "'1 in ' + format(1 / datum.value, ',.0f')"
            none = f"datum.value < {self.bottom * 1.5:.3g} ? 'none' : " if self.zero else ""
            return f"{none}datum.value > 0.99 ? 'everyone' : {many}"
        out_of = max(100, 10 ** math.ceil(-math.log10(self.top) - 1e-9))
        some = f"format({out_of} * datum.value, '.2~r') + ' in {out_of:,}'"
        return f"datum.value == 0 ? 'none' : datum.value > 0.999 ? 'everyone' : {some}"

    def drawn(self, rate: float) -> float:
        """Return the rate as it can be drawn: not below the bottom, not above the top."""
        return min(max(rate, self.bottom), self.top)

    def position(self, rate: float, length: float) -> float:
        """Return how far from the bottom a rate lies, on an axis of ``length`` pixels."""
        rate = self.drawn(rate)
        if self.log:
            return length * math.log(rate / self.bottom) / math.log(self.top / self.bottom)
        return length * (rate - self.bottom) / (self.top - self.bottom)


def rate_scale(rates: Iterable[float]) -> RateScale:
    """Choose the axis for some rates.

    >>> scale = rate_scale([1e-5, 0.03])
    >>> scale.log, scale.ticks
    (True, (1e-05, 0.0001, 0.001, 0.01, 0.1))
    >>> rate_scale([0.25, 0.5, 1.0]).log
    False
    """
    known = sorted(rate for rate in rates if math.isfinite(rate))
    positive = [rate for rate in known if rate > 0.0]
    largest = min(positive[-1], 1.0) if positive else 0.01
    smallest = positive[0] if positive else largest
    if largest / smallest < _FAR_APART:
        top, step = _round_up(largest)
        count = round(top / step)
        return RateScale(False, 0.0, top, tuple(round(i * step, 12) for i in range(count + 1)), True)
    first = math.floor(math.log10(smallest) + 1e-9)
    last = math.ceil(math.log10(largest) - 1e-9)
    ticks = tuple(10.0**power for power in range(first, last + 1))
    # A zero needs a place of its own below the smallest rate.
    if known[0] <= 0.0:
        return RateScale(True, ticks[0] / 10.0, ticks[-1], (ticks[0] / 10.0, *ticks), True)
    # A line along the axis itself would not be seen.
    return RateScale(True, ticks[0] * 0.7, ticks[-1], ticks, False)


@dataclass(frozen=True)
class ShareScale(RateScale):
    """An axis of shares from 0 to ``top``, written as percentages: 'everyone' is no word for what is not people."""

    @property
    def label_expression(self) -> str:
        """How a tick is written."""
        return "format(100 * datum.value, '.3~r') + ' %'"

    @classmethod
    def up_to(cls, top: float) -> ShareScale:
        """Return an axis that ends a little above ``top``."""
        return cls(**vars(rate_scale([top])))


def _round_up(largest: float) -> tuple[float, float]:
    """Return an end of the axis a little above ``largest``, and the step of its ticks."""
    power = 10.0 ** math.floor(math.log10(largest))
    for factor, step in ((1.0, 0.25), (2.0, 0.5), (3.0, 1.0), (4.0, 1.0), (5.0, 1.0), (8.0, 2.0), (10.0, 2.0)):
        if largest <= factor * power * (1.0 + 1e-9):
            return min(factor * power, 1.0), step * power
    return 1.0, 0.2


def spread(positions: Sequence[float], gap: float, length: float) -> list[float]:
    """Move positions apart until neighbours are ``gap`` apart, as little as possible, within ``[0, length]``.

    >>> spread([50.0, 52.0, 0.0], gap=10.0, length=100.0)
    [46.0, 56.0, 0.0]
    """
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    clusters: list[tuple[list[int], float]] = []
    for index in order:
        members, centre = [index], positions[index]
        while True:
            half = gap * (len(members) - 1) / 2.0
            centre = min(max(centre, half), max(length - half, half))
            if not clusters:
                break
            others, before = clusters[-1]
            if before + gap * (len(others) - 1) / 2.0 + gap <= centre - half + 1e-9:
                break
            clusters.pop()
            members = others + members
            centre = sum(positions[i] for i in members) / len(members)
        clusters.append((members, centre))
    placed = [0.0] * len(positions)
    for members, centre in clusters:
        for rank, index in enumerate(members):
            placed[index] = centre + gap * (rank - (len(members) - 1) / 2.0)
    return placed
