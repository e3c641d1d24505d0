"""An audience partitioned by a fingerprint: only targets of the query's group are candidates (jha, Section 6.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from reidrisk.base import Array, ArrayLike, DataError, Ints


@dataclass(frozen=True, eq=False)
class Groups:
    """Which targets and which queries share a fingerprint: the number of each record's group, -1 where not known.

    >>> groups = Groups.of(["x", "y", "x"], ["y", "z", ""])
    >>> groups.query.tolist(), groups.sizes.tolist()
    ([1, 2, -1], [2, 1, 0])
    >>> [(targets.tolist(), queries.tolist()) for targets, queries in groups.parts()]
    [([1], [0])]
    """

    target: Ints
    query: Ints

    @classmethod
    def of(cls, targets: ArrayLike, queries: ArrayLike) -> Groups:
        """Give each group of two columns of labels a number.

        A label is a fingerprint such as browser and language, or an address prefix: a whole number (negative = not
        known) or text (empty = not known).
        """
        labels = [_labels(column, what) for column, what in ((targets, "targets"), (queries, "queries"))]
        if labels[0].dtype.kind != labels[1].dtype.kind:
            raise DataError("groups of targets and of queries must both be whole numbers or both be text")
        both = np.concatenate(labels)
        known = both >= 0 if both.dtype.kind == "i" else both != ""
        numbers = np.full(len(both), -1, dtype=np.int64)
        numbers[known] = np.unique(both[known], return_inverse=True)[1]
        return cls(numbers[: len(labels[0])], numbers[len(labels[0]) :])

    @property
    def sizes(self) -> Ints:
        """Number of targets in each group."""
        n = 1 + max(int(self.target.max(initial=-1)), int(self.query.max(initial=-1)))
        return np.bincount(self.target[self.target >= 0], minlength=n).astype(np.int64)

    def parts(self) -> Iterator[tuple[Ints, Ints]]:
        """Yield the target rows and the query rows, ascending, of every group that has both."""
        ends = np.arange(len(self.sizes) + 1)
        targets, queries = (np.argsort(numbers, kind="stable") for numbers in (self.target, self.query))
        t, q = np.searchsorted(self.target[targets], ends), np.searchsorted(self.query[queries], ends)
        for group in np.flatnonzero((np.diff(t) > 0) & (np.diff(q) > 0)):
            yield targets[t[group] : t[group + 1]], queries[q[group] : q[group + 1]]


def _labels(column: ArrayLike, what: str) -> Array:
    labels = np.asarray(column)
    if labels.ndim == 1 and labels.dtype.kind in "iu":
        return labels.astype(np.int64)
    if labels.ndim == 1 and labels.dtype.kind in "UTO" and all(isinstance(value, str) for value in labels.tolist()):
        return np.array(labels.tolist(), dtype=np.str_)
    given = f"{labels.dtype} of shape {labels.shape}"
    raise DataError(f"groups of the {what} are {given}; give one whole number or text a record")
