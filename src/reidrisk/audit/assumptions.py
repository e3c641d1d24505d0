"""What an audit's numbers rest on, as notes."""

from collections.abc import Iterable, Sequence

import numpy as np

from reidrisk.audit.result import Assumption, AuditResult
from reidrisk.audit.spec import AuditSpec
from reidrisk.audit.truth_doubt import TruthCheck, TruthDoubt
from reidrisk.base import Bound, Note, Risk
from reidrisk.records import Case, Traces


def _as_note(given: str | Assumption | Note) -> Note:
    """Return what somebody assumed in their own words as a note."""
    if isinstance(given, Assumption):
        return Note("own-words", holds=given.holds, otherwise=given.otherwise)
    return given if isinstance(given, Note) else Note("own-words", holds=given)


def assumptions(
    result: AuditResult, case: Case, given: Iterable[str | Assumption | Note], own: Sequence[str]
) -> tuple[Note, ...]:
    """List what the numbers of an audit rest on, then what was ``given`` with the tables, then what turned out.

    ``own`` are the attacks that were handed over beside the spec.
    """
    spec = AuditSpec.model_validate(result.spec)
    targets, queries = case.targets, case.queries
    truth, drawn = result.truth, result.n_scored + (result.n_strangers or 0)
    found = [Note("no-truth") if truth is None else Note("truth", origin=truth), Note("closed-world")]
    if isinstance(targets, Traces) and result.axis == "epochs":
        found += _of_traces(spec, targets, queries)
    if truth is not None and drawn < len(queries):
        found.append(Note("sample-drawn", n=drawn, of=len(queries)))
    elif truth is not None:
        # The attacks whose intervals cover people, queries, or nothing.
        by_kind = {kind: [r.attack for r in result.risks if r.covers == kind] for kind in ("people", "queries", "none")}
        covers = {kind: list(dict.fromkeys(names)) for kind, names in by_kind.items()}
        found.append(Note("all-scored", n=result.n_scored, covers=covers))
    if result.n_strangers:
        found.append(Note("strangers-drawn", n=result.n_strangers, scored=result.n_scored))
    found.append(Note("people-independent"))
    # What did not run is said first on the page; here it is listed with the rest.
    found += [Note("attack-not-run", attack=one.attack, why=one.why) for one in result.not_run]
    # Where rows count as people, the truth has said so.
    said = (_as_note(note) for note in given)
    found += [note for note in said if not (truth == "rows" and note.code == "rows-are-people")]

    found += truth_notes(result.truth_check, result.truth_doubt)
    if result.axis in ("items", "facts") and len(result.epochs) > 1:
        found.append(Note("fewer-drawn", axis=result.axis))
    elif result.axis == "epochs" and any(risk.n_epochs < result.n_epochs for risk in result.risks):
        chosen = sorted({risk.which for risk in result.risks if risk.which}, key=lambda one: (len(one), one))
        found.append(Note("periods-compared", chosen=[list(which) for which in chosen]))
    found += model_notes(result.risks, result.bounds)
    if result.epochs_skipped:
        found.append(Note("periods-without-items", skipped=list(result.epochs_skipped)))
    if own:
        found.append(Note("own-attacks", names=list(own)))
    return tuple(found)


def model_notes(risks: Sequence[Risk], bounds: Sequence[Bound]) -> list[Note]:
    """Return where an attack links more people than a model of people allows, if any does: that does not hold."""
    above = [(risk, bound) for bound in bounds for risk in risks if exceeds([risk], bound)]
    found = []
    for risk, bound in above[-1:]:  # at the most epochs
        place = {"n_epochs": bound.n_epochs, "attack": risk.attack, "bound": bound.name}
        found.append(Note("model-exceeded", **place, rate=risk.rate, value=bound.value))
    return found


def truth_notes(check: TruthCheck | None, doubt: TruthDoubt | None) -> list[Note]:
    """Return what became of the check of the truth, unless it passed."""
    if doubt is not None:
        values = {"attack": doubt.attack, "n_epochs": doubt.n_epochs, "asked": doubt.n_asked, "close": doubt.n_close}
        return [Note("truth-in-doubt", **values)]
    if check == "suspicion":
        return [Note("truth-suspected")]
    return [Note("truth-not-checked")] if check == "no power" else []


def _of_traces(spec: AuditSpec, targets: Traces, queries: Traces) -> list[Note]:
    """Return what is assumed of the system that shows one token per epoch, and of the epochs in which it did not."""
    found = [spec.of_system(targets.n_tokens), Note("vocabulary", n=targets.n_tokens)]
    gaps = {"targets": float(np.mean(~targets.observed)), "queries": float(np.mean(~queries.observed))}
    return [*found, Note("gaps", **gaps) if any(gaps.values()) else Note("all-observed", n=targets.n_epochs)]


def exceeds(risks: Sequence[Risk], bound: Bound) -> bool:
    """Whether an attack links significantly more people than a bound within a model of people allows."""
    # Who links all records together may find more than a bound of one record allows.
    same = [risk for risk in risks if risk.setting != "matching" or bound.setting == "matching"]
    about = (risk for risk in same if risk.n_epochs == bound.n_epochs and not risk.which)
    return bound.within_model and any(risk.low > bound.high for risk in about)
