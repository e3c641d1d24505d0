"""Damage to Parquet and Arrow files: columns of odd types, nulls, no rows, no columns, changed metadata."""

from __future__ import annotations

import datetime
import io
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.hostile import hostile_text
from fuzz.mutate_bytes import BYTES
from fuzz.mutate_json import text_that_may_be_json

__all__ = ["arrow", "parquet"]

_DAY = datetime.date(2024, 2, 29)
_COLUMNS: tuple[Callable[[int], Any], ...] = (
    lambda n: pa.array([{"a": 1}] * n, pa.struct([("a", pa.int64())])),
    lambda n: pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int64())),
    lambda n: pa.array([[1, 2]] * n, pa.list_(pa.int64())),
    lambda n: pa.array([[1, None]] * n, pa.large_list(pa.int64())),
    lambda n: pa.array([[1, 2]] * n, pa.list_(pa.int8(), 2)),
    lambda n: pa.array([["a", ""]] * n, pa.list_(pa.string())),
    lambda n: pa.array([[[1]]] * n, pa.list_(pa.list_(pa.int64()))),
    lambda n: pa.array([[]] * n, pa.list_(pa.null())),
    lambda n: pa.array([[1, 2]] * n, pa.list_view(pa.int64())),
    lambda n: pa.array([[1]] * n, pa.large_list_view(pa.int64())),
    lambda n: pa.RunEndEncodedArray.from_arrays(pa.array([n], pa.int32()), pa.array([1])),
    lambda n: pa.array(["a", "b"] * n).slice(0, n).dictionary_encode(),
    lambda n: pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int8()), pa.array([7, 8])),
    lambda n: pa.array([Decimal("1.5")] * n, pa.decimal128(38, 3)),
    lambda n: pa.array([Decimal(10**40)] * n, pa.decimal256(60, 3)),
    lambda n: pa.array([_DAY] * n),
    lambda n: pa.array([datetime.datetime(2024, 1, 1)] * n, pa.timestamp("ns", "Europe/Paris")),
    lambda n: pa.array([2**62] * n, pa.timestamp("s")),
    lambda n: pa.array([1] * n, pa.duration("us")),
    lambda n: pa.array([1] * n, pa.time32("s")),
    lambda n: pa.array([pa.MonthDayNano([1, 2, 3])] * n),
    lambda n: pa.array([b"\xff\xfe"] * n),
    lambda n: pa.array([b"\xff"] * n, pa.binary(1)),
    lambda n: pa.array([b"a"] * n, pa.large_binary()),
    lambda n: pa.array(["a\x1b[31m"] * n, pa.large_string()),
    lambda n: pa.array(["a" * 20] * n, pa.string_view()),
    lambda n: pa.array([b"a" * 20] * n, pa.binary_view()),
    lambda n: pa.nulls(n),
    lambda n: pa.array([True] * n),
    lambda n: pa.array([0.5] * n, pa.float32()).cast(pa.float16()),
    lambda n: pa.array([float("nan"), 1e300, -0.0][: min(n, 3)] + [2.0] * max(0, n - 3)),
    lambda n: pa.array([2**64 - 1] * n, pa.uint64()),
    lambda n: pa.array([-(2**63)] * n, pa.int64()),
    lambda n: pa.array(list(range(n)), pa.int64()),
    lambda n: pa.array([i * 10**9 for i in range(n)], pa.int64()),
    lambda n: pa.UnionArray.from_sparse(pa.array([0] * n, pa.int8()), [pa.array([1] * n)]),
    lambda n: pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"\x00" * 16] * n, pa.binary(16))),
    lambda n: pa.array([None] * n, pa.string()),
)


def _one_column(rng: random.Random, table: Any) -> Any:
    at = rng.randrange(table.num_columns) if table.num_columns else 0
    made = rng.choice(_COLUMNS)(table.num_rows)
    if rng.random() < 0.15 or not table.num_columns:
        return table.append_column(hostile_text(rng), made)
    return table.set_column(at, table.column_names[at], made)


