"""What the text cells of a CSV file stand for: numbers or labels, decided over whole columns."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from reidrisk.base.errors import DataError
from reidrisk.io.tables.columns import cell
from reidrisk.io.tables.formats import BATCH, OpenTable

_FORMS = {
    "whole": r"^-?(0|[1-9][0-9]*)$",
    "digits": r"^[0-9]+$",
    "number": r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$",
    "nan": r"^[+-]?([nN][aA][nN]|[iI][nN][fF])$",
}


def typed(table: OpenTable, tokens: Sequence[str] = (), ids: Sequence[str] = (), labels: bool = False) -> OpenTable:
    """Give the columns of a text table their types; tables that have types are returned as they are.

    Columns of ``tokens`` hold values of one kind, all whole numbers or all labels, and a mixture is refused; they are
    ``labels`` also where they look like numbers if that is said. Columns of ``ids`` are judged one by one: integers if
    every cell is one, else text. An id with leading zeros is text.
    """
    import pyarrow as pa

    if not table.is_text:
        return table
    chosen = {column: pa.int64() for column in ids if _all_integers(table, [column])}
    if not labels:
        kind = _kind_of_tokens(table, tokens)
        chosen |= {column: kind for column in tokens if kind is not None}

    def batches(columns: Sequence[str]) -> Iterator[Any]:
        for batch in table.source(columns):
            named = zip(columns, batch.columns, strict=True)
            arrays = [values.cast(chosen.get(column, values.type)) for column, values in named]
            yield pa.RecordBatch.from_arrays(arrays, list(columns))

    return replace(table, types=table.types | chosen, source=batches)


def _all_integers(table: OpenTable, columns: Sequence[str]) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    for batch in table.batches(columns):
        # Together: a call for each of very many short columns would take most of the time.
        values = pa.concat_arrays(batch.columns)
        # Casting also takes '007' and '0x7': keep those as text, they are other names than '7'.
        padded = pc.match_substring_regex(values, r"^-?0.") if pc.any(pc.starts_with(values, "0")).as_py() else None
        if (padded is not None and pc.any(padded).as_py()) or pc.any(pc.starts_with(values, "-0")).as_py():
            return False
        try:
            values.cast(pa.int64())
        except pa.ArrowInvalid:
            return False
    return True


def _kind_of_tokens(table: OpenTable, columns: Sequence[str]) -> Any:
    """Return the numeric type of these columns, ``None`` for labels; refuse a mixture."""
    import pyarrow as pa
    import pyarrow.compute as pc

    together = max(1, BATCH // max(table.n_rows, 1))
    if all(_all_integers(table, columns[i : i + together]) for i in range(0, len(columns), together)):
        return pa.int64()
    counts = dict.fromkeys(("cells", *_FORMS), 0)
    number_at = text_at = ""
    for column in columns:
        row = 0
        for batch in table.batches([column]):
            values = batch.column(0)
            found = {form: pc.match_substring_regex(values, pattern) for form, pattern in _FORMS.items()}
            counts["cells"] += len(values) - values.null_count
            for form, mask in found.items():
                counts[form] += pc.sum(mask).as_py() or 0
            is_text = pc.invert(pc.or_(found["number"], found["nan"]))
            number_at = number_at or _first(found["number"], values, table.name, row, column)
            text_at = text_at or _first(is_text, values, table.name, row, column)
            row += len(values)
    if counts["number"] == 0 or counts["digits"] == counts["cells"]:
        return None
    if counts["number"] + counts["nan"] < counts["cells"]:
        both = f"{text_at}, but {number_at.removeprefix(table.name + ': ')}"
        alike = "tokens are all integers or all labels (if numbers are labels here, declare the vocabulary)"
        raise DataError(f"{both}; {alike}")
    return pa.int64() if counts["whole"] == counts["cells"] else pa.float64()


def _first(mask: Any, values: Any, name: str, row: int, column: str) -> str:
    found = np.flatnonzero(mask.fill_null(False).to_numpy(zero_copy_only=False))
    return f"{cell(name, row + int(found[0]), column)} holds {values[int(found[0])].as_py()!r}" if found.size else ""
