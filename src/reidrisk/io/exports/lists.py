"""Lists of items: a column of lists, or of lists in JSON, becomes one row per item."""

import json
from dataclasses import replace
from typing import Any

import numpy as np

from reidrisk.base import DataError, reason
from reidrisk.io.exports.source import Source
from reidrisk.io.tables.columns import is_list
from reidrisk.io.tables.formats import table_of_frame

ROW = "row"  # the column of people where none names them: each row is one


def one_row_per_item(source: Source, column: str, beside: list[str], by_row: bool) -> Source:
    """Return the same table with a row for each item of the lists; an empty list has a row without one.

    Columns ``beside`` them are repeated; ``by_row`` adds the number of the row as the person.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = source.column(column)
    lists = cells if is_list(cells.type) else pa.chunked_array([_from_json(source, column)])
    lists = lists.combine_chunks()
    lists = pa.concat_arrays(lists.chunks) if isinstance(lists, pa.ChunkedArray) else lists
    lengths = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    parents = np.repeat(np.arange(len(lists)), np.maximum(lengths, 1))
    place = np.full(len(parents), -1, dtype=np.int64)
    place[np.repeat(lengths > 0, np.maximum(lengths, 1))] = np.arange(int(lengths.sum()))
    items = lists.flatten().take(pa.array(place, mask=place < 0))
    rows = pa.array(parents)
    made: dict[str, Any] = {name: source.column(name).take(rows) for name in beside}
    if by_row:
        made[ROW] = rows
    return replace(source, table=table_of_frame(pa.table(made | {column: items}), source.name), notes=(), _cells={})


def _from_json(source: Source, column: str) -> Any:
    import pyarrow as pa

    found: list[list[str | None] | None] = []
    for row, text in enumerate(source.column(column).to_pylist()):
        if text is None or not text.strip():
            found.append(None)
            continue
        try:
            values = json.loads(text)
        except ValueError as error:
            wrong = f"row {row + 1} holds {text[:60]!r}, which is no list in JSON ({reason(error, 60)})"
            raise DataError(f"{source.where(column)}: {wrong}; correct it") from error
        if not isinstance(values, list) or any(isinstance(value, list | dict) for value in values):
            raise DataError(f"{source.where(column)}: row {row + 1} holds {text[:60]!r}; give lists of plain values")
        found.append([None if value is None else _text(value) for value in values])
    return pa.array(found, pa.large_list(pa.large_string()))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
