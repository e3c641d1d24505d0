"""Auditing two stored tables with an engine: small ones as always, larger ones without ever holding them here."""

import dataclasses
import errno
import shutil
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk import measure
from reidrisk.attacks.registry import entry
from reidrisk.audit import plan
from reidrisk.audit.assumptions import model_notes, truth_notes
from reidrisk.audit.case import audit_case
from reidrisk.audit.ends import error_parts, lower_end, strongest
from reidrisk.audit.gate import gate
from reidrisk.audit.result import AuditResult, Timing, versions_now
from reidrisk.audit.spec import AuditSpec, Tables, usual_epochs
from reidrisk.audit.stored.bounds import stored_bounds
from reidrisk.audit.stored.notes import stored_notes
from reidrisk.audit.stored.opening import IN_MEMORY, TABLE, table_files
from reidrisk.audit.stored.pairs import columns_named
from reidrisk.audit.stored.plan import check_stored, planned, usual_attacks
from reidrisk.audit.stored.prepare import Prepared, prepare
from reidrisk.audit.stored.rows import Everyone, World, of_drawn
from reidrisk.audit.suppress import suppress
from reidrisk.audit.sureness import Sureness, how_sure
from reidrisk.audit.truth_doubt import check_truth
from reidrisk.audit.warnings import warnings
from reidrisk.base.arrays import Ints
from reidrisk.base.errors import OptionError
from reidrisk.base.progress import Progress, Stage, silent
from reidrisk.base.results import Difference, Risk
from reidrisk.measure.exposure import counted_exposure
from reidrisk.measure.risk import chosen_queries
from reidrisk.records import Case, Traces, Truth
from reidrisk.search.engines.parts import FinishedParts
from reidrisk.search.engines.relational import Relational, Session, no_space

_SURE = 2_000  # people of whom the attack is asked how sure it is
_CHECKED = 20_000  # targets among which the truth is checked


def run_stored(
    spec: AuditSpec,
    inputs: Tables,
    engine: Relational,
    tell: Progress | None = None,
    in_memory: int = IN_MEMORY,
    one_in: int = 1,
) -> AuditResult:
    """Audit two stored tables; up to ``in_memory`` records are fetched, and audited as tables in memory are.

    Of people, only about one in ``one_in`` are taken: for an estimate of what all of them take. An engine that has a
    ``resume`` folder keeps finished parts there, and a job that was killed goes on from them.

    Beyond, attacks that ask which epochs agree are measured on everyone, by joins. The others are measured on a sample
    of people against every target, shard by shard; what they learn they learn from some of the targets. Changes that
    may lower the risk, forecasts and bounds that counts do not give need tables in memory, and are refused or left out;
    a note says so.
    """
    if not engine.spill.is_dir():
        raise OptionError(f"{engine.spill} is no folder to spill to; make it, or name another (--spill)")
    if engine.people is not None:
        engine.people.mkdir(parents=True, exist_ok=True)
        if any(engine.people.iterdir()):
            raise OptionError(f"{engine.people} is not empty; name another folder (--people)")
    parts = None if engine.resume is None or one_in > 1 else FinishedParts(engine.resume, _job(spec, inputs))
    folder = Path(tempfile.mkdtemp(prefix="reidrisk-", dir=engine.spill))
    try:
        with engine.session() as session:
            (tell or silent)("checking-tables", 0.0)
            tables = _prepared(session, spec, inputs, folder, one_in, parts)
            for stored in (tables.targets, tables.queries):
                session.parquet(stored.relation, stored.files)
            if len(tables.targets) + len(tables.queries) <= in_memory:
                case = _fetched(session, tables)
                session = None  # what is kept there is not needed any more
            else:
                return _audited(session, engine, spec, tables, tell or silent, parts, one_in)
        return audit_case(case, spec, notes=tables.notes, progress=tell, engine=engine)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise no_space(error.filename or engine.spill) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fetched(session: Session, tables: Prepared) -> Case:
    """Return both tables in memory, in the order of their rows."""
    both = []
    for stored in (tables.targets, tables.queries):
        found = session.fetch(f"SELECT * FROM {stored.relation}")
        order = np.argsort(found["id"])
        tokens = np.stack([found[f"c{s}"][order] for s in range(stored.n_epochs)], axis=1)
        small = np.int16 if stored.n_tokens < 1 << 15 else np.int32
        both.append(Traces(tokens.astype(small), stored.n_tokens, vocabulary=tables.vocabulary))
    truth = Truth(found["truth"][order].astype(np.int64), tables.origin)
    return Case(both[0], both[1], truth)


