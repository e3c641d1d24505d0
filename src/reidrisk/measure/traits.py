"""What people have in common by what is in their records: how much, how rare, and which items; in few groups."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from reidrisk.base import Floats, Ints, mean_interval
from reidrisk.measure.rarity import by_rarity
from reidrisk.records import Traces

_SEEN = (0.001, 0.01)  # shares of the observations that divide rare items from common ones
_LEVELS = 5  # groups of a trait that is a number, at most
_NAMED = 5  # items that are named, at most
_LOOKED_AT = 40  # items whose interval is computed, those that stand out most

Levels = list[tuple[str, Ints]]


def traits(queries: Any) -> dict[str, Levels]:
    """Return the people of each level of each trait; a trait that all share tells nothing and is left out.

    >>> traits(Traces([[0, 1], [0, -1], [0, 0]], n_tokens=2))["periods-observed"]
    [('1', array([1])), ('2', array([0, 2]))]
    """
    found = _of_traces(queries) if hasattr(queries, "observed") else _of_bags(queries)
    return {trait: levels for trait, levels in found.items() if len(levels) > 1}


def _of_traces(queries: Traces) -> dict[str, Levels]:
    tokens, seen = queries.tokens, queries.observed
    share = np.bincount(tokens[seen], minlength=queries.n_tokens) / max(len(queries), 1) / queries.n_epochs
    rarest = np.where(seen, share[tokens], np.inf).min(axis=1)
    rarity = [(level, np.flatnonzero(people)) for level, people in by_rarity(rarest, _SEEN).items()]
    return {
        "rarest-item": [level for level in rarity if len(level[1])],
        "periods-observed": in_few(seen.sum(axis=1)),
    }


def _of_bags(queries: Any) -> dict[str, Levels]:
    held = queries.counts
    full = np.flatnonzero(np.diff(held.indptr))  # reduceat takes no empty row
    holders = np.bincount(held.indices, minlength=queries.n_tokens)
    fewest = np.zeros(len(queries), dtype=np.int64)
    if full.size:
        fewest[full] = np.minimum.reduceat(holders[held.indices], held.indptr[full])
    found = {
        "rarest-holders": [level for level in in_few(fewest) if level[0] != "0"],
        "items-held": in_few(np.asarray(held.sum(axis=1), dtype=np.int64).ravel()),
    }
    return found if queries.visits is None else found | {"visits-seen": in_few(queries.visits.per_record)}


def in_few(numbers: Ints) -> Levels:
    """Return the people by a number, each value by itself where these are few, and otherwise in a few ranges.

    The ends are quantiles rounded to two digits, and open at the top: the largest number is somebody's own. Nothing
    at all, 0, is a level of its own.

    >>> [name for name, _ in in_few(np.arange(100))]
    ['0', '1-20', '21-40', '41-60', '61-80', '81-']
    >>> [name for name, _ in in_few(np.array([3, 3, 7]))]
    ['3', '7']
    """
    values = np.unique(numbers)
    if len(values) <= _LEVELS:
        return [(str(value), np.flatnonzero(numbers == value)) for value in values]
    some = numbers[numbers > 0]
    cuts = np.quantile(some, np.arange(1, _LEVELS) / _LEVELS, method="inverted_cdf")
    digits = 1 - np.floor(np.log10(cuts)).astype(np.int64)
    ends = np.unique([round(float(cut), int(digit)) for cut, digit in zip(cuts, digits, strict=True)]).astype(np.int64)
    starts = np.concatenate(([1], ends + 1))
    stops: list[int | None] = [*map(int, ends), None]
    levels: Levels = [("0", np.flatnonzero(numbers == 0))]
    for low, high in zip(map(int, starts), stops, strict=True):
        rows = np.flatnonzero((numbers >= low) & ((high is None) | (numbers <= (high or 0))))
        levels.append((_named(low, high), rows))
    return [(name, rows) for name, rows in levels if len(rows)]


def _named(low: int, high: int | None) -> str:
    return f"{low}-" if high is None else str(low) if low == high else f"{low}-{high}"


def held_names(risk: Floats, queries: Any, level: float, least: int) -> Iterator[tuple[str, Ints]]:
    """Give the items whose holders are found significantly more often than everybody is, by name, with the holders.

    Each of m items that at least ``least`` people hold, and as many do not, has 1 / m of the error (Bonferroni).
    """
    if queries.vocabulary is None:
        return
    holds = _holds(queries)
    n, right = np.diff(holds.indptr), holds @ risk
    total, mean = len(risk), float(risk.mean())
    tried = np.flatnonzero((n >= max(least, 1)) & (total - n >= max(least, 1)))
    if not tried.size:
        return
    gap = right[tried] / n[tried] - mean
    clear = tried[np.argsort(-gap * np.sqrt(n[tried]), kind="stable")[:_LOOKED_AT]]
    error = (1.0 - level) / len(tried)
    ends = []
    for item in clear if error > 1e-12 else ():
        rows = np.sort(holds.indices[holds.indptr[item] : holds.indptr[item + 1]])
        low = mean_interval(risk[rows], 1.0 - error)[0]
        ends.append((low, int(item), rows))
    for low, item, rows in sorted(ends, key=lambda one: (-one[0], one[1]))[:_NAMED]:
        if low > mean:
            yield str(queries.vocabulary.decode([item])[0]), rows


def _holds(queries: Any) -> Any:
    """Return an (n_tokens, n) sparse matrix of who holds what, ones."""
    from scipy import sparse

    if hasattr(queries, "observed"):
        row, column = np.nonzero(queries.observed)
        cells = (np.ones(len(row)), (queries.tokens[row, column], row))
        held = sparse.coo_array(cells, shape=(queries.n_tokens, len(queries))).tocsr()
    else:
        held = sparse.csr_array(queries.counts.T)
    held.sum_duplicates()
    held.data = np.ones(held.nnz)
    return held
