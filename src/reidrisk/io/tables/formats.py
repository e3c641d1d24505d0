"""Tables in files: which format a name stands for, and one way to read the columns of all of them."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reidrisk.base import DataError, FormatError, sizes
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables.columns import bytes_as_text, is_bytes, is_list, plain_kind
from reidrisk.io.tables.metadata import KEY, Metadata, from_json
from reidrisk.io.tables.opening import existing_file, while_reading

_ARROW = dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow")
ENDINGS = {".parquet": "parquet", ".csv": "csv", ".csv.gz": "csv", **_ARROW, ".npz": "npz"}
"""Format by the ending of a file's name."""

BATCH = 1 << 17  # limit: rows read at a time: large enough for speed, small enough to stay in the cache of a processor

_TITLES = {"parquet": "Parquet", "csv": "CSV", "arrow": "Arrow IPC", "npz": "NPZ"}

_VECTORS = ("vector", "vectors", "embedding", "embeddings", "values")  # arrays of NPZ files that hold one per row

_LESS = "give fewer rows or columns, or split the file"

Source = Callable[[Sequence[str]], Iterator[Any]]
"""Given names of columns, yields Arrow record batches of them, in row order."""


@dataclass(frozen=True)
class OpenTable:
    """Columns of a file or frame, read in batches; every error names the file."""

    name: str  # how messages call it: the path as it was given, or 'the frame'
    title: str  # name of the format for messages
    types: dict[str, Any]  # Arrow type of each column, in the order of the file
    n_rows: int
    metadata: Metadata
    source: Source
    is_text: bool = False  # whether all cells are text, as in CSV: then the reader decides what looks like a number

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield Arrow record batches with these columns, in row order."""
        self.refuse_odd_types(columns)
        sizes.CELLS.check(self.n_rows * max(len(columns), 1), self.name, "give fewer rows or columns")
        with while_reading(self.name, self.title):
            yield from self.source(columns)

    def refuse_odd_types(self, columns: Sequence[str]) -> None:
        """Refuse columns of a type that is neither a value nor a plain list of values."""
        import pyarrow as pa

        for kind, column in {self.types[column]: column for column in reversed(columns)}.items():
            inner = plain_kind(kind.value_type if is_list(kind) else kind)
            odd = pa.types.is_run_end_encoded(inner) or isinstance(inner, pa.BaseExtensionType)
            if odd or pa.types.is_nested(inner) or pa.types.is_dictionary(inner):
                why = f"is of type {str(kind)[:80]}, which is not read; write plain numbers, text or lists of them"
                raise FormatError(f"{self.name}: column {column!r} {why}")

    def column(self, column: str) -> Any:
        """Return a whole column as one Arrow chunked array."""
        import pyarrow as pa

        return pa.chunked_array([batch.column(0) for batch in self.batches([column])], type=self.types[column])


def format_of(path: PathLike) -> str:
    """Tell the format from the ending of the name."""
    name = Path(path).name.lower()
    ending = next(filter(name.endswith, ENDINGS), None)
    if ending:
        return ENDINGS[ending]
    given = f"the ending {Path(name).suffix!r} is not known" if Path(name).suffix else "the name has no ending"
    raise FormatError(f"{path}: {given}; use one of {', '.join(ENDINGS)}")


def open_table(path: PathLike, kind: str | None = None) -> OpenTable:
    """Open a table by the ending of its name, or as ``kind``; nothing but its head is read yet, except CSV and NPZ."""
    kind = kind or format_of(path)
    file, name = existing_file(path), str(path)
    opener = {"parquet": _open_parquet, "csv": _open_csv, "arrow": _open_arrow, "npz": _open_npz}[kind]
    with while_reading(name, _TITLES[kind]):
        return opener(file, name, _TITLES[kind])


def table_of_frame(frame: Any, name: str = "the frame") -> OpenTable:
    """Take any object with the Arrow interface: polars, pyarrow, pandas, DuckDB."""
    import pyarrow as pa

    if not (hasattr(frame, "__arrow_c_stream__") or isinstance(frame, pa.Table | pa.RecordBatch)):
        raise FormatError(f"a {type(frame).__name__} has no Arrow interface; give a frame of polars, pandas or pyarrow")
    with while_reading(name, "an Arrow frame"):
        return _in_memory(pa.table(frame), name, "an Arrow frame")


def _table(name: str, title: str, schema: Any, n_rows: int, source: Source) -> OpenTable:
    import pyarrow as pa

    sizes.COLUMNS.check(len(schema.names), name, "leave some out")
    types = dict(zip(schema.names, schema.types, strict=True))
    if len(types) != len(schema.names):
        twice = Counter(schema.names).most_common(1)[0][0]
        raise FormatError(f"{name}: column {twice!r} occurs twice; give every column its own name")
    metadata = (schema.metadata or {}).get(KEY, b"{}").decode("utf-8", "replace")
    raw = {column for column, kind in types.items() if is_bytes(kind)}
    types |= dict.fromkeys(raw, pa.large_string())

    def as_text(columns: Sequence[str]) -> Iterator[Any]:
        for batch in source(columns):
            cells = zip(columns, batch.columns, strict=True)
            yield pa.RecordBatch.from_arrays([bytes_as_text(c) if n in raw else c for n, c in cells], list(columns))

    return OpenTable(name, title, types, n_rows, from_json(name, metadata), as_text if raw else source)


def _in_memory(table: Any, name: str, title: str) -> OpenTable:
    def batches(columns: Sequence[str]) -> Iterator[Any]:
        yield from table.select(list(columns)).to_batches(max_chunksize=BATCH)

    return _table(name, title, table.schema, table.num_rows, batches)


def _open_parquet(file: Path, name: str, title: str) -> OpenTable:
    import pyarrow as pa
    import pyarrow.parquet as pq

    opened = pq.ParquetFile(pa.OSFile(os.fsencode(file)), page_checksum_verification=True)

    unpacked, held = Counter[str](), set[str]()
    for group in range(opened.metadata.num_row_groups):
        part = opened.metadata.row_group(group)
        for place in range(part.num_columns):
            chunk = part.column(place)
            unpacked[chunk.path_in_schema.partition(".")[0]] += chunk.total_uncompressed_size

    def batches(columns: Sequence[str]) -> Iterator[Any]:
        held.update(columns)
        sizes.BYTES.check(sum(unpacked[column] for column in held), name, _LESS)
        for batch in opened.iter_batches(BATCH, columns=list(columns)):
            batch.validate(full=True)  # text that is no UTF-8 would otherwise be met later, by those who trust it
            yield batch.select(list(columns))

    return _table(name, title, opened.schema_arrow, opened.metadata.num_rows, batches)


def _open_arrow(file: Path, name: str, title: str) -> OpenTable:
    import pyarrow as pa

    source = pa.OSFile(os.fsencode(file))
    is_stream = source.read(6) != b"ARROW1"
    source.seek(0)
    unpacked: dict[tuple[int, str], int] = {}

    def counted(number: int, batch: Any) -> Any:
        batch.validate(full=True)  # damaged offsets would otherwise be followed out of bounds
        unpacked.update({(number, column): batch.column(column).nbytes for column in batch.schema.names})
        sizes.BYTES.check(sum(unpacked.values()), name, _LESS)
        return batch

    if is_stream:
        with pa.ipc.open_stream(source) as stream:
            parts = [counted(number, batch) for number, batch in enumerate(stream)]
            return _in_memory(pa.Table.from_batches(parts, stream.schema), name, title)
    opened = pa.ipc.open_file(source)

    def batches(columns: Sequence[str]) -> Iterator[Any]:
        for number in range(opened.num_record_batches):
            batch = counted(number, opened.get_batch(number).select(list(columns)))
            for start in range(0, batch.num_rows, BATCH):
                yield batch.slice(start, BATCH)

    return _table(name, title, opened.schema, opened.count_rows(), batches)


def _open_csv(file: Path, name: str, title: str) -> OpenTable:
    from reidrisk.io.tables.csv_files import csv_header, read_cells

    return replace(_in_memory(read_cells(file, name, csv_header(file, name)), name, title), is_text=True)


def _open_npz(file: Path, name: str, title: str) -> OpenTable:
    import numpy as np
    import pyarrow as pa

    from reidrisk.io.documents import read_npz

    columns: dict[str, Any] = {}
    metadata = Metadata()
    for key, values in read_npz(file, name).items():
        if key == KEY.decode():
            metadata = from_json(name, str(values))
        elif values.ndim == 1:
            columns[key] = pa.array(values)
        elif key == "tokens" and values.ndim in (2, 3):
            sizes.COLUMNS.check(values.shape[1], name, "give fewer epochs")
            by_epoch = np.ascontiguousarray(np.moveaxis(values, 1, 0))  # else every column would be gathered by itself
            for j, part in enumerate(by_epoch):
                flat = pa.array(part.ravel())
                is_set = values.ndim == 3
                columns[f"epoch_{j}"] = pa.FixedSizeListArray.from_arrays(flat, values.shape[2]) if is_set else flat
        elif key in _VECTORS and values.ndim == 2:
            points = np.ascontiguousarray(_reals(values, name)).ravel()
            columns[key] = pa.FixedSizeListArray.from_arrays(pa.array(points), values.shape[1])
        else:
            holds = "a table holds columns of one dimension, or an array 'tokens' of (users, epochs), or 'vectors'"
            raise FormatError(f"{name}: array {key!r} has shape {values.shape}; {holds}")
    lengths = {key: len(values) for key, values in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = dict(list(lengths.items())[:8])
        raise FormatError(f"{name}: the arrays differ in length ({shown}); give every column the same number of rows")
    return replace(_in_memory(pa.table(columns), name, title), metadata=metadata)


def _reals(values: Any, name: str) -> Any:
    """Return the vectors of an NPZ file as real numbers; what is stored in other ways is refused."""
    from reidrisk.records import Vectors

    if values.dtype.kind == "f":
        return values
    try:
        return Vectors(values).values
    except DataError as error:
        raise FormatError(f"{name}: {error}") from error
