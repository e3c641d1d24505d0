"""Roles: which column says who, when, what and how much; named by the reader, or guessed from names and types."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from reidrisk.base import Note, OptionError, ReidRiskError
from reidrisk.base.options import option
from reidrisk.io.exports import names
from reidrisk.io.exports.reading import NONE, Reading
from reidrisk.io.exports.source import Source
from reidrisk.io.exports.times import looks_like_times
from reidrisk.io.exports.values import read_numbers
from reidrisk.io.tables.columns import holds_text, is_list

_ODD = 0.1  # prior: share of the cells of a column of amounts that may be none
_LEVELS, _VALUED = 20, 3  # prior: values of a column that is a rating or alike, and such columns that are kept


@dataclass(frozen=True)
class Roles:
    """The columns of an export by what they say; ``None`` where no column does."""

    user: str | None = None
    time: str | None = None
    items: tuple[str, ...] = ()
    amount: str | None = None
    place: tuple[str, str] | None = None
    lists: tuple[str, ...] = ()
    clock: str | None = None  # the time of day, where time is a date
    values: tuple[str, ...] = ()  # what else an event says, such as a rating; kept beside it, and not used yet

    @property
    def used(self) -> tuple[str, ...]:
        """All columns that are used."""
        named = (self.user, self.time, self.clock, *self.items, self.amount, *(self.place or ()), *self.lists)
        return tuple(dict.fromkeys(name for name in named if name is not None))


def column(source: Source, name: str) -> str:
    """Return the column that somebody means, in any case; one that is not there is refused."""
    there = source.columns
    if name in there:
        return name
    alike = [one for one in there if plain_name(one) == plain_name(name)]
    if len(alike) == 1:
        return alike[0]
    if alike:
        both = " and ".join(map(repr, alike))
        raise OptionError(f"{source.name}: the columns {both} are both meant by {name!r}; write one as it stands")
    listed = ", ".join(map(repr, there[:20]))
    raise OptionError(f"{source.name}: there is no column {name!r}; choose from {listed}")


def columns(source: Source, name: str) -> list[str]:
    """Return the columns that somebody means: one, or all that a pattern such as ``Intensity*`` fits."""
    if name in source.columns or not any(mark in name for mark in "*?["):
        return [column(source, name)]
    found = [one for one in source.columns if fnmatchcase(one.casefold(), name.casefold())]
    if not found:
        listed = ", ".join(map(repr, source.columns[:20]))
        raise OptionError(f"{source.name}: no column fits {name!r}; choose from {listed}")
    return found


def find_user(source: Source, reading: Reading) -> str | None:
    """Return the column of people, or ``None`` where no name looks like one."""
    if reading.user is not None:
        return _given(source, reading.user)
    return _best(source, names.user_score, "may name people", option("user"), _taken(source, reading))


def find_time(source: Source, reading: Reading, taken: Sequence[str] = ()) -> str | None:
    """Return the column of times: its name must look like it, and its cells or its type too."""
    if reading.time is not None:
        return _given(source, reading.time)

    def score(name: str) -> int:
        by_name, kind = names.time_score(name), source.types[name]
        if _is_time(kind) or (holds_text(kind) and looks_like_times(source.sample(name))):
            return 4 + by_name if not names.never_time(name) else 0
        return by_name if _is_number(kind) or (holds_text(kind) and source.holds_figures(name)) else 0

    return _best(source, score, "may say when", option("time"), [*taken, *_taken(source, reading)])


def find_items(
    source: Source, reading: Reading, taken: Sequence[str], place: tuple[str, str] | None
) -> tuple[str, ...]:
    """Return the columns of what people did: by their names, or the only one that is left."""
    if reading.items:
        return tuple(dict.fromkeys(name for given in reading.items for name in columns(source, given)))
    if reading.grid is not None and place is not None:
        return ()
    left = [name for name in source.columns if name not in (*taken, *(place or ()))]
    found = [name for name in left if names.item_score(name)]
    if not found:
        found = [name for name in left if not names.user_score(name)] or left
    if len(found) > 1:  # what everybody did says nothing
        found = [name for name in found if len(source.sample(name).unique()) > 1] or found
    if len(found) == 1:
        return tuple(found)
    if not found and place is not None:
        raise OptionError(
            f"{source.name}: coordinates become places by a grid; give its width, such as {option('grid', '500m')}"
        )
    if not found:
        listed = ", ".join(map(repr, source.columns[:20]))
        raise OptionError(
            f"{source.name}: no column says what people did, only {listed}; name one with {option('items')}"
        )
    listed = ", ".join(map(repr, found[:8])) + (f" and {len(found) - 8} more" if len(found) > 8 else "")
    say = (
        f"say which with {option('items', 'COLUMN')} (again for each column to join; FIRST=SECOND if two tables differ)"
    )
    raise OptionError(f"{source.name}: what people did may be in the columns {listed}; {say}")


def find_amount(source: Source, reading: Reading, taken: Sequence[str]) -> str | None:
    """Return the column of amounts: given, or the only one whose name looks like it and that holds whole amounts."""
    if reading.amount is not None:
        return _given(source, reading.amount)
    left = [name for name in source.columns if name not in taken and name not in _taken(source, reading)]
    found = [name for name in left if names.amount_score(name) and _holds_amounts(source, name)]
    return found[0] if len(found) == 1 else None


def unreadable(source: Source, reading: Reading, roles: Roles) -> list[Note]:
    """Note columns that are called a time or an amount, hold something, and cannot be read as one.

    Where somebody said which column it is, the others are none.
    """
    by_role: dict[str, Callable[[str], bool]] = {
        "time": lambda name: names.time_score(name) > 1 and not names.never_time(name),
        "amount": lambda name: names.amount_score(name) > 1,
    }
    notes = []
    for role, is_called in by_role.items():
        for name in source.columns if getattr(reading, role) is None else ():
            if name in roles.used or name in reading.keep or not is_called(name):
                continue
            if not (_holds_times(source, name) if role == "time" else _holds_amounts(source, name)):
                notes.append(Note("unreadable-column", name=source.name, column=name, role=role))
    return notes


def _holds_times(source: Source, name: str) -> bool:
    """Tell whether a column may say when, or holds nothing at all."""
    import pyarrow as pa

    kind = source.types[name]
    if not holds_text(kind):
        return _is_time(kind) or _is_number(kind) or bool(pa.types.is_null(kind))
    return not len(source.sample(name)) or source.holds_figures(name) or looks_like_times(source.sample(name))


def _holds_amounts(source: Source, name: str) -> bool:
    """Tell whether a column holds whole numbers, but for one cell in ten; or nothing at all."""
    try:
        found = read_numbers(source.column(name), source.where(name), source.comma)
    except ReidRiskError:
        return False
    there = found.values[~np.isnan(found.values)]
    is_whole = bool(((there % 1.0 == 0.0) & (np.abs(there) < 2.0**53)).all())
    return is_whole and len(found.bad) <= _ODD * len(found.values)


def find_values(source: Source, reading: Reading, roles: Roles) -> tuple[str, ...]:
    """Return columns of a few values per event, such as a rating or a grade, where nobody said what the items are."""
    if reading.items or roles.time is None:
        return ()
    left = [name for name in source.columns if name not in roles.used and not names.user_score(name)]
    few = [name for name in left if not is_list(source.types[name]) and _are_few(source.sample(name))]
    return tuple(name for name in few if _are_few(source.column(name).drop_null()))[:_VALUED]


def _are_few(cells: Any) -> bool:
    return 2 <= len(cells.unique()) <= _LEVELS


def list_columns(source: Source, reading: Reading) -> tuple[str, ...]:
    """Return the columns that hold lists, as such or as JSON; of items that are named, those among them."""
    there = [name for given in reading.items for name in columns(source, given)] or source.columns
    return tuple(name for name in there if is_list(source.types[name]) or source.holds_json_lists(name))


def has_times(source: Source, reading: Reading) -> bool:
    """Tell whether a column looks like one of times, or several do."""
    try:
        return find_time(source, reading) is not None
    except OptionError:
        return True


def _given(source: Source, name: str) -> str | None:
    return None if name == NONE and NONE not in source.columns else column(source, name)


def _taken(source: Source, reading: Reading) -> list[str]:
    """Return the columns that were given a role by name, so that they get no other one by a guess."""
    named = [reading.user, reading.time, reading.amount, *reading.items]
    given = [name for name in named if name is not None and (name != NONE or NONE in source.columns)]
    return [one for name in given for one in columns(source, name)]


def _best(source: Source, score: Callable[[str], int], may: str, flag: str, taken: Sequence[str]) -> str | None:
    scores = {name: score(name) for name in source.columns if name not in taken}
    best = max(scores.values(), default=0)
    found = [name for name, value in scores.items() if value == best]
    if best == 0:
        return None
    if len(found) > 1:
        listed = ", ".join(map(repr, found[:8]))
        raise OptionError(f"{source.name}: each of the columns {listed} {may}; say which with {flag}")
    return found[0]


def plain_name(name: str) -> str:
    """Return a name without case, blanks and marks."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _is_time(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))
