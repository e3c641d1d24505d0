"""Frozen values to plain ones that JSON can hold, and back by their types; what does not fit is refused."""

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from reidrisk.base.errors import FormatError, ReidRiskError
from reidrisk.base.notes import Note

_hints_of = cache(typing.get_type_hints)
_INFINITE = {"inf": math.inf, "-inf": -math.inf}
_SCALARS: dict[Any, tuple[Any, str]] = {
    float: ((int, float), "a number"),
    int: (int, "a whole number"),
    bool: (bool, "true or false"),
    str: (str, "a text"),
}

MEMORY = {"memory": True}
"""Metadata of a field that stays in memory and is never written: it tells about single people, or is no answer."""


def plain(value: Any) -> Any:
    """Return a value as what ``json`` can write; infinities become the strings ``"inf"`` and ``"-inf"``.

    >>> plain({"rates": np.array([0.5, np.inf]), "note": Note("closed-world")})
    {'rates': [0.5, 'inf'], 'note': {'code': 'closed-world'}}
    """
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [plain(entry) for entry in value]
    return value


def written(kind: Any) -> tuple[str, ...]:
    """Return the names of the fields of a class that are written."""
    return tuple(field.name for field in dataclasses.fields(kind) if not field.metadata.get("memory"))


def rebuilt(hint: Any, value: Any, where: str) -> Any:
    """Return what :func:`plain` was made from, given its type; or refuse what cannot have been.

    ``hint`` is as annotated: numbers, texts, ``X | None``, tuples, mappings, ``Literal``, arrays, notes, results;
    ``where`` is how a message names the place.

    >>> rebuilt(float | None, "half", "risks[0].low")
    Traceback (most recent call last):
    reidrisk.base.errors.FormatError: risks[0].low must be a number, not 'half'
    """
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if origin in (types.UnionType, typing.Union):
        return _one_of(inner, value, where)
    if origin is typing.Literal:
        return value if value in inner else _refuse(where, f"one of {', '.join(map(repr, inner))}", value)
    if origin is tuple:
        return _tuple(inner, value, where)
    if origin is not None and issubclass(origin, Mapping):
        entries = value if isinstance(value, Mapping) else _refuse(where, "an object", value)
        return {key: rebuilt(inner[1], entry, f"{where}.{key}") for key, entry in entries.items()}
    if origin is np.ndarray:
        return _array(inner, value, where)
    if hint is Note:
        good = isinstance(value, Mapping) and isinstance(value.get("code"), str)
        return Note.from_dict(value) if good else _refuse(where, "a note with a code", value)
    if dataclasses.is_dataclass(hint) or hasattr(hint, "from_dict"):
        return _value(hint, value, where)
    return _scalar(hint, value, where)


def _array(inner: tuple[Any, ...], value: Any, where: str) -> Any:
    with suppress(TypeError, ValueError):
        if isinstance(value, list | tuple | np.ndarray):
            return np.asarray(value, dtype=typing.get_args(inner[1])[0])
    return _refuse(where, "a list of numbers", value)


def _one_of(hints: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and type(None) in hints:
        return None
    rest = [hint for hint in hints if hint is not type(None)]
    for hint in rest[:-1]:
        with suppress(FormatError):
            return rebuilt(hint, value, where)
    return rebuilt(rest[-1], value, where)


def _tuple(inner: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    entries = value if isinstance(value, list | tuple) else _refuse(where, "a list", value)
    hints = [inner[0]] * len(entries) if inner[1:] == (...,) else list(inner)
    if len(hints) != len(entries):
        _refuse(where, f"a list of {len(hints)}", value)
    numbered = enumerate(zip(hints, entries, strict=True))
    return tuple(rebuilt(hint, entry, f"{where}[{i}]") for i, (hint, entry) in numbered)


def _value(kind: Any, value: Any, where: str) -> Any:
    """Rebuild a frozen dataclass; a result or a spec by its own rule."""
    if not isinstance(value, Mapping):
        _refuse(where, "an object", value)
    try:
        return kind.from_dict(value) if hasattr(kind, "from_dict") else kind(**fields_of(kind, value, where))
    except ReidRiskError as error:
        raise FormatError(f"{where}: {error}") from error


def fields_of(kind: Any, values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Rebuild the fields of a dataclass; those without a default must be there, unknown ones are left out."""
    found = {}
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        if field.name in values and not field.metadata.get("memory"):
            found[field.name] = rebuilt(_hints_of(kind)[field.name], values[field.name], f"{where}.{field.name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise FormatError(f"{where} has no {field.name}")
    return found


def _scalar(hint: Any, value: Any, where: str) -> Any:
    if hint not in _SCALARS:
        raise TypeError(f"{where}: no rule to rebuild {hint}")
    if hint is float and isinstance(value, str) and value in _INFINITE:
        return _INFINITE[value]
    kinds, what = _SCALARS[hint]
    good = isinstance(value, kinds) and isinstance(value, bool) == (hint is bool) and value == value  # no NaN
    return hint(value) if good else _refuse(where, what, value)


def _refuse(where: str, what: str, value: Any) -> Any:
    shown = repr(value)
    raise FormatError(f"{where} must be {what}, not {shown if len(shown) <= 60 else shown[:57] + '...'}")
