"""The tables of the report, as text: the numbers behind each chart, and the bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from reidrisk.audit import AuditResult, Rehearsed, exceeds
from reidrisk.base.results import Bound, Risk
from reidrisk.base.wording import two_digits
from reidrisk.bounds import tightest_by_epochs, tightest_of
from reidrisk.report.findings import compared, lines
from reidrisk.report.phrases import attack_label, epochs, frequency, interval, limits

_SETTINGS = ("seed", "level")
"""Inputs of a bound that are about how it was computed and not about the system."""


@dataclass(frozen=True)
class Table:
    """Text in rows and columns; ``numbers`` are the columns to align at the right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class BoundCell:
    """A bound at one number of epochs."""

    value: str
    interval: str
    inputs: str
    reading: str
    tightest: bool
    silent: bool
    exceeded: bool = False


@dataclass(frozen=True)
class BoundRow:
    """A bound as the report lists it: one cell a number of epochs, ``None`` where it was not computed."""

    name: str
    setting: str
    reference: str
    assumptions: str
    cells: tuple[BoundCell | None, ...]


@dataclass(frozen=True)
class BoundTable:
    """All bounds, for growing numbers of epochs, and the assumptions they refer to by letter."""

    counts: tuple[str, ...]
    rows: tuple[BoundRow, ...]
    assumptions: tuple[tuple[str, str], ...]


def growth_table(result: AuditResult) -> Table:
    """Return every measured rate with its interval, blind guessing, and the tightest bound."""
    rows: list[tuple[str, ...]] = []
    for attack, risks in lines(result).items():
        for risk in risks:
            rate, about = frequency(risk.rate), interval(risk.rate, risk.low, risk.high) or "exact"
            rows.append((str(risk.n_epochs), attack_label(attack), rate, about))
    for r, bound in tightest_by_epochs(result.bounds).items():
        about = interval(bound.value, bound.low, bound.high) or "exact"
        rows.append((str(r), f"Tightest bound: {bound.name}", frequency(bound.value), about))
    baselines = {risk.n_epochs: risk.baseline for risk in result.risks} or {result.n_epochs: 1.0 / result.n_targets}
    rows += [(str(r), "Blind guessing", frequency(rate), "exact") for r, rate in sorted(baselines.items())]
    rows.sort(key=lambda row: int(row[0]))
    return Table(("Epochs", "Line", "People linked correctly", "Interval"), tuple(rows), (0, 2, 3))


def bound_table(bounds: Sequence[Bound], risks: Sequence[Risk] = ()) -> BoundTable:
    """Return the bounds, those for one record first, the tightest of each setting and number of epochs marked.

    A bound that says nothing is listed too: that is part of the answer. One that holds within a model of people only,
    and that an attack exceeded, is marked.
    """
    counts = sorted({bound.n_epochs for bound in bounds}, key=lambda count: count or 0)
    letters: dict[str, str] = {}
    places: dict[tuple[str, int | None], list[Bound]] = {}
    kinds: dict[tuple[str, str], dict[int | None, Bound]] = {}
    for bound in bounds:
        places.setdefault((bound.setting, bound.n_epochs), []).append(bound)
        kinds.setdefault((bound.setting, bound.name), {})[bound.n_epochs] = bound
        for sentence in bound.assumptions:
            letters.setdefault(sentence, _letter(len(letters)))
    best = {place: tightest_of(found) for place, found in places.items()}
    rows = []
    for (setting, name), found in sorted(kinds.items(), key=lambda kind: (kind[0][0] != "random user", kind[0][1])):
        known = [found.get(count) for count in counts]
        sentences = dict.fromkeys(sentence for bound in found.values() for sentence in bound.assumptions)
        rows.append(
            BoundRow(
                name=_capital(name) + (" (within its model)" if all(b.within_model for b in found.values()) else ""),
                setting="for all records together" if setting == "matching" else "for one record",
                reference="; ".join(dict.fromkeys(bound.reference for bound in found.values())),
                assumptions=", ".join(letters[sentence] for sentence in sentences),
                cells=tuple(
                    None if b is None else _bound_cell(b, b is best[b.setting, b.n_epochs], exceeds(risks, b))
                    for b in known
                ),
            )
        )
    named = tuple((letter, _capital(sentence).rstrip(".") + ".") for sentence, letter in letters.items())
    return BoundTable(tuple(epochs(count) if count else "any" for count in counts), tuple(rows), named)