def _job(spec: AuditSpec, inputs: Tables) -> dict[str, Any]:
    """Return what makes a job the same: what was asked for, of which files, by which version."""
    pairs = [] if inputs.truth is None else [columns_named(inputs.truth)[0]]
    tables = [path for path in (inputs.targets, inputs.queries, *pairs) if not path.startswith(TABLE)]
    files = [file for path in tables for file in table_files(path)]
    known = {file: [Path(file).stat().st_size, Path(file).stat().st_mtime_ns] for file in files if "://" not in file}
    return {"spec": spec.model_dump(mode="json"), "files": known, "version": version("reidrisk")}


def _prepared(
    session: Session, spec: AuditSpec, inputs: Tables, folder: Path, one_in: int, parts: FinishedParts | None
) -> Prepared:
    """Prepare the tables, or take those of a finished part."""
    if parts is None:
        return prepare(session, inputs, folder, spec.allow_unmatched, one_in)
    known = [parts.found(name) for name in ("targets", "queries")]
    if known[0] is not None and known[1] is not None:
        return Prepared.from_dict(known[1], [parts.files(name) for name in ("targets", "queries")])
    for name in ("targets", "queries"):
        parts.forget(name)
    tables = prepare(session, inputs, parts.folder, spec.allow_unmatched)
    for name in ("targets", "queries"):
        parts.finish(name, tables.to_dict())
    return tables


