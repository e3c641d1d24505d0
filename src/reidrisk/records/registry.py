"""Which kinds of records there are: each is registered next to its class, with the tables that it is read from."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.options import of_class
from reidrisk.base.registry import Registry, RegistryEntry

Kind = TypeVar("Kind", bound=type[Any])


@dataclass(frozen=True)
class Entry(RegistryEntry):
    """One kind of records.

    A table ``holds`` them, in a few words for messages, in one of these ``layouts``, which no other kind has; none
    where no table is read as such records. ``read`` makes them of an Arrow table; ``None``: their reader is in
    :mod:`reidrisk.io.exports`, since columns must be found there.
    """

    records: type[Any]
    holds: str
    layouts: tuple[str, ...] = ()
    read: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        self.check(object)
        of_class("holds", self.holds, str, "a few words, such as 'lists of items'")
        of_class("layouts", self.layouts, tuple, "a tuple of names")
        if self.read is not None and not callable(self.read):
            raise OptionError(f"read is a function that makes records of an Arrow table, not {self.read!r}")


_REGISTRY: Registry[Entry] = Registry("a kind of records")


def register(
    holds: str, layouts: tuple[str, ...] = (), read: Callable[[Any], Any] | None = None
) -> Callable[[Kind], Kind]:
    """Register the kind of records whose class follows; the arguments are those of :class:`Entry`."""

    def keep(records: Kind) -> Kind:
        _REGISTRY.add(Entry(records, holds, layouts, read))
        return records

    return keep


def registry() -> tuple[Entry, ...]:
    """Return all kinds of records that were registered, in that order.

    >>> import reidrisk.records
    >>> [entry.name for entry in registry()]
    ['bags', 'traces', 'attributes', 'cells', 'events', 'vectors']
    """
    return tuple(_REGISTRY)


def entry(name: str) -> Entry:
    """Return the kind of records of this name."""
    return _REGISTRY[name]


def kind_of(records: Any) -> Entry:
    """Return the kind of these records.

    >>> from reidrisk.records import Bags
    >>> kind_of(Bags([[1, 0]])).name
    'bags'
    """
    found = next((one for one in registry() if one.records is type(records)), None)
    if found is None:
        able = ", ".join(one.records.__name__ for one in registry())
        raise DataError(
            f"{type(records).__name__} is no kind of records; give {able}, or register it (records.register)"
        )
    return found


def layouts() -> tuple[str, ...]:
    """Return all layouts of tables that are read as records.

    >>> import reidrisk.records
    >>> layouts()
    ('lists', 'counts', 'wide', 'long', 'people', 'log', 'vectors')
    """
    return tuple(name for one in registry() for name in one.layouts)


def of_layout(name: str) -> Entry:
    """Return the kind of records that tables of this layout hold."""
    return next(one for one in registry() if name in one.layouts)
