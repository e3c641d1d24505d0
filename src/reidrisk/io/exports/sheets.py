"""Spreadsheets: the first sheet of a workbook that is shown, as a table."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile, is_zipfile

from reidrisk.base import FormatError, Note, printable, reason, require
from reidrisk.io.tables.opening import while_reading

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_OFFICE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


def read_sheet(file: Path, name: str) -> tuple[Any, tuple[Note, ...]]:
    """Return the first sheet of a workbook that is not hidden as an Arrow table, and a note where there are others.

    Its first row names the columns. Cells that are merged over several rows are refused: all but the first are empty.
    """
    fastexcel = require("fastexcel", "excel", f"reading {file.suffix}")
    try:
        book = fastexcel.read_excel(str(file))
        names = book.sheet_names
        sheets = (book.load_sheet(number, schema_sample_rows=None) for number in range(len(names)))
        sheet = next((sheet for sheet in sheets if sheet.visible == "visible"), None)
        if sheet is None:
            raise FormatError(f"{name}: every sheet is hidden; show the one to read, or save it as CSV")
        table = sheet.to_arrow()
    except fastexcel.FastExcelError as error:
        why = printable(reason(error))
        raise FormatError(f"{name}: cannot be read as a workbook ({why}); save the sheet as CSV") from error
    if is_zipfile(file) and (found := _merged(file, sheet.name)):
        what = f"the sheet {sheet.name!r} has cells that are merged over several rows, such as {found}"
        raise FormatError(f"{name}: {what}; separate them, and fill in every row")
    return table, (Note("first-sheet", name=name, sheet=sheet.name, others=len(names) - 1),) if len(names) > 1 else ()


def _merged(file: Path, sheet: str) -> str | None:
    """Return a range of merged cells, of several rows, in a sheet of an .xlsx file; ``None`` where there is none."""
    with while_reading(str(file), "a workbook"), ZipFile(file) as book:
        if "xl/workbook.xml" not in book.namelist():
            return None
        listed = ElementTree.fromstring(book.read("xl/workbook.xml")).iter(f"{_MAIN}sheet")
        related = ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))
        key = next(one.get(f"{_OFFICE}id") for one in listed if one.get("name") == sheet)
        target = next(str(one.get("Target")) for one in related if one.get("Id") == key)
        content = book.read(target.removeprefix("/") if target.startswith("/") else f"xl/{target}").decode()
    ranges = re.finditer(r'<mergeCell ref="[A-Z]+([0-9]+):[A-Z]+([0-9]+)"', content)
    return next((found[0].split('"')[1] for found in ranges if found[1] != found[2]), None)
