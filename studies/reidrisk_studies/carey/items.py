"""Users as sets of items: read from public data, or drawn by popularity; and what an observer samples of them."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk import Bags, Traces
from reidrisk.base.errors import FormatError
from reidrisk.base.streams import blocks, stream

__all__ = ["ItemSets", "as_bags", "drawn", "read_lastfm", "read_msweb"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_BLOCK = 8_192
"""Users drawn together."""


@dataclass(frozen=True, eq=False)
class ItemSets:
    """Different items of each user: those of user ``u`` are ``items[offsets[u] : offsets[u + 1]]``, at least one.

    Examples
    --------
    >>> sets = ItemSets(np.array([0, 2, 3]), np.array([4, 7, 7], dtype=np.int32), n_items=9)
    >>> len(sets), sets.sizes.tolist(), int(sets.holders[7])
    (2, [2, 1], 2)
    >>> shown = sets.sample(3, seed=0, observer="a")
    >>> shown, shown.tokens[1].tolist()
    (Traces(2 users x 3 epochs, 9 tokens), [7, 7, 7])
    """

    offsets: Ints
    items: npt.NDArray[np.int32]
    n_items: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Ints:
        """Number of items of each user."""
        return np.diff(self.offsets)

    @property
    def holders(self) -> Ints:
        """Number of users who have each item."""
        return np.bincount(self.items, minlength=self.n_items)

    def sample(self, r: int, seed: int, observer: str) -> Traces:
        """Draw ``r`` items of each user, uniformly and with replacement; another observer gets another draw."""
        shown = np.empty((len(self), r), dtype=np.int32)
        for block, start, stop in blocks(len(self)):
            u = stream(seed, f"items shown to {observer}", block).random((stop - start, r))
            place = (u * self.sizes[start:stop, None]).astype(np.int64)
            shown[start:stop] = self.items[self.offsets[start:stop, None] + place]
        shown.flags.writeable = False  # so that traces need not copy it
        return Traces(shown, self.n_items)


def as_bags(traces: Traces) -> Bags:
    """Forget the order of a user's tokens.

    Examples
    --------
    >>> as_bags(Traces([[2, 0, 2]], n_tokens=3)).counts.toarray().tolist()
    [[1, 0, 2]]
    """
    from scipy import sparse

    n, r = traces.tokens.shape
    ones = np.ones(n * r, dtype=np.int64)
    return Bags(sparse.csr_array((ones, (np.repeat(np.arange(n), r), traces.tokens.ravel())), (n, traces.n_tokens)))


def drawn(n: int, n_per_user: Callable[[np.random.Generator, int], Ints], popularity: Floats, seed: int) -> ItemSets:
    """Draw users with different items each, taken one after the other by popularity, without replacement.

    Parameters
    ----------
    n : int
        Number of users.
    n_per_user : callable
        Given a generator and a number of users, returns how many items each has: at least 1, far fewer than there are.
    popularity : (N,) array
        How likely each item is to be taken, up to a factor.
    seed : int
        Same seed, same users; the first users of more are the same.

    Examples
    --------
    >>> sets = drawn(100, lambda rng, size: np.full(size, 3), np.array([8.0, 4, 2, 1, 1, 1, 1, 1]), seed=0)
    >>> int(sets.sizes.max()), bool(sets.holders[0] > sets.holders[7])
    (3, True)
    """
    steps = np.cumsum(popularity) / np.sum(popularity)
    sizes, items = [], []
    for block, start, stop in blocks(n, _BLOCK):
        rng = stream(seed, "items by popularity", block)
        # A block is always drawn whole, so that a larger population starts with the same users.
        size = n_per_user(rng, _BLOCK)
        taken = _distinct(size, steps, rng)
        kept = int(size[: stop - start].sum())
        sizes.append(size[: stop - start])
        items.append(taken[:kept].astype(np.int32))
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    return ItemSets(offsets, np.concatenate(items), len(popularity))


def _distinct(size: Ints, steps: Floats, rng: np.random.Generator) -> Ints:
    """Draw ``size[u]`` items of each user; what a user already has is drawn again."""
    user = np.repeat(np.arange(len(size)), size) * len(steps)
    taken = np.full(len(user), -1, dtype=np.int64)
    again = np.arange(len(user))
    while again.size:
        drawn_items = np.searchsorted(steps, rng.random(again.size), side="right")
        taken[again] = np.minimum(drawn_items, len(steps) - 1)
        first = np.unique(user + taken, return_index=True)[1]
        repeated = np.ones(len(user), dtype=np.bool_)
        repeated[first] = False
        again = np.flatnonzero(repeated)
    return taken


def read_lastfm(path: Path) -> ItemSets:
    """Read ``userID artistID weight`` (HetRec 2011): the artists each user listened to."""
    import polars as pl

    kinds = {"userID": pl.Int64, "artistID": pl.Int64}
    try:
        table = pl.read_csv(path, separator="\t", columns=list(kinds), schema_overrides=kinds)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FormatError(f"{path}: this is not a table with the columns userID and artistID: {reason}") from error
    if table.is_empty() or any(table.null_count().row(0)):
        raise FormatError(f"{path}: this is not a table with the columns userID and artistID: a number is missing")
    user, artist = (table[name].to_numpy() for name in kinds)
    return _grouped(user, np.unique(artist, return_inverse=True)[1], len(np.unique(artist)))


def read_msweb(path: Path) -> ItemSets:
    """Read ``A``, ``C`` and ``V`` lines (UCI, anonymous web data): the areas of a site each user visited."""
    areas: dict[str, int] = {}
    user: list[int] = []
    area: list[int] = []
    n_users = 0
    try:
        with gzip.open(path, "rt", encoding="latin-1") as lines:
            for text in lines:
                kind, _, rest = text.partition(",")
                if kind == "A":
                    areas[rest.partition(",")[0]] = len(areas)
                elif kind == "C":
                    n_users += 1
                elif kind == "V":
                    user.append(n_users)
                    area.append(areas[rest.partition(",")[0]])
    except (KeyError, EOFError, OSError, zlib.error) as error:
        raise FormatError(f"{path}: this is not anonymous web data (A, C and V lines, gzip): {error}") from error
    if not user:
        raise FormatError(f"{path}: there is not a single V line in it, so nobody visited anything")
    return _grouped(np.array(user), np.array(area), len(areas))


def _grouped(user: npt.NDArray[Any], item: npt.NDArray[Any], n_items: int) -> ItemSets:
    pairs = np.unique(np.stack([user, item], axis=1), axis=0)
    _, sizes = np.unique(pairs[:, 0], return_counts=True)
    return ItemSets(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), pairs[:, 1].astype(np.int32), n_items)
