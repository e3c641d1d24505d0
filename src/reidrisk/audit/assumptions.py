"""What an audit's numbers rest on, as notes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reidrisk.attacks.registry import entry, left_out
from reidrisk.audit.result import Assumption
from reidrisk.audit.spec import AuditSpec
from reidrisk.audit.truth_doubt import TruthCheck, TruthDoubt
from reidrisk.base.notes import Note
from reidrisk.base.results import Bound, Risk
from reidrisk.records import Traces


def as_note(given: str | Assumption | Note) -> Note:
    """Return what somebody assumed in their own words as a note."""
    if isinstance(given, Note):
        return given
    if isinstance(given, str):
        return Note("own-words", holds=given)
    return Note("own-words", holds=given.holds, otherwise=given.otherwise)


def assumptions(
    spec: AuditSpec,
    targets: Traces,
    queries: Traces,
    truth: str | None,
    n_scored: int,
    n_strangers: int,
    risks: Sequence[Risk],
    notes: tuple[Note, ...],
) -> tuple[Note, ...]:
    """List what the numbers of an audit rest on; ``notes`` are what the reader of the tables had to assume."""
    found = [Note("no-truth") if truth is None else Note("truth", origin=truth), Note("closed-world")]
    known = spec.mechanism(targets.n_tokens)
    system = {"top_k": known.top_k, "noise": known.noise}
    declared = known.declared == "system"
    found.append(Note("system-topics", **system) if declared else Note("system-unknown", **system))
    found.append(Note("vocabulary", n=targets.n_tokens))
    ran = [entry(name).attack.__name__ for name in spec.attacks or ()]
    found += [Note("attack-left-out", attack=one.name) for one in left_out(ran, targets.n_epochs)]
    found.append(_gaps(targets, queries))
    drawn = n_scored + n_strangers
    if truth is not None and drawn < len(queries):
        found.append(Note("sample-drawn", n=drawn, of=len(queries)))
    elif truth is not None:
        found.append(Note("all-scored", n=n_scored, covers=_covered(risks)))
    if n_strangers:
        found.append(Note("strangers-drawn", n=n_strangers, scored=n_scored))
    found.append(Note("people-independent"))
    # Where rows count as people, the truth has said so.
    found += [note for note in notes if not (truth == "rows" and note.code == "rows-are-people")]
    return tuple(found)


def later_notes(
    checked: TruthCheck | None,
    doubt: TruthDoubt | None,
    risks: Sequence[Risk],
    bounds: Sequence[Bound],
    n_epochs: int,
    skipped: tuple[int, ...],
    own: list[str],
) -> tuple[Note, ...]:
    """Note what turned out: a truth in doubt, a model exceeded, periods without items, attacks beside the spec."""
    found = []
    if doubt is not None:
        values = {"attack": doubt.attack, "n_epochs": doubt.n_epochs, "asked": doubt.n_asked, "close": doubt.n_close}
        found.append(Note("truth-in-doubt", **values))
    elif checked == "no power":
        found.append(Note("truth-not-checked"))
    if any(risk.n_epochs < n_epochs for risk in risks):
        chosen = sorted({risk.which for risk in risks if risk.which}, key=len)
        found.append(Note("periods-compared", chosen=[list(which) for which in chosen]))
    above = [(risk, bound) for bound in bounds for risk in risks if exceeds([risk], bound)]
    for risk, bound in above[-1:]:  # at the most epochs: the model does not hold
        place = {"n_epochs": bound.n_epochs, "attack": risk.attack, "bound": bound.name}
        found.append(Note("model-exceeded", **place, rate=risk.rate, value=bound.value))
    if skipped:
        found.append(Note("periods-without-items", skipped=list(skipped)))
    if own:
        found.append(Note("own-attacks", names=own))
    return tuple(found)


def exceeds(risks: Sequence[Risk], bound: Bound) -> bool:
    """Whether an attack links significantly more people than a bound within a model of people allows."""
    about = (risk for risk in risks if risk.n_epochs == bound.n_epochs and not risk.which)
    return bound.within_model and any(risk.low > bound.high for risk in about)


def _covered(risks: Sequence[Risk]) -> dict[str, list[str]]:
    """Return the attacks whose intervals cover people, queries, or nothing."""
    kinds = ("people", "queries", "none")
    return {covers: list(dict.fromkeys(r.attack for r in risks if r.covers == covers)) for covers in kinds}


def _gaps(targets: Traces, queries: Traces) -> Note:
    missing = [float(np.mean(~table.observed)) for table in (targets, queries)]
    if not any(missing):
        return Note("all-observed", n=targets.n_epochs)
    return Note("gaps", targets=missing[0], queries=missing[1])
