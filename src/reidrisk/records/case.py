"""Case: the records that an attacker knows, those to identify, who is whom, and what was done on the way."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base import DataError, Note, TruthError
from reidrisk.records.raw import RawTable
from reidrisk.records.truth import Truth, find_truth


@dataclass(frozen=True, eq=False)
class Case:
    """One attack to be tried: ``targets`` and ``queries``, two tables of one kind over one vocabulary.

    ``truth`` is the target row of each query, -1 where its person is not among the targets; several queries may have
    one target. ``None``: who is whom is not known. ``notes`` say what was done, and dropped, on the way. The attacker
    holds all queries, and may weigh them against each other; where each is met by itself, as facts are that somebody
    knows of one person, the case is ``one_by_one``. Parts of a record that were ``cut_to_size``, each a share of it,
    agree in size because they were cut so: then sizes say nothing. Queries ``of_parts`` are known to be true parts of
    their targets, drawn at random: how the two are related need not be learnt. Tokens are ``compound`` where they are
    items with more of each event, such as its day: then no change of items alone can be made of them.

    >>> import numpy as np
    >>> from reidrisk import Bags
    >>> case = Case(Bags([[2, 0], [1, 1]]), Bags([[0, 1]]), Truth(np.array([1]), "given"))
    >>> case
    Case(2 targets, 1 query of Bags, truth given)
    >>> targets, queries, truth = case
    >>> truth.target.tolist()
    [1]
    """

    targets: Any
    queries: Any
    truth: Truth | None
    notes: tuple[Note, ...] = ()
    one_by_one: bool = False
    cut_to_size: bool = False
    of_parts: bool = False
    compound: bool = False

    def __post_init__(self) -> None:
        check_tables(self.targets, self.queries)
        if self.truth is not None and not isinstance(self.truth, Truth):
            raise TruthError(f"the truth of a case is a Truth or None, not a {type(self.truth).__name__}")
        if self.truth is not None:
            object.__setattr__(self, "truth", find_truth(self.targets, self.queries, self.truth))

    def suits(self, attack: Any) -> bool:
        """Whether an attack has anything to go by here.

        Not one made for sizes, where parts were cut to size; nor one by order, where it decided who is whom. Of known
        parts, not one that learns how they come about.
        """
        ordered = attack.by_order and (self.truth is None or self.truth.origin not in attack.by_order)
        parts = ("also", "only") if self.of_parts else ("no", "also")
        return not (self.cut_to_size and attack.by_size) and not ordered and attack.of_parts in parts

    def met_by(self, attack: Any) -> Any:
        """Return the attack as it meets this case: with all queries, or one by one; with sizes as evidence, or not."""
        attack = attack.one_by_one() if self.one_by_one else attack
        return attack.given_sizes() if self.cut_to_size else attack

    @property
    def known_truth(self) -> Truth:
        """Who is whom, for what cannot be done without; refused in one line where it is not known.

        >>> from reidrisk import Bags
        >>> Case(Bags([[1]]), Bags([[1]]), None).known_truth
        Traceback (most recent call last):
        reidrisk.base.errors.TruthError: who is whom is not known in this case; give the true pairs
        """
        if self.truth is None:
            raise TruthError("who is whom is not known in this case; give the true pairs")
        return self.truth

    @property
    def raw(self) -> tuple[RawTable, RawTable] | None:
        """Every cell of the files that targets and queries were read from, where both are known."""
        known, asked = self.targets.raw, self.queries.raw
        return None if known is None or asked is None else (known, asked)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.targets, self.queries, self.truth))

    def __repr__(self) -> str:
        queries = f"{len(self.queries):,} {'query' if len(self.queries) == 1 else 'queries'}"
        known = "unknown" if self.truth is None else self.truth.origin
        return f"Case({len(self.targets):,} targets, {queries} of {type(self.targets).__name__}, truth {known})"


class Counterparts(NamedTuple):
    """Who each query is, if that is known; how many people of each table are not in the other; and what to note."""

    truth: Truth | None
    alone: tuple[int, int]
    notes: tuple[Note, ...]


def matched(targets: Any, queries: Any, given: Truth | None = None) -> Counterparts:
    """Find who is in both of two tables: by given pairs, or else by equal ids or rows, as far as these tell.

    >>> from reidrisk import Bags
    >>> found = matched(Bags([[1], [2]], users=["ann", "bob"]), Bags([[1]], users=["eve"]))
    >>> found.truth, found.alone, found.notes[0].code
    (None, (2, 1), 'nobody-in-common')
    """
    known = given
    if known is None:
        with suppress(TruthError):
            known = find_truth(targets, queries)
    there = np.zeros(0, dtype=np.int64) if known is None else known.target[known.target >= 0]
    alone = len(targets) - len(np.unique(there)), len(queries) - len(there)
    notes: list[Note] = []
    if known is None:
        notes.append(Note("nobody-in-common") if targets.users is not None else Note("lengths-differ"))
    elif given is not None:
        notes += [Note("without-pair", n=alone[1], of=len(queries))] * bool(alone[1])
    elif targets.users is None:
        notes.append(Note("rows-are-people"))
    elif any(alone):
        notes.append(Note("in-one-table-only", targets=alone[0], queries=alone[1]))
    return Counterparts(known, alone, tuple(notes))


def check_tables(targets: Any, queries: Any) -> None:
    """Refuse two tables that cannot be compared: of two kinds, or over two vocabularies."""
    kinds = [type(table).__name__ for table in (targets, queries)]
    for table, kind in zip((targets, queries), kinds, strict=True):
        if not hasattr(table, "users"):
            raise DataError(f"a case compares records such as Traces or Bags, not {kind}")
    if kinds[0] != kinds[1]:
        raise DataError(f"targets are {kinds[0]} and queries are {kinds[1]}; bring both into one form")
    if not hasattr(targets, "n_tokens"):  # records of real numbers
        return
    if targets.n_tokens != queries.n_tokens:
        sizes = f"targets have {targets.n_tokens:,} tokens in their vocabulary, queries {queries.n_tokens:,}"
        raise DataError(f"{sizes}; read both over one")
    if targets.vocabulary and queries.vocabulary and targets.vocabulary != queries.vocabulary:
        raise DataError("targets and queries have different vocabularies; read both over one")
