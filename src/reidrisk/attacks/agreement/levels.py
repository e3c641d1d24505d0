"""How close two values are: nested ranges of a column's values around each of them, from equal to near to anything."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from reidrisk.base import Floats, Ints, OptionError, is_number
from reidrisk.records import Attributes
from reidrisk.records.column import Column

_RATIO = 2.0  # prior: of 2, 3 and 4 the one that found most people in seven simulated tables with noisy numbers
_MOST = 15  # limit: bands of a column; the narrowest is a 16,000th of the interquartile range
_PREFIXES = 4  # levels of common prefixes, at most

Bands = Mapping[str, Sequence[float]]
"""Distances up to which numbers of a column count as near, by the name of the column."""


class Levels(NamedTuple):
    """Ranges of tokens that are near each token, (levels, n_tokens); level 0 is the token, each holds the one before.

    ``share`` is how many of a column's known values in the targets lie there; a range that none lies in counts for half
    a target. ``depth`` (r,) is the number of levels of each column: beyond it, ranges are those of its last level;
    ``values`` (r,) is how many different ones it has.
    """

    first: Ints
    last: Ints
    share: Floats
    depth: Ints
    values: Ints

    def of(self, queries: Ints, targets: Ints) -> npt.NDArray[np.int8]:
        """Return the level of each pair of cells, broadcast: ``len(first)`` = not near, one more = missing.

        >>> people = Attributes({"age": [30, 31, 60, 25]})
        >>> found = levels_of(people, {"age": [2]})
        >>> found.of(people.tokens[:1], people.tokens).ravel().tolist()
        [0, 1, 2, 2]
        """
        token = np.maximum(queries, 0)
        shape: tuple[int, ...] = np.broadcast_shapes(queries.shape, targets.shape)
        level = np.full(shape, len(self.first), dtype=np.int8)
        for place in range(len(self.first) - 1, -1, -1):
            level[(self.first[place][token] <= targets) & (targets <= self.last[place][token])] = place
        level[(queries < 0) | (targets < 0)] = len(self.first) + 1
        return level


def levels_of(targets: Attributes, bands: Bands | None = None) -> Levels:
    """Return the levels of every column: categories have one, numbers and prefixes more.

    Numbers are near within the interquartile range of the targets (their standard deviation, where that is 0), within
    half of it, and so on down to the smallest difference of two values, unless ``bands`` says otherwise: which error is
    usual is learnt, from a rounded age to a salary that is off by 3. Codes are near by their common prefixes.
    """
    said = _checked(bands or {}, targets)
    held = np.bincount(targets.tokens[targets.observed].astype(np.int64), minlength=targets.n_tokens)
    found = []
    for column, start in zip(targets.columns, targets.start, strict=True):
        counts = held[start : start + len(column)]
        ranges = [(np.arange(len(column)),) * 2]
        if column.kind == "number":
            ranges += _near(column, counts, said.get(column.name))
        elif column.kind == "prefix":
            ranges += _alike(column.labels)
        found.append([one for n, one in enumerate(ranges) if n == 0 or not np.array_equal(one, ranges[n - 1])])
    depth = np.array([len(ranges) for ranges in found], dtype=np.int64)
    first, last = (np.tile(np.arange(targets.n_tokens), (int(depth.max()), 1)) for _ in range(2))
    share = np.ones(first.shape)
    for column, start, ranges in zip(targets.columns, targets.start, found, strict=True):
        tokens = slice(int(start), int(start) + len(column))
        below = np.concatenate(([0], np.cumsum(held[tokens])))
        for level in range(len(first)):
            low, high = ranges[min(level, len(ranges) - 1)]
            first[level, tokens], last[level, tokens] = low + start, high + start
            share[level, tokens] = np.maximum(below[high + 1] - below[low], 0.5) / max(int(below[-1]), 1)
    values = np.array([max(len(column), 1) for column in targets.columns], dtype=np.int64)
    return Levels(first, last, np.minimum(share, 1.0), depth, values)


def with_gaps(levels: Levels, tokens: npt.NDArray[np.signedinteger], gaps: Ints) -> Levels:
    """Return the levels with a further column for each of these: whether it is empty; present comes first.

    >>> people = Attributes({"age": [30, None, 60, 25]})
    >>> with_gaps(levels_of(people), people.tokens, np.array([0])).share[0, -2:].tolist()
    [0.75, 0.25]
    """
    n_tokens, deep, wide = levels.first.shape[1], len(levels.first), 2 * len(gaps)
    new = np.tile(np.arange(n_tokens, n_tokens + wide), (deep, 1))
    empty = (tokens[:, gaps] < 0).mean(axis=0)
    share = np.tile(np.column_stack([1.0 - empty, empty]).ravel(), (deep, 1))
    first, last, shares = (
        np.concatenate(pair, axis=1) for pair in ((levels.first, new), (levels.last, new), (levels.share, share))
    )
    return Levels(first, last, shares, np.append(levels.depth, gaps * 0 + 1), np.append(levels.values, gaps * 0 + 2))


def _near(column: Column, counts: Ints, said: Sequence[float] | None) -> list[tuple[Ints, Ints]]:
    numbers = column.numbers
    if numbers is None or not len(numbers):
        return []
    if said is None:
        total = np.cumsum(counts) / max(int(counts.sum()), 1)
        places = np.minimum(np.searchsorted(total, (0.25, 0.75)), len(numbers) - 1)
        quarter, three = numbers[places].tolist()
        mean = float(numbers @ counts) / max(int(counts.sum()), 1)
        spread = (three - quarter) or float(np.sqrt(((numbers - mean) ** 2) @ counts / max(int(counts.sum()), 1)))
        step = float(np.diff(numbers).min()) if len(numbers) > 1 else spread
        said = [band for band in spread / _RATIO ** np.arange(_MOST)[::-1] if band >= step]
    return [
        (np.searchsorted(numbers, numbers - band, "left"), np.searchsorted(numbers, numbers + band, "right") - 1)
        for band in said
    ]


def _alike(labels: Sequence[str]) -> list[tuple[Ints, Ints]]:
    """Return the ranges of labels with common prefixes, longer ones first; labels are sorted."""
    longest = max((len(label) for label in labels), default=0)
    lengths = np.arange(longest - 1, 0, -1)
    if len(lengths) > _PREFIXES:
        lengths = lengths[np.rint(np.linspace(0, len(lengths) - 1, _PREFIXES)).astype(int)]
    found = []
    for length in lengths.tolist():
        begins = np.array([i == 0 or labels[i][:length] != labels[i - 1][:length] for i in range(len(labels))])
        group = np.cumsum(begins) - 1
        starts = np.flatnonzero(begins)
        found.append((starts[group], np.append(starts[1:], len(labels))[group] - 1))
    return found


def _checked(bands: Bands, targets: Attributes) -> Bands:
    kinds = {column.name: column.kind for column in targets.columns}
    for name, distances in bands.items():
        if kinds.get(name) != "number":
            numbers = [column for column, kind in kinds.items() if kind == "number"]
            raise OptionError(
                f"bands are for columns of numbers ({', '.join(numbers) or 'there is none'}), not {name!r}"
            )
        if not all(is_number(d) and d > 0 for d in distances) or list(distances) != sorted(set(distances)):
            raise OptionError(f"bands of {name!r} are rising distances above 0, not {list(distances)!r}")
    return bands
