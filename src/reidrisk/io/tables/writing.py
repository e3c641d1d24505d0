"""Tables into files: one way to write users and tokens in every format, each file in one step."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from reidrisk.base import Array, DataError, FormatError, Ints, UserIds, Vocabulary, reason, sizes, take_users
from reidrisk.io.atomic import PathLike, write_atomically
from reidrisk.io.tables.formats import format_of
from reidrisk.io.tables.layouts import SEEDED
from reidrisk.io.tables.metadata import KEY, to_json
from reidrisk.io.tables.opening import is_packed
from reidrisk.records import Bags, TopSets, Traces

CHUNK = 1 << 20  # rows of one row group; a reader needs no more than this in memory at a time

Part = tuple[slice | Ints, dict[str, Array]]
"""Rows of the users, and what to write of them: a column ``token``, ``epoch`` or ``count``, or all ``tokens``."""


def write_table(path: PathLike, records: Traces | TopSets | Bags, parts: Iterable[Part]) -> None:
    """Write records part by part; all but CSV hold token numbers, and what they stand for in the metadata."""
    kind = format_of(path)
    _refuse_lost_names(path, kind, records.users, records.vocabulary)
    seeded = isinstance(records, TopSets) and records.made_with_seed
    metadata = to_json(records.n_tokens, records.vocabulary, seeded)
    if kind != "npz":
        write_batches(path, (_batch(records, *part, kind == "csv", seeded) for part in parts), metadata)
        return
    users = records.users
    if users is not None and not isinstance(users, np.ndarray):  # NPZ holds text as strings of one width
        texts = users.to_pylist()
        room = 4 * len(texts) * max(map(len, texts), default=0)
        sizes.BYTES.check(room, "user ids in NPZ, all as long as the longest", "write Parquet instead")
        users = np.array(texts, dtype=np.str_)
    named = [columns if users is None else {"user": users[rows]} | columns for rows, columns in parts]
    arrays = {name: np.concatenate([part[name] for part in named]) for name in named[0]}
    with write_atomically(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays, reidrisk=np.array(metadata))


def write_batches(path: PathLike, batches: Iterable[Any], metadata: str) -> None:
    """Write Arrow record batches of one schema as Parquet, Arrow IPC or CSV, by the ending of the name."""
    import pyarrow as pa

    kind = format_of(path)
    source = iter(batches)
    first = next(source)
    schema = first.schema if kind == "csv" else first.schema.with_metadata({KEY: metadata.encode()})
    # The name in bytes: the library takes text for UTF-8, and it need not be.
    with write_atomically(path) as temporary, _opened(os.fsencode(temporary), kind, schema, path) as write:
        write(first.replace_schema_metadata(schema.metadata))
        for batch in source:
            write(pa.record_batch(batch.columns, schema=schema))


def _batch(records: Any, rows: Any, columns: dict[str, Array], as_csv: bool, seeded: bool) -> Any:
    """Return one part as an Arrow batch: a column per epoch, for sets one of lists (in CSV a column per slot)."""
    import pyarrow as pa

    words = records.vocabulary if as_csv else None
    made: dict[str, Any] = {} if records.users is None else {"user": pa.array(take_users(records.users, rows))}
    for name, values in columns.items():
        if name != "tokens":
            made[name] = _tokens_as_arrow(values, words) if name == "token" else values
            continue
        for epoch in range(values.shape[1]):
            held = values[:, epoch]
            if held.ndim == 1:
                made[f"epoch_{epoch}"] = _tokens_as_arrow(held, words)
            elif as_csv:
                slots = range(held.shape[1])
                made |= {f"epoch_{epoch}_{slot}": _tokens_as_arrow(held[:, slot], words) for slot in slots}
            else:
                ends = np.arange(0, held.size + 1, held.shape[1], dtype=np.int32)
                made[f"epoch_{epoch}"] = pa.ListArray.from_arrays(ends, _tokens_as_arrow(held.ravel(), words))
        if as_csv and seeded:
            made[SEEDED] = pa.repeat("true", len(values))
    return pa.RecordBatch.from_pydict(made)


def _tokens_as_arrow(tokens: Array, vocabulary: Vocabulary | None) -> Any:
    """Return one column of tokens with nulls for -1: as integers, or as labels where a vocabulary is given."""
    import pyarrow as pa

    numbers = pa.array(np.ascontiguousarray(tokens), mask=tokens < 0)
    return numbers if vocabulary is None else pa.array(vocabulary.labels).take(numbers)


def _refuse_lost_names(path: PathLike, kind: str, users: UserIds | None, vocabulary: Vocabulary | None) -> None:
    """Refuse names that the format of this file would lose: empty ones, and in NPZ those that end in a zero byte."""
    import pyarrow.compute as pc

    if users is not None and not isinstance(users, np.ndarray):
        if pc.any(pc.equal(users, "")).as_py():
            raise DataError(f"{path}: a user id is empty; give every user a name before writing")
        if kind == "npz" and pc.any(pc.ends_with(users, "\0")).as_py():
            raise DataError(f"{path}: a user id ends in a zero byte, which NPZ drops; write Parquet instead")
    if kind == "csv" and vocabulary is not None and "" in vocabulary.labels:
        raise DataError(f"{path}: a label of the vocabulary is empty, in CSV that is missing; write Parquet instead")


@contextmanager
def _opened(temporary: bytes, kind: str, schema: Any, path: PathLike) -> Iterator[Callable[[Any], None]]:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import csv

    try:
        with pa.OSFile(temporary, "wb") as file:
            if kind == "parquet":
                with pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True) as parquet:
                    yield parquet.write_batch
            elif kind == "arrow":
                with pa.ipc.new_file(file, schema) as arrow:
                    yield arrow.write_batch
            else:
                packed = pa.CompressedOutputStream(file, "gzip") if is_packed(path) else nullcontext(file)
                with packed as text, csv.CSVWriter(text, schema) as rows:
                    yield rows.write_batch
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise FormatError(f"{path}: cannot be written: {reason(error)}") from error
