"""Which changes can be chosen by name: each is registered next to its class, with the records it fits."""

import typing
from collections.abc import Callable
from dataclasses import MISSING, dataclass
from typing import Any, TypeVar

from reidrisk.base.errors import OptionError
from reidrisk.base.options import of_class
from reidrisk.base.registry import Registry, RegistryEntry
from reidrisk.mitigations.base import Mitigation

Kind = TypeVar("Kind", bound=type[Mitigation])


@dataclass(frozen=True)
class Entry(RegistryEntry):
    """One change of the registry: it fits records of these ``kinds``, and is usually tried at these ``strengths``."""

    mitigation: type[Mitigation]
    kinds: tuple[type, ...]
    strengths: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        self.check(Mitigation, self.kinds)
        of_class("strengths", self.strengths, tuple, "a tuple of values that are usually tried")


_REGISTRY: Registry[Entry] = Registry("a change")


def register(kinds: tuple[type, ...], strengths: tuple[Any, ...] = ()) -> Callable[[Kind], Kind]:
    """Register the change whose class follows; the arguments are those of :class:`Entry`."""

    def keep(mitigation: Kind) -> Kind:
        made = _REGISTRY.add(Entry(mitigation, kinds, strengths))
        mitigation.kinds, mitigation.strengths, mitigation.name = kinds, strengths, made.name
        return mitigation

    return keep


def registry() -> tuple[Entry, ...]:
    """Return all changes that were registered, in that order."""
    return tuple(_REGISTRY)


def entry(name: str) -> Entry:
    """Return the change of this name."""
    return _REGISTRY[name]


def named(text: str) -> Mitigation:
    """Return the change that a text such as ``"rotate:4"`` or ``"shorten:periods=2"`` names.

    A value by itself is that of the main field, and ``" + "`` joins changes that are made together. Fields that are no
    numbers, such as a taxonomy, are for Python.

    >>> from reidrisk import mitigations
    >>> mitigations.named("suppress-rare:20"), mitigations.named("shorten:periods=2").text
    (SuppressRare(k=20), 'shorten:periods=2')
    """
    if " + " in text:
        from reidrisk.mitigations.together import Together

        return Together(tuple(named(part) for part in text.split(" + ")))
    name, _, rest = text.partition(":")
    made = entry(name.strip()).mitigation
    if hasattr(made, "from_text"):
        read: Mitigation = made.from_text(rest)
        return read
    known = {one.name: one for one in made.settings()}
    given: dict[str, Any] = {}
    for position, part in enumerate(rest.split(",") if rest else ()):
        field, equals, value = part.partition("=")
        field, value = (field.strip(), value.strip()) if equals else (made.main_field(), field.strip())
        if field not in known or (not equals and position):
            raise OptionError(f"{text!r}: {name} has {', '.join(known)}, not {part.strip()!r}")
        given[field] = _number(value, typing.get_type_hints(made)[field], text)
    missing = [one.name for one in known.values() if one.default is MISSING and one.name not in given]
    if missing:
        raise OptionError(f"{text!r}: give a value for {missing[0]}, such as {name}:{entry(name).strengths[0]}")
    return made(**given)


def _number(value: str, hint: Any, text: str) -> float | int | str:
    kinds = typing.get_args(hint) or (hint,)
    for kind in (int, float, str):
        if kind in kinds:
            try:
                return kind(value)
            except ValueError:
                continue
    raise OptionError(f"{text!r}: {value!r} is not {'a whole number' if int in kinds else 'a number'}")
