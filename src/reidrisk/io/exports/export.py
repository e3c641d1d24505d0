"""Export: one or two files or frames read into records, with one line that says how they were understood."""

import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from reidrisk.base import DataError, Note, OptionError, Vocabulary
from reidrisk.base.options import option
from reidrisk.io.exports import names
from reidrisk.io.exports.clocks import find_clock
from reidrisk.io.exports.counts import count_columns, read_counts
from reidrisk.io.exports.ids import ids_alike
from reidrisk.io.exports.lists import ROW, one_row_per_item
from reidrisk.io.exports.log import read_log
from reidrisk.io.exports.people import columns_like, read_people
from reidrisk.io.exports.reading import Reading
from reidrisk.io.exports.roles import (
    Roles,
    find_amount,
    find_items,
    find_time,
    find_user,
    find_values,
    has_times,
    list_columns,
    unreadable,
)
from reidrisk.io.exports.source import Source, are_unique, is_unique, open_source
from reidrisk.io.exports.vectors import read_vectors, vector_columns
from reidrisk.io.tables.encoding import Encoding, settle
from reidrisk.io.tables.tokens import RawTokens, read_raw
from reidrisk.io.traces import build_traces
from reidrisk.records import Attributes
from reidrisk.records.registry import Entry, entry, of_layout

_FORMS = dict.fromkeys(entry("traces").layouts, "traces")  # both layouts of traces are read in one way


@dataclass(frozen=True)
class Export:
    """What was read: records, how they were understood, and what was left out or merged on the way."""

    kind: str  # "traces", or else the layout: "log", "people", "lists", "vectors", or one registered with its records
    records: Any
    """:class:`Events`, :class:`Attributes`, :class:`Bags`, :class:`Traces`, :class:`Vectors` or others, by ``kind``."""
    how: Note  # understood-as: the one line that says which column is what
    notes: tuple[Note, ...] = ()


def read_export(source: Any, reading: Reading | None = None) -> Export:
    r"""Read a file or a frame as it was exported.

    ``source`` is a path (CSV in any dialect, JSON lines, Parquet, Arrow, NPY, NPZ, ``.xlsx``; packed by gzip or not),
    anything with the Arrow interface, or an array of vectors. What ``reading`` does not say is guessed, and said in
    ``how``; what cannot be guessed is asked for in one line.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "shop.csv"
    >>> _ = file.write_text("Kunde;Datum;Kategorie\n17;13.11.2024;Tee\n17;01.12.2024;Rum\n4;02.12.2024;Tee\n")
    >>> found = read_export(file)
    >>> found.records
    Events(3 events of 2 users, 2 items)
    >>> found.how["user"], found.how["time"], found.how["items"], found.how["times"]
    ('Kunde', 'Datum', ['Kategorie'], 'day-first')
    """
    opened = _opened(source, reading or Reading())
    read = _read(*opened)
    return replace(read, notes=opened[0].notes + read.notes)


def read_exports(a: Any, b: Any, reading: Reading | None = None) -> tuple[Export, Export]:
    """Read two exports over one vocabulary; both must hold the same kind of records.

    >>> shop = {"user": ["ann", "bob", "ann"], "item": ["tea", "rum", "rum"]}
    >>> bank = {"client": ["bob", "ann", "bob"], "category": ["rum", "ale", "ale"]}
    >>> one, two = read_exports(shop, bank)
    >>> one.records.vocabulary == two.records.vocabulary, one.records.vocabulary.labels
    (True, ('ale', 'rum', 'tea'))
    """
    asked = reading or Reading()
    sides = [_opened(given, asked.of_table(side)) for side, given in enumerate((a, b))]
    sides[1][0].labels = sides[0][0].labels
    if sides[0][1] != sides[1][1]:
        both = " and ".join(f"{source.name} holds {_entry(kind).holds}" for source, kind, _ in sides)
        wrong = DataError if "vectors" in (sides[0][1], sides[1][1]) else OptionError  # no layout makes both alike
        raise wrong(f"{both}; give two of a kind, or say what both are with {option('layout')}")
    one, two = _over_one(sides)
    one, two = (replace(read, notes=side[0].notes + read.notes) for read, side in zip((one, two), sides, strict=True))
    return _ids_alike(one, two)


