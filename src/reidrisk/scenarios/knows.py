"""The attacker knows a few facts of a person, and looks for them in the whole table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.notes import Note
from reidrisk.base.options import from_0_to_1, is_whole, whole
from reidrisk.base.streams import blocks, checked_seed, stream
from reidrisk.records import Bags, Case, Events, Traces, Truth
from reidrisk.records.thinning import drawn
from reidrisk.scenarios.base import Scenario
from reidrisk.scenarios.registry import register


@register(kinds=(Events, Bags, Traces))
@dataclass(frozen=True, eq=False)
class Knows(Scenario):
    """The attacker knows a few facts of a person, true or not, and looks for that person in the whole table.

    For each person with at least ``facts`` facts, that many are drawn without replacement: of Events one event each,
    counted once whatever its amount; of Bags one unit of a count each; of Traces one cell each, in its epoch, and the
    rest of the row is missing. Each fact is wrong with probability ``errors``: an item drawn by how often it occurs in
    the table stands in its place. ``columns`` are the epochs of Traces that facts are drawn from; default: all.

    Targets are the whole table, in which the true facts still are.

    >>> plays = Bags([[3, 0, 2], [0, 1, 0], [2, 2, 0]], users=["ann", "bob", "eve"])
    >>> case = Knows(plays, facts=2).case()
    >>> case.queries.counts.sum(axis=1).tolist(), case.truth.target.tolist()
    ([2, 2], [0, 2])
    >>> case.notes[-1]
    Note('too-few-facts', n=1, of=3, facts=2)
    """

    table: Any
    facts: int = 4
    errors: float = 0.0
    columns: Sequence[int] | None = None

    def __post_init__(self) -> None:
        self._check_kind(self.table)
        whole("facts", self.facts)
        from_0_to_1("errors", self.errors)
        if self.columns is None:
            return
        if not isinstance(self.table, Traces):
            raise OptionError(f"columns are epochs of Traces, which {type(self.table).__name__} have not; leave it out")
        r = self.table.n_epochs
        wrong = [one for one in self.columns if not is_whole(one) or not 0 <= one < r]
        if wrong or not len(self.columns) or len(set(self.columns)) < len(self.columns):
            raise OptionError(f"columns are different epochs from 0 to {r - 1}, not {list(self.columns)!r}")

    def case(self, seed: int = 0) -> Case:
        """Return the whole table, a few facts of each person, and who is whom."""
        checked_seed(seed)
        known = self._of_traces if isinstance(self.table, Traces) else self._of_items
        targets, queries, rows = known(seed)
        notes = (*self.table.notes, Note("knows-facts", facts=self.facts, errors=float(self.errors)))
        if len(rows) < len(targets):
            notes += (Note("too-few-facts", n=len(targets) - len(rows), of=len(targets), facts=self.facts),)
        return Case(targets, queries, Truth(rows, "cut"), notes)

    def _of_items(self, seed: int) -> tuple[Bags, Bags, Ints]:
        from scipy import sparse

        targets = self.table.bags() if isinstance(self.table, Events) else self.table
        held = targets.counts
        if isinstance(self.table, Events):
            starts = np.searchsorted(self.table.user, np.arange(len(targets) + 1))
            ones = np.ones(len(self.table), dtype=np.int64)
            held = sparse.csr_array((ones, self.table.item, starts), shape=targets.counts.shape)
        rows = self._enough(np.asarray(held.sum(axis=1), dtype=np.int64).ravel())
        wanted = np.zeros(len(targets), dtype=np.int64)
        wanted[rows] = self.facts
        item = np.repeat(held.indices, drawn(held, wanted, stream(seed, "knows: facts")))
        item = self._mistaken(item, np.asarray(targets.counts.sum(axis=0), dtype=np.float64).ravel(), seed, 0)
        of = np.repeat(np.arange(len(rows)), self.facts)
        asked = sparse.coo_array((np.ones(len(item), dtype=np.int64), (of, item)), shape=(len(rows), targets.n_tokens))
        return targets, Bags(asked, targets.take(rows).users, targets.vocabulary), rows

    def _of_traces(self, seed: int) -> tuple[Traces, Traces, Ints]:
        table: Traces = self.table
        among = np.zeros(table.n_epochs, dtype=bool)
        among[slice(None) if self.columns is None else list(self.columns)] = True
        rows = self._enough((table.observed & among).sum(axis=1))
        shown = np.full((len(rows), table.n_epochs), -1, dtype=table.tokens.dtype)
        seen = np.bincount(table.tokens[table.observed].astype(np.int64), minlength=table.n_tokens).astype(np.float64)
        for block, start, stop in blocks(len(rows)):
            tokens = table.tokens[rows[start:stop]]
            keys = stream(seed, "knows: cells", block).random(tokens.shape)
            keys[~((tokens >= 0) & among)] = np.inf
            cells = np.argpartition(keys, self.facts - 1, axis=1)[:, : self.facts]
            known = np.take_along_axis(tokens, cells, axis=1)
            told = self._mistaken(known.ravel(), seen, seed, block).reshape(known.shape)
            np.put_along_axis(shown[start:stop], cells, told.astype(shown.dtype), axis=1)
        return table, Traces(shown, table.n_tokens, table.take(rows).users, table.vocabulary), rows

    def _enough(self, facts: Ints) -> Ints:
        """Return the rows of those with enough facts, or refuse where nobody has."""
        rows = np.flatnonzero(facts >= self.facts)
        if not rows.size:
            most = int(facts.max(initial=0))
            raise DataError(f"nobody has {self.facts:,} facts, the most of anybody is {most:,}; ask for fewer (facts=)")
        return rows

    def _mistaken(self, item: Any, seen: Floats, seed: int, block: int) -> Any:
        """Put items drawn by how often they are seen in the place of a share of the facts."""
        if self.errors == 0.0:
            return item
        rng = stream(seed, "knows: errors", block)
        wrong = np.flatnonzero(rng.random(len(item)) < self.errors)
        others = np.searchsorted(np.cumsum(seen), rng.random(len(wrong)) * seen.sum(), side="right")
        item = item.copy()
        item[wrong] = np.minimum(others, np.flatnonzero(seen)[-1])
        return item
