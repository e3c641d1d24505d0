"""Events: a raw log of who did what, when and how often, before it takes the form that attacks compare."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, get_args

import numpy as np

from reidrisk.base import Array, Bools, DataError, Floats, Ints, Note, OptionError, UserIds, as_users, sizes
from reidrisk.base.arrays import frozen
from reidrisk.base.frames import Codes
from reidrisk.base.options import one_of
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.records.bags import Bags
from reidrisk.records.calendar import Every, Pick, days_by_hour, periods, picked
from reidrisk.records.log import OrderedLog, Summary, numbered, read_log
from reidrisk.records.raw import RawTable
from reidrisk.records.registry import register
from reidrisk.records.timeline import Timeline
from reidrisk.records.traces import Traces
from reidrisk.records.visits import first_of_visits, grouped, usual_visits

Told = Literal["what", "day", "row"]
"""How much of an event somebody knows: its item; its item and day; everything in its row."""


@register("one row per event", layouts=("log",))
class Events:
    """A raw log of people: one row per event, in any order.

    ``frame`` is a frame of polars, pandas or pyarrow, or a mapping of arrays. ``user`` names its column of ids, numbers
    or text; ``items`` the column of what was done, or several that together are one item; ``time`` one of numbers,
    dates or datetimes (text must be read first); ``amount`` one of whole numbers from 0 on; ``keep`` further columns to
    split by. Rows without user, item, time or amount, or of amount 0, are left out and counted. Where an item is made
    of several columns, one of them may be empty. ``row`` names a column of places in ``raw``, the columns of the whole
    file as Arrow arrays: events keep every cell of their row with them.

    Events are kept in an order of their own (user, time, item, amount), so the order of rows does not matter.

    >>> log = {"who": ["ann", "bob", "ann", None], "what": ["tea", "tea", "rum", "tea"], "n": [2, 1, 1, 5]}
    >>> events = Events(log, user="who", items="what", amount="n")
    >>> events
    Events(3 events of 2 users, 2 items)
    >>> events.summary().dropped["user"], events.vocabulary.labels
    (1, ('rum', 'tea'))
    >>> events.bags().counts.toarray().tolist()
    [[1, 2], [0, 1]]
    """

    __slots__ = ("_facts", "_log")
    _log: OrderedLog
    _facts: dict[Told, tuple[Ints, int]]

    def __init__(
        self,
        frame: Any,
        *,
        user: str,
        items: str | Sequence[str],
        time: str | None = None,
        amount: str | None = None,
        keep: str | Sequence[str] = (),
        row: str | None = None,
        raw: Mapping[str, Any] | None = None,
    ) -> None:
        if (row is None) != (raw is None):
            raise OptionError("row= names the column that says where in raw= an event stands; give both or neither")
        self._log, self._facts = read_log(frame, user, items, time, amount, keep, row)._replace(raw=raw), {}

    def _with(self, log: OrderedLog) -> Self:
        """Return the events of another log."""
        new = object.__new__(type(self))
        new._log, new._facts = log, {}
        return new

    @property
    def users(self) -> UserIds:
        """Ids of the users in their order: ``int64`` array or Arrow strings."""
        return self._log.users

    @property
    def vocabulary(self) -> Vocabulary:
        """Labels of the items."""
        return self._log.vocabulary

    @property
    def user(self) -> Codes:
        """Whose event it is: a row of ``users``, rising."""
        return self._log.table["user"]

    @property
    def item(self) -> Codes:
        """What it is: a token of ``vocabulary``."""
        return self._log.table["item"]

    @property
    def time(self) -> Floats | None:
        """When: a number, or seconds since 1970 where the log has dates."""
        return self._log.table.get("time")

    @property
    def amount(self) -> Ints:
        """How much: 1 where the log does not say."""
        found = self._log.table.get("amount")
        return np.ones(len(self), dtype=np.int64) if found is None else found

    @property
    def is_calendar(self) -> bool:
        """Whether the log has dates, not plain numbers."""
        return self._log.is_calendar

    def kept(self, column: str) -> tuple[Codes, tuple[str, ...]]:
        """Return a further column: the place of each event's value among the values, -1 = none; and these."""
        if column not in self._log.kept:
            raise OptionError(f"the events were made without the column {column!r}; name it in Events(..., keep=[...])")
        return self._log.kept[column]

    @property
    def columns(self) -> tuple[str, ...]:
        """The further columns."""
        return tuple(self._log.kept)

    @property
    def raw(self) -> RawTable | None:
        """Every cell of the rows of these events, by user; ``None`` where the log does not keep them."""
        if self._log.raw is None:
            return None
        start = np.searchsorted(self.user, np.arange(self.n_users + 1)).astype(np.int64)
        return RawTable(self._log.raw, self._log.table["row"], start)

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.users)

    @property
    def n_tokens(self) -> int:
        """Number of different items."""
        return len(self.vocabulary)

    def __len__(self) -> int:
        return len(self.user)

    def facts(self, told: Told) -> tuple[Ints, int]:
        """Return what somebody is told of each event, as a code that equal facts share, and how many there are.

        ``"what"``: its item. ``"day"``: its item and its day, or its whole unit of time where times are plain numbers.
        ``"row"``: every cell of its row where the log keeps these (:attr:`raw`), else its item, time, amount and
        further columns.

        >>> log = {"who": [1, 1, 2], "what": ["tea", "tea", "rum"], "day": [0.2, 0.7, 0.7]}
        >>> events = Events(log, user="who", items="what", time="day")
        >>> [events.facts(told) for told in ("day", "row")]
        [(array([1, 1, 0]), 2), (array([1, 2, 0]), 3)]
        """
        if told not in self._facts:
            self._facts[told] = self._numbered(told)
        return self._facts[told]

    def _numbered(self, told: Told) -> tuple[Ints, int]:
        if told == "what":
            return self.item.astype(np.int64), self.n_tokens
        if told == "day":
            if self.time is None:
                raise DataError("these events have no time, so there is no day to know; name its column")
            return numbered([self.item, periods(self.time, self.is_calendar, "day" if self.is_calendar else 1.0)])
        raw = self.raw
        if raw is not None and raw.names:
            return numbered([raw.column(name) for name in raw.names])
        columns = [self.item, *([] if self.time is None else [self.time]), self.amount]
        return numbered([*columns, *(self.kept(name)[0] for name in self.columns)])

    def take(self, rows: Ints | Bools | slice) -> Self:
        """Return the chosen events, of the same users and over the same vocabulary: some may have none left."""
        return self._with(self._log.take(rows))

    def with_users(self, users: Any) -> Self:
        """Return the same events of users with other ids, in the same order."""
        return self._with(self._log._replace(users=as_users(users, self.n_users)))

    def over(self, vocabulary: Vocabulary) -> Self:
        """Return the same events over a vocabulary that holds all labels of this one, and perhaps more."""
        if vocabulary == self.vocabulary:
            return self
        return self.merged(vocabulary.encode(self.vocabulary.labels), vocabulary)

    def merged(self, into: Ints, vocabulary: Vocabulary) -> Self:
        """Return the same events over another vocabulary: item i becomes item ``into[i]``, and several may become one.

        >>> log = Events({"who": [1, 1], "what": ["tea", "rum"]}, user="who", items="what")
        >>> log.merged(np.array([0, 0]), Vocabulary(["drink"])).bags().counts.toarray().tolist()
        [[2]]
        """
        tokens = np.asarray(into).astype(np.int32)
        rising = bool((np.diff(tokens) > 0).all())
        return self._with(self._log.with_items(tokens[self.item], vocabulary, in_order=rising))

    def beside(self, column: str) -> Self:
        """Return each event twice: its item, and beside it the item with what a further column says of the event.

        >>> log = Events({"who": [1], "film": ["Up"], "stars": [5]}, user="who", items="film", keep="stars")
        >>> log.beside("stars").vocabulary.labels
        ('Up', 'Up=5')
        """
        codes, values = self.kept(column)
        some = np.flatnonzero(codes >= 0)
        pairs, place = np.unique(self.item[some].astype(np.int64) * len(values) + codes[some], return_inverse=True)
        labels = self.vocabulary.labels
        more = [f"{labels[pair // len(values)]}={values[pair % len(values)]}" for pair in pairs.tolist()]
        twice = self._log.take(np.concatenate([np.arange(len(self)), some]))
        item = np.concatenate([self.item, (len(labels) + place).astype(np.int32)])
        return self._with(twice.with_items(item, Vocabulary([*labels, *more])))

    @property
    def has_amounts(self) -> bool:
        """Whether some event counts more than once."""
        return bool((self.amount > 1).any())

    def counted(self) -> Self:
        """Return the same events without their amounts: each counts once.

        >>> log = {"who": [1, 1], "what": ["tea", "tea"], "n": [5, 2]}
        >>> Events(log, user="who", items="what", amount="n").counted().bags().counts.toarray().tolist()
        [[2]]
        """
        table = {name: values for name, values in self._log.table.items() if name != "amount"}
        return self._with(self._log._replace(table=table))

    def moved(self, by: float) -> Self:
        """Return the same events with all times later by so much: units, or seconds where the log has dates.

        >>> log = Events({"who": [1], "what": ["tea"], "day": [3.0]}, user="who", items="what", time="day")
        >>> log.moved(-1.0).time.tolist()
        [2.0]
        """
        if self.time is None:
            raise DataError("these events have no time that could be moved; name its column")
        return self._with(self._log._replace(table={**self._log.table, "time": frozen(self.time + by)}))

    def summary(self) -> Summary:
        """Count what the log holds, and what was left out of it and why."""
        return self._log.summary()

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was left out of the frame, where anything was."""
        lost = {name: n for name, n in self._log.dropped.items() if n}
        return (Note("rows-dropped", of=self._log.rows, dropped=sum(lost.values()), **lost),) if lost else ()

    def bags(self, visit: Every | None = None) -> Bags:
        """Return how often each user has each item: the sum of the amounts. It keeps the moments, and hours of dates.

        The bags know which events were one ``visit``: those of one ``"day"``, ``"week"``, ``"month"``, or number of
        units of time, or with one value in a column that was kept. Default: those of one moment, or, where nearly every
        event has a moment of its own, of one day; none where there is no time.

        >>> log = {"who": [1, 1, 1], "what": ["tea", "rum", "tea"], "day": [0, 0, 3]}
        >>> Events(log, user="who", items="what", time="day").bags().visits.counts.toarray().tolist()
        [[1, 1], [0, 1]]
        """
        from scipy import sparse

        entries = (self.amount, (self.user, self.item))
        counts = sparse.coo_array(entries, shape=(self.n_users, self.n_tokens)).tocsr()
        made = Bags(counts, self.users, self.vocabulary).with_notes(self.notes).with_raw(self.raw)
        label = usual_visits(self.user, self.time, self.is_calendar) if visit is None else self._visits(visit)
        number = None
        if label is not None:
            order = np.lexsort((label, self.user))
            what = (self.amount[order], self.item[order])
            made = made.with_visits(grouped(self.user[order], label[order], what, counts.shape))
            number = np.empty(len(order), dtype=np.int64)
            number[order] = np.cumsum(first_of_visits(self.user[order], label[order])) - 1
        if self.time is None:
            return made
        start = np.searchsorted(self.user, np.arange(self.n_users + 1)).astype(np.int64)
        if number is not None and made.visits is not None:
            number -= made.visits.start[self.user]
        made = made.with_timeline(Timeline(start, self.item, self.time, self.is_calendar, number))
        if not self.is_calendar:
            return made
        return made.with_clock(days_by_hour(self.user, self.item, self.time, counts.shape))

    def _visits(self, visit: Every) -> Array:
        """Return a label of each event's visit."""
        if isinstance(visit, str) and (visit in self._log.kept or visit not in ("day", "week", "month")):
            codes = self.kept(visit)[0].astype(np.int64)
            return np.where(codes < 0, -1 - np.arange(len(codes)), codes)  # without a value: a visit of its own
        if self.time is None:
            raise DataError(f"these events have no time, so there are no visits of {visit!r}; name its column")
        return periods(self.time, self.is_calendar, visit)

    def traces(self, every: Every, pick: Pick = "first", span: tuple[int, int] | None = None) -> Traces:
        """Return one item per user and period: its ``"first"``, its ``"last"``, or the one it holds ``"most"`` of.

        ``every`` is ``"day"``, ``"week"``, ``"month"``, or a number of units of time (days, where the log has dates).
        Periods run from the first to the last with an event in it, or over those of the ``span`` (first, last), as
        :meth:`span` counts them, which must hold all events; -1 = no event. What share of the events this form
        leaves out is among the ``notes`` of the traces. Of equals, and of several events of one moment, the item with
        the lowest token counts as the first, the one with the highest as the last.

        >>> log = {"who": [1, 1, 1, 2], "what": ["tea", "rum", "rum", "tea"], "day": [0.0, 1.0, 6.0, 8.0]}
        >>> traces = Events(log, user="who", items="what", time="day").traces(every=7, pick="most")
        >>> traces.tokens.tolist(), traces.vocabulary.decode([0, 1])
        ([[0, -1], [-1, 1]], ['rum', 'tea'])
        >>> traces.notes[0]["share"]
        0.5
        """
        period = self._periods(every)
        one_of("pick", pick, get_args(Pick))
        first, last = (int(period.min()), int(period.max())) if span is None else span
        period = period - first
        n_periods = last - first + 1
        if period.min() < 0 or period.max() >= n_periods:
            raise OptionError(f"events lie outside the periods {first} to {last}; give a span that holds them all")
        sizes.CELLS.check(self.n_users * n_periods, f"one {every!r} of each user", "take longer periods")
        cell = self.user * np.int64(n_periods) + period
        rows = picked(cell, self.item, self.amount, pick)
        tokens = np.full(self.n_users * n_periods, -1, dtype=np.int16 if self.n_tokens < 2**15 else np.int32)
        tokens[cell[rows]] = self.item[rows]
        made = Traces(frozen(tokens.reshape(-1, n_periods)), self.n_tokens, self.users, self.vocabulary)
        lost = Note(
            "events-dropped", events=len(self), share=1.0 - len(rows) / len(self), every=str(every), pick=str(pick)
        )
        return made.with_notes((*self.notes, lost)).with_raw(self.raw)

    def span(self, every: Every) -> tuple[int, int]:
        """Return the first and the last period with an event in it, counted on from period to period.

        >>> log = {"who": [1, 1], "what": ["tea", "rum"], "day": [3.0, 20.0]}
        >>> Events(log, user="who", items="what", time="day").span(7)
        (0, 2)
        """
        period = self._periods(every)
        return int(period.min()), int(period.max())

    def _periods(self, every: Every) -> Ints:
        """Return the period of each event."""
        if self.time is None:
            raise DataError("these events have no time, so there are no periods; name its column, or make bags")
        return periods(self.time, self.is_calendar, every)

    def __repr__(self) -> str:
        return f"Events({len(self):,} events of {self.n_users:,} users, {self.n_tokens:,} items)"
