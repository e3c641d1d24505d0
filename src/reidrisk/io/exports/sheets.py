"""Spreadsheets: the first sheet of a workbook as a table."""

from pathlib import Path
from typing import Any

from reidrisk.base import FormatError, Note, printable, reason, require


def read_sheet(file: Path, name: str) -> tuple[Any, tuple[Note, ...]]:
    """Return the first sheet of a workbook as an Arrow table, and a note where there are others.

    Its first row names the columns.
    """
    fastexcel = require("fastexcel", "excel", f"reading {file.suffix}")
    try:
        book = fastexcel.read_excel(str(file))
        table = book.load_sheet(0, schema_sample_rows=None).to_arrow()
    except fastexcel.FastExcelError as error:
        why = printable(reason(error))
        raise FormatError(f"{name}: cannot be read as a workbook ({why}); save the sheet as CSV") from error
    sheets = book.sheet_names
    return table, (Note("first-sheet", name=name, sheet=sheets[0], others=len(sheets) - 1),) if len(sheets) > 1 else ()
