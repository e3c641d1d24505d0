"""Every bad table is refused in one line that names the file, the row or column, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reidrisk import TopSets, Traces, Vocabulary, io
from reidrisk.base.errors import DataError, FormatError, OptionError, ReidRiskError


def refused(kind: type[ReidRiskError], *parts: str, call: Callable[[], object]) -> str:
    with pytest.raises(ReidRiskError) as caught:
        call()
    message = str(caught.value)
    assert type(caught.value) is kind, (type(caught.value), message)
    assert "\n" not in message
    for part in parts:
        assert part in message, message
    return message


CSV = {
    "unknown column": ("user,epoch_0,age\n1,2,3\n", FormatError, "column 'age' is not known in the wide layout"),
    "other name for user": (
        "user_id,epoch_0\n1,2\n",
        FormatError,
        "column 'user_id' is not known",
        "rename it to 'user'",
    ),
    "no layout": ("user,week\n1,2\n", FormatError, "no layout is recognised in the columns 'user', 'week'"),
    "missing epoch": ("user,epoch_0,epoch_2\n1,2,3\n", FormatError, "column 'epoch_1' is missing"),
    "missing user": (
        "epoch,token\n1,2\n",
        FormatError,
        "column 'user' is missing; the long layout has user, epoch, token",
    ),
    "missing token": ("user,epoch\n1,2\n", FormatError, "column 'token' is missing"),
    "unknown in long": ("user,epoch,token,x\n1,2,3,4\n", FormatError, "column 'x' is not known in the long layout"),
    "column twice": ("user,epoch_0,epoch_0\n1,2,3\n", FormatError, "column 'epoch_0' occurs twice"),
    "user twice": ("user,epoch_0\nann,1\nbob,2\nann,3\n", DataError, "rows 1 and 3 are both user 'ann'"),
    "number twice": ("user,epoch_0\n7,1\n8,2\n8,3\n", DataError, "rows 2 and 3 are both user 8"),
    "observation twice": (
        "user,epoch,token\n7,1,2\n7,2,2\n7,1,3\n",
        DataError,
        "rows 1 and 3 both give user 7 a token in epoch 1",
    ),
    "negative": (
        "user,epoch_0\n1,3\n2,-5\n",
        DataError,
        "row 2, column 'epoch_0' holds token -5",
        "whole numbers from 0",
    ),
    "negative in long": ("user,epoch,token\n1,1,-2\n", DataError, "row 1, column 'token' holds token -2"),
    "fraction": ("user,epoch_0\n1,3\n2,2.5\n", DataError, "row 2, column 'epoch_0' holds 2.5, a fraction"),
    "fraction in long": ("user,epoch,token\n1,1,0.5\n", DataError, "row 1, column 'token' holds 0.5, a fraction"),
    "nan": (
        "user,epoch_0,epoch_1\n1,3,4\n2,5,nan\n",
        DataError,
        "row 2, column 'epoch_1' holds NaN",
        "leave the cell empty",
    ),
    "infinite": ("user,epoch_0\n1,3\n2,-inf\n", DataError, "row 2, column 'epoch_0' holds -inf"),
    "mixed": (
        "user,epoch_0,epoch_1\n1,3,4\n2,news,5\n",
        DataError,
        "row 2, column 'epoch_0' holds 'news', but row 1, column 'epoch_0' holds '3'",
        "all integers or all labels",
    ),
    "empty file": ("", FormatError, "the file is empty"),
    "no rows": ("user,epoch_0\n", DataError, "the table is empty; give at least one row"),
    "no user id": ("user,epoch_0\nann,1\n,2\n", DataError, "row 2, column 'user' has no user id"),
    "no epoch": ("user,epoch,token\nann,1,2\nann,,2\n", DataError, "row 2, column 'epoch' is empty"),
    "cut off": ("user,epoch_0,epoch_1\nann,1,2\nbob,1\n", FormatError, "row 2 has 2 cells where the header has 3"),
    "too many cells": ("user,epoch_0\nann,1\nbob,1,4\n", FormatError, "row 2 has 3 cells where the header has 2"),
    "semicolons": ("user;epoch_0\nann;1\n", FormatError, "separated by semicolons, not by commas"),
    "tabs": ("user\tepoch_0\nann\t1\n", FormatError, "separated by tabs, not by commas"),
    "nothing observed": ("user,epoch_0\nann,\nbob,-1\n", DataError, "not a single token is observed"),
}


@pytest.mark.parametrize("case", CSV)
def test_bad_csv(case: str, tmp_path: Path) -> None:
    text, kind, *parts = CSV[case]
    file = tmp_path / "bad.csv"
    file.write_text(text)
    refused(kind, str(file), *parts, call=lambda: io.read_traces(file))
    assert [f.name for f in tmp_path.iterdir()] == ["bad.csv"]


def test_bad_csv_deep_in_the_file(tmp_path: Path) -> None:
    rows = [f"u{i},{i % 9}" for i in range(300_000)]
    rows[280_000] = "u280000"
    (tmp_path / "t.csv").write_text("user,epoch_0\n" + "\n".join(rows) + "\n")
    refused(FormatError, "row 280001 has 1 cells", call=lambda: io.read_traces(tmp_path / "t.csv"))
    rows[280_000] = "u280000,-7"
    (tmp_path / "t.csv").write_text("user,epoch_0\n" + "\n".join(rows) + "\n")
    refused(DataError, "row 280001, column 'epoch_0' holds token -7", call=lambda: io.read_traces(tmp_path / "t.csv"))


@pytest.mark.parametrize("where", ["header", "cell"])
def test_csv_that_is_not_utf8(where: str, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    if where == "header":
        file.write_bytes("usér,epoch_0\n1,2\n".encode("latin-1"))
        refused(FormatError, str(file), "the header is not UTF-8 text", call=lambda: io.read_traces(file))
    else:
        file.write_bytes("user,epoch_0\n1,news\n2,actualité\n".encode("latin-1"))
        refused(FormatError, "row 2, column 'epoch_0' is not UTF-8 text", call=lambda: io.read_traces(file))


@pytest.mark.parametrize("ending", ["parquet", "csv.gz", "arrow", "feather", "npz"])
@pytest.mark.parametrize("damage", ["garbage", "empty", "head", "half", "tail"])
def test_truncated_and_damaged_files(ending: str, damage: str, tmp_path: Path) -> None:
    file = tmp_path / f"t.{ending}"
    rng = np.random.default_rng(0)
    io.write_traces(Traces(rng.integers(500, size=(5_000, 3)), 500, np.arange(5_000)), file)
    good = file.read_bytes()
    bad = {
        "garbage": rng.bytes(5_000),
        "empty": b"",
        "head": good[:20],
        "half": good[: len(good) // 2],
        "tail": good[:-9],
    }[damage]
    file.write_bytes(bad)
    refused(FormatError, str(file), call=lambda: io.read_traces(file))


def test_a_flipped_bit_in_parquet_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    io.write_traces(Traces(np.random.default_rng(0).integers(500, size=(5_000, 3)), 500), file)
    data = bytearray(file.read_bytes())
    data[len(data) // 3] ^= 16
    file.write_bytes(data)
    refused(FormatError, "cannot be read as Parquet", call=lambda: io.read_traces(file))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    refused(FormatError, "there is no such file", call=lambda: io.read_traces(tmp_path / "no.parquet"))
    refused(FormatError, "is a folder, not a file", call=lambda: io.read_traces(_folder(tmp_path / "x.csv")))
    refused(FormatError, "the ending '.xlsx' is not known", ".parquet, .csv", call=lambda: io.read_traces("t.xlsx"))
    refused(FormatError, "the name has no ending", call=lambda: io.read_traces("table"))
    refused(FormatError, "the ending '.xlsx'", call=lambda: io.write_traces(Traces([[0]], 1), tmp_path / "t.xlsx"))
    refused(
        OptionError,
        "layout must be wide (user, epoch_0, epoch_1, …) or long (user, epoch, token), not 'tall'",
        call=lambda: io.read_traces(_text(tmp_path, "user,epoch_0\n1,2\n"), "tall"),
    )


def test_a_named_layout_is_enforced(tmp_path: Path) -> None:
    wide = _text(tmp_path, "user,epoch_0\n1,2\n")
    refused(FormatError, "column 'epoch' is missing; the long layout", call=lambda: io.read_traces(wide, "long"))
    long = _text(tmp_path, "user,epoch,token\n1,2,3\n")
    refused(FormatError, "column 'epoch' is not known in the wide layout", call=lambda: io.read_traces(long, "wide"))


PARQUET = {
    "float": ({"user": [1, 2], "epoch_0": [1.0, 2.5]}, DataError, "row 2, column 'epoch_0' holds 2.5, a fraction"),
    "nan": ({"user": [1, 2], "epoch_0": [1.0, float("nan")]}, DataError, "row 2, column 'epoch_0' holds NaN"),
    "boolean": ({"user": [1], "epoch_0": [True]}, FormatError, "column 'epoch_0' is of type bool"),
    "mixed": (
        {"user": [1], "epoch_0": ["a"], "epoch_1": [1]},
        FormatError,
        "'epoch_0' holds text and column 'epoch_1'",
    ),
    "float user": ({"user": [1.5], "epoch_0": [1]}, FormatError, "column 'user' is of type double; user ids are"),
    "null user": ({"user": [1, None], "epoch_0": [1, 1]}, DataError, "row 2, column 'user' has no user id"),
    "empty user": ({"user": ["a", ""], "epoch_0": [1, 1]}, DataError, "row 2, column 'user' has no user id"),
    "large user": (
        {"user": np.array([1, 2**63], np.uint64), "epoch_0": [1, 1]},
        DataError,
        "row 2, column 'user' holds 9223",
    ),
    "large token": ({"epoch_0": np.array([2**63], np.uint64)}, DataError, "row 1, column 'epoch_0' holds token -922"),
    "float epoch": ({"user": [1], "epoch": [0.5], "token": [1]}, FormatError, "column 'epoch' is of type double"),
    "lists": ({"user": [1], "epoch_0": [[1, 2]]}, FormatError, "holds lists, so this is a table of top sets"),
    "no rows": ({"user": np.zeros(0, int), "epoch_0": np.zeros(0, int)}, DataError, "the table is empty"),
}


@pytest.mark.parametrize("case", PARQUET)
def test_bad_parquet(case: str, tmp_path: Path) -> None:
    columns, kind, part = PARQUET[case]
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    refused(kind, str(tmp_path / "t.parquet"), part, call=lambda: io.read_traces(tmp_path / "t.parquet"))


def test_tokens_outside_the_vocabulary(tmp_path: Path) -> None:
    numbers = _text(tmp_path, "user,epoch_0,epoch_1\n1,2,3\n2,0,9\n")
    refused(
        DataError, "row 2, column 'epoch_1' holds token 9", "[0, 5)", call=lambda: io.read_traces(numbers, n_tokens=5)
    )
    long = _text(tmp_path, "user,epoch,token\n1,0,2\n1,1,3\n2,1,8\n")
    refused(DataError, "row 3, column 'token' holds token 8", call=lambda: io.read_traces(long, n_tokens=5))
    words = _text(tmp_path, "user,epoch_0\n1,news\n2,gnus\n")
    vocabulary = Vocabulary(["news", "music"])
    message = "row 2, column 'epoch_0' holds 'gnus', which is not among the 2 labels"
    refused(DataError, message, call=lambda: io.read_traces(words, vocabulary=vocabulary))
    refused(DataError, "2 different labels occur but n_tokens is 1", call=lambda: io.read_traces(words, n_tokens=1))
    refused(OptionError, "n_tokens must be a whole number", call=lambda: io.read_traces(words, n_tokens=0))
    refused(OptionError, "a Vocabulary or a list of labels", call=lambda: io.read_traces(words, vocabulary="ab"))


def test_what_a_file_says_of_itself_is_not_overruled(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    io.write_traces(Traces([[0], [1]], 2, ["a", "b"], Vocabulary(["x", "y"])), file)
    refused(DataError, "the vocabulary has 2 labels but n_tokens is 9", call=lambda: io.read_traces(file, n_tokens=9))
    message = "token 1 is 'y' in its vocabulary and 'z' in the declared one"
    refused(DataError, message, call=lambda: io.read_traces(file, vocabulary=Vocabulary(["x", "z"])))
    io.write_traces(Traces([[0], [1]], 2), file)
    refused(
        DataError,
        "the file says that there are 2 tokens but n_tokens is 9",
        call=lambda: io.read_traces(file, n_tokens=9),
    )


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"n_tokens": -1}', '{"n_tokens": 3, "vocabulary": ["a"]}', '{"vocabulary": [1]}']
)
def test_damaged_metadata(text: str, tmp_path: Path) -> None:
    table = pa.table({"epoch_0": [0]}).replace_schema_metadata({b"reidrisk": text.encode()})
    pq.write_table(table, tmp_path / "t.parquet")
    refused(FormatError, "its 'reidrisk' metadata", call=lambda: io.read_traces(tmp_path / "t.parquet"))


def test_bad_npz(tmp_path: Path) -> None:
    file = tmp_path / "t.npz"
    np.savez(file, user=np.arange(3), tokens=np.zeros((2, 2), int))
    refused(FormatError, "the arrays differ in length", call=lambda: io.read_traces(file))
    np.savez(file, picture=np.zeros((2, 2)))
    refused(FormatError, "array 'picture' has shape (2, 2)", call=lambda: io.read_traces(file))
    np.savez(file, tokens=np.array([[None]], dtype=object))
    refused(FormatError, "the array 'tokens' holds Python objects", call=lambda: io.read_traces(file))


def test_bad_top_sets(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"

    def table(**columns: object) -> None:
        pq.write_table(pa.table(columns), file)

    table(user=[1, 2], epoch_0=[[1, 2], [3, 3]])
    refused(DataError, "row 2, column 'epoch_0' repeats token 3", call=lambda: io.read_top_sets(file))
    table(user=[1, 2], epoch_0=[[1, 2], [3, -4]])
    refused(DataError, "row 2, column 'epoch_0' holds token -4", call=lambda: io.read_top_sets(file))
    table(user=[1, 2], epoch_0=[[1.0, 2.0], [3.0, 0.5]])
    refused(DataError, "row 2, column 'epoch_0' holds 0.5, a fraction", call=lambda: io.read_top_sets(file))
    table(user=[1, 1], epoch_0=[[1], [2]])
    refused(DataError, "rows 1 and 2 are both user 1", call=lambda: io.read_top_sets(file))
    table(user=[1], epoch_0=[1])
    refused(FormatError, "not a list, so this is no table of top sets", call=lambda: io.read_top_sets(file))
    table(user=[1], epoch_0=[[1]], epoch_1=[["a"]])
    refused(FormatError, "column 'epoch_1' holds text", call=lambda: io.read_top_sets(file))
    table(user=[1], epoch_0=[[7]])
    refused(DataError, "row 1, column 'epoch_0' holds token 7", call=lambda: io.read_top_sets(file, n_tokens=5))
    slots = _text(tmp_path, "user,epoch_0_0,epoch_0_2\n1,2,3\n")
    refused(FormatError, "column 'epoch_0_1' is missing", call=lambda: io.read_top_sets(slots))
    slots = _text(tmp_path, "user,epoch_0_0,epoch_0_1\n1,2,2\n")
    refused(DataError, "row 1, column 'epoch_0_1' repeats token 2", call=lambda: io.read_top_sets(slots))


def test_bad_bags(tmp_path: Path) -> None:
    bad = {
        "user,token,count\n1,2,3\n1,2,1\n": (DataError, "rows 1 and 2 both count the same token of one user"),
        "user,token,count\n1,2,\n": (DataError, "row 1, column 'count' is empty or negative"),
        "user,token,count\n1,2,0.5\n": (DataError, "row 1, column 'count' holds 0.5, a fraction; counts are whole"),
        "user,token,weight\n1,2,3\n": (FormatError, "column 'weight' is not known in the bag layout"),
        "user,count\n1,2\n": (FormatError, "column 'token' is missing"),
    }
    for text, (kind, part) in bad.items():
        file = _text(tmp_path, text)
        refused(kind, part, call=lambda file=file: io.read_bags(file))  # type: ignore[misc]


def test_bad_channels(tmp_path: Path) -> None:
    bad = {
        "0.5,0.5\n0.5,0.4\n": (DataError, "row 2 adds up to 0.9; every row"),
        "a,b\n0.5,0.5\n-1,2\n": (DataError, "row 2, column 'a' is -1; probabilities"),
        "a,b\n0.5,nan\n": (DataError, "row 1, column 'b' is NaN"),
        "a,b\n0.5,\n": (DataError, "row 1, column 'b' holds ''"),
        "a,b\n0.5,0.5\n0.5,red\n": (DataError, "row 2, column 'b' holds 'red'"),
        "a,b\n": (DataError, "the table is empty"),
        "a,b\n1\n": (FormatError, "line 2 has 1 cells where the first line has 2"),
        "": (FormatError, "the file is empty"),
    }
    for text, (kind, part) in bad.items():
        file = _text(tmp_path, text)
        refused(kind, str(file), part, call=lambda file=file: io.read_channel(file))  # type: ignore[misc]
    pq.write_table(pa.table({"user": [1], "a": ["x"]}), tmp_path / "t.parquet")
    refused(FormatError, "column 'a' is of type string", call=lambda: io.read_channel(tmp_path / "t.parquet"))
    pq.write_table(pa.table({"user": [1, 2], "a": [1.0, None]}), tmp_path / "t.parquet")
    refused(DataError, "row 2, column 'a' is NaN", call=lambda: io.read_channel(tmp_path / "t.parquet"))
    pq.write_table(pa.table({"user": [7, 7], "a": [1.0, 1.0]}), tmp_path / "t.parquet")
    refused(DataError, "rows 1 and 2 are both user 7", call=lambda: io.read_channel(tmp_path / "t.parquet"))
    pq.write_table(pa.table({"user": [[7]], "a": [1.0]}), tmp_path / "t.parquet")
    refused(FormatError, "column 'user' is of type list", call=lambda: io.read_channel(tmp_path / "t.parquet"))
    np.savez(tmp_path / "t.npz", matrix=np.ones(3))
    refused(FormatError, "of shape (3,)", call=lambda: io.read_channel(tmp_path / "t.npz"))
    (tmp_path / "t.npz").write_bytes(b"PK\3\4garbage")
    refused(FormatError, "cannot be read as NPZ", call=lambda: io.read_channel(tmp_path / "t.npz"))


def test_bad_vocabularies(tmp_path: Path) -> None:
    bad = {
        ("v.txt", b"a\nb\na\n"): (DataError, "lines 1 and 3 are both 'a'"),
        ("v.txt", b"a\n\nb\n"): (DataError, "line 2 is empty"),
        ("v.txt", b""): (DataError, "there is no label in it"),
        ("v.txt", b"caf\xe9"): (FormatError, "byte 3 is not UTF-8"),
        ("v.json", b'["a",'): (FormatError, "this is not JSON"),
        ("v.json", b'{"a": 1}'): (FormatError, "holds a dict; give a list"),
        ("v.json", b'["a", 1.5]'): (FormatError, "entry 2 is 1.5"),
    }
    for (name, data), (kind, part) in bad.items():
        (tmp_path / name).write_bytes(data)
        refused(kind, name, part, call=lambda name=name: io.read_vocabulary(tmp_path / name))  # type: ignore[misc]
    refused(FormatError, "there is no such file", call=lambda: io.read_vocabulary(tmp_path / "none.txt"))


def test_good_vocabularies(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_bytes("\ufeffnews\r\nsports & more\r\n".encode())
    assert io.read_vocabulary(tmp_path / "v.txt") == Vocabulary(["news", "sports & more"])
    (tmp_path / "v.json").write_text(
        '[{"topic_id": 1, "topic_label": "Arts"}, {"topic_id": 57, "topic_label": "Autos"}]'
    )
    assert io.read_vocabulary(tmp_path / "v.json") == Vocabulary(["1", "57"])
    (tmp_path / "v.json").write_text('["b", "a"]')
    assert io.read_vocabulary(tmp_path / "v.json") == Vocabulary(["b", "a"])


def test_good_channels(tmp_path: Path) -> None:
    from scipy import sparse

    matrix = np.array([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])
    rows = "\n".join(",".join(map(str, row)) for row in matrix.tolist())
    forms = [rows, f"a,b\n{rows}", "user,a,b\n" + "\n".join(f"{i},{line}" for i, line in enumerate(rows.split())),
             "\n".join(f"u{i},{line}" for i, line in enumerate(rows.split()))]  # fmt: skip
    for form in forms:
        assert np.array_equal(io.read_channel(_text(tmp_path, form + "\n")).matrix, matrix)
    np.savez(tmp_path / "t.npz", other=matrix)
    assert np.array_equal(io.read_channel(tmp_path / "t.npz").matrix, matrix)
    np.savez(tmp_path / "t.npz", other=matrix[:1], matrix=matrix)
    assert np.array_equal(io.read_channel(tmp_path / "t.npz").matrix, matrix)
    sparse.save_npz(tmp_path / "t.npz", sparse.csr_array(matrix))
    assert np.array_equal(io.read_channel(tmp_path / "t.npz").matrix.toarray(), matrix)
    pq.write_table(pa.table({"a": matrix[:, 0], "user": ["x", "y", "z"], "b": matrix[:, 1]}), tmp_path / "t.parquet")
    assert np.array_equal(io.read_channel(tmp_path / "t.parquet").matrix, matrix)


def test_messages_say_rows_from_one() -> None:
    message = refused(DataError, call=lambda: io.traces_from_frame(pa.table({"epoch_0": [-3]})))
    assert re.match(r"the frame: row 1, column 'epoch_0' holds token -3; ", message)


def test_top_sets_of_another_table_kind(tmp_path: Path) -> None:
    io.write_top_sets(TopSets([[[0, 1]]], 2), tmp_path / "t.parquet")
    refused(FormatError, "read it with read_top_sets", call=lambda: io.read_traces(tmp_path / "t.parquet"))
    io.write_traces(Traces([[0]], 2), tmp_path / "t.parquet")
    refused(FormatError, "read it with read_traces", call=lambda: io.read_top_sets(tmp_path / "t.parquet"))


def _text(folder: Path, text: str) -> Path:
    (folder / "t.csv").write_text(text)
    return folder / "t.csv"


def _folder(path: Path) -> Path:
    path.mkdir()
    return path