def _audited(
    session: Session,
    engine: Relational,
    spec: AuditSpec,
    tables: Prepared,
    tell: Progress,
    parts: FinishedParts | None,
    one_in: int,
) -> AuditResult:
    started = time.perf_counter()
    check_stored(spec)
    seed, n_epochs = spec.seed or 0, tables.targets.n_epochs
    counts = usual_epochs(n_epochs) if spec.epochs is None else tuple(sorted(set(spec.epochs)))
    if not counts or counts[0] < 1 or counts[-1] > n_epochs:
        raise OptionError(f"--epochs are numbers from 1 to {n_epochs}, not {counts}")
    usual = usual_attacks(session, tables)
    asked = usual if spec.attacks is None else [entry(name) for name in spec.attacks]
    running, size, not_run = planned(spec, tables, asked, usual, counts, one_in)
    rows, _ = chosen_queries(len(tables.queries), size, seed)
    drawn = np.arange(len(tables.queries)) if rows is None else rows
    world = World.of(session, engine, tables, drawn, spec, parts)
    names = tuple(one.name for one in running)
    spec = spec.model_copy(update={"attacks": names, "sample": size})
    chosen = plan.chosen_attacks(spec, world.asked)

    risks: list[Risk] = []
    wholes: dict[int, Everyone] = {}
    differences: list[Difference] = []
    joined: list[str] = []
    for i, n in enumerate(counts):
        here: list[Risk] = []
        for attack in chosen:
            tell(Stage("attack-at", attack=attack.name, n=n, axis="epochs"), i / len(counts))
            world.learnt(attack, n)
            whole = world.by_join(attack, n)
            if whole is not None:
                joined.append(attack.name)
                wholes[len(risks)] = whole
                risks.append(whole.risk)
                here.append(of_drawn(whole.risk, whole.drawn))
            else:
                risks.append(world.by_shards(attack, n))
                here.append(risks[-1])
        differences += [measure.difference(other, here[0]) for other in here[1:]]

    cuts = error_parts(risks, n_epochs, counts)
    counted = {i: (whole.points, whole.counts) for i, whole in wholes.items()}
    ends = tuple(lower_end(risk, cuts[i], counted.get(i)) for i, risk in enumerate(risks))
    worst = strongest(risks, ends)
    assert worst is not None
    tell("sureness", 0.95)
    alike = {risk.attack: risk.rate for risk in risks if risk.n_epochs == worst.n_epochs}
    sure, n_sure = _sureness(world, [one for one in chosen if one.name not in joined], alike, spec, worst.n_epochs)
    used = (worst.attack, worst.n_epochs)
    joint = next((one for i, one in wholes.items() if (risks[i].attack, risks[i].n_epochs) == used), None)
    per_user, exposure = worst.per_user if joint is None else joint.drawn, None
    if per_user is not None:
        exposure = measure.exposure(per_user, world.asked.epochs(worst.n_epochs), spec.level, spec.min_group)
    if exposure is not None and joint is not None:  # of everyone; what they have in common, of those who were drawn
        exposure = counted_exposure(joint.points, joint.counts.astype(np.int64), exposure.groups)
    near, place = _near(world)
    checked, doubt = check_truth(chosen[:1], [tuple(range(n)) for n in counts], near, world.asked, place, seed)
    odd = warnings(Case(near, world.asked, Truth(place, tables.origin)), seed)
    said = stored_notes(world, spec, engine, chosen, joined, len(drawn), not_run)
    bounds = stored_bounds(session, tables, spec, counts)
    result = AuditResult(
        spec=spec.model_dump(mode="json"),
        n_targets=len(tables.targets),
        n_queries=len(tables.queries),
        n_scored=len(world.drawn),
        n_strangers=len(drawn) - len(world.drawn),
        n_unasked=None,
        n_epochs=n_epochs,
        n_tokens=tables.targets.n_tokens,
        seed=seed,
        epochs=counts,
        epochs_skipped=(),
        risks=tuple(risks),
        lower_ends=ends,
        differences=tuple(differences),
        bounds=bounds,
        exposure=exposure,
        choosiness=sure.curve,
        choosy_attack=sure.attack,
        choosy_epochs=worst.n_epochs,
        n_choosy=n_sure if sure.curve else 0,
        rehearsals=sure.rehearsals,
        truth=tables.origin,
        truth_check=checked,
        truth_doubt=doubt,
        notes=(*said, *tables.notes, *odd, *sure.notes, *truth_notes(checked, doubt), *model_notes(risks, bounds)),
        descriptions={attack.name: attack.description for attack in chosen},
        gate=None,
        versions=versions_now(),
        not_run=not_run,
        timing=Timing.since(started),
    )
    result = suppress(result)
    return result if spec.max_risk is None else dataclasses.replace(result, gate=gate(result, spec.max_risk))


def _sureness(
    world: World, chosen: list[Any], rates: dict[str, float], spec: AuditSpec, n_epochs: int
) -> tuple[Sureness, int]:
    """Ask the attacks that score pairs how sure they are, at the epochs of the strongest row."""
    some = np.arange(min(len(world.drawn), _SURE))
    part = world.asked.epochs(n_epochs).take(some)
    tried: list[Any] = [world.elsewhere(world.learnt(attack, n_epochs), n_epochs) for attack in chosen]
    fitted = [attack.name for attack in tried]
    return how_sure(tried, rates, world.tables.targets, part, world.truth[some], spec, None, fitted), len(some)


def _near(world: World) -> tuple[Traces, Ints]:
    """Return some targets that are here, with the true ones of all drawn queries, and where these stand."""
    ids, own = world.own
    others, some = world.taught
    rest = np.flatnonzero(~np.isin(others, ids))[:_CHECKED]
    tokens = np.concatenate([own.tokens, some.tokens[rest]])
    return Traces(tokens, own.n_tokens), np.searchsorted(ids, world.truth)
