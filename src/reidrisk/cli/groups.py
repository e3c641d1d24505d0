"""Options that are declared apart from their command: in groups of its own, or as the fields of a spec."""

import dataclasses
import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, dataclass_transform

from pydantic import BaseModel
from typer.models import ParameterInfo

from reidrisk.base.specs import as_flag
from reidrisk.cli.parameters import option

Command = TypeVar("Command", bound=Callable[..., Any])
Group = TypeVar("Group")
Spec = TypeVar("Spec", bound=BaseModel)

_DECLARED = "declared"


@dataclass_transform(kw_only_default=True, frozen_default=True)
def group(kind: type[Group]) -> type[Group]:
    """Make a frozen dataclass of options, each declared as a parameter of a command would be.

    >>> @group
    ... class Frame:
    ...     width: int = option(2, "Width.")
    ...     title: str = option(..., "Title.")
    >>> Frame(title="A year")
    Frame(width=2, title='A year')
    """
    for name, declared in list(vars(kind).items()):
        if isinstance(declared, ParameterInfo):
            default = dataclasses.MISSING if declared.default is ... else declared.default
            setattr(kind, name, dataclasses.field(default=default, metadata={_DECLARED: declared}))
    return dataclasses.dataclass(frozen=True, kw_only=True)(kind)


def grouped(command: Command) -> Command:
    """Let a command take its options in groups: it is handed one object for each parameter that is a group.

    On the command line the options of a group stand where the parameter does, and a group may hold further groups.
    """
    parameters = inspect.signature(command, eval_str=True).parameters
    groups = {name: one.annotation for name, one in parameters.items() if dataclasses.is_dataclass(one.annotation)}

    @functools.wraps(command)
    def called(**given: Any) -> Any:
        built = {name: _built(kind, given) for name, kind in groups.items()}
        return command(**built, **{name: given[name] for name in parameters if name not in groups})

    flat = [list(_spread(groups[name])) if name in groups else [one] for name, one in parameters.items()]
    signed: Command = _signed(called, [one for some in flat for one in some])
    return signed


def _spread(kind: Any) -> Iterator[inspect.Parameter]:
    """Yield the options of a group, those of groups within it too, as parameters of a command."""
    hints = typing.get_type_hints(kind, include_extras=True)
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        if dataclasses.is_dataclass(hint):
            yield from _spread(hint)
        else:
            default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
            declared = field.metadata.get(_DECLARED, default)
            yield inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=declared, annotation=hint)


def _built(kind: Any, given: Mapping[str, Any]) -> Any:
    """Return the group that these options make."""
    hints = typing.get_type_hints(kind)
    within = {name: _built(hint, given) for name, hint in hints.items() if dataclasses.is_dataclass(hint)}
    return kind(**within, **{name: given[name] for name in hints if name not in within})


def takes(*specs: type[BaseModel]) -> Callable[[Command], Command]:
    """Add the described fields of specs to the options of a command, which takes them as ``**options``.

    A field without a default may be left out on the command line, and is then None.
    """

    def extend(command: Command) -> Command:
        parameters = inspect.signature(command, eval_str=True).parameters.values()
        own = [one for one in parameters if one.kind is not inspect.Parameter.VAR_KEYWORD]
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
        signed: Command = _signed(command, [*own, *added])
        return signed

    return extend


def _kind(annotation: Any, required: bool) -> Any:
    """Return a type that the command line reads; what may be chosen is text, which the spec checks."""
    if typing.get_origin(annotation) is typing.Literal:
        return str
    plain = typing.get_origin(annotation) not in (types.UnionType, typing.Union)
    return annotation | None if required and plain else annotation


def _signed(command: Any, parameters: Iterable[inspect.Parameter]) -> Any:
    """Return a command that shows these parameters to the command line, in this order."""
    shown = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]  # with or without a default
    command.__signature__ = inspect.Signature(shown)
    command.__annotations__ = {one.name: one.annotation for one in shown}
    return command


def fields_of(spec: type[BaseModel], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was chosen for the fields of one of the specs of a command."""
    return {name: options[name] for name in spec.model_fields if name in options}


def chosen(spec: type[Spec], options: Mapping[str, Any]) -> Spec:
    """Return one of the specs of a command, with what was chosen for its fields."""
    return spec(**fields_of(spec, options))


def plain(*groups: Any) -> dict[str, Any]:
    """Return the options of groups by their names, those that are files as text.

    >>> @group
    ... class Files:
    ...     out: Path = option(..., "Where to.")
    >>> plain(Files(out=Path("page.html")))
    {'out': 'page.html'}
    """
    return {
        name: str(one) if isinstance(one, Path) else one
        for one_group in groups
        for name, one in vars(one_group).items()
    }
