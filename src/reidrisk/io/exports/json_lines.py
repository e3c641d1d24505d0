"""JSON lines: one object per line, or a list of objects, as a table; lines that are none are counted."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reidrisk.base import FormatError, reason
from reidrisk.io.exports.dialect import opened
from reidrisk.io.exports.text import BadRows
from reidrisk.io.tables.opening import while_reading


def read_json_lines(file: Path, name: str, bad: BadRows) -> Any:
    """Return the objects as an Arrow table: a column for each of their keys, text where its values are of two kinds."""
    import pyarrow as pa
    from pyarrow import json as quick

    try:
        with opened(file) as raw:
            return quick.read_json(raw)
    except (pa.ArrowException, OSError, EOFError):
        bad.clear()  # a line that is no object, a list of them, or values of two kinds: line by line
    columns: dict[str, list[Any]] = {}
    n = 0
    with while_reading(name, "JSON lines"), opened(file) as raw, io.TextIOWrapper(raw, "utf-8-sig") as lines:
        for row in _objects(lines, bad):
            for key, value in row.items():
                columns.setdefault(key, [None] * n).append(value)
            n += 1
            for cells in columns.values():
                if len(cells) < n:
                    cells.append(None)
    if not columns:
        raise FormatError(f'{name}: no line holds an object; write one per line, such as {{"user": 1}}')
    return pa.table({key: _array(cells) for key, cells in columns.items()})


def _objects(lines: io.TextIOWrapper, bad: BadRows) -> Iterator[dict[str, Any]]:
    start = lines.read(1)
    while start.isspace():
        start = lines.read(1)
    if start == "[":
        rows = json.loads(start + lines.read())
        yield from (row for at, row in enumerate(rows) if _is_object(row, at, bad))
        return
    for at, line in enumerate(lines):
        text = start + line if at == 0 else line
        if not text.strip():
            continue
        try:
            row = json.loads(text)
        except ValueError as error:
            bad.add(at + 1, f"is no JSON ({reason(error, 60)})")
            bad.unread += 1
            continue
        if _is_object(row, at, bad):
            yield row


def _is_object(row: Any, at: int, bad: BadRows) -> bool:
    if isinstance(row, dict):
        return True
    bad.add(at + 1, f"holds a {type(row).__name__}, no object")
    bad.unread += 1
    return False


def _array(cells: list[Any]) -> Any:
    import pyarrow as pa

    try:
        return pa.array(cells)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([_text(value) for value in cells], pa.large_string())


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)
