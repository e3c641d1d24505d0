"""What every scenario does: make a Case of the records it was given, and say what was dropped on the way."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from reidrisk.base import Bools, DataError, Note
from reidrisk.records import Bags, Case, Truth, Vectors


class Scenario(ABC):
    """What the attacker holds and what they want to name: a frozen value that makes a case."""

    kinds: ClassVar[tuple[type, ...]] = ()  # the records it takes; set where it is registered

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


def two_parts(table: Vectors, asked: Bools, notes: tuple[Note, ...]) -> Case:
    """Make a case of people with several vectors: these of them are to be named, the others are known.

    All vectors of a person on one side are one record. Who has none among those asked for stays as a distractor.
    """
    if len(table) < 2:
        raise DataError("all vectors are of one person, who can be taken for nobody else; give at least two people")
    known, there = table.only(~asked)
    queries, of = table.only(asked)
    place = np.full(len(table), -1, dtype=np.int64)
    place[there] = np.arange(len(there))
    both = np.flatnonzero(place[of] >= 0)
    if len(both) < len(table):
        unasked, left_out = len(there) - len(both), len(table) - len(there)
        notes += (Note("nothing-on-one-side", unasked=unasked, left_out=left_out, of=len(table)),)
    queries = queries.take(both)
    return Case(known, queries, Truth(place[of[both]], "cut"), (*notes, *several_each(known, queries)))


def several_each(known: Vectors, asked: Vectors) -> tuple[Note, ...]:
    """Note what a record is, where it may be more than one vector."""
    if known.several is None and asked.several is None:
        return ()
    vectors = [len(table) if table.several is None else len(table.several) for table in (known, asked)]
    return (Note("several-vectors", known=vectors[0], targets=len(known), asked=vectors[1], queries=len(asked)),)


def by_visit(case: Case) -> Case:
    """Return the case with each visit of the records to be named as a query of its own, of nobody's name.

    Several queries then have one target.
    """
    visits = case.queries.visits
    if visits is None:
        raise DataError("it is not known which events of the records to be named were one visit; name a time or column")
    queries = Bags(visits.counts, None, case.queries.vocabulary)
    truth = None if case.truth is None else Truth(case.truth.target[visits.owner], case.truth.origin)
    notes = (*case.notes, Note("several-each", queries=len(queries)))
    return replace(case, queries=queries, truth=truth, notes=notes, one_by_one=True)
