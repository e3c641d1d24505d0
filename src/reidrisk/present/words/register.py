"""Which function says what: by the code of a note, or by the class of a result."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from reidrisk.base.notes import Note
from reidrisk.present.terms import Terms

_NOTES: dict[str, Callable[[Note, Terms], str | Assumed]] = {}
_RESULTS: dict[str, Callable[[Any, Terms], str]] = {}
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Assumed:
    """A plain sentence that numbers rest on, and what happens to them where it does not hold."""

    holds: str
    otherwise: str = ""


def says(code: str) -> Callable[[Function], Function]:
    """Register the sentence of a code: a function of the note and the reader's terms."""

    def keep(function: Function) -> Function:
        if code in _NOTES:
            raise RuntimeError(f"there are two sentences for the code {code!r}")
        _NOTES[code] = function
        return function

    return keep


def reads(kind: str) -> Callable[[Function], Function]:
    """Register the sentence of a kind of result, by the name of its class."""

    def keep(function: Function) -> Function:
        if kind in _RESULTS:
            raise RuntimeError(f"there are two sentences for results of class {kind!r}")
        _RESULTS[kind] = function
        return function

    return keep


def sentence(note: Note, terms: Terms | None = None) -> str:
    """Say a note; of an assumption, what it holds."""
    return assumed(note, terms).holds


def assumed(note: Note, terms: Terms | None = None) -> Assumed:
    """Say a note as an assumption, with what follows where it does not hold."""
    _load()
    if note.code not in _NOTES:
        return Assumed(f"There is a note that this version has no sentence for: {note.code}.")
    said = _NOTES[note.code](note, terms or Terms())
    return said if isinstance(said, Assumed) else Assumed(said)


def reading(result: Any, terms: Terms | None = None) -> str:
    """Say a result in one sentence, for somebody who is no statistician."""
    _load()
    for kind in type(result).__mro__:
        if kind.__name__ in _RESULTS:
            return _RESULTS[kind.__name__](result, terms or Terms())
    raise TypeError(f"there is no sentence for results of class {type(result).__name__}")


def codes() -> frozenset[str]:
    """Return every code that has a sentence."""
    _load()
    return frozenset(_NOTES)


@cache
def _load() -> None:
    """Import the modules of this package: each registers its sentences."""
    package = importlib.import_module("reidrisk.present.words")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"reidrisk.present.words.{module.name}")
