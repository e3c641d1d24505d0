"""Which row counts: of several, the strongest, with ends that hold for whichever it is."""

import dataclasses
import math
from collections.abc import Iterable, Sequence

from reidrisk.audit.axis import AxisName
from reidrisk.audit.spec import other_counts
from reidrisk.base import Floats, Risk
from reidrisk.base.intervals import counted_interval, mean_interval

FEWEST = 20  # level: of fewer, the 95 % interval of any rate spans 17 points or more
"""Scored records below which no rate is a verdict: there are too few to tell."""


def error_parts(
    risks: Sequence[Risk], n_epochs: int, asked: Iterable[int], axis: AxisName = "epochs", questions: int = 1
) -> list[int]:
    """Return into how many parts the error is cut for the lower end of each row, so that all ends hold together.

    The largest of m lower ends must hold for whichever row is the strongest, so each has 1 / m of the error. The most
    telling r of E epochs were chosen with the truth, by these very people, so each of the C(E, r) choices counts: a
    chosen row has 1 / (m C(E, r)), and m counts such a row for each attack and each r < E that was asked for, whether
    there is one or not; and one more of any other r, with 1 / k of that part where k others may be tried. Then the
    ends hold whatever was chosen, and however (Bonferroni). Whether any choice is added depends on the people too: in
    all, a lower end is too high with probability alpha at most, and alpha / 2 where epochs differ clearly or not at
    all. Where several ``questions`` are asked of the same data, each has its part of the error.

    >>> first, best = (Risk(0.5, 0.4, 0.6, 0.5, 0.0, 0.1, 10, 10, n_epochs=2, which=which) for which in ((), (2, 5)))
    >>> error_parts([first, first], 6, (2,)), error_parts([first, best], 6, (2,))
    ([2, 2], [2, 30])
    """
    if axis != "epochs":  # nothing was chosen with the truth
        return [questions * len(risks)] * len(risks)
    counts = tuple(asked)
    others = other_counts(counts, n_epochs)
    m = sum(not risk.which for risk in risks)
    if any(risk.which for risk in risks):
        m += len({risk.attack for risk in risks}) * (sum(r < n_epochs for r in counts) + bool(others))
    ways = [math.comb(n_epochs, risk.n_epochs) if risk.which else 1 for risk in risks]
    ways = [n * len(others) if risk.n_epochs in others else n for n, risk in zip(ways, risks, strict=True)]
    return [min(questions * m * n, 1 << 60) for n in ways]


def lower_end(risk: Risk, parts: int, counted: tuple[Floats, Floats] | None = None) -> float:
    """Return the lower end of a row at its part of the error; 0 where that is too small to compute with.

    ``counted`` are the credits of everyone and how many have each, where the row does not hold those of single users.
    """
    error = (1.0 - risk.level) / parts
    if error < 1e-12:
        return 0.0
    if counted is not None:
        return counted_interval(*counted, 1.0 - error)[0]
    return 0.0 if risk.per_user is None else mean_interval(risk.per_user, 1.0 - error, risk.design_effect)[0]


def strongest(risks: Iterable[Risk], lower_ends: Iterable[float]) -> Risk | None:
    """Return the row with the highest rate, with the ends that hold for the strongest of all rows.

    The upper end is the largest of the rows' upper ends. The lower end is the largest of ``lower_ends``, which are at
    the level 1 - alpha / m for m rows: whichever row is the strongest in truth, it is at least as high. Of equal rates
    the one with the fewest epochs counts: the attacker needs no more.

    >>> def row(rate, low, high, n_epochs):
    ...     return Risk(rate, low, high, 1 - rate, 0.0, 0.01, n_targets=100, n_queries=100, n_epochs=n_epochs)
    >>> found = strongest([row(0.92, 0.9, 0.94, 2), row(0.6, 0.55, 0.65, 8)], [0.89, 0.53])
    >>> found.n_epochs, found.low, found.high
    (2, 0.89, 0.94)
    """
    rows = list(risks)
    if not rows:
        return None
    highest = max(rows, key=lambda risk: (risk.rate, -risk.n_epochs))
    return dataclasses.replace(highest, low=max(lower_ends), high=max(risk.high for risk in rows))