def choosiness_table(result: AuditResult) -> Table:
    """Return right and wrong links, or, where the truth is not known, answers with the check beside them."""
    first, answered = "At least this sure (chances in 100)", "Answers"
    if not result.risks:
        check = next(rehearsal for rehearsal in result.rehearsals if rehearsal.attack == result.choosy_attack)
        checked = {point.threshold: point for point in check.points}
        rows = [
            (f"{100 * c.threshold:g}", frequency(c.answered), *_check(checked[c.threshold])) for c in result.choosiness
        ]
        return Table((first, answered, "Stated when rehearsed", "Right when rehearsed"), tuple(rows), (0, 1, 2, 3))
    full = []
    for point in result.choosiness:
        first_two = f"{100 * point.threshold:g}", frequency(point.answered)
        if point.correct is None or point.incorrect is None:
            ends = (
                (point.low, point.high),
                (point.incorrect_low, point.incorrect_high),
                (point.precision_low, point.precision_high),
            )
            among = limits(*ends[-1])
            told = [limits(low, high) for low, high in ends] if among != "not shown" else [among] * 3
            full.append((*first_two, *told))
            continue
        correct, wrong = point.correct, max(0.0, point.incorrect)
        right = "no answers"
        if point.answered > 0.0:
            share = min(1.0, correct / point.answered)
            right = _with_interval(share, point.precision_low, point.precision_high)
        full.append(
            (
                *first_two,
                _with_interval(correct, point.low, point.high),
                _with_interval(wrong, point.incorrect_low, point.incorrect_high),
                right,
            )
        )
    return Table((first, answered, "Right", "Wrong", "Right among the answers"), tuple(full), (0, 1, 2, 3, 4))


def perspective_table(result: AuditResult) -> Table:
    """Return the rows of the comparison with their sources."""
    rows = []
    for row in compared(result):
        about = "" if row.kind == "published" else interval(row.rate, row.low, row.high) or "exact"
        rate = row.text if row.kind == "published" else frequency(row.rate)
        rows.append((row.label, rate, about, row.note))
    return Table(("What", "People linked correctly", "Interval", "Source or remark"), tuple(rows), (1, 2))


def _bound_cell(bound: Bound, best: bool, exceeded: bool) -> BoundCell:
    inputs = ", ".join(f"{name} {_input(value)}" for name, value in bound.inputs.items() if name not in _SETTINGS)
    says = bound.says_something
    return BoundCell(
        value=frequency(bound.value) if says else "nothing",
        interval=interval(bound.value, bound.low, bound.high) if says else "",
        inputs=inputs,
        reading=bound.reading,
        tightest=best and says,
        silent=not says,
        exceeded=exceeded,
    )


def _check(point: Rehearsed) -> tuple[str, str]:
    right = limits(point.low, point.high) if point.right is None else _with_interval(point.right, point.low, point.high)
    return frequency(point.stated), right


def _with_interval(rate: float, low: float | None, high: float | None) -> str:
    about = interval(rate, low, high) if low is not None and high is not None else ""
    return frequency(rate) + (f" ({about})" if about else "")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else f"A{number}"


def _input(value: float) -> str:
    if not math.isfinite(value):
        return "infinite" if value > 0 else "unknown"
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    return two_digits(value) if 1e-4 <= abs(value) < 1e6 else f"{value:.1e}"
