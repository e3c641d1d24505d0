"""What commands have in common: options (their own, shared, of a spec), menus, and the words to run one again."""

import inspect
import math
import shlex
import types
import typing
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel

from reidrisk.base import OptionError
from reidrisk.base.specs import as_flag

Command = TypeVar("Command", bound=Callable[..., Any])
Spec = TypeVar("Spec", bound=BaseModel)


def option(default: Any, about: str, *flags: str) -> Any:
    """Return an option of a command; ``...`` stands for no default. A switch with a flag of its own has no opposite."""
    return typer.Option(default, *flags, help=about)


def argument(default: Any, about: str, metavar: str | None = None) -> Any:
    """Return an argument of a command; ``...`` stands for no default."""
    return typer.Argument(default, help=about, metavar=metavar)


Out = Annotated[Path | None, typer.Option(help="Write the report here (one offline HTML file).", readable=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Seed = Annotated[int | None, typer.Option(help="Seed of every random draw; default: drawn, and printed.")]


def takes(*specs: type[BaseModel]) -> Callable[[Command], Command]:
    """Add the described fields of specs to the options of a command, which takes them as ``**options``.

    A field without a default may be left out on the command line, and is then None.
    """

    def extend(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        fields = [field for spec in specs for field in spec.model_fields.items() if field[1].description]
        added = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=option(None if field.is_required() else field.default, field.description or "", as_flag(name)),
                annotation=_kind(field.annotation, field.is_required()),
            )
            for name, field in fields
        ]
        wrapped: Any = command
        wrapped.__signature__ = signature.replace(parameters=[*own, *added])
        wrapped.__annotations__ = {one.name: one.annotation for one in (*own, *added)}
        return command

    return extend


def _kind(annotation: Any, required: bool) -> Any:
    """Return a type that the command line reads; what may be chosen is text, which the spec checks."""
    if typing.get_origin(annotation) is typing.Literal:
        return str
    plain = typing.get_origin(annotation) not in (types.UnionType, typing.Union)
    return annotation | None if required and plain else annotation


def chosen(spec: type[Spec], options: dict[str, Any]) -> Spec:
    """Return one of the specs of a command, with what was chosen for its fields."""
    return spec(**{name: options[name] for name in spec.model_fields})


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


def share(flag: str, text: str) -> float:
    """Read a share such as ``0.05`` or ``5%``.

    >>> share("--max-risk", "5%"), share("--max-risk", "0.05")
    (0.05, 0.05)
    """
    percent = text.strip().endswith("%")
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError as error:
        raise OptionError(f"{flag} takes a share such as 0.05 or 5%, not {text!r}") from error
    return number / 100.0 if percent else number


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