def _nulls(rng: random.Random, table: Any) -> Any:
    if not table.num_columns or not table.num_rows:
        return table
    at, row = rng.randrange(table.num_columns), rng.randrange(table.num_rows)
    values = table.column(at).to_pylist()
    values[row] = None
    return table.set_column(at, table.column_names[at], pa.array(values, table.schema.types[at]))


def _some_rows(rng: random.Random, table: Any) -> Any:
    kind = rng.randrange(3)
    if kind == 0:
        return table.slice(0, rng.choice((0, 0, 1, 2)))
    if kind == 1:
        return pa.concat_tables([table] * rng.choice((2, 30)))
    return table.take(rng.sample(range(table.num_rows), table.num_rows))


def _some_columns(rng: random.Random, table: Any) -> Any:
    names = table.column_names
    kind = rng.randrange(5)
    if kind == 0 and names:
        return table.remove_column(rng.randrange(len(names)))
    if kind == 1 and names:
        return table.append_column(rng.choice(names), table.column(0))
    if kind == 2 and names:
        names[rng.randrange(len(names))] = hostile_text(rng)
        return table.rename_columns(names)
    if kind == 3:
        return table.select([])
    ones, few = pa.array([1] * min(table.num_rows, 4)), table.slice(0, 4)
    more = {f"epoch_{number + 9}": ones for number in range(rng.choice((20, 20, 20, 1000)))}
    return pa.table({name: few.column(at) for at, name in enumerate(names)} | more, metadata=table.schema.metadata)


def _metadata(rng: random.Random, table: Any) -> Any:
    known = dict(table.schema.metadata or {})
    key = rng.choice(sorted(known)) if known else b"reidrisk"
    if rng.random() < 0.15:
        known.pop(key, None)
    else:
        value = known.get(key, b'{"format": 1, "n_tokens": 6}')
        is_text = rng.random() < 0.85
        known[key] = _text(rng, value) if is_text else rng.choice(BYTES)(rng, value)
    return table.replace_schema_metadata(known)


def _text(rng: random.Random, value: bytes) -> bytes:
    return text_that_may_be_json(rng, value.decode("utf-8", "replace")).encode()


_CHANGES = (_one_column, _one_column, _one_column, _nulls, _some_rows, _some_columns, _metadata, _metadata)


def _changed(rng: random.Random, table: Any) -> Any:
    for _ in range(rng.choice((1, 1, 1, 2))):
        table = rng.choice(_CHANGES)(rng, table)
    return table


def parquet(rng: random.Random, data: bytes) -> bytes:
    """Change the table, and write it in one of the ways that programs do."""
    try:
        table = _changed(rng, pq.read_table(io.BytesIO(data)))
        written = io.BytesIO()
        kinds = rng.choice(("none", "snappy", "gzip", "zstd", "lz4"))
        pq.write_table(
            table,
            written,
            compression=kinds,
            use_dictionary=rng.random() < 0.5,
            row_group_size=rng.choice((7, 10**6)),
        )
        return written.getvalue()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return rng.choice(BYTES)(rng, data)  # Parquet has no such type


def arrow(rng: random.Random, data: bytes) -> bytes:
    """Change the table, and write it as a file or as a stream."""
    try:
        opened = pa.ipc.open_file if data[:6] == b"ARROW1" else pa.ipc.open_stream
        table = _changed(rng, opened(pa.BufferReader(data)).read_all())
        written = io.BytesIO()
        options = pa.ipc.IpcWriteOptions(compression=rng.choice((None, None, "lz4", "zstd")))
        maker = pa.ipc.new_file if rng.random() < 0.6 else pa.ipc.new_stream
        with maker(written, table.schema, options=options) as file:
            file.write_table(table, max_chunksize=rng.choice((2, 1000)))
        return written.getvalue()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return rng.choice(BYTES)(rng, data)  # two changes that do not go together
