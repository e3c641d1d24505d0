"""The tables of the report, as text: the numbers behind each chart, the bounds, the exposed groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reidrisk.audit import AuditResult
from reidrisk.intervals import mean_interval
from reidrisk.measure import Exposure
from reidrisk.report.charts import risk_bins
from reidrisk.report.findings import compared, lines, tightest
from reidrisk.report.phrases import attack_label, frequency, interval, share, span
from reidrisk.results import Bound
from reidrisk.wording import percent, two_digits

__all__ = [
    "BoundRow",
    "Table",
    "bound_rows",
    "choosiness_table",
    "exposure_table",
    "group_table",
    "growth_table",
    "perspective_table",
    "threshold_table",
]


@dataclass(frozen=True)
class Table:
    """Text in rows and columns; ``numbers`` are the columns to align at the right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class BoundRow:
    """A bound as the report lists it."""

    name: str
    setting: str
    value: str
    interval: str
    inputs: str
    reference: str
    reading: str
    assumptions: str
    tightest: bool
    silent: bool


def growth_table(result: AuditResult) -> Table:
    """Return every measured rate with its interval, blind guessing, and the tightest bound."""
    rows: list[tuple[str, ...]] = []
    for attack, risks in lines(result).items():
        for risk in risks:
            rate, about = frequency(risk.rate), interval(risk.rate, risk.low, risk.high) or "exact"
            rows.append((str(risk.n_epochs), attack_label(attack), rate, about))
    for r, bound in tightest(result.bounds).items():
        about = interval(bound.value, bound.low, bound.high) or "exact"
        rows.append((str(r), f"Tightest bound: {bound.name}", frequency(bound.value), about))
    baselines = {risk.n_epochs: risk.baseline for risk in result.risks} or {result.n_epochs: 1.0 / result.n_targets}
    rows += [(str(r), "Blind guessing", frequency(rate), "exact") for r, rate in sorted(baselines.items())]
    rows.sort(key=lambda row: int(row[0]))
    return Table(("Epochs", "Line", "People linked correctly", "Interval"), tuple(rows), (0, 2, 3))


def bound_rows(bounds: Sequence[Bound]) -> list[tuple[int | None, list[BoundRow]]]:
    """Return the bounds by number of epochs, random-user bounds first, the tightest of each setting marked.

    A bound that says nothing is listed after those that do: it is part of the answer too.
    """
    found: list[tuple[int | None, list[BoundRow]]] = []
    for r in sorted({bound.n_epochs for bound in bounds}, key=lambda count: count or 0):
        here = [bound for bound in bounds if bound.n_epochs == r]
        best = {
            setting: min((b for b in here if b.setting == setting), key=lambda b: b.value).value
            for setting in {bound.setting for bound in here}
        }
        here.sort(key=lambda b: (not b.says_something, b.setting != "random user", b.value))
        found.append((r, [_bound_row(bound, bound.value == best[bound.setting]) for bound in here]))
    return found


def exposure_table(found: Exposure) -> Table:
    """Return the bins of per-user risk."""
    rows = [(name, share(part)) for name, (_, _, part) in zip(risk_bins(found), found.histogram, strict=True)]
    return Table(("Risk of the person", "Share of people"), tuple(rows), (1,))


def threshold_table(found: Exposure, level: float) -> Table:
    """Return the shares of people above each threshold, with intervals."""
    rows = []
    for threshold, part in found.above.items():
        many = round(part * found.n)
        low, high = mean_interval(np.repeat([0.0, 1.0], [found.n - many, many]), level)
        rows.append((f"above {threshold} %", share(part), span(low, high)))
    return Table(("Risk of the person", "Share of people", "Interval"), tuple(rows), (1, 2))


def group_table(found: Exposure) -> Table:
    """Return the groups with their sizes and mean risks."""
    rows = [(group.level, f"{group.n:,}", percent(group.rate)) for group in found.groups]
    return Table(("People whose record has in common", "People", "Mean risk"), tuple(rows), (1, 2))


def choosiness_table(result: AuditResult) -> Table:
    """Return right and wrong links, or answers alone where the truth is not known."""
    first, answered = "At least this sure (chances in 100)", "Answers"
    if not result.choosiness or result.choosiness[0].correct is None:
        rows = [(f"{100 * c.threshold:g}", frequency(c.answered)) for c in result.choosiness]
        return Table((first, answered), tuple(rows), (0, 1))
    full = []
    for point in result.choosiness:
        correct = point.correct or 0.0
        right = frequency(min(1.0, correct / point.answered)) if point.answered > 0.0 else "no answers"
        wrong = frequency(max(0.0, point.incorrect or 0.0))
        full.append((f"{100 * point.threshold:g}", frequency(point.answered), frequency(correct), wrong, right))
    return Table((first, answered, "Right", "Wrong", "Right among the answers"), tuple(full), (0, 1, 2, 3, 4))


def perspective_table(result: AuditResult) -> Table:
    """Return the rows of the comparison with their sources."""
    rows = []
    for row in compared(result):
        about = "" if row.kind == "published" else interval(row.rate, row.low, row.high) or "exact"
        rate = f"below {frequency(row.rate)}" if row.below else frequency(row.rate)
        rows.append((row.label, rate, about, row.note))
    return Table(("What", "People linked correctly", "Interval", "Source or remark"), tuple(rows), (1, 2))


def _bound_row(bound: Bound, best: bool) -> BoundRow:
    inputs = ", ".join(f"{name} {_input(value)}" for name, value in bound.inputs.items() if name != "seed")
    about = interval(bound.value, bound.low, bound.high) if bound.says_something else ""
    return BoundRow(
        name=bound.name,
        setting="for all records together" if bound.setting == "matching" else "for one record",
        value=f"at most {frequency(bound.value)}" if bound.says_something else "excludes nothing",
        interval=about,
        inputs=inputs,
        reference=bound.reference,
        reading=bound.reading,
        assumptions="; ".join(bound.assumptions),
        tightest=best and bound.says_something,
        silent=not bound.says_something,
    )


def _input(value: float) -> str:
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    return two_digits(value) if 1e-4 <= abs(value) < 1e6 else f"{value:.1e}"
