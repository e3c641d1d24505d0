"""Spreadsheets: the first sheet of a workbook as a table."""

from pathlib import Path
from typing import Any

from reidrisk.base.errors import FormatError
from reidrisk.base.extras import require
from reidrisk.base.foreign import printable, reason


def read_sheet(file: Path, name: str) -> Any:
    """Return the first sheet of a workbook as an Arrow table; its first row names the columns."""
    fastexcel = require("fastexcel", "excel", f"reading {file.suffix}")
    try:
        book = fastexcel.read_excel(str(file))
        return book.load_sheet(0, schema_sample_rows=None).to_arrow()
    except fastexcel.FastExcelError as error:
        why = printable(reason(error))
        raise FormatError(f"{name}: cannot be read as a workbook ({why}); save the sheet as CSV") from error
