"""The attacker knows a few facts of a person, and looks for them in the whole table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from reidrisk.base import DataError, Floats, Ints, Note, OptionError, from_0_to_1, is_whole, one_of, whole
from reidrisk.base.streams import blocks, checked_seed, stream
from reidrisk.records import Attributes, Bags, Case, Events, Traces, Truth
from reidrisk.records.thinning import drawn
from reidrisk.scenarios.base import Scenario
from reidrisk.scenarios.columns import known_columns, like, mistaken
from reidrisk.scenarios.registry import register

Which = Literal["random", "first", "rarest"]
"""Which facts are known: drawn at random, the first in time, or those that the fewest people share."""


@register(kinds=(Events, Bags, Traces, Attributes))
@dataclass(frozen=True, eq=False)
class Knows(Scenario):
    """The attacker knows a few facts of a person, true or not, and looks for that person in the whole table.

    For each person with at least ``facts`` facts, that many are drawn without replacement: of Events one event each,
    counted once whatever its amount, and so the table counts them; of Bags one unit of a count each; of Traces one
    cell each, in its epoch, and the rest of the row is missing. Each fact is wrong with probability ``errors``: an
    item drawn by how often it occurs in the table stands in its place. ``columns`` are the epochs of Traces that facts
    are drawn from; default: all.

    Of Attributes, ``columns`` are names: the attacker knows all of them, each cell wrong with probability ``errors``
    (that of somebody else in the table), and looks the person up in these columns; ``facts`` is of no use then.
    People with none of them are not looked for. Without ``columns``, facts are cells.

    ``which`` facts are known: ``"random"`` ones; the ``"first"`` in time, for Events with a time and for Traces; or the
    ``"rarest"``, whose items the fewest people hold (Traces: hold in that epoch), different items first and equals in
    random order. Facts are drawn ``draws`` times for each person, who then has that many queries.

    Targets are the whole table, in which the true facts still are. Whoever knows facts of one person does not hold
    those of the others: queries are met one by one.

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
    columns: Sequence[Any] | None = None
    which: Which = "random"
    draws: int = 1

    def __post_init__(self) -> None:
        self._check_kind(self.table)
        whole("facts", self.facts)
        from_0_to_1("errors", self.errors)
        whole("draws", self.draws)
        one_of("which", self.which, get_args(Which))
        if self.which == "first" and (
            isinstance(self.table, Bags | Attributes) or getattr(self.table, "time", 0) is None
        ):
            kind = type(self.table).__name__
            raise OptionError(f"these {kind} have no time, so no fact is the first; choose random or rarest facts")
        if self.draws > 1 and self.which != "random":
            raise OptionError(f"{self.draws} draws of the {self.which} facts would be alike; draw them once, or random")
        if self.columns is None:
            return
        if isinstance(self.table, Attributes):
            self.table.places(self.columns)  # which refuses names that are not there
            if self.which != "random":
                raise OptionError(f"all of the columns are known, not the {self.which}; leave columns or which out")
            return
        if not isinstance(self.table, Traces):
            raise OptionError(f"columns are epochs of Traces, which {type(self.table).__name__} have not; leave it out")
        r = self.table.n_epochs
        wrong = [one for one in self.columns if not is_whole(one) or not 0 <= one < r]
        if wrong or not len(self.columns) or len(set(self.columns)) < len(self.columns):
            raise OptionError(f"columns are different epochs from 0 to {r - 1}, not {list(self.columns)!r}")

    @property
    def question(self) -> Note:
        """Whether somebody who knows these facts finds the person."""
        named = [name for name in self.columns or () if isinstance(name, str)]
        known = {"facts": len(named) if named else self.facts, "errors": float(self.errors), "which": self.which}
        return Note("scenario-knows", **known, **({"columns": named} if named else {}))

    def case(self, seed: int = 0) -> Case:
        """Return the whole table, a few facts of each person, and who is whom."""
        checked_seed(seed)
        if isinstance(self.table, Attributes) and self.columns is not None:
            return self._of_columns(seed)
        known = self._of_traces if isinstance(self.table, Traces) else self._of_items
        targets, queries, rows = known(seed)
        values = {"facts": self.facts, "errors": float(self.errors), "which": self.which, "draws": self.draws}
        notes = (*self.table.notes, Note("knows-facts", **values))
        asked = len(rows) // self.draws
        if asked < len(targets):
            notes += (Note("too-few-facts", n=len(targets) - asked, of=len(targets), facts=self.facts),)
        return Case(targets, queries, Truth(rows, "cut"), notes, one_by_one=True)

    def _of_columns(self, seed: int) -> Case:
        names = [str(name) for name in self.columns or ()]
        targets, queries, rows = known_columns(self.table, names, self.errors, self.draws, seed)
        sizes = targets.class_sizes()
        counted = {"n": len(sizes), "k": int(sizes.min()), "classes": int(np.rint((1.0 / sizes).sum()))}
        notes = (
            *self.table.notes,
            Note("knows-columns", columns=names, errors=float(self.errors)),
            Note("equivalence-classes", **counted, alone=int((sizes == 1).sum())),
        )
        left = len(targets) - len(rows) // self.draws
        if left:
            notes += (Note("too-few-facts", n=left, of=len(targets), facts=1),)
        return Case(targets, queries, Truth(rows, "cut"), notes, one_by_one=True)

    def _of_items(self, seed: int) -> tuple[Bags, Bags, Ints]:
        from scipy import sparse

        targets = self.table.counted().bags() if isinstance(self.table, Events) else self.table
        held = targets.counts
        if isinstance(self.table, Events):  # one by one, in the order of their times
            starts = np.searchsorted(self.table.user, np.arange(len(targets) + 1))
            ones = np.ones(len(self.table), dtype=np.int64)
            held = sparse.csr_array((ones, self.table.item, starts), shape=targets.counts.shape)
        rows = self._enough(np.asarray(held.sum(axis=1), dtype=np.int64).ravel())
        item = np.concatenate([self._drawn_items(held, rows, seed, draw) for draw in range(self.draws)])
        item = self._mistaken(item, np.asarray(targets.counts.sum(axis=0), dtype=np.float64).ravel(), seed, 0)
        asked_of = np.tile(rows, self.draws)
        of = np.repeat(np.arange(len(asked_of)), self.facts)
        ones, shape = np.ones(len(item), dtype=np.int64), (len(asked_of), targets.n_tokens)
        asked = sparse.coo_array((ones, (of, item)), shape=shape)
        return targets, Bags(asked, self._named(targets, rows), targets.vocabulary), asked_of

    def _drawn_items(self, held: Any, rows: Ints, seed: int, draw: int) -> Ints:
        """Return the items of the facts, ``facts`` of each of these rows, one row after the other."""
        if self.which == "first":  # events of a user are in the order of their times
            return np.asarray(held.indices[(held.indptr[rows][:, None] + np.arange(self.facts)).ravel()])
        rng = stream(seed, "knows: facts", draw) if draw else stream(seed, "knows: facts")
        if self.which == "rarest":
            return _rarest(held, rows, self.facts, rng)
        wanted = np.zeros(held.shape[0], dtype=np.int64)
        wanted[rows] = self.facts
        return np.repeat(held.indices, drawn(held, wanted, rng))

    def _of_traces(self, seed: int) -> tuple[Traces, Traces, Ints]:
        table: Traces = self.table
        among = np.zeros(table.n_epochs, dtype=bool)
        among[slice(None) if self.columns is None else list(self.columns)] = True
        enough = self._enough((table.observed & among).sum(axis=1))
        rows = np.tile(enough, self.draws)
        shown = np.full((len(rows), table.n_epochs), -1, dtype=table.tokens.dtype)
        seen = np.bincount(table.tokens[table.observed].astype(np.int64), minlength=table.n_tokens).astype(np.float64)
        holders = _holders_by_epoch(table) if self.which == "rarest" else np.zeros((0, 0), dtype=np.int64)
        for block, start, stop in blocks(len(rows)):
            tokens = table.tokens[rows[start:stop]]
            keys = stream(seed, "knows: cells", block).random(tokens.shape)
            if self.which == "first":
                keys = np.tile(np.arange(table.n_epochs, dtype=np.float64), (len(tokens), 1))
            elif self.which == "rarest":
                keys += holders[np.arange(table.n_epochs), tokens]
            keys[~((tokens >= 0) & among)] = np.inf
            cells = np.argpartition(keys, self.facts - 1, axis=1)[:, : self.facts]
            known = np.take_along_axis(tokens, cells, axis=1)
            told = known
            if not isinstance(table, Attributes):
                told = self._mistaken(known.ravel(), seen, seed, block).reshape(known.shape)
            np.put_along_axis(shown[start:stop], cells, told.astype(shown.dtype), axis=1)
            if isinstance(table, Attributes):
                shown[start:stop] = mistaken(table, shown[start:stop], self.errors, seed, block)
        if isinstance(table, Attributes):
            return table, like(table, shown, enough, self.draws), rows
        return table, Traces(shown, table.n_tokens, self._named(table, enough), table.vocabulary), rows

    def _named(self, table: Any, rows: Ints) -> Any:
        """Return whose facts they are, where each person is asked for once; ids of a table differ."""
        return table.take(rows).users if self.draws == 1 else None

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


def _rarest(held: Any, rows: Ints, facts: int, rng: np.random.Generator) -> Ints:
    """Return the items of each row that the fewest people hold: each once, then those held twice again, and so on."""
    from scipy import sparse

    counts = sparse.csr_array(held[rows], copy=True)
    counts.sum_duplicates()
    every = sparse.csr_array(held, copy=True)
    every.sum_duplicates()
    holders = np.bincount(every.indices, minlength=held.shape[1])
    times = np.minimum(counts.data, facts)
    row = np.repeat(np.repeat(np.arange(len(rows)), np.diff(counts.indptr)), times)
    item = np.repeat(counts.indices, times)
    again = np.arange(len(item)) - np.repeat(np.cumsum(times) - times, times)
    order = np.lexsort((rng.random(len(item)), holders[item], again, row))
    first = np.searchsorted(row, np.arange(len(rows)))
    return np.asarray(item[order[(first[:, None] + np.arange(facts)).ravel()]])


def _holders_by_epoch(table: Traces) -> Ints:
    """Return how many people show each token in each epoch, (n_epochs, n_tokens)."""
    shown = (column[column >= 0].astype(np.int64) for column in table.tokens.T)
    return np.stack([np.bincount(column, minlength=table.n_tokens) for column in shown])
