"""Which scenarios can be chosen by name: each is registered next to its class, with the records it takes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from reidrisk.base.options import whole_up_to
from reidrisk.base.registry import Registry, RegistryEntry
from reidrisk.scenarios.base import Scenario

Kind = TypeVar("Kind", bound=type[Scenario])


@dataclass(frozen=True)
class Entry(RegistryEntry):
    """One scenario of the registry: it takes ``tables`` tables of these ``kinds``."""

    scenario: type[Scenario]
    kinds: tuple[type, ...]
    tables: int = 1

    def __post_init__(self) -> None:
        self.check(Scenario, self.kinds)
        whole_up_to("tables", self.tables, 2)


_REGISTRY: Registry[Entry] = Registry("a scenario")


def register(kinds: tuple[type, ...], tables: int = 1) -> Callable[[Kind], Kind]:
    """Register the scenario whose class follows; the arguments are those of :class:`Entry`."""

    def keep(scenario: Kind) -> Kind:
        _REGISTRY.add(Entry(scenario, kinds, tables))
        scenario.kinds = kinds
        return scenario

    return keep


def registry() -> tuple[Entry, ...]:
    """Return all scenarios that were registered, in that order.

    >>> [entry.name for entry in registry()]
    ['knows', 'split', 'two-tables']
    """
    return tuple(_REGISTRY)


def entry(name: str) -> Entry:
    """Return the scenario of this name."""
    return _REGISTRY[name]
