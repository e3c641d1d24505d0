"""Tokens that stay where they are stored: what an engine must know of a table to search it without loading it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reidrisk.search.engines.shards import ROWS, Shard


class Piece(NamedTuple):
    """Some rows of a Parquet file: whole row groups."""

    path: str
    groups: tuple[int, ...]
    n_epochs: int

    def shard(self) -> Shard:
        """Read the rows: tokens (n, r), and the id of each, ascending."""
        columns = [f"c{s}" for s in range(self.n_epochs)]
        table = opened(self.path).read_row_groups(list(self.groups), columns=["id", *columns])
        ids = table["id"].to_numpy()
        tokens = np.stack([table[name].to_numpy() for name in columns], axis=1)
        order = np.argsort(ids, kind="stable")
        return Shard(ids[order], tokens[order])


@dataclass(frozen=True)
class StoredTokens:
    """Targets or queries of an engine: Parquet files with the columns id, c0, c1, … of every record.

    Ids are the rows, 0 to ``n_users`` - 1; tokens lie in ``[0, n_tokens)``, -1 = missing. ``relation`` is the name
    that an engine gives them.
    """

    relation: str
    files: tuple[str, ...]
    n_users: int
    n_epochs: int
    n_tokens: int

    def __len__(self) -> int:
        return self.n_users

    def pieces(self, rows: int = ROWS) -> Iterator[Piece]:
        """Yield the files in pieces of about this many rows."""
        for path in self.files:
            metadata = opened(path).metadata
            groups: list[int] = []
            held = 0
            for i in range(metadata.num_row_groups):
                if groups and held + metadata.row_group(i).num_rows > rows:
                    yield Piece(path, tuple(groups), self.n_epochs)
                    groups, held = [], 0
                groups.append(i)
                held += metadata.row_group(i).num_rows
            if groups:
                yield Piece(path, tuple(groups), self.n_epochs)


def opened(path: str) -> Any:
    """Open a Parquet file here or, by its URL, wherever Arrow can read."""
    import pyarrow.parquet as pq
    from pyarrow import fs

    if "://" not in path:
        return pq.ParquetFile(path)
    system, place = fs.FileSystem.from_uri(path)
    return pq.ParquetFile(system.open_input_file(place))
