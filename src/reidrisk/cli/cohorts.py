"""`reidrisk cohorts`: who is in which cohort, and which cohorts give a sensitive interest away."""

from __future__ import annotations

import itertools
import json
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from reidrisk.cli import output
from reidrisk.cli.audit import Json, Out
from reidrisk.errors import DataError, OptionError
from reidrisk.wording import percent

__all__ = ["cohorts"]

cohorts = typer.Typer(
    help="Group users into cohorts, and find cohorts that give a sensitive interest away.",
    invoke_without_command=True,
    rich_markup_mode="rich",
)

Seed = Annotated[int, typer.Option(help="Seed of the baseline, and of simulated noise; real noise has none.")]


@cohorts.callback()
def _menu(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@cohorts.command("assign")
def assign(
    visits: Annotated[Path, typer.Argument(help="Visits: a table with the columns user and host (or token).")],
    out: Annotated[Path, typer.Option(help="Write the cohorts here: user, cohort; with weeks, one column a week.")],
    table: Annotated[Path | None, typer.Option(help="Chrome's table of cohorts (SortingLshClusters).")] = None,
    min_size: Annotated[int | None, typer.Option(help="Fit a table: the least users a cohort may have.")] = None,
    min_domains: Annotated[int, typer.Option(help="Users with fewer distinct domains have no cohort.")] = 7,
    registrable: Annotated[
        bool, typer.Option("--registrable", help="Turn hosts into registrable domains first, as Chrome did.")
    ] = False,
    invalid_hosts: Annotated[
        str, typer.Option(help="With it: 'refuse' what has no registrable domain, or 'drop' it.")
    ] = "refuse",
    shown: Annotated[bool, typer.Option("--shown", help="Give blocked cohorts of the table as none.")] = False,
    week_column: Annotated[str | None, typer.Option(help="Column that numbers the weeks: a cohort a week.")] = None,
    save_table: Annotated[Path | None, typer.Option(help="Write the fitted table here, in Chrome's format.")] = None,
    as_json: Json = False,
) -> None:
    """Put users into cohorts by the domains they visited: SimHash and SortingLSH, as Chrome did."""
    import numpy as np

    from reidrisk import cohorts as api
    from reidrisk import io

    output.check_writable(out, save_table, inputs=(visits, table))
    if (table is None) == (min_size is None):
        one_of = "--table (cohorts of a given table) or --min-size (fit one to these users)"
        raise OptionError(
            f"give {one_of}, not both" if table is not None else f"nothing says which cohorts; give {one_of}"
        )
    if min_size is not None and min_size < 1:
        raise OptionError(f"--min-size must be at least 1, not {min_size}")
    if shown and table is None:
        raise OptionError("--shown needs --table: a fitted table blocks nothing yet")
    if invalid_hosts not in ("refuse", "drop"):
        raise OptionError(f"--invalid-hosts must be 'refuse' or 'drop', not {invalid_hosts!r}")
    with output.progress_bar() as progress:
        say = progress or (lambda stage, share: None)
        say("reading the visits", 0.0)
        frame = api.read_visits(visits, week_column)
        dropped = 0
        if registrable:
            say("finding registrable domains", 0.3)
            frame, dropped = _registrable(frame, invalid_hosts)
        say("computing cohorts", 0.5)
        users, weeks = _weeks(frame, week_column is not None)
        if table is not None:
            known = api.SortingLSH.from_chrome(table)
            found = np.stack([np.asarray(known.cohort(week, min_domains, shown)) for week in weeks], axis=1)
        else:
            made = api.weekly_cohorts(weeks, 1 if min_size is None else min_size, min_domains)
            known, found = made.table, made.traces.tokens
        say("writing them", 0.9)
        if week_column is None:
            api.write_assignment(out, users, found[:, 0])
        else:
            from reidrisk import Traces

            io.write_traces(Traces(found, n_tokens=len(known), users=users.to_list()), out)
        if save_table is not None:
            known.write(save_table)
    _report_assignment(found, len(known), dropped, out, as_json)


def _registrable(frame: Any, invalid: str) -> tuple[Any, int]:
    import polars as pl

    from reidrisk import cohorts as api

    if "host" not in frame.columns:
        raise DataError("tokens have no registrable domain; leave out --registrable, or name the column 'host'")
    distinct = frame["host"].unique(maintain_order=True).to_list()
    rule: Any = "none" if invalid == "drop" else "refuse"
    try:
        domains = api.registrable(distinct, invalid=rule)
    except DataError as error:
        raise DataError(str(error).replace("pass invalid='none'", "give --invalid-hosts drop")) from error
    turned = frame.join(
        pl.DataFrame({"host": distinct, "domain": domains}), on="host", how="left", maintain_order="left"
    )
    kept = turned.filter(pl.col("domain").is_not_null()).drop("host").rename({"domain": "host"})
    if not len(kept):
        raise DataError("no visit is left: none of the hosts has a registrable domain")
    return kept, len(frame) - len(kept)


def _weeks(frame: Any, weekly: bool) -> tuple[Any, list[Any]]:
    """Return the users, in the order of their first visit, and for each week the domains of all of them."""
    import polars as pl

    key = "host" if "host" in frame.columns else "token"
    users = frame["user"].unique(maintain_order=True)
    numbers = frame["week"].unique().sort().to_list() if weekly else [None]
    for before, after in itertools.pairwise(numbers):
        if after != before + 1:
            raise DataError(
                f"there are visits in the weeks {before} and {after} but none between; number the weeks without a gap"
            )
    everyone = pl.DataFrame({"user": users})
    weeks = []
    for number in numbers:
        part = frame if number is None else frame.filter(pl.col("week") == number)
        lists = part.group_by("user").agg(pl.col(key))
        joined = everyone.join(lists, on="user", how="left", maintain_order="left")
        weeks.append(joined[key].fill_null([]))
    return users, weeks


def _report_assignment(found: Any, n_cohorts: int, dropped: int, out: Path, as_json: bool) -> None:
    import numpy as np

    rows = []
    for week in range(found.shape[1]):
        sizes = np.bincount(found[found[:, week] >= 0, week], minlength=n_cohorts)
        used = sizes[sizes > 0]
        rows.append(
            {
                "week": week,
                "users": len(found),
                "without": int((found[:, week] < 0).sum()),
                "cohorts": int(used.size),
                "smallest": int(used.min()) if used.size else 0,
                "largest": int(used.max()) if used.size else 0,
            }
        )
    smallest = min(int(row["smallest"]) for row in rows)
    reading = (
        f"Everyone who has a cohort shares it with at least {smallest - 1:,} others of these users"
        + (f", in each of {len(rows)} weeks; nothing of the kind holds for the sequence." if len(rows) > 1 else ".")
        if smallest
        else "In some week nobody has a cohort: too few domains."
    )
    if as_json:
        output.print_json(
            {"out": str(out), "n_cohorts": n_cohorts, "dropped_visits": dropped, "weeks": rows, "reading": reading}
        )
        return
    screen = output.console()
    names = ("week", "users", "without a cohort", "cohorts with users", "smallest", "largest")
    first = 0 if len(rows) > 1 else 1  # without weeks there is nothing to number
    table = Table(*names[first:])
    for row in rows:
        table.add_row(*(f"{value:,}" for value in list(row.values())[first:]))
    screen.print(table)
    screen.print(reading, highlight=False)
    if dropped:
        screen.print(f"{dropped:,} visits have no registrable domain and were left out.", highlight=False)
    output.remark(f"cohorts: {out}")


@cohorts.command("audit")
def audit(
    context: typer.Context,
    assignment: Annotated[Path, typer.Argument(help="Who is in which cohort: user, cohort (none: empty or -1).")],
    visits: Annotated[Path, typer.Argument(help="Visits: a table with the columns user and host (or token).")],
    categories: Annotated[Path, typer.Argument(help="Sensitive categories: host (or token), category.")],
    t: Annotated[float, typer.Option("--t", help="A gap above it makes a cohort sensitive; 0.1 in Chrome.")] = 0.1,
    blocklist: Annotated[
        Path | None, typer.Option(help="Write the blocklist here (JSON): all that may be published.")
    ] = None,
    rule: Annotated[
        str, typer.Option(help="Block what is sensitive by the 'plain' rule, beyond 'chance' or 'doubt'.")
    ] = ("plain"),
    out: Out = None,
    worst: Annotated[int, typer.Option(help="Cohorts to list, largest gaps first.")] = 20,
    level: Annotated[float, typer.Option(help="Level of the intervals, and of 'beyond doubt'.")] = 0.95,
    fdr: Annotated[float, typer.Option(help="False discovery rate of 'beyond chance'.")] = 0.05,
    n_cohorts: Annotated[
        int | None, typer.Option(help="Cohorts of the system; higher numbers are refused. Needed with --private.")
    ] = None,
    private: Annotated[bool, typer.Option("--private", help="Measure through noise that protects everyone.")] = False,
    epsilon: Annotated[float | None, typer.Option(help="With --private: the privacy budget.")] = None,
    delta: Annotated[float | None, typer.Option(help="With --private, central: its delta, such as 1e-9.")] = None,
    model: Annotated[
        str, typer.Option(help="With --private: 'central' noise, or 'local' (each user randomises alone).")
    ] = "central",
    most_categories: Annotated[
        int | None, typer.Option(help="With --private, central: categories of a user that count.")
    ] = None,
    simulation: Annotated[
        bool, typer.Option("--simulation", help="With --private: seeded noise to try out, which protects nobody.")
    ] = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Measure which cohorts give a sensitive category away, and write the list of those to block."""
    from reidrisk import cohorts as api
    from reidrisk import io

    output.check_writable(out, blocklist, inputs=(assignment, visits, categories))
    output.check_report(out)
    if rule not in ("plain", "chance", "doubt"):
        raise OptionError(f"--rule must be 'plain', 'chance' or 'doubt', not {rule!r}")
    noise = {"--epsilon": epsilon, "--delta": delta, "--most-categories": most_categories}
    _check_noise(private, noise, model, n_cohorts, simulation)
    if simulation and blocklist is not None:
        raise OptionError(
            "--simulation protects nobody, so nothing of it may be published; leave out --blocklist or --simulation"
        )
    chosen: Any = rule
    kind: Any = model
    with output.progress_bar() as progress:
        say = progress or (lambda stage, share: None)
        say("reading the tables", 0.0)
        users, cohort = api.read_assignment(assignment)
        # Whether anything matches is told by no noise: a private measurement goes on either way.
        unmatched: Any = "keep" if private else "refuse"
        seen = api.category_visits(api.read_visits(visits), api.read_categories(categories), users, unmatched)
        say("measuring the gaps", 0.4)
        found = api.sensitivity(
            cohort,
            seen.visited,
            t=t,
            level=level,
            fdr=fdr,
            n_cohorts=n_cohorts,
            categories=seen.categories,
            seed=seed,
            private=private,
            epsilon=epsilon,
            delta=delta,
            model=kind,
            most_categories=most_categories,
            simulation=simulation,
        )
        audited = api.cohort_audit(found, worst, seen.covered)
    try:
        # Before anything is printed: who reads it may go away.
        if blocklist is not None:
            with io.write_atomically(blocklist) as temporary:
                published = json.dumps(found.blocklist(chosen).to_dict())
                temporary.write_text(published + "\n", encoding="utf-8")
        if out is not None:
            from reidrisk import report

            command = _again(context, (assignment, visits, categories))
            report.write_cohorts(audited, out, assignment.name, command)
    finally:
        if as_json:
            output.print_json(audited.to_dict())
        else:
            _print_audit(audited)
    if blocklist is not None:
        output.remark(f"blocklist: {blocklist}")
    if out is not None:
        output.remark(f"report: {out} (not for publication)")


def _check_noise(
    private: bool, noise: dict[str, float | None], model: str, n_cohorts: int | None, simulation: bool
) -> None:
    """Refuse options that do not go together, by the names they have here."""
    if model not in ("central", "local"):
        raise OptionError(f"--model must be 'central' or 'local', not {model!r}")
    given = [name for name, value in noise.items() if value is not None]
    given += ["--simulation"] * simulation + ["--model"] * (model != "central")
    if not private:
        if given:
            raise OptionError(f"{given[0]} is for a private measurement; add --private, or leave it out")
        return
    for name, value in (("--epsilon", noise["--epsilon"]), ("--n-cohorts", n_cohorts)):
        if value is None:
            raise OptionError(f"--private needs {name}: the budget and which cohorts exist are public")
    if model == "central" and noise["--delta"] is None:
        raise OptionError("--private needs --delta, well below 1/users, such as 1e-9, unless --model is local")
    if model == "local" and (noise["--delta"] is not None or noise["--most-categories"] is not None):
        raise OptionError("--delta and --most-categories are for central noise; leave them out with --model local")


def _again(context: typer.Context, tables: tuple[Path, ...]) -> str:
    """Return the command that was given, with every option that is not its default."""
    parts = ["reidrisk", "cohorts", "audit", *(shlex.quote(str(table)) for table in tables)]
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if parameter.opts[0].startswith("--") and value not in (None, False, parameter.default):
            parts += [parameter.opts[0]] if value is True else [parameter.opts[0], shlex.quote(str(value))]
    return " ".join(parts)


def _print_audit(audited: Any) -> None:
    from reidrisk.cohorts.audit import known

    screen, summary = output.console(), audited.summary
    screen.print(f"\n{summary.reading}\n", highlight=False)
    counts = Table("users", "without a cohort", "cohorts", "smallest", "sensitive", "beyond chance", "beyond doubt")
    counts.add_row(
        *(known(summary, "n_users"), known(summary, "n_without"), f"{summary.n_cohorts:,}", known(summary, "k")),
        *(f"{value:,}" for value in (summary.sensitive, summary.beyond_chance, summary.beyond_doubt)),
    )
    screen.print(counts)
    if audited.worst:
        rows = Table("cohort", "users", "category", "in it", "in all", "gap, points", "interval", "which is")
        for row in audited.worst:
            rows.add_row(
                f"{row.cohort}",
                f"{row.users:,}",
                row.category,
                percent(row.cohort_freq),
                percent(row.population_freq),
                f"{100 * row.gap:.1f}",
                f"{100 * row.low:.1f} to {100 * row.high:.1f}",
                row.status,
            )
        screen.print(rows)
    curve = Table("threshold", "cohorts blocked", "by each cohort's own interval", "users blocked")
    for limit in (0.025, 0.05, 0.1, 0.2):
        i = audited.curve.t.index(limit)
        curve.add_row(
            f"{limit:g}",
            percent(audited.curve.cohorts[i]),
            f"{percent(audited.curve.certain[i])} to {percent(audited.curve.possible[i])}",
            percent(audited.curve.users[i]),
        )
    screen.print(curve)
    screen.print(audited.empty_reading, highlight=False)
    for line in audited.coverage:
        screen.print(line, highlight=False)
    screen.print("\nAssumed:")
    for assumption in summary.assumptions:
        screen.print(f"- {assumption}", highlight=False)
    if summary.seed is not None:
        screen.print(f"Seed {summary.seed}.")
    screen.print("\nNot for publication: this names categories. What may be published is the --blocklist alone.")
