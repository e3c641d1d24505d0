"""Auditing one or two exports: read them, ask the questions that they can answer, and join the answers."""

import copy
import dataclasses
import filecmp
from collections.abc import Callable, Sequence
from typing import Any

from reidrisk import io
from reidrisk.attacks import Attack
from reidrisk.audit.amounts import settle_amounts
from reidrisk.audit.bands import settle_numbers
from reidrisk.audit.case import Given, MeasuredCase, measure_case, together
from reidrisk.audit.clocks import settle_clocks
from reidrisk.audit.plan import compares
from reidrisk.audit.questions import Asked, questions
from reidrisk.audit.result import Assumption, AuditResult
from reidrisk.audit.spec import AuditSpec, Exports
from reidrisk.audit.steps import taken
from reidrisk.audit.suppress import note_of_few
from reidrisk.audit.valued import settle_values
from reidrisk.base import DataError, Note, OptionError, Progress, TruthError, seed_or_fresh, silent
from reidrisk.base.options import option
from reidrisk.io.exports.pairs import read_pairs
from reidrisk.io.pair import why_unmatched
from reidrisk.records import Case, find_truth
from reidrisk.records.calendar import Every
from reidrisk.scenarios import Scenario
from reidrisk.search.engines import Engine, find_engine

Heard = Callable[[Note], None]  # who is told at once how a table was understood, before the attacks begin

_SAID_BEFORE = "rows-dropped"  # what was read of an export says it, with the rest


def audit_exports(
    exports: Sequence[io.Export],
    spec: AuditSpec,
    *,
    truth: Any = None,
    every: Every | None = None,
    amounts_given: bool = False,
    progress: Progress | None = None,
    attacks: Sequence[Attack[Any]] = (),
    engine: Engine | str | None = None,
) -> AuditResult:
    """Audit one or two exports that were read: the scenario of the spec, or all questions that they can answer.

    ``truth`` are the true pairs of two of them, a frame or a path (:func:`reidrisk.io.exports.pairs.read_pairs`);
    ``every`` asks for traces of that period beside bags. Amounts that nobody asked for (``amounts_given``) count where
    they tell people apart better than the number of events does (:mod:`reidrisk.audit.amounts`). Items that are
    numbers are put into bands where that tells more (:mod:`reidrisk.audit.bands`), and the times of a second log are
    moved where its clock is clearly ahead or behind (:mod:`reidrisk.audit.clocks`). What two logs say of an event
    beside its item, such as a rating, counts where both say the same of the same people
    (:mod:`reidrisk.audit.valued`). How the exports were understood is among the notes.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> log = {"user": rng.integers(0, 30, 900), "item": rng.integers(0, 20, 900), "time": np.arange(900)}
    >>> found = audit_exports([io.read_export(log)], AuditSpec(seed=1, attacks=("hellinger",)))
    >>> sorted(one.scenario.code for one in found.questions)
    ['scenario-knows', 'scenario-knows', 'scenario-split']
    """
    notes = tuple(note for export in exports for note in (export.how, *export.notes))
    tables = [export.records for export in exports]
    if truth is None and not spec.allow_unmatched:
        _check_common(exports)
    if spec.allow_unmatched and len(tables) < 2:
        raise OptionError(f"{option('allow_unmatched', True)} is for two tables; give both, or leave it out")
    seed = seed_or_fresh(spec.seed)
    spec = spec.model_copy(update={"seed": seed})
    if not amounts_given:
        tables, said = settle_amounts(tables, seed)
        notes += said
    tables, said = settle_numbers(tables, seed)
    notes += said
    tables, said = settle_clocks(tables)
    notes += said
    tables, said = settle_values(tables)
    notes += said
    rows = None
    if truth is not None:
        rows, said = read_pairs(truth, tables[0].users, tables[-1].users)
        notes += said
    asked = questions(tables, spec.scenario, rows, every)
    return audit_scenarios(asked, spec, notes=notes, progress=progress, attacks=attacks, engine=engine)


def _check_common(exports: Sequence[io.Export]) -> None:
    """Refuse two exports of which nobody knows who is whom, before the work: there would be no rate."""
    if len(exports) < 2:
        return
    one, two = (export.records for export in exports)
    try:
        find_truth(one, two)
    except TruthError as error:
        if (one.users is None) != (two.users is None):
            raise
        sizes = (len(one if one.users is None else one.users), len(two if two.users is None else two.users))
        names = (exports[0].how["name"], exports[1].how["name"])
        names = ("the first table", "the second") if names[0] == names[1] else names
        raise TruthError(why_unmatched(one.users is not None, names, sizes, sizes)) from error


