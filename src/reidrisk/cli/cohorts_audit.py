"""`reidrisk cohorts audit`: which cohorts give a sensitive interest away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from reidrisk.base.errors import OptionError
from reidrisk.base.wording import percent
from reidrisk.cli import output
from reidrisk.cli.again import again
from reidrisk.cli.audit import Json, Out, do_each

__all__ = ["audit"]

Seed = Annotated[int, typer.Option(help="Seed of the baseline, and of simulated noise; real noise has none.")]


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
    gate: Annotated[bool, typer.Option("--gate", help="Exit with 1 where a cohort is sensitive by --rule.")] = False,
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
    public_rule: Annotated[
        str | None,
        typer.Option(help="With --private: where the rule of the cohorts comes from; it must not be these users."),
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
    _check_noise(private, noise, model, n_cohorts, simulation, public_rule)
    if simulation and blocklist is not None:
        raise OptionError(
            "--simulation protects nobody, so nothing of it may be published; leave out --blocklist or --simulation"
        )
    chosen: Any = rule
    kind: Any = model
    with output.progress_bar() as say:
        say("reading the tables", 0.0)
        if private and api.fitted_to_users(assignment):
            raise OptionError(
                f"{assignment}: these cohorts were fitted to these very users (--min-size), so that one of them moves "
                "nearly everybody, which no noise here covers; assign them by a table made without these users: --table"
            )
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
            public_rule=public_rule or "",
        )
        audited = api.cohort_audit(found, worst, seen.covered)

    def block(path: Path) -> None:
        with io.write_atomically(path) as temporary:
            published = json.dumps(found.blocklist(chosen).to_dict())
            temporary.write_text(published + "\n", encoding="utf-8")

    def page(path: Path) -> None:
        from reidrisk import report

        report.write_cohorts(audited, path, assignment.name, again(context, "cohorts", "audit"))

    def show() -> None:
        if as_json:
            output.print_json(audited.to_dict())
        else:
            _print_audit(audited)

    do_each([(blocklist, block), (out, page)], show)
    if blocklist is not None:
        output.remark(f"blocklist: {blocklist}")
    if out is not None:
        output.remark(f"report: {out} (not for publication)")
    if gate and len(found.blocklist(chosen)):
        raise typer.Exit(1)


def _check_noise(
    private: bool,
    noise: dict[str, float | None],
    model: str,
    n_cohorts: int | None,
    simulation: bool,
    public_rule: str | None,
) -> None:
    """Refuse options that do not go together, by the names they have here."""
    if model not in ("central", "local"):
        raise OptionError(f"--model must be 'central' or 'local', not {model!r}")
    given = [name for name, value in noise.items() if value is not None]
    given += ["--simulation"] * simulation + ["--model"] * (model != "central")
    given += ["--public-rule"] * (public_rule is not None)
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
    if not (public_rule or "").strip():
        raise OptionError(
            "--private needs --public-rule, a few words on where the rule of these cohorts comes from: one that was "
            "fitted to these users moves nearly everybody when one of them leaves, and no noise here covers that"
        )


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
    curve = Table("threshold", "cohorts blocked", "by each cohort's own interval", "users with a cohort blocked")
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
