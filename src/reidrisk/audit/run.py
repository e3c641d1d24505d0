"""Running an audit from its spec: read or simulate what it names, and hand it over as a case."""

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk import io, measure, populations, topics
from reidrisk.attacks import Attack
from reidrisk.audit.asking import Heard, read, run_exports
from reidrisk.audit.case import audit_case
from reidrisk.audit.fingerprints import fingerprints
from reidrisk.audit.result import Assumption, AuditResult
from reidrisk.audit.spec import AuditSpec, Exports, InMemory, Published, Tables
from reidrisk.audit.stored.opening import for_engine, is_stored
from reidrisk.audit.stored.run import run_stored
from reidrisk.base import ArrayLike, DataError, Note, OptionError, Progress, TruthError, of_class, seed_or_fresh, silent
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.records import Case, Events, TopSets, Traces
from reidrisk.search.engines import Engine, find_engine
from reidrisk.search.engines.relational import Relational


def run(
    spec: AuditSpec,
    progress: Progress | None = None,
    key: bytes | None = None,
    plain_sums: bool = False,
    engine: Engine | str | None = None,
    heard: Heard | None = None,
) -> AuditResult:
    """Read or simulate what the spec names, and audit it.

    With a ``key`` the result holds keyed fingerprints of the files that were read (:class:`Fingerprints`), without one
    plain SHA-256 sums if ``plain_sums`` asks for them. Whoever has these can try guesses against them: a small table,
    or one known but for a few cells, can be recovered. ``engine`` is as for :func:`audit_traces`; ``heard``
    is told at once how exports were understood.

    >>> from reidrisk.audit import AuditSpec, Published
    >>> result = run(AuditSpec(inputs=Published(users=200, epochs=2), system="topics", seed=1))
    >>> [risk.attack for risk in result.risks if risk.n_epochs == 2][:4]
    ['Hamming', 'WeightedHamming', 'ProfileBayes', 'BM25']
    """
    of_class("spec", spec, AuditSpec, "an AuditSpec")
    spec = spec.model_copy(update={"seed": seed_or_fresh(spec.seed)})
    tell, engine = progress or silent, find_engine(engine)
    if isinstance(spec.inputs, InMemory):
        raise OptionError("this audit was of tables in memory; hand them over again with audit_traces")
    if isinstance(spec.inputs, Published):
        return _run_published(spec, spec.inputs, tell, engine, heard)
    if isinstance(spec.inputs, Exports):
        sums = fingerprints(_roles(spec.inputs), key) if key is not None or plain_sums else None
        return dataclasses.replace(run_exports(spec, spec.inputs, tell, engine, heard), fingerprints=sums)
    if spec.scenario is not None:
        raise OptionError("a scenario is for exports; two tables of traces are compared as they are")
    return _run_tables(spec, spec.inputs, tell, key, plain_sums, engine)


def audit_traces(
    targets: Traces,
    queries: Traces,
    spec: AuditSpec,
    truth: ArrayLike | measure.Truth | None = None,
    top_sets: TopSets | None = None,
    notes: tuple[str | Assumption | Note, ...] = (),
    progress: Progress | None = None,
    attacks: Sequence[Attack[Any]] = (),
    engine: Engine | str | None = None,
) -> AuditResult:
    """Audit two tables that are already in memory; ``spec.inputs`` is only recorded.

    ``targets`` are the known records, ``queries`` those to identify, over one vocabulary and the same epochs. ``truth``
    is the target row of each query (:func:`reidrisk.measure.find_truth`); everything else is as for
    :func:`audit_case`, which takes other records too.
    """
    for table in (targets, queries):
        if not isinstance(table, Traces):
            what = f"audit_traces takes Traces, not {type(table).__name__}"
            raise DataError(f"{what}; make a case of them (scenarios.TwoTables) and hand it to audit_case")
    case = Case(targets, queries, _truth(targets, queries, truth))
    return audit_case(case, spec, notes=notes, progress=progress, attacks=attacks, engine=engine, top_sets=top_sets)