def _over_one(sides: Sequence[tuple[Source, str, Reading]]) -> tuple[Export, Export]:
    """Read two exports of one kind over one vocabulary."""
    kind = sides[0][1]
    if kind == "traces":
        raw = [read_raw(source.table, _trace_layout(how), labels=False) for source, _, how in sides]
        encoding = settle(raw, None, None)
        one, two = (_of_traces(source, part, encoding) for (source, _, _), part in zip(sides, raw, strict=True))
        return one, two
    source, _, how = sides[0]
    one = _read(replace(source, bad=deepcopy(source.bad)), kind, how, alone=False)
    if kind == "people":
        source, _, how = sides[1]
        two = _read(source.renamed(columns_like(one.records, source)), "people", how, alone=False)
        first, second = Attributes.together(one.records, two.records)
    elif kind == "vectors" or _entry(kind).read is not None:
        return one, _read(*sides[1])
    else:
        codes = set(sides[0][0].labels.codes)
        two = _read(*sides[1])
        if codes != sides[0][0].labels.codes:  # what are codes in one table are codes in the other
            one = _read(*sides[0])
        labels = (export.records.vocabulary.labels for export in (one, two))
        both = Vocabulary(sorted({label for some in labels for label in some}))
        first, second = one.records.over(both), two.records.over(both)
    return replace(one, records=first), replace(two, records=second)


def _ids_alike(one: Export, two: Export) -> tuple[Export, Export]:
    first, second, notes = ids_alike(one.records.users, two.records.users)
    if first is one.records.users and second is two.records.users:
        return one, two
    one = replace(one, records=one.records.with_users(first), notes=one.notes + notes)
    return one, replace(two, records=two.records.with_users(second))


_FEW = 8  # columns of traces that are named
_EPOCH = re.compile(r"epoch_[0-9]{1,9}(?:_[0-9]{1,9})?")


def _opened(given: Any, how: Reading) -> tuple[Source, str, Reading]:
    source = open_source(given, how)
    if source.table.n_rows == 0 and not source.bad.count:
        raise DataError(f"{source.name}: the table is empty; give at least one row")
    return source, _kind(source, how), how


def _entry(kind: str) -> Entry:
    """Return the records that an export of this kind holds."""
    return entry(kind) if kind in _FORMS.values() else of_layout(kind)


def _kind(source: Source, how: Reading) -> str:
    """Tell what an export holds: as is said, or as its columns and the ids of its people show."""
    if how.layout is not None:
        return _FORMS.get(how.layout, how.layout)
    named = how.user is not None or how.time is not None or bool(how.items)
    if not named and _are_traces(source):
        return "traces"
    if count_columns(source, how):
        return "counts"
    if vector_columns(source, how):
        return "vectors"
    if list_columns(source, how):
        return "lists"
    if how.items or how.grid is not None:
        return "log"
    user = find_user(source, how)
    if user is not None and not is_unique(source, user):
        return "log"
    is_sure = user is not None and (how.user is not None or names.user_score(user) > 1)
    if is_sure or how.columns or not has_times(source, how):
        return "people"
    say = f"say which does with {option('user')}, or that each row is a person with {option('layout', 'people')}"
    raise OptionError(f"{source.name}: no column names people; {say}")


def holds_traces(given: Any) -> bool:
    """Tell whether a file or a frame is a table of traces (or of top sets), by its columns."""
    return _are_traces(open_source(given, Reading()))


def _are_traces(source: Source) -> bool:
    """Tell whether these are traces: one item per person and period, so no two rows for one of them."""
    there = set(source.columns)
    if any(_EPOCH.fullmatch(name) for name in there):
        return True
    return {"user", "epoch", "token"} == there and are_unique(source, ["user", "epoch"])


def _trace_layout(how: Reading) -> str | None:
    return how.layout if how.layout in _FORMS else None


def _of_traces(source: Source, raw: RawTokens, encoding: Encoding) -> Export:
    roles = Roles(user="user" if "user" in source.columns else None)
    used = [name for name in source.columns if name != "user"]
    how = understood(source, "traces", Roles(roles.user, items=tuple(used[:_FEW])), None)
    return Export("traces", build_traces(raw, encoding), how, (*encoding.notes, *raw.notes))


