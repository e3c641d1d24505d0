"""`reidrisk audit`: its options, and the audit they ask for."""

import dataclasses
from pathlib import Path
from typing import Any

import typer
import typer.core

from reidrisk.base import OptionError
from reidrisk.base.options import seconds, share
from reidrisk.base.specs import as_flag
from reidrisk.cli import output
from reidrisk.cli.engines import EngineOptions
from reidrisk.cli.estimating import estimated
from reidrisk.cli.exports import ReadingOptions, SystemOptions, inputs_of
from reidrisk.cli.groups import group, grouped, plain
from reidrisk.cli.parameters import Json, Out, Seed, argument, flag, numbers, option
from reidrisk.cli.results import ResultOut, compare_saved, finish, saved_spec
from reidrisk.cli.scenarios import ScenarioOptions, chosen_scenario


class WithAttacks(typer.core.TyperCommand):
    """A command whose help names what is registered, which is looked up when help is asked for."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Say which attacks there are, which of them run by default, and which scenarios, systems and layouts."""
        from reidrisk import mechanisms, scenarios, topics  # noqa: F401 (the Topics API is a system)
        from reidrisk.attacks.registry import nameable
        from reidrisk.records.registry import layouts

        def named(entries: Any) -> str:
            return ", ".join(one.name for one in entries)

        attacks = nameable()
        unusual = named(one for one in attacks if not one.default)
        helps = {
            "attack": f"{named(attacks)}; repeatable. Default: all that apply, except {unusual}.",
            "scenario": f"Who attacks, with what: {named(scenarios.registry())}; default: all that fit.",
            "system": f"Where the records come from: {named(mechanisms.registry())}. Nothing is known of 'other'.",
            "layout": f"{', '.join(layouts())}; default: detected.",
        }
        for parameter in self.params:
            if parameter.name in helps:
                assert isinstance(parameter, typer.core.TyperOption)
                parameter.help = helps[parameter.name]
        super().format_help(ctx, formatter)


@group
class FileOptions:
    """What is audited, and where the answer goes."""

    targets: Path | None = argument(None, "A table as exported: CSV, JSON lines, Parquet, Arrow, NPY, NPZ or .xlsx.")
    queries: Path | None = argument(None, "A second table, whose people are looked for in the first.")
    out: Out = None
    result: ResultOut = None
    evidence: Path | None = option(None, "Write page, result, spec, tables and charts here as one ZIP file.")


@group
class AttackOptions:
    """Which attacks run, and on how much."""

    attack: list[str] | None = option(None, "Attack to run; repeatable.")
    epochs: str | None = option(None, "Numbers of epochs to look at, such as 1,2,4,8; default: powers of 2, and all.")
    sample: int | None = option(None, "Number of records to score, drawn at random.")
    everyone: bool = option(False, "Score every record, however long it takes.", "--everyone")
    budget: str = option(60.0, "Reference seconds for all attacks (60s, 5min): records are sampled to fit.")


@group
class AnswerOptions:
    """What the answer says: whether the risk is acceptable, what would lower it, and how sure that is."""

    max_risk: str | None = option(None, "Highest acceptable risk, such as 0.03 or 3%: adds the gate's answer.")
    what_if: bool | None = option(
        None,
        "Try changes that may lower the risk, and say what gives people away. Default: with --out, if there is time.",
        "--what-if/--no-what-if",
    )
    change: list[str] | None = option(None, "Change to try, such as rotate:4 or coarsen:100; repeatable.")
    what_if_budget: str = option(20.0, "Reference seconds for trying changes.")
    aim: str | None = option(None, "Search for a change that leaves at most this share of people to be found.")
    population: int | None = option(None, "Forecast the risk among this many people.")
    taxonomy: Path | None = option(None, "The parent of each item (two columns, or JSON): report by kind of item.")
    keep_per_person: Path | None = option(
        None, "Write what was found about each person here, to pair two audits (compare); internal, do not pass on."
    )
    level: float = option(0.95, "Level of the intervals, 0.8 to 0.9999.")
    min_group: int = option(20, "Show no group of fewer people than this.")
    seed: Seed = None


@group
class SavedOptions:
    """What ties a saved result to its tables, and a saved audit to run again."""

    fingerprint_key: Path | None = option(None, "File with a secret key: the result then holds keyed sums of tables.")
    plain_sums: bool = option(
        False, "Put plain SHA-256 sums into the result; a small table can be guessed from them.", "--plain-sums"
    )
    spec: Path | None = option(
        None,
        "Run a saved audit again (JSON); beside it only --out, --result, --evidence, --json, --engine and its options, "
        "--fingerprint-key, --plain-sums and --keep-per-person are allowed.",
    )

    def key(self) -> bytes | None:
        """Return the key of the sums, or say what plain ones give away."""
        from reidrisk.audit import read_key

        if self.plain_sums and self.fingerprint_key is not None:
            raise OptionError("choose keyed sums (--fingerprint-key) or plain ones (--plain-sums), not both")
        if self.plain_sums:
            output.remark(
                "careful: whoever has this result can try guesses against a plain SHA-256; a small table, or one known "
                "but for a few cells, can be recovered. Prefer --fingerprint-key"
            )
        return None if self.fingerprint_key is None else read_key(self.fingerprint_key)


