"""The taxonomy: which topics there are, which is part of which, what token stands for each, and which rank first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base import ArrayLike, DataError, FormatError, Ints, OptionError, Vocabulary, frozen, is_whole
from reidrisk.io.atomic import PathLike
from reidrisk.io.documents import parse_json
from reidrisk.io.tables import text_of

_LARGEST_ID = 2**31 - 1
_BUCKETS = ("high", "standard")
_Entry = tuple[str, Any, Any]  # where it was found, id, label


class Taxonomy:
    """A tree of topics, each with a published id and a path such as ``/News/Weather`` (jha, Section 2, Step 1).

    Published ids have gaps, tokens have none: token ``t`` stands for the ``t``-th smallest id. The same id names other
    topics in the published versions 1 and 2. ``topics`` maps each id to its label, the path from its root; the parent
    of every path must be there too.

    >>> t = Taxonomy({1: "/News", 7: "/News/Weather", 4: "/Sports"})
    >>> t, t.ids.tolist(), t.vocabulary.labels
    (Taxonomy(3 topics, 2 roots), [1, 4, 7], ('/News', '/Sports', '/News/Weather'))
    >>> t.label(7), t.ancestors(7), t.children(1), t.roots, t.to_tokens([7, 1, -1]).tolist()
    ('/News/Weather', (1,), (7,), (1, 4), [2, 0, -1])
    """

    __slots__ = ("_children", "_ids", "_label", "_parent", "_vocabulary")

    def __init__(self, topics: Mapping[int, str]) -> None:
        self._build("", [(f"topic {topic!r}", topic, label) for topic, label in topics.items()])

    @classmethod
    def read(cls, path: PathLike) -> Taxonomy:
        """Read a published taxonomy file, UTF-8 text.

        A name ending in ``.json`` is a list of objects with ``topic_id`` and ``topic_label``, as in Google's Topics
        release; any other file holds a Markdown table ``| ID | Topic |``, as in the specification, with any text around
        it, or the same two columns with a tab between, as Chrome's ``taxonomy.tsv``.
        """
        text, name = text_of(path), str(path)
        entries = _from_json(name, text) if Path(path).suffix.lower() == ".json" else _from_table(name, text)
        taxonomy = cls.__new__(cls)
        taxonomy._build(f"{name}: ", entries)
        return taxonomy

    def _build(self, prefix: str, entries: Iterable[_Entry]) -> None:
        labels: dict[int, str] = {}
        seen: dict[Any, str] = {}  # where each id, and each label, was found
        for where, topic, label in entries:
            _check_entry(prefix, where, topic, label)
            for shown, value, kind in ((f"id {topic}", int(topic), "ids"), (repr(label), label, "labels")):
                if value in seen:
                    raise DataError(f"{prefix}{where} gives {shown} again, after {seen[value]}; {kind} are distinct")
                seen[value] = where
            labels[int(topic)] = label
        if not labels:
            raise DataError(f"{prefix}there is no topic in the taxonomy; give at least one id with its label")
        parents: dict[int, int | None] = {}
        by_label = {label: topic for topic, label in labels.items()}
        for topic, label in labels.items():
            above = label.rpartition("/")[0]
            if above and above not in by_label:
                raise DataError(f"{prefix}{seen[topic]} is {label!r}, but its parent {above!r} is not in it; add it")
            parents[topic] = by_label.get(above)
        ids = sorted(labels)
        children: dict[int | None, list[int]] = {}
        for topic in ids:
            children.setdefault(parents[topic], []).append(topic)
        self._ids = frozen(np.array(ids, dtype=np.int64))
        self._label, self._parent = labels, parents
        self._children = {topic: tuple(below) for topic, below in children.items()}
        self._vocabulary = Vocabulary([labels[topic] for topic in ids])

    @property
    def ids(self) -> Ints:
        """All ids in ascending order: ``ids[t]`` is the id of token ``t`` (read-only)."""
        return self._ids

    @property
    def roots(self) -> tuple[int, ...]:
        """Ids of the topics that have no parent, ascending."""
        return self._children[None]

    @property
    def vocabulary(self) -> Vocabulary:
        """Labels in token order, for :class:`reidrisk.Traces`."""
        return self._vocabulary

    def label(self, topic: int) -> str:
        """Return the whole path of an id."""
        return self._label[self.checked(topic)]

    def parent(self, topic: int) -> int | None:
        """Return the id one level up, or ``None`` for a root."""
        return self._parent[self.checked(topic)]

    def ancestors(self, topic: int) -> tuple[int, ...]:
        """Return the ids above a topic, the nearest first and its root last; none for a root."""
        parent = self.parent(topic)
        return () if parent is None else (parent, *self.ancestors(parent))

    def root(self, topic: int) -> int:
        """Return the root of the tree that a topic is in; a root is its own."""
        return (self.checked(topic), *self.ancestors(topic))[-1]

    def checked_roots(self, topics: Iterable[int]) -> frozenset[int]:
        """Return the ids of roots, or name the first topic that is none."""
        for topic in topics:
            if self.parent(topic) is not None:
                raise OptionError(f"high_utility names root topics; {topic} is {self.label(topic)!r}")
        return frozenset(int(topic) for topic in topics)

    def children(self, topic: int) -> tuple[int, ...]:
        """Return the ids one level below a topic, ascending."""
        return self._children.get(self.checked(topic), ())

    def to_tokens(self, ids: ArrayLike) -> Ints:
        """Return the token of each id, in the same shape; -1 stays -1, an id that is not there is refused."""
        given = _whole_numbers(ids, "ids")
        tokens = np.minimum(np.searchsorted(self._ids, given), len(self) - 1)
        strange = (self._ids[tokens] != given) & (given != -1)
        if strange.any():
            self.checked(int(given[strange].flat[0]))
        return np.where(given == -1, -1, tokens)

    def to_ids(self, tokens: ArrayLike) -> Ints:
        """Return the id of each token, in the same shape; -1 stays -1."""
        given = _whole_numbers(tokens, "tokens")
        if given.size and (given.min() < -1 or given.max() >= len(self)):
            raise DataError(f"tokens must lie in [-1, {len(self)}), the taxonomy has {len(self)} topics")
        return np.where(given == -1, -1, self._ids[given])

    def checked(self, topic: int) -> int:
        """Return the id, or say that the taxonomy does not have it."""
        if topic not in self:
            known = f"{len(self)} topics, ids {self._ids[0]} to {self._ids[-1]}"
            raise DataError(f"topic id {topic!r} is not in the taxonomy of {known}; ids belong to one version of it")
        return int(topic)

    def __contains__(self, topic: object) -> bool:
        return is_whole(topic) and topic in self._label

    def __len__(self) -> int:
        return len(self._ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Taxonomy) and self._label == other._label

    def __hash__(self) -> int:
        return hash((self._ids.tobytes(), self._vocabulary))

    def __repr__(self) -> str:
        n = len(self.roots)
        return f"Taxonomy({len(self):,} topic{'s' * (len(self) != 1)}, {n} root{'s' * (n != 1)})"


def _check_entry(prefix: str, where: str, topic: Any, label: Any) -> None:
    if not is_whole(topic) or not 1 <= topic <= _LARGEST_ID:
        raise DataError(f"{prefix}{where} has the id {topic!r}; ids are whole numbers of at least 1")
    if not isinstance(label, str) or not re.fullmatch(r"(/\s*[^/\s][^/]*)+", label) or label != label.strip():
        raise DataError(f"{prefix}{where} has the label {label!r}; labels are paths such as '/News/Weather'")


def _whole_numbers(values: ArrayLike, what: str) -> Ints:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise DataError(f"{what} must be whole numbers, not {array.dtype}")
    return array.astype(np.int64)


def _from_table(name: str, text: str) -> list[_Entry]:
    rows = _rows(name, text, ("id", "topic"), "a row of id and /path of the topic", r"[0-9]{1,10}")
    return [(f"line {number}", int(topic), label) for number, topic, label in rows]


def _from_json(name: str, text: str) -> list[_Entry]:
    document = parse_json(text, name)
    if not isinstance(document, list):
        raise FormatError(f"{name}: holds a {type(document).__name__}; give a list of topic_id and topic_label")
    for number, entry in enumerate(document, start=1):
        if not isinstance(entry, dict) or not {"topic_id", "topic_label"} <= entry.keys():
            raise FormatError(f"{name}: entry {number} has no topic_id and topic_label")
    return [(f"entry {number}", e["topic_id"], e["topic_label"]) for number, e in enumerate(document, start=1)]


class UtilityBuckets(NamedTuple):
    """Root topics by bucket, as ids in ascending order."""

    high: tuple[int, ...]  # their trees rank before all others: give them to Browser(high_utility=...)
    standard: tuple[int, ...]  # the other roots


def read_utility_buckets(path: PathLike, taxonomy: Taxonomy) -> UtilityBuckets:
    """Read the published assignment of root topics to utility buckets; every root has one, and only roots have one.

    The file has a header ``Top-Level Topics, Utility Buckets`` and a row per root, ``High`` or ``Standard``: a Markdown
    table as in the specification, with any text around it, or columns with tabs (Chrome's ``utility_buckets.tsv``) or
    commas between.
    """
    text, name = text_of(path), str(path)
    roots = {taxonomy.label(root): root for root in taxonomy.roots}
    bucket: dict[int, str] = {}
    for number, label, given in _rows(name, text, ("top-level topics", "utility buckets"), "a root and its bucket"):
        if label not in roots:
            raise DataError(f"{name}: line {number} names {label!r}, which is no root of the {taxonomy!r}")
        if roots[label] in bucket:
            raise DataError(f"{name}: line {number} gives {label!r} a bucket again; name every root once")
        if given.lower() not in _BUCKETS:
            raise DataError(f"{name}: line {number} has the bucket {given!r}; buckets are 'High' and 'Standard'")
        bucket[roots[label]] = given.lower()
    for label, root in roots.items():
        if root not in bucket:
            raise DataError(f"{name}: the root {label!r} has no bucket; give every root of the taxonomy one")
    high, standard = (tuple(sorted(root for root, of in bucket.items() if of == which)) for which in _BUCKETS)
    return UtilityBuckets(high, standard)


def _rows(
    name: str, text: str, header: tuple[str, str], row: str, first_cell: str = ".+"
) -> list[tuple[int, str, str]]:
    """Return line number and both cells of every row below a header; a blank line ends the table.

    Bars, tabs or commas separate the cells, as in the header; after a number they are part of the second cell.
    """
    rows: list[tuple[int, str, str]] = []
    mark, inside = ",", False
    for number, line in enumerate(text.split("\n"), start=1):
        plain = re.sub(r"^\|\s*|\s*\|$", "", line.strip())
        if not inside:
            mark = next((mark for mark in ("|", "\t") if mark in plain), ",")
        cut = plain.rpartition(mark) if first_cell == ".+" else plain.partition(mark)
        first, second = (cell.strip().strip('"' * (mark == ",")) for cell in (cut[0], cut[2]))
        if not inside:
            inside = (first.lower(), second.lower()) == header
        elif not plain:
            break
        elif not re.fullmatch(r":?-+:?", first):
            if not cut[1] or not re.fullmatch(first_cell, first):
                form = {"|": "as | … | … |", "\t": "with a tab between", ",": "with a comma between"}[mark]
                raise FormatError(f"{name}: line {number} is {line.strip()[:60]!r}, not {row}, {form}")
            rows.append((number, first, second))
    if not inside:
        named = " | ".join(header)
        raise FormatError(f"{name}: there is no header '| {named} |' in it, nor one with a tab or a comma between")
    return rows
