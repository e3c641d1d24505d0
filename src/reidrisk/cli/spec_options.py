"""Options of a command that are the fields of a spec: named, described and given defaults in one place."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

Command = TypeVar("Command", bound=Callable[..., Any])
Spec = TypeVar("Spec", bound=BaseModel)


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
                default=None if field.is_required() else field.default,
                annotation=Annotated[_kind(field.annotation, field.is_required()), _option(name, field)],
            )
            for name, field in fields
        ]
        wrapped: Any = command
        wrapped.__signature__ = signature.replace(parameters=[*own, *added])
        wrapped.__annotations__ = {one.name: one.annotation for one in (*own, *added)}
        return command

    return extend


def chosen(spec: type[Spec], options: dict[str, Any]) -> Spec:
    """Return one of the specs of a command, with what was chosen for its fields."""
    return spec(**{name: options[name] for name in spec.model_fields})


def _option(name: str, field: FieldInfo) -> Any:
    """Return the option of a field; a switch has no opposite."""
    return typer.Option(f"--{name.replace('_', '-')}", help=field.description)


def _kind(annotation: Any, required: bool) -> Any:
    """Return a type that the command line reads; what may be chosen is text, which the spec checks."""
    if typing.get_origin(annotation) is typing.Literal:
        return str
    plain = typing.get_origin(annotation) not in (types.UnionType, typing.Union)
    return annotation | None if required and plain else annotation
