"""The attacker knows a few facts of a person, and looks for them in the whole table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from reidrisk.base import DataError, Floats, Ints, Note, OptionError, from_0_to_1, is_whole, one_of, whole
from reidrisk.base.options import option
from reidrisk.base.streams import blocks, checked_seed, stream
from reidrisk.records import Attributes, Bags, Case, Events, Traces, Truth
from reidrisk.records.events import Told
from reidrisk.records.thinning import drawn
from reidrisk.scenarios.base import Scenario
from reidrisk.scenarios.columns import known_columns, like, mistaken
from reidrisk.scenarios.registry import register

Which = Literal["random", "first", "rarest"]
"""Which facts are known: drawn at random, the first in time, or those that the fewest people share."""


class _Known(NamedTuple):
    """The whole table, what is known of people in it, and in which row of it each of these is."""

    targets: Any
    queries: Any
    rows: Ints


@register(kinds=(Events, Bags, Traces, Attributes))
@dataclass(frozen=True, eq=False)
class Knows(Scenario):
    """The attacker knows a few facts of a person, true or not, and looks for that person in the whole table.

    For each person, ``facts`` facts are drawn without replacement, or all where they have fewer: of Events one event
    each, counted once whatever its amount, and so the table counts them; of Bags one unit of a count each; of Traces
    one cell each, in its epoch, and the rest of the row is missing. Each fact is wrong with probability ``errors``: an
    event of anybody, or an item drawn by how often it occurs in the table, stands in its place. ``columns`` are the
    epochs of Traces that facts are drawn from; default: all.

    Of Events, ``told`` says how much of each drawn event the attacker knows: ``"what"`` it is; what and the ``"day"``
    (where times are plain numbers: the whole unit of time, so the day where they count days); or its whole ``"row"``,
    every cell of the export but the id, or item, time, amount and further columns where these are all there is. With
    one seed the same events are drawn at each of these steps, so that whoever is told more finds more, but for chance.
    Targets and queries are then Bags of such facts.

    Of Attributes, ``columns`` are names, and ``told`` is ``"row"`` where these are all, ``"what"`` where others may be
    known as well (one of several steps): the attacker knows all of them, each cell wrong with probability ``errors``
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
    ([2, 1, 2], [0, 1, 2])
    >>> case.notes[-1]
    Note('known-with-fewer', n=1, of=3, facts=2)
    """

    table: Any
    facts: int = 4
    errors: float = 0.0
    columns: Sequence[Any] | None = None
    which: Which = "random"
    draws: int = 1
    told: Told | None = None

    def __post_init__(self) -> None:
        self._check_kind(self.table)
        whole("facts", self.facts)
        from_0_to_1("errors", self.errors)
        whole("draws", self.draws)
        one_of("which", self.which, get_args(Which))
        if self.told is not None:
            one_of("told", self.told, get_args(Told))
        of_columns = isinstance(self.table, Attributes) and self.columns is not None and self.told != "day"
        if self.told not in (None, "what") and not isinstance(self.table, Events) and not of_columns:
            raise OptionError(
                f"told={self.told!r} is for Events; of {type(self.table).__name__}, facts are what they are"
            )
        if self.told == "day" and self.table.time is None:
            raise OptionError("these Events have no time, so there is no day to know; choose told='what' or 'row'")
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
        told = {"told": self._step} if self._step is not None else {}
        return Note("scenario-knows", **known, **({"columns": named} if named else {}), **told)

    @property
    def _step(self) -> Told | None:
        """How much is told: of each event of a log, or of the columns of people where that is one of several steps."""
        return "what" if self.told is None and isinstance(self.table, Events) else self.told

    def case(self, seed: int = 0) -> Case:
        """Return the whole table, a few facts of each person, and who is whom."""
        checked_seed(seed)
        if isinstance(self.table, Attributes) and self.columns is not None:
            return self._of_columns(seed)
        kinds = ((Events, self._of_events), (Bags, self._of_bags), (Traces, self._of_traces))
        held, (targets, queries, rows) = next(known(seed) for kind, known in kinds if isinstance(self.table, kind))
        values = {"facts": self.facts, "errors": float(self.errors), "which": self.which, "draws": self.draws}
        told = {"told": self._step} if self._step is not None else {}
        notes = (*self.table.notes, Note("knows-facts", **values, **told))
        none, fewer = int((held == 0).sum()), int(((held > 0) & (held < self.facts)).sum())
        if none:
            notes += (Note("too-few-facts", n=none, of=len(targets), facts=1),)
        if fewer:
            notes += (Note("known-with-fewer", n=fewer, of=len(targets), facts=self.facts),)
        parts = isinstance(targets, Bags) and self.which == "random" and self.errors == 0.0
        more = isinstance(targets, Bags) and self._step in ("day", "row")
        return Case(targets, queries, Truth(rows, "cut"), notes, one_by_one=True, of_parts=parts, compound=more)

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

    def _of_events(self, seed: int) -> tuple[Ints, _Known]:
        table: Events = self.table
        told = self.told or "what"
        code, n_codes = table.facts(told)
        user, n = table.user.astype(np.int64), table.n_users
        targets: Bags = table.counted().bags()
        if told != "what":
            targets = _bags(user, code, (n, n_codes), table.users).with_notes(table.notes).with_raw(table.raw)
        if told == "row":  # events alike but for further cells may come in any order: which are drawn must not
            code = _in_order(table, code)
        held = np.bincount(user, minlength=n)
        rows, sizes = self._asked(held)
        drawn_of = np.concatenate([self._events_drawn(held, rows, sizes, seed, draw) for draw in range(self.draws)])
        if self.errors > 0.0:
            rng = stream(seed, "knows: errors", 0)
            wrong = np.flatnonzero(rng.random(len(drawn_of)) < self.errors)
            drawn_of[wrong] = rng.integers(0, len(table), len(wrong))
        return held, self._asked_of(targets, code[drawn_of], rows, sizes)

    def _events_drawn(self, held: Ints, rows: Ints, sizes: Ints, seed: int, draw: int) -> Ints:
        """Return the places of the events that are known, ``sizes`` of these rows, one row after the other."""
        from scipy import sparse

        start = np.concatenate(([0], np.cumsum(held)))
        if self.which == "first":  # events of a user are in the order of their times
            return np.repeat(start[rows] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        rng = self._stream(seed, draw)
        if self.which == "rarest":
            item = self.table.item.astype(np.int64)
            order = np.lexsort((item, self.table.user))
            return np.asarray(order[_rarest(self.table.user[order], item[order], sizes, rows, rng)])
        ones = np.ones(len(self.table), dtype=np.int64)
        events = sparse.csr_array((ones, np.zeros(len(ones), dtype=np.int64), start), shape=(len(held), 1))
        wanted = np.zeros(len(held), dtype=np.int64)
        wanted[rows] = sizes
        return np.flatnonzero(drawn(events, wanted, rng))

    def _of_bags(self, seed: int) -> tuple[Ints, _Known]:
        counts = self.table.counts
        held = np.asarray(counts.sum(axis=1), dtype=np.int64).ravel()
        rows, sizes = self._asked(held)
        item = np.concatenate([self._items_drawn(counts, rows, sizes, seed, draw) for draw in range(self.draws)])
        item = self._mistaken(item, np.asarray(counts.sum(axis=0), dtype=np.float64).ravel(), seed, 0)
        return held, self._asked_of(self.table, item, rows, sizes)

    def _items_drawn(self, counts: Any, rows: Ints, sizes: Ints, seed: int, draw: int) -> Ints:
        """Return the items of the facts, ``sizes`` of these rows, one row after the other."""
        rng = self._stream(seed, draw)
        if self.which == "rarest":
            row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
            times = np.minimum(counts.data, self.facts)
            item = np.repeat(counts.indices, times)
            return np.asarray(item[_rarest(np.repeat(row, times), item, sizes, rows, rng)])
        wanted = np.zeros(counts.shape[0], dtype=np.int64)
        wanted[rows] = sizes
        return np.repeat(counts.indices, drawn(counts, wanted, rng))

    def _asked_of(self, targets: Bags, fact: Ints, rows: Ints, sizes: Ints) -> _Known:
        """Return the case of these facts, drawn once or several times of the people in these rows."""
        asked_of = np.tile(rows, self.draws)
        of = np.repeat(np.arange(len(asked_of)), np.tile(sizes, self.draws))
        users = self._named(targets, rows)
        asked = _bags(of, fact, (len(asked_of), targets.n_tokens), users, targets.vocabulary)
        return _Known(targets, asked, asked_of)

    def _stream(self, seed: int, draw: int) -> np.random.Generator:
        return stream(seed, "knows: facts", draw) if draw else stream(seed, "knows: facts")

    def _of_traces(self, seed: int) -> tuple[Ints, _Known]:
        table: Traces = self.table
        among = np.zeros(table.n_epochs, dtype=bool)
        among[slice(None) if self.columns is None else list(self.columns)] = True
        held = (table.observed & among).sum(axis=1)
        enough, _ = self._asked(held)
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
            there = np.isfinite(np.take_along_axis(keys, cells, axis=1))  # some have fewer
            heard = known
            if not isinstance(table, Attributes):
                heard = self._mistaken(known.ravel(), seen, seed, block).reshape(known.shape)
            np.put_along_axis(shown[start:stop], cells, np.where(there, heard, -1).astype(shown.dtype), axis=1)
            if isinstance(table, Attributes):
                shown[start:stop] = mistaken(table, shown[start:stop], self.errors, seed, block)
        if isinstance(table, Attributes):
            return held, _Known(table, like(table, shown, enough, self.draws), rows)
        asked = Traces(shown, table.n_tokens, self._named(table, enough), table.vocabulary)
        return held, _Known(table, asked, rows)

    def _named(self, table: Any, rows: Ints) -> Any:
        """Return whose facts they are, where each person is asked for once; ids of a table differ."""
        return table.take(rows).users if self.draws == 1 else None

    def _asked(self, held: Ints) -> tuple[Ints, Ints]:
        """Return the rows of those who have facts, and how many of each are known; refuse more than anybody has."""
        most = int(held.max(initial=0))
        if most < self.facts:
            raise DataError(
                f"nobody has {self.facts:,} facts, the most of anybody is {most:,}; ask for fewer ({option('facts')})"
            )
        rows = np.flatnonzero(held)
        return rows, np.minimum(held[rows], self.facts).astype(np.int64)

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


def _bags(row: Ints, fact: Ints, shape: tuple[int, int], users: Any, vocabulary: Any = None) -> Bags:
    from scipy import sparse

    ones = np.ones(len(fact), dtype=np.int64)
    return Bags(sparse.coo_array((ones, (row, fact)), shape=shape), users, vocabulary)


def _in_order(table: Events, code: Ints) -> Ints:
    """Return the codes of events, those alike in user, time, item and amount in the order of their codes."""
    parts: list[Any] = [table.user, table.item, table.amount, *([] if table.time is None else [table.time])]
    new = np.any([np.diff(part, prepend=part[:1]) != 0 for part in parts], axis=0)
    return np.asarray(code[np.lexsort((code, np.cumsum(new)))])


def _rarest(row: Ints, item: Ints, sizes: Ints, rows: Ints, rng: np.random.Generator) -> Ints:
    """Return the places of ``sizes`` facts of these rows: each item once, the rarest first, then what is there again.

    ``row`` and ``item`` of all facts rise together; an item is as rare as few rows hold it.
    """
    first = np.concatenate((np.ones(min(len(row), 1), dtype=bool), (np.diff(row) != 0) | (np.diff(item) != 0)))
    holders = np.bincount(item[first])
    begin = np.flatnonzero(first)
    again = np.arange(len(item)) - np.repeat(begin, np.diff(begin, append=len(item)))
    order = np.lexsort((rng.random(len(item)), holders[item], again, row))
    start = np.searchsorted(row, rows)
    return np.asarray(order[np.repeat(start - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())])


def _holders_by_epoch(table: Traces) -> Ints:
    """Return how many people show each token in each epoch, (n_epochs, n_tokens)."""
    shown = (column[column >= 0].astype(np.int64) for column in table.tokens.T)
    return np.stack([np.bincount(column, minlength=table.n_tokens) for column in shown])