def audit_scenarios(
    scenarios: Sequence[Scenario],
    spec: AuditSpec,
    *,
    notes: Sequence[str | Assumption | Note] = (),
    progress: Progress | None = None,
    attacks: Sequence[Attack[Any]] = (),
    engine: Engine | str | None = None,
) -> AuditResult:
    """Audit the cases of several scenarios of the same data, and join the answers; the arguments are as for a case.

    A question that the data cannot answer, since nobody is on both sides or knows enough, is left out and noted, unless
    it is the only one.
    """
    tell = progress or silent
    seed = seed_or_fresh(spec.seed)
    spec = spec.model_copy(update={"seed": seed})
    cases: list[tuple[Note, Case]] = []
    for scenario in scenarios:
        try:
            case = _without_repeats(scenario.case(seed), notes)
            if len(scenarios) > 1 and not compares(spec, case):
                raise DataError("the attacks that were asked for do not compare such records")
            cases.append((scenario.question, case))
        except DataError as error:
            if len(scenarios) == 1:
                raise
            notes = (*notes, Note("question-left-out", question=scenario.question.code, why=str(error)))
    if not cases:  # either way, it is refused, and said why
        cases.append((scenarios[0].question, scenarios[0].case(seed)))
    n, left = len(cases), spec.budget
    cases.sort(key=lambda one: not one[1].of_parts)  # those that are quick leave more time to the others
    told = taken([question for question, _ in cases], spec.told)

    def part(done: int) -> Progress:
        return lambda stage, share: tell(stage, (done + share) / (n + 1))

    answers: list[AuditResult] = []
    lead: MeasuredCase | None = None
    for i, (question, case) in enumerate(cases):
        own = tuple(map(copy.copy, attacks))  # each question has fitted attacks of its own
        given = Given(question, tuple(notes), own, find_engine(engine), questions=n, budget=left / (n - i))
        one = measure_case(case, spec, given, part(i))
        left -= min(one.seconds, left / (n - i))
        # What takes further time is done for the question that leads: how sure, what would lower it, and what for.
        first, other = (one, lead) if lead is None or one.standing(told) > lead.standing(told) else (lead, one)
        if other is not None:
            answers.append(other.answer(leads=False))
        lead = first
    assert lead is not None
    return together([lead.answer(part(n)), *answers])


def _without_repeats(case: Case, notes: Sequence[str | Assumption | Note]) -> Case:
    """Leave out of a case what the notes of its exports say already."""
    if not any(isinstance(note, Note) and note.code == "export-read" for note in notes):
        return case
    return dataclasses.replace(case, notes=tuple(note for note in case.notes if note.code != _SAID_BEFORE))


def run_exports(
    spec: AuditSpec, inputs: Exports, tell: Progress, engine: Engine | None, heard: Heard | None = None
) -> AuditResult:
    """Read the exports that a spec names, and audit them."""
    tell("reading-exports", 0.0)
    reading = inputs.reading
    exports = read(inputs.files, reading, spec.scenario, heard, spec.min_group)
    found = audit_exports(
        exports,
        spec,
        truth=inputs.truth,
        every=reading.every,
        amounts_given=reading.amount is not None,
        progress=tell,
        engine=engine,
    )
    if len(inputs.files) == 2 and _same(*inputs.files):
        return dataclasses.replace(found, notes=(*found.notes, Note("same-file-twice")))
    return found


def _with_whole_rows(export: io.Export, scenario: Asked | None) -> io.Export:
    """Note that columns which say neither who, what nor when are known with the whole rows of a log."""
    asked = scenario is None or (scenario.name == "knows" and scenario.told in (None, "row"))
    if export.kind != "log" or not asked:
        return export
    return dataclasses.replace(export, how=Note.from_dict({**export.how.to_dict(), "whole_rows": True}))


def read(
    sources: Sequence[Any],
    reading: io.Reading,
    scenario: Asked | None = None,
    heard: Heard | None = None,
    least: int = 20,
) -> tuple[io.Export, ...]:
    """Read one or two exports, with the columns that a scenario asks for.

    ``heard`` is told how, without numbers that tell of fewer people than ``least``.
    """
    if scenario is not None and scenario.kept:
        reading = reading.model_copy(update={"keep": tuple(dict.fromkeys((*reading.keep, *scenario.kept)))})
    if len(sources) == 2:
        exports: tuple[io.Export, ...] = io.read_exports(sources[0], sources[1], reading)
    else:
        exports = (_with_whole_rows(io.read_export(sources[0], reading), scenario),)
    if heard is not None:
        for note in dict.fromkeys(note for export in exports for note in (export.how, *export.notes)):
            heard(note_of_few(note, least))
    return exports


def _same(one: str, two: str) -> bool:
    """Tell whether two paths hold the same bytes."""
    return filecmp.cmp(one, two, shallow=False)
