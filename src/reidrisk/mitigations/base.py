"""What every change does: make another case of a case, and say what an attacker may know of it."""

from abc import ABC, abstractmethod
from dataclasses import Field, dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from reidrisk.base import DataError, Ints, Note, checked_seed, one_of, stream
from reidrisk.base.options import option
from reidrisk.mechanisms import TopKNoise
from reidrisk.mitigations.rows import sizes
from reidrisk.records import Bags, Case, Traces, Truth

Side = Literal["queries", "targets", "both"]
"""Which records are released, and so changed: those to identify, the known ones, or both."""


@dataclass(frozen=True, eq=False)
class View:
    """A changed case as somebody sees it.

    ``part_of`` says which query of the case before the change each query is, or is part of: a new pseudonym is a query
    of its own, and a person who was left out has none. ``known_as`` says the same of the targets; ``None``: each is
    what it was. ``noise`` is the probability, as far as the attacker knows, that an item is any item at all. ``asked``
    are the queries before the change that it is judged by; ``None``: all. ``mechanism`` is the system as it is now,
    where the system itself was changed. ``replaced`` is the share of events whose item was drawn anew, and ``plain``
    the view without that: by these, what is kept is counted (:mod:`reidrisk.mitigations.cost`).
    """

    case: Case
    part_of: Ints
    known_as: Ints | None = None
    noise: float = 0.0
    asked: Ints | None = None
    mechanism: TopKNoise | None = None
    replaced: float = 0.0
    plain: "View | None" = None


