"""AuditResult: all that an audit found, without a record, an id or a trace of a single person."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reidrisk import measure
from reidrisk.audit.axis import AxisName
from reidrisk.audit.fingerprints import Fingerprints
from reidrisk.audit.further import Further
from reidrisk.audit.gate import Gate
from reidrisk.audit.per_person import PerPerson, Scored
from reidrisk.audit.plan import NotRun
from reidrisk.audit.probability_check import ProbabilityCheck
from reidrisk.audit.spec import other_counts
from reidrisk.audit.truth_doubt import TruthCheck, TruthDoubt
from reidrisk.base import Bound, DataError, Difference, Note, Result, Risk
from reidrisk.base.plain import MEMORY

FORMAT = 3  # the format this version writes; it reads formats 1 and 2 too


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


@dataclass(frozen=True, eq=False)
class AuditResult(Result):
    """All that an audit found. It holds no record, no user id and no trace of a single person.

    Where several questions were asked of the same data, this is the answer with the highest rate, and the others are
    in ``also``; :func:`reidrisk.audit.gate` looks at all of them. ``n_epochs`` and ``epochs``, here and in each risk,
    are numbers of what the ``axis`` says: epochs, items, facts or columns.

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
    kind: str = "traces"  # of the records: "traces", "bags", "attributes" or "vectors"
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
        from reidrisk.audit.reading import read

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
    def missing(self) -> tuple[str, ...]:
        """The names of the default attacks that did not run, of whichever question."""
        return tuple(dict.fromkeys(one.attack for answer in self.questions for one in answer.not_run))

    @property
    def strongest(self) -> Risk | None:
        """The highest rate over every attack and number of epochs, with the ends that hold for all rows together."""
        return strongest(self.risks, self.lower_ends)


def error_parts(
    risks: Sequence[Risk], n_epochs: int, asked: Iterable[int], axis: AxisName = "epochs", questions: int = 1
) -> list[int]:
    """Return into how many parts the error is cut for the lower end of each row, so that all ends hold together.

    The largest of m lower ends must hold for whichever row is the strongest, so each has 1 / m of the error. The most
    telling r of E epochs were chosen with the truth, by these very people, so each of the C(E, r) choices counts: a
    chosen row has 1 / (m C(E, r)), and m counts such a row for each attack and each r < E that was asked for, whether
    there is one or not; and one more of any other r, with 1 / k of that part where k others may be tried. Then the
    ends hold whatever was chosen, and however (Bonferroni). Whether any choice is added depends on the people too: in
    all, a lower end is too high with probability alpha at most, and alpha / 2 where epochs differ clearly or not at
    all. Where several ``questions`` are asked of the same data, each has its part of the error.

    >>> first, best = (Risk(0.5, 0.4, 0.6, 0.5, 0.0, 0.1, 10, 10, n_epochs=2, which=which) for which in ((), (2, 5)))
    >>> error_parts([first, first], 6, (2,)), error_parts([first, best], 6, (2,))
    ([2, 2], [2, 30])
    """
    if axis != "epochs":  # nothing was chosen with the truth
        return [questions * len(risks)] * len(risks)
    counts = tuple(asked)
    others = other_counts(counts, n_epochs)
    m = sum(not risk.which for risk in risks)
    if any(risk.which for risk in risks):
        m += len({risk.attack for risk in risks}) * (sum(r < n_epochs for r in counts) + bool(others))
    ways = [math.comb(n_epochs, risk.n_epochs) if risk.which else 1 for risk in risks]
    ways = [n * len(others) if risk.n_epochs in others else n for n, risk in zip(ways, risks, strict=True)]
    return [min(questions * m * n, 1 << 60) for n in ways]


def strongest(risks: Iterable[Risk], lower_ends: Iterable[float]) -> Risk | None:
    """Return the row with the highest rate, with the ends that hold for the strongest of all rows.

    The upper end is the largest of the rows' upper ends. The lower end is the largest of ``lower_ends``, which are at
    the level 1 - alpha / m for m rows: whichever row is the strongest in truth, it is at least as high. Of equal rates
    the one with the fewest epochs counts: the attacker needs no more.

    >>> def row(rate, low, high, n_epochs):
    ...     return Risk(rate, low, high, 1 - rate, 0.0, 0.01, n_targets=100, n_queries=100, n_epochs=n_epochs)
    >>> found = strongest([row(0.92, 0.9, 0.94, 2), row(0.6, 0.55, 0.65, 8)], [0.89, 0.53])
    >>> found.n_epochs, found.low, found.high
    (2, 0.89, 0.94)
    """
    rows = list(risks)
    if not rows:
        return None
    highest = max(rows, key=lambda risk: (risk.rate, -risk.n_epochs))
    return dataclasses.replace(highest, low=max(lower_ends), high=max(risk.high for risk in rows))
