"""The nearest of real vectors, exactly: blocks of products in single precision, and what may win scored again.

Targets come block by block; a block's rows are brought into a common form once, and its products with all queries are
one matrix product each. A query's threshold is its best exact value so far less the proved margin
(:mod:`reidrisk.search.dense.margin`), so that a row is scored exactly only if it may be at least as near.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.parallel import Crew, slices
from reidrisk.base.progress import Progress, silent
from reidrisk.search.answer import FAR, UNIT, Best, ByBlocks, Candidates
from reidrisk.search.dense.margin import margin
from reidrisk.search.dense.rows import COSINE_STEPS, Form, VectorRows, pair_scores
from reidrisk.search.weights import GRID

_TARGETS, _QUERIES = 4_096, 2_048  # rows of a block: smaller ones wake threads too often, larger ones leave the cache
_FAR_OFF = 2.0**40  # times the scale of the targets: from there on products leave the range of single precision
_WORTH_A_GPU = 2e12  # multiplications from which on moving the rows to a GPU, where there is one, pays off
_NOBODY = -(1 << 62)
_FORMS = ("cosine", "distance", "likelihood")
Singles = npt.NDArray[np.float32]


class SingleRows(NamedTuple):
    """Rows as products take them: values and what they add in single precision, and the lengths of the true rows."""

    values: Singles
    bias: Singles
    length: Floats
    square: Floats


@dataclass(frozen=True, eq=False)
class VectorScorer(ByBlocks):
    """The score of two rows by one of the forms of :mod:`reidrisk.search.dense.rows`, for an engine.

    ``centre`` (d,) is taken from the rows of a distance before products are made of them, and ``scale``, a power of
    two, divides them: neither changes a score. ``temperature`` softens likelihoods.

    >>> known, asked = (VectorRows.of(np.array(x, dtype=np.float32), "cosine") for x in ([[1, 0], [0, 1]], [[1, 3]]))
    >>> VectorScorer("cosine").best(known, asked).target.tolist()
    [1]
    """

    form: Form
    centre: Floats | None = None
    scale: float = 1.0
    temperature: float = 1.0
    threads: int | None = None

    @classmethod
    def of(cls, form: Form, targets: VectorRows, temperature: float = 1.0) -> VectorScorer:
        """Return the scorer for these targets: about their centre, at their scale."""
        if form == "cosine":
            return cls(form)
        values = targets.values
        centre = np.zeros(values.shape[1]) if form == "likelihood" else values.mean(axis=0, dtype=np.float64)
        # The furthest of each dimension, not of each row: that needs no second table of differences.
        ends = [np.abs(end(axis=0).astype(np.float64) - centre).max(initial=0.0) for end in (values.max, values.min)]
        longest = max(float(max(ends)) * values.shape[1] ** 0.5, 2.0**-60)
        return cls(form, centre.astype(np.float32).astype(np.float64), 2.0 ** np.ceil(np.log2(longest)), temperature)

    @property
    def per_nat(self) -> float:
        """Steps of a score in one nat; 0 where scores are no likelihoods."""
        return GRID * self.temperature if self.form == "likelihood" else 0.0

    def prepared(self, rows: VectorRows) -> SingleRows:
        """Bring rows into the form that products take."""
        values = rows.values.astype(np.float64)
        if self.form == "cosine":
            ready = (values / rows.extra[:, None]).astype(np.float32)
            return SingleRows(ready, np.zeros(len(rows), np.float32), np.ones(len(rows)), np.ones(len(rows)))
        values -= 0.0 if self.centre is None else self.centre
        with np.errstate(over="ignore"):
            ready = (values / self.scale).astype(np.float32)
        square = np.einsum("ij,ij->i", values, values)
        area = self.scale**2
        bias = -0.5 * square / area if self.form == "distance" else rows.extra / area
        with np.errstate(over="ignore"):
            return SingleRows(ready, bias.astype(np.float32), np.sqrt(square) / self.scale, square)

    def best(self, targets: VectorRows, queries: VectorRows, progress: Progress | None = None) -> Best:
        """Find best score, number of ties and lowest tied target of each query, exactly."""
        work = float(len(targets)) * len(queries) * targets.values.shape[1]
        if work > _WORTH_A_GPU:
            from reidrisk.search import gpu

            if gpu.available():
                from reidrisk.search.dense import device

                return device.best(self, targets, queries)
        return self.best_here(targets, queries, progress)

    def best_here(self, targets: VectorRows, queries: VectorRows, progress: Progress | None = None) -> Best:
        """Find the same on the processor."""
        from reidrisk.search.dense import kernels

        score, n_ties, target = (np.zeros(len(queries), dtype=np.int64) for _ in range(3))
        held = np.zeros(len(queries))

        def look(block: Any, ruler: Any, part: slice, rows: tuple[int, int]) -> None:
            kernels.find_best(block, ruler, rows, score[part], n_ties[part], target[part], held[part])

        self._over_blocks(targets, queries, look, progress)
        return Best(score, n_ties, target)

    def candidates(self, targets: VectorRows, queries: VectorRows, k: int) -> Candidates:
        """Find the k best targets of each query."""
        if 4 * k >= len(targets):
            return super().candidates(targets, queries, k)
        from reidrisk.search.dense import kernels

        found = Candidates(*(np.zeros((len(queries), k), dtype=np.int64) for _ in range(2)))
        held, n_held = np.zeros((len(queries), k)), np.zeros(len(queries), dtype=np.int64)

        def look(block: Any, ruler: Any, part: slice, rows: tuple[int, int]) -> None:
            kernels.find_top(block, ruler, rows, found.score[part], found.target[part], held[part], n_held[part])

        self._over_blocks(targets, queries, look)
        return found

    def scores(self, targets: VectorRows, queries: VectorRows, reach: Ints | None = None) -> Ints:
        """Return the (q, n) scores, exact as far as ``reach`` below each query's best; what is below is lower."""
        from reidrisk.search.dense import kernels

        out = np.full((len(queries), len(targets)), _NOBODY, dtype=np.int64)
        floor = np.full(len(queries), _NOBODY, dtype=np.int64)
        if reach is not None and (reach >= 0).any():
            floor = np.where(reach >= 0, self.best_here(targets, queries).score - reach, _NOBODY)

        def look(block: Any, ruler: Any, part: slice, rows: tuple[int, int]) -> None:
            least = self._least(floor[part], ruler, block.query_extra)
            kernels.write_scores(block, ruler, rows, least, out[part])

        self._over_blocks(targets, queries, look)
        return out

    def pairs(self, targets: VectorRows, queries: VectorRows, rows: Ints) -> Ints:
        """Return the score of each query with the target row given for it."""
        return pair_scores(self.form, targets.take(rows), queries)

    def total(self, targets: VectorRows, queries: VectorRows, score: Ints) -> Ints:
        """Add up the likelihoods of all targets relative to the score given for each query."""
        from reidrisk.search.dense import kernels

        if not self.per_nat:
            raise OptionError("these scores are no likelihoods: they have no posterior")
        total = np.zeros(len(queries), dtype=np.int64)
        floor = score - np.int64(np.ceil((FAR + 1.0) * self.per_nat))
        unit = (FAR, UNIT)

        def look(block: Any, ruler: Any, part: slice, rows: tuple[int, int]) -> None:
            least = self._least(floor[part], ruler, block.query_extra)
            given = score[part]
            total[part] += kernels.add_likelihoods(block, ruler, rows, least, given, self.per_nat, unit)

        self._over_blocks(targets, queries, look)
        return total

    def _least(self, floor: Ints, ruler: Any, query_extra: Floats) -> Singles:
        """Return the value in a block below which no score reaches ``floor``; rounded down."""
        exact = floor.astype(np.float64)
        if self.form == "cosine":
            found = (exact - 4.0) / COSINE_STEPS
        elif self.form == "likelihood":
            found = ((exact - 4.0) / GRID - query_extra) / ruler.scale
            found -= (np.abs(exact / GRID) + np.abs(query_extra)) / ruler.scale * 2.0**-44
        else:
            bits = np.clip(-exact + 2.0, 0.0, 2.0**51 - 2.0**12).astype(np.int64) << 12
            furthest = np.minimum(bits.view(np.float64), 1e300)
            found = (ruler.square - furthest) / (2.0 * ruler.scale) - (ruler.square + furthest) / ruler.scale * 2.0**-38
        found = found - ruler.margin
        found = np.where(floor <= _NOBODY, -np.inf, found - np.abs(found) * 2.0**-23 - 2.0**-140)
        with np.errstate(over="ignore"):
            return np.asarray(found.astype(np.float32))

    def _over_blocks(
        self,
        targets: VectorRows,
        queries: VectorRows,
        look: Callable[[Any, Any, slice, tuple[int, int]], None],
        progress: Progress | None = None,
    ) -> None:
        """Make the products of all targets and queries, block by block, and look at them on threads."""
        from reidrisk.search.dense import kernels

        d = _common_dimension(targets, queries)
        tell, asked = progress or silent, self.prepared(queries)
        form, area = _FORMS.index(self.form), 1.0 if self.form == "cosine" else self.scale**2
        far = asked.length > _FAR_OFF
        ready = np.where(far[:, None], 0, asked.values) if far.any() else asked.values
        # One room for all blocks: to have the system clear new memory each time takes as long as the products.
        room = np.empty(min(len(queries), _QUERIES) * min(len(targets), _TARGETS), dtype=np.float32)
        with Crew(self.threads) as crew:
            for start in range(0, len(targets), _TARGETS):
                some = targets[start : start + _TARGETS]
                known = self.prepared(some)
                longest, widest = float(known.length.max()), float(np.abs(known.bias).max())
                for part in slices(len(queries), _QUERIES):
                    shape = part.stop - part.start, len(some)
                    values = room[: shape[0] * shape[1]].reshape(shape)
                    np.matmul(ready[part], known.values.T, out=values)
                    off = margin(d, asked.length[part], longest, bias=widest)
                    off = np.where(far[part], np.inf, off)  # every row of theirs is scored exactly
                    ruler = kernels.Ruler(form, area, asked.square[part], off)
                    exact = queries[part]
                    block = kernels.Block(values, known.bias, some.values, some.extra, exact.values, exact.extra, start)
                    cut = [(i.start, i.stop) for i in slices(len(values), -(-len(values) // crew.size))]
                    crew.each(partial(look, block, ruler, part), cut)
                tell("comparing-vectors", min(start + _TARGETS, len(targets)) / len(targets))


def _common_dimension(targets: VectorRows, queries: VectorRows) -> int:
    d = targets.values.shape[1]
    if queries.values.shape[1] != d:
        raise DataError(f"targets have {d} dimensions, queries {queries.values.shape[1]}; both must be the same")
    return int(d)
