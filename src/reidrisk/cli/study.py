"""`reidrisk study`: published experiments, run again beside the published numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from reidrisk.cli import output
from reidrisk.cli.audit import Json
from reidrisk.streams import checked_seed
from reidrisk.wording import two_digits

__all__ = ["study"]

study = typer.Typer(
    help="Run published experiments again, beside the published numbers.",
    invoke_without_command=True,
    rich_markup_mode="rich",
)


@study.callback()
def _menu(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@study.command("list")
def list_studies(as_json: Json = False) -> None:
    """List the studies: what each one shows, its published size, and how long that takes."""
    from reidrisk.studies import STUDIES

    if as_json:
        names = ("name", "title", "reference", "users")
        output.print_json([{name: getattr(known, name) for name in names} for known in STUDIES.values()])
        return
    table = Table("study", "what it shows", "reference", "users", "time")
    table.columns[0].no_wrap = True
    table.columns[3].justify = "right"
    for known in STUDIES.values():
        time = _time(known.estimate(known.users))
        table.add_row(known.name, known.title, known.reference, f"{known.users:,}", time)
    output.console().print(table)


@study.command("run")
def run_study(
    name: Annotated[list[str], typer.Argument(metavar="NAME", help="Names of the studies, see `reidrisk study list`.")],
    out: Annotated[Path | None, typer.Option(help="Write NAME.csv, NAME.png and NAME.md into this folder.")] = None,
    users: Annotated[int | None, typer.Option(help="Simulated people; as many as published when missing.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of every random draw.")] = 0,
    as_json: Json = False,
) -> None:
    """Run studies one after the other; print the published figures beside ours."""
    from reidrisk import studies

    chosen = [(studies.find(one), studies.find(one).size(users)) for one in dict.fromkeys(name)]
    checked_seed(seed)
    if out is not None:
        # Before the long job, not after it.
        studies.need_charts()
        output.check_folder(out)
    answers = []
    unheard: BrokenPipeError | None = None
    for known, n in chosen:
        output.remark(f"{known.title}, {n:,} users: about {_time(known.estimate(n))} on two cores.")
        with output.progress_bar() as progress:
            found = studies.run(known.name, users=n, seed=seed, progress=progress)
        written = studies.write(found, out) if out is not None else ()
        answers.append(found.to_dict() | {"files": [str(path) for path in written]})
        if not as_json and unheard is None:
            try:
                _print(found)
            except BrokenPipeError as gone:
                if out is None:
                    raise
                unheard = gone  # the other studies still have files to write
        for path in written:
            output.remark(f"written: {path}")
    if unheard is not None:
        raise unheard
    if as_json:
        output.print_json(answers[0] if len(answers) == 1 else answers)


def _print(found: Any) -> None:
    table = Table("quantity", "published", "ours", "why they differ", title=f"{found.reference}", show_lines=True)
    for compared in found.comparisons:
        table.add_row(compared.quantity, compared.published, compared.ours, compared.why)
    console = output.console()
    console.print(table)
    for assumption in found.assumptions:
        console.print(f"- {assumption}")
    console.print(f"\nSeed {found.seed}; {found.users:,} users.")


def _time(seconds: float) -> str:
    return f"{two_digits(seconds)} seconds" if seconds < 100 else f"{two_digits(seconds / 60)} minutes"
