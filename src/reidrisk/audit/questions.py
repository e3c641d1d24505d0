"""Which questions an audit asks of one or two tables: each is a scenario, which makes a case of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, field_validator

from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.specs import Spec
from reidrisk.records import Attributes, Bags, Events, Traces
from reidrisk.records.calendar import Every
from reidrisk.scenarios import Knows, Scenario, Split, TwoTables

FACTS = 4
"""Facts that somebody knows of a person, where nothing else is said."""
_PERIODS = 520  # of one log at most: more are hardly ones that people have in common


class Asked(Spec):
    """A scenario by its name, with its options; what does not belong to it is refused.

    >>> Asked(name="knows", facts=2).of([Bags([[2, 1], [0, 3]])])[0].question["facts"]
    2
    """

    name: Literal["two-tables", "split", "knows"]
    facts: int | None = Field(default=None, ge=1)
    errors: float | None = Field(default=None, ge=0.0, le=1.0)
    which: Literal["random", "first", "rarest"] | None = None
    columns: tuple[str, ...] | None = None
    by: Literal["time", "random", "column"] | None = None
    at: str | float | None = None
    column: str | None = None
    share: float | None = Field(default=None, gt=0.0, lt=1.0)

    @field_validator("columns", mode="before")
    @classmethod
    def _listed(cls, columns: Any) -> Any:
        return tuple(part.strip() for part in columns.split(",")) if isinstance(columns, str) else columns

    def of(self, tables: Sequence[Any], truth: Any = None) -> tuple[Scenario, ...]:
        """Return the scenario of one or two tables."""
        given = {name: value for name, value in self.model_dump().items() if name != "name" and value is not None}
        wanted = 2 if self.name == "two-tables" else 1
        if len(tables) != wanted:
            raise OptionError(f"the scenario {self.name} is of {wanted} tables, and {len(tables)} are given")
        made: type[Any] = {"two-tables": TwoTables, "split": Split, "knows": Knows}[self.name]
        odd = next((name for name in given if name not in made.__dataclass_fields__), None)
        if odd is not None:
            raise OptionError(f"{odd} is no option of the scenario {self.name}; leave it out")
        if self.name == "two-tables":
            return (TwoTables(tables[0], tables[1], truth),)
        return (made(tables[0], **given),)


def questions(tables: Sequence[Any], asked: Asked | None, truth: Any, every: Every | None) -> tuple[Scenario, ...]:
    """Return the scenarios to audit: as asked, or of two tables whether people of one are found in the other.

    Two logs are compared as bags, which keep everything but the times; with ``every``, also as traces of that period
    beside them. Of one table: can the pseudonyms of one period be linked to those of another, where there is a time;
    and can somebody who knows four facts of a person find them. Of one table of people: all columns are known.
    """
    if asked is not None:
        return asked.of(tables, truth)
    if len(tables) == 2:
        both: tuple[Scenario, ...] = (TwoTables(tables[0], tables[1], truth),)
        if every is not None and all(isinstance(table, Events) for table in tables):
            one, two = traces_alike(tables[0], tables[1], every)
            both += (TwoTables(one, two, truth),)
        return both
    table = tables[0]
    if isinstance(table, Attributes):
        return (Knows(table, columns=list(table.names)),)
    timed = table.time is not None if isinstance(table, Events) else isinstance(table, Traces) and table.n_epochs > 1
    facts = Knows(table, facts=min(FACTS, _most_facts(table)))
    return (Split(table, by="time"), facts) if timed else (facts,)


def traces_alike(a: Events, b: Events, every: Every) -> tuple[Traces, Traces]:
    """Return two logs as traces over the same periods: from the first of either to the last of either.

    >>> log = {"who": [1, 2], "what": ["tea", "rum"]}
    >>> one, two = (Events(log | {"day": days}, user="who", items="what", time="day") for days in ([0, 1], [8, 20]))
    >>> [traces.tokens.tolist() for traces in traces_alike(one, two, 7)]
    [[[1, -1, -1], [0, -1, -1]], [[-1, 1, -1], [-1, -1, 0]]]
    """
    if a.time is None or b.time is None:
        raise DataError(f"a log without times has no {every!r}; leave out --every, or name the times with --time")
    if a.is_calendar != b.is_calendar:
        raise DataError("times are dates in one log and plain numbers in the other; name other columns with --time")
    spans = [log.span(every) for log in (a, b)]
    span = min(first for first, _ in spans), max(last for _, last in spans)
    if span[1] - span[0] >= _PERIODS:
        n = span[1] - span[0] + 1
        raise OptionError(f"there are {n:,} periods of {every!r} from the first event to the last; take longer ones")
    return a.traces(every, span=span), b.traces(every, span=span)


def _most_facts(table: Any) -> int:
    """Return how many facts the person with the most has: nobody could be asked for more."""
    import numpy as np

    if isinstance(table, Events):
        return int(np.bincount(table.user, minlength=1).max())
    if isinstance(table, Bags):
        return max(int(table.counts.sum(axis=1).max()), 1)
    return max(int((table.tokens >= 0).sum(axis=1).max()), 1)
