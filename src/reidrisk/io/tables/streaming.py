"""CSV files that are never whole in memory: batch by batch to Parquet, with the types that readers give their cells."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from reidrisk.base.errors import FormatError
from reidrisk.io.tables.cells import typed
from reidrisk.io.tables.csv_files import csv_header, refuse_cells
from reidrisk.io.tables.formats import OpenTable
from reidrisk.io.tables.metadata import Metadata
from reidrisk.io.tables.opening import arrow_stream, existing_file, while_reading

_BLOCK = 1 << 24  # bytes read at a time; a row must fit


def csv_columns(path: str) -> list[str]:
    """Return the names in the header of a CSV file of any size."""
    return csv_header(existing_file(path), path, whole=False)


def csv_rows(path: str) -> int:
    """Count the lines of a CSV file after its header: its rows, if no cell has a line break."""
    lines, last = 0, b"\n"
    with while_reading(path, "CSV"), arrow_stream(path) as cells:
        while block := cells.read(_BLOCK):
            lines, last = lines + block.count(b"\n"), block[-1:]
    return max(lines - 1 + (last != b"\n"), 0)


def to_parquet(files: Sequence[str], folder: Path, name: str, tokens: Sequence[str], labels: bool) -> tuple[str, ...]:
    """Write CSV files, which have the same columns, as one Parquet file for each into a folder, in their order.

    Columns of ``tokens`` are whole numbers if all their cells are, and else labels, or ``labels`` in any case; other
    columns are judged one by one. That takes a pass over the files before they are written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = csv_columns(files[0])
    for file in files[1:]:
        if csv_columns(file) != columns:
            raise FormatError(f"{file}: its header is not that of {files[0]}; write all files of a table alike")
    others = [column for column in columns if column not in tokens]

    def of(some: Sequence[str]) -> OpenTable:
        def cells(wanted: Sequence[str]) -> Iterator[Any]:
            for file in some:
                yield from _batches(file, columns, wanted)

        return OpenTable(name, "CSV", dict.fromkeys(columns, pa.string()), 0, Metadata(), cells, is_text=True)

    types = typed(of(files), [column for column in columns if column in tokens], others, labels).types
    schema = pa.schema([pa.field(column, types[column]) for column in columns])
    folder.mkdir(parents=True)
    written = []
    for i, file in enumerate(files):
        written.append(str(folder / f"part-{i:05}.parquet"))
        with pq.ParquetWriter(written[-1], schema) as sink:
            for batch in of([file]).batches(columns):
                sink.write_batch(batch.cast(schema))
    return tuple(written)


def _batches(file: str, columns: list[str], wanted: Sequence[str]) -> Iterator[Any]:
    """Yield the cells of some columns as text; empty ones are null."""
    import pyarrow as pa
    from pyarrow import csv

    convert = csv.ConvertOptions(
        column_types=dict.fromkeys(columns, "string"),
        include_columns=list(wanted),
        strings_can_be_null=True,
        null_values=[""],
    )
    # One thread: only then does the library know in which row it stumbled.
    read = csv.ReadOptions(use_threads=False, block_size=_BLOCK)
    parse = csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(columns) > 1)
    try:
        with arrow_stream(file) as cells:
            yield from csv.open_csv(cells, read, parse, convert)
    except pa.ArrowInvalid as error:
        refuse_cells(file, columns, str(error), True)
        raise
