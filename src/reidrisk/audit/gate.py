"""The gate: pass, fail or undecided, by the ends that hold for the strongest of all rows at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from reidrisk.attacks.registry import registry
from reidrisk.audit.doors import open_doors
from reidrisk.audit.spec import usual_epochs
from reidrisk.audit.steps import STEPS, beyond, in_order, standing, step_of, taken
from reidrisk.audit.truth_doubt import TruthCheck
from reidrisk.base import DataError, OptionError, Result, Spoken, TruthError, one_of
from reidrisk.base.options import option, share
from reidrisk.base.specs import named
from reidrisk.records.events import Told

if TYPE_CHECKING:
    from reidrisk.audit.result import AuditResult

Why = Literal[
    "within", "above", "few", "straddles", "doubt", "suspicion", "format", "not run", "required", "untried", "door"
]

_OF_THE_ROW = ("rate", "attack", "n_epochs", "which", "level", "n_targets", "everyone")  # what a gate says of it


@dataclass(frozen=True, eq=False)
class FullerStep(Result):
    """What somebody finds who is told more of each event than the gate takes to be known."""

    told: Told
    rate: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Gate(Spoken):
    """Whether the strongest of all rows (attack, number of epochs) stays within a limit, and what that rests on."""

    answer: Literal["pass", "fail", "undecided"]
    why: Why
    """Of a pass, a fail, and undecided: the ends straddle the limit, truth may be wrong (two degrees), format 1.

    ``"few"``: too few people were scored to tell (:data:`reidrisk.audit.ends.FEWEST`), of some question;
    ``"not run"``: a default attack that applies did not run; ``"required"``: one that was required is missing;
    ``"untried"``: not every number of periods or facts was looked at; ``"door"``: see ``doors``.
    """
    max_risk: float
    rate: float
    low: float  # the largest lower end, at the level corrected for the number of rows
    high: float
    attack: str
    n_epochs: int
    level: float
    n_rows: int
    epochs: tuple[int, ...]
    epochs_untried: tuple[int, ...]  # those of 1, 2, 4, … and all that were not looked at
    n_epochs_held: int
    n_targets: int
    n_scored: int
    strangers: float | None  # share of the records drawn that have no counterpart; None where that is not recorded
    unasked: float | None
    """Share of the known records that belong to nobody who is to be identified; None where that is not recorded."""
    truth: str
    truth_check: TruthCheck | None
    attacks: tuple[str, ...]
    everyone: bool
    simulated: bool
    which: tuple[int, ...] = ()  # the epochs of the highest rate, from 0, where they are not the first
    not_run: tuple[str, ...] = ()  # names of the default attacks that apply and did not run, of whichever question
    required: tuple[str, ...] = ()  # names of the attacks that had to run, and did not
    doors: tuple[str, ...] = ()
    """Codes of notes of what was seen and not measured (:mod:`reidrisk.audit.doors`)."""
    n_questions: int = 1
    """How many questions of the same data the answer is about; what is not said of all is said of the strongest."""
    told: Told | None = None  # how much of each event of a log the attacker is told; None where that was not asked
    beyond: tuple[FullerStep, ...] = ()
    """What those find who are told more, which the answer does not rest on."""


def gate(result: AuditResult, max_risk: float | str, require: Sequence[str] = (), told: Told | None = None) -> Gate:
    """Hold the strongest of all rows, whatever its question, attack and number of epochs, against a limit.

    The answer is ``pass`` where every default attack that applies ran and the upper end of every row is at most
    ``max_risk``, ``fail`` where the largest lower end, at the level corrected for the number of rows, is above it, and
    ``undecided`` otherwise. It never passes where the truth is doubted or suspected to be wrong, where a number of
    periods or facts was left out, where too few people were scored, where an attack that was required by its name did
    not run, nor on format 1.

    Of one log, the attacker is taken to be ``told`` that much of each event; default: as the audit was asked, else what
    it was and the day. What those find who are told more stands beside the answer (``beyond``).
    """
    if not hasattr(result, "questions"):
        raise DataError(f"the gate looks at an AuditResult, not at {type(result).__name__}")
    max_risk = share(named("max_risk"), max_risk)
    name = option("told").rstrip("=")
    if told is not None:
        one_of(name, told, STEPS)
    step = taken([one.scenario for one in result.questions], told or result.spec.get("told"))
    if told is not None and step is None:
        raise OptionError(f"{name} is for the audit of one log, which asks what is known of each event; leave it out")
    answers = [one for one in result.questions if not beyond(one.scenario, step)]
    rows = [answer.strongest for answer in answers]
    worst = max(answers, key=lambda one: standing(one.scenario, step, one.n_scored, one.strongest))
    risk = worst.strongest
    if risk is None:
        raise TruthError("this audit measured no rate: the truth is not known, and there is nothing to hold to a limit")
    low = max(row.low for row in rows if row is not None)
    high = max(1.0 if row is None else row.high for row in rows)
    doors = open_doors(result)
    absent = _absent(answers, require)
    missing = tuple(dict.fromkeys(one.attack for answer in answers for one in answer.not_run))
    answer, why = _decided(answers, doors, high, max_risk, absent)
    drawn = worst.n_scored + (worst.n_strangers or 0)
    fuller = [one for one in in_order(result.questions) if one not in answers]
    return Gate(
        answer=answer,
        why=why,
        max_risk=max_risk,
        low=low,
        high=high,
        n_rows=sum(len(one.risks) for one in answers),
        epochs=worst.epochs,
        epochs_untried=untried(worst),
        n_epochs_held=worst.n_epochs,
        n_scored=worst.n_scored,
        strangers=None if worst.n_strangers is None else worst.n_strangers / drawn,
        unasked=None if worst.n_unasked is None else worst.n_unasked / worst.n_targets,
        truth=worst.truth or "unrecorded",
        truth_check=worst.truth_check,
        attacks=tuple(worst.descriptions),
        simulated=result.simulated,
        not_run=missing,
        required=absent,
        doors=doors,
        n_questions=len(answers),
        told=step,
        beyond=tuple(_step(one) for one in fuller),
        **{name: getattr(risk, name) for name in _OF_THE_ROW},
    )


def _step(answer: AuditResult) -> FullerStep:
    told, row = step_of(answer.scenario), answer.strongest
    assert told is not None
    assert row is not None
    return FullerStep(told, row.rate, row.low, row.high)


def untried(result: AuditResult) -> tuple[int, ...]:
    """Return the usual numbers of epochs, items, facts or columns that hold something and were not looked at."""
    usual = usual_epochs(result.n_epochs) if result.axis in ("epochs", "facts") else (result.n_epochs,)
    return tuple(r for r in usual if r not in result.epochs and r not in result.epochs_skipped)


def _absent(answers: Sequence[AuditResult], require: Sequence[str]) -> tuple[str, ...]:
    """Return the attacks of these names that ran for no question; where one had no time, it is among those not run."""
    known = {one.name: one.attack.__name__ for one in registry()}
    for name in require:
        if name not in known:
            raise OptionError(f"there is no attack called {name!r} to require; choose from {', '.join(known)}")
    ran = {risk.attack for answer in answers for risk in answer.risks}
    return tuple(name for name in require if known[name] not in ran)


def _decided(
    answers: Sequence[AuditResult], doors: Sequence[str], high: float, max_risk: float, absent: Sequence[str]
) -> tuple[Literal["pass", "fail", "undecided"], Why]:
    sure = (answer.strongest for answer in answers if not answer.too_few)
    if any(row is not None and row.low > max_risk for row in sure):
        return "fail", "above"  # a wrong truth, strangers and weak attacks only make the risk look lower
    if any(answer.truth_doubt is not None for answer in answers):
        return "undecided", "doubt"
    if any(answer.truth_check == "suspicion" for answer in answers):
        return "undecided", "suspicion"
    if any(answer.upgraded_from is not None for answer in answers):
        return "undecided", "format"
    if any(answer.too_few for answer in answers):
        return "undecided", "few"
    if high > max_risk:
        return "undecided", "straddles"
    if absent:
        return "undecided", "required"
    if any(answer.not_run for answer in answers):
        return "undecided", "not run"
    if any(untried(answer) for answer in answers):
        return "undecided", "untried"
    if doors:
        return "undecided", "door"
    return "pass", "within"
