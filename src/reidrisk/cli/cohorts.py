"""`reidrisk cohorts`: who is in which cohort, and which cohorts give a sensitive interest away."""

from functools import partial
from pathlib import Path
from typing import Any

import typer

from reidrisk.base.errors import OptionError
from reidrisk.base.options import one_of
from reidrisk.base.specs import as_flag
from reidrisk.cli import output
from reidrisk.cli.groups import fields_of, group, grouped, takes
from reidrisk.cli.parameters import Json, Out, again, argument, menu, option
from reidrisk.cohorts.spec import CohortSpec, Noise

cohorts = menu("Group users into cohorts, and find cohorts that give a sensitive interest away.")


@group
class AssignOptions:
    """Whose visits are put into which cohorts, and where those are written."""

    visits: Path = argument(..., "Visits: a table with the columns user and host (or token).")
    out: Path = option(..., "Write the cohorts here: user, cohort; with weeks, one column per week.")
    table: Path | None = option(None, "Chrome's table of cohorts (SortingLshClusters).")
    min_size: int | None = option(None, "Fit a table: the least users a cohort may have. Not for a private audit.")
    min_domains: int = option(7, "Users with fewer distinct domains have no cohort.")
    registrable: bool = option(False, "Turn hosts into registrable domains first, as Chrome did.", "--registrable")
    invalid_hosts: str = option("refuse", "With it: 'refuse' what has no registrable domain, or 'drop' it.")
    shown: bool = option(False, "Give blocked cohorts of the table as none.", "--shown")
    week_column: str | None = option(None, "Column that numbers the weeks: one cohort per week.")
    save_table: Path | None = option(None, "Write the fitted table here, in Chrome's format; FILE.fitted marks it.")

    def check(self) -> None:
        """Refuse options that do not go together, and files that cannot be written."""
        from reidrisk.cohorts.floc.sorting_lsh import fitted_mark
        from reidrisk.io.atomic import is_stream

        mark = None if self.save_table is None or is_stream(self.save_table) else fitted_mark(self.save_table)
        output.check_writable(self.out, self.save_table, mark, inputs=(self.visits, self.table))
        if (self.table is None) == (self.min_size is None):
            either = "give --table (cohorts of a given table) or --min-size (fit one to these users)"
            nothing = f"nothing says which cohorts; {either}"
            raise OptionError(nothing if self.table is None else f"{either}, not both")
        if self.min_size is not None and self.min_size < 1:
            raise OptionError(f"--min-size must be at least 1, not {self.min_size}")
        if self.shown and self.table is None:
            raise OptionError("--shown needs --table: a fitted table blocks nothing yet")


@cohorts.command("assign")
@grouped
def assign(options: AssignOptions, as_json: Json = False) -> None:
    """Put users into cohorts by the domains they visited: SimHash and SortingLSH, as Chrome did."""
    from reidrisk import Traces, io
    from reidrisk import cohorts as api
    from reidrisk.cohorts.floc.visits import by_domain, by_week
    from reidrisk.present.pages.cohorts import assignment_page

    options.check()
    invalid = one_of("--invalid-hosts", options.invalid_hosts, ("refuse", "drop"))
    with output.progress_bar() as say:
        say("reading the visits", 0.0)
        frame = api.read_visits(options.visits, options.week_column)
        dropped = 0
        if options.registrable:
            say("finding registrable domains", 0.3)
            frame, dropped = by_domain(frame, invalid)
        say("computing cohorts", 0.5)
        users, weeks = by_week(frame, options.week_column is not None)
        known, found = _cohorts(options, weeks)
        say("writing them", 0.9)
        if options.week_column is None:
            api.write_assignment(options.out, users, found[:, 0], fitted=known.fitted)
        else:
            io.write_traces(Traces(found, n_tokens=len(known), users=users.to_list()), options.out)
        if options.save_table is not None:
            known.write(options.save_table)
    summary = api.assignment_summary(found, len(known), dropped)
    output.show(assignment_page(summary), {"out": str(options.out)} | summary.to_dict(), as_json)
    if not as_json:
        output.remark(f"cohorts: {options.out}")


def _cohorts(options: AssignOptions, weeks: list[Any]) -> tuple[Any, Any]:
    """Return the table of cohorts, read or fitted, and the cohort of each user in each week."""
    import numpy as np

    from reidrisk import cohorts as api

    if options.table is None:
        made = api.weekly_cohorts(weeks, options.min_size or 1, options.min_domains)
        return made.table, made.traces.tokens
    known = api.SortingLSH.from_chrome(options.table)
    found = [np.asarray(known.cohort(week, options.min_domains, options.shown)) for week in weeks]
    return known, np.stack(found, axis=1)


@cohorts.command("audit")
@takes(CohortSpec, Noise)
def audit(
    context: typer.Context,
    assignment: Path = argument(..., "Who is in which cohort: user, cohort (none: empty or -1)."),
    visits: Path = argument(..., "Visits: a table with the columns user and host (or token)."),
    categories: Path = argument(..., "Sensitive categories: host (or token), category."),
    blocklist: Path | None = option(None, "Write the blocklist here (JSON): all that may be published."),
    gate: bool = option(False, "Exit with 1 where a cohort is sensitive by --rule.", "--gate"),
    out: Out = None,
    private: bool = option(False, "Measure through noise that protects everyone.", "--private"),
    as_json: Json = False,
    **options: Any,
) -> None:
    """Measure which cohorts give a sensitive category away, and write the list of those to block."""
    from reidrisk import cohorts as api
    from reidrisk.present import html
    from reidrisk.present.pages import cohorts as pages

    tables = {"assignment": str(assignment), "visits": str(visits), "categories": str(categories)}
    output.check_writable(out, blocklist, inputs=(assignment, visits, categories))
    output.check_report(out)
    noise, asked = fields_of(Noise, options), fields_of(CohortSpec, options)
    _check_noise(private, noise, asked["n_cohorts"])
    if noise["simulation"] and blocklist is not None:
        raise OptionError("--simulation protects nobody and is not published; leave it out, or --blocklist")
    spec = CohortSpec.called(as_flag, **asked, noise=noise if private else None, tables=tables)
    if private and not noise["public_rule"].strip():
        raise OptionError(
            "--private needs --public-rule, a few words on where the rule of these cohorts comes from: one that was "
            "fitted to these users moves nearly everybody when one of them leaves, and no noise here covers that"
        )
    with output.progress_bar() as progress:
        audited, found = api.audit_tables(spec, progress)
    blocked = found.blocklist(spec.rule)
    shown = pages.page(audited, assignment.name, again(context, "cohorts", "audit"))

    files = [(blocklist, partial(output.write_json, blocked.to_dict(), indent=None)), (out, partial(html.write, shown))]
    output.do_each(files, partial(output.show, shown, audited.to_dict(), as_json))
    if blocklist is not None:
        output.remark(f"blocklist: {blocklist}")
    if out is not None:
        output.remark(f"report: {out} (not for publication)")
    if gate and len(blocked):
        raise typer.Exit(1)


def _check_noise(private: bool, noise: dict[str, Any], n_cohorts: int | None) -> None:
    """Refuse options that do not go together, by the names they have here."""
    given = [as_flag(name) for name, value in noise.items() if value not in (None, False, "", "central")]
    if not private:
        if given:
            raise OptionError(f"{given[0]} is for a private measurement; add --private, or leave it out")
        return
    for name, value in (("--epsilon", noise["epsilon"]), ("--n-cohorts", n_cohorts)):
        if value is None:
            raise OptionError(f"--private needs {name}: the budget and which cohorts exist are public")
