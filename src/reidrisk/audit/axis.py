"""Along what records grow: the numbers of epochs, items, facts or columns at which every attack looks at them."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from reidrisk.audit.choice import only
from reidrisk.audit.spec import AuditSpec, powers_of_two, usual_epochs
from reidrisk.base import DataError, Ints, Note, OptionError, blocks, stream
from reidrisk.base.options import option
from reidrisk.records import Attributes, Bags, Case, Traces, Vectors
from reidrisk.records.thinning import drawn

AxisName = Literal["epochs", "items", "facts", "columns", "dimensions"]
KNOWS = "scenario-knows"
"""Code of the scenario in which somebody knows a few facts: there, what grows is the number of facts."""


class Look(NamedTuple):
    """One look at the records: ``n`` epochs, items, facts or columns; ``which`` ones, from 0, if not the first."""

    n: int
    which: tuple[int, ...] = ()

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns looked at."""
        return self.which or tuple(range(self.n))


class Axis(ABC):
    """What grows of a case: ``size`` in all; ``asked`` are the numbers to look at, ``counts`` those with any token."""

    name: ClassVar[AxisName]

    def __init__(self, case: Case, size: int, asked: tuple[int, ...]) -> None:
        self._case, self.size, self.asked = case, size, asked
        self.counts, self.skipped = asked, ()

    counts: tuple[int, ...]
    skipped: tuple[int, ...]
    every: str | None = None  # what an epoch is, where the question says it

    @property
    def looks(self) -> tuple[Look, ...]:
        """One look at each number."""
        return tuple(Look(n) for n in self.counts)

    @abstractmethod
    def seen(self, look: Look) -> tuple[Any, Any]:
        """Return targets and queries as far as this look goes."""

    @abstractmethod
    def share(self, look: Look) -> float:
        """Return how much work a look is, of one at everything."""


class EpochAxis(Axis):
    """The first epochs of both tables."""

    name = "epochs"

    def __init__(self, case: Case, spec: AuditSpec) -> None:
        n = case.targets.n_epochs
        super().__init__(case, n, counts_to_look_at(spec, n, usual_epochs(n), "epochs"))
        self.counts, self.skipped = _with_tokens(self.asked, case.targets, case.queries)

    def seen(self, look: Look) -> tuple[Traces, Traces]:
        """Return the chosen epochs of both tables."""
        return only(self._case.targets, look.columns), only(self._case.queries, look.columns)

    def share(self, look: Look) -> float:
        """Return the share of the epochs."""
        return look.n / self.size


class AmountAxis(Axis):
    """At most this many items of each record to identify, drawn at random; or facts, where these are what is known.

    Fewer are drawn from those drawn for more, so that a record grows along the curve. Targets stay whole.
    """

    name: ClassVar[AxisName] = "items"

    def __init__(self, case: Case, spec: AuditSpec) -> None:
        held = _amounts(case.queries)
        size, usual = int(held.max(initial=0)), max(1, int(np.median(held)))
        if size < 1:
            raise DataError("the records to identify hold no item; there is nothing to go by")
        most = size if self.name == "facts" else usual
        super().__init__(case, size, counts_to_look_at(spec, size, (*powers_of_two(most, size), size), self.name))
        self._held, self._seed = held, spec.seed or 0
        self._drawn: dict[int, Any] = {}

    def seen(self, look: Look) -> tuple[Any, Any]:
        """Return all targets, and at most this many items of each query."""
        for n in sorted({*self.counts, look.n}, reverse=True):
            if n not in self._drawn:
                larger = min((one for one in self._drawn if one > n), default=None)
                from_which = self._case.queries if larger is None else self._drawn[larger]
                self._drawn[n] = from_which if n >= self.size else thinned(from_which, n, self._seed)
            if n == look.n:
                break
        return self._case.targets, self._drawn[look.n]

    def share(self, look: Look) -> float:
        """Return the share of the items that are looked at."""
        return float(np.minimum(self._held, look.n).sum() / max(self._held.sum(), 1))


class FactAxis(AmountAxis):
    """Some of the facts that the attacker knows of each person."""

    name: ClassVar[AxisName] = "facts"


class ColumnAxis(Axis):
    """All columns together, then each alone."""

    name = "columns"

    def __init__(self, case: Case, spec: AuditSpec) -> None:
        n = case.targets.n_epochs
        super().__init__(case, n, counts_to_look_at(spec, n, (n,), self.name))

    @property
    def looks(self) -> tuple[Look, ...]:
        """One look at all columns, and one at each that tells something, where nothing else was asked for."""
        if self.size == 1 or self.asked != (self.size,):
            return super().looks
        observed = [table.observed.any(axis=0) for table in (self._case.targets, self._case.queries)]
        telling = np.flatnonzero(observed[0] & observed[1]).tolist()
        return (*super().looks, *(Look(1, (column,)) for column in telling))

    def seen(self, look: Look) -> tuple[Any, Any]:
        """Return the chosen columns of both tables."""
        targets, queries = self._case.targets, self._case.queries
        if look.n == self.size:
            return targets, queries
        names = [targets.names[column] for column in look.columns]
        return targets.only(names), queries.only(names)

    def share(self, look: Look) -> float:
        """Return the share of the columns."""
        return look.n / self.size


