"""Who trained, and on which labels: so that an attack refuses to be measured on the people it learnt from."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from reidrisk.base.arrays import Ints
from reidrisk.base.errors import DataError
from reidrisk.base.users import is_text
from reidrisk.records import Bags, Traces
from reidrisk.records.base import check_same_rows

_MANY = 0.5  # share of targets equal to a training record from which on they are taken to be the same people
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class TrainingUsers:
    """Marks of training users: of their ids where these are known, and of both their records."""

    def __init__(self, ids: Ints | None, records: Ints) -> None:
        self.ids, self.records = ids, records

    @classmethod
    def of(cls, one: Traces | Bags, two: Traces | Bags) -> TrainingUsers:
        """Remember who is in these two tables."""
        users = one.users if one.users is not None else two.users
        ids = None if users is None else np.unique(marks_of_ids(users))
        return cls(ids, np.unique(np.concatenate([marks_of_records(table) for table in (one, two)])))

    def refuse(self, targets: Traces | Bags) -> None:
        """Refuse targets who are training users: by their ids, or, without ids, because most records are the same."""
        if self.ids is not None and targets.users is not None:
            known = np.isin(marks_of_ids(targets.users), self.ids)
            if known.any():
                row, n = int(np.argmax(known)), int(known.sum())
                who = targets.users[row] if isinstance(targets.users, np.ndarray) else targets.users[row].as_py()
                raise DataError(
                    f"{n:,} targets are training users, the first in row {row} ({who!r}); train on other people"
                )
            return
        share = float(np.isin(marks_of_records(targets), self.records).mean())
        if share > _MANY:
            raise DataError(f"{share:.0%} of the targets are records of the training users; train on other people")


def marks_of_ids(users: Any) -> Ints:
    """Return a number for each id: an integer is its own, a text the beginning of its SHA-256."""
    if not is_text(users):
        return np.asarray(users, dtype=np.int64)
    texts = (hashlib.sha256(text.encode()).digest()[:8] for text in users.to_pylist())
    return np.frombuffer(b"".join(texts), dtype=np.int64)


def marks_of_records(table: Traces | Bags) -> Ints:
    """Return a number for what each row holds; equal rows have equal numbers."""
    if isinstance(table, Bags):
        counts = table.counts
        row = np.repeat(np.arange(len(table)), np.diff(counts.indptr))
        mixed = _mix(counts.indices.astype(np.uint64) * _SPREAD + counts.data.astype(np.uint64))
        total = np.zeros(len(table), dtype=np.uint64)
        np.add.at(total, row, mixed)
        return total.view(np.int64)
    total = np.zeros(len(table), dtype=np.uint64)
    for epoch in range(table.n_epochs):
        total = _mix(total * _SPREAD + (table.tokens[:, epoch].astype(np.int64) + 2).astype(np.uint64))
    return total.view(np.int64)


def check_pairs(one: Any, two: Any) -> None:
    """Refuse tables whose rows cannot be two records of the same people."""
    if type(one) is not type(two) or not isinstance(one, Traces | Bags):
        kinds = f"{type(one).__name__} and {type(two).__name__}"
        raise DataError(f"training needs two tables of Traces, or two of Bags, not {kinds}")
    check_same_rows(one, two, "the training tables")


def marks_of_labels(table: Any) -> str:
    """Return a sum of the labels of tokens, empty where there are none."""
    if table.vocabulary is None:
        return ""
    return hashlib.sha256("\n".join(map(str, table.vocabulary.labels)).encode()).hexdigest()


def _mix(values: Any) -> Any:
    mixed = (values ^ (values >> np.uint64(31))) * _SPREAD
    return mixed ^ (mixed >> np.uint64(29))
