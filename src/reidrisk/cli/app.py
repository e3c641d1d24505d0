"""The menu of jobs."""

import os
from importlib.metadata import entry_points

import typer

from reidrisk import __version__
from reidrisk.base.errors import MissingExtraError
from reidrisk.base.extras import INSTALL
from reidrisk.base.foreign import MASK_VARIABLE
from reidrisk.cli import audit, bandits, bench, bounds, cohorts, compare, convert, demo, release, sharing, simulate
from reidrisk.cli.gate import gate

app = typer.Typer(
    name="reidrisk",
    help="How likely is it that the people behind your records can be re-identified, and what would lower it?",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
_START, _AUDIT, _THEORY, _DATA = "Start here", "Audit your data", "Attacks and their limits", "Prepare data"
_RELEASE, _PAPERS = "Give data away", "Reproduce the papers"

app.command("demo", rich_help_panel=_START)(demo.demo)
app.command("audit", cls=audit.WithAttacks, rich_help_panel=_AUDIT)(audit.audit)
app.command("gate", rich_help_panel=_AUDIT)(gate)
app.command("compare", rich_help_panel=_AUDIT)(compare.compare)
app.add_typer(cohorts.cohorts, name="cohorts", rich_help_panel=_AUDIT)
app.command("bench", rich_help_panel=_THEORY)(bench.bench)
app.command("bounds", rich_help_panel=_THEORY)(bounds.bounds)
app.command("convert", rich_help_panel=_DATA)(convert.convert)
app.add_typer(simulate.simulate, name="simulate", rich_help_panel=_DATA)
app.add_typer(release.release, name="release", rich_help_panel=_RELEASE)
bandits.bandits.command("serve")(sharing.serve)
bandits.bandits.command("attack")(sharing.attack)
bandits.bandits.command("backup")(sharing.backup)
app.add_typer(bandits.bandits, name="bandits", rich_help_panel=_RELEASE)


def _no_studies(context: typer.Context) -> None:
    """Run published experiments again (not installed: see `reidrisk study`)."""
    raise MissingExtraError(f"the studies are a package of their own; {INSTALL} ./studies")


# Menus that other distributions bring along, by entry points; without the studies, how to get them.
_plugins = {entry.name: entry for entry in entry_points(group="reidrisk.commands")}
for _name, _entry in sorted(_plugins.items()):
    app.add_typer(_entry.load(), name=_name, rich_help_panel=_PAPERS)
if "study" not in _plugins:
    _words = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    app.command("study", rich_help_panel=_PAPERS, context_settings=_words)(_no_studies)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"reidrisk {__version__}")
        raise typer.Exit


def _mask(asked: bool) -> None:
    if asked:
        os.environ[MASK_VARIABLE] = "1"


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
    mask_ids: bool = typer.Option(
        False,
        "--mask-ids",
        callback=_mask,
        is_eager=True,
        help=f"Mask ids, labels and other values of the data in error lines; {MASK_VARIABLE}=1 does it too.",
    ),
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
