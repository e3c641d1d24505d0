"""`reidrisk audit`: its options, and the audit they ask for."""

from pathlib import Path
from typing import Any

import typer
import typer.core

from reidrisk.base import OptionError
from reidrisk.base.options import one_of, seconds, size
from reidrisk.base.specs import as_flag
from reidrisk.cli import output
from reidrisk.cli.estimating import estimated
from reidrisk.cli.exports import inputs_of
from reidrisk.cli.parameters import Json, Out, Seed, argument, numbers, option, share
from reidrisk.cli.results import ResultOut, compare_saved, finish, saved_spec
from reidrisk.cli.scenarios import chosen_scenario

_SEARCHING = ("engine", "memory", "spill", "master", "resume", "people", "estimate")
_WRITING = ("out", "result", "as_json", "keep_per_person", "fingerprint_key", "plain_sums")
_BESIDE_SPEC = ("spec", *_SEARCHING, *_WRITING)  # options that say nothing of what is audited


class WithAttacks(typer.core.TyperCommand):
    """A command whose help names the registered attacks and scenarios, which are looked up when help is asked for."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Say which attacks there are, which of them run by default, and which scenarios."""
        from reidrisk.attacks.registry import nameable
        from reidrisk.records import Attributes, Bags, Traces, Vectors
        from reidrisk.scenarios import registry

        entries = {entry.name: entry for kind in (Traces, Bags, Attributes, Vectors) for entry in nameable(kind)}
        names = ", ".join(entries)
        usual = ", ".join(name for name, entry in entries.items() if entry.default)
        helps = {
            "attack": f"{names}; repeatable. Default: those that apply of {usual}.",
            "scenario": f"Who attacks, with what: {', '.join(one.name for one in registry())}; default: all that fit.",
        }
        for parameter in self.params:
            if parameter.name in helps:
                assert isinstance(parameter, typer.core.TyperOption)
                parameter.help = helps[parameter.name]
        super().format_help(ctx, formatter)


