"""Running an audit: read or simulate two tables, attack them at growing numbers of epochs, bound, summarise."""

import dataclasses
import datetime
import platform
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk import bounds, io, measure, populations, topics
from reidrisk.attacks import Attack
from reidrisk.audit import plan
from reidrisk.audit.assumptions import assumptions
from reidrisk.audit.choice import only, telling_epochs
from reidrisk.audit.fingerprints import fingerprints
from reidrisk.audit.gate import gate
from reidrisk.audit.result import Assumption, AuditResult, Timing, error_parts, strongest
from reidrisk.audit.spec import AuditSpec, InMemory, Published, Tables
from reidrisk.audit.suppress import suppress
from reidrisk.audit.sureness import how_sure, how_sure_unknown
from reidrisk.audit.truth_doubt import TruthCheck, check_truth
from reidrisk.base.errors import DataError, OptionError, TruthError
from reidrisk.base.intervals import mean_interval
from reidrisk.base.notes import Note
from reidrisk.base.progress import Progress, Steps, silent
from reidrisk.base.results import Bound, Difference, Risk
from reidrisk.base.streams import fresh_seed
from reidrisk.measure.risk import chosen_queries, linked, summarise
from reidrisk.mechanisms.popularity import popularity
from reidrisk.records import TopSets, Traces
from reidrisk.search.engines import Engine

_SURE = 20_000  # queries for which the attack is asked how sure it is: that needs the whole sum over targets
_MODEL_TOKENS = 5_000  # up to which the model of partial information, a table of all pairs of tokens, is fitted
_DRAWS = 2_000  # simulated records behind the estimate of the optimal attacker who knows one table only


def run(
    spec: AuditSpec,
    progress: Progress | None = None,
    key: bytes | None = None,
    plain_sums: bool = False,
    engine: Engine | None = None,
) -> AuditResult:
    """Read or simulate what the spec names, and audit it.

    With a ``key`` the result holds keyed fingerprints of the files that were read (:class:`Fingerprints`), without one
    plain SHA-256 sums if ``plain_sums`` asks for them. Whoever has these can try guesses against them: a small table,
    or one known but for a few cells, can be recovered. ``engine`` is as for :func:`audit_traces`.

    >>> from reidrisk.audit import AuditSpec, Published
    >>> result = run(AuditSpec(inputs=Published(users=200, epochs=2), system="topics", seed=1))
    >>> [risk.attack for risk in result.risks if risk.n_epochs == 2][:4]
    ['Hamming', 'WeightedHamming', 'ProfileBayes', 'BM25']
    """
    spec = spec.model_copy(update={"seed": fresh_seed() if spec.seed is None else spec.seed})
    tell = progress or silent
    if isinstance(spec.inputs, InMemory):
        raise OptionError("this audit was of tables in memory; hand them over again with audit_traces")
    if isinstance(spec.inputs, Published):
        return _run_published(spec, spec.inputs, tell, engine)
    return _run_tables(spec, spec.inputs, tell, key, plain_sums, engine)


