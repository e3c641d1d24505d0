"""JSON lines: one object per line, or a list of objects, as a table; lines that are none are counted."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reidrisk.base import FormatError, reason
from reidrisk.io.exports.text import BadRows
from reidrisk.io.tables.opening import opened, while_reading


def read_json_lines(file: Path, name: str, bad: BadRows) -> Any:
    """Return the objects as an Arrow table: a column for each of their keys, text where its values are of two kinds.

    Times stay text, so that one rule for zones holds in all formats, and so do numbers that no fraction keeps.
    """
    import pyarrow as pa

    try:
        if (table := _quick(file)) is not None:
            return table
    except (pa.ArrowException, OSError, EOFError):
        pass
    # A line that is no object, a list of them, values of two kinds, or long numbers: line by line.
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


def _quick(file: Path, times: Any = None) -> Any:
    """Return what Arrow reads of the file, or nothing where it would change a value."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import json as quick

    with opened(file) as raw:
        table = quick.read_json(raw, parse_options=None if times is None else quick.ParseOptions(explicit_schema=times))
    table.validate(full=True)
    dates = [field.name for field in table.schema if "timestamp" in str(field.type)]
    if dates:
        return None if times is not None else _quick(file, pa.schema([(name, pa.string()) for name in dates]))
    if any(pa.types.is_struct(cells.type) for cells in table.columns):
        return None
    fractions = [cells for cells in table.columns if pa.types.is_floating(cells.type)]
    most = (pc.max(pc.abs(cells)).as_py() or 0.0 for cells in fractions)
    return None if any(value >= 2.0**53 for value in most) else table


def _objects(lines: io.TextIOWrapper, bad: BadRows) -> Iterator[dict[str, Any]]:
    start = lines.read(1)
    while start.isspace():
        start = lines.read(1)
    if start == "[":
        rows = json.loads(start + lines.read())
        yield from (row for number, row in enumerate(rows, 1) if _is_object(row, number, bad))
        return
    number = 0
    for at, line in enumerate(lines):
        text = start + line if at == 0 else line
        if not text.strip():
            continue
        number += 1
        try:
            row = json.loads(text)
        except ValueError as error:
            bad.add(number, f"is no JSON ({reason(error, 60)})")
            bad.unread += 1
            continue
        if _is_object(row, number, bad):
            yield row


def _is_object(row: Any, number: int, bad: BadRows) -> bool:
    if isinstance(row, dict):
        return True
    bad.add(number, f"holds a {type(row).__name__}, no object")
    bad.unread += 1
    return False


def _array(cells: list[Any]) -> Any:
    import pyarrow as pa

    if any(isinstance(value, dict) for value in cells):
        return pa.array([_text(value) for value in cells], pa.large_string())
    try:
        return pa.array(cells)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([_text(value) for value in cells], pa.large_string())


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)
