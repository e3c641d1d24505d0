"""A log out of an export: one row per event, with everything counted that is left out or merged on the way."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base import Bools, DataError, Note, Vocabulary
from reidrisk.base.frames import coded, joined
from reidrisk.base.options import option
from reidrisk.io.exports.clocks import with_clock
from reidrisk.io.exports.grid import cells_of_grid
from reidrisk.io.exports.reading import Reading
from reidrisk.io.exports.roles import Roles, column
from reidrisk.io.exports.source import Source
from reidrisk.io.exports.times import Times, read_times
from reidrisk.io.exports.values import are_figures, damaged, merged, plain_values, read_numbers, spellings
from reidrisk.io.tables.columns import is_list
from reidrisk.records import Events

USER, TIME, ITEM, AMOUNT, ROW = "(user)", "(time)", "(item)", "(amount)", "(row)"
"""Columns of the log on its way to Events: beside them, columns to split by keep their names."""
_STEPS = (1, 2, 5, 10, 20, 50, 100)  # people are counted by their number of events, from one of these to the next
_ENOUGH, _NAMED = 20, 3  # people who have a label that is named; labels written in several ways that are named


class Log(NamedTuple):
    """Events over their labels in order, what to note, and the form of their times."""

    events: Events
    notes: tuple[Note, ...]
    times: Times | None


def read_log(source: Source, roles: Roles, how: Reading) -> Log:
    """Read the events of an export; rows that cannot be read are refused, or left out where that is asked for."""
    import pyarrow as pa

    assert roles.user is not None
    frame: dict[str, Any] = {USER: plain_values(source.column(roles.user), is_id=True)}
    notes = damage(source, (roles.user, *roles.items))
    n = len(frame[USER])
    frame[ROW] = pa.chunked_array([np.arange(n)])
    times, good, returned = None, np.ones(n, dtype=bool), 0
    if roles.time is not None:
        times = read_times(source.column(roles.time), source.where(roles.time), how.dates)
        mark(source, roles.time, times.bad, good)
        notes += times.notes(source.name, roles.time)
        if roles.clock is not None:
            times, none = with_clock(times, source.column(roles.clock))
            mark(source, roles.clock, none, good)
        frame[TIME] = times.values
    if roles.amount is not None:
        frame[AMOUNT], returned = _amounts(source, roles.amount, good)
    columns = {name: _labels(source, name, how, place) for place, name in enumerate(roles.items)}
    beside = dict.fromkeys((*(column(source, name) for name in how.keep), *roles.values))
    sides = {name: _labels(source, name, how, name) for name in beside}
    frame |= sides
    if roles.place is not None and how.cell_metres is not None:
        lat, lon = (read_numbers(source.column(name), source.where(name), source.comma) for name in roles.place)
        for name, found in zip(roles.place, (lat, lon), strict=True):
            mark(source, name, found.bad, good)
        columns["cell"] = cells_of_grid(lat.values, lon.values, how.cell_metres, source.name)
        notes.append(Note("places-on-grid", metres=how.cell_metres))
    notes += bad_rows(source, how, n)
    if how.merge_case:
        frame[USER] = merged(frame[USER], source.labels.spelt)
    many = [_tokens(frame, columns, name) for name in columns] if how.channels and len(columns) > 1 else None
    if many is None:
        what = joined([coded(cells, name) for name, cells in columns.items()])
        frame[ITEM] = pa.chunked_array([what.values.take(pa.array(what.codes, mask=what.codes < 0))])
        many = [pa.table(frame)]
    raw = source.cells(but=(roles.user,))
    kept = pa.concat_tables([table if good.all() else table.filter(pa.array(good)) for table in many])
    time, amount = (name if name in frame else None for name in (TIME, AMOUNT))
    try:
        events = Events(kept, user=USER, items=ITEM, time=time, amount=amount, keep=list(sides), row=ROW, raw=raw)
    except DataError as error:
        raise DataError(f"{source.name}: {error}") from error
    events = events.over(Vocabulary(sorted(events.vocabulary.labels)))
    notes += [*_spelt(events, how), _read(source, events, n, returned)]
    return Log(events, tuple(notes), times)


def _labels(source: Source, name: str, how: Reading, place: int | str) -> Any:
    codes = source.labels.codes
    cells = plain_values(source.column(name), is_id=False, comma=source.comma, keep=place in codes)
    if are_figures(cells):
        codes.add(place)
    return merged(cells, source.labels.spelt) if how.merge_case else cells


def _tokens(frame: dict[str, Any], columns: dict[str, Any], name: str) -> Any:
    """Return the events of one channel: what its column says, under its name."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = coded(columns[name], name)
    words = pc.binary_join_element_wise(
        pa.scalar(name, pa.large_string()), found.values.cast(pa.large_string()), pa.scalar("=", pa.large_string())
    )
    return pa.table(frame | {ITEM: pa.chunked_array([words.take(pa.array(found.codes, mask=found.codes < 0))])})