def audit(
    context: typer.Context,
    targets: Path | None = argument(None, "A table as exported: CSV, JSON lines, Parquet, Arrow, NPY, NPZ or .xlsx."),
    queries: Path | None = argument(None, "A second table, whose people are looked for in the first."),
    out: Out = None,
    result: ResultOut = None,
    user: str | None = option(None, "Column of people; in two tables that differ, FIRST=SECOND. Default: guessed."),
    time: str | None = option(None, "Column of times, or 'none'. Default: guessed."),
    item: list[str] | None = option(None, "Column of what people did, or a pattern; repeatable. Default: guessed."),
    channels: bool = option(False, "Keep several --item columns apart instead of joining them.", "--channels"),
    amount: str | None = option(None, "Column of whole amounts, or 'none'. Default: guessed."),
    every: str | None = option(None, "Compare two logs by day, week, month or a number of units. Default: chosen."),
    columns: str | None = option(None, "Names of a file without a header; or attributes: age=number,postcode=prefix."),
    grid: str | None = option(None, "Put coordinates on a grid of cells this wide, such as 500m."),
    delimiter: str | None = option(None, "What separates cells: ';', tab, blanks. Default: detected."),
    comment: str | None = option(None, "Leave out lines that begin with this, such as '#'."),
    dates: str | None = option(None, "'day-first' or 'month-first', where the dates leave it open."),
    merge_case: bool = option(False, "Treat labels that differ only in case or blanks as one.", "--merge-case"),
    skip_bad_rows: bool = option(False, "Leave out rows that cannot be read, and say so.", "--skip-bad-rows"),
    truth: str | None = option(None, "True pairs: a table, and two of its columns, such as pairs.csv:crm_id=shop_id."),
    system: str = option("other", "What the tokens are: 'topics' (the Topics API) or 'other' (no noise declared)."),
    top_k: int | None = option(None, "Tokens the system holds for a person at a time."),
    noise: float | None = option(None, "Probability that a random token is shown instead."),
    n_tokens: int | None = option(None, "Size of the system's vocabulary."),
    vocabulary: Path | None = option(None, "All labels of the system: one per line, or a JSON list."),
    layout: str | None = option(None, "'log', 'people', 'lists', 'vectors', 'wide' or 'long'; default: detected."),
    allow_unmatched: bool = option(False, "Keep people who are in one table only.", "--allow-unmatched"),
    attack: list[str] | None = option(None, "Attack to run; repeatable."),
    epochs: str | None = option(None, "Numbers of epochs to look at, such as 1,2,4,8; default: powers of 2, and all."),
    sample: int | None = option(None, "Number of records to score, drawn at random."),
    everyone: bool = option(False, "Score every record, however long it takes.", "--everyone"),
    budget: str = option(60.0, "Reference seconds for all attacks (60s, 5min): records are sampled to fit."),
    scenario: str | None = option(None, "Who attacks, with what; default: all that fit."),
    facts: int | None = option(None, "Facts that the attacker of 'knows' has about a person; default: 4."),
    errors: float | None = option(None, "Share of these facts that are wrong."),
    which: str | None = option(None, "Which facts they know: random, first (in time) or rarest; default: random."),
    split: str | None = option(None, "How 'split' cuts a table in two: by time, random or a column; default: time."),
    at: str | None = option(
        None, "Where 'split' cuts: a date or number; two, with a comma, leave out what is between."
    ),
    part: float | None = option(None, "Share of each record to identify after a 'split'; default: 0.5.", "--share"),
    visit: str | None = option(None, "Identify each day, week, month or value of a column by itself (one table)."),
    max_risk: str | None = option(None, "Highest acceptable risk, such as 0.03 or 3%: adds the gate's answer."),
    what_if: bool | None = option(
        None,
        "Try changes that may lower the risk, and say what gives people away. Default: with --out, if there is time.",
        "--what-if/--no-what-if",
    ),
    change: list[str] | None = option(None, "Change to try, such as rotate:4 or coarsen:100; repeatable."),
    what_if_budget: str = option(60.0, "Reference seconds for trying changes."),
    aim: str | None = option(None, "Search for a change that leaves at most this share of people to be found."),
    population: int | None = option(None, "Forecast the risk among this many people."),
    taxonomy: Path | None = option(None, "The parent of each item (two columns, or JSON): report by kind of item."),
    keep_per_person: Path | None = option(
        None, "Write what was found about each person here, to pair two audits (compare); internal, do not pass on."
    ),
    level: float = option(0.95, "Level of the intervals, 0.8 to 0.9999."),
    min_group: int = option(20, "Show no group of fewer people than this."),
    seed: Seed = None,
    engine: str = option("local", "Where to search: 'local', 'duckdb' or 'spark'. No engine changes an answer."),
    memory: str = option("4GB", "Memory that DuckDB may use, such as 4GB."),
    spill: Path | None = option(None, "Folder for what does not fit in memory; emptied at the end."),
    resume: Path | None = option(None, "Folder for finished parts of a long audit; the next run continues from there."),
    people: Path | None = option(None, "Folder for what the joins found about each person: one row each, as Parquet."),
    estimate: bool = option(False, "Say what an audit of stored tables will take, and stop.", "--estimate"),
    master: str | None = option(None, "Spark master, such as spark://host:7077; default: the cores of this machine."),
    fingerprint_key: Path | None = option(None, "File with a secret key: the result then holds keyed sums of tables."),
    plain_sums: bool = option(
        False, "Put plain SHA-256 sums into the result; a small table can be guessed from them.", "--plain-sums"
    ),
    spec: Path | None = option(
        None,
        "Run a saved audit again (JSON); beside it only --out, --result, --json, --engine and its options, "
        "--fingerprint-key, --plain-sums and --keep-per-person are allowed.",
    ),
    as_json: Json = False,
) -> None:
    """Measure how many people can be found in one table, or linked across two, and write a report."""
    from reidrisk.audit import AuditSpec, read_key, run

    pairs = None if truth is None else Path(truth)
    read = (targets, queries, pairs, vocabulary, taxonomy, spec, fingerprint_key)
    output.check_writable(out, result, keep_per_person, inputs=read)
    output.check_report(out)
    if plain_sums and fingerprint_key is not None:
        raise OptionError("choose keyed sums (--fingerprint-key) or plain ones (--plain-sums), not both")
    key = None if fingerprint_key is None else read_key(fingerprint_key)
    if plain_sums:
        output.remark(
            "careful: whoever has this result can try guesses against a plain SHA-256; a small table, or one known but "
            "for a few cells, can be recovered. Prefer --fingerprint-key"
        )
    saved = None
    if spec is not None:
        _refuse_beside_spec(context)
        asked, saved = saved_spec(spec)
        compare_saved(asked, saved, key)
    elif targets is None:
        raise OptionError("give a table, or two: reidrisk audit FILE [FILE] (or a saved audit with --spec)")
    else:
        given = {name: str(one) if isinstance(one, Path) else one for name, one in context.params.items()}
        options = {name: given[name] for name in AuditSpec.model_fields if name in given}
        options |= {"epochs": numbers("--epochs", epochs, int), "attacks": tuple(attack) if attack else None}
        options |= {name: seconds(as_flag(name), given[name]) for name in ("budget", "what_if_budget")}
        options |= {name: share(as_flag(name), given[name]) for name in ("max_risk", "aim") if given[name] is not None}
        options |= {"changes": tuple(change) if change else None, "what_if": what_if_of(what_if, out)}
        options["scenario"] = chosen_scenario(given | {"share": part})
        asked = AuditSpec.called(flag, **options, inputs=inputs_of(given, options["scenario"]))
    where = _engine(engine, memory, spill, master, resume)
    if people is not None:
        if engine == "local":
            raise OptionError("--people is for --engine duckdb or spark; see --keep-per-person")
        where.people = people
    if estimated(asked, where, estimate, as_json):
        return
    with output.progress_bar() as progress:
        found = run(asked, progress, key=key, plain_sums=plain_sums, engine=where, heard=tell)
    finish(found, out, result, as_json, keep_per_person)


