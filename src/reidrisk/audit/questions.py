"""Which questions an audit asks of one or two tables: each is a scenario, which makes a case of them."""

from collections.abc import Sequence
from dataclasses import fields
from functools import reduce
from typing import Any, Literal, cast

import numpy as np
from pydantic import Field, field_validator

from reidrisk.base import DataError, Ints
from reidrisk.base.errors import OptionError
from reidrisk.base.specs import Spec
from reidrisk.records import Attributes, Bags, Events, Traces, Vectors
from reidrisk.records.calendar import Every, periods
from reidrisk.records.events import Told
from reidrisk.scenarios import Knows, Scenario, Split, TwoTables
from reidrisk.scenarios.registry import entry

FACTS = 4  # facts that somebody knows of a person, where nothing else is said
_KEPT = 0.9  # share of the events that one item per period must keep to be the form that is asked about first
_MOST = 60  # periods that are looked at unasked: more take long, and hold little each
_COMMON = 2  # periods with events in both logs, below which there is nothing to compare them by


class Asked(Spec):
    """A scenario by its name, with its options; what does not belong to it is refused.

    >>> Asked(name="knows", facts=2).of([Bags([[2, 1], [0, 3]])])[0].question["facts"]
    2
    """

    name: str
    facts: int | None = Field(default=None, ge=1)
    errors: float | None = Field(default=None, ge=0.0, le=1.0)
    which: Literal["random", "first", "rarest"] | None = None
    told: Literal["what", "day", "row"] | None = None
    columns: tuple[str, ...] | None = None
    by: Literal["time", "random", "column"] | None = None
    at: str | float | tuple[str | float, str | float] | None = None
    column: str | None = None
    share: float | None = Field(default=None, gt=0.0, lt=1.0)
    visit: str | float | None = None

    @field_validator("name")
    @classmethod
    def _registered(cls, name: str) -> str:
        return entry(name).name

    @field_validator("columns", mode="before")
    @classmethod
    def _listed(cls, columns: Any) -> Any:
        return tuple(part.strip() for part in columns.split(",")) if isinstance(columns, str) else columns

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns of a log that it asks for beside who, when and what."""
        visit = [self.visit] if isinstance(self.visit, str) and self.visit not in ("day", "week", "month") else []
        return tuple(name for name in (self.column, *visit) if name is not None)

    def of(self, tables: Sequence[Any], truth: Any = None) -> tuple[Scenario, ...]:
        """Return the scenario of one or two tables."""
        given = {name: value for name, value in self.model_dump().items() if name != "name" and value is not None}
        wanted, made = entry(self.name).tables, cast(Any, entry(self.name).scenario)
        if len(tables) != wanted:
            raise OptionError(f"the scenario {self.name} is of {wanted} tables, and {len(tables)} are given")
        odd = next((name for name in given if name not in {one.name for one in fields(made)}), None)
        if odd is not None:
            raise OptionError(f"{odd} is no option of the scenario {self.name}; leave it out")
        if made is Knows and isinstance(tables[0], Events) and self.told is None:
            return steps(tables[0], **given)
        return (made(*tables, *((truth,) if wanted == 2 else ()), **given),)


def steps(log: Events, **options: Any) -> tuple[Knows, ...]:
    """Return the scenarios of somebody who knows some events: what; and the day; and all else in the row.

    The day is asked where there is a time, and the row where it tells apart what the steps before do not.

    >>> log = {"who": [1, 1, 2], "what": ["a", "b", "a"], "day": [0, 1, 1], "n": [1, 1, 2]}
    >>> [one.told for one in steps(Events(log, user="who", items="what", time="day"), facts=1)]
    ['what', 'day']
    """
    told: list[Told] = ["what"] if log.time is None else ["what", "day"]
    if log.facts("row")[1] > log.facts(told[-1])[1]:
        told.append("row")
    return tuple(Knows(log, told=one, **options) for one in told)


def columns(people: Attributes) -> tuple[Knows, ...]:
    """Return the scenarios of somebody who knows columns of a table of people: those an outsider may know, and all.

    Which these are, the reader of the table has noted (:mod:`reidrisk.io.exports.outside`); without that, all of them.
    Free text, ids and constants are in neither step.

    >>> from reidrisk.base import Note
    >>> seen = Note("columns-known-outside", name="x", known=["age"], others=["q1"], never=[["text", "text"]])
    >>> people = Attributes({"age": [31, 40], "q1": [1, 2], "text": ["a", "b"]}).with_notes((seen,))
    >>> [(one.told, one.columns) for one in columns(people)]
    [('what', ['age']), ('row', ['age', 'q1'])]
    """
    seen = next((note for note in people.notes if note.code == "columns-known-outside"), None)
    if seen is None:
        return (Knows(people, columns=list(people.names)),)
    known, every = list(seen["known"]), [name for name in people.names if name in (*seen["known"], *seen["others"])]
    if not every:
        raise DataError("every column is free text, an id or one value for all; say which are known with --columns")
    if not known or len(known) == len(every):
        return (Knows(people, columns=every),)
    return Knows(people, columns=known, told="what"), Knows(people, columns=every, told="row")


def constant(log: Events) -> Attributes | None:
    """Return the columns of a log's file that are constant within people, as attributes of these people.

    Most people must have two rows or more; a column counts where nine tenths of those who have two cells in it have one
    value, their most frequent one, and where it is neither the same for everybody nor anybody's own, as a second id is.

    >>> import pyarrow as pa
    >>> raw = {"sex": pa.chunked_array([["f", "f", "m", "m", "m", "m"]]), "n": pa.chunked_array([[1, 2, 3, 4, 5, 6]])}
    >>> frame = {"who": [1, 1, 2, 2, 3, 3], "what": list("abcabc"), "row": range(6)}
    >>> constant(Events(frame, user="who", items="what", row="row", raw=raw))
    Attributes(3 users x 1 columns: sex (category))
    """
    raw = log.raw
    if raw is None or 2 * np.count_nonzero(np.diff(raw.start) > 1) <= len(raw):
        return None
    found = {
        name: cells for name in raw.names if (cells := _of_people(raw.column(name), raw.owner, len(raw))) is not None
    }
    return Attributes(found).with_users(log.users) if found else None


def _of_people(cells: Any, owner: Ints, n: int) -> Any:
    """Return the most frequent cell of each person, where nearly all have one value alone; else nothing."""
    import polars as pl

    held = pl.Series(pl.from_arrow(cells))
    if held.dtype.is_nested():
        return None
    rows = pl.DataFrame({"who": owner, "cell": held}).drop_nulls()
    values = rows.group_by("who", "cell").len().sort("len", "cell", descending=[True, False])
    of_each = values.group_by("who", maintain_order=True).agg(
        pl.col("cell").first(), pl.len(), pl.col("len").sum().alias("n")
    )
    several = of_each.filter(pl.col("n") > 1)
    kinds = of_each["cell"].n_unique()
    if not several.height or np.mean(several["len"].to_numpy() == 1) < _KEPT or not 1 < kinds < of_each.height:
        return None
    return (
        pl.DataFrame({"who": np.arange(n)})
        .join(of_each, on="who", how="left", maintain_order="left")["cell"]
        .to_arrow()
    )


def questions(tables: Sequence[Any], asked: Asked | None, truth: Any, every: Every | None) -> tuple[Scenario, ...]:
    """Return the scenarios to audit: as asked, or of two tables whether people of one are found in the other.

    Two logs are compared as bags, which keep everything but the times, and as traces of :func:`usual_period`, or of
    ``every``; where these keep nine tenths of the events, they come first. Of one table: can the pseudonyms of one
    period be linked to those of another, where there is a time; and can somebody who knows four facts of a person find
    them, of a log in :func:`steps` of what they know of each. Columns of a log that are constant within people are
    known, too. Of a table of people: some :func:`columns`, then all. Of one table of vectors, several of a person:
    whether some of them give away whose the others are.
    """
    if asked is not None:
        return asked.of(tables, truth)
    if len(tables) == 2:
        whole = TwoTables(tables[0], tables[1], truth)
        logs = [table for table in tables if isinstance(table, Events)]
        by = every if every is not None or len(logs) < 2 else usual_period(logs)
        if by is None or len(logs) < 2:
            return (whole,)
        by_period = TwoTables(tables[0], tables[1], truth, every=by)
        return (by_period, whole) if _kept(logs, by) >= _KEPT else (whole, by_period)
    table = tables[0]
    if isinstance(table, Vectors):  # which refuses where nobody has two vectors
        return (Split(table, by="random" if table.several is None or table.several.time is None else "time"),)
    if isinstance(table, Attributes):
        return columns(table)
    timed = table.time is not None if isinstance(table, Events) else isinstance(table, Traces) and table.n_epochs > 1
    n = min(FACTS, _most_facts(table))
    found: tuple[Scenario, ...] = (Split(table, by="time"),) if timed else ()
    if not isinstance(table, Events):
        return (*found, Knows(table, facts=n))
    people = constant(table)
    return (*found, *steps(table, facts=n), *(() if people is None else columns(people)))


def usual_period(logs: Sequence[Events]) -> Every | None:
    """Return the longest period of which one item keeps nine tenths of the events of every log, else the shortest.

    Periods are months, weeks and days, or units where times are whole numbers. ``None`` where some log has no times, or
    where there are hardly periods with events in all of them, or too many.

    >>> log = Events({"who": [1, 1, 2], "what": list("aba"), "day": [0, 1, 1]}, user="who", items="what", time="day")
    >>> usual_period([log, log])
    1.0
    """
    if any(log.time is None for log in logs) or len({log.is_calendar for log in logs}) > 1:
        return None
    usual: tuple[Every, ...] = ("month", "week", "day")
    if not logs[0].is_calendar:
        usual = (1.0,) if all((np.asarray(log.time) % 1.0 == 0.0).all() for log in logs) else ()
    found = [every for every in usual if _comparable(logs, every)]
    return next((every for every in found if _kept(logs, every) >= _KEPT), found[-1] if found else None)


def _comparable(logs: Sequence[Events], every: Every) -> bool:
    """Whether logs have events in the same periods, and not too many periods."""
    spans = [log.span(every) for log in logs]
    if max(last for _, last in spans) - min(first for first, _ in spans) >= _MOST:
        return False
    there = [np.unique(periods(np.asarray(log.time), log.is_calendar, every)) for log in logs]
    return len(reduce(np.intersect1d, there)) >= _COMMON


def _kept(logs: Sequence[Events], every: Every) -> float:
    """Return the share of the events that one item per person and period keeps, of the log that loses most."""
    shares = []
    for log in logs:
        period = periods(np.asarray(log.time), log.is_calendar, every)  # rises with the time, within each person
        shares.append(np.count_nonzero((np.diff(log.user) != 0) | (np.diff(period) != 0)) + 1)
    return min(n / len(log) for n, log in zip(shares, logs, strict=True))


def _most_facts(table: Any) -> int:
    """Return how many facts the person with the most has: nobody could be asked for more."""
    if isinstance(table, Events):
        return int(np.bincount(table.user, minlength=1).max())
    if isinstance(table, Bags):
        return max(int(table.counts.sum(axis=1).max()), 1)
    return max(int((table.tokens >= 0).sum(axis=1).max()), 1)
