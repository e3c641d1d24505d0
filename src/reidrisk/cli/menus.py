"""A menu of commands below one word, which shows its help when nothing else is asked for."""

from __future__ import annotations

import typer


def menu(about: str) -> typer.Typer:
    """Return an empty menu; ``about`` is its help."""
    made = typer.Typer(help=about, invoke_without_command=True, rich_markup_mode="rich")

    @made.callback()
    def show(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return made
