"""Which scenarios can be chosen by name: each is registered next to its class, with the records it takes."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from reidrisk.base.errors import OptionError
from reidrisk.scenarios.base import Scenario

Kind = TypeVar("Kind", bound=type[Scenario])


@dataclass(frozen=True)
class Entry:
    """One scenario of the registry: it takes ``tables`` tables of these ``kinds``."""

    scenario: type[Scenario]
    kinds: tuple[type, ...]
    tables: int = 1

    @property
    def label(self) -> str:
        """Name of the class, as words."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.scenario.__name__)

    @property
    def name(self) -> str:
        """Name of the scenario: that of its class, in lower case with hyphens."""
        return self.label.replace(" ", "-").lower()

    @property
    def description(self) -> str:
        """What the attacker holds: the first line about the class."""
        return (self.scenario.__doc__ or "").strip().partition("\n")[0]


_BY_NAME: dict[str, Entry] = {}


def register(kinds: tuple[type, ...], tables: int = 1) -> Callable[[Kind], Kind]:
    """Register the scenario whose class follows; the arguments are those of :class:`Entry`."""

    def keep(scenario: Kind) -> Kind:
        made = Entry(scenario, kinds, tables)
        if made.name in _BY_NAME and _BY_NAME[made.name].scenario is not scenario:
            raise OptionError(f"there is a scenario called {made.name} already; give the class another name")
        scenario.kinds = kinds
        _BY_NAME[made.name] = made
        return scenario

    return keep


def registry() -> tuple[Entry, ...]:
    """Return all scenarios that were registered, in that order.

    >>> [entry.name for entry in registry()]
    ['knows', 'split', 'two-tables']
    """
    return tuple(_BY_NAME.values())


def entry(name: str) -> Entry:
    """Return the scenario of this name."""
    if name not in _BY_NAME:
        raise OptionError(f"there is no scenario called {name!r}; choose from {', '.join(_BY_NAME)}")
    return _BY_NAME[name]
