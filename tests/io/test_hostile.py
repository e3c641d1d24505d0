"""Files made to break a reader: each is refused in one line, before a kernel or the memory meets it."""

from __future__ import annotations

import io as memory
import os
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reidrisk import bandits, cohorts, io, populations, release, topics
from reidrisk.base.errors import ReidRiskError
from reidrisk.io.documents import parse_json, read_npz
from reidrisk.release import TypeMixture


def refused(call: Callable[[], object], *parts: str) -> str:
    with pytest.raises(ReidRiskError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message, message
    return message


def stored(**changes: object) -> dict[str, np.ndarray]:
    """Return what scipy stores of a 2 x 2 matrix by rows, with some of it changed."""
    parts = {
        "format": np.array(b"csr"),
        "shape": np.array([2, 2]),
        "data": np.ones(2),
        "indices": np.array([0, 1], dtype=np.int32),
        "indptr": np.array([0, 1, 2], dtype=np.int32),
    }
    return parts | {name: np.asarray(value) for name, value in changes.items()}


COORDINATES = {"format": b"coo", "row": [0, 1], "col": [0, 1]}
HOSTILE = {
    "rows far away": stored(indptr=[0, 2_000_000, 2]),
    "rows below 0": stored(indptr=[0, -2_000_000, 2]),
    "unsigned rows far away": stored(indptr=np.array([0, 2**64 - 1, 2], dtype=np.uint64)),
    "no start at 0": stored(indptr=[1, 1, 2]),
    "an end beyond": stored(indptr=[0, 1, 3]),
    "an end before": stored(indptr=[0, 1, 1]),
    "columns far away": stored(indices=[0, 2_000_000]),
    "columns below 0": stored(indices=[0, -1]),
    "columns of fractions": stored(indices=[0.0, 1.0]),
    "columns of truths": stored(indices=[False, True]),
    "columns in a table": stored(indices=[[0, 1]]),
    "rows in a table": stored(indptr=[[0, 1, 2]]),
    "fewer columns than values": stored(indices=[0]),
    "values that are text": stored(data=["1", "1"]),
    "values that are times": stored(data=np.array([1, 1], dtype="m8[s]")),
    "values in a table": stored(data=[[1.0], [1.0]]),
    "another shape": stored(shape=[3, 2]),
    "a shape below 0": stored(shape=[-2, 2]),
    "a shape of one number": stored(shape=[2]),
    "a shape of fractions": stored(shape=[2.0, 2.0]),
    "columns without end": stored(shape=[2, 10**15]),
    "by columns, far away": stored(format=b"csc", indptr=[0, 2_000_000, 2]),
    "blocks that do not fill it": stored(format=b"bsr", data=np.ones((2, 3, 1))),
    "blocks far away": stored(format=b"bsr", data=np.ones((2, 1, 1)), indptr=[0, 2_000_000, 2]),
    "coordinates outside": stored(**(COORDINATES | {"col": [0, 2]})),
    "coordinates below 0": stored(**(COORDINATES | {"row": [-1, 1]})),
    "fewer coordinates": stored(**(COORDINATES | {"row": [0]})),
    "diagonals outside": stored(format=b"dia", data=np.ones((1, 2)), offsets=[2**62]),
    "diagonals twice": stored(format=b"dia", data=np.ones((2, 2)), offsets=[0, 0]),
    "an unknown format": stored(format=b"xyz"),
    "a format that is a number": stored(format=7),
    "two formats": stored(format=[b"csr", b"csr"]),
    "no columns": {name: part for name, part in stored().items() if name != "indices"},
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_sparse_matrix_is_refused(case: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "p.npz", **HOSTILE[case])
    refused(lambda: io.read_channel(tmp_path / "p.npz"), "p.npz")


def test_a_column_outside_a_sparse_matrix_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "p.npz", **stored(indices=[1, 2]))
    refused(lambda: io.read_channel(tmp_path / "p.npz"), "row 1 names column 2 of 2")


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "dia"])
@pytest.mark.parametrize("compressed", [True, False])
def test_sparse_matrices_of_every_format_are_read(kind: str, compressed: bool, tmp_path: Path) -> None:
    dense = np.array([[0.5, 0.5, 0, 0], [0, 1, 0, 0], [0, 0, 0.25, 0.75], [0, 0, 0, 1]])
    sparse.save_npz(tmp_path / "p.npz", sparse.csr_array(dense).asformat(kind), compressed)
    assert np.array_equal(io.read_channel(tmp_path / "p.npz").matrix.toarray(), dense)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_changed_index_is_refused_or_gives_a_channel_of_the_same_shape(data, tmp_path_factory) -> None:
    file = tmp_path_factory.mktemp("p") / "p.npz"
    part = data.draw(st.sampled_from(["indices", "indptr", "shape"]))
    parts = stored()
    values = parts[part].astype(np.int64)
    values[data.draw(st.integers(0, len(values) - 1))] = data.draw(
        st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 4)
    )
    np.savez(file, **(parts | {part: values}))
    with suppress(ReidRiskError):
        channel = io.read_channel(file)
        assert channel.shape == tuple(parts["shape"] if part != "shape" else values)


