"""Chrome's model of hosts: the topics it would guess for a host that no list names."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.base import Array, DataError, FormatError, SizeError, require, sizes
from reidrisk.base.arrays import Singles
from reidrisk.base.hosts import plain_host, spaced
from reidrisk.io.atomic import PathLike
from reidrisk.io.documents import read_json
from reidrisk.io.tables import existing_file
from reidrisk.topics.taxonomy import Taxonomy

_NONE = -2  # label of 'no topic' in the published models


@dataclass(frozen=True)
class Thresholds:
    """Which of the model's weights become topics, as written in the ``config.json`` beside it."""

    max_categories: int
    min_none_weight: float
    min_category_weight: float
    min_normalized_weight_within_top_n: float


class HostModel:
    """The published ``model.tflite`` of a Chrome version; made by :meth:`read`, needs the extra ``topics``.

    The name of the host, less a leading ``www.``, is cut into word pieces, and a small neural network gives every topic
    and 'none' a weight. The largest ``max_categories`` weights are kept. If the share of 'none' among them exceeds a
    limit there is no topic; else topics remain that have enough weight, and a large enough share of that of the topics
    kept (jha, Section 2, Step 1).
    """

    def __init__(
        self, interpreter: Any, labels: Sequence[int], pieces: Mapping[str, int], limits: Thresholds, taxonomy: Taxonomy
    ) -> None:
        for label in labels:
            if label != _NONE:
                taxonomy.checked(label)
        self._interpreter, self._labels, self._pieces, self._thresholds = interpreter, tuple(labels), pieces, limits
        self.taxonomy = taxonomy
        interpreter.allocate_tensors()
        inputs = {entry["name"]: entry for entry in interpreter.get_input_details()}
        self._words = _named(inputs, "input_ids", "input_word_ids")
        self._mask, self._types = _named(inputs, "input_mask"), _named(inputs, "type_ids")
        self._output = interpreter.get_output_details()[0]
        if self._output["shape"][-1] != len(labels):
            raise FormatError(f"the model gives {self._output['shape'][-1]} weights, but has {len(labels)} labels")

    @classmethod
    def read(cls, folder: PathLike, taxonomy: Taxonomy) -> HostModel:
        """Read ``model.tflite`` and ``config.json`` from a folder as Chrome keeps it."""
        litert = require("ai_edge_litert.interpreter", "topics", "Chrome's model of hosts")
        path = existing_file(Path(folder) / "model.tflite")
        limits = _thresholds(existing_file(Path(folder) / "config.json"))
        try:
            with zipfile.ZipFile(path) as packed:
                sizes.BYTES.check(sum(member.file_size for member in packed.infolist()), str(path), "give Chrome's own")
                texts = {name: packed.read(name).decode() for name in packed.namelist()}
            labels = [int(line) for name, text in texts.items() if "labelmap" in name for line in text.split()]
            words = next(text for name, text in texts.items() if "vocab" in name).split("\n")
            interpreter = litert.Interpreter(model_path=str(path), num_threads=1)
        except SizeError:
            raise
        except (zipfile.BadZipFile, OSError, ValueError, StopIteration, RuntimeError, zlib.error, EOFError) as error:
            reason = " ".join(str(error).split())[:120] or type(error).__name__
            raise FormatError(f"{path}: is not a model of hosts, or is damaged ({reason})") from error
        try:
            return cls(interpreter, labels, {word: i for i, word in enumerate(words)}, limits, taxonomy)
        except (DataError, FormatError) as error:
            raise type(error)(f"{path}: {error}") from None

    def topics(self, host: str) -> tuple[int, ...]:
        """Return the topic ids of a host, the weightiest first; none if the model says so."""
        name, fault = plain_host(host)
        if fault:
            raise DataError(f"{host!r} is not a host: {fault}")
        return chosen(self.weights(spaced(name.removeprefix("www."))), self._labels, self._thresholds)

    def weights(self, text: str) -> Singles:
        """Return the weight of every label for a name with blanks."""
        length = int(self._words["shape"][-1])
        ids = [self._pieces["[CLS]"], *word_pieces(text, self._pieces)[: length - 2], self._pieces["[SEP]"]]
        words, mask = np.zeros((1, length), dtype=np.int32), np.zeros((1, length), dtype=np.int32)
        words[0, : len(ids)], mask[0, : len(ids)] = ids, 1
        self._interpreter.set_tensor(self._words["index"], words)
        self._interpreter.set_tensor(self._mask["index"], mask)
        self._interpreter.set_tensor(self._types["index"], np.zeros_like(words))
        self._interpreter.invoke()
        return np.asarray(self._interpreter.get_tensor(self._output["index"])[0], dtype=np.float32)


def word_pieces(text: str, pieces: Mapping[str, int]) -> list[int]:
    """Cut each word greedily into the longest pieces known; ``##`` marks a piece that goes on.

    >>> word_pieces("rainy com dry", {"[UNK]": 0, "rain": 1, "##y": 2, "com": 3})
    [1, 2, 3, 0]
    """
    found: list[int] = []
    for word in text.split():
        start, cut = 0, list[int]()
        while start < len(word):
            longest_first = ((end, ("##" if start else "") + word[start:end]) for end in range(len(word), start, -1))
            start, piece = next((one for one in longest_first if one[1] in pieces), (len(word), ""))
            cut = [*cut, pieces[piece]] if piece else [pieces["[UNK]"]]
        found += cut
    return found


def chosen(weights: Array, labels: Sequence[int], limits: Thresholds) -> tuple[int, ...]:
    """Return the labels whose weights pass the limits, the weightiest first.

    >>> limits = Thresholds(3, min_none_weight=0.8, min_category_weight=0.01, min_normalized_weight_within_top_n=0.25)
    >>> chosen(np.array([0.1, 0.6, 0.3, 0.05]), [-2, 10, 20, 30], limits)
    (10, 20)
    """
    kept = np.argsort(-weights, kind="stable")[: limits.max_categories]
    pairs = [(labels[i], float(weights[i])) for i in kept.tolist()]
    total = sum(weight for _, weight in pairs)
    real = [(label, weight) for label, weight in pairs if label != _NONE]
    if total == 0.0 or sum(weight for label, weight in pairs if label == _NONE) / total > limits.min_none_weight:
        return ()
    least = limits.min_normalized_weight_within_top_n * sum(weight for _, weight in real)
    return tuple(label for label, weight in real if weight >= max(least, limits.min_category_weight))


def _named(inputs: Mapping[str, Any], *names: str) -> Any:
    for full, entry in inputs.items():
        if any(name in full for name in names):
            return entry
    raise FormatError(f"the model has no input {names[0]!r}; it is not a model of hosts")


def _thresholds(path: Path) -> Thresholds:
    """Read the limits; fractions are written as the four bytes of a float, in hexadecimal."""
    try:
        config = read_json(path)
        floats = {
            name: float(struct.unpack(">f", bytes.fromhex(config[name]))[0])
            for name in ("min_none_weight", "min_category_weight", "min_normalized_weight_within_top_n")
        }
        return Thresholds(max_categories=int(config["max_categories"]), **floats)
    except (ValueError, KeyError, TypeError, OverflowError, struct.error) as error:
        raise FormatError(f"{path}: is not the configuration of a model of hosts ({error!r})") from error