class DimensionAxis(Axis):
    """All dimensions of vectors together; the first of them where that is asked for."""

    name = "dimensions"

    def __init__(self, case: Case, spec: AuditSpec) -> None:
        n, other = case.targets.n_dimensions, case.queries.n_dimensions
        if n != other:
            raise DataError(f"targets have {n} dimensions, queries {other}; give vectors of one model")
        super().__init__(case, n, counts_to_look_at(spec, n, (n,), self.name))

    def seen(self, look: Look) -> tuple[Any, Any]:
        """Return the first dimensions of both tables."""
        tables = self._case.targets, self._case.queries
        if look.n == self.size:
            return tables
        one, two = (table.mapped(lambda points: points[:, : look.n]) for table in tables)
        return one, two

    def share(self, look: Look) -> float:
        """Return the share of the dimensions."""
        return look.n / self.size


def axis_of(case: Case, spec: AuditSpec, scenario: Note | None) -> Axis:
    """Return along what the records of a case grow.

    >>> from reidrisk.records import Truth
    >>> case = Case(Bags([[3, 1], [0, 2]]), Bags([[2, 1], [0, 1]]), Truth(np.arange(2), "given"))
    >>> axis = axis_of(case, AuditSpec(seed=1), None)
    >>> axis.name, axis.counts, axis.seen(Look(1))[1].counts.sum(axis=1).tolist()
    ('items', (1, 2, 3), [1, 1])
    """
    if isinstance(case.targets, Attributes):
        return ColumnAxis(case, spec)
    if isinstance(case.targets, Vectors):
        return DimensionAxis(case, spec)
    if scenario is not None and scenario.code == KNOWS:
        return FactAxis(case, spec)
    if isinstance(case.targets, Bags):
        return AmountAxis(case, spec)
    axis = EpochAxis(case, spec)
    axis.every = None if scenario is None else scenario.get("every")
    return axis


def counts_to_look_at(spec: AuditSpec, size: int, usual: tuple[int, ...], what: str) -> tuple[int, ...]:
    """Return the numbers to look at: as asked, or the usual ones."""
    if spec.epochs is None:
        return tuple(sorted(set(usual)))
    wrong = [r for r in spec.epochs if not 1 <= r <= size]
    if wrong or not spec.epochs:
        raise OptionError(f"the tables have {size} {what}; cannot look at the first {wrong[0] if wrong else 0}")
    return tuple(sorted(set(spec.epochs)))


def thinned(queries: Any, n: int, seed: int) -> Any:
    """Return records with at most ``n`` of their items, or observed cells, each drawn at random.

    >>> [int(one) for one in thinned(Bags([[5, 0, 5], [0, 1, 0]]), 2, seed=0).counts.sum(axis=1)]
    [2, 1]
    """
    if isinstance(queries, Bags):
        sizes = np.full(len(queries), n, dtype=np.int64)
        return queries.with_counts(drawn(queries.counts, sizes, stream(seed, "fewer items", n)))
    tokens = np.array(queries.tokens)
    for block, start, stop in blocks(len(tokens)):
        part = tokens[start:stop]
        keys = stream(seed, "fewer cells", block).random(part.shape)  # the same for every n: fewer are among more
        keys[part < 0] = np.inf
        part[np.argsort(np.argsort(keys, axis=1), axis=1) >= n] = -1
    return Traces(tokens, queries.n_tokens, queries.users, queries.vocabulary)


def holds(table: Any) -> bool:
    """Whether there is anything in a table."""
    if isinstance(table, Vectors):
        return True
    return bool(table.counts.nnz if isinstance(table, Bags) else table.observed.any())


def _amounts(queries: Any) -> Ints:
    if isinstance(queries, Bags):
        return np.asarray(queries.counts.sum(axis=1), dtype=np.int64).ravel()
    return np.asarray(queries.observed.sum(axis=1), dtype=np.int64)


def _with_tokens(counts: tuple[int, ...], targets: Traces, queries: Traces) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of epochs to look at, and those in which a table holds no token at all."""
    kept = tuple(r for r in counts if targets.epochs(r).observed.any() and queries.epochs(r).observed.any())
    if not kept:
        which = "known records" if not targets.epochs(counts[-1]).observed.any() else "records to identify"
        raise DataError(
            f"the {which} hold no token in the first {counts[-1]} epochs; look at more of them ({option('epochs')})"
        )
    return kept, tuple(r for r in counts if r not in kept)
