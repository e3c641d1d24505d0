"""TFRecord files: checksums, framing, tf.train.Example, and the two shapes of the Topics release."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from example_twin import parse_example
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import TopSets, Traces, Vocabulary, io
from reidrisk.base import Note
from reidrisk.base.errors import DataError, FormatError, OptionError
from reidrisk.io.tfrecord.example import BYTES, FLOAT, INTEGER, make_example
from reidrisk.io.tfrecord.examples import feature_kinds, parse_examples
from reidrisk.io.tfrecord.framing import crc32c, masked, read_frames, write_frames
from reidrisk.io.tfrecord.topics_records import is_tfrecord


def slow_crc32c(data: bytes) -> int:
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = (register >> 1) ^ (0x82F63B78 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


def test_published_check_values() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA  # RFC 3720, B.4
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E
    assert crc32c(b"") == 0


@given(st.binary(max_size=100))
@settings(max_examples=50, deadline=None)
def test_the_fast_checksum_is_the_slow_one(data: bytes) -> None:
    assert crc32c(data) == slow_crc32c(data)


def hand_made(*records: bytes) -> bytes:
    def mask(value: int) -> int:
        return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF

    out = b""
    for data in records:
        head = struct.pack("<Q", len(data))
        out += head + struct.pack("<I", mask(slow_crc32c(head))) + data + struct.pack("<I", mask(slow_crc32c(data)))
    return out


def test_frames_against_hand_made_bytes(tmp_path: Path) -> None:
    file = tmp_path / "x.tfrecord"
    write_frames(file, [b"abc", b"", b"x" * 300])
    assert file.read_bytes() == hand_made(b"abc", b"", b"x" * 300)
    data, starts, stops = read_frames(file)
    assert [data[a:b].tobytes() for a, b in zip(starts, stops, strict=True)] == [b"abc", b"", b"x" * 300]
    assert int(masked(0)) == 0xA282EAD8


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda d: d[:-1], "record 2 at byte 19 is cut off in its data"),
        (lambda d: d[:25], "record 2 at byte 19 is cut off in its head"),
        (lambda d: d[:12] + b"X" + d[13:], "record 1 at byte 0 has data whose checksum is wrong"),
        (lambda d: d[:19] + b"\x09" + d[20:], "record 2 at byte 19 has a length whose checksum is wrong"),
        (lambda d: d[:8] + b"\0\0\0\0" + d[12:], "record 1 at byte 0 has a length whose checksum is wrong"),
        (lambda d: b"PAR1" * 30, "record 1 at byte 0 has a length whose checksum is wrong"),
        (lambda d: d + b"\0" * 5, "record 3 at byte 39 is cut off in its head"),
        (lambda d: b"", "the file is empty"),
    ],
)
def test_damaged_frames(tmp_path: Path, change, part: str) -> None:
    file = tmp_path / "x.tfrecord"
    file.write_bytes(change(hand_made(b"abc", b"defg")))
    with pytest.raises(FormatError) as caught:
        read_frames(file)
    assert part in str(caught.value)
    assert str(file) in str(caught.value)


FEATURES = st.fixed_dictionaries(
    {
        "user_id": st.lists(st.binary(max_size=4), max_size=3),
        "weights": st.lists(st.floats(width=32, allow_nan=False), max_size=20),
        "epoch_0_topics": st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20),
    }
)


@given(st.lists(FEATURES, min_size=1, max_size=5))
@settings(max_examples=50, deadline=None)
def test_the_fast_reader_is_the_slow_one(records: list[dict[str, list[object]]]) -> None:
    raw = [make_example(record) for record in records]
    assert [{name: values for name, (_, values) in parse_example(data).items()} for data in raw] == records
    ends = np.cumsum([0, *map(len, raw)])
    buffer = np.frombuffer(b"".join(raw), dtype=np.uint8)
    kinds = {"user_id": BYTES, "weights": FLOAT, "epoch_0_topics": INTEGER}
    columns = parse_examples(buffer, ends[:-1], ends[1:], kinds, "x")
    for data in raw:
        slow = {name: kind for name, (kind, _) in parse_example(data).items()}
        assert feature_kinds(np.frombuffer(data, dtype=np.uint8)) == slow
    for i, record in enumerate(records):
        assert columns.counts[i].tolist() == [len(record[name]) for name in kinds]
        assert columns.floats[i, 1, : len(record["weights"])].tolist() == record["weights"]
        assert columns.integers[i, 2, : len(record["epoch_0_topics"])].tolist() == record["epoch_0_topics"]
        if record["user_id"]:
            assert buffer[slice(*columns.spans[i, 0])].tobytes() == record["user_id"][0]


def test_unpacked_lists_and_unknown_fields_are_read() -> None:
    # By hand: int64_list { 1: varint 5, 1: varint 300 }, float_list { 1: fixed32 }, and a field 15 that nobody knows.
    ints = b"\x0a\x01t\x12\x07\x1a\x05\x08\x05\x08\xac\x02"
    floats = b"\x0a\x01w\x12\x0c\x12\x0a\x0d" + struct.pack("<f", 1.5) + b"\x0d" + struct.pack("<f", -2.0)
    features = b"".join(b"\x0a" + bytes([len(entry)]) + entry for entry in (ints, floats)) + b"\x78\x01"
    data = b"\x0a" + bytes([len(features)]) + features + b"\x7d\x01\x02\x03\x04"
    assert parse_example(data) == {"t": (INTEGER, [5, 300]), "w": (FLOAT, [1.5, -2.0])}
    buffer = np.frombuffer(data, dtype=np.uint8)
    assert feature_kinds(buffer) == {"t": INTEGER, "w": FLOAT}
    columns = parse_examples(buffer, np.array([0]), np.array([len(data)]), {"t": INTEGER, "w": FLOAT}, "x")
    assert columns.integers[0, 0, :2].tolist() == [5, 300]
    assert columns.floats[0, 1, :2].tolist() == [1.5, -2.0]


@given(st.binary(max_size=60))
@settings(max_examples=200, deadline=None)
def test_garbage_is_refused_by_both_readers_alike(data: bytes) -> None:
    buffer = np.frombuffer(data, dtype=np.uint8)
    try:
        parse_examples(buffer, np.array([0]), np.array([len(data)]), {"t": INTEGER}, "x")
    except FormatError:
        return
    parse_example(data)
    feature_kinds(buffer)


def release(path: Path, records: list[dict[str, list[object]]]) -> Path:
    write_frames(path, [make_example(record) for record in records])
    return path


def user(number: int, *epochs: list[int], weights: list[list[float]] | None = None) -> dict[str, list[object]]:
    record: dict[str, list[object]] = {"user_id": [b"user %d" % number]}
    for t, topics in enumerate(epochs):
        record[f"epoch_{t}_topics"] = list(topics)
        record[f"epoch_{t}_weights"] = weights[t] if weights else [1.0] * len(topics)
    return record


def test_the_release_is_read(tmp_path: Path) -> None:
    one = release(tmp_path / "a-00000-of-00002.tfrecord", [user(0, [1, 299, 57], [629, 1, 1]), user(1, [57, 1, 2], [])])
    two = release(tmp_path / "a-00001-of-00002.tfrecord", [user(7, [5, 299, 57], [2, 1, 299])])
    records = io.read_tfrecords([one, two])
    sets = records.top_sets
    assert sets is not None
    assert sets.vocabulary == Vocabulary(["1", "2", "5", "57", "299", "629"])
    assert sets.users.to_pylist() == ["user 0", "user 1", "user 7"]
    assert sets.tokens.tolist() == [
        [[0, 4, 3], [5, 0, -1]],
        [[3, 0, 1], [-1, -1, -1]],
        [[2, 4, 3], [1, 0, 4]],
    ]
    assert records.client_1 is records.client_2 is None
    assert records.notes == (Note("topics-from-data", n=6), Note("topics-listed-twice", n=1))


def test_topic_ids_over_a_declared_vocabulary_or_as_numbers(tmp_path: Path) -> None:
    file = release(tmp_path / "a.tfrecord", [user(0, [629, 1])])
    taxonomy = Vocabulary(["1", "57", "629", "2"])
    assert io.read_tfrecords(file, vocabulary=taxonomy).top_sets.tokens.tolist() == [[[2, 0]]]
    numbers = io.read_tfrecords(file, n_tokens=630).top_sets
    assert (numbers.n_tokens, numbers.vocabulary, numbers.tokens.tolist()) == (630, None, [[[629, 1]]])
    with pytest.raises(DataError, match="topic id 629 is not among the 2 labels"):
        io.read_tfrecords(file, vocabulary=Vocabulary(["1", "2"]))
    with pytest.raises(DataError, match="labels of the vocabulary must be topic ids"):
        io.read_tfrecords(file, vocabulary=Vocabulary(["news"]))
    with pytest.raises(DataError, match=r"topic id 629 is outside \[0, 629\)"):
        io.read_tfrecords(file, n_tokens=629)
    with pytest.raises(OptionError, match="not both"):
        io.read_tfrecords(file, n_tokens=3, vocabulary=taxonomy)
    with pytest.raises(OptionError, match="there is no TFRecord file to read"):
        io.read_tfrecords([])


def test_weights_order_the_topics_and_choose_the_top(tmp_path: Path) -> None:
    record = user(0, [10, 11, 12, 13], weights=[[0.5, 2.0, 0.5, 3.0]])
    file = release(tmp_path / "a.tfrecord", [record])
    assert io.read_tfrecords(file, n_tokens=20).top_sets.tokens.tolist() == [[[13, 11, 10, 12]]]
    with pytest.raises(OptionError, match="top_k must be at least 1"):
        io.read_tfrecords(file, top_k=0)
    assert io.read_tfrecords(file, n_tokens=20, top_k=3).top_sets.tokens.tolist() == [[[13, 11, 10]]]


def test_long_profiles_are_read_whole(tmp_path: Path) -> None:
    file = release(tmp_path / "a.tfrecord", [user(0, [3]), user(1, list(range(40)))])
    assert io.read_tfrecords(file).top_sets.tokens[1, 0].tolist() == list(range(40))


def test_large_topic_ids(tmp_path: Path) -> None:
    file = release(tmp_path / "a.tfrecord", [user(0, [2**31 - 1, 7, 40_000]), user(1, [7])])
    sets = io.read_tfrecords(file).top_sets
    assert sets.vocabulary == Vocabulary(["7", "40000", "2147483647"])
    assert sets.tokens.tolist() == [[[2, 0, 1]], [[0, -1, -1]]]


def test_records_of_observers_alone(tmp_path: Path) -> None:
    clients = [{"user_id": [b"u%d" % i], "client_1_tokens": [i, 3], "client_2_tokens": [9, i]} for i in range(3)]
    records = io.read_tfrecords(release(tmp_path / "a.tfrecord", clients), n_tokens=10)
    assert records.top_sets is None
    assert records.client_1.tokens.tolist() == [[0, 3], [1, 3], [2, 3]]
    assert records.client_2.tokens.tolist() == [[9, 0], [9, 1], [9, 2]]


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow", "npz"])
def test_the_simulator_is_read_and_converted(tmp_path: Path, ending: str) -> None:
    words = Vocabulary(["1", "57", "299", "629"])
    users = ["user 3", "user 1"]
    sets = TopSets([[[0, 1], [2, 1]], [[2, 0], [1, 2]]], 4, users, words)
    one, two = Traces([[0, 2], [2, 1]], 4, users, words), Traces([[3, 1], [0, 1]], 4, users, words)
    file = tmp_path / "out-00000-of-00001"
    io.write_tfrecords(file, sets, one, two)
    records = io.read_tfrecords(file)
    assert records.top_sets.vocabulary == words
    for written, back in ((sets, records.top_sets), (one, records.client_1), (two, records.client_2)):
        assert np.array_equal(written.tokens, back.tokens)
        assert back.users.to_pylist() == users
    done = io.convert([file], tmp_path / f"o.{ending}")
    assert [Path(where).name for _, where in done.written] == [
        f"o{who}.{ending}" for who in ("", ".client_1", ".client_2")
    ]
    declared = {"vocabulary": words} if ending == "csv" else {}
    pair = io.read_pair(tmp_path / f"o.client_1.{ending}", tmp_path / f"o.client_2.{ending}", **declared)
    assert pair.targets.tokens.tolist() == one.tokens.tolist()
    assert pair.queries.tokens.tolist() == two.tokens.tolist()
    assert io.read_top_sets(tmp_path / f"o.{ending}", **declared).tokens.tolist() == sets.tokens.tolist()


def test_tfrecord_files_are_known_by_their_names() -> None:
    assert all(map(is_tfrecord, ["a.tfrecord", "a.tfrecords.gz", "out-00003-of-00100"]))
    assert not is_tfrecord("a.parquet")


def test_converting_tables(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("user,epoch_0,epoch_1\nann,3,\nbob,0,1\n")
    io.convert([tmp_path / "t.csv"], tmp_path / "long.arrow", layout="long", n_tokens=9)
    io.convert([tmp_path / "long.arrow"], tmp_path / "wide.npz")
    assert io.read_traces(tmp_path / "wide.npz").tokens.tolist() == [[3, -1], [0, 1]]
    assert io.read_traces(tmp_path / "wide.npz").n_tokens == 9
    (tmp_path / "b.csv").write_text("user,token\nann,3\nann,3\n")
    assert io.convert([tmp_path / "b.csv"], tmp_path / "b.parquet").written[0][0].startswith("Bags(1 users, 4 tokens")
    assert io.read_bags(tmp_path / "b.parquet").counts.toarray().tolist() == [[0, 0, 0, 2]]
    with pytest.raises(OptionError, match="only TFRecord files are joined"):
        io.convert([tmp_path / "t.csv", tmp_path / "b.csv"], tmp_path / "x.parquet")
    with pytest.raises(FormatError, match=r"the ending '\.txt' is not known"):
        io.convert([tmp_path / "t.csv"], tmp_path / "x.txt")
    with pytest.raises(OptionError, match="there is no file to convert"):
        io.convert([], tmp_path / "x.parquet")
    assert not (tmp_path / "x.parquet").exists()


BAD = {
    "not an example": ([b"\xff\xff\xff"], FormatError, "record 1 at byte 0 is no tf.train.Example"),
    "second not an example": ([make_example(user(0, [1])), b"\x0a\x05"], FormatError, "record 2 at byte "),
    "no user": ([make_example({"epoch_0_topics": [1]})], FormatError, "record 1 has no feature 'user_id'"),
    "unknown feature": ([make_example(user(0, [1]) | {"age": [3]})], FormatError, "unknown feature 'age'"),
    "new feature": ([make_example(user(0, [1])), make_example(user(1, [1], [2]))], FormatError, "'epoch_1_topics'"),
    "lost feature": (
        [make_example(user(0, [1], [2])), make_example(user(1, [1]))],
        DataError,
        "record 2, feature 'epoch_1_topics' is missing",
    ),
    "gap": (
        [make_example({"user_id": [b"a"], "epoch_1_topics": [1]})],
        FormatError,
        "record 1 has no feature 'epoch_0_topics'",
    ),
    "no weights": (
        [make_example({"user_id": [b"a"], "epoch_0_topics": [1], "epoch_1_topics": [1], "epoch_0_weights": [1.0]})],
        FormatError,
        "record 1 has no feature 'epoch_1_weights'",
    ),
    "weights alone": (
        [make_example({"user_id": [b"a"], "epoch_0_topics": [1], "epoch_0_weights": [1.0], "epoch_1_weights": [1.0]})],
        FormatError,
        "record 1 has no feature 'epoch_1_topics'",
    ),
    "nothing": (
        [make_example({"user_id": [b"a"]})],
        FormatError,
        "topics of epochs, or tokens of two clients, are missing",
    ),
    "other kind": (
        [make_example(user(0, [1])), make_example(user(1) | {"epoch_0_topics": [1.5], "epoch_0_weights": [1.0]})],
        FormatError,
        "feature 'epoch_0_topics' is of another kind",
    ),
    "wrong kind": (
        [make_example({"user_id": [3], "epoch_0_topics": [1]})],
        FormatError,
        "feature 'user_id' holds values",
    ),
    "weights short": (
        [make_example(user(0, [1, 2], weights=[[1.0]]))],
        DataError,
        "record 1, feature 'epoch_0_weights' must hold one weight a topic",
    ),
    "weight nan": ([make_example(user(0, [1], weights=[[float("nan")]]))], DataError, "'epoch_0_weights' holds NaN"),
    "negative": ([make_example(user(0, [-4]))], DataError, "record 1, feature 'epoch_0_topics' holds a topic id that"),
    "two users": (
        [make_example(user(4, [1])), make_example(user(4, [2]))],
        DataError,
        "records 1 and 2 are both user 'user 4'",
    ),
    "not utf-8": ([make_example({"user_id": [b"\xff"], "epoch_0_topics": [1]})], FormatError, "a user_id is not UTF-8"),
    "no topic": ([make_example(user(0, []))], DataError, "not a single topic"),
    "client short": (
        [make_example({"user_id": [b"a"], "epoch_0_tokens": [1], "client_1_tokens": [1, 2], "client_2_tokens": [1]})],
        DataError,
        "feature 'client_1_tokens' must hold 1 tokens, one per epoch",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_records(case: str, tmp_path: Path) -> None:
    records, kind, part = BAD[case]
    write_frames(tmp_path / "x.tfrecord", records)
    with pytest.raises(kind) as caught:
        io.convert([tmp_path / "x.tfrecord"], tmp_path / "out.parquet")
    assert part in str(caught.value)
    assert str(tmp_path / "x.tfrecord") in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out.parquet").exists()