def _run_published(
    spec: AuditSpec, inputs: Published, tell: Progress, engine: Engine | None, heard: Heard | None
) -> AuditResult:
    """Audit what two sites log of the embedded people: the logs are read as those of anybody are."""
    seed = spec.seed or 0
    tell("simulating-population", 0.0)
    sets = populations.published(inputs.users, inputs.epochs, seed=seed)
    system = spec.mechanism(sets.n_tokens)
    if system.top_k != sets.k:
        raise OptionError(f"the published population holds {sets.k} topics per week, not {system.top_k}")
    api = topics.TopicsAPI(n_topics=sets.n_tokens, top_k=system.top_k, noise=system.noise)
    sites = ("site 1", "site 2")
    tell("reading-logs", 0.0)
    logs = [log_of(api.expose(sets, seed=seed, site=site)) for site in sites]
    one, two = read(logs, io.Reading(user="visitor", time="week", items=("topic",)), heard=heard, least=spec.min_group)
    targets, queries = (traces_of(export.records, sets) for export in (one, two))
    truth, notes = measure.Truth(np.arange(len(sets)), "simulated"), (Note("simulated-people"),)
    return audit_traces(targets, queries, spec, truth, sets, notes, tell, engine=engine)


def log_of(seen: Traces) -> dict[str, Any]:
    """Return what a site logs: a row for each visitor and week, with the number of the topic, in no order of people."""
    n, weeks = len(seen), seen.n_epochs
    by_week = seen.tokens.T.ravel()
    return {"visitor": np.tile(np.arange(n), weeks), "week": np.repeat(np.arange(weeks), n), "topic": by_week}


def traces_of(log: Events, sets: TopSets) -> Traces:
    """Return such a log as one topic per week, all of which it keeps, over all topics there are."""
    every = Vocabulary([str(topic) for topic in range(sets.n_tokens)])
    tokens = log.over(every).traces(1.0, span=(0, sets.n_epochs - 1)).tokens
    return Traces(tokens, sets.n_tokens, vocabulary=sets.vocabulary)


def _run_tables(
    spec: AuditSpec, inputs: Tables, tell: Progress, key: bytes | None, plain_sums: bool, engine: Engine | None
) -> AuditResult:
    files = {role: getattr(inputs, role) for role in ("targets", "queries", "truth", "vocabulary")}
    stored = isinstance(engine, Relational) and for_engine((inputs.targets, inputs.queries))
    if (key is not None or plain_sums) and any(is_stored(path) for path in files.values() if path is not None):
        what = "sums are taken of files, not of folders or tables"
        raise OptionError(f"{what}; leave --fingerprint-key, --plain-sums out")
    sums = fingerprints(files, key) if key is not None or plain_sums else None
    # Not Path.resolve, which fails where a link points to itself: whoever reads it says so.
    same = os.path.realpath(inputs.targets) == os.path.realpath(inputs.queries)
    twice = (Note("same-file-twice"),) * same
    if stored:
        assert isinstance(engine, Relational)
        found = run_stored(spec, inputs, engine, tell)
        return dataclasses.replace(found, fingerprints=sums, notes=found.notes + twice)
    tell("reading-tables", 0.0)
    vocabulary = None if inputs.vocabulary is None else io.read_vocabulary(inputs.vocabulary)
    how = inputs.model_dump(include={"layout", "n_tokens", "truth"}) | {"allow_unmatched": spec.allow_unmatched}
    pair = io.read_pair(inputs.targets, inputs.queries, vocabulary=vocabulary, **how)
    notes = pair.notes + twice
    found = audit_traces(pair.targets, pair.queries, spec, pair.matched, None, notes, tell, engine=engine)
    return dataclasses.replace(found, fingerprints=sums)


def _roles(inputs: Exports) -> dict[str, str | None]:
    """Return which file is what; a file of true pairs may be given with the names of its columns."""
    names = ("targets", "queries") if len(inputs.files) == 2 else ("table",)
    pairs = inputs.truth
    if pairs is not None and not Path(pairs).exists():
        pairs = pairs.rpartition(":")[0]
    return {**dict(zip(names, inputs.files, strict=True)), "truth": pairs}


def _truth(targets: Traces, queries: Traces, truth: ArrayLike | measure.Truth | None) -> measure.Truth | None:
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
