"""Steps of what somebody is told of each event of a log: which answers count by how much is taken to be known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from reidrisk.audit.ends import FEWEST
from reidrisk.base import Note, Risk
from reidrisk.records.events import Told

if TYPE_CHECKING:
    from reidrisk.audit.result import AuditResult

STEPS: tuple[Told, ...] = ("what", "day", "row")
"""From the least that is told to the most."""
USUAL: Told = "day"  # what the attacker is told unless something else is said


def step_of(scenario: Note | None) -> Told | None:
    """Return how much of each event a question tells, where it is one of somebody who knows some events.

    >>> step_of(Note("scenario-knows", facts=4, told="day")), step_of(Note("scenario-split", by="time"))
    ('day', None)
    """
    return None if scenario is None else scenario.get("told")


def taken(scenarios: Iterable[Note | None], told: Told | None) -> Told | None:
    """Return which of the steps that were asked is taken: the fullest that tells no more than ``told``.

    Where even the first one asked tells more, it is that one; ``None`` where no step was asked.

    >>> asked = [Note("scenario-knows", told=told) for told in ("what", "row")]
    >>> taken(asked, None), taken(asked, "row"), taken(asked[1:], None), taken([], None)
    ('what', 'row', 'row', None)
    """
    asked = sorted({STEPS.index(step) for step in map(step_of, scenarios) if step is not None})
    if not asked:
        return None
    most = STEPS.index(told or USUAL)
    return STEPS[max((place for place in asked if place <= most), default=asked[0])]


def beyond(scenario: Note | None, told: Told | None) -> bool:
    """Whether a question tells more of each event than is taken to be known."""
    step = step_of(scenario)
    return step is not None and told is not None and STEPS.index(step) > STEPS.index(told)


def in_order(answers: Iterable[AuditResult]) -> list[AuditResult]:
    """Return the answers that are steps, from the least that is told to the most."""
    found = [(step_of(answer.scenario), answer) for answer in answers]
    steps = [(STEPS.index(step), answer) for step, answer in found if step is not None]
    return [answer for _, answer in sorted(steps, key=lambda one: one[0])]


def standing(scenario: Note | None, told: Told | None, n_scored: int, worst: Risk | None) -> tuple[bool, bool, float]:
    """Return what decides which of several answers leads: the highest is the first.

    It is one that tells no more than is taken to be known, and was measured on enough people; then, the highest rate.
    """
    return not beyond(scenario, told), n_scored >= FEWEST, -1.0 if worst is None else worst.rate


def strongest_first(answers: Sequence[AuditResult]) -> list[AuditResult]:
    """Return the answers in the order of their :func:`standing`; of equals the first stays first."""
    told = taken([answer.scenario for answer in answers], answers[0].spec.get("told"))

    def key(answer: AuditResult) -> tuple[bool, bool, float]:
        return standing(answer.scenario, told, answer.n_scored, answer.strongest)

    return sorted(answers, key=key, reverse=True)
