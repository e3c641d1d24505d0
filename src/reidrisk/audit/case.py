"""Auditing one case: every attack at growing numbers of epochs, items or facts, bounds, sureness, and the summary."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from reidrisk import measure
from reidrisk.attacks import Attack, registry
from reidrisk.audit import plan
from reidrisk.audit.assumptions import assumptions
from reidrisk.audit.axis import Axis, Look, axis_of
from reidrisk.audit.bounding import bounds_at
from reidrisk.audit.carried import carried_by
from reidrisk.audit.choice import telling_epochs
from reidrisk.audit.ends import error_parts, lower_end, strongest
from reidrisk.audit.further import further, is_asked, plain_of, strongest_of, verdict_of
from reidrisk.audit.gate import gate
from reidrisk.audit.per_person import Scored
from reidrisk.audit.ranks import rank_notes
from reidrisk.audit.result import Assumption, AuditResult, Timing, versions_now
from reidrisk.audit.rows import DrawnQueries, MeasuredRows
from reidrisk.audit.spec import AuditSpec
from reidrisk.audit.steps import standing, strongest_first
from reidrisk.audit.suppress import suppress
from reidrisk.audit.sureness import Sureness, how_sure, how_sure_unknown
from reidrisk.audit.truth_doubt import TruthCheck, TruthDoubt, check_truth
from reidrisk.audit.warnings import warnings
from reidrisk.base import Bound, DataError, Note, Progress, Risk, Steps, of_class, silent
from reidrisk.base.streams import seed_or_fresh
from reidrisk.measure.risk import chosen_queries
from reidrisk.records import Case, TopSets, Vectors, kind_of
from reidrisk.records.base import breadth
from reidrisk.records.events import Told
from reidrisk.search.engines import Engine, find_engine

_SURE = 5_000  # queries for which the attack is asked how sure it is: that needs the whole sum over targets


def audit_case(
    case: Case,
    spec: AuditSpec,
    *,
    scenario: Note | None = None,
    notes: Sequence[str | Assumption | Note] = (),
    progress: Progress | None = None,
    attacks: Sequence[Attack[Any]] = (),
    engine: Engine | str | None = None,
    top_sets: TopSets | None = None,
    questions: int = 1,
) -> AuditResult:
    """Audit one case of Traces, Bags, Attributes or Vectors; ``spec.inputs`` is only recorded.

    Every default attack that applies runs within ``spec.budget`` reference seconds, at each number of epochs (Traces),
    of items of the records to identify (Bags), or of facts. ``scenario`` says which question the case asks; ``notes``
    are further assumptions, after those of the case. ``attacks`` of your own run beside those that the spec names, or
    alone with ``AuditSpec(attacks=())``. ``engine`` is where targets are searched (:mod:`reidrisk.search.engines`),
    default: here; it changes no answer. ``top_sets``, what the system held of the users, allow more bounds. Where the
    case is one of several ``questions`` of the same data, each has its part of the time and of the error.

    >>> from reidrisk.records import Bags, Truth
    >>> rng = np.random.default_rng(0)
    >>> known = Bags(rng.poisson(rng.gamma(0.1, 20.0, (50, 30))))
    >>> case = Case(known, known.take(np.arange(40)), Truth(np.arange(40), "given"))
    >>> result = audit_case(case, AuditSpec(seed=1))
    >>> result.kind, result.axis, result.strongest.rate > 0.9
    ('bags', 'items', True)
    """
    of_class("spec", spec, AuditSpec, "an AuditSpec")
    tell = progress or silent
    behind = 0.5 if is_asked(spec) else 0.9  # what is asked beside the risk takes about as long again
    given = Given(scenario, tuple(notes), tuple(attacks), find_engine(engine), top_sets, questions)
    measured = measure_case(case, spec, given, progress=lambda stage, share: tell(stage, behind * share))
    return measured.answer(lambda stage, share: tell(stage, behind + (1.0 - behind) * share))


class Given(NamedTuple):
    """What a case is audited with; the arguments are those of :func:`audit_case`."""

    scenario: Note | None = None
    notes: tuple[str | Assumption | Note, ...] = ()
    attacks: tuple[Attack[Any], ...] = ()
    engine: Engine | None = None
    top_sets: TopSets | None = None
    questions: int = 1
    budget: float | None = None
    """Reference seconds of this question; default: an equal part of those of the spec."""


def measure_case(case: Case, spec: AuditSpec, given: Given, progress: Progress | None = None) -> MeasuredCase:
    """Measure every row of a case; what else is asked of it can wait."""
    started = time.perf_counter()
    _check(case)
    of_class("spec", spec, AuditSpec, "an AuditSpec")
    spec = spec.model_copy(update={"seed": seed_or_fresh(spec.seed)})
    axis = axis_of(case, spec, given.scenario)
    budget = spec.budget / given.questions if given.budget is None else given.budget
    planned = plan.planned(spec, case, axis, budget, len(given.attacks))
    sampled = spec.sample if planned.sample is None else planned.sample
    spec = spec.model_copy(update={"attacks": planned.names, "sample": sampled})
    asked = DrawnQueries.drawn(case, spec, planned.sample)
    chosen = plan.chosen_attacks(spec, case.targets, given.attacks, case)
    telling: tuple[tuple[int, ...], ...] = ()
    if axis.name == "epochs" and asked.truth is not None:
        telling = telling_epochs(case.targets, case.queries.take(asked.rows), asked.truth.target, axis.asked)
    looks = (*axis.looks, *(Look(len(which), which) for which in telling))

    # A bound holds for the first r epochs: beside others that tell more, it would limit nobody.
    limited = tuple(r for r in axis.counts if all(which[-1] < r for which in telling if len(which) <= r))
    bounded = limited if axis.name == "epochs" else ()
    work = sum(axis.share(look) for look in looks) * len(chosen) + 2 * sum(bounded) / axis.size
    steps = Steps(progress, total=work)
    rows = MeasuredRows(axis, asked, spec, given.engine)
    for look in looks if asked.truth is not None else ():
        rows.measure(chosen, look, steps)
    chosen = [attack for attack in chosen if attack.name not in rows.refused]
    parts = error_parts(rows.risks, axis.size, axis.asked, axis.name, given.questions)
    lower_ends = tuple(lower_end(risk, n) for risk, n in zip(rows.risks, parts, strict=True))
    found = bounds_at(spec, case, given.top_sets, bounded, steps)
    not_run = (*planned.not_run, *rows.left_out)
    return MeasuredCase(
        case, spec, given, axis, looks, rows, chosen, lower_ends, found, not_run, started, planned.seconds
    )


@dataclasses.dataclass(frozen=True, eq=False)
class MeasuredCase:
    """A case whose rows are measured, on the way to its answer."""

    case: Case
    spec: AuditSpec
    given: Given
    axis: Axis
    looks: tuple[Look, ...]
    rows: MeasuredRows
    chosen: list[Attack[Any]]
    lower_ends: tuple[float, ...]
    bounds: tuple[Bound, ...]
    not_run: tuple[plan.NotRun, ...]
    started: float
    seconds: float  # by the plan, of reference

    def standing(self, told: Told | None) -> tuple[bool, bool, float]:
        """Return what decides which of several questions leads (:func:`reidrisk.audit.steps.standing`)."""
        return standing(
            self.given.scenario, told, len(self.rows.asked.rows), strongest(self.rows.risks, self.lower_ends)
        )

    def answer(self, progress: Progress | None = None, leads: bool = True) -> AuditResult:
        """Say what the rows come to; for the question that ``leads``, how sure that is and what would lower it, too."""
        case, spec, axis, rows, asked = self.case, self.spec, self.axis, self.rows, self.rows.asked
        steps = Steps(progress, total=4.0 if is_asked(spec) else 2.0)
        steps.begin("sureness", 2.0)
        worst = strongest(rows.risks, self.lower_ends)
        used = axis.looks[-1] if worst is None else Look(worst.n_epochs, worst.which)
        sure, n_sure = _sureness(self.chosen, rows, used, self.looks[-1], worst) if leads else (Sureness(), 0)
        checked: TruthCheck | None = None
        doubt: TruthDoubt | None = None
        exposure = None
        ranked: tuple[Note, ...] = ()
        if asked.truth is not None and worst is not None:
            if worst.per_user is not None:
                exposure = measure.exposure(
                    worst.per_user, axis.seen(used)[1].take(asked.rows), spec.level, spec.min_group
                )
            part = case.queries.take(asked.rows)
            ranked = carried_by(strongest_of(self.chosen, worst.attack), part, asked.truth.target, self.given.notes)
            if isinstance(case.targets, Vectors):
                ranked += _ranked(self.chosen, rows, used, worst)
            checked, doubt = _truth_check(self.chosen, axis, self.looks, case, asked, spec.seed or 0)
        result = AuditResult(
            spec=spec.model_dump(mode="json"),
            n_targets=len(case.targets),
            n_queries=len(case.queries),
            n_scored=len(asked.rows),
            n_strangers=asked.n_drawn - len(asked.rows),
            n_unasked=asked.n_unasked,
            n_epochs=axis.size,
            n_tokens=breadth(case.targets),
            seed=spec.seed or 0,
            epochs=axis.counts,
            epochs_skipped=axis.skipped,
            risks=tuple(rows.risks),
            lower_ends=self.lower_ends,
            differences=tuple(rows.differences),
            bounds=self.bounds,
            exposure=exposure,
            choosiness=sure.curve,
            choosy_attack=sure.attack,
            choosy_epochs=used.n,
            n_choosy=n_sure if sure.curve else 0,
            rehearsals=sure.rehearsals,
            truth=None if asked.truth is None else asked.truth.origin,
            truth_check=checked,
            truth_doubt=doubt,
            notes=(),
            descriptions={attack.name: attack.description for attack in self.chosen},
            gate=None,
            versions=versions_now(),
            kind=kind_of(case.targets).name,
            axis=axis.name,
            scenario=self.given.scenario,
            not_run=self.not_run,
            n_questions=self.given.questions,
            timing=Timing.since(self.started),
            scored=None if asked.truth is None else Scored(case.targets.users, asked.truth.target),
        )
        if leads:
            vectors = isinstance(case.targets, Vectors)  # changed vectors have no cells of a file
            able = [attack for attack in self.chosen if not (vectors and attack.reads_cells)]
            lead, reach = worst, used
            if worst is not None and is_asked(spec) and strongest_of(able, worst.attack) is None:
                found = (risk for risk in rows.risks if strongest_of(able, risk.attack))
                lead = max(found, key=lambda risk: risk.rate, default=None)
                if lead is not None:
                    reach = Look(lead.n_epochs, lead.which)
                    ranked += (Note("changes-without-cells", attack=worst.attack, by=lead.attack, rate=lead.rate),)

            def looked(seen: Case) -> Case:
                targets, queries = axis_of(seen, spec, self.given.scenario).seen(reach)
                return dataclasses.replace(seen, targets=targets, queries=queries)

            partly = reach.n < axis.size or bool(reach.which)
            verdict = verdict_of(lead, rows.risks, asked.rows, able, self.given.attacks, looked if partly else None)
            more = further(
                case,
                spec,
                verdict,
                plain=plain_of(self.chosen, rows.risks),
                strongest=strongest_of(able, None if lead is None else lead.attack),
                scenario=self.given.scenario,
                engine=self.given.engine,
                top_sets=self.given.top_sets,
                read=[note for note in self.given.notes if isinstance(note, Note) and note.code == "understood-as"],
                progress=steps.within("changes", 2.0) if is_asked(spec) else None,
            )
            result = dataclasses.replace(result, further=more)
        odd = warnings(case, spec.seed or 0)
        rests_on = (note for attack in self.chosen for note in attack.rests_on)
        own = [attack.name for attack in self.given.attacks]
        said = assumptions(result, case, (*case.notes, *self.given.notes, *odd, *sure.notes, *ranked, *rests_on), own)
        result = suppress(dataclasses.replace(result, notes=said))
        steps.begin("done", 0.0)
        if worst is None or spec.max_risk is None or self.given.questions > 1:
            return result
        return dataclasses.replace(result, gate=gate(result, spec.max_risk))


def together(results: Sequence[AuditResult]) -> AuditResult:
    """Join the answers to several questions of the same data, the strongest first; the gate looks at all.

    What was measured on too few people leads only where all of it was, and steps that tell more of each event than is
    taken to be known (``spec.told``) come after the others.

    Each must have been asked with ``questions`` as many as there are.
    """
    if any(one.n_questions != len(results) for one in results):
        raise DataError(f"answers were asked for with another number of questions than the {len(results)} given")
    order = strongest_first(results)
    result = dataclasses.replace(order[0], also=tuple(order[1:]))
    limit = result.spec.get("max_risk")
    if result.strongest is None or limit is None or len(results) == 1:
        return result
    return dataclasses.replace(result, gate=gate(result, limit))


def _sureness(
    chosen: list[Attack[Any]], rows: MeasuredRows, used: Look, last: Look, worst: Risk | None
) -> tuple[Sureness, int]:
    """Ask the attacks how sure they are, on some of the scored queries at the look of the strongest row."""
    asked, spec = rows.asked, rows.spec
    some, _ = chosen_queries(len(asked.rows), _SURE, spec.seed)
    few = np.arange(len(asked.rows)) if some is None else some
    targets, queries = rows.axis.seen(used)
    part = queries.take(asked.rows[few])
    if asked.truth is None or worst is None:
        return how_sure_unknown(chosen, targets, part, spec.seed or 0, spec, rows.engine), len(few)
    here = [risk for risk in rows.risks if (risk.n_epochs, risk.which) == (used.n, used.which)]
    rates = {risk.attack: risk.rate for risk in here}
    tried = [attack for attack in chosen if attack.name in rates]
    whole = used.n == rows.axis.size  # the only look of those that are for whole records
    fitted = [one.name for one in tried if used == last or (whole and plan.for_whole(one.name))]
    return how_sure(tried, rates, targets, part, asked.truth.target[few], spec, rows.engine, fitted), len(few)


def _ranked(chosen: Sequence[Attack[Any]], rows: MeasuredRows, used: Look, worst: Risk) -> tuple[Note, ...]:
    """Return where the right records stand among the candidates of the strongest attack."""
    attack = strongest_of(chosen, worst.attack)
    assert attack is not None
    assert rows.asked.truth is not None
    targets, queries = rows.axis.seen(used)
    attack.fit(targets).look_around(queries)
    part, least = queries.take(rows.asked.rows), rows.spec.min_group
    return rank_notes(attack, part, rows.asked.truth.target, len(targets), least, rows.engine)


def _truth_check(
    chosen: Sequence[Attack[Any]], axis: Axis, looks: Sequence[Look], case: Case, asked: DrawnQueries, seed: int
) -> tuple[TruthCheck, TruthDoubt | None]:
    """Check the truth with the attacks that are quick; what was cut from one table cannot be misaligned."""
    assert asked.truth is not None
    if asked.truth.origin == "cut":
        return "passed", None
    quick = [attack for attack in chosen if plan.is_quick(attack.name, case.targets)]
    choices = [look.columns for look in looks] if axis.name == "epochs" else [()]
    scored = case.queries.take(asked.rows)
    answer, doubt = check_truth(quick, choices, case.targets, scored, asked.truth.target, seed)
    if doubt is not None and axis.name != "epochs":
        doubt = dataclasses.replace(doubt, n_epochs=axis.size)
    return answer, doubt


def _check(case: Any) -> None:
    if not isinstance(case, Case):
        raise DataError(f"an audit takes a Case, which scenarios make, not {type(case).__name__}")
    kinds = {kind for one in registry() for kind in one.kinds if not one.needs and one.default}
    if type(case.targets) not in kinds:
        able = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise DataError(f"an audit compares {able}, not {type(case.targets).__name__}")
