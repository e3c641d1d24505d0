"""The features of a record of the Topics release: what they are called, and what they must hold."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.base import Bools, Bytes, DataError, FormatError, Ints, Signed
from reidrisk.base.arrays import Singles
from reidrisk.io.tfrecord.example import BYTES, FLOAT, INTEGER

CLIENTS = ("client_1_tokens", "client_2_tokens")  # what two observers saw, in the records of the simulator

TopicIds = Signed

_MOST_FEATURES = 10_000  # every feature of every record is looked up among all of them
_EPOCH = re.compile(r"epoch_([0-9]{1,9})_(topics|weights|tokens)")


@dataclass
class RecordShape:
    """The features of a record: their kinds, and which of them are for what."""

    kinds: dict[str, int]
    topics: list[int]
    weights: list[int]
    clients: list[int]
    user: int
    n_epochs: int = 0


@dataclass
class RecordBlock:
    """Some records: topic ids as they are in the file, of the sets if there are any, then of the observers."""

    users: Any
    arrays: list[TopicIds]
    repeated: int


def record_shape(name: str, kinds: dict[str, int]) -> RecordShape:
    """Tell from the features of the first record what the records of a file hold."""
    if len(kinds) > _MOST_FEATURES:
        raise FormatError(f"{name}: record 1 has {len(kinds):,} features; {_MOST_FEATURES:,} at most, split its epochs")
    wanted = dict.fromkeys(CLIENTS, INTEGER) | {"user_id": BYTES}
    numbers: dict[str, dict[int, str]] = {"topics": {}, "weights": {}, "tokens": {}}
    for feature in kinds:
        if found := _EPOCH.fullmatch(feature):
            numbers[found[2]][int(found[1])] = feature
            wanted[feature] = FLOAT if found[2] == "weights" else INTEGER
        elif feature not in wanted:
            known = "user_id, epoch_0_topics with epoch_0_weights, epoch_0_tokens, client_1_tokens, client_2_tokens"
            raise FormatError(f"{name}: record 1 has an unknown feature {feature!r}; known are {known}")
        if kinds[feature] not in (0, wanted[feature]):  # 0: an empty list does not say of what
            raise FormatError(f"{name}: record 1, feature {feature!r} holds values of another type than it should")
    if "user_id" not in kinds:
        raise FormatError(f"{name}: record 1 has no feature 'user_id'; every record names its user")
    sets = numbers["topics"] or numbers["tokens"]
    if numbers["topics"] and numbers["tokens"]:
        raise FormatError(f"{name}: record 1 has both epoch_…_topics and epoch_…_tokens; it must have one of them")
    clients = [feature for feature in CLIENTS if feature in kinds]
    if len(clients) == 1 or not (sets or clients):
        missing = "topics of epochs, or tokens of two clients, are missing"
        raise FormatError(f"{name}: record 1 has {', '.join(kinds)}; {missing}")
    last = max([*sets, *numbers["weights"]], default=-1)
    for epoch in range(min(last, len(sets)) + 1):  # a gap is found among the first of them
        if epoch not in sets or (numbers["weights"] and epoch not in numbers["weights"]):
            missing = "weights" if epoch in sets else ("topics" if numbers["topics"] else "tokens")
            raise FormatError(f"{name}: record 1 has no feature 'epoch_{epoch}_{missing}'; epochs have no gaps")
    place = {feature: i for i, feature in enumerate(kinds)}
    topics, weights = ([place[of[epoch]] for epoch in sorted(of)] for of in (sets, numbers["weights"]))
    expected, observers = {feature: wanted[feature] for feature in kinds}, [place[feature] for feature in clients]
    return RecordShape(expected, topics, weights if numbers["topics"] else [], observers, place["user_id"])


def record_block(
    name: str, buffer: Bytes, columns: Any, shape: RecordShape, first: int, top_k: int | None
) -> RecordBlock:
    """Check the features of some records and bring them into arrays of topic ids."""
    names, counts = list(shape.kinds), columns.counts

    def refuse(of: list[int], wrong: Bools, say: str) -> None:
        if wrong.any():
            record, at = (int(i) for i in np.argwhere(wrong)[0])
            raise DataError(f"{name}: record {first + record + 1}, feature {names[of[at]]!r} {say}")

    refuse(list(range(len(names))), counts < 0, "is missing; all records have the same features")
    refuse([shape.user], counts[:, [shape.user]] != 1, "must hold one value")
    used = shape.topics + shape.clients
    listed = np.arange(columns.integers.shape[2]) < counts[:, :, None]
    outside = listed & ((columns.integers < 0) | (columns.integers > np.iinfo(np.int32).max))
    refuse(used, outside.any(axis=2)[:, used], "holds a topic id that is negative or beyond 31 bits")
    n_epochs = shape.n_epochs = shape.n_epochs or len(shape.topics) or int(counts[0, shape.clients[0]])
    refuse(shape.clients, counts[:, shape.clients] != n_epochs, f"must hold {n_epochs} tokens, one per epoch")
    if shape.weights:
        refuse(shape.weights, counts[:, shape.weights] != counts[:, shape.topics], "must hold one weight a topic")
        bad = (np.isnan(columns.floats) & listed).any(axis=2)
        refuse(shape.weights, bad[:, shape.weights], "holds NaN, which is no weight")
    ids = np.where(listed, columns.integers, -1)
    ids = ids.astype(np.int16 if ids[:, used].max() <= np.iinfo(np.int16).max else np.int32)
    arrays, repeated = [ids[:, column, :n_epochs] for column in shape.clients], 0
    if shape.topics:
        weight = np.where(listed, columns.floats, -np.inf)[:, shape.weights] if shape.weights else None
        sets, repeated = _distinct_sets(ids[:, shape.topics], weight)
        arrays.insert(0, sets[:, :, : max(int((sets >= 0).sum(axis=2).max()), 1)][:, :, :top_k])
    return RecordBlock(_users(buffer, columns.spans[:, shape.user]), arrays, repeated)


def _distinct_sets(ids: TopicIds, weights: Singles | None) -> tuple[TopicIds, int]:
    """Return each set with the largest weight first and every topic once, and how many were there again."""
    if weights is not None:
        ids = np.take_along_axis(ids, np.argsort(-weights, axis=2, kind="stable"), axis=2)
    # Equal ids follow each other once they are sorted, the first of them in front.
    order = np.argsort(ids, axis=2, kind="stable")
    ranked = np.take_along_axis(ids, order, axis=2)
    again = np.zeros(ids.shape, dtype=np.bool_)
    same = (ranked[:, :, 1:] == ranked[:, :, :-1]) & (ranked[:, :, 1:] >= 0)
    np.put_along_axis(again, order[:, :, 1:], same, axis=2)
    if again.any():
        ids = np.where(again, -1, ids)
        ids = np.take_along_axis(ids, np.argsort(ids < 0, axis=2, kind="stable"), axis=2)
    return ids, int(again.sum())


def _users(buffer: Bytes, spans: Ints) -> Any:
    """Gather the ids, which lie all over the file, into one Arrow array."""
    import pyarrow as pa

    lengths = spans[:, 1] - spans[:, 0]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    text = buffer[np.arange(ends[-1]) + np.repeat(spans[:, 0] - ends[:-1], lengths)]
    return pa.LargeStringArray.from_buffers(len(lengths), pa.py_buffer(ends), pa.py_buffer(text))
