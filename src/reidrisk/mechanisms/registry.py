"""Which systems can be chosen by name: each is registered next to its class, which says what is then known of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from reidrisk.base.notes import Note
from reidrisk.base.registry import Registry, RegistryEntry
from reidrisk.mechanisms.top_k_noise import TopKNoise


class Mechanism(ABC):
    """A system by its name: what an audit takes for known of it where ``top_k`` and ``noise`` are not given."""

    @classmethod
    @abstractmethod
    def known(cls, n_tokens: int, top_k: int | None = None, noise: float | None = None) -> TopKNoise:
        """Return what the system does over a vocabulary of ``n_tokens``; what is given counts before its defaults."""

    @classmethod
    def note(cls, known: TopKNoise) -> Note:
        """Return what numbers rest on if this is known of the system."""
        values = {"top_k": known.top_k, "noise": known.noise}
        return Note("system-declared", system=cls.__name__, **values)


Kind = TypeVar("Kind", bound=type[Mechanism])


@dataclass(frozen=True)
class Entry(RegistryEntry):
    """One system of the registry."""

    mechanism: type[Mechanism]

    def __post_init__(self) -> None:
        self.check(Mechanism, method="known")


_REGISTRY: Registry[Entry] = Registry("a system")


def register() -> Callable[[Kind], Kind]:
    """Register the system whose class follows."""

    def keep(mechanism: Kind) -> Kind:
        _REGISTRY.add(Entry(mechanism))
        return mechanism

    return keep


def registry() -> tuple[Entry, ...]:
    """Return all systems that were registered, in that order.

    >>> from reidrisk import topics
    >>> [entry.name for entry in registry()][:2]
    ['other', 'topics']
    """
    return tuple(_REGISTRY)


def entry(name: str) -> Entry:
    """Return the system of this name."""
    return _REGISTRY[name]
