"""Which function says what: by the code of a note, or by the class of a result."""

from __future__ import annotations

import importlib
import pkgutil
import string
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from reidrisk.base.notes import Note
from reidrisk.present.terms import Terms
from reidrisk.present.words.frequencies import attack_label, capital, in_words, joined, percent, two_digits

__all__ = ["CHECK", "Assumed", "assumed", "codes", "filled", "reading", "reads", "say", "says", "sentence"]
__all__ += ["phrase", "table", "texts"]

_NOTES: dict[str, Callable[[Note, Terms], str | Assumed]] = {}
_RESULTS: dict[str, Callable[[Any, Terms], str]] = {}
Function = TypeVar("Function", bound=Callable[..., Any])

CHECK = "If this does not hold, the rates are about something else: check it first."
"""What follows where something that was understood of a table is not so."""


@dataclass(frozen=True)
class Assumed:
    """A plain sentence that numbers rest on, and what happens to them where it does not hold."""

    holds: str
    otherwise: str = ""


def _keep(table: dict[str, Callable[..., Any]], key: str) -> Callable[[Function], Function]:
    def keep(function: Function) -> Function:
        if key in table:
            raise RuntimeError(f"there are two sentences for {key!r}")
        table[key] = function
        return function

    return keep


def says(code: str) -> Callable[[Function], Function]:
    """Register the sentence of a code: a function of the note and the reader's terms."""
    return _keep(_NOTES, code)


def reads(kind: str) -> Callable[[Function], Function]:
    """Register the sentence of a kind of result, by the name of its class."""
    return _keep(_RESULTS, kind)


@cache
def texts(name: str) -> dict[str, Any]:
    """Return what a file of words holds: ``sentences``, ``readings``, ``sections``, ``stages`` or ``choices``."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text("utf-8"))


def table(name: str) -> Mapping[str, str]:
    """Return words to choose from by a code, such as what a cohort of each status is called."""
    found: Mapping[str, str] = texts("choices")[name]
    return found


class _Filled(string.Formatter):
    """Fills in a sentence with numbers as people read them and the words of their data; ``sentences.toml`` says how."""

    _WRITE: Mapping[str, Callable[[Any], str]] = {
        "share": percent,
        "rate": in_words,
        "attack": attack_label,
        "capital": capital,
        "digits": two_digits,
        "of100": lambda rate: f"{100 * rate:g}",
        "list": lambda values: ", ".join(map(str, values)),
        "joined": joined,
    }

    def __init__(self, values: Mapping[str, Any], terms: Terms) -> None:
        self._terms, self._least = terms, values.get("least", 0)

    def format_field(self, value: Any, spec: str) -> Any:
        if value is None:  # too few people to say how many
            return f"fewer than {self._least:,}"
        if spec in self._WRITE:
            return self._WRITE[spec](value)
        return self._terms.many(spec, value) if len(spec) > 1 and spec.isalpha() else format(value, spec)


def say(sentences: Mapping[str, str | Sequence[str]]) -> None:
    """Register the sentences of codes, each alone or with what follows where it does not hold."""
    for code, said in sentences.items():
        parts = [said] if isinstance(said, str) else said
        says(code)(lambda note, terms, parts=parts: Assumed(*(filled(part, note, terms) for part in parts)))


def filled(text: str, values: Mapping[str, Any], terms: Terms) -> str:
    """Fill in a sentence with values, and with the words of the reader's own data."""
    words = {name: getattr(terms, name) for one in ("item", "period", "record") for name in (one, f"{one}s")}
    words |= {
        "person": terms.person,
        "a_person": terms.a_person,
        "people": terms.people,
        "kind": terms.kind,
        "things": terms.things,
        "check": CHECK,
    }
    return _Filled(values, terms).vformat(text, (), words | dict(values))


def phrase(place: str, terms: Terms, **values: Any) -> str:
    """Return a sentence of ``readings.toml`` by its place, such as ``cohorts.closeness``, filled in."""
    area, _, name = place.partition(".")
    return filled(texts("readings")[area][name], values, terms)


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
    """Register the sentences of the modules of this package, then those that need no function."""
    package = importlib.import_module("reidrisk.present.words")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"reidrisk.present.words.{module.name}")
    for area in texts("sentences").values():
        say(area)
