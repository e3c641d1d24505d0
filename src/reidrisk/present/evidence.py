"""The evidence pack: all that backs a result in one ZIP file, which an auditor can check without this package."""

import csv
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reidrisk.base import OptionError, printable
from reidrisk.io.atomic import is_stream, write_atomically
from reidrisk.present.html import offline
from reidrisk.present.model import Page, Section, Table
from reidrisk.present.words.register import texts

SUMS = "SHA256SUMS"
_MOMENT = (1980, 1, 1, 0, 0, 0)  # of every file in the pack: the same result gives the same bytes
_FORMULA = ("=", "+", "-", "@", "\t")  # what a spreadsheet would run
_NUMBERS = re.compile(r"-[\d.,]+( to -?[\d.,]+)?( %| in [\d,]+)?")  # which it would show as they are


def write(result: Any, path: str | Path) -> None:
    """Write the pack of a result; an interrupted run leaves the old file or none. It needs the extra ``report``."""
    if not is_stream(path) and Path(path).suffix.lower() != ".zip":
        raise OptionError(f"{path}: an evidence pack is a ZIP file; give it a name that ends in .zip")
    files = contents(result)
    with write_atomically(path) as new, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, data in files.items():
            inside = zipfile.ZipInfo(name, _MOMENT)
            inside.compress_type = zipfile.ZIP_DEFLATED
            pack.writestr(inside, data)


def contents(result: Any) -> dict[str, bytes]:
    """Return what the pack holds, by name: page, result, spec, tables, charts, what is what, and a sum of each file."""
    from reidrisk.present import page

    made = page(result)
    files = {
        "README.txt": "\n".join((*filter(None, (made.warning,)), *texts("choices")["evidence"]["readme"], "")),
        "report.html": offline.render(made),
        "result.json": _json(result.to_dict()),
        "spec.json": _json(getattr(result, "again", getattr(result, "spec", {}))),
    }
    files |= {f"tables/{name}.csv": _csv(table) for name, table in _tables(made)}
    files |= {f"charts/{name}.svg": offline.still(figure.draw) for name, figure in made.figures().items()}
    held = {name: text.encode() for name, text in files.items()}
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in held.items())
    return {**held, SUMS: sums.encode()}


def _json(values: Any) -> str:
    return json.dumps(values, indent=2, allow_nan=False, default=str) + "\n"


def _tables(page: Page) -> Iterator[tuple[str, Table]]:
    """Give every table of a page, and the numbers of every chart, each under the name of its section."""
    taken: dict[str, int] = {}
    for section in page.sections:
        for name, table in _of_section(section):
            taken[name] = taken.get(name, 0) + 1
            yield name if taken[name] == 1 else f"{name}-{taken[name]}", table


def _of_section(section: Section, within: str = "section") -> Iterator[tuple[str, Table]]:
    """Give the tables of a section and its parts; one without a title has the name of what it is part of."""
    name = "".join(letter if letter.isalnum() or letter == "-" else "-" for letter in section.anchor) or within
    if section.table is not None and section.table.rows:
        yield name, section.table
    if section.figure is not None and section.figure.numbers is not None:
        yield f"{name}-figure", section.figure.numbers
    for part in section.parts:
        yield from _of_section(part, name)


def _csv(table: Table) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_cell(name) for name in table.columns])
    writer.writerows([_cell(str(value)) for value in row] for row in table.rows)
    return out.getvalue()


def _cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet runs as a formula; negative numbers stay as they are."""
    shown = printable(text)
    return f"'{shown}" if shown.startswith(_FORMULA) and not _NUMBERS.fullmatch(shown) else shown