def audit_traces(
    targets: Traces,
    queries: Traces,
    spec: AuditSpec,
    truth: npt.ArrayLike | measure.Truth | None = None,
    top_sets: TopSets | None = None,
    notes: tuple[str | Assumption | Note, ...] = (),
    progress: Progress | None = None,
    attacks: Sequence[Attack[Any]] = (),
    engine: Engine | None = None,
) -> AuditResult:
    """Audit two tables that are already in memory; ``spec.inputs`` is only recorded.

    ``targets`` are the known records, ``queries`` those to identify, over one vocabulary and the same epochs. ``truth``
    is the target row of each query (:func:`reidrisk.measure.find_truth`); ``top_sets``, what the system held of the
    users, allow more bounds; ``notes`` are further assumptions, to be listed. ``attacks`` of your own run beside those
    that the spec names, or alone with ``AuditSpec(attacks=())``. ``engine`` is where targets are searched
    (:mod:`reidrisk.search.engines`), default: here; it changes no answer.
    """
    started = time.perf_counter()
    tell = progress or silent
    seed = fresh_seed() if spec.seed is None else spec.seed
    spec = spec.model_copy(update={"seed": seed, "attacks": plan.attack_names(spec, targets, queries)})
    known = _truth(targets, queries, truth)
    rows, _ = chosen_queries(len(queries), plan.sample_size(spec, targets, queries), seed)
    drawn = np.arange(len(queries)) if rows is None else rows
    # Who is not among the targets cannot be found there, and would dilute the rate of those who can.
    matched = drawn if known is None else drawn[known.target[drawn] >= 0]
    if not matched.size:
        raise DataError(f"none of the {len(drawn):,} records drawn has a counterpart; draw more of them (--sample)")
    unasked = None if known is None else len(targets) - len(np.unique(known.target[known.target >= 0]))
    scored = queries if len(matched) == len(queries) else queries.take(matched)
    if known is not None:
        known = measure.Truth(known.target[matched], known.origin)
    asked_for = plan.epoch_counts(spec, targets.n_epochs)
    counts, skipped = plan.with_tokens(asked_for, targets, queries)
    chosen = plan.chosen_attacks(spec, targets.n_tokens, attacks)
    telling = () if known is None else telling_epochs(targets, scored, known.target, asked_for)
    choices = (*(tuple(range(r)) for r in counts), *telling)

    # Work grows with epochs; the optimal attacker's estimate looks at every target as often as an attack does.
    # A bound holds for the first r epochs: beside others that tell more, it would limit nobody.
    limited = tuple(r for r in counts if all(which[-1] < r for which in telling if len(which) <= r))
    work = sum(len(which) for which in choices) * len(chosen) + 2 * sum(limited)
    steps = Steps(tell, total=work + 2 * targets.n_epochs)
    risks: list[Risk] = []
    differences: list[Difference] = []
    if known is not None:
        for which in choices:
            known_part, all_part, part = (only(table, which) for table in (targets, queries, scored))
            for attack in chosen:
                steps.begin(f"{attack.name}, {len(which)} epochs", len(which))
                links = linked(attack.fit(known_part).look_around(all_part), part, engine)
                row = summarise(attack, targets, part, links, known, rows is None, seed, spec.level)
                risks.append(dataclasses.replace(row, which=which) if which in telling else row)
            if which not in telling:
                here = risks[-len(chosen) :]
                differences += [measure.difference(other, here[0]) for other in here[1:]]
    parts = error_parts(risks, targets.n_epochs, asked_for)
    lower_ends = [_lower_end(risk, n) for risk, n in zip(risks, parts, strict=True)]
    found = _bounds(spec, targets, queries, top_sets, limited, seed, steps)

    steps.begin("how sure the attack is", 2 * targets.n_epochs)
    worst = strongest(risks, lower_ends)
    asked, _ = chosen_queries(len(scored), _SURE, seed)
    few = np.arange(len(scored)) if asked is None else asked
    checked: TruthCheck | None = None
    doubt, exposure = None, None
    used = choices[len(counts) - 1] if worst is None else worst.which or tuple(range(worst.n_epochs))
    part, few_part = only(targets, used), only(scored.take(few), used)
    if known is None or worst is None:
        sure = how_sure_unknown(chosen, part, few_part, seed, spec, engine)
    else:
        here = [risk for risk in risks if (risk.n_epochs, risk.which) == (worst.n_epochs, worst.which)]
        rates = {risk.attack: risk.rate for risk in here}
        sure = how_sure(chosen, rates, part, few_part, known.target[few], spec, engine, fitted=used == choices[-1])
        if worst.per_user is not None:
            exposure = measure.exposure(worst.per_user, only(scored, used), spec.level)
        checked, doubt = check_truth(chosen, choices, targets, scored, known.target, seed)
    result = AuditResult(
        spec=spec.model_dump(mode="json"),
        n_targets=len(targets),
        n_queries=len(queries),
        n_scored=len(scored),
        n_strangers=len(drawn) - len(matched),
        n_unasked=unasked,
        n_epochs=targets.n_epochs,
        n_tokens=targets.n_tokens,
        seed=seed,
        epochs=counts,
        epochs_skipped=skipped,
        risks=tuple(risks),
        lower_ends=tuple(lower_ends),
        differences=tuple(differences),
        bounds=found,
        exposure=exposure,
        choosiness=sure.curve,
        choosy_attack=sure.attack,
        choosy_epochs=len(used),
        n_choosy=len(few) if sure.curve else 0,
        rehearsals=sure.rehearsals,
        truth=None if known is None else known.origin,
        truth_check=checked,
        truth_doubt=doubt,
        notes=(),
        descriptions={attack.name: attack.description for attack in chosen},
        gate=None,
        versions={name: version(name) for name in ("reidrisk", "numpy", "scipy", "numba")}
        | {"python": platform.python_version()},
        timing=Timing(datetime.date.today().isoformat(), time.perf_counter() - started),
    )
    said = assumptions(result, targets, queries, (*notes, *sure.notes), [attack.name for attack in attacks])
    result = suppress(dataclasses.replace(result, notes=said))
    tell("done", 1.0)
    if worst is None or spec.max_risk is None:
        return result
    return dataclasses.replace(result, gate=gate(result, spec.max_risk))


