"""The strict model of a result's JSON, made from the classes themselves, and its published JSON Schema."""

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from reidrisk.audit.result import AuditResult
from reidrisk.audit.spec import AuditSpec
from reidrisk.base import FormatError, Note
from reidrisk.base.plain import written

_Infinite = Annotated[float, Field(allow_inf_nan=False)] | Literal["inf", "-inf"]
_Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0)]


class _Note(BaseModel):
    """A note: its code, and whatever values its sentence needs."""

    model_config = ConfigDict(extra="allow", strict=True, title="Note")
    code: str


_NO_FIELDS = ("float", "literal[", "constrained-")  # kinds of numbers, which pydantic puts into a place beside fields
_ADDED = {"which", "refused"}  # lists that format 2 did not have from the beginning; empty where they are missing
_OPEN: dict[Any, str] = {}  # classes whose model is being made: a field of the class itself refers to it by name
_SHARES = {"rate", "baseline", "incorrect", "abstained", "level", "answered", "stated", "max_risk", "lower_ends"}
"""Fields that are shares in whatever class they stand; ends of intervals and differences may be something else."""


def result_schema() -> dict[str, Any]:
    """Return the JSON Schema of the results that this version writes (format 3).

    >>> schema = result_schema()
    >>> schema["title"], schema["additionalProperties"], schema["properties"]["format"]["const"]
    ('AuditResult', False, 3)
    """
    schema = _model(AuditResult).model_json_schema()
    own = schema.pop("$ref", "").rpartition("/")[2]
    schema |= schema.get("$defs", {}).get(own, {})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def check_fields(values: Any) -> None:
    """Refuse what does not fit the schema, and name the first field that does not."""
    try:
        _model(AuditResult).model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        *place, last = first["loc"] or ("it",)
        allowed = first["msg"].removeprefix("Input ").removeprefix("Value error, ")
        found = {
            "missing": f"{_place(place) or 'it'} has no {last}",
            "extra_forbidden": f"{_place(place) or 'it'} has a field {str(last)[:40]!r} that no result has",
        }.get(first["type"], f"{_place([*place, last])} {allowed[:200]}")
        raise FormatError(f"this is not the result of an audit: {found}") from error


def _place(parts: list[Any]) -> str:
    """Write where a value stands: ``risks[3].high``."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif not str(part).startswith(_NO_FIELDS):
            text += f".{str(part)[:40]}" if text else str(part)[:40]
    return text


@functools.cache
def _model(kind: Any) -> type[BaseModel]:
    """Return the strict model of a result class: every field it writes, no other, and nothing converted."""
    hints = typing.get_type_hints(kind)
    _OPEN[kind] = kind.__name__
    fields: dict[str, Any] = {}
    for name in written(kind):
        annotation = _written(hints[name], name)
        if kind is AuditResult:
            annotation = {"spec": AuditSpec, "format": Literal[3]}.get(name, annotation)
        fields[name] = (annotation, [] if name in _ADDED else ...)
    del _OPEN[kind]
    made: type[BaseModel] = create_model(
        kind.__name__, __config__=ConfigDict(extra="forbid", strict=True, protected_namespaces=()), **fields
    )
    made.model_rebuild(_types_namespace={kind.__name__: made})
    return made


def _written(annotation: Any, name: str) -> Any:
    """Return the type of a field as JSON has it."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is Note:
        return _Note
    if annotation in _OPEN:
        return typing.ForwardRef(_OPEN[annotation])
    if isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
        return _model(annotation)
    if origin in (typing.Union, types.UnionType):
        return typing.Union[tuple(part if part is type(None) else _written(part, name) for part in parts)]  # noqa: UP007
    if origin is tuple:
        if len(parts) == 2 and parts[1] is Ellipsis:
            return list[_written(parts[0], name)]  # type: ignore[misc]
        return Annotated[list[_written(parts[0], name)], Field(min_length=len(parts), max_length=len(parts))]  # type: ignore[misc]
    if origin in (dict, Mapping):
        return dict[str, _written(parts[1], name)]  # type: ignore[misc]
    if annotation is float:
        return _Share if name in _SHARES else _Infinite
    return _Count if annotation is int else annotation
