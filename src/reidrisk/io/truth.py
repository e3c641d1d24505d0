"""Files of true pairs, for tables whose ids differ: which query belongs to which target."""

from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Ints
from reidrisk.base.errors import FormatError, TruthError
from reidrisk.base.users import UserIds, find_users, is_text
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables.cells import typed
from reidrisk.io.tables.columns import cell, first_repeat, holds_text, shown_user, user_ids
from reidrisk.io.tables.formats import Table, open_table
from reidrisk.io.tables.layouts import require_columns
from reidrisk.records import Bags, Traces


def true_rows(path: PathLike, targets: Traces | Bags, queries: Traces | Bags) -> Ints:
    """Return the row of the target of each query, -1 = not among the targets, as a file of true pairs says."""
    if targets.users is None or queries.users is None:
        raise TruthError(f"{path}: true pairs name users, and the two tables do not; give both a column 'user'")
    sides = {"query": queries.users, "target": targets.users}
    table = open_table(path)
    require_columns(table, list(sides), "true pairs")
    table = typed(table, ids=[column for column, known in sides.items() if not is_text(known)])
    (stating, query_rows), (named, target_rows) = (_found(table, column, known) for column, known in sides.items())
    if not stating.all():
        where = cell(table.name, int(np.argmin(stating)), "query")
        raise TruthError(f"{where} has no user id; every pair names its query")
    if twice := first_repeat(query_rows):
        same = f"rows {twice[0] + 1} and {twice[1] + 1} are of the same query"
        raise TruthError(f"{table.name}: {same}; give every query one target")
    truth = np.full(len(queries), -1, dtype=np.int64)
    truth[query_rows[named]] = target_rows
    return truth


def _found(table: Table, column: str, known: UserIds) -> tuple[npt.NDArray[np.bool_], Ints]:
    """Return which rows of the file name a user in this column, and who that is among the known ones."""
    import pyarrow as pa
    import pyarrow.compute as pc  # not loaded with pyarrow itself

    kind, is_null = table.types[column], pa.types.is_null(table.types[column])
    if not is_null and holds_text(kind) != is_text(known):
        given, wanted = ("text", "integers") if holds_text(kind) else (str(kind), "text")
        raise FormatError(f"{table.name}: column {column!r} is {given} but the user ids of the table are {wanted}")
    values: Any = table.column(column)
    if is_text(known):
        values = values.cast(pa.large_string())
        values = pc.if_else(pc.equal(values, ""), None, values)
    elif is_null:
        values = values.cast(pa.int64())
    stated = values.is_valid().to_numpy()
    ids = user_ids(table.name, column, values.drop_null())
    rows = find_users(ids, known)
    if (rows < 0).any():
        at = int(np.argmax(rows < 0))
        where = cell(table.name, int(np.flatnonzero(stated)[at]), column)
        who = f"names user {shown_user(ids, at)}, who is not among the {'queries' if column == 'query' else 'targets'}"
        raise TruthError(f"{where} {who}; correct it (a query without a target has an empty cell there)")
    return stated, rows