def mark(source: Source, name: str, bad: Any, good: Bools) -> None:
    """Count cells that cannot be read, and leave their rows out."""
    cells = source.column(name)
    for row in bad[:5].tolist():
        source.bad.add(row + 1, f"holds {cells[row].as_py()!r} in column {name!r}", 0, f", column {name!r}")
    source.bad.count += int(good[bad].sum())
    good[bad] = False


def _amounts(source: Source, name: str, good: Bools) -> tuple[Any, int]:
    """Return whole amounts, and how many are below 0: goods that were returned, which are no events."""
    import pyarrow as pa

    found = read_numbers(source.column(name), source.where(name), source.comma)
    mark(source, name, found.bad, good)
    values = found.values
    wrong = np.flatnonzero(((values != np.floor(values)) | (np.abs(values) > 2.0**53)) & ~np.isnan(values))
    if wrong.size:
        held = f"{source.where(name)} holds {values[wrong[0]]:g} in row {wrong[0] + 1}"
        raise DataError(
            f"{held}; amounts are whole numbers: name another column, or none, with {option('amount', 'none')}"
        )
    below = (values < 0) & good
    good[values < 0] = False
    return pa.array(values, mask=np.isnan(values)), int(below.sum())


def damage(source: Source, names: Sequence[str], least: int = 0) -> list[Note]:
    """Note columns of ids or codes that a spreadsheet has written in scientific notation."""
    found = {name: damaged(source.column(name), least) for name in names if not is_list(source.types[name])}
    return [Note("ids-in-scientific-notation", name=source.name, column=name, n=n) for name, n in found.items() if n]


def bad_rows(source: Source, how: Reading, rows: int) -> list[Note]:
    """Refuse rows that cannot be read, or note them where they are to be left out."""
    bad = source.bad
    if not bad.count:
        return []
    if not how.skip_bad_rows:
        first = "; ".join(bad.first[:5]) + (", …" if bad.count > len(bad.first) else "")
        what = f"{bad.count:,} of {rows + bad.unread:,} rows cannot be read ({first})"
        do = f"correct them, or leave them out with {option('skip_bad_rows', True)}"
        if bad.count > rows and source.dialect is not None:
            do = f"say what separates cells ({option('delimiter')}), or which lines to leave out ({option('comment')})"
        raise DataError(f"{source.name}: {what}; {do}")
    return [Note("bad-rows", name=source.name, n=bad.count, of=rows + source.bad.unread, first=list(bad.places))]


def _spelt(events: Events, how: Reading) -> Sequence[Note]:
    found = spellings(list(events.vocabulary.labels))
    if not found.labels or how.merge_case:
        return ()
    counts = events.bags().counts
    holders = dict(zip(events.vocabulary.labels, np.bincount(counts.indices, minlength=counts.shape[1]), strict=True))
    # A label that few people have says something of them, and notes go into results.
    shown = [list(group) for group in found.groups if all(holders[label] >= _ENOUGH for label in group)]
    return [Note("labels-alike", labels=found.labels, merged=len(found.groups), shown=shown[:_NAMED])]


def _read(source: Source, events: Events, rows: int, returned: int) -> Note:
    """Note the rows read and kept, what was left out and why, and people by their number of events."""
    summary = events.summary()
    per_user = np.bincount(events.user, minlength=events.n_users)
    places = np.searchsorted(_STEPS, per_user, side="right") - 1
    counts = np.bincount(places, minlength=len(_STEPS))
    dropped = {name: n for name, n in summary.dropped.items() if n} | ({"returned": returned} if returned else {})
    return Note(
        "export-read",
        name=source.name,
        rows=rows + source.bad.unread,
        events=summary.events,
        users=summary.users,
        items=summary.items,
        dropped=dropped,
        people=[[step, int(n)] for step, n in zip(_STEPS, counts, strict=True) if n],
    )