def archive(file: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return file


def npy(array: object) -> bytes:
    buffer = memory.BytesIO()
    np.save(buffer, np.asarray(array))
    return buffer.getvalue()


def head(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


MEMBERS = {
    "text": b"this is no array",
    "nothing": b"",
    "half a head": npy([1, 2])[:20],
    "half an array": npy([1, 2])[:-4],
    "more than an array": npy([1, 2]) + b"\0" * 8,
    "a shape beyond memory": head("{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000,), }\n"),
    "a shape below 0": head("{'descr': '<i8', 'fortran_order': False, 'shape': (-1,), }\n"),
    "an open bracket": head("{'descr': '<i8', 'fortran_order': False, 'shape': (1,"),
    "an unknown type": head("{'descr': '<q99', 'fortran_order': False, 'shape': (1,), }\n"),
    "records": npy(np.zeros(2, dtype=[("a", "i4"), ("b", "i4")])),
    "another version": b"\x93NUMPY\x09\x00" + npy([1, 2])[8:],
}
NPZ_DOORS: dict[str, Callable[[Path], object]] = {
    "traces": io.read_traces,
    "top sets": io.read_top_sets,
    "bags": io.read_bags,
    "channel": io.read_channel,
    "matrices": bandits.read_matrices,
    "log": bandits.from_log,
    "visits": cohorts.tables.read_visits,
    "assignment": cohorts.tables.read_assignment,
}


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("door", NPZ_DOORS)
def test_a_member_that_is_no_array_is_refused_at_every_door(door: str, member: str, tmp_path: Path) -> None:
    for name in ("tokens.npy", "matrix.npy", "reidrisk.npy", "records", "format.npy"):
        file = archive(tmp_path / "t.npz", {name: MEMBERS[member], "shape.npy": npy([2, 2])})
        refused(lambda file=file: NPZ_DOORS[door](file), "t.npz")  # type: ignore[misc]


def test_arrays_of_every_plain_type_and_order_are_read_as_numpy_reads_them(tmp_path: Path) -> None:
    arrays = {
        "big": np.arange(6, dtype=">i4").reshape(2, 3),
        "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "text": np.array(["a", "bcd"]),
        "none": np.empty((0, 3), dtype=np.int16),
        "one": np.array(7),
        "times": np.array(["2024-01-01"], dtype="M8[D]"),
        "truths": np.array([True, False]),
    }
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "t.npz", **arrays)
        found = read_npz(tmp_path / "t.npz")
        assert list(found) == list(arrays)
        for name, array in arrays.items():
            assert np.array_equal(found[name], array), name
            assert found[name].dtype == array.dtype.newbyteorder("=")


DEEP = "[" * 200_000 + "]" * 200_000
LONG = "1" * 5_000


@pytest.mark.parametrize("text", [DEEP, LONG, f'{{"k": {LONG}}}', '{"a":' * 100_000, "NaN,", "", "\x00"])
def test_json_that_is_none_is_one_line(text: str) -> None:
    refused(lambda: parse_json(text, "t.json"), "t.json")


NO_METADATA = [DEEP, LONG, "null", "[]", '"abc"', '{"vocabulary": "abc"}', '{"vocabulary": {"a": 1}}']


@pytest.mark.parametrize("text", NO_METADATA)
def test_metadata_that_is_none_is_one_line(text: str, tmp_path: Path) -> None:
    table = pa.table({"user": [1], "epoch_0": [1]}).replace_schema_metadata({"reidrisk": text})
    pq.write_table(table, tmp_path / "t.parquet")
    refused(lambda: io.read_traces(tmp_path / "t.parquet"), "t.parquet")


STRUCT = pa.array([{"a": 1}, {"a": 2}])
ODD = {
    "struct": STRUCT,
    "map": pa.array([[("a", 1)], [("b", 2)]], pa.map_(pa.string(), pa.int64())),
    "list view": pa.array([[1], [2]], pa.list_view(pa.int64())),
    "large list view": pa.array([[1], [2]], pa.large_list_view(pa.int64())),
    "run-end": pa.RunEndEncodedArray.from_arrays([2], ["a"]),
    "union": pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])]),
    "lists of lists": pa.array([[[1]], [[2]]]),
    "lists of structs": pa.array([[{"a": 1}], [{"a": 2}]]),
    "lists of text": pa.array([["a"], ["b"]]),
    "bytes": pa.array([b"\xff", b"\xfe"]),
    "truths": pa.array([True, False]),
    "decimals": pa.array([1, 2], pa.decimal128(5, 2)),
    "durations": pa.array([1, 2], pa.duration("s")),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_arrow_types_are_refused_or_read_in_every_column_of_every_door(case: str, tmp_path: Path) -> None:
    """Nothing but a refusal comes out of a column of an odd type, wherever it stands."""
    good = {
        "wide": (io.read_traces, {"user": [1, 2], "epoch_0": [1, 0]}),
        "long": (io.read_traces, {"user": [1, 2], "epoch": [0, 0], "token": [1, 0]}),
        "sets": (io.read_top_sets, {"user": [1, 2], "epoch_0": [[1], [0]]}),
        "bags": (io.read_bags, {"user": [1, 2], "token": [1, 0], "count": [1, 1]}),
        "channel": (io.read_channel, {"user": [1, 2], "a": [1.0, 1.0]}),
        "log": (bandits.from_log, {"user": [1, 2], "timestamp": [1, 2], "state": ["a", "b"], "seconds": [1, 1]}),
        "visits": (
            lambda path: cohorts.tables.read_visits(path, "week"),
            {"user": ["a", "b"], "host": ["a", "b"], "week": [1, 1]},
        ),
        "assignment": (cohorts.tables.read_assignment, {"user": ["a", "b"], "cohort": [1, 2]}),
        "categories": (cohorts.tables.read_categories, {"host": ["a", "b"], "category": ["x", "y"]}),
        "histories": (topics.read_histories, {"user": ["a", "b"], "timestamp": [1, 2], "host": ["a.org", "b.org"]}),
    }  # fmt: skip
    for _, (read, columns) in good.items():
        file = tmp_path / "t.arrow"
        for changed in columns:
            table = pa.table({name: ODD[case] if name == changed else values for name, values in columns.items()})
            with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
            with suppress(ReidRiskError):
                read(file)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_pipes_and_devices_are_no_input(tmp_path: Path) -> None:
    doors: list[tuple[str, Callable[[Path], object]]] = [
        ("t.csv", io.read_traces),
        ("t.csv.gz", io.read_traces),
        ("t.parquet", io.read_top_sets),
        ("t.arrow", io.read_bags),
        ("t.npz", io.read_channel),
        ("v.txt", io.read_vocabulary),
        ("t.tfrecord", io.read_tfrecords),
        ("t.md", topics.Taxonomy.read),
        ("t.bin", cohorts.SortingLSH.from_chrome),
        ("m.safetensors", TypeMixture.load),
        ("m.json", release.read_parameters),
        ("r.csv", populations.read_rates),
        ("n.npz", bandits.read_matrices),
    ]
    for name, read in doors:
        os.mkfifo(tmp_path / name)
        refused(lambda name=name, read=read: read(tmp_path / name), "pipe")  # type: ignore[misc]
        (tmp_path / name).unlink()
        (tmp_path / name).symlink_to("/dev/zero")
        refused(lambda name=name, read=read: read(tmp_path / name), "device")  # type: ignore[misc]


