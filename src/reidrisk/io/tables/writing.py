"""Tables into files: one way to write record batches in every format, each file in one step."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base import sizes
from reidrisk.base.errors import DataError, FormatError
from reidrisk.base.foreign import reason
from reidrisk.base.users import UserIds
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.io.atomic import PathLike, write_atomically
from reidrisk.io.tables.formats import format_of
from reidrisk.io.tables.metadata import KEY

CHUNK = 1 << 20
"""Rows of one row group; a reader needs no more than this in memory at a time."""


def write_batches(path: PathLike, batches: Iterable[Any], metadata: str) -> None:
    """Write Arrow record batches of one schema as Parquet, Arrow IPC or CSV, by the ending of the name."""
    import pyarrow as pa

    kind = format_of(path)
    source = iter(batches)
    first = next(source)
    schema = first.schema if kind == "csv" else first.schema.with_metadata({KEY: metadata.encode()})
    with write_atomically(path) as temporary, _opened(os.fsencode(temporary), kind, schema, str(path)) as write:
        write(first.replace_schema_metadata(schema.metadata))
        for batch in source:
            write(pa.record_batch(batch.columns, schema=schema))


def write_arrays(path: PathLike, arrays: dict[str, npt.NDArray[Any]], metadata: str) -> None:
    """Write named arrays as NPZ."""
    with write_atomically(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays, reidrisk=np.array(metadata))


def tokens_as_arrow(tokens: npt.NDArray[Any], vocabulary: Vocabulary | None = None) -> Any:
    """Return one column of tokens with nulls for -1: as integers, or as labels where a vocabulary is given."""
    import pyarrow as pa

    numbers = pa.array(np.ascontiguousarray(tokens), mask=tokens < 0)
    return numbers if vocabulary is None else pa.array(vocabulary.labels).take(numbers)


def users_as_numpy(users: UserIds) -> npt.NDArray[Any]:
    """Return user ids as a plain array, text as fixed-width strings: what NPZ can hold."""
    if isinstance(users, np.ndarray):
        return users
    texts = users.to_pylist()
    room = 4 * len(texts) * max(map(len, texts), default=0)
    sizes.BYTES.check(room, "user ids in NPZ, all as long as the longest", "write Parquet instead")
    return np.array(texts, dtype=np.str_)


def check_ids(path: PathLike, users: UserIds | None, vocabulary: Vocabulary | None) -> None:
    """Refuse names that the format of this file would lose: empty ones, and in NPZ those that end in a zero byte."""
    import pyarrow.compute as pc

    kind = format_of(path)
    if users is not None and not isinstance(users, np.ndarray):
        if pc.any(pc.equal(users, "")).as_py():
            raise DataError(f"{path}: a user id is empty; give every user a name before writing")
        if kind == "npz" and pc.any(pc.ends_with(users, "\0")).as_py():
            raise DataError(f"{path}: a user id ends in a zero byte, which NPZ drops; write Parquet instead")
    if kind == "csv" and vocabulary is not None and "" in vocabulary.labels:
        raise DataError(
            f"{path}: a label of the vocabulary is empty, which CSV takes for missing; write Parquet instead"
        )


@contextmanager
def _opened(temporary: bytes, kind: str, schema: Any, name: str) -> Iterator[Callable[[Any], None]]:
    import pyarrow as pa

    # Names as bytes: the library takes text for UTF-8, and a name need not be.
    try:
        if kind == "parquet":
            import pyarrow.parquet as pq

            with (
                pa.OSFile(temporary, "wb") as file,
                pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True) as parquet,
            ):
                yield parquet.write_batch
        elif kind == "arrow":
            with pa.OSFile(temporary, "wb") as file, pa.ipc.new_file(file, schema) as arrow:
                yield arrow.write_batch
        else:
            from pyarrow import csv

            packed = name.lower().endswith(".gz")
            with (
                pa.OSFile(temporary, "wb") as file,
                pa.CompressedOutputStream(file, "gzip") if packed else nullcontext(file) as text,
                csv.CSVWriter(text, schema) as rows,
            ):
                yield rows.write_batch
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise FormatError(f"{name}: cannot be written: {reason(error)}") from error
