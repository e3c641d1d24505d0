"""Two tables of one population: the attacker holds both, and wants to know who is whom."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.base.errors import TruthError
from reidrisk.base.notes import Note
from reidrisk.base.streams import checked_seed
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.records import Bags, Case, Events, Traces, Truth, find_truth
from reidrisk.records.case import check_tables
from reidrisk.scenarios.base import Scenario
from reidrisk.scenarios.registry import register


@register(kinds=(Events, Bags, Traces), tables=2)
@dataclass(frozen=True, eq=False)
class TwoTables(Scenario):
    """The attacker holds two tables: records of ``a`` are known, those of ``b`` are to be named.

    Both are Traces, both Bags, or both Events, which become Bags over the items of either. ``truth`` is the row of
    ``a`` for each row of ``b``, -1 = not in it; default: equal user ids, or equal rows where neither table names its
    users and both have the same length. Where that tells nothing, the truth of the case is ``None``, and a note says
    why.

    >>> a = Bags([[2, 1], [0, 3]], users=["ann", "bob"])
    >>> b = Bags([[0, 1], [1, 1], [4, 0]], users=["bob", "eve", "ann"])
    >>> case = TwoTables(a, b).case()
    >>> case.truth.target.tolist(), case.notes[0].code
    ([1, -1, 0], 'in-one-table-only')
    """

    a: Any
    b: Any
    truth: Any = None

    def __post_init__(self) -> None:
        for table in (self.a, self.b):
            self._check_kind(table)

    def case(self, seed: int = 0) -> Case:
        """Return the two tables; nothing is drawn."""
        checked_seed(seed)
        targets, queries = _over_one(self.a, self.b)
        check_tables(targets, queries)
        notes = tuple(dict.fromkeys((*targets.notes, *queries.notes)))
        if self.truth is not None:
            known = find_truth(targets, queries, self.truth)
            strangers = int((known.target < 0).sum())
            if strangers:
                notes += (Note("without-pair", n=strangers, of=len(queries)),)
            return Case(targets, queries, known, notes)
        named = targets.users is not None
        if named != (queries.users is not None):
            find_truth(targets, queries)  # which refuses, and says what to do
        found: Truth | None = None
        with suppress(TruthError):
            found = find_truth(targets, queries)
        if found is None:
            notes += (Note("nobody-in-common") if named else Note("lengths-differ"),)
        elif not named:
            notes += (Note("rows-are-people"),)
        else:
            there = found.target[found.target >= 0]
            alone = len(targets) - len(np.unique(there)), len(queries) - len(there)
            if any(alone):
                notes += (Note("in-one-table-only", targets=alone[0], queries=alone[1]),)
        return Case(targets, queries, found, notes)


def _over_one(a: Any, b: Any) -> tuple[Any, Any]:
    """Make bags of events; two logs come over the items that occur in either."""
    logs = [table for table in (a, b) if isinstance(table, Events)]
    known, asked = (table.bags() if isinstance(table, Events) else table for table in (a, b))
    if len(logs) < 2 or a.vocabulary == b.vocabulary:
        return known, asked
    both = Vocabulary(sorted({label for log in logs for label in log.vocabulary.labels}))
    return known.over(both), asked.over(both)
