"""What commands have in common: how an option is declared and read, menus, and the words to run one again."""

import math
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from reidrisk.base import OptionError
from reidrisk.base.specs import as_flag


def option(default: Any, about: str, *flags: str) -> Any:
    """Return an option of a command; ``...`` stands for no default. A switch with a flag of its own has no opposite."""
    return typer.Option(default, *flags, help=about)


def argument(default: Any, about: str, metavar: str | None = None) -> Any:
    """Return an argument of a command; ``...`` stands for no default."""
    return typer.Argument(default, help=about, metavar=metavar)


Out = Annotated[Path | None, typer.Option(help="Write the report here (one offline HTML file).", readable=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Seed = Annotated[int | None, typer.Option(help="Seed of every random draw; default: drawn, and printed.")]


def numbers(flag: str, text: str | None, kind: type[int] | type[float]) -> tuple[Any, ...] | None:
    """Read numbers of a kind with commas between; None where none were given.

    >>> numbers("--epochs", "1,2,4", int)
    (1, 2, 4)
    """
    values: list[Any] = []
    for part in [] if text is None else text.split(","):
        with suppress(ValueError):
            values.append(kind(part))
            if math.isfinite(values[-1]):
                continue
        such = "whole numbers such as 1,2,4" if kind is int else "finite numbers such as 0,1e-6,1e-4"
        raise OptionError(f"{flag} holds {part.strip()!r}; give {such}")
    return None if text is None else tuple(values)


_CALLED = {"items": "item", "attacks": "attack", "changes": "change", "settings": "setting", "strategies": "strategy"}
"""Options that the command line calls otherwise than Python does, since they are given once for each value."""


def flag(name: str) -> str:
    """Return how the command line calls an option.

    >>> flag("attacks"), flag("max_risk")
    ('--attack', '--max-risk')
    """
    return as_flag(_CALLED.get(name, name))


def menu(about: str) -> typer.Typer:
    """Return an empty menu of commands below one word; it shows its help when nothing else is asked for."""
    made = typer.Typer(help=about, invoke_without_command=True, rich_markup_mode="rich")

    @made.callback()
    def show(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return made


def again(context: typer.Context, *command: str, left_out: tuple[str, ...] = ()) -> str:
    """Return the command that was given: its words, its arguments, then every option that was not left at its default.

    ``left_out`` names options that do not matter for the page, or that the caller adds.
    """
    arguments, options = [], []
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        # 0 == False: a number of 0 was asked for, a switch that is off was not.
        missing = value is None or value is False or value in ((), []) or value == parameter.default
        if parameter.name in left_out or missing:
            continue
        if parameter.param_type_name == "argument":
            arguments.append(str(value))
        elif value is True:
            options.append(parameter.opts[0])
        else:
            for one in value if isinstance(value, list | tuple) else [value]:
                options += [parameter.opts[0], str(one)]
    return shlex.join(["reidrisk", *command, *arguments, *options])
