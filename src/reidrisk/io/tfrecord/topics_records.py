"""Google's public Topics release and the records of its simulator: TFRecord files of one user a record."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.base import Array, DataError, FormatError, Note, OptionError, UserIds, Vocabulary, frozen, sizes, whole
from reidrisk.base.parallel import slices
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables.columns import refuse_repeated_users
from reidrisk.io.tfrecord.example import make_example
from reidrisk.io.tfrecord.topics_features import CLIENTS, RecordBlock, RecordShape, TopicIds, record_block, record_shape
from reidrisk.records import TopSets, Traces

_BLOCK = 1 << 16
_LONGEST_FIRST = 1 << 24  # bytes of the first record, whose features are found one by one


@dataclass(frozen=True)
class TopicsRecords:
    """What TFRecord files of the Topics release or of its simulator hold."""

    top_sets: TopSets | None  # the sets of each user and epoch, the topic of the largest weight first
    client_1: Traces | None
    client_2: Traces | None  # what two observers saw; only the simulator writes them
    notes: tuple[Note, ...] = ()  # what was assumed


def is_tfrecord(path: PathLike) -> bool:
    """Tell by its name whether a file holds TFRecords: ``x.tfrecord``, or a shard ``x-00000-of-00100``."""
    return re.search(r"\.tfrecords?(\.gz|-\d+-of-\d+)?$|-\d{5}-of-\d{5}$", str(path).lower()) is not None


def read_tfrecords(
    paths: PathLike | Sequence[PathLike],
    n_tokens: int | None = None,
    vocabulary: Vocabulary | None = None,
    top_k: int | None = None,
) -> TopicsRecords:
    """Read the TFRecord files of Google's public Topics release, or of its simulator.

    A record is a ``tf.train.Example`` with ``user_id`` and either ``epoch_{t}_topics`` with ``epoch_{t}_weights`` (the
    release) or ``epoch_{t}_tokens``, ``client_1_tokens``, ``client_2_tokens`` (the simulator: top sets, and what two
    observers saw). Every checksum is verified.

    The files are the shards of one data set; a name that ends in ``.gz`` is decompressed. With ``n_tokens`` topic ids
    are token numbers; those of the taxonomy have gaps, so some tokens then never occur. The labels of a ``vocabulary``
    are the ids of all topics as text. Default: the ids that occur, in increasing order. ``top_k`` keeps that many
    topics of the largest weight of each epoch (ties: the first in the file). Default: all. A topic that is listed twice
    in an epoch is held once.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "topics.tfrecord"
    >>> write_tfrecords(file, TopSets([[[0, 1], [1, -1]]], 3, ["user 0"], Vocabulary(["1", "299", "629"])))
    >>> records = read_tfrecords([file])
    >>> records.top_sets.vocabulary.labels, records.top_sets.tokens.tolist()
    (('1', '299'), [[[0, 1], [1, -1]]])
    """
    files = [paths] if isinstance(paths, str) or not isinstance(paths, Sequence) else list(paths)
    if not files:
        raise OptionError("there is no TFRecord file to read; name at least one")
    if n_tokens is not None and vocabulary is not None:
        raise OptionError("give n_tokens (topic ids are token numbers) or vocabulary (of topic ids), not both")
    if top_k is not None and top_k < 1:
        raise OptionError(f"top_k must be at least 1, not {top_k}")
    shape: RecordShape | None = None
    parts: list[RecordBlock] = []
    for file in files:
        shape = _read_file(file, shape, parts, top_k)
    names = str(files[0]) if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    users = _joined_users(names, parts)
    arrays = [_joined(of_files) for of_files in zip(*(part.arrays for part in parts), strict=True)]
    codes, size, words, notes = _tokens(names, arrays, n_tokens, vocabulary)
    if repeated := sum(part.repeated for part in parts):
        notes.append(Note("topics-listed-twice", n=repeated))
    top_sets = TopSets(frozen(codes.pop(0)), size, users, words) if shape and shape.topics else None
    one, two = [Traces(frozen(tokens), size, users, words) for tokens in codes] or (None, None)
    return TopicsRecords(top_sets, one, two, tuple(notes))


def write_tfrecords(
    path: PathLike, top_sets: TopSets, client_1: Traces | None = None, client_2: Traces | None = None
) -> None:
    """Write top sets (and what two observers saw) in the form of the Topics release (and of its simulator).

    Every listed topic has the weight 1. Labels of the vocabulary that are whole numbers are written as topic ids, else
    token numbers are. Give the traces of both observers or of none; nothing may be missing in them.
    """
    from reidrisk.io.tfrecord.framing import write_frames  # compiled loops are loaded where they run

    if top_sets.made_with_seed:
        seeded = "these top sets were made with a seed, and these records have no place to say so"
        raise DataError(f"{path}: {seeded}; write a table, or make sets without the mark from their tokens")
    if (client_1 is None) != (client_2 is None):
        raise OptionError("give the traces of both observers or of neither")
    observers = [client for client in (client_1, client_2) if client is not None]
    if any((client.tokens < 0).any() for client in observers):
        raise DataError(f"{path}: a token of an observer is missing, and these records have no place for that")
    ids = _topic_ids(top_sets.vocabulary) or range(top_sets.n_tokens)

    def topics(tokens: Array) -> list[int]:
        return [ids[token] for token in tokens.tolist() if token >= 0]

    def records() -> Iterator[bytes]:
        for row in range(len(top_sets)):
            user = f"user {row}" if top_sets.users is None else str(top_sets.users[row])
            features: dict[str, Any] = {"user_id": [user.encode()]}
            for epoch in range(top_sets.n_epochs):
                held = topics(top_sets.tokens[row, epoch])
                features[f"epoch_{epoch}_{'tokens' if observers else 'topics'}"] = held
                if not observers:
                    features[f"epoch_{epoch}_weights"] = [1.0] * len(held)
            features |= {CLIENTS[i]: topics(client.tokens[row]) for i, client in enumerate(observers)}
            yield make_example(features)

    write_frames(path, records())


def _read_file(path: PathLike, shape: RecordShape | None, parts: list[RecordBlock], top_k: int | None) -> RecordShape:
    from reidrisk.io.tfrecord.examples import feature_kinds, parse_examples
    from reidrisk.io.tfrecord.framing import read_frames

    name = str(path)
    buffer, starts, stops = read_frames(path)
    if shape is None:
        if stops[0] - starts[0] > _LONGEST_FIRST:
            raise FormatError(f"{name}: record 1 has more than {_LONGEST_FIRST:,} bytes; a record is of one user")
        try:
            kinds = feature_kinds(buffer[starts[0] : stops[0]])
        except FormatError as error:
            raise FormatError(f"{name}: record 1 at byte 0 is no tf.train.Example; it is another file") from error
        shape = record_shape(name, kinds)
    for block in slices(len(starts), _BLOCK):
        columns = parse_examples(buffer, starts[block], stops[block], shape.kinds, name, block.start)
        parts.append(record_block(name, buffer, columns, shape, block.start, top_k))
    return shape


def _joined_users(name: str, parts: list[RecordBlock]) -> UserIds:
    import pyarrow as pa

    users = pa.concat_arrays([part.users for part in parts])
    try:
        users.validate(full=True)
    except pa.ArrowInvalid as error:
        raise FormatError(f"{name}: a user_id is not UTF-8 text") from error
    refuse_repeated_users(name, users, "record")
    return users


def _topic_ids(vocabulary: Vocabulary | None) -> list[int]:
    """Return the labels as topic ids, none where any label is no such number."""
    labels = vocabulary.labels if vocabulary else ()
    return [int(label) for label in labels] if all(re.fullmatch(r"[0-9]{1,10}", label) for label in labels) else []


def _joined(parts: Sequence[TopicIds]) -> TopicIds:
    shape = (sum(map(len, parts)), *np.max([part.shape[1:] for part in parts], axis=0).tolist())
    sizes.CELLS.check(math.prod(shape), "the records", "read fewer files, or keep fewer topics with top_k")
    whole, start = np.full(shape, -1, dtype=np.result_type(*parts)), 0
    for part in parts:
        whole[start : start + len(part), :, *(slice(k) for k in part.shape[2:])] = part
        start += len(part)
    return whole


def _tokens(
    name: str, arrays: list[TopicIds], n_tokens: int | None, vocabulary: Vocabulary | None
) -> tuple[list[Array], int, Vocabulary | None, list[Note]]:
    """Turn topic ids into tokens; return them with the size of the vocabulary, its labels and what was assumed."""
    ids = np.unique(np.concatenate([np.unique(array) for array in arrays]))
    ids = ids[ids >= 0]
    notes: list[Note] = []
    if not ids.size:
        raise DataError(f"{name}: not a single topic is in it")
    if n_tokens is not None:
        sizes.TOKENS.check(whole("n_tokens", n_tokens), "n_tokens", "give the size of the taxonomy")
        if ids[-1] >= n_tokens:
            raise DataError(f"{name}: topic id {ids[-1]} is outside [0, {n_tokens}); raise n_tokens")
        known = np.arange(n_tokens, dtype=np.int64)
    elif vocabulary is not None:
        known = np.array(_topic_ids(vocabulary), dtype=np.int64)
        if not known.size:
            raise DataError(f"{name}: the labels of the vocabulary must be topic ids, as in the records")
        unknown = np.setdiff1d(ids, known)
        if unknown.size:
            lacking = f"topic id {unknown[0]} is not among the {len(vocabulary)} labels of the vocabulary"
            raise DataError(f"{name}: {lacking}; give the ids of the whole taxonomy")
    else:
        known, vocabulary = ids.astype(np.int64), Vocabulary(map(str, ids.tolist()))
        notes.append(Note("topics-from-data", n=len(ids)))
    kind = np.int16 if len(known) <= np.iinfo(np.int16).max else np.int32
    order = np.argsort(known, kind="stable")
    # What is not there, -1, stays so: it comes first in both.
    tokens = np.concatenate([[-1], order[np.searchsorted(known, ids, sorter=order)]]).astype(kind)
    held = np.concatenate([[-1], ids], dtype=ids.dtype)
    return [tokens[np.searchsorted(held, array)] for array in arrays], len(known), vocabulary, notes
