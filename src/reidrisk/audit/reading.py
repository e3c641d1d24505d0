"""Results read back: format 2 strictly, format 1 with ends that are safe where its own are not."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from reidrisk import measure
from reidrisk.audit.checks import check_agreement
from reidrisk.audit.fingerprints import Fingerprints
from reidrisk.audit.gate import Gate
from reidrisk.audit.rehearsal import Rehearsal
from reidrisk.audit.result import FORMAT, Assumption, AuditResult
from reidrisk.audit.schema import check_fields
from reidrisk.audit.truth_doubt import TruthDoubt
from reidrisk.base.errors import FormatError, ReidRiskError
from reidrisk.base.notes import Note
from reidrisk.base.plain import fields_of
from reidrisk.base.results import Bound, Difference, Result, Risk

_WHAT = "this is not the result of an audit"

_LISTS: dict[str, type[Result]] = {
    "risks": Risk,
    "differences": Difference,
    "bounds": Bound,
    "choosiness": measure.Choosiness,
    "rehearsals": Rehearsal,
}
_SINGLE: dict[str, type[Result]] = {
    "exposure": measure.Exposure,
    "gate": Gate,
    "truth_doubt": TruthDoubt,
    "fingerprints": Fingerprints,
}

_LATER = ("per_user", "rates_without", "covers", "design_effect", "queries_per_person", "which", "notes")
"""Fields that are never saved, or that format 1 lacks; the defaults that stand for these promise least."""


def read(values: Any) -> AuditResult:
    """Rebuild a result from plain values, or refuse it in one sentence.

    Parameters
    ----------
    values : mapping
        Of format 2, or 1. A result of format 1 gets lower ends by the Chernoff bound, keeps its rates, and is marked
        by ``upgraded_from``; no gate passes on it.
    """
    if not isinstance(values, Mapping):
        raise FormatError(f"{_WHAT}: it is no object")
    if "format" not in values:
        raise FormatError(f"{_WHAT}: 'format' is missing")
    given = values["format"]
    if isinstance(given, bool) or given not in (1, FORMAT):
        raise FormatError(f"this result has format {str(given)[:20]}; this version reads formats 1 and {FORMAT}")
    if given == 1:
        return _first(values)
    fields = _renamed(values)
    check_fields(fields)
    result = _built(fields)
    check_agreement(result)
    return result


def _renamed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of format 2, one of its gate by the name it has now."""
    fields, answer = dict(values), values.get("gate")
    if isinstance(answer, dict) and "epochs_left_out" in answer:
        fields["gate"] = {{"epochs_left_out": "epochs_untried"}.get(name, name): each for name, each in answer.items()}
    return fields


def _built(values: dict[str, Any]) -> AuditResult:
    try:
        return AuditResult(**fields_of(AuditResult, values, "it"))
    except (ReidRiskError, TypeError, ValueError) as error:
        raise FormatError(f"{_WHAT}: {error}") from error


def _entry(kind: type[Result], values: Any, where: str) -> Any:
    try:
        return kind.from_dict(values)
    except (ReidRiskError, TypeError, ValueError) as error:
        raise FormatError(f"{_WHAT}: {where}: {error}") from error


