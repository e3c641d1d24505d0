"""The gate: pass, fail or undecided, by the ends that hold for the strongest of all rows at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from reidrisk.attacks.registry import registry
from reidrisk.audit.doors import open_doors
from reidrisk.audit.spec import usual_epochs
from reidrisk.audit.truth_doubt import TruthCheck
from reidrisk.base import DataError, OptionError, Spoken, TruthError
from reidrisk.base.options import share
from reidrisk.base.specs import named

if TYPE_CHECKING:
    from reidrisk.audit.result import AuditResult

Why = Literal[
    "within", "above", "few", "straddles", "doubt", "suspicion", "format", "not run", "required", "untried", "door"
]

_OF_THE_ROW = ("rate", "attack", "n_epochs", "which", "level", "n_targets", "everyone")  # what a gate says of it


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


def gate(result: AuditResult, max_risk: float | str, require: Sequence[str] = ()) -> Gate:
    """Hold the strongest of all rows, whatever its question, attack and number of epochs, against a limit.

    The answer is ``pass`` where every default attack that applies ran and the upper end of every row is at most
    ``max_risk``, ``fail`` where the largest lower end, at the level corrected for the number of rows, is above it, and
    ``undecided`` otherwise. It never passes where the truth is doubted or suspected to be wrong, where a number of
    periods or facts was left out, where too few people were scored, where an attack that was required by its name did
    not run, nor on format 1.
    """
    if not hasattr(result, "questions"):
        raise DataError(f"the gate looks at an AuditResult, not at {type(result).__name__}")
    max_risk = share(named("max_risk"), max_risk)
    rows = [answer.strongest for answer in result.questions]
    risk = rows[0]
    if risk is None:
        raise TruthError("this audit measured no rate: the truth is not known, and there is nothing to hold to a limit")
    low = max(row.low for row in rows if row is not None)
    high = max(1.0 if row is None else row.high for row in rows)
    absent = _absent(result, require)
    answer, why = _decided(result, high, max_risk, absent)
    drawn = result.n_scored + (result.n_strangers or 0)
    return Gate(
        answer=answer,
        why=why,
        max_risk=max_risk,
        low=low,
        high=high,
        n_rows=sum(len(one.risks) for one in result.questions),
        epochs=result.epochs,
        epochs_untried=untried(result),
        n_epochs_held=result.n_epochs,
        n_scored=result.n_scored,
        strangers=None if result.n_strangers is None else result.n_strangers / drawn,
        unasked=None if result.n_unasked is None else result.n_unasked / result.n_targets,
        truth=result.truth or "unrecorded",
        truth_check=result.truth_check,
        attacks=tuple(result.descriptions),
        simulated=result.simulated,
        not_run=result.missing,
        required=absent,
        doors=open_doors(result),
        n_questions=len(result.questions),
        **{name: getattr(risk, name) for name in _OF_THE_ROW},
    )


def untried(result: AuditResult) -> tuple[int, ...]:
    """Return the usual numbers of epochs, items, facts or columns that hold something and were not looked at."""
    usual = usual_epochs(result.n_epochs) if result.axis in ("epochs", "facts") else (result.n_epochs,)
    return tuple(r for r in usual if r not in result.epochs and r not in result.epochs_skipped)


def _absent(result: AuditResult, require: Sequence[str]) -> tuple[str, ...]:
    """Return the attacks of these names that are missing in the answer to some question."""
    known = {one.name: one.attack.__name__ for one in registry()}
    for name in require:
        if name not in known:
            raise OptionError(f"there is no attack called {name!r} to require; choose from {', '.join(known)}")
    ran = [{risk.attack for risk in answer.risks} for answer in result.questions]
    return tuple(name for name in require if not all(known[name] in attacks for attacks in ran))


def _decided(
    result: AuditResult, high: float, max_risk: float, absent: Sequence[str]
) -> tuple[Literal["pass", "fail", "undecided"], Why]:
    sure = (answer.strongest for answer in result.questions if not answer.too_few)
    if any(row is not None and row.low > max_risk for row in sure):
        return "fail", "above"  # a wrong truth, strangers and weak attacks only make the risk look lower
    if any(answer.truth_doubt is not None for answer in result.questions):
        return "undecided", "doubt"
    if any(answer.truth_check == "suspicion" for answer in result.questions):
        return "undecided", "suspicion"
    if result.upgraded_from is not None:
        return "undecided", "format"
    if any(answer.too_few for answer in result.questions):
        return "undecided", "few"
    if high > max_risk:
        return "undecided", "straddles"
    if absent:
        return "undecided", "required"
    if result.missing:
        return "undecided", "not run"
    if any(untried(answer) for answer in result.questions):
        return "undecided", "untried"
    if open_doors(result):
        return "undecided", "door"
    return "pass", "within"