@group
class AuditOptions:
    """Every option of an audit; a new one goes into the group it belongs to."""

    files: FileOptions
    reading: ReadingOptions
    system: SystemOptions
    attacks: AttackOptions
    scenario: ScenarioOptions
    answers: AnswerOptions
    search: EngineOptions
    saved: SavedOptions
    as_json: Json = False


_BESIDE_SPEC = {  # options that say nothing of what is audited
    *("out", "result", "evidence", "keep_per_person", "as_json"),
    *(field.name for some in (EngineOptions, SavedOptions) for field in dataclasses.fields(some)),
}


@grouped
def audit(context: typer.Context, options: AuditOptions) -> None:
    """Measure how many people can be found in one table, or linked across two, and write a report."""
    from reidrisk.audit import run
    from reidrisk.present.words.audit import terms_of_spec

    files, saved, people = options.files, options.saved, options.answers.keep_per_person
    pairs = None if options.reading.truth is None else Path(options.reading.truth)
    lists = (options.system.vocabulary, options.answers.taxonomy)
    read = (files.targets, files.queries, pairs, *lists, saved.spec, saved.fingerprint_key)
    output.check_writable(files.out, files.result, files.evidence, people, inputs=read)
    output.check_report(files.out)
    output.check_evidence(files.evidence)
    key = saved.key()
    if saved.spec is not None:
        _refuse_beside_spec(context)
        asked, sums = saved_spec(saved.spec)
        compare_saved(asked, sums, key)
    else:
        asked = _asked(options)
    engine = options.search.made()
    if estimated(asked, engine, options.search.estimate, options.as_json):
        return
    with output.progress_bar(terms_of_spec(asked.model_dump(mode="json"))) as progress:
        found = run(asked, progress, key=key, plain_sums=saved.plain_sums, engine=engine, heard=tell)
    finish(found, files.out, files.result, options.as_json, people, files.evidence)


def _asked(options: AuditOptions) -> Any:
    """Return the spec of the audit that these options ask for."""
    from reidrisk.audit import AuditSpec

    files, attacks, answers = options.files, options.attacks, options.answers
    if files.targets is None:
        raise OptionError("give a table, or two: reidrisk audit FILE [FILE] (or a saved audit with --spec)")
    given = plain(options.system, attacks, answers)
    wanted = {name: given[name] for name in AuditSpec.model_fields if name in given}
    wanted |= {"epochs": numbers("--epochs", attacks.epochs, int), "attacks": tuple(attacks.attack or ()) or None}
    wanted |= {name: seconds(as_flag(name), given[name]) for name in ("budget", "what_if_budget")}
    wanted |= {name: share(as_flag(name), given[name]) for name in ("max_risk", "aim") if given[name] is not None}
    wanted |= {
        "changes": tuple(answers.change or ()) or None,
        "what_if": what_if_of(answers.what_if, files.out or files.evidence),
    }
    wanted |= {"scenario": chosen_scenario(options.scenario), "told": options.scenario.told}
    tables = tuple(str(one) for one in (files.targets, files.queries) if one is not None)
    elsewhere = options.search.engine in ("duckdb", "spark")
    inputs = inputs_of(tables, options.reading, options.system, wanted["scenario"], elsewhere)
    return AuditSpec.called(flag, **wanted, inputs=inputs)


def tell(note: Any) -> None:
    """Say at once how a table was understood."""
    from reidrisk.present import words

    output.remark(words.sentence(note))


def _refuse_beside_spec(context: typer.Context) -> None:
    """Refuse options beside a saved audit, which is run as it was saved: they would be ignored."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE" and name not in _BESIDE_SPEC:
            what = "tables" if name in ("targets", "queries") else flag(name)
            raise OptionError(f"give {what} or --spec, not both: the spec names its tables and options")


def what_if_of(said: bool | None, out: Path | None) -> bool | str | None:
    """Return whether changes are tried: as said, or else for a page, where they fit in the time given.

    >>> what_if_of(None, Path("report.html")), what_if_of(None, None), what_if_of(True, None)
    ('fits', None, True)
    """
    return "fits" if said is None and out is not None else said
