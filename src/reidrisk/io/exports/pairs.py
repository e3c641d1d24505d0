"""True pairs out of any table: which person of the second table is who in the first."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.base import Ints, Note, TruthError, UserIds
from reidrisk.base.options import option
from reidrisk.io.exports.reading import Reading
from reidrisk.io.exports.roles import column
from reidrisk.io.exports.source import Source, open_source
from reidrisk.io.exports.values import plain_values
from reidrisk.io.tables.columns import first_repeat

_KNOWN = ("target", "query")
"""The columns of pairs where none are named: ids of the known records, and of those to identify."""
_ENOUGH = 0.5  # share of the ids of a column that must be in a table


def read_pairs(
    given: Any, targets: UserIds | None, queries: UserIds | None, strict: bool = False
) -> tuple[Ints, tuple[Note, ...]]:
    r"""Return the row of the target of each query, -1 = none, and a note where pairs name people who are in no table.

    ``given`` is a mapping of ids (``{"p1": "q7"}``), a frame, or a path, with or without two columns behind it, as in
    ``pairs.csv:crm_id=partner_id``. Default: the columns ``target`` and ``query``, or the only two there are. Which
    column is of which table shows in the ids: two that are named are of the first table and of the second, unless this
    gives no pair and the other order does. Ids are compared as text where one side has numbers and the other text.
    Where the pairs must be ``strict``, those who are in no table are refused, and so are further columns, unless two
    are named.

    >>> from reidrisk.base.users import as_users
    >>> pairs = {"crm": [11, 12, 13], "partner": ["b", "a", "z"]}
    >>> rows, notes = read_pairs(pairs, as_users([12, 11, 13], 3), as_users(["a", "b", "c"], 3))
    >>> rows.tolist(), notes[0]["queries"]
    ([0, 1, -1], 1)
    """
    source, named = _opened(given)
    if targets is None or queries is None:
        raise TruthError(
            f"{source.name}: true pairs name people, and the tables do not; name the column with {option('user')}"
        )
    one, two = (column(source, name) for name in named) if named else _usual(source, targets, queries)
    target, query = _rows(source, one, targets), _rows(source, two, queries)
    if not ((target >= 0) & (query >= 0)).any():
        turned = _rows(source, two, targets), _rows(source, one, queries)
        if ((turned[0] >= 0) & (turned[1] >= 0)).any():
            (one, two), (target, query) = (two, one), turned
    strangers = (target < 0) & ~_empty(source, one), (query < 0) & ~_empty(source, two)
    if strict:
        if more := () if named else [name for name in source.columns if name not in (one, two)]:
            say = f"leave it out, or name the two with FILE:{one}={two}"
            raise TruthError(f"{source.name}: true pairs are two columns, and {more[0]!r} is a third; {say}")
        _refuse_strangers(source, one, strangers[0], "the known records; leave it empty where there is none")
        _refuse_strangers(source, two, query < 0, "the records to identify; every pair names one")
    absent = {"targets": int(strangers[0].sum()), "queries": int(strangers[1].sum())}
    here = np.flatnonzero(query >= 0)
    if twice := first_repeat(query[here]):
        first, second = here[list(twice)] + 1
        same = f"rows {first} and {second} are of the same person of the second table"
        raise TruthError(f"{source.name}: {same}; give each of them one pair")
    truth = np.full(len(queries), -1, dtype=np.int64)
    truth[query[here]] = target[here]
    if not (truth >= 0).any():
        where = f"columns {one!r} and {two!r}"
        raise TruthError(f"{source.name}: no pair of the {where} is of people in both tables; name two other columns")
    if not any(absent.values()):
        return truth, ()
    return truth, (Note("pairs-absent", pairs=source.table.n_rows, **absent),)


def _refuse_strangers(source: Source, name: str, wrong: Any, among: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        who = source.column(name)[row].as_py()
        raise TruthError(f"{source.name}: row {row + 1}, column {name!r} names {who!r}, who is not among {among}")


def _opened(given: Any) -> tuple[Source, tuple[str, str] | None]:
    """Open a table of pairs, and return the names of its two columns where they are given."""
    if isinstance(given, Mapping) and all(
        isinstance(one, str) or not hasattr(one, "__len__") for one in given.values()
    ):
        return open_source({"keys": list(given), "values": list(given.values())}, Reading()), ("keys", "values")
    if isinstance(given, str | Path) and not Path(given).exists():
        path, colon, names = str(given).rpartition(":")
        if colon and "=" in names:
            one, _, two = names.partition("=")
            return open_source(path, Reading()), (one.strip(), two.strip())
    return open_source(given, Reading()), None


def _usual(source: Source, targets: UserIds, queries: UserIds) -> tuple[str, str]:
    """Return the two columns of pairs by their names, or by the tables that their ids are in."""
    if set(_KNOWN) <= set(source.columns):
        return _KNOWN
    say = f"say which ones with FILE:COLUMN=COLUMN ({option('truth')}), ids of the first table and of the second"
    if len(source.columns) != 2:
        listed = ", ".join(map(repr, source.columns[:20]))
        raise TruthError(f"{source.name}: true pairs are two columns, and there are {listed}; {say}")
    one, two = source.columns
    fits = [
        bool((_rows(source, a, targets) >= 0).mean() > _ENOUGH and (_rows(source, b, queries) >= 0).mean() > _ENOUGH)
        for a, b in ((one, two), (two, one))
    ]
    if fits[0] == fits[1]:
        why = "may be of either table" if fits[0] else "are not those of the tables"
        raise TruthError(f"{source.name}: the ids in {one!r} and {two!r} {why}; {say}")
    return (one, two) if fits[0] else (two, one)


def _rows(source: Source, name: str, users: UserIds) -> Ints:
    """Return the row of each id of a column among the users of a table, -1 where it is not there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = plain_values(source.column(name), is_id=True)
    known = pa.array(users) if isinstance(users, np.ndarray) else users
    if cells.type != known.type:
        if pa.types.is_floating(cells.type):
            cells = cells.cast(pa.int64(), safe=False)
        cells, known = cells.cast(pa.large_string()), known.cast(pa.large_string())
    found = pc.index_in(cells, value_set=known)
    rows = found.fill_null(-1).to_numpy().astype(np.int64)
    return np.where(_empty(source, name), -1, rows)


def _empty(source: Source, name: str) -> Any:
    return plain_values(source.column(name), is_id=True).is_null().to_numpy()
