"""`reidrisk cohorts`: who is in which cohort, and which cohorts give a sensitive interest away."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated, Any

import typer

from reidrisk.base.errors import DataError, OptionError
from reidrisk.cli import output
from reidrisk.cli.audit import Json
from reidrisk.cli.cohorts_audit import audit
from reidrisk.cli.menus import menu

cohorts = menu("Group users into cohorts, and find cohorts that give a sensitive interest away.")


@cohorts.command("assign")
def assign(
    visits: Annotated[Path, typer.Argument(help="Visits: a table with the columns user and host (or token).")],
    out: Annotated[Path, typer.Option(help="Write the cohorts here: user, cohort; with weeks, one column per week.")],
    table: Annotated[Path | None, typer.Option(help="Chrome's table of cohorts (SortingLshClusters).")] = None,
    min_size: Annotated[
        int | None,
        typer.Option(help="Fit a table to these users: the least a cohort may have. Not for a private audit."),
    ] = None,
    min_domains: Annotated[int, typer.Option(help="Users with fewer distinct domains have no cohort.")] = 7,
    registrable: Annotated[
        bool, typer.Option("--registrable", help="Turn hosts into registrable domains first, as Chrome did.")
    ] = False,
    invalid_hosts: Annotated[
        str, typer.Option(help="With it: 'refuse' what has no registrable domain, or 'drop' it.")
    ] = "refuse",
    shown: Annotated[bool, typer.Option("--shown", help="Give blocked cohorts of the table as none.")] = False,
    week_column: Annotated[str | None, typer.Option(help="Column that numbers the weeks: one cohort per week.")] = None,
    save_table: Annotated[
        Path | None, typer.Option(help="Write the fitted table here, in Chrome's format; FILE.fitted marks it.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Put users into cohorts by the domains they visited: SimHash and SortingLSH, as Chrome did."""
    import numpy as np

    from reidrisk import cohorts as api
    from reidrisk import io
    from reidrisk.cohorts.floc.sorting_lsh import fitted_mark
    from reidrisk.io.atomic import is_stream
    from reidrisk.present.console import print_page
    from reidrisk.present.pages.cohorts import assignment_page

    mark = None if save_table is None or is_stream(save_table) else fitted_mark(save_table)
    output.check_writable(out, save_table, mark, inputs=(visits, table))
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
    with output.progress_bar() as say:
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
            api.write_assignment(out, users, found[:, 0], fitted=known.fitted)
        else:
            from reidrisk import Traces

            io.write_traces(Traces(found, n_tokens=len(known), users=users.to_list()), out)
        if save_table is not None:
            known.write(save_table)
    summary = api.assignment_summary(found, len(known), dropped)
    if as_json:
        output.print_json({"out": str(out)} | summary.to_dict())
        return
    print_page(assignment_page(summary), output.console())
    output.remark(f"cohorts: {out}")


def _registrable(frame: Any, invalid: str) -> tuple[Any, int]:
    import polars as pl

    from reidrisk import cohorts as api

    if "host" not in frame.columns:
        raise DataError("tokens have no registrable domain; leave out --registrable, or name the column 'host'")
    distinct = frame["host"].unique(maintain_order=True).to_list()
    rule: Any = "none" if invalid == "drop" else "refuse"
    domains = api.registrable(distinct, invalid=rule)
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


cohorts.command("audit")(audit)
