"""`reidrisk cohorts audit`: which cohorts give a sensitive interest away."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from reidrisk.base.errors import OptionError
from reidrisk.base.specs import as_flag
from reidrisk.cli import output
from reidrisk.cli.again import again
from reidrisk.cli.audit import Json, Out, do_each
from reidrisk.cli.spec_options import takes
from reidrisk.cohorts.spec import CohortSpec, Noise


@takes(CohortSpec, Noise)
def audit(
    context: typer.Context,
    assignment: Annotated[Path, typer.Argument(help="Who is in which cohort: user, cohort (none: empty or -1).")],
    visits: Annotated[Path, typer.Argument(help="Visits: a table with the columns user and host (or token).")],
    categories: Annotated[Path, typer.Argument(help="Sensitive categories: host (or token), category.")],
    blocklist: Annotated[
        Path | None, typer.Option(help="Write the blocklist here (JSON): all that may be published.")
    ] = None,
    gate: Annotated[bool, typer.Option("--gate", help="Exit with 1 where a cohort is sensitive by --rule.")] = False,
    out: Out = None,
    private: Annotated[bool, typer.Option("--private", help="Measure through noise that protects everyone.")] = False,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Measure which cohorts give a sensitive category away, and write the list of those to block."""
    from reidrisk import cohorts as api
    from reidrisk import io
    from reidrisk.present import html
    from reidrisk.present.pages import cohorts as pages

    tables = {"assignment": str(assignment), "visits": str(visits), "categories": str(categories)}
    output.check_writable(out, blocklist, inputs=(assignment, visits, categories))
    output.check_report(out)
    noise = {name: options.pop(name) for name in Noise.model_fields}
    _check_noise(private, noise, options["n_cohorts"])
    if noise["simulation"] and blocklist is not None:
        raise OptionError(
            "--simulation protects nobody, so nothing of it may be published; leave out --blocklist or --simulation"
        )
    spec = CohortSpec.called(as_flag, **options, noise=noise if private else None, tables=tables)
    if private and not noise["public_rule"].strip():
        raise OptionError(
            "--private needs --public-rule, a few words on where the rule of these cohorts comes from: one that was "
            "fitted to these users moves nearly everybody when one of them leaves, and no noise here covers that"
        )
    with output.progress_bar() as progress:
        audited, found = api.audit_tables(spec, progress)
    blocked = found.blocklist(spec.rule)
    shown = pages.page(audited, assignment.name, again(context, "cohorts", "audit"))

    def block(path: Path) -> None:
        with io.write_atomically(path) as temporary:
            temporary.write_text(json.dumps(blocked.to_dict()) + "\n", encoding="utf-8")

    show = partial(output.show, shown, audited.to_dict(), as_json)
    do_each([(blocklist, block), (out, partial(html.write, shown))], show)
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
