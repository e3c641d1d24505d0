"""A log as it comes: columns of a frame become codes, and rows that are no event are left out and counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from reidrisk.base import Array, Bools, DataError, Ints, OptionError, Result, UserIds, as_users, sizes
from reidrisk.base.arrays import frozen
from reidrisk.base.frames import Coded, Codes, as_text, coded, columns_of, joined, moments, whole_amounts
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.records.base import NUMBER_IDS


@dataclass(frozen=True, eq=False)
class Summary(Result):
    """What a log holds, and what of it was left out."""

    users: int
    items: int  # different items
    events: int
    amount: int  # sum of their amounts; the number of events where they have none
    rows: int  # rows of the frame
    dropped: Mapping[str, int]
    """Rows without ``user``, ``item``, ``time`` or ``amount``, and of amount ``zero``; each counts once."""


class OrderedLog(NamedTuple):
    """Events in an order of their own, by user, time, item and amount; what they are about; and what was left out."""

    users: UserIds
    vocabulary: Vocabulary
    table: Mapping[str, Array]
    """``user`` and ``item`` codes; ``time`` and ``amount`` where the log has them; read-only."""
    kept: Mapping[str, tuple[Codes, tuple[str, ...]]]
    is_calendar: bool
    rows: int  # of the frame
    dropped: Mapping[str, int]
    raw: Mapping[str, Any] | None = None
    """Every column of the file, where it is kept; event j stands in its row ``table["row"][j]``."""

    def take(self, rows: Ints | Bools | slice) -> Self:
        """Return the chosen events, in this order; who and what they may be about, and what was left out, stays."""
        table = {name: frozen(values[rows]) for name, values in self.table.items()}
        kept = {name: (frozen(codes[rows]), values) for name, (codes, values) in self.kept.items()}
        return self._replace(table=table, kept=kept)

    def summary(self) -> Summary:
        """Count what the log holds, and what was left out of it and why."""
        events = len(self.table["user"])
        return Summary(
            users=len(self.users),
            items=len(self.vocabulary),
            events=events,
            amount=int(self.table["amount"].sum()) if "amount" in self.table else events,
            rows=self.rows,
            dropped=dict(self.dropped),
        )

    def with_items(self, item: Codes, vocabulary: Vocabulary, in_order: bool = False) -> Self:
        """Return the same events with other items, put in order again unless they are ``in_order`` still."""
        log = self._replace(vocabulary=vocabulary, table={**self.table, "item": item})
        if in_order:
            return log.take(slice(None))
        keys = (item, log.table["time"]) if "time" in log.table else (item,)
        return log.take(np.lexsort((*keys, log.table["user"])))


def read_log(
    frame: Any,
    user: str,
    items: str | Sequence[str],
    time: str | None,
    amount: str | None,
    keep: str | Sequence[str],
    row: str | None = None,
) -> OrderedLog:
    """Return the events of a frame, whose columns are named as for :class:`reidrisk.records.Events`.

    >>> log = read_log({"who": ["bob", "ann", None], "what": ["tea", "rum", "gin"]}, "who", "what", None, None, ())
    >>> log.table["item"].tolist(), log.vocabulary.labels, log.dropped["user"]
    ([0, 1], ('rum', 'tea'), 1)
    """
    parts, kept = ([names] if isinstance(names, str) else list(names) for names in (items, keep))
    if not parts:
        raise OptionError("items names no column; give one, or several that together are one item")
    wanted = dict.fromkeys(name for name in (user, *parts, time, amount, *kept, row) if name is not None)
    cells = columns_of(frame, list(wanted))
    who = coded(cells[user], user, fractions=False)
    what = joined([coded(cells[name], name) for name in parts])
    table: dict[str, Array] = {"user": who.codes, "item": what.codes}
    lacks = {"user": who.codes < 0, "item": what.codes < 0}
    is_calendar = False
    if time is not None:
        table["time"], is_calendar = moments(cells[time], time)
        lacks["time"] = np.isnan(table["time"])
    if amount is not None:
        table["amount"] = whole_amounts(cells[amount], amount)
        lacks |= {"amount": table["amount"] < 0, "zero": table["amount"] == 0}
        if table["amount"].sum(dtype=np.float64) >= 2.0**62:
            raise DataError(f"the amounts in column {amount!r} add up to more than 4e18; give a larger unit")
    if row is not None:
        table["row"] = whole_amounts(cells[row], row)
    sides = {name: coded(cells[name], name) for name in kept}
    good, dropped = _complete(len(who.codes), lacks)
    columns = table | {f"keep {name}": side.codes for name, side in sides.items()}
    ordered = _in_order(columns, good, [name for name in ("user", "time", "item", "amount") if name in table])
    users, ordered["user"] = _still(who, ordered["user"])
    labels, ordered["item"] = _still(what, ordered["item"])
    sizes.TOKENS.check(len(labels), "the items", NUMBER_IDS)
    return OrderedLog(
        users=as_users(users, len(users)),
        vocabulary=Vocabulary(as_text(labels)),
        table={name: frozen(ordered[name]) for name in table},
        kept={name: (frozen(ordered[f"keep {name}"]), tuple(as_text(side.values))) for name, side in sides.items()},
        is_calendar=is_calendar,
        rows=len(who.codes),
        dropped=dropped,
    )


def numbered(columns: Sequence[Any]) -> tuple[Ints, int]:
    """Return a number for each row, the same where rows hold the same in all columns, and how many there are.

    >>> numbered([np.array([5, 5, 7]), np.array(["a", "b", "a"])])
    (array([0, 1, 2]), 3)
    """
    import polars as pl

    rows = np.zeros(len(columns[0]), dtype=np.int64)
    for cells in columns:
        held = pl.Series(cells) if isinstance(cells, np.ndarray) else pl.Series(pl.from_arrow(cells))
        if held.dtype.is_nested():
            held = pl.Series([None if cell is None else str(cell) for cell in held.to_list()])
        values = held.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
        both = rows * (int(values.max(initial=0)) + 1) + values
        rows = pl.Series(both).rank("dense").cast(pl.Int64).to_numpy() - 1
    return frozen(rows), int(rows.max(initial=-1)) + 1


def _complete(n_rows: int, lacks: Mapping[str, Bools]) -> tuple[Bools, dict[str, int]]:
    """Return which rows lack nothing, and how many lack what; one that lacks several things counts once."""
    good = np.ones(n_rows, dtype=bool)
    dropped = dict.fromkeys(("user", "item", "time", "amount", "zero"), 0)
    for name, gone in lacks.items():
        dropped[name] = int((good & gone).sum())
        good &= ~gone
    if not good.any():
        lost = ", ".join(f"{n:,} by {name}" for name, n in dropped.items() if n)
        raise DataError(f"none of the {n_rows:,} rows is an event ({lost}); look at the columns named")
    return good, dropped


def _in_order(columns: Mapping[str, Array], good: Bools, first: Sequence[str]) -> dict[str, Array]:
    """Return the rows that are ``good``, sorted by the columns named first, then by the others."""
    import polars as pl

    kept = pl.DataFrame(columns if good.all() else {name: values[good] for name, values in columns.items()})
    kept = kept.sort([*first, *(name for name in columns if name not in first)])
    return {name: kept[name].to_numpy() for name in columns}


def _still(found: Coded, codes: Codes) -> tuple[Any, Codes]:
    """Leave out values that no event has any more; the others keep their order."""
    used = np.zeros(len(found.values), dtype=bool)
    used[codes] = True
    if used.all():
        return found.values, codes
    again = (np.cumsum(used) - 1).astype(np.int32)
    return found.values.take(np.flatnonzero(used)), again[codes]
