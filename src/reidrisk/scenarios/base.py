"""What every scenario does: make a Case of the records it was given, and say what was dropped on the way."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from reidrisk.base.errors import DataError
from reidrisk.base.notes import Note
from reidrisk.records import Bags, Case, Truth


class Scenario(ABC):
    """What the attacker holds and what they want to name: a frozen value that makes a case."""

    kinds: ClassVar[tuple[type, ...]] = ()
    """The records it takes; set where it is registered."""

    @abstractmethod
    def case(self, seed: int = 0) -> Case:
        """Return targets, queries and truth; the same seed gives the same case."""

    @property
    def question(self) -> Note:
        """Which question the case asks, for an audit: ``audit_case(scenario.case(), spec, scenario=…)``."""
        return Note("scenario-own", name=type(self).__name__)

    def _check_kind(self, table: Any) -> None:
        """Refuse what is none of the records that this scenario takes."""
        if not isinstance(table, self.kinds):
            taken = ", ".join(kind.__name__ for kind in self.kinds)
            raise DataError(f"{type(self).__name__} takes {taken}, not {type(table).__name__}")


def two_sides(known: Bags, asked: Bags, notes: tuple[Note, ...]) -> Case:
    """Make a case of two tables whose rows are the same people.

    Who has nothing among the records asked for stays as a distractor; who has nothing among the known ones is left out.
    Both are counted.
    """
    has_known, has_asked = (np.diff(side.counts.indptr) > 0 for side in (known, asked))
    there, both = np.flatnonzero(has_known), np.flatnonzero(has_known & has_asked)
    if not both.size:
        raise DataError(f"none of the {len(known):,} people has something on both sides; move more to the smaller one")
    if len(both) < len(known):
        unasked, left_out = len(there) - len(both), len(known) - len(there)
        notes += (Note("nothing-on-one-side", unasked=unasked, left_out=left_out, of=len(known)),)
    place = np.cumsum(has_known) - 1
    return Case(known.take(there), asked.take(both), Truth(place[both].astype(np.int64), "cut"), notes)


def by_visit(case: Case) -> Case:
    """Return the case with each visit of the records to be named as a query of its own, of nobody's name.

    Several queries then have one target.
    """
    visits = case.queries.visits
    if visits is None:
        raise DataError("it is not known which events of the records to be named were one visit; name a time or column")
    queries = Bags(visits.counts, None, case.queries.vocabulary)
    truth = None if case.truth is None else Truth(case.truth.target[visits.owner], case.truth.origin)
    return Case(case.targets, queries, truth, (*case.notes, Note("several-each", queries=len(queries))))