def with_byte(data: bytes, offsets: tuple[int, int], value: int) -> bytes:
    """Change a field of both heads of the only member of an archive: the one before it, and the one at the end."""
    changed, end = bytearray(data), data.rindex(b"PK\x01\x02")
    changed[offsets[0]], changed[end + offsets[1]] = value, value
    return bytes(changed)


def test_archives_that_are_encrypted_or_packed_in_an_unknown_way_are_refused(tmp_path):
    buffer = memory.BytesIO()
    np.savez(buffer, matrix=np.eye(2))
    for offsets, value in (((6, 8), 1), ((8, 10), 77), ((4, 6), 255)):  # encrypted; method 77; version 25.5
        file = tmp_path / "m.npz"
        file.write_bytes(with_byte(buffer.getvalue(), offsets, value))
        refused(lambda file=file: read_npz(file), "m.npz", "cannot be read as NPZ")


def test_a_head_as_python_2_wrote_it_is_read_without_a_warning(tmp_path, recwarn):
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (2L,)}".ljust(117) + b"\n"
    array = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + np.array([1.0, 2.0]).tobytes()
    with zipfile.ZipFile(tmp_path / "old.npz", "w") as packed:
        packed.writestr("x.npy", array)
    assert read_npz(tmp_path / "old.npz")["x"].tolist() == [1.0, 2.0]
    assert not recwarn.list


def test_half_a_character_in_json_is_refused_and_a_whole_one_is_read():
    assert parse_json(r'["\ud83d\ude00"]', "a.json") == ["\U0001f600"]
    for text in (r'["\ud83d"]', r'{"\uDE00": 1}', rb'["\ude00\ud83d"]'):
        refused(lambda text=text: parse_json(text, "a.json"), "a.json", "half a character")