def tell(note: Any) -> None:
    """Say at once how a table was understood."""
    from reidrisk.present import words

    output.remark(words.sentence(note))


def _engine(name: str, memory: str, spill: Path | None, master: str | None, resume: Path | None) -> Any:
    from reidrisk.search.engines import ENGINES, DuckDBEngine, SparkEngine

    one_of("--engine", name, ENGINES)
    if master is not None and name != "spark":
        raise OptionError("--master is for --engine spark; leave it out, or choose that engine")
    if name == "duckdb":
        return DuckDBEngine(size("--memory", memory), spill, resume=resume)
    if name == "spark":
        return SparkEngine(master, spill, resume=resume)
    if resume is not None:
        raise OptionError("--resume is for --engine duckdb or spark; leave it out, or choose one of these")
    return ENGINES[name]()


def flag(name: str) -> str:
    """Return how the command line calls a field of the spec of an audit."""
    return as_flag({"attacks": "attack", "changes": "change"}.get(name, name))


def _refuse_beside_spec(context: typer.Context) -> None:
    """Refuse options beside a saved audit, which is run as it was saved: they would be ignored."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE" and name not in _BESIDE_SPEC:
            what = "two tables" if name in ("targets", "queries") else flag(name)
            raise OptionError(f"give {what} or --spec, not both: the spec names its tables and options")


def what_if_of(said: bool | None, out: Path | None) -> bool | str | None:
    """Return whether changes are tried: as said, or else for a page, where they fit in the time given.

    >>> what_if_of(None, Path("report.html")), what_if_of(None, None), what_if_of(True, None)
    ('fits', None, True)
    """
    return "fits" if said is None and out is not None else said