def _first(values: Mapping[str, Any]) -> AuditResult:
    """Rebuild a result of format 1 with what it does not hold: safe ends, and that it is old."""
    fields = (
        *("verdict", "spec", "n_targets", "n_queries", "n_scored", "n_epochs", "n_tokens", "seed", "risks"),
        *("differences", "bounds", "exposure", "choosiness", "choosy_attack", "n_choosy", "assumptions"),
        *("descriptions", "versions"),
    )
    missing = [name for name in fields if name not in values]
    if missing:
        raise FormatError(f"{_WHAT}: {missing[0]!r} is missing")
    found = {name: values[name] for name in fields}
    for name in ("spec", "descriptions", "versions"):
        if not isinstance(found[name], dict):
            raise FormatError(f"{_WHAT}: {name} is no object")
    said = found.pop("assumptions")
    if not isinstance(found.pop("verdict"), str):
        raise FormatError(f"{_WHAT}: verdict is no text")
    for name in ("n_targets", "n_queries", "n_scored", "n_epochs", "n_tokens", "seed", "n_choosy"):
        if isinstance(found[name], bool) or not isinstance(found[name], int) or found[name] < 0:
            raise FormatError(f"{_WHAT}: {name} is no whole number")
    if not isinstance(said, list):
        raise FormatError(f"{_WHAT}: assumptions is not a list")
    for i, entry in enumerate(said):
        _entry(Assumption, entry, f"assumptions[{i}]")
    for name, kind in _LISTS.items():
        entries = found.get(name, [])
        if not isinstance(entries, list):
            raise FormatError(f"{_WHAT}: {name} is not a list")
        for i, entry in enumerate(entries):
            _check_first(kind, entry, f"{name}[{i}]")
    if found["exposure"] is not None:
        _check_first(measure.Exposure, found["exposure"], "exposure")
    rows = [_entry(Risk, entry, f"risks[{i}]") for i, entry in enumerate(found["risks"])]
    for i, risk in enumerate(rows):
        if not 0 < risk.n_epochs <= found["n_epochs"] or abs(risk.rate + risk.incorrect + risk.abstained - 1.0) > 1e-6:
            raise FormatError(f"{_WHAT}: risks[{i}] contradicts the rest; it was damaged or edited")
    sums = values.get("checksums", {})
    if not isinstance(sums, dict) or not all(isinstance(digest, str) for digest in sums.values()):
        raise FormatError(f"{_WHAT}: checksums are not texts by name")
    # What an attack that nobody could check said of itself is left out.
    known = bool(rows)
    return _built(
        found
        | {
            "n_strangers": None,
            "epochs": sorted({risk.n_epochs for risk in rows}) or [found["n_epochs"]],
            "epochs_skipped": [],
            "lower_ends": [chernoff(risk, len(rows)) for risk in rows],
            "choosiness": [point for point in found["choosiness"] if point["correct"] is not None] if known else [],
            "exposure": _without_limits(found["exposure"]),
            "choosy_attack": found["choosy_attack"] if known else None,
            "choosy_epochs": found["n_epochs"],
            "n_choosy": found["n_choosy"] if known else 0,
            "rehearsals": [],
            "truth": "unrecorded" if known else None,
            "truth_check": "no power" if known else None,
            "truth_doubt": None,
            "notes": [*(_own(entry) for entry in said), Note("format-1").to_dict()],
            "gate": None,
            "fingerprints": Fingerprints("sha256", sums).to_dict() if sums else None,
            "upgraded_from": 1,
            "format": FORMAT,
        }
    )


def _without_limits(exposure: Any) -> Any:
    """Leave out groups of which format 1 says between which limits their rate lies."""
    if exposure is None:
        return None
    groups = [group for group in exposure["groups"] if group["rate"] is not None]
    hidden = exposure["hidden_groups"] + len(exposure["groups"]) - len(groups)
    return exposure | {"groups": groups, "hidden_groups": hidden}


def _own(entry: Mapping[str, Any]) -> dict[str, Any]:
    return Note("own-words", holds=entry["holds"], otherwise=entry["otherwise"]).to_dict()


def _check_first(kind: type[Result], values: Any, where: str) -> None:
    """Refuse an entry of format 1 that lacks one of its fields."""
    if not isinstance(values, dict):
        raise FormatError(f"{_WHAT}: {where} is not an object")
    for entry in dataclasses.fields(kind):
        if entry.name not in values and entry.name not in _LATER:
            raise FormatError(f"{_WHAT}: {where} has no {entry.name}")


def chernoff(risk: Risk, n_rows: int) -> float:
    """Return a lower end of a rate in [0, 1] at the level 1 - alpha / m, from the rate and its size alone.

    It is the smallest p with n KL(rate, p) <= log(2 m / alpha), valid for independent values however they are spread.

    Examples
    --------
    >>> risk = Risk(1.0, 0.97, 1.0, 0.0, 0.0, 0.01, n_targets=100, n_queries=100)
    >>> round(chernoff(risk, 1), 4)                      # 0.025 ** (1 / 100)
    0.9638
    """
    if risk.rate <= 0.0 or risk.n_queries == 0:
        return 0.0
    room = math.log(2.0 * n_rows / max(1.0 - risk.level, 1e-300)) / risk.n_queries
    low, high = 0.0, risk.rate
    for _ in range(200):
        middle = (low + high) / 2.0
        if middle > 0.0 and _divergence(risk.rate, middle) <= room:
            high = middle
        else:
            low = middle
    return min(low, risk.low)


def _divergence(q: float, p: float) -> float:
    """Return KL(q, p) of two coins."""
    first = q * math.log(q / p)
    return first if q >= 1.0 else first + (1.0 - q) * math.log((1.0 - q) / (1.0 - p))
