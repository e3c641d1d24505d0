"""AuditResult: all that an audit found, without a record, an id or a trace of a single person; and the gate on it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from reidrisk import measure
from reidrisk.errors import FormatError, OptionError, ReidRiskError, TruthError
from reidrisk.results import Bound, Difference, Result, Risk
from reidrisk.wording import percent

__all__ = ["LASTING", "Assumption", "AuditResult", "Gate", "gate", "gate_of", "strongest"]

LASTING = "ProfileBayes"
"""The attack that learns which interests last: the strongest there is from a few epochs on, and the slowest."""


@dataclass(frozen=True, eq=False)
class Assumption(Result):
    """A plain sentence the numbers rest on, and what happens to them where it does not hold."""

    holds: str
    otherwise: str


@dataclass(frozen=True, eq=False)
class Gate(Result):
    """Whether the strongest attack at the most epochs stays within a limit, and among whom that was measured.

    ``attacks`` are those that were tried, ``everyone`` says whether all records were scored, and ``simulated`` whether
    the people are known to be simulated.
    """

    answer: Literal["pass", "fail", "undecided"]
    max_risk: float
    rate: float
    low: float
    high: float
    attack: str
    n_epochs: int
    n_targets: int
    attacks: tuple[str, ...]
    everyone: bool
    simulated: bool
    reading: str

    @property
    def why(self) -> str:
        """How the interval lies to the limit, and what could decide where it straddles it."""
        if self.answer == "pass":
            return "the whole interval is within the limit"
        if self.answer == "fail":
            return "the whole interval is above the limit"
        if self.everyone:
            return "the interval straddles the limit, and all records were scored: only data of more people can decide"
        return "the interval straddles the limit: score more records to decide"

    @property
    def circumstances(self) -> str:
        """Among whom the risk was measured, with which attacks, and which known one was left out."""
        epochs = "1 epoch" if self.n_epochs == 1 else f"{self.n_epochs} epochs"
        people = "simulated people" if self.simulated else "people"
        said = f"Among {self.n_targets:,} {people}, {epochs}; attacks tried: {', '.join(self.attacks) or self.attack}"
        if self.n_epochs > 1 and self.attacks and LASTING not in self.attacks:
            said += f"; {LASTING} was not run and may link more"
        return f"{said}."


@dataclass(frozen=True, eq=False)
class AuditResult(Result):
    """All that an audit found. It holds no record, no user id and no trace of a single person.

    Attributes
    ----------
    verdict : str
        One sentence in natural frequencies.
    risks : tuple of Risk
        One an attack and number of epochs; empty where the truth is not known.
    differences : tuple of Difference
        Each later attack against the first, the plainest one, paired on the same queries.
    bounds : tuple of Bound
        What no attacker can beat, for each number of epochs.
    exposure : Exposure or None
        How the risk of the strongest attack at the most epochs is spread over people.
    choosiness : tuple of Choosiness
        Right and wrong links of ``choosy_attack`` as it becomes choosier, measured on ``n_choosy`` records: of the
        strongest attack that has probabilities, or, where no rate was measured, of the one that is sure most often.
    created : str
        Day of the audit.
    checksums : mapping of str to str
        SHA-256 of the files that were read, by their role (``"targets"``, ``"queries"``, …), so that anyone can tell
        whether a file at hand is the one that was audited; empty where no file was read.
    """

    verdict: str
    spec: dict[str, Any]
    n_targets: int
    n_queries: int
    n_scored: int
    n_epochs: int
    n_tokens: int
    seed: int
    risks: tuple[Risk, ...]
    differences: tuple[Difference, ...]
    bounds: tuple[Bound, ...]
    exposure: measure.Exposure | None
    choosiness: tuple[measure.Choosiness, ...]
    choosy_attack: str | None
    n_choosy: int
    assumptions: tuple[Assumption, ...]
    descriptions: dict[str, str]
    gate: Gate | None
    versions: dict[str, str]
    seconds: float
    created: str
    checksums: dict[str, str] = field(default_factory=dict)
    format: int = 1

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; per-user risks stay out."""
        nested = ("risks", "differences", "bounds", "choosiness", "assumptions")
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        values |= {name: [entry.to_dict() for entry in values[name]] for name in nested}
        values |= {name: values[name] and values[name].to_dict() for name in ("exposure", "gate")}
        return values

    @classmethod
    def from_dict(cls, values: Any) -> AuditResult:
        """Rebuild a result written by :meth:`to_dict`."""
        many: dict[str, type[Result]] = {
            "risks": Risk,
            "differences": Difference,
            "bounds": Bound,
            "choosiness": measure.Choosiness,
            "assumptions": Assumption,
        }
        one: dict[str, type[Result]] = {"exposure": measure.Exposure, "gate": Gate}
        try:
            if values["format"] != 1:
                raise FormatError(f"this result has format {values['format']}; this version reads format 1")
            known = {f.name: values[f.name] for f in dataclasses.fields(cls) if f.name != "checksums"}
        except (KeyError, TypeError) as error:
            raise FormatError(f"this is not the result of an audit: {error} is missing") from error
        known["checksums"] = values.get("checksums", {})
        if not isinstance(known["checksums"], dict) or not all(isinstance(v, str) for v in known["checksums"].values()):
            raise FormatError("this is not the result of an audit: checksums are not texts by name")
        for name in ("spec", "descriptions", "versions"):
            if not isinstance(known[name], dict):
                raise FormatError(f"this is not the result of an audit: {name} is not an object")
        for name, kind in many.items():
            if not isinstance(known[name], list):
                raise FormatError(f"this is not the result of an audit: {name} is not a list")
            known[name] = tuple(_entry(kind, entry, f"{name}[{i}]") for i, entry in enumerate(known[name]))
        for name, kind in one.items():
            known[name] = None if known[name] is None else _entry(kind, known[name], name)
        return cls(**known)

    @property
    def simulated(self) -> bool:
        """Whether the people are known to be simulated."""
        inputs = self.spec.get("inputs")
        return isinstance(inputs, dict) and inputs.get("kind") == "published"

    @property
    def left_out(self) -> str:
        """The attack that learns which interests last, where it could have and was not run; else an empty text."""
        return LASTING if self.n_epochs > 1 and self.descriptions and LASTING not in self.descriptions else ""

    @property
    def strongest(self) -> Risk | None:
        """The attack with the highest rate at the most epochs."""
        return strongest(self.risks)


