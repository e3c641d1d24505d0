"""Which attacks can be chosen by name: each is registered next to its class, with what it takes, costs and needs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from reidrisk import records, search
from reidrisk.attacks.base import Attack
from reidrisk.attacks.pooled import Pooled
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.options import one_of
from reidrisk.base.registry import Registry, RegistryEntry
from reidrisk.mechanisms.other import Other
from reidrisk.records.base import breadth

Cost = Callable[[Any], Callable[[int], float]]
"""From the targets to a function from a number of queries to reference seconds: the same on every machine."""

Kind = TypeVar("Kind", bound=type[Attack[Any]])


@dataclass(frozen=True)
class Entry(RegistryEntry):
    """One attack of the registry.

    It compares records of these ``kinds`` at a ``cost(targets)(n_queries)`` in reference seconds. What it ``needs``
    beyond the two tables whoever makes it must have. An audit runs a ``default`` attack without being asked: where
    there are as many ``epochs`` as it needs to have something to learn, and it finds something to go by
    (:meth:`Attack.applies`). One that is for the ``whole`` records is not tried on parts of them, and one that links
    all queries ``together`` not where each is met by itself.
    """

    attack: type[Attack[Any]]
    kinds: tuple[type, ...]
    cost: Cost
    needs: tuple[str, ...] = ()
    default: bool = False
    epochs: int = 1
    whole: bool = False
    together: bool = False

    def __post_init__(self) -> None:
        self.check(Attack, self.kinds, "fit")
        if not self.kinds:
            raise OptionError("kinds is a tuple of classes of records, such as (Bags,), and names one at least")
        if not callable(self.cost):
            seconds = "a function from the targets to one from a number of queries to seconds, such as per_pair(1e-9)"
            raise OptionError(f"cost is {seconds}, not {self.cost!r}")


_REGISTRY: Registry[Entry] = Registry("an attack")


def register(kinds: tuple[type, ...], cost: Cost, **further: Any) -> Callable[[Kind], Kind]:
    """Register the attack whose class follows; the arguments are those of :class:`Entry`."""

    def registered(attack: Kind) -> Kind:
        _REGISTRY.add(Entry(attack, kinds, cost, **further))
        return attack

    return registered


def registry() -> tuple[Entry, ...]:
    """Return all attacks that were registered, in that order."""
    return tuple(_REGISTRY)


def nameable(kind: type | None = None) -> tuple[Entry, ...]:
    """Return the attacks on such records that need nothing else, so that their name is enough.

    Default: on any records that are read from tables.
    """
    kinds = {one.records for one in records.registry() if one.layouts} if kind is None else {kind}
    return tuple(one for one in registry() if not one.needs and kinds & {*one.kinds})


def entry(name: str) -> Entry:
    """Return the attack of this name."""
    return _REGISTRY[name]


def find_attack(attack: Any, targets: Any) -> Attack[Any]:
    """Return the attack of a name on such records, of a system of which nothing is known; an attack as it is.

    >>> find_attack("bm25", records.Bags([[1, 0], [0, 2]])).name
    'BM25'
    """
    if isinstance(attack, str):
        kind = records.Traces if isinstance(targets, Pooled) else type(targets)
        known = {one.name: one.attack for one in nameable(kind)}
        one_of(f"attack on {kind.__name__}", attack, known)
        return known[attack].knowing(Other.known(breadth(targets), None, None))
    if isinstance(attack, type) or not hasattr(attack, "fit"):
        what = attack.__name__ if isinstance(attack, type) else type(attack).__name__
        raise DataError(f"attack must be an attack such as attacks.TfIdf(), or its name, not {what}")
    found: Attack[Any] = attack
    return found


def per_pair(seconds: float, learning: float = 0.0) -> Cost:
    """Return the cost of an attack that takes this many reference seconds for each pair of records and epoch.

    ``learning`` are seconds that it takes however few queries there are.
    """

    def cost(targets: Any) -> Callable[[int], float]:
        work = len(targets) * int(getattr(targets, "n_epochs", 1))
        return lambda n_queries: learning + n_queries * work * seconds

    return cost


def per_item(seconds: float, learning: float = 0.0) -> Cost:
    """Return the cost of an attack that takes this many for each pair of records and item, or epoch, of the target.

    ``learning`` are seconds that it takes however few queries there are.
    """

    def cost(targets: Any) -> Callable[[int], float]:
        items = targets.tokens.size if hasattr(targets, "tokens") else targets.counts.nnz
        return lambda n_queries: learning + n_queries * max(items, len(targets)) * seconds

    return cost


def by_search(targets: Any) -> Callable[[int], float]:
    """Return the cost of an attack that is one exact search, on the processor and with all the memory it wants."""
    index = search.Index(targets.tokens, targets.n_tokens)
    return lambda n_queries: search.choose(index, n_queries, memory=1 << 60, device="cpu").seconds
