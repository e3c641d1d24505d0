"""Tokens and their labels: two tables can only be compared over one vocabulary."""

import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError


class Vocabulary:
    """An ordered set of distinct labels; token ``t`` stands for ``labels[t]``.

    >>> v = Vocabulary(["news", "sports", "music"])
    >>> v.encode(["music", None, "news"]).tolist()
    [2, -1, 0]
    >>> v.decode([2, -1, 0])
    ['music', None, 'news']
    """

    __slots__ = ("__dict__", "_labels")

    def __init__(self, labels: Iterable[str]) -> None:
        given = tuple(labels)
        for position, label in enumerate(given):
            if not isinstance(label, str):
                kind = type(label).__name__
                raise DataError(f"label {position} of the vocabulary is {label!r}, a {kind}; labels are strings")
            if not label.isascii() and any("\ud800" <= letter <= "\udfff" for letter in label):
                half = f"label {position} of the vocabulary is {label!r}, which holds half a character"
                raise DataError(f"{half}; labels are Unicode text")
        self._labels = given
        if len(self._index) != len(given):
            repeated = next(label for position, label in enumerate(given) if self._index[label] != position)
            raise DataError(f"label {repeated!r} occurs twice in the vocabulary; every label must be distinct")

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels in token order."""
        return self._labels

    @cached_property
    def _index(self) -> dict[str, int]:
        return {label: token for token, label in enumerate(self._labels)}

    @cached_property
    def fingerprint(self) -> str:
        """Short digest of the labels in order; equal vocabularies have equal fingerprints."""
        digest = hashlib.sha256()
        for label in self._labels:
            encoded = label.encode()
            digest.update(len(encoded).to_bytes(8, "little") + encoded)
        return digest.hexdigest()[:16]

    def encode(self, labels: Iterable[str | None]) -> npt.NDArray[np.int64]:
        """Return the token of each label; ``None`` becomes -1, an unknown label is refused."""
        index = self._index
        tokens = []
        for position, label in enumerate(labels):
            if label is not None and label not in index:
                known = f"the {len(self)} labels of the vocabulary"
                raise DataError(f"value {position} is {label!r}, which is not among {known}")
            tokens.append(-1 if label is None else index[label])
        return np.array(tokens, dtype=np.int64)

    def decode(self, tokens: Sequence[int] | npt.NDArray[Any]) -> list[str | None]:
        """Return the label of each token; -1 becomes ``None``."""
        flat = np.asarray(tokens).ravel()
        if flat.size and (flat.min() < -1 or flat.max() >= len(self)):
            raise DataError(f"tokens must lie in [-1, {len(self)}), the vocabulary has {len(self)} labels")
        return [None if t < 0 else self._labels[t] for t in flat.tolist()]

    def __len__(self) -> int:
        return len(self._labels)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self._labels == other._labels

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self._labels[:3])) + (", …" if len(self) > 3 else "")
        return f"Vocabulary({len(self)} labels{': ' if shown else ''}{shown})"