_MAY_BE_MISSING = ("per_user", "left_out", "covers", "design_effect", "queries_per_person")
"""Fields that are never saved, or that older results lack; what stands for these promises least."""


def _entry(kind: type[Result], values: Any, where: str) -> Any:
    """Rebuild one part of a result; every field must be there, so that nothing is judged by a default."""
    if not isinstance(values, dict):
        raise FormatError(f"this is not the result of an audit: {where} is not an object")
    missing = [f.name for f in dataclasses.fields(kind) if f.name not in values and f.name not in _MAY_BE_MISSING]
    if missing:
        raise FormatError(f"this is not the result of an audit: {where} has no {missing[0]}")
    try:
        return kind.from_dict(values)
    except (ReidRiskError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"this is not the result of an audit: {where}: {error}") from error


def strongest(risks: Iterable[Risk]) -> Risk | None:
    """Return the risk with the highest rate among those with the most epochs."""
    return max(risks, key=lambda risk: (risk.n_epochs, risk.rate), default=None)


def gate(result: AuditResult, max_risk: float) -> Gate:
    """Hold the strongest attack at the most epochs against a limit.

    The answer is ``pass`` where the whole interval is at most ``max_risk``, ``fail`` where it is above it
    altogether, and ``undecided`` where it straddles the limit.
    """
    risk = result.strongest
    if risk is None:
        raise TruthError(
            "this audit measured no rate, because the truth is not known; there is nothing to hold to a limit"
        )
    return gate_of(risk, max_risk, tuple(result.descriptions), result.simulated)


def gate_of(risk: Risk, max_risk: float, attacks: tuple[str, ...] = (), simulated: bool = False) -> Gate:
    """Hold one risk against a limit; ``attacks`` are all that were tried, ``simulated`` is about the people.

    Examples
    --------
    >>> risk = Risk(rate=0.02, low=0.01, high=0.03, incorrect=0.98, abstained=0.0, baseline=0.001,
    ...             n_targets=1000, n_queries=1000, attack="Hamming", n_epochs=4)
    >>> gate_of(risk, 0.03).answer, gate_of(risk, 0.02).answer, gate_of(risk, 0.005).answer
    ('pass', 'undecided', 'fail')
    """
    if not 0.0 <= max_risk <= 1.0:
        raise OptionError(f"the limit is a risk in [0, 1], not {max_risk}")
    answer: Literal["pass", "fail", "undecided"] = "undecided"
    if risk.high <= max_risk:
        answer = "pass"
    elif risk.low > max_risk:
        answer = "fail"
    gate = Gate(
        answer=answer,
        max_risk=max_risk,
        rate=risk.rate,
        low=risk.low,
        high=risk.high,
        attack=risk.attack,
        n_epochs=risk.n_epochs,
        n_targets=risk.n_targets,
        attacks=attacks,
        everyone=risk.everyone,
        simulated=simulated,
        reading="",
    )
    reading = (
        f"{answer}: {risk.attack} at {risk.n_epochs} epochs links {percent(risk.rate)} "
        f"({percent(risk.low)} to {percent(risk.high)}) against a limit of {percent(max_risk)}; {gate.why}. "
    )
    return dataclasses.replace(gate, reading=reading + gate.circumstances)