def _run_published(spec: AuditSpec, inputs: Published, tell: Progress, engine: Engine | None) -> AuditResult:
    seed = spec.seed or 0
    tell("simulating the population", 0.0)
    sets = populations.published(inputs.users, inputs.epochs, seed=seed)
    system = spec.mechanism(sets.n_tokens)
    if system.top_k != sets.k:
        raise OptionError(f"the published population holds {sets.k} topics per week, not {system.top_k}")
    api = topics.TopicsAPI(n_topics=sets.n_tokens, top_k=system.top_k, noise=system.noise)
    targets, queries = (api.expose(sets, seed=seed, site=site) for site in ("site 1", "site 2"))
    truth, notes = measure.Truth(np.arange(len(sets)), "simulated"), (Note("simulated-people"),)
    return audit_traces(targets, queries, spec, truth, sets, notes, tell, engine=engine)


def _run_tables(
    spec: AuditSpec, inputs: Tables, tell: Progress, key: bytes | None, plain_sums: bool, engine: Engine | None
) -> AuditResult:
    tell("reading the tables", 0.0)
    files = {role: getattr(inputs, role) for role in ("targets", "queries", "truth", "vocabulary")}
    sums = fingerprints(files, key) if key is not None or plain_sums else None
    vocabulary = None if inputs.vocabulary is None else io.read_vocabulary(inputs.vocabulary)
    pair = io.read_pair(
        inputs.targets,
        inputs.queries,
        layout=inputs.layout,
        n_tokens=inputs.n_tokens,
        vocabulary=vocabulary,
        allow_unmatched=inputs.allow_unmatched,
        truth=inputs.truth,
    )
    same = Path(inputs.targets).resolve() == Path(inputs.queries).resolve()
    notes = pair.notes + (Note("same-file-twice"),) * same
    found = audit_traces(pair.targets, pair.queries, spec, pair.matched, None, notes, tell, engine=engine)
    return dataclasses.replace(found, fingerprints=sums)


def _truth(targets: Traces, queries: Traces, truth: npt.ArrayLike | measure.Truth | None) -> measure.Truth | None:
    """Find the truth, or answer None where it is simply not known; contradictions are still refused."""
    if truth is None:
        named = (targets.users is not None, queries.users is not None)
        if not any(named) and len(targets) != len(queries):
            return None
        if all(named):
            try:
                return measure.find_truth(targets, queries)
            except TruthError:
                return None  # ids that share nobody are pseudonyms of two worlds: the case without truth
    return measure.find_truth(targets, queries, truth)


def _bounds(
    spec: AuditSpec,
    targets: Traces,
    queries: Traces,
    top_sets: TopSets | None,
    counts: tuple[int, ...],
    seed: int,
    steps: Steps,
) -> tuple[Bound, ...]:
    """Bound every number of epochs by what is known of the system."""
    system = spec.mechanism(targets.n_tokens)
    found: list[Bound] = []
    for r in counts:
        steps.begin(f"bounds, {r} epochs", 2 * r)
        known, asked = targets.epochs(r), queries.epochs(r)
        if top_sets is not None:
            sets = top_sets.epochs(r)
            found += bounds.topics_full_information(sets, system.noise, asked, level=spec.level)
            if r > 1:  # for one epoch the optimum is exact and already there
                found.append(bounds.topics_optimum(sets, system.noise, samples=_DRAWS, seed=seed, level=spec.level))
        else:
            found.append(bounds.distinct_outputs(asked, level=spec.level))
        if system.declared == "system":
            p = popularity(known, system.top_k, system.noise)[0]
            if np.count_nonzero(p) < system.top_k or known.n_tokens > _MODEL_TOKENS:
                continue  # too few records to tell any topic from noise, or a table of pairs that is too large
            partly = bounds.topics_partial_information
            found.append(partly(known.tokens, p, system.top_k, system.noise, _DRAWS, seed, spec.level))
    return tuple(found)


def _lower_end(risk: Risk, parts: int) -> float:
    """Return the lower end of a row at its part of the error; 0 where that is too small to compute with."""
    error = (1.0 - risk.level) / parts
    if risk.per_user is None or error < 1e-12:
        return 0.0
    return mean_interval(risk.per_user, 1.0 - error, risk.design_effect)[0]
