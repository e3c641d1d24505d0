"""A table of people out of an export: one row per person, a column per attribute."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from reidrisk.base import Bools, DataError, Note, ReidRiskError
from reidrisk.base.frames import coded
from reidrisk.base.options import option
from reidrisk.io.exports.log import bad_rows, damage, mark
from reidrisk.io.exports.outside import outside
from reidrisk.io.exports.reading import Reading
from reidrisk.io.exports.roles import column, plain_name
from reidrisk.io.exports.source import Source
from reidrisk.io.exports.times import looks_like_times, read_times
from reidrisk.io.exports.values import are_figures, merged, nearly_numbers, plain_values
from reidrisk.io.tables.columns import first_repeat, holds_text, is_list
from reidrisk.records import Attributes, RawTable

_CODE = 11  # unit: powers of ten from which a spreadsheet writes whole numbers in scientific notation


def read_people(
    source: Source, user: str | None, how: Reading, alone: bool = True
) -> tuple[Attributes, tuple[Note, ...], list[str]]:
    """Return the attributes of people, what was left out, and the columns that are used."""
    import pyarrow as pa

    chosen, kinds = _chosen(source, user, how)
    n = source.table.n_rows
    good = np.ones(n, dtype=bool)
    notes: list[Note] = damage(source, () if user is None else (user,))
    frame = {name: _cells(source, name, kinds, how, good, notes) for name in chosen}
    notes += bad_rows(source, how, n)
    nobody = 0
    if user is not None:
        frame[user] = plain_values(source.column(user), is_id=True)
        named = frame[user].is_valid().to_numpy()
        nobody, good = int((good & ~named).sum()), good & named
    if not good.all():
        frame = {name: cells.filter(pa.array(good)) for name, cells in frame.items()}
    rows = len(next(iter(frame.values())))
    owner = np.where(good, np.cumsum(good) - 1, -1)
    if not rows:
        raise DataError(f"{source.name}: no row names a person; look at the column {user!r}")
    kept = np.flatnonzero(good)
    if user is not None and (twice := first_repeat(coded(frame[user], user).codes)):
        same = f"rows {kept[twice[0]] + 1} and {kept[twice[1]] + 1} are both of {frame[user][twice[0]].as_py()!r}"
        raise DataError(f"{source.name}: {same}; give everybody one row, or say {option('layout', 'log')}")
    try:
        people = Attributes(pa.table(frame), user=user, columns=kinds or None)
    except ReidRiskError as error:
        raise DataError(f"{source.name}: {error}") from error
    people = people.with_raw(RawTable.of(source.cells(but=(user,)), owner, rows))
    read = Note("people-read", name=source.name, rows=n + source.bad.unread, people=rows, nobody=nobody)
    known = (outside(people, source.name, bool(how.columns)),) if alone else ()  # of two tables, all are compared
    return people.with_notes((*people.notes, *known)), (*people.notes, *notes, read, *known), chosen


def columns_like(a: Attributes, source: Source) -> dict[str, str]:
    """Return for the columns of a second table those of the first that differ in case, blanks or marks alone."""
    known = {plain_name(name): name for name in a.names}
    there = set(source.columns)
    return {
        name: known[plain_name(name)]
        for name in source.columns
        if known.get(plain_name(name), name) != name and known[plain_name(name)] not in there
    }


def _chosen(source: Source, user: str | None, how: Reading) -> tuple[list[str], dict[str, Any]]:
    """Return the columns of attributes, and the kinds that are said of them."""
    said: Mapping[str, str] = dict(part.partition("=")[::2] for part in how.columns)
    names = {column(source, name): kind for name, kind in said.items()}
    everything = [name for name in source.columns if name != user and not is_list(source.types[name])]
    chosen = [name for name in everything if not names or name in names]
    if not chosen:
        raise DataError(f"{source.name}: there is no column beside the ids; give the attributes of people")
    return chosen, {name: kind for name, kind in names.items() if kind and name != user}


def _cells(source: Source, name: str, kinds: dict[str, Any], how: Reading, good: Bools, notes: list[Note]) -> Any:
    """Return a column as values; in one of numbers, the rows of the few cells that hold none are no longer ``good``."""
    import pyarrow as pa

    cells = source.column(name)
    if kinds.get(name) in ("category", "prefix"):
        return merged(cells, source.labels.spelt) if how.merge_case else _trimmed(cells)
    if holds_text(cells.type):
        notes += damage(source, (name,), _CODE)
    if holds_text(cells.type) and looks_like_times(source.sample(name)):
        try:
            times = read_times(cells, source.where(name), how.dates)
        except ReidRiskError:  # what cannot be read as dates is compared as text
            return _trimmed(cells)
        notes += times.notes(source.name, name)
        return _trimmed(cells) if len(times.bad) else times.values
    found = plain_values(cells, is_id=False, comma=source.comma)
    if not holds_text(found.type):
        return found
    numbers = nearly_numbers(cells, source.where(name), source.comma)
    if numbers is None:
        if name not in kinds and are_figures(found):  # a code, all of whose digits count
            kinds[name] = "category"
        return merged(found, source.labels.spelt) if how.merge_case else found
    mark(source, name, numbers.bad, good)
    there = ~np.isnan(numbers.values)
    written, held = len(found.filter(pa.array(there)).unique()), len(np.unique(numbers.values[there]))
    if held < written:
        notes.append(Note("numbers-written-twice", name=source.name, column=name, n=written - held))
    figures = pa.array(numbers.values, mask=~there)
    whole = bool(((numbers.values[there] % 1.0 == 0.0) & (np.abs(numbers.values[there]) < 2.0**53)).all())
    return pa.chunked_array([figures.cast(pa.int64()) if whole else figures])


def _trimmed(cells: Any) -> Any:
    import pyarrow.compute as pc

    return pc.utf8_trim_whitespace(cells) if holds_text(cells.type) else cells
