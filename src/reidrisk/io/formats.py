"""Tables in files: which format a name stands for, and one way to read the columns of all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reidrisk.errors import FormatError, ReidRiskError
from reidrisk.foreign import reason
from reidrisk.io.atomic import PathLike
from reidrisk.io.metadata import NO_METADATA, Metadata, from_json, from_schema

__all__ = [
    "BATCH",
    "ENDINGS",
    "Table",
    "csv_header",
    "existing_file",
    "format_of",
    "open_table",
    "reading",
    "table_of_frame",
    "text_of",
]

ENDINGS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".csv.gz": "csv",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npz": "npz",
}
"""Format by the ending of a file's name."""

BATCH = 1 << 17
"""Rows read at a time: large enough for speed, small enough to stay in the cache of a processor."""

_TITLES = {"parquet": "Parquet", "csv": "CSV", "arrow": "Arrow IPC", "npz": "NPZ"}


@dataclass(frozen=True)
class Table:
    """Columns of a file or frame, read in batches; every error names the file."""

    name: str
    """How messages call it: the path as it was given, or 'the frame'."""
    types: dict[str, Any]
    """Arrow type of each column, in the order of the file."""
    n_rows: int
    metadata: Metadata
    is_text: bool
    """Whether all cells are text, as in CSV: then the reader decides what looks like a number."""
    title: str
    """Name of the format for messages."""
    source: Callable[[Sequence[str]], Iterator[Any]]

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield Arrow record batches with these columns, in row order."""
        with reading(self.name, self.title):
            yield from self.source(columns)

    def column(self, column: str) -> Any:
        """Return a whole column as one Arrow chunked array."""
        import pyarrow as pa

        return pa.chunked_array([batch.column(0) for batch in self.batches([column])], type=self.types[column])


def format_of(path: PathLike) -> str:
    """Tell the format from the ending of the name.

    Examples
    --------
    >>> format_of("weeks.csv.gz"), format_of("weeks.feather")
    ('csv', 'arrow')
    >>> format_of("weeks.xlsx")
    Traceback (most recent call last):
        ...
    reidrisk.errors.FormatError: weeks.xlsx: the ending '.xlsx' is not known; use one of .parquet, .csv, .csv.gz,
    .arrow, .feather, .ipc, .npz
    """
    name = Path(path).name.lower()
    for ending in sorted(ENDINGS, key=len, reverse=True):
        if name.endswith(ending):
            return ENDINGS[ending]
    given = f"the ending {Path(name).suffix!r} is not known" if Path(name).suffix else "the name has no ending"
    raise FormatError(f"{path}: {given}; use one of {', '.join(ENDINGS)}")


def existing_file(path: PathLike) -> Path:
    """Return the path of a file that is there, or say that it is not."""
    file = Path(path)
    if file.is_dir():
        raise FormatError(f"{path}: is a folder, not a file; name the table in it")
    if not file.exists():
        raise FormatError(f"{path}: there is no such file; check the path")
    return file


def text_of(path: PathLike, otherwise: str = "save the file in UTF-8") -> str:
    """Return the UTF-8 text of a file, or say which byte is none and what to do ``otherwise``."""
    file = existing_file(path)
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: byte {error.start} is not UTF-8 text; {otherwise}") from error
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror}") from error


@contextmanager
def reading(name: str, title: str) -> Iterator[None]:
    """Turn whatever a library raises on a damaged file into one line that names the file."""
    import zipfile
    import zlib

    import pyarrow as pa

    try:
        yield
    except ReidRiskError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise FormatError(
            f"{name}: cannot be read as {title}, it may be truncated or damaged; write it again ({reason(error)})"
        ) from error


def open_table(path: PathLike) -> Table:
    """Open a table by the ending of its name; nothing but its head is read yet, except from CSV and NPZ."""
    kind = format_of(path)
    file, name = existing_file(path), str(path)
    opener = {"parquet": _open_parquet, "csv": _open_csv, "arrow": _open_arrow, "npz": _open_npz}[kind]
    with reading(name, _TITLES[kind]):
        return opener(file, name, _TITLES[kind])


def table_of_frame(frame: Any, name: str = "the frame") -> Table:
    """Take any object with the Arrow interface: polars, pyarrow, pandas, DuckDB."""
    import pyarrow as pa

    if not (hasattr(frame, "__arrow_c_stream__") or isinstance(frame, pa.Table | pa.RecordBatch)):
        raise FormatError(
            f"a {type(frame).__name__} has no Arrow interface; give a polars, pandas, pyarrow or DuckDB frame"
        )
    with reading(name, "an Arrow frame"):
        table = pa.table(frame)
        return _in_memory(table, name, "an Arrow frame", from_schema(name, table.schema.metadata))


def _in_memory(table: Any, name: str, title: str, metadata: Metadata, is_text: bool = False) -> Table:
    def batches(columns: Sequence[str]) -> Iterator[Any]:
        yield from table.select(list(columns)).to_batches(max_chunksize=BATCH)

    return Table(name, _types(name, table.schema), table.num_rows, metadata, is_text, title, batches)


def _types(name: str, schema: Any) -> dict[str, Any]:
    types = dict(zip(schema.names, schema.types, strict=True))
    if len(types) != len(schema.names):
        twice = next(column for column in schema.names if schema.names.count(column) > 1)
        raise FormatError(f"{name}: column {twice!r} occurs twice; give every column its own name")
    return types


def _open_parquet(file: Path, name: str, title: str) -> Table:
    import pyarrow.parquet as pq

    opened = pq.ParquetFile(file, page_checksum_verification=True)
    schema = opened.schema_arrow

    def batches(columns: Sequence[str]) -> Iterator[Any]:
        for batch in opened.iter_batches(BATCH, columns=list(columns)):
            yield batch.select(list(columns))

    metadata = from_schema(name, schema.metadata)
    return Table(name, _types(name, schema), opened.metadata.num_rows, metadata, False, title, batches)


def _open_arrow(file: Path, name: str, title: str) -> Table:
    import pyarrow as pa

    with open(file, "rb") as head:
        is_stream = head.read(6) != b"ARROW1"
    if is_stream:
        with pa.OSFile(str(file)) as stream:
            table = pa.ipc.open_stream(stream).read_all()
        table.validate(full=True)
        return _in_memory(table, name, title, from_schema(name, table.schema.metadata))
    opened = pa.ipc.open_file(pa.OSFile(str(file)))
    n_rows = opened.count_rows()

    def batches(columns: Sequence[str]) -> Iterator[Any]:
        for number in range(opened.num_record_batches):
            batch = opened.get_batch(number).select(list(columns))
            batch.validate(full=True)  # damaged offsets would otherwise be followed out of bounds
            for start in range(0, batch.num_rows, BATCH):
                yield batch.slice(start, BATCH)

    metadata = from_schema(name, opened.schema.metadata)
    return Table(name, _types(name, opened.schema), n_rows, metadata, False, title, batches)


def _open_csv(file: Path, name: str, title: str) -> Table:
    from pyarrow import csv

    # One thread: only then does the library know in which row it stumbled.
    read = csv.ReadOptions(use_threads=False)
    names = csv_header(file, name)
    parse = csv.ParseOptions(
        newlines_in_values=True,
        ignore_empty_lines=len(names) > 1,  # in a single column an empty line is an empty cell
    )
    convert = csv.ConvertOptions(
        column_types=dict.fromkeys(names, "string"),
        strings_can_be_null=True,
        null_values=[""],
    )
    try:
        table = csv.read_csv(file, read, parse, convert)
    except ValueError as error:
        odd = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", str(error))
        if odd:
            raise FormatError(
                f"{name}: row {int(odd[1]) - 1} has {odd[3]} cells where the header has {odd[2]}; "
                "the file may be truncated"
            ) from error
        bad = re.search(r"CSV column #(\d+): (?:Row #(\d+): )?.*invalid UTF8", str(error))
        if bad:
            where = f"row {int(bad[2]) - 1}, " if bad[2] else ""
            column = names[int(bad[1])]
            raise FormatError(f"{name}: {where}column {column!r} is not UTF-8 text; save the file in UTF-8") from error
        raise
    return _in_memory(table, name, title, NO_METADATA, is_text=True)


def csv_header(file: Path, name: str) -> list[str]:
    """Return the cells of the first line; an empty file, or one that is not separated by commas, is refused."""
    import csv
    import gzip

    opened = gzip.open if file.name.lower().endswith(".gz") else open
    # Bytes that are not UTF-8 are let through here: the reader of the cells names their row.
    with opened(file, "rt", encoding="utf-8-sig", errors="surrogateescape", newline="") as lines:
        names = next(csv.reader(lines), [])
    if not names:
        raise FormatError(f"{name}: the file is empty; a table has a header and at least one row")
    separator = re.search("[;\t|]", names[0]) if len(names) == 1 else None
    if separator:
        by = {";": "semicolons", "\t": "tabs", "|": "bars"}[separator[0]]
        raise FormatError(f"{name}: the cells are separated by {by}, not by commas; save the file with commas")
    if any("\0" in column or re.search("[\ud800-\udfff]", column) for column in names):
        raise FormatError(f"{name}: the header is not UTF-8 text; save the file in UTF-8")
    return names


def _open_npz(file: Path, name: str, title: str) -> Table:
    import numpy as np
    import pyarrow as pa

    columns: dict[str, Any] = {}
    metadata = NO_METADATA
    with np.load(file, allow_pickle=False) as arrays:
        for key in arrays.files:
            values = arrays[key]
            if key == "reidrisk":
                metadata = from_json(name, str(values))
            elif values.ndim == 1:
                columns[key] = pa.array(values)
            elif key == "tokens" and values.ndim == 2:
                columns |= {f"epoch_{j}": pa.array(values[:, j]) for j in range(values.shape[1])}
            elif key == "tokens" and values.ndim == 3:
                lists = pa.FixedSizeListArray
                for j in range(values.shape[1]):
                    flat = np.ascontiguousarray(values[:, j]).ravel()
                    columns[f"epoch_{j}"] = lists.from_arrays(pa.array(flat), values.shape[2])
            else:
                raise FormatError(
                    f"{name}: array {key!r} has shape {values.shape}; a table holds columns of one dimension, "
                    "or an array 'tokens' of (users, epochs)"
                )
    lengths = {key: len(values) for key, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise FormatError(f"{name}: the arrays differ in length ({lengths}); give every column the same number of rows")
    return _in_memory(pa.table(columns), name, title, metadata)