class Mitigation(ABC):
    """A change to released records that may lower the risk: a frozen value.

    What it has to learn, such as which items are rare, it learns on the side that is released. Most changes are made
    to one table at a time: a subclass says how in ``_changed``, what is learnt in ``_learn``, and in ``_repeatable``
    whether an attacker can do the same to records of their own. Others say what becomes of the whole case.
    """

    kinds: ClassVar[tuple[type, ...]] = ()  # the records it changes; set where it is registered
    strengths: ClassVar[tuple[Any, ...]] = ()
    """Three usual values of its main field, the mildest first; set where it is registered."""
    main: ClassVar[str] = ""  # the field that a value by itself is of, as in "rotate:4"; default: the first
    of_items: ClassVar[bool] = False  # whether it changes what items are, and so none that are known with more
    name: ClassVar[str] = ""  # its name in texts such as "rotate:4"; set where it is registered

    @property
    def text(self) -> str:
        """The change as :func:`reidrisk.mitigations.named` reads it."""
        main, usual = self.main_field(), {one.name: one.default for one in self.settings()}
        values = {name: getattr(self, name) for name in usual}
        given = [] if values[main] is None else [f"{values[main]}"]
        given += [f"{name}={one}" for name, one in values.items() if name != main and one != usual[name]]
        return f"{self.name}:{','.join(given)}" if given else self.name

    @classmethod
    def main_field(cls) -> str:
        """Return the name of the field that a value by itself is of."""
        return cls.main or cls.settings()[0].name

    @classmethod
    def settings(cls) -> tuple[Field[Any], ...]:
        """Return the fields; every change is a dataclass, which this class, having none, is not."""
        made: Any = cls
        return fields(made)

    def apply(self, case: Case, seed: int = 0, side: Side = "queries") -> Case:
        """Return the case as it is released; the one given stays as it is, and the same seed gives the same case."""
        return self.released(case, seed, side).case

    def released(self, case: Case, seed: int = 0, side: Side = "queries") -> View:
        """Return the changed case as an attacker sees it who does not know of the change."""
        self.check(case, seed, side)
        learnt = self._learn(case, side)
        targets, queries = (
            self._changed(table, learnt, self._stream(seed, one))
            if side in (one, "both")
            else self._along(table, learnt)
            for one, table in (("targets", case.targets), ("queries", case.queries))
        )
        changed = replace(case, targets=targets, queries=queries, notes=(*case.notes, self.note(side)))
        return View(changed, np.arange(len(case.queries)))

    def known_to_attacker(self, case: Case, seed: int = 0, side: Side = "queries", rows: Ints | None = None) -> View:
        """Return the changed case as an attacker makes it who knows of the change.

        What they can repeat, they do to records of their own: those of the other side are changed alike. ``rows`` are
        the queries that will be asked about; default: all.
        """
        view = self.released(case, seed, side)
        if not self.helps_to_know(side):
            return view
        learnt, other = self._learn(case, side), "targets" if side == "queries" else "queries"
        alike = self._changed(getattr(case, other), learnt, self._stream(seed, other))
        return replace(view, case=replace(view.case, **{other: alike}))

    def helps_to_know(self, side: Side = "queries") -> bool:
        """Whether an attacker who knows of it sees or does anything else than one who does not."""
        return self._repeatable() and side != "both"

    @classmethod
    def usual(cls, case: Case) -> tuple[Self, ...]:
        """Return the usual strengths that fit the case, the mildest first; none where it would change nothing."""
        return tuple(cls(**{cls.main_field(): value}) for value in cls.strengths)

    @classmethod
    @abstractmethod
    def ladder(cls, case: Case) -> tuple[Self, ...]:
        """Return many strengths, the mildest first, of which a search finds the first that is strong enough."""

    def check(self, case: Any, seed: int, side: str) -> None:
        """Refuse what is no case of records that this change fits."""
        if not isinstance(case, Case):
            raise DataError(f"{type(self).__name__} changes a Case, not {type(case).__name__}; make one with scenarios")
        one_of("side", side, get_args(Side))
        checked_seed(seed)
        if type(case.queries) not in self.kinds:
            fits = " and ".join(kind.__name__ for kind in self.kinds)
            raise DataError(f"{type(self).__name__} changes {fits}, not {type(case.queries).__name__}")
        if self.of_items and case.compound:
            what = "changes items, and what is known is items with their days or rows"
            raise DataError(f"{type(self).__name__} {what}; ask for what alone ({option('told', 'what')})")

    def within(self, trial: Any, case: Case) -> "Mitigation":
        """Return the change for what a :class:`reidrisk.mitigations.Trial` declares and a case holds; mostly itself."""
        return self

    def _repeatable(self) -> bool:
        """Whether an attacker who knows of it can change records of their own in the same way."""
        return False

    def _learn(self, case: Case, side: Side) -> Any:
        """Return what the change takes from the released side."""
        return None

    @abstractmethod
    def _changed(self, table: Any, learnt: Any, rng: np.random.Generator) -> Any:
        """Return the changed table."""

    def _along(self, table: Any, learnt: Any) -> Any:
        """Return the table that is not changed, over the same vocabulary as the one that is."""
        return table

    def _stream(self, seed: int, side: str) -> np.random.Generator:
        return stream(seed, f"change: {self.name}, {side}")

    def note(self, side: Side) -> Note:
        """Return that this change was made."""
        return Note("change-made", change=self.text, side=side)


def released_tables(case: Case, side: Side) -> tuple[Any, ...]:
    """Return the tables that are released, from which a change may learn."""
    both = {"targets": case.targets, "queries": case.queries}
    return tuple(table for name, table in both.items() if side in (name, "both"))


def with_something(view: View) -> View:
    """Return the view without the people of a log of whom nothing is left: no file has a row of theirs."""
    case = view.case
    if not isinstance(case.queries, Traces | Bags) or case.truth is None:
        return view
    known, asked = (np.flatnonzero(sizes(table) > 0) for table in (case.targets, case.queries))
    if not len(known) or not len(asked) or len(known) + len(asked) == len(case.targets) + len(case.queries):
        return view
    place = np.full(len(case.targets) + 1, -1, dtype=np.int64)
    place[known] = np.arange(len(known))
    truth = Truth(place[case.truth.target[asked]], case.truth.origin)
    left = replace(case, targets=case.targets.take(known), queries=case.queries.take(asked), truth=truth)
    known_as = None if view.known_as is None else view.known_as[known]
    if known_as is None and len(known) < len(case.targets):
        known_as = known
    return replace(view, case=left, part_of=view.part_of[asked], known_as=known_as)
