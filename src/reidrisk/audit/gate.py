"""The gate: pass, fail or undecided, by the ends that hold for the strongest of all rows at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from reidrisk.audit.spec import usual_epochs
from reidrisk.audit.truth_doubt import TruthCheck
from reidrisk.base.errors import OptionError, TruthError
from reidrisk.base.results import Risk, Spoken

if TYPE_CHECKING:
    from reidrisk.audit.result import AuditResult

Why = Literal["within", "above", "straddles", "doubt", "suspicion", "format"]


@dataclass(frozen=True, eq=False)
class Gate(Spoken):
    """Whether the strongest of all rows (attack, number of epochs) stays within a limit, and what that rests on."""

    answer: Literal["pass", "fail", "undecided"]
    why: Why
    """Of a pass, a fail, and undecided: the ends straddle the limit, truth may be wrong (two degrees), format 1."""
    max_risk: float
    rate: float
    low: float
    """The largest lower end, at the level corrected for the number of rows."""
    high: float
    attack: str
    n_epochs: int
    level: float
    n_rows: int
    epochs: tuple[int, ...]
    epochs_untried: tuple[int, ...]
    """Those of 1, 2, 4, … and all that were not looked at."""
    n_epochs_held: int
    n_targets: int
    n_scored: int
    strangers: float | None
    """Share of the records drawn that have no counterpart; None where that is not recorded."""
    unasked: float | None
    """Share of the known records that belong to nobody who is to be identified; None where that is not recorded."""
    truth: str
    truth_check: TruthCheck | None
    attacks: tuple[str, ...]
    everyone: bool
    simulated: bool
    which: tuple[int, ...] = ()
    """The epochs of the highest rate, from 0, where they are not the first."""


def gate(result: AuditResult, max_risk: float) -> Gate:
    """Hold the strongest of all rows, whatever its attack and number of epochs, against a limit.

    The answer is ``pass`` where the upper end of every row is at most ``max_risk``, ``fail`` where the largest lower
    end, at the level corrected for the number of rows, is above it, and ``undecided`` otherwise. It never passes where
    the truth is doubted or suspected to be wrong, nor on a result of format 1.
    """
    if not 0.0 <= max_risk <= 1.0:
        raise OptionError(f"the limit is a risk in [0, 1], not {max_risk}")
    risk = result.strongest
    if risk is None:
        raise TruthError("this audit measured no rate: the truth is not known, and there is nothing to hold to a limit")
    answer, why = _decided(result, risk, max_risk)
    drawn = result.n_scored + (result.n_strangers or 0)
    return Gate(
        answer=answer,
        why=why,
        max_risk=max_risk,
        rate=risk.rate,
        low=risk.low,
        high=risk.high,
        attack=risk.attack,
        n_epochs=risk.n_epochs,
        level=risk.level,
        n_rows=len(result.risks),
        epochs=result.epochs,
        epochs_untried=tuple(r for r in usual_epochs(result.n_epochs) if r not in result.epochs),
        n_epochs_held=result.n_epochs,
        n_targets=risk.n_targets,
        n_scored=result.n_scored,
        strangers=None if result.n_strangers is None else result.n_strangers / drawn,
        unasked=None if result.n_unasked is None else result.n_unasked / result.n_targets,
        truth=result.truth or "unrecorded",
        truth_check=result.truth_check,
        attacks=tuple(result.descriptions),
        everyone=risk.everyone,
        simulated=result.simulated,
        which=risk.which,
    )


def _decided(result: AuditResult, risk: Risk, max_risk: float) -> tuple[Literal["pass", "fail", "undecided"], Why]:
    if risk.low > max_risk:
        return "fail", "above"  # a wrong truth and strangers only make an attack look weaker
    if result.truth_doubt is not None:
        return "undecided", "doubt"
    if result.truth_check == "suspicion":
        return "undecided", "suspicion"
    if result.upgraded_from is not None:
        return "undecided", "format"
    return ("pass", "within") if risk.high <= max_risk else ("undecided", "straddles")
