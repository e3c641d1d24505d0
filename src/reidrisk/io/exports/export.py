"""Export: one or two files or frames read into records, with one line that says how they were understood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.notes import Note
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.io.exports import names
from reidrisk.io.exports.log import read_log
from reidrisk.io.exports.reading import Reading
from reidrisk.io.exports.roles import Roles, find_amount, find_items, find_time, find_user
from reidrisk.io.exports.source import Source, open_source

Kind = Literal["log", "people", "lists", "traces"]
"""What an export holds: events, one row per person, lists of items, or traces."""


@dataclass(frozen=True)
class Export:
    """What was read: records, how they were understood, and what was left out or merged on the way."""

    kind: Kind
    records: Any
    """:class:`Events`, :class:`Attributes`, :class:`Bags` or :class:`Traces`, by ``kind``."""
    how: Note
    """``understood-as``: the one line that says which column is what."""
    notes: tuple[Note, ...] = ()


def read_export(source: Any, reading: Reading | None = None) -> Export:
    r"""Read a file or a frame as it was exported.

    ``source`` is a path (CSV in any dialect, JSON lines, Parquet, Arrow, ``.xlsx``; packed by gzip or not) or anything
    with the Arrow interface. What ``reading`` does not say is guessed, and said in ``how``; what cannot be guessed is
    asked for in one line.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "shop.csv"
    >>> _ = file.write_text("Kunde;Datum;Kategorie\n17;13.11.2024;Tee\n17;01.12.2024;Rum\n4;02.12.2024;Tee\n")
    >>> found = read_export(file)
    >>> found.records
    Events(3 events of 2 users, 2 items)
    >>> found.how["user"], found.how["time"], found.how["items"], found.how["times"]
    ('Kunde', 'Datum', ['Kategorie'], 'day-first')
    """
    return _read(source, reading or Reading())


def read_exports(a: Any, b: Any, reading: Reading | None = None) -> tuple[Export, Export]:
    """Read two exports over one vocabulary; both must hold the same kind of records.

    >>> shop = {"user": ["ann", "bob", "ann"], "item": ["tea", "rum", "rum"]}
    >>> bank = {"client": ["bob", "ann", "bob"], "category": ["rum", "ale", "ale"]}
    >>> one, two = read_exports(shop, bank)
    >>> one.records.vocabulary == two.records.vocabulary, one.records.vocabulary.labels
    (True, ('ale', 'rum', 'tea'))
    """
    asked = reading or Reading()
    one, two = (_read(source, asked.of_table(side)) for side, source in enumerate((a, b)))
    if one.kind != two.kind:
        kinds = f"{one.how['name']} holds {_WHAT[one.kind]} and {two.how['name']} {_WHAT[two.kind]}"
        raise OptionError(f"{kinds}; give two of a kind, or say what both are with --layout")
    if one.kind not in ("log", "lists"):
        return one, two
    labels = (export.records.vocabulary.labels for export in (one, two))
    both = Vocabulary(sorted({label for some in labels for label in some}))
    one, two = (_with_records(export, export.records.over(both)) for export in (one, two))
    return one, two


_WHAT = {
    "log": "one row per event",
    "people": "one row per person",
    "lists": "lists of items",
    "traces": "one item per person and period",
}


def _with_records(export: Export, records: Any) -> Export:
    return Export(export.kind, records, export.how, export.notes)


def _read(given: Any, how: Reading) -> Export:
    source = open_source(given, how)
    if source.table.n_rows == 0 and not source.bad.count:
        raise DataError(f"{source.name}: the table is empty; give at least one row")
    user = find_user(source, how)
    time = find_time(source, how, [user] if user else [])
    if user is None:
        raise OptionError(f"{source.name}: no column names people; say which does with --user")
    taken = [name for name in (user, time) if name is not None]
    amount = find_amount(source, how, taken)
    place = names.place_of(source.columns)
    items = find_items(source, how, [*taken, *([amount] if amount else [])], place)
    roles = Roles(user, time, items, amount, place if not items or how.grid is not None else None)
    log = read_log(source, roles, how)
    how_read = understood(source, "log", roles, None if log.times is None else (log.times.form, log.times.proof))
    return Export("log", log.events, how_read, log.notes)


def understood(source: Source, kind: Kind, roles: Roles, times: tuple[str, str] | None) -> Note:
    """Note how an export was understood: its dialect, its kind, which column is what, and which are not used."""
    dialect = source.dialect
    written = {} if dialect is None else {"delimiter": dialect.delimiter, "encoding": dialect.encoding}
    return Note(
        "understood-as",
        name=source.name,
        kind=kind,
        user=roles.user,
        time=roles.time,
        items=list(roles.items),
        amount=roles.amount,
        place=list(roles.place or ()),
        times=None if times is None else times[0],
        proof="" if times is None else times[1],
        unused=[name for name in source.columns if name not in roles.used],
        **written,
    )
