"""Two tables over one vocabulary, and files of true pairs."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Traces, Vocabulary, attacks, io, measure
from reidrisk.base.errors import DataError, FormatError, ReidRiskError, TruthError
from reidrisk.base.notes import Note


@pytest.fixture
def write(tmp_path: Path):
    def write(name: str, text: str) -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def message(kind: type[ReidRiskError], call) -> str:
    with pytest.raises(kind) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_labels_are_the_sorted_union(write) -> None:
    a = write("a.csv", "user,epoch_0,epoch_1\nann,news,sports\nbob,music,\n")
    b = write("b.csv", "user,epoch_0,epoch_1\nbob,art,music\nann,sports,news\n")
    pair = io.read_pair(a, b)
    assert pair.vocabulary == Vocabulary(["art", "music", "news", "sports"])
    assert pair.targets.vocabulary == pair.queries.vocabulary == pair.vocabulary
    assert pair.targets.tokens.tolist() == [[2, 3], [1, -1]]
    assert pair.queries.tokens.tolist() == [[0, 1], [3, 2]]
    assert (pair.unmatched_targets, pair.unmatched_queries) == (0, 0)
    assert pair.notes == (Note("vocabulary-from-data", n=4, tables=2, numbers=False),)
    assert io.read_pair(a, b, n_tokens=9).notes == ()
    assert io.read_pair(a, b, n_tokens=9).targets.n_tokens == 9


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_equal_labels_get_equal_tokens_whatever_the_order(data: st.DataObject) -> None:
    words = st.sampled_from([None, "a", "b", "c", "dd", "e f"])
    rows = st.lists(st.tuples(words, words), min_size=1, max_size=6)
    tables = [data.draw(rows.filter(lambda t: any(w for row in t for w in row))) for _ in range(2)]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / "a.parquet", Path(folder) / "b.parquet"]
        for path, table in zip(paths, tables, strict=True):
            columns = {f"epoch_{j}": pa.array([row[j] for row in table], pa.string()) for j in range(2)}
            pq.write_table(pa.table(columns | {"user": range(len(table))}), path)
        pair = io.read_pair(*paths, allow_unmatched=True)
    for table, traces in zip(tables, (pair.targets, pair.queries), strict=True):
        assert [tuple(pair.vocabulary.decode(row)) for row in traces.tokens] == table


def test_numbers_take_the_larger_size(write) -> None:
    a, b = write("a.csv", "user,epoch_0\n1,3\n2,0\n"), write("b.csv", "user,epoch_0\n1,7\n2,0\n")
    pair = io.read_pair(a, b)
    assert pair.targets.n_tokens == pair.queries.n_tokens == 8
    assert pair.vocabulary is None
    assert pair.notes[0] == Note("vocabulary-from-data", n=8, tables=2, numbers=True)


def test_the_size_in_one_file_holds_for_both(write, tmp_path: Path) -> None:
    io.write_traces(Traces([[3]], 469, [1]), tmp_path / "a.parquet")
    pair = io.read_pair(tmp_path / "a.parquet", write("b.csv", "user,epoch_0\n1,7\n"))
    assert pair.queries.n_tokens == 469
    assert pair.notes == ()
    io.write_traces(Traces([[3]], 350, [1]), tmp_path / "c.parquet")
    text = message(DataError, lambda: io.read_pair(tmp_path / "a.parquet", tmp_path / "c.parquet"))
    assert "a.parquet says that there are 469 tokens and" in text
    assert "c.parquet says 350" in text


def test_vocabularies_that_differ(write, tmp_path: Path) -> None:
    io.write_traces(Traces([[1]], 2, [1], Vocabulary(["x", "y"])), tmp_path / "a.parquet")
    io.write_traces(Traces([[1]], 2, [1], Vocabulary(["y", "x"])), tmp_path / "b.parquet")
    text = message(DataError, lambda: io.read_pair(tmp_path / "a.parquet", tmp_path / "b.parquet"))
    assert "token 0 is 'y' in its vocabulary and 'x' in that of" in text
    words = write("c.csv", "user,epoch_0\n1,y\n")
    assert io.read_pair(tmp_path / "a.parquet", words).queries.tokens.tolist() == [[1]]
    bare = tmp_path / "d.parquet"
    pq.write_table(pa.table({"user": [1], "epoch_0": [0]}), bare)
    assert "holds integers without a vocabulary" in message(
        DataError, lambda: io.read_pair(tmp_path / "a.parquet", bare)
    )
    assert io.read_pair(tmp_path / "a.parquet", bare, vocabulary=Vocabulary(["x", "y"])).vocabulary is not None
    numbers = write("e.csv", "user,epoch_0\n1,0\n")
    assert "e.csv are integers; give both" in message(DataError, lambda: io.read_pair(words, numbers))


def test_epochs_that_differ(write) -> None:
    two, three = (
        write("a.csv", "user,epoch_0,epoch_1\n1,2,3\n"),
        write("b.csv", "user,epoch_0,epoch_1,epoch_2\n1,2,3,4\n"),
    )
    text = message(DataError, lambda: io.read_pair(two, three))
    assert f"{two} has 2 epochs and {three} has 3; give both tables the same epochs" in text
    c, d = write("c.csv", "user,epoch,token\n1,5,0\n1,6,0\n"), write("d.csv", "user,epoch,token\n1,6,0\n1,7,0\n")
    assert f"epoch 5 of {c} is not in {d}" in message(DataError, lambda: io.read_pair(c, d))
    assert io.read_pair(c, two).queries.n_epochs == 2


def test_users_in_one_table_only(write) -> None:
    a = write("a.csv", "user,epoch_0\n1,0\n2,1\n3,1\n4,1\n")
    b = write("b.csv", "user,epoch_0\n4,0\n9,1\n3,1\n")
    text = message(DataError, lambda: io.read_pair(a, b))
    assert f"2 users of {a} are not in {b} and 1 of {b} not in {a}; allow_unmatched=True keeps them" in text
    pair = io.read_pair(a, b, allow_unmatched=True)
    assert (pair.unmatched_targets, pair.unmatched_queries) == (2, 1)
    assert pair.notes[-1] == Note("in-one-table-only", targets=2, queries=1)


def test_no_shared_ids(write) -> None:
    a, b = write("a.csv", "user,epoch_0\n1,0\n2,1\n"), write("b.csv", "user,epoch_0\n8,0\n9,1\n")
    text = message(DataError, lambda: io.read_pair(a, b))
    assert f"no user of {a} (2) is in {b} (2)" in text
    assert "(truth=)" in text
    assert "(allow_unmatched=True)" in text
    pair = io.read_pair(a, b, allow_unmatched=True)
    assert (pair.unmatched_targets, pair.unmatched_queries) == (2, 2)
    assert pair.notes[-1] == Note("nobody-in-common")
    truth = write("t.csv", "query,target\n9,1\n8,\n")
    pair = io.read_pair(a, b, truth=truth)
    assert pair.truth is not None
    assert pair.truth.tolist() == [-1, 0]
    assert pair.truth.dtype == np.int64
    assert (pair.unmatched_targets, pair.unmatched_queries) == (1, 1)
    assert pair.notes[-1] == Note("without-pair", n=1, of=2)


def test_users_without_names(write) -> None:
    a, b = write("a.csv", "epoch_0\n1\n2\n"), write("b.csv", "epoch_0\n2\n1\n")
    assert io.read_pair(a, b).notes[-1] == Note("rows-are-people")
    named = write("c.csv", "user,epoch_0\n1,1\n2,2\n")
    text = message(DataError, lambda: io.read_pair(a, named))
    assert f"{named} names its users and {a} does not" in text
    longer = write("d.csv", "epoch_0\n1\n2\n1\n")
    assert "neither names its users" in message(DataError, lambda: io.read_pair(a, longer))
    pair = io.read_pair(a, longer, allow_unmatched=True)
    assert (pair.unmatched_targets, pair.unmatched_queries) == (2, 3)
    words = write("e.csv", "user,epoch_0\nann,1\nbob,2\n")
    text = message(DataError, lambda: io.read_pair(named, words))
    assert f"no user of {named} (2) is in {words} (2)" in text
    mixed = write("f.csv", "user,epoch_0\n1,1\nbob,2\n")  # one word makes all ids of a CSV file text
    pair = io.read_pair(named, mixed, allow_unmatched=True)
    assert (pair.unmatched_targets, pair.unmatched_queries) == (1, 1)
    truth = write("t.csv", "query,target\n1,1\n")
    assert "true pairs name people" in message(TruthError, lambda: io.read_pair(a, b, truth=truth))


BAD_TRUTH = {
    "query,target\n901,bob\n999,ann\n": (
        TruthError,
        "row 2, column 'query' names '999', who is not among the records to identify",
    ),
    "query,target\n901,bob\n902,eve\n": (
        TruthError,
        "row 2, column 'target' names 'eve', who is not among the known records",
    ),
    "query,target\n901,bob\n902,ann\n901,ann\n": (TruthError, "rows 1 and 3 are of the same person"),
    "query,target\n901,bob\n,ann\n": (TruthError, "row 2, column 'query' names None, who is not among"),
    "query,target\nx,bob\n": (TruthError, "row 1, column 'query' names 'x', who is not among"),
    "query,sure,target\n901,no,bob\n": (TruthError, "true pairs are two columns, and 'sure' is a third"),
    "query\n901\n": (TruthError, "true pairs are two columns, and there are 'query'"),
    "query,target\n": (TruthError, "no pair"),
}


@pytest.mark.parametrize("text", BAD_TRUTH)
def test_bad_true_pairs(text: str, write) -> None:
    kind, part = BAD_TRUTH[text]
    a = write("a.csv", "user,epoch_0\nann,0\nbob,1\n")
    b = write("b.csv", "user,epoch_0\n901,0\n902,1\n903,1\n")
    truth = write("pairs.csv", text)
    found = message(kind, lambda: io.read_pair(a, b, truth=truth))
    assert str(truth) in found
    assert part in found


def test_true_pairs_from_parquet_and_after_the_fact(write, tmp_path: Path) -> None:
    a, b = write("a.csv", "user,epoch_0\nann,0\nbob,1\n"), write("b.csv", "user,epoch_0\n901,0\n902,1\n903,1\n")
    pair = io.read_pair(a, b, allow_unmatched=False, truth=write("t.csv", "query,target\n903,ann\n901,bob\n902,ann\n"))
    assert pair.truth.tolist() == [1, 0, 0]
    pq.write_table(pa.table({"target": ["ann", None], "query": [902, 903]}), tmp_path / "t.parquet")
    assert io.read_truth(tmp_path / "t.parquet", pair).tolist() == [-1, 0, -1]
    pq.write_table(pa.table({"target": pa.nulls(1), "query": [902]}), tmp_path / "t.parquet")
    assert "no pair" in message(TruthError, lambda: io.read_truth(tmp_path / "t.parquet", pair))


def test_ids_of_csv_pairs_follow_the_tables(write) -> None:
    a, b = write("a.csv", "user,epoch_0\n007,0\n8,1\n"), write("b.csv", "user,epoch_0\n1,0\n2,1\n")
    assert io.read_pair(a, b, truth=write("t.csv", "query,target\n1,8\n2,007\n")).truth.tolist() == [1, 0]


def test_bags_of_two_tables_share_one_vocabulary(write) -> None:
    a = write("a.csv", "user,token\nann,waltz\nann,waltz\nbob,polka\n")
    b = write("b.csv", "user,token,count\nbob,rumba,1\nbob,polka,3\nann,waltz,1\n")
    pair = io.read_bags_pair(a, b)
    assert pair.vocabulary == Vocabulary(["polka", "rumba", "waltz"])
    assert pair.targets.counts.toarray().tolist() == [[0, 0, 2], [1, 0, 0]]
    assert pair.queries.counts.toarray().tolist() == [[3, 1, 0], [0, 0, 1]]
    assert pair.notes[0] == Note("vocabulary-from-data", n=3, tables=2, numbers=False)
    found = measure.random_user(attacks.Overlap(), pair.targets, pair.queries)
    assert found.rate == 1.0
    declared = io.read_bags_pair(a, b, vocabulary=["waltz", "polka", "rumba", "tango"])
    assert declared.vocabulary == Vocabulary(["waltz", "polka", "rumba", "tango"])
    assert declared.targets.counts.toarray().tolist() == [[2, 0, 0, 0], [0, 1, 0, 0]]
    assert declared.notes == ()
    assert "'rumba', which is not among" in message(
        DataError, lambda: io.read_bags_pair(a, b, vocabulary=["waltz", "polka"])
    )


def test_bags_find_their_people_as_traces_do(write) -> None:
    a = write("a.csv", "user,token\n1,4\n2,0\n")
    b = write("b.csv", "user,token\n2,0\nx,4\n")
    assert "1 users of" in message(DataError, lambda: io.read_bags_pair(a, b))
    pair = io.read_bags_pair(a, b, allow_unmatched=True)
    assert (pair.unmatched_targets, pair.unmatched_queries, pair.targets.n_tokens) == (1, 1, 5)
    assert pair.targets.users.to_pylist() == ["1", "2"], "ids are text where one table has text"
    pairs = write("pairs.csv", "query,target\nx,1\n")
    pair = io.read_bags_pair(a, b, truth=pairs)
    assert pair.truth.tolist() == [-1, 0]
    assert measure.random_user(attacks.Overlap(), pair.targets, pair.queries, truth=pair.truth).rate == 0.5


@pytest.mark.parametrize("layout", [None, "long"])
def test_bags_are_not_taken_for_traces(write, layout: str | None) -> None:
    a = write("a.csv", "user,token\nann,waltz\nbob,polka\n")
    said = message(FormatError, lambda: io.read_pair(a, a, layout=layout))
    assert "these are bags" in said
    assert "io.read_bags_pair" in said


def test_a_vocabulary_may_be_a_list_of_labels(write) -> None:
    a = write("a.csv", "user,epoch_0\nann,news\nbob,music\n")
    pair = io.read_pair(a, a, vocabulary=["news", "music", "art"])
    assert pair.vocabulary == Vocabulary(["news", "music", "art"])
    assert io.read_traces(a, vocabulary=("music", "news")).tokens.tolist() == [[1], [0]]


def test_further_columns_of_true_pairs_are_for_those_who_name_two(write) -> None:
    a = write("a.csv", "user,epoch_0\nann,0\nbob,1\n")
    b = write("b.csv", "user,epoch_0\n901,0\n902,1\n")
    truth = write("pairs.csv", "query,sure,target\n901,no,bob\n")
    assert io.read_pair(a, b, truth=f"{truth}:target=query").truth.tolist() == [1, -1]
