"""How sure can the attacker be: right and wrong links as it answers only when sure; without truth, with a check."""

from functools import partial
from typing import Any

from reidrisk.audit import AuditResult, ThresholdCheck
from reidrisk.measure import Choosiness
from reidrisk.present import Section, Table, Terms, drawing
from reidrisk.present.drawing import Line, Point, rated
from reidrisk.present.scales import rate_scale
from reidrisk.present.sections.written import text, written
from reidrisk.present.words.frequencies import attack_label, in_words, with_interval


def section(result: AuditResult, terms: Terms) -> Section:
    """Return the links of an attacker who answers only when sure, or why nothing is said of that."""
    if not result.choosiness or (result.risks and len(result.choosiness) == 1):
        return written("audit.sure", terms, {"see": _silent(result, terms), "caution": "", "attack": ""})
    around = _around(result, terms) if result.risks else _around_checked(result, terms)
    said = {"attack": attack_label(result.choosy_attack or "the attack"), **around}
    draw, table = partial(chart, result, terms), _table(result, terms)
    return written("audit.sure", terms, said, draw, table, console=not result.risks)


def chart(result: AuditResult, terms: Terms, narrow: bool = False) -> Any:
    """Draw right and wrong links, or answers where the truth is not known, as the attacker becomes choosier."""
    kinds = [("correct", "Right links"), ("incorrect", "Wrong links")] if result.risks else [("answered", "Answers")]
    drawn = []
    for style, (field, name) in zip(drawing.ATTACKS, kinds, strict=False):
        points = tuple(_drawn(point, field) for point in result.choosiness)
        drawn.append(Line(name, name, in_words(points[-1].rate), style, points))
    title = f"how sure{'' if narrow else ' the attacker wants to be'} (chances in 100)"
    x = drawing.across(title, [0, 100], [0, 20, 40, 60, 80, 99])
    scale = rate_scale([rate for line in drawn for point in line.points for rate in (point.rate, point.high)])
    return drawing.line_chart(drawn, x, scale, f"share of all {terms.records}", "chances in 100", narrow)


def _drawn(point: Choosiness, field: str) -> Point:
    rate = max(0.0, getattr(point, field) or 0.0)
    ends = {"correct": (point.low, point.high), "incorrect": (point.incorrect_low, point.incorrect_high)}
    return rated(100 * point.threshold, rate, *ends.get(field, (None, None)))


def _table(result: AuditResult, terms: Terms) -> Table:
    """Return right and wrong links, or, where the truth is not known, answers with the check beside them."""
    first = "at least this sure (chances in 100)"
    if not result.risks:
        checks = _checks(result)
        rows = []
        for point in result.choosiness:
            check = checks[point.threshold]
            stated = in_words(check.stated)
            rows.append((f"{100 * point.threshold:g}", in_words(point.answered), stated, _right(check)))
        columns = (first, f"share of {terms.records}", "stated when rehearsed", "right when rehearsed")
        return Table(columns, tuple(rows), (0, 1, 2, 3))
    full = tuple(
        (
            f"{100 * point.threshold:g}",
            in_words(point.answered),
            with_interval(point.correct or 0.0, point.low, point.high),
            with_interval(max(0.0, point.incorrect or 0.0), point.incorrect_low, point.incorrect_high),
            _precision(point) or "no answers",
        )
        for point in result.choosiness
    )
    return Table((first, "answers", "right", "wrong", "right among the answers"), full, (0, 1, 2, 3, 4))


def _checks(result: AuditResult) -> dict[float, ThresholdCheck]:
    """Return the check of each threshold for the attack that speaks."""
    found = next(rehearsal for rehearsal in result.rehearsals if rehearsal.attack == result.choosy_attack)
    return {point.threshold: point for point in found.points}


def _right(check: ThresholdCheck) -> str:
    return "left out" if check.right is None else with_interval(check.right, check.low, check.high)


def _precision(point: Choosiness) -> str:
    if not point.answered:
        return ""
    share = point.precision if point.precision is not None else min(1.0, (point.correct or 0.0) / point.answered)
    return with_interval(share, point.precision_low, point.precision_high)


def _strict(result: AuditResult) -> Choosiness:
    return next((point for point in result.choosiness if point.threshold >= 0.9), result.choosiness[-1])


def _of(terms: Terms, rate: float, low: float | None = None, high: float | None = None) -> str:
    said = with_interval(max(rate, 0.0), low, high)
    return said.replace("none", f"no {terms.record}", 1) if rate <= 0.0 else f"{said} of all {terms.records}"


def _around(result: AuditResult, terms: Terms) -> Any:
    attack, point = attack_label(result.choosy_attack or "the attack"), _strict(result)
    got = "it never answers"
    if point.answered:
        right = _of(terms, point.correct or 0.0, point.low, point.high)
        wrong = _of(terms, point.incorrect or 0.0, point.incorrect_low, point.incorrect_high)
        got = f"it is right for {right} and wrong for {wrong}; of its answers, {_precision(point)} are right"
    fewer = ", so the first point can differ a little from the rate at the top" * (result.n_choosy < result.n_scored)
    said = {"attack": attack, "at": terms.at(result.choosy_epochs), "chance": 100 * point.threshold, "got": got}
    return text("audit.sure-known", terms, {**said, "n": result.n_choosy, "fewer": fewer})


def _around_checked(result: AuditResult, terms: Terms) -> Any:
    """Return the words around how sure an attack is that was checked in a rehearsal, with the check."""
    attack, point = attack_label(result.choosy_attack or "the attack"), _strict(result)
    check = _checks(result)[point.threshold]
    people = next(one.n_people for one in result.rehearsals if one.attack == result.choosy_attack)
    right = f"{_right(check)} were right"
    if check.right is None:
        right = f"how many were right is left out, because it would tell of a few {terms.people}"
    said = {"attack": attack, "given": _of(terms, point.answered), "chance": 100 * point.threshold, "n": people}
    return text("audit.sure-rehearsed", terms, {**said, "stated": check.stated, "right": right})


def _silent(result: AuditResult, terms: Terms) -> str:
    """Say why nothing is said of how sure an attack is."""
    first = [(rehearsal.attack, point) for rehearsal in result.rehearsals for point in rehearsal.points[:1]]
    why = "unconfirmed" if first else "unchecked" if result.rehearsals else "none"
    said = "; ".join(f"{attack_label(name)} stated {in_words(one.stated)}, right: {_right(one)}" for name, one in first)
    values = {"least": result.spec.get("min_group", 20), "said": said}
    found: str = text(f"audit.sure-not.{'few' if result.choosiness else why}", terms, values)
    return found
