"""Results read back: format 3 strictly, 2 with what it could not say, 1 with ends that are safe where its are not."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from reidrisk import measure
from reidrisk.audit.checks import check_agreement
from reidrisk.audit.fingerprints import Fingerprints
from reidrisk.audit.gate import gate
from reidrisk.audit.plan import NotRun
from reidrisk.audit.result import FORMAT, Assumption, AuditResult
from reidrisk.audit.schema import check_fields
from reidrisk.base import Bound, Difference, FormatError, Note, ReidRiskError, Result, Risk
from reidrisk.base.plain import fields_of, plain, rebuilt

_WHAT = "this is not the result of an audit"

_SIZES = ("n_targets", "n_queries", "n_scored", "n_epochs", "n_tokens", "seed", "n_choosy")
_PARTS = ("spec", "differences", "bounds", "choosiness", "exposure", "choosy_attack", "descriptions", "versions")
_FIRST = _SIZES + _PARTS  # what format 1 has under the same name as later ones

_UNSAID = ("kind", "axis", "scenario", "also", "n_questions", "not_run", "further")  # by format 2
_DEFAULTS = {one.name: plain(one.default) for one in dataclasses.fields(AuditResult) if one.name in _UNSAID}

_LISTS = {"risks": Risk, "differences": Difference, "bounds": Bound, "choosiness": measure.Choosiness}

_LATER = ("per_user", "rates_without", "covers", "design_effect", "queries_per_person", "which", "notes")
"""Fields that are never saved, or that format 1 lacks; the defaults that stand for these promise least."""


def read(values: Any) -> AuditResult:
    """Rebuild a result from plain values, or refuse it in one sentence.

    A result of format 1 gets lower ends by the Chernoff bound, keeps its rates, and is marked by ``upgraded_from``; no
    gate passes on it.
    """
    if not isinstance(values, Mapping) or "format" not in values:
        raise FormatError(f"{_WHAT}: it is no object, or 'format' is missing")
    given = values["format"]
    if isinstance(given, bool) or given not in (1, 2, FORMAT):
        raise FormatError(f"this result has format {str(given)[:20]}; this version reads formats 1, 2 and {FORMAT}")
    if given == 1:
        return _first(values)
    fields = _second(values) if given == 2 else dict(values)
    check_fields(fields)
    result = _built(fields)
    check_agreement(result)
    return result


def _second(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what format 2 holds as format 3: of traces, one question; and the attack that it may have left out."""
    fields, notes, missing = {**_DEFAULTS, **values, "format": FORMAT}, values.get("notes"), []
    if isinstance(notes, list):
        old = [note for note in notes if isinstance(note, dict) and note.get("code") == "attack-left-out"]
        missing = [NotRun(str(note.get("attack")), "time").to_dict() for note in old]
        said = [Note("attack-not-run", attack=one["attack"], why=one["why"]).to_dict() for one in missing]
        fields["notes"] = [note for note in notes if note not in old] + said
    fields["not_run"] = missing
    answer = values.get("gate")
    if isinstance(answer, dict):  # a field by the name it has now, and what no gate asked then
        named = {{"epochs_left_out": "epochs_untried"}.get(name, name): each for name, each in answer.items()}
        new = {"required": [], "n_questions": 1, "told": None, "beyond": []}
        fields["gate"] = {"not_run": [one["attack"] for one in missing], **new, **named}
    check_fields(fields)
    if isinstance(answer, dict) and answer.get("answer") == "pass":
        # What passed then may be undecided now: an attack, or a number of epochs, was left out.
        again = gate(_built({**fields, "gate": None}), fields["gate"]["max_risk"])
        if again.why in ("not run", "untried"):
            fields["gate"] |= {"answer": again.answer, "why": again.why}
    return fields


def _built(values: dict[str, Any]) -> AuditResult:
    try:
        built = AuditResult(**fields_of(AuditResult, {**values, "also": []}, "it"))
        return dataclasses.replace(built, also=tuple(_built(each) for each in values.get("also", ())))
    except (ReidRiskError, TypeError, ValueError) as error:
        raise FormatError(f"{_WHAT}: {error}") from error