def _read(source: Source, kind: str, how: Reading, alone: bool = True) -> Export:
    own = _entry(kind).read
    if own is not None:
        import pyarrow as pa

        whole = pa.table({name: source.column(name) for name in source.columns})
        return Export(kind, own(whole), understood(source, kind, Roles(None, items=tuple(source.columns[:_FEW])), None))
    if kind == "traces":
        raw = read_raw(source.table, _trace_layout(how), labels=False)
        return _of_traces(source, raw, settle([raw], None, None))
    if kind == "vectors":
        vectors, roles, times = read_vectors(source, how)
        form = "vectors" if vectors.several is None else "several-vectors"
        return Export("vectors", vectors, understood(source, form, roles, times))
    if kind == "counts":
        bags, user, items, note = read_counts(source, how)
        return Export("counts", bags, understood(source, "counts", Roles(user, items=items), None), (note,))
    user = find_user(source, how)
    if kind == "people":
        if user is not None and how.user is None and names.user_score(user) == 1 and not is_unique(source, user):
            user = None
        people, notes, used = read_people(source, user, how, alone)
        return Export("people", people, understood(source, "people", Roles(user, items=tuple(used)), None), notes)
    time = find_time(source, how, [user] if user else [])
    lists = list_columns(source, how)
    if kind == "lists" or lists:
        return _read_lists(source, how, user, time, lists)
    if user is None:
        raise OptionError(f"{source.name}: no column names people; say which does with {option('user')}")
    clock = find_clock(source, time, [user, *how.items, *([how.amount] if how.amount else [])])
    taken = [name for name in (user, time, clock) if name is not None]
    amount = find_amount(source, how, taken)
    place = names.place_of(source.columns)
    items = find_items(source, how, [*taken, *([amount] if amount else [])], place)
    roles = Roles(user, time, items, amount, place if how.grid is not None else None, clock=clock)
    if how.grid is not None and place is None:
        raise OptionError(
            f"{source.name}: no columns of latitude and longitude are there for {option('grid')}; rename them so"
        )
    return _of_log(source, replace(roles, values=find_values(source, how, roles)), how)


def _of_log(source: Source, roles: Roles, how: Reading) -> Export:
    log = read_log(source, roles, how)
    times = None if log.times is None else (log.times.form, log.times.proof)
    notes = (*log.notes, *unreadable(source, how, roles))
    return Export("log", log.events, understood(source, "log", roles, times), notes)


def _read_lists(source: Source, how: Reading, user: str | None, time: str | None, lists: tuple[str, ...]) -> Export:
    """Read one row per item of the lists: a log where people have several rows or times, else bags."""
    if len(lists) != 1:
        listed = ", ".join(map(repr, lists)) or "none"
        raise OptionError(f"{source.name}: the columns of lists are {listed}; say which one with {option('items')}")
    beside = [name for name in (user, time) if name is not None]
    is_log = user is not None and (time is not None or not is_unique(source, user))
    flat = one_row_per_item(source, lists[0], beside, by_row=user is None)
    read = _of_log(flat, Roles(user or ROW, time, lists), how)
    roles = Roles(user, time, lists)
    kind = "log" if is_log else "lists"
    records = read.records if is_log else read.records.bags().with_notes(())
    notes = (*read.notes, *unreadable(source, how, roles))
    return Export(kind, records, understood(source, kind, roles, (read.how["times"] or "", "")), notes)


def understood(source: Source, kind: str, roles: Roles, times: tuple[str, str] | None) -> Note:
    """Note how an export was understood: its dialect, its kind, which column is what, and which are not used."""
    dialect = source.dialect
    written = {} if dialect is None else {"delimiter": dialect.delimiter, "encoding": dialect.encoding}
    return Note(
        "understood-as",
        name=source.name,
        kind=kind,
        user=roles.user,
        time=roles.time,
        clock=roles.clock,
        items=list(roles.items),
        amount=roles.amount,
        place=list(roles.place or ()),
        times=None if times is None else times[0],
        proof="" if times is None else times[1],
        unused=[name for name in source.columns if name not in roles.used],
        **written,
    )
