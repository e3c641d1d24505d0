"""How sure can the attacker be: right and wrong links as it answers only when sure; without truth, with a check."""

from functools import partial
from typing import Any

from reidrisk.audit import AuditResult, ThresholdCheck
from reidrisk.measure import Choosiness
from reidrisk.present import drawing
from reidrisk.present.drawing import Line, Point, rated
from reidrisk.present.model import Figure, Section, Table
from reidrisk.present.scales import rate_scale
from reidrisk.present.terms import Terms
from reidrisk.present.words.frequencies import attack_label, in_words, with_interval

_TITLE = "How sure can the attacker be"


def section(result: AuditResult, terms: Terms) -> Section:
    """Return the links of an attacker who answers only when sure, or why nothing is said of that."""
    if not result.choosiness or (result.risks and len(result.choosiness) == 1):
        return Section(_TITLE, see=_silent(result, terms), name="sure")
    see, caution = _around(result, terms) if result.risks else _around_checked(result, terms)
    about = f"how sure {attack_label(result.choosy_attack or 'the attack')} wants to be"
    figure = Figure(partial(chart, result, terms), f"Links against {about}. {see}", _table(result, terms))
    return Section(_TITLE, see=see, figure=figure, caution=caution, console=not result.risks, name="sure")


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


def _around(result: AuditResult, terms: Terms) -> tuple[str, str]:
    attack, point = attack_label(result.choosy_attack or "the attack"), _strict(result)
    got = "it never answers"
    if point.answered:
        right = _of(terms, point.correct or 0.0, point.low, point.high)
        wrong = _of(terms, point.incorrect or 0.0, point.incorrect_low, point.incorrect_high)
        got = f"it is right for {right} and wrong for {wrong}; of its answers, {_precision(point)} are right"
    see = (
        f"See what an attacker gains by answering only when sure: if {attack} "
        f"{terms.at(result.choosy_epochs)} demands a chance of at least {100 * point.threshold:g} in 100 "
        f"by its own reckoning, {got}."
    )
    fewer = ", so the first point can differ a little from the rate at the top" * (result.n_choosy < result.n_scored)
    caution = (
        "Do not conclude that a wrong link does no harm, nor that the attack's own reckoning is right: compare it with "
        f"the table. This was measured on {terms.many('record', result.n_choosy)}{fewer}."
    )
    return see, caution


def _around_checked(result: AuditResult, terms: Terms) -> tuple[str, str]:
    """Return the words around how sure an attack is that was checked in a rehearsal, with the check."""
    attack, point = attack_label(result.choosy_attack or "the attack"), _strict(result)
    check = _checks(result)[point.threshold]
    people = next(one.n_people for one in result.rehearsals if one.attack == result.choosy_attack)
    right = f"{_right(check)} were right"
    if check.right is None:
        right = f"how many were right is left out, because it would tell of a few {terms.people}"
    see = (
        f"See how often {attack} is sure: it gives {_of(terms, point.answered)} a chance of "
        f"{100 * point.threshold:g} in 100 or more. The check: when halves of {people:,} known {terms.records} were "
        f"linked to each other, it stated {in_words(check.stated)} on average there, and {right}."
    )
    caution = (
        f"Do not read this as a rate of success: the check was on the known {terms.records} alone. Where the "
        f"{terms.records} to identify belong to other {terms.people}, or agree less than two halves of one "
        f"{terms.record} do, fewer links are right."
    )
    return see, caution


def _silent(result: AuditResult, terms: Terms) -> str:
    """Say why nothing is said of how sure an attack is."""
    if result.choosiness:
        few = f"fewer than {result.spec.get('min_group', 20):,} {terms.people} are on one side of it"
        return f"This is left out: wherever a line is drawn between surer and less sure answers, {few}."
    if not result.rehearsals:
        return "The attacks that ran give no probabilities, so they cannot choose to answer only when sure."
    first = [(rehearsal.attack, point) for rehearsal in result.rehearsals for point in rehearsal.points[:1]]
    if not first:
        return (
            f"Nothing is said of that: without known pairs its probabilities must be checked on the known "
            f"{terms.records} themselves, and there are too few {terms.people}, {terms.periods} or sure links for that."
        )
    said = [
        f"{attack_label(attack)} stated {in_words(point.stated)}, right: {_right(point)}" for attack, point in first
    ]
    return (
        f"Nothing is said of that: in a rehearsal on halves of the known {terms.records}, the attacks' probabilities "
        f"were not confirmed. {'; '.join(said)}."
    )