def _first(values: Mapping[str, Any]) -> AuditResult:
    """Rebuild a result of format 1 with what it does not hold: safe ends, and that it is old."""
    for name in (*_FIRST, "risks", "assumptions", "verdict"):
        if name not in values:
            raise FormatError(f"{_WHAT}: {name!r} is missing")
    for name, kind in _LISTS.items():
        if not isinstance(values[name], list):
            raise FormatError(f"{_WHAT}: {name} is not a list")
        for i, each in enumerate(values[name]):
            _check_first(kind, each, f"{name}[{i}]")
    if values["exposure"] is not None:
        _check_first(measure.Exposure, values["exposure"], "exposure")
    try:
        said = rebuilt(tuple[Assumption, ...], values["assumptions"], "assumptions")
        rows = rebuilt(tuple[Risk, ...], values["risks"], "risks")
    except (ReidRiskError, TypeError, ValueError) as error:
        raise FormatError(f"{_WHAT}: {error}") from error
    own = [Note("own-words", holds=one.holds, otherwise=one.otherwise).to_dict() for one in said]
    sums = values.get("checksums", {})
    # What an attack that nobody could check said of itself is left out.
    checked: dict[str, Any] = {} if rows else {"choosiness": [], "choosy_attack": None, "n_choosy": 0}
    result = _built(
        {name: values[name] for name in _FIRST}
        | checked
        | {
            "n_strangers": None,
            "n_unasked": None,
            "epochs": sorted({risk.n_epochs for risk in rows}) or [values["n_epochs"]],
            "epochs_skipped": [],
            "risks": values["risks"],
            "lower_ends": [_chernoff(risk, len(rows)) for risk in rows],
            "choosy_epochs": values["n_epochs"],
            "rehearsals": [],
            "truth": "unrecorded" if rows else None,
            "truth_check": "no power" if rows else None,
            "truth_doubt": None,
            "notes": [*own, Note("format-1").to_dict()],
            "gate": None,
            "fingerprints": Fingerprints("sha256", sums).to_dict() if sums else None,
            "upgraded_from": 1,
        }
        | _DEFAULTS
    )
    if min(getattr(result, name) for name in _SIZES) < 0:
        raise FormatError(f"{_WHAT}: a size is below 0")
    for i, risk in enumerate(rows):
        total = risk.rate + risk.incorrect + risk.abstained
        if not 0 < risk.n_epochs <= result.n_epochs or abs(total - 1.0) > 1e-6:
            raise FormatError(f"{_WHAT}: risks[{i}] contradicts the rest; it was damaged or edited")
    return result


def _check_first(kind: type[Result], values: Any, where: str) -> None:
    """Refuse an entry of format 1 that lacks one of its fields."""
    if not isinstance(values, dict):
        raise FormatError(f"{_WHAT}: {where} is not an object")
    for field in dataclasses.fields(kind):
        if field.name not in values and field.name not in _LATER:
            raise FormatError(f"{_WHAT}: {where} has no {field.name}")


def _chernoff(risk: Risk, n_rows: int) -> float:
    """Return a lower end of a rate in [0, 1] at the level 1 - alpha / m, from the rate and its size alone.

    It is the smallest p with n KL(rate, p) <= log(2 m / alpha), valid for independent values however they are spread.
    """
    from scipy.optimize import brentq
    from scipy.special import rel_entr

    x = risk.rate
    if x <= 0.0 or risk.n_queries == 0:
        return 0.0
    room = math.log(2.0 * n_rows / max(1.0 - risk.level, 1e-300)) / risk.n_queries

    def excess(p: float) -> float:
        return float(rel_entr(x, p) + rel_entr(1.0 - x, 1.0 - p)) - room

    return min(float(brentq(excess, 1e-300, x)), risk.low) if excess(1e-300) > 0.0 else 0.0
