"""The sentences on how sure an attacker can be: measured with truth, checked without, or nothing."""

from __future__ import annotations

from reidrisk.audit import AuditResult
from reidrisk.measure import Choosiness
from reidrisk.report.phrases import attack_label, epochs, frequency, interval, limits, rate_of_records
from reidrisk.report.sentences import Around


def around_choosiness(result: AuditResult) -> Around:
    """Return the words around right and wrong links as the attacker becomes choosier."""
    curve = result.choosiness
    attack = attack_label(result.choosy_attack or "the attack")
    strict = next((point for point in curve if point.threshold >= 0.9), curve[-1])
    sure = f"{100 * strict.threshold:g} in 100"
    if not result.risks:
        return _around_checked(result, strict)
    if not strict.answered:
        got = "it never answers"
    elif strict.correct is None or strict.incorrect is None:
        got = f"it answers for {rate_of_records(strict.answered)}, {_blurred(strict, result)}"
    else:
        right = rate_of_records(strict.correct, strict.low, strict.high)
        wrong = rate_of_records(strict.incorrect, strict.incorrect_low, strict.incorrect_high)
        got = f"it is right for {right} and wrong for {wrong}"
    if strict.precision is not None:
        about = interval(strict.precision, strict.precision_low or 0.0, strict.precision_high or 0.0)
        got += f": {frequency(strict.precision)} of its answers are right" + (f" ({about})" if about else "")
    before = (
        f"See what an attacker gains by answering only when sure: if {attack} at {epochs(result.choosy_epochs)} "
        f"demands a chance of at least {sure} by its own reckoning, {got}."
    )
    after = (
        "Do not conclude that a wrong link does no harm, nor that the attack's own reckoning is right: compare it with "
        f"the table. This was measured on {result.n_choosy:,} records"
        + (
            ", so the first point can differ a little from the rate at the top."
            if result.n_choosy < result.n_scored
            else "."
        )
    )
    alt = f"Right and wrong links against how sure {attack} wants to be. Answering always: "
    start = curve[0]
    alt += f"right {frequency(start.correct or 0.0)}, wrong {frequency(max(0.0, start.incorrect or 0.0))}. {before}"
    return Around(before, after, alt)


def _around_checked(result: AuditResult, strict: Choosiness) -> Around:
    """Return the words around how sure an attack is that was checked in a rehearsal, with the check."""
    attack = attack_label(result.choosy_attack or "the attack")
    check = next(rehearsal for rehearsal in result.rehearsals if rehearsal.attack == result.choosy_attack)
    point = next(point for point in check.points if point.threshold == strict.threshold)
    right = limits(point.low, point.high)
    if point.right is not None:
        right = f"{frequency(point.right)} ({interval(point.right, point.low or 0.0, point.high or 0.0)})"
    before = (
        f"See how often {attack} is sure: it gives {rate_of_records(strict.answered)} a chance of "
        f"{100 * strict.threshold:g} in 100 or more. The check: when halves of {check.n_people:,} known records were "
        f"linked to each other, it stated {frequency(point.stated)} on average there, and {right} were right."
    )
    after = (
        "Do not read this as a rate of success: the check was on the known records alone. Where the records to "
        "identify belong to other people, or agree less than two halves of one record do, fewer links are right."
    )
    return Around(before, after, f"Share of records answered by {attack} against how sure it wants to be. {before}")


def silent(result: AuditResult) -> str:
    """Say why nothing is said of how sure an attack is; an empty string where something is."""
    if result.choosiness:
        return ""
    if not result.rehearsals:
        return "The attacks that ran give no probabilities, so they cannot choose to answer only when sure."
    if not any(rehearsal.points for rehearsal in result.rehearsals):
        return (
            "How sure an attack is, is not said: without known pairs its probabilities must be checked on the known "
            "records themselves, and there are too few people, epochs or sure links for that."
        )
    said = []
    for rehearsal in result.rehearsals:
        for point in rehearsal.points[:1]:
            right = limits(point.low, point.high) if point.right is None else frequency(point.right)
            said.append(f"{attack_label(rehearsal.attack)} stated {frequency(point.stated)}, and {right} were right")
    return (
        "How sure an attack is, is not said: in a rehearsal on halves of the known records, its probabilities were not "
        f"confirmed. {'; '.join(said)}."
    )


def _blurred(point: Choosiness, result: AuditResult) -> str:
    """Say what can be said of right and wrong answers where few people are among one of them."""
    about = limits(point.precision_low, point.precision_high)
    why = f"that would be about fewer than {result.spec.get('min_group', 20)} people"
    if about == "not shown":
        return f"and how many of these answers are right is not shown: {why}"
    return f"and {about} of these answers are right; the share itself is not shown, because {why}"
