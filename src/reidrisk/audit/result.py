"""AuditResult: all that an audit found, without a record, an id or a trace of a single person."""

from __future__ import annotations

import datetime
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from reidrisk import measure
from reidrisk.audit.axis import AxisName
from reidrisk.audit.ends import FEWEST, strongest
from reidrisk.audit.fingerprints import Fingerprints
from reidrisk.audit.further import Further
from reidrisk.audit.gate import Gate
from reidrisk.audit.per_person import PerPerson, Scored
from reidrisk.audit.plan import NotRun
from reidrisk.audit.probability_check import ProbabilityCheck
from reidrisk.audit.steps import step_of
from reidrisk.audit.truth_doubt import TruthCheck, TruthDoubt
from reidrisk.base import Bound, DataError, Difference, Note, Result, Risk
from reidrisk.base.plain import MEMORY

FORMAT = 3  # the format this version writes; it reads formats 1 and 2 too
_OF_A_RISK = ("attack", "n_epochs", "setting", "rate", "low", "high", "incorrect", "abstained", "baseline")
_COLUMNS = (*_OF_A_RISK, "n_targets", "n_queries", "level")  # of a frame


@dataclass(frozen=True, eq=False)
class Assumption(Result):
    """A plain sentence the numbers rest on, and what happens to them where it does not hold."""

    holds: str
    otherwise: str


@dataclass(frozen=True)
class Timing:
    """When an audit ran and how long it took: beside a result, not in it, so that one seed gives one result."""

    created: str
    seconds: float

    @classmethod
    def since(cls, started: float) -> Self:
        """Return the timing of an audit that began at ``started`` (:func:`time.perf_counter`) and ends now."""
        return cls(datetime.date.today().isoformat(), time.perf_counter() - started)


def versions_now() -> dict[str, str]:
    """Return the versions of what makes a result here."""
    known = {name: version(name) for name in ("reidrisk", "numpy", "scipy", "numba")}
    return known | {"python": platform.python_version()}


