"""Files of true pairs, for tables whose ids differ: which query belongs to which target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import FormatError, TruthError
from reidrisk.base.users import UserIds, find_users, is_text
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables.cells import typed
from reidrisk.io.tables.columns import cell, holds_text
from reidrisk.io.tables.formats import Table, open_table
from reidrisk.io.tables.ids import shown_user, user_ids
from reidrisk.io.tables.layouts import require_columns

if TYPE_CHECKING:
    from reidrisk.io.pair import Pair

_COLUMNS = ["query", "target"]


def read_truth(path: PathLike, pair: Pair[Any]) -> npt.NDArray[np.int64]:
    r"""Read which target each query truly is.

    Parameters
    ----------
    path : str or path
        A table with the columns ``query`` and ``target``: user ids of the two tables. A row with an empty ``target``
        says that the query is not among the targets, and so does a query without a row.
    pair : Pair
        The two tables; both must name their users.

    Returns
    -------
    (n_queries,) int64 array
        Row of the target of each query, -1 = not among the targets.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from reidrisk.io import read_pair
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("user,epoch_0\nann,news\nbob,music\n")
    >>> _ = (folder / "b.csv").write_text("user,epoch_0\n901,music\n902,news\n903,news\n")
    >>> _ = (folder / "pairs.csv").write_text("query,target\n901,bob\n902,ann\n")
    >>> read_pair(folder / "a.csv", folder / "b.csv", truth=folder / "pairs.csv").truth.tolist()
    [1, 0, -1]
    """
    if pair.targets.users is None or pair.queries.users is None:
        raise TruthError(f"{path}: true pairs name users, and the two tables do not; give both a column 'user'")
    table = open_table(path)
    require_columns(table, _COLUMNS, "true pairs")
    numeric = [c for c, t in zip(_COLUMNS, (pair.queries, pair.targets), strict=True) if not is_text(t.users)]
    table = typed(table, ids=numeric)
    queries, stated = _ids(table, "query", pair.queries.users), _ids(table, "target", pair.targets.users)
    if queries[1].size < table.n_rows:
        row = int(np.setdiff1d(np.arange(table.n_rows), queries[1])[0])
        raise TruthError(f"{cell(table.name, row, 'query')} has no user id; every pair names its query")
    query_rows = _found(table, "query", queries, pair.queries.users)
    target_rows = _found(table, "target", stated, pair.targets.users)
    _refuse_two_targets(table.name, query_rows)
    truth = np.full(len(pair.queries), -1, dtype=np.int64)
    truth[query_rows[stated[1]]] = target_rows
    return truth


def _ids(table: Table, column: str, known: UserIds) -> tuple[UserIds, npt.NDArray[np.int64]]:
    """Return the ids that a column states, and the rows that state one."""
    import pyarrow as pa
    import pyarrow.compute as pc  # not loaded with pyarrow itself

    kind = table.types[column]
    if not pa.types.is_null(kind) and holds_text(kind) != is_text(known):
        given, wanted = ("text", "integers") if holds_text(kind) else (str(kind), "text")
        raise FormatError(f"{table.name}: column {column!r} is {given} but the user ids of the table are {wanted}")
    values: Any = table.column(column)
    if pa.types.is_null(kind):
        values = values.cast(pa.large_string() if is_text(known) else pa.int64())
    elif holds_text(kind):
        values = values.cast(pa.large_string())
        values = pc.if_else(pc.equal(values, ""), None, values)
    rows = np.flatnonzero(values.is_valid().to_numpy())
    values = values.drop_null()
    return user_ids(table.name, column, values), rows


def _found(
    table: Table, column: str, stated: tuple[UserIds, npt.NDArray[np.int64]], known: UserIds
) -> npt.NDArray[np.int64]:
    ids, rows = stated
    found = find_users(ids, known)
    if (found < 0).any():
        at = int(np.argmax(found < 0))
        whose = "queries" if column == "query" else "targets"
        raise TruthError(
            f"{cell(table.name, int(rows[at]), column)} names user {shown_user(ids, at)}, who is not among the {whose};"
            " correct it (a query without a target has an empty cell there)"
        )
    return found


def _refuse_two_targets(name: str, query_rows: npt.NDArray[np.int64]) -> None:
    order = np.argsort(query_rows, kind="stable")
    same = np.flatnonzero(query_rows[order[1:]] == query_rows[order[:-1]])
    if same.size:
        first, second = sorted((int(order[same[0]]), int(order[same[0] + 1])))
        raise TruthError(
            f"{name}: rows {first + 1} and {second + 1} are of the same query; give every query one target"
        )
