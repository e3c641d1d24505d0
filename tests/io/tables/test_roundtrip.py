"""What is written is read back: every format, layout, kind of token and kind of user id."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Bags, TopSets, Traces, Vocabulary, io
from reidrisk.base.errors import DataError, FormatError, OptionError

ENDINGS = ["parquet", "csv", "csv.gz", "arrow", "feather", "ipc", "npz"]
FEW = settings(max_examples=30, deadline=None)
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6)
# A CSV file has no types: what looks like a number comes back as one, so names in it start with a letter here.
NAME = TEXT.map(lambda text: f"u{text}")


@st.composite
def named(draw: st.DrawFn, n: int, must: bool = False) -> object:
    kind = draw(st.sampled_from(["integers", "text"] if must else ["none", "integers", "text"]))
    if kind == "none":
        return None
    values = st.integers(-(2**62), 2**62) if kind == "integers" else NAME
    return draw(st.lists(values, min_size=n, max_size=n, unique=True))


@st.composite
def vocabularies(draw: st.DrawFn) -> Vocabulary:
    return Vocabulary(draw(st.lists(NAME, min_size=2, max_size=5, unique=True)))


@st.composite
def some_traces(draw: st.DrawFn, must_be_named: bool = False) -> Traces:
    n, r = draw(st.integers(1, 5)), draw(st.integers(1, 12))
    vocabulary = draw(st.none() | vocabularies())
    n_tokens = len(vocabulary) if vocabulary else draw(st.sampled_from([1, 5, 300, 40_000, 10_000_000]))
    cells = st.integers(-1, n_tokens - 1)
    rows = draw(st.lists(st.lists(cells, min_size=r, max_size=r), min_size=n, max_size=n))
    return Traces(np.array(rows, dtype=np.int64), n_tokens, draw(named(n, must_be_named)), vocabulary)


def same_users(a: object, b: object) -> bool:
    if a is None or b is None:
        return a is b
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else a.equals(b)


def same(a: Traces | TopSets, b: Traces | TopSets) -> None:
    assert np.array_equal(a.tokens, b.tokens)
    assert a.n_tokens == b.n_tokens
    assert a.vocabulary == b.vocabulary
    assert same_users(a.users, b.users)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("layout", ["wide", "long"])
@FEW
@given(data=st.data())
def test_traces_come_back(ending: str, layout: str, data: st.DataObject) -> None:
    traces = data.draw(some_traces(must_be_named=layout == "long"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"t.{ending}"
        io.write_traces(traces, file, layout)
        if ending.startswith("csv"):  # it carries neither the vocabulary nor its size
            back = io.read_traces(
                file, n_tokens=None if traces.vocabulary else traces.n_tokens, vocabulary=traces.vocabulary
            )
        else:
            back = io.read_traces(file)
        assert io.read_traces(file, layout, traces.n_tokens, traces.vocabulary).n_epochs == back.n_epochs
        same(traces, back)


@pytest.mark.parametrize("ending", ENDINGS)
@FEW
@given(data=st.data())
def test_top_sets_come_back(ending: str, data: st.DataObject) -> None:
    n, r, k = (data.draw(st.integers(1, 4)) for _ in range(3))
    vocabulary = data.draw(st.none() | vocabularies())
    n_tokens = len(vocabulary) if vocabulary else 700
    k = min(k, n_tokens)
    sets = st.lists(st.integers(0, n_tokens - 1), max_size=k, unique=True).map(lambda s: s + [-1] * (k - len(s)))
    tokens = data.draw(st.lists(st.lists(sets, min_size=r, max_size=r), min_size=n, max_size=n))
    top_sets = TopSets(np.array(tokens), n_tokens, data.draw(named(n)), vocabulary)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"t.{ending}"
        io.write_top_sets(top_sets, file)
        declared = {"vocabulary": vocabulary} if vocabulary else {"n_tokens": n_tokens}
        same(top_sets, io.read_top_sets(file, **(declared if ending.startswith("csv") else {})))


@pytest.mark.parametrize("ending", ENDINGS)
@FEW
@given(data=st.data())
def test_bags_come_back(ending: str, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 4))
    vocabulary = data.draw(st.none() | vocabularies())
    n_tokens = len(vocabulary) if vocabulary else data.draw(st.integers(1, 6))
    row = st.lists(st.integers(0, 3), min_size=n_tokens, max_size=n_tokens)
    counts = np.array(data.draw(st.lists(row, min_size=n, max_size=n)))
    bags = Bags(counts, data.draw(named(n, must=True)), vocabulary)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"t.{ending}"
        io.write_bags(bags, file)
        declared = {"vocabulary": vocabulary} if vocabulary else {"n_tokens": n_tokens}
        back = io.read_bags(file, **declared)
        assert np.array_equal(back.counts.toarray(), counts)
        assert same_users(back.users, bags.users)
        assert back.vocabulary == vocabulary


def test_many_rows_cross_batches_and_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reidrisk.io.traces.CHUNK", 64)
    rng = np.random.default_rng(0)
    traces = Traces(rng.integers(-1, 70_000, size=(1_000, 3)), 70_000, [f"u{i}" for i in range(1_000)])
    for layout in ("wide", "long"):
        for ending in ("parquet", "arrow"):
            io.write_traces(traces, tmp_path / f"t.{ending}", layout)
            same(traces, io.read_traces(tmp_path / f"t.{ending}"))


@pytest.mark.parametrize("make", [polars.DataFrame, pa.table])
def test_frames_are_taken(make: object) -> None:
    frame = make({"user": ["b", "a"], "epoch_0": ["x", None], "epoch_1": ["", "y"]})  # type: ignore[operator]
    traces = io.traces_from_frame(frame)
    assert traces.tokens.tolist() == [[0, -1], [-1, 1]]
    assert traces.vocabulary == Vocabulary(["x", "y"])
    assert traces.users.to_pylist() == ["b", "a"]


def test_categories_and_whole_floats_are_taken() -> None:
    frame = polars.DataFrame({"user": [1, 2], "epoch_0": ["x", "y"]}).with_columns(
        polars.col("epoch_0").cast(polars.Categorical)
    )
    assert io.traces_from_frame(frame).tokens.tolist() == [[0], [1]]
    floats = pa.table({"user": pa.array([1, 2], pa.uint8()), "epoch_0": pa.array([3.0, None])})
    assert io.traces_from_frame(floats, n_tokens=4).tokens.tolist() == [[3], [-1]]


def test_an_object_without_the_arrow_interface_is_refused() -> None:
    with pytest.raises(FormatError, match="a dict has no Arrow interface"):
        io.traces_from_frame({"user": [1]})


def test_an_arrow_stream_is_read_as_well_as_a_file(tmp_path: Path) -> None:
    table = pa.table({"user": [4, 5], "epoch_0": [1, 0]})
    with pa.ipc.new_stream(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    assert io.read_traces(tmp_path / "t.arrow").tokens.tolist() == [[1], [0]]


def test_missing_observations_stay_missing(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text('user,epoch_0,epoch_1,epoch_2\n1,,-1,2\n2,3,"",0\n')
    assert io.read_traces(tmp_path / "wide.csv").tokens.tolist() == [[-1, -1, 2], [3, -1, 0]]
    (tmp_path / "long.csv").write_text("token,user,epoch\n4,ann,2024-01-08\n,ann,2024-01-01\n1,bob,2024-01-01\n")
    assert io.read_traces(tmp_path / "long.csv").tokens.tolist() == [[-1, 4], [1, -1]]


def test_epochs_sort_as_people_count(tmp_path: Path) -> None:
    weeks = "".join(f"ann,week {week},{week}\n" for week in (10, 2, 1))
    (tmp_path / "t.csv").write_text("user,epoch,token\n" + weeks)
    assert io.read_traces(tmp_path / "t.csv").tokens.tolist() == [[1, 2, 10]]
    (tmp_path / "t.csv").write_text("user,epoch,token\nann,7,1\nann,-3,2\n")
    assert io.read_traces(tmp_path / "t.csv").tokens.tolist() == [[2, 1]]


def test_ids_with_leading_zeros_stay_apart(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("user,epoch_0\n007,1\n7,2\n")
    assert io.read_traces(tmp_path / "t.csv").users.to_pylist() == ["007", "7"]
    (tmp_path / "t.csv").write_text("user,epoch_0\n1,0112\n2,112\n")
    assert io.read_traces(tmp_path / "t.csv").vocabulary == Vocabulary(["0112", "112"])


def test_a_declared_vocabulary_makes_csv_cells_labels(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("user,epoch_0\n1,629\n2,57\n")
    traces = io.read_traces(tmp_path / "t.csv", vocabulary=Vocabulary(["1", "57", "629"]))
    assert traces.tokens.tolist() == [[2], [1]]


def test_more_tokens_than_labels_that_occur(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("user,epoch_0\n1,news\n2,music\n")
    traces = io.read_traces(tmp_path / "t.csv", n_tokens=4)
    assert traces.vocabulary.labels == ("music", "news", "(not seen 1)", "(not seen 2)")


def test_unknown_layouts_and_unnamed_long_tables_are_refused(tmp_path: Path) -> None:
    traces = Traces([[0]], 1)
    with pytest.raises(
        OptionError, match=r"layout must be wide \(user, epoch_0, .*\) or long \(user, epoch, token\), not 'tall'"
    ):
        io.write_traces(traces, tmp_path / "t.csv", "tall")
    with pytest.raises(DataError, match="the long layout needs user ids"):
        io.write_traces(traces, tmp_path / "t.csv", "long")
    with pytest.raises(DataError, match="bags are written with user ids"):
        io.write_bags(Bags([[1]]), tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


def test_names_that_a_format_would_lose_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="ends in a zero byte"):
        io.write_traces(Traces([[0]], 1, ["a\0"]), tmp_path / "t.npz")
    with pytest.raises(DataError, match="a user id is empty"):
        io.write_traces(Traces([[0]], 1, [""]), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="a label of the vocabulary is empty"):
        io.write_traces(Traces([[0]], 1, ["a"], Vocabulary([""])), tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


def test_bags_without_counts_add_up(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("user,token\nann,2\nann,2\nbob,0\nann,\n")
    assert io.read_bags(tmp_path / "t.csv").counts.toarray().tolist() == [[0, 0, 2], [1, 0, 0]]


def test_top_sets_of_different_lengths(tmp_path: Path) -> None:
    table = pa.table({"user": [1, 2, 3], "epoch_0": pa.array([[3], None, [1, 2]]), "epoch_1": pa.array([[], [0], [4]])})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    top_sets = io.read_top_sets(tmp_path / "t.parquet", n_tokens=5)
    assert top_sets.tokens.tolist() == [[[3, -1], [-1, -1]], [[-1, -1], [0, -1]], [[1, 2], [4, -1]]]