@dataclass(frozen=True, eq=False)
class AuditResult(Result):
    """All that an audit found. It holds no record, no user id and no trace of a single person.

    Where several questions were asked of the same data, this is the answer with the highest rate, of those that tell no
    more of each event than is taken to be known (``spec.told``), and the others are in ``also``;
    :func:`reidrisk.audit.gate` looks at all of them. ``n_epochs`` and ``epochs``, here and in each risk, are numbers of
    what the ``axis`` says: epochs, items, facts or columns.

    The same tables, spec, seed and versions give the same result, byte by byte: ``timing`` is not written.
    """

    spec: dict[str, Any]
    n_targets: int
    n_queries: int
    n_scored: int
    n_strangers: int | None
    """Records drawn beside the scored ones that have no counterpart, and that no rate counts; None in format 1."""
    n_unasked: int | None
    """Known records that belong to nobody who is to be identified; None in format 1, and where truth is not known."""
    n_epochs: int
    n_tokens: int
    seed: int
    epochs: tuple[int, ...]
    epochs_skipped: tuple[int, ...]  # numbers of epochs that were to be looked at, but in which a table holds no token
    risks: tuple[Risk, ...]
    """One for each attack and number of epochs, then those of chosen epochs; none where the truth is not known."""
    lower_ends: tuple[float, ...]
    """Of each risk at its part of the error (:func:`error_parts`), so that the largest holds for the strongest."""
    differences: tuple[Difference, ...]
    """Each later attack against the first, the plainest one, paired on the same queries."""
    bounds: tuple[Bound, ...]
    exposure: measure.Exposure | None  # how the risk of the strongest row is spread over people
    choosiness: tuple[measure.Choosiness, ...]
    """Of ``choosy_attack``, the strongest that has probabilities, at ``choosy_epochs`` epochs, on ``n_choosy`` records.

    Where no rate was measured, of one whose probabilities held in a rehearsal, at the thresholds that held.
    """
    choosy_attack: str | None
    choosy_epochs: int
    n_choosy: int
    rehearsals: tuple[ProbabilityCheck, ...]
    truth: str | None  # how it is known (Truth.origin)
    truth_check: TruthCheck | None
    truth_doubt: TruthDoubt | None
    notes: tuple[Note, ...]
    descriptions: dict[str, str]
    gate: Gate | None
    versions: dict[str, str]
    kind: str = "traces"  # of the records, by its name in the registry: "traces", "bags", …
    axis: AxisName = "epochs"
    """What grows along the rows: epochs, items of a record to identify, facts known, columns or dimensions."""
    scenario: Note | None = None
    """Which question was asked; None where two tables were handed over and nothing was said."""
    also: tuple[AuditResult, ...] = ()
    """The answers to further questions of the same data; none of them has answers of its own."""
    n_questions: int = 1  # how many questions share the error, so that the strongest lower end of all of them holds
    not_run: tuple[NotRun, ...] = ()  # default attacks that apply and did not run
    further: Further | None = None
    """What was asked for beside the risk: what would lower it, what gives people away, what if there were more."""
    fingerprints: Fingerprints | None = None
    upgraded_from: int | None = None
    format: int = FORMAT
    timing: Timing | None = field(default=None, repr=False, metadata=MEMORY)
    scored: Scored | None = field(default=None, repr=False, metadata=MEMORY)
    """Whom the rows are about, for :meth:`per_person`; never written."""

    def __post_init__(self) -> None:
        if len(self.lower_ends) != len(self.risks):
            raise DataError(f"a result has one lower end for each of its {len(self.risks)} risks")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> AuditResult:
        """Rebuild a result written by :meth:`to_dict`; what is damaged, or contradicts itself, is refused."""
        from reidrisk.audit.saved import read

        return read(values)

    @property
    def verdict(self) -> str:
        """One sentence in natural frequencies, about the strongest of all rows."""
        from reidrisk.present.words import reading
        from reidrisk.present.words.audit import terms_of

        return reading(self, terms_of(self))

    def write(self, path: str | Path) -> None:
        """Write the report as one offline HTML file; it needs the extra ``report``."""
        from reidrisk.present import write

        write(self, path)

    def to_frame(self) -> Any:
        """Return a polars frame with one row per question, attack and number of epochs (or of items, facts, columns).

        ``question`` is the code of the scenario, empty where none was named, and ``told`` how much of each event of a
        log somebody knows; ``lowest`` the lower end that holds for all rows together, where ``low`` is that of the row.
        """
        import polars as pl

        rows = [
            {
                "question": "" if answer.scenario is None else answer.scenario.code,
                "told": step_of(answer.scenario) or "",
            }
            | {"axis": answer.axis}
            | {name: getattr(risk, name) for name in _COLUMNS}
            | {"lowest": lowest}
            for answer in self.questions
            for risk, lowest in zip(answer.risks, answer.lower_ends, strict=True)
        ]
        names = ("question", "told", "axis", *_COLUMNS, "lowest")
        return pl.DataFrame({name: [row[name] for row in rows] for name in names})

    def per_person(self) -> PerPerson:
        """Return what the strongest row found of each person: internal, and not to be passed on.

        It is there as long as the result is in memory, and pairs two audits (:func:`reidrisk.audit.compare`).
        """
        worst = self.strongest
        if self.scored is None or worst is None or worst.per_user is None:
            raise DataError("nothing about single people is kept in this result; audit again, and ask in memory")
        return self.scored.per_person(worst.per_user, worst.attack, worst.rate, worst.level)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What the numbers rest on, in sentences, each with what happens where it does not hold."""
        from reidrisk.present.words import assumed
        from reidrisk.present.words.audit import terms_of

        said = [assumed(note, terms_of(self)) for note in self.notes]
        return tuple(Assumption(one.holds, one.otherwise) for one in said)

    @property
    def again(self) -> dict[str, Any]:
        """The spec by which the same input gives the same numbers again, those of further questions too.

        ``spec`` names the attacks and the sample of the question that leads. Where others had theirs, none were asked
        for: they follow from the time given, as they did here.
        """
        asked = self.questions
        attacks = {tuple(one.spec.get("attacks") or ()) for one in asked}
        samples = {one.spec.get("sample") for one in asked}
        late = any(one.why == "time" for answer in asked for one in answer.not_run)
        free = {"attacks"} if len(attacks) > 1 else set()
        free |= {"sample"} if len(samples) > 1 or (free and late) else set()
        return {name: None if name in free else value for name, value in self.spec.items()}

    @property
    def simulated(self) -> bool:
        """Whether the people are known to be simulated."""
        inputs = self.spec.get("inputs")
        return isinstance(inputs, dict) and inputs.get("kind") == "published"

    @property
    def internal(self) -> bool:
        """Whether it may tell of single people, because groups of one were asked for: not to be passed on."""
        return bool(self.spec.get("min_group", 20) <= 1)

    @property
    def questions(self) -> tuple[AuditResult, ...]:
        """The answer itself, then those to further questions."""
        return (self, *self.also)

    @property
    def too_few(self) -> bool:
        """Whether fewer than :data:`reidrisk.audit.ends.FEWEST` records were scored: too few to tell."""
        return self.n_scored < FEWEST

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of the default attacks that did not run, of whichever question."""
        return tuple(dict.fromkeys(one.attack for answer in self.questions for one in answer.not_run))

    @property
    def strongest(self) -> Risk | None:
        """The highest rate over every attack and number of epochs, with the ends that hold for all rows together."""
        return strongest(self.risks, self.lower_ends)
