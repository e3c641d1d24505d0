"""What registries share: classes that may be chosen by name, which is that of the class in lower case."""

import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Generic, TypeVar

from reidrisk.base.errors import OptionError


class RegistryEntry:
    """An entry of a registry: a dataclass whose first field is the class that may be chosen."""

    def check(self, base: type, kinds: object = (), method: str | None = None) -> None:
        """Refuse an entry that would fail later: no subclass of ``base``, without its method, of no kinds of records.

        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Shape(RegistryEntry):
        ...     kind: object
        >>> Shape("square").check(float)
        Traceback (most recent call last):
        reidrisk.base.errors.OptionError: register a subclass of float, not 'square'
        """
        chosen: Any = self.chosen
        if not isinstance(chosen, type) or not issubclass(chosen, base):
            raise OptionError(f"register a subclass of {base.__name__}, not {chosen!r}")
        open_still = sorted(getattr(chosen, "__abstractmethods__", ()))
        if method is not None and method in open_still:
            raise OptionError(f"{chosen.__name__} has no {method}; write it, and register the class then")
        if not isinstance(kinds, tuple) or not all(isinstance(kind, type) for kind in kinds):
            raise OptionError(f"kinds is a tuple of classes of records, such as (Bags,), not {kinds!r}")

    @property
    def chosen(self) -> type:
        """The class."""
        kind: Any = self
        found: type = getattr(self, fields(kind)[0].name)
        return found

    @property
    def label(self) -> str:
        """Name of the class, as words."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.chosen.__name__)

    @property
    def name(self) -> str:
        """Name in specs and on the command line: that of the class, in lower case with hyphens."""
        return self.label.replace(" ", "-").lower()

    @property
    def description(self) -> str:
        """What it does: the first line about the class."""
        return (self.chosen.__doc__ or "").strip().partition("\n")[0]


E = TypeVar("E", bound=RegistryEntry)


class Registry(Generic[E]):
    """Entries by name, in the order in which they came; ``what`` is one of them in messages, with its article.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Entry(RegistryEntry):
    ...     kind: type
    >>> known = Registry[Entry]("a shape")
    >>> known.add(Entry(type("LongBox", (), {}))).name, known["long-box"].label
    ('long-box', 'Long Box')
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._entries: dict[str, E] = {}

    def add(self, new: E) -> E:
        """Keep an entry; there is one class of a name."""
        if self._entries.get(new.name, new).chosen is not new.chosen:
            raise OptionError(f"there is {self._what} called {new.name} already; give the class another name")
        self._entries[new.name] = new
        return new

    def __iter__(self) -> Iterator[E]:
        return iter(self._entries.values())

    def __getitem__(self, name: str) -> E:
        if name not in self._entries:
            noun = self._what.partition(" ")[2]
            raise OptionError(f"there is no {noun} called {name!r}; choose from {', '.join(self._entries)}")
        return self._entries[name]
