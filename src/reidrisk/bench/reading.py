"""Read the data of a benchmark: files are checked first; what is not here, or another file than stated, is noted."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from reidrisk.base.errors import FormatError, ReidRiskError
from reidrisk.base.foreign import reason
from reidrisk.base.notes import Note
from reidrisk.bench.manifest import DataSet
from reidrisk.io.tables import check_bytes, is_packed, reading
from reidrisk.mechanisms import TopKNoise
from reidrisk.records import Events, Traces

_WEEKS = 8


class Sites(NamedTuple):
    """What two observers saw of the same people, row by row, and what an attacker knows of the system."""

    targets: Traces
    queries: Traces
    mechanism: TopKNoise | None = None


Reader = Callable[[Sequence[Path], int, int], Any]
"""From files, a number of people to draw where people are drawn, and a seed, to a frame of events or Sites."""


def load(data: DataSet, folder: Path, users: int, seed: int, readers: Mapping[str, Reader]) -> Events | Sites | Note:
    """Read a data set, or say why it is left out: not here, another file than stated, or not to be read."""
    paths = [folder / name for name in data.files]
    for path, (name, checksum) in zip(paths, data.files.items(), strict=True):
        if not path.is_file():
            return Note("data-missing", data=data.name, file=name, origin=data.origin)
        if checksum and _checksum(path) != checksum:
            return Note("data-differs", data=data.name, file=name)
    known = {**_READERS, **readers}
    if data.format not in known:
        return Note("data-format", data=data.name, format=data.format, known=sorted(known))
    try:
        found = known[data.format](paths, users, seed)
        return found if isinstance(found, Sites) else data.events(found, users, seed)
    except ReidRiskError as error:
        return Note("data-unreadable", data=data.name, why=str(error))


def _checksum(path: Path) -> str:
    """Return the SHA-256 of a file, of its content where it is packed: packing is no part of the data."""
    try:
        with gzip.open(path) if is_packed(path) else path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except (OSError, EOFError):
        return "unreadable"


def _tables(paths: Sequence[Path], users: int, seed: int, title: str) -> Any:
    """Read tables with the same columns, one below the other."""
    import polars as pl

    frames = []
    for path in paths:
        check_bytes(path, str(path))
        with reading(str(path), title):
            try:
                frames.append(_table(path, title))
            except pl.exceptions.PolarsError as error:
                raise ValueError(reason(error)) from error
    if len({tuple(frame.columns) for frame in frames}) != 1:
        raise FormatError(f"its {len(frames)} files have not the same columns; name files that have")
    return pl.concat(frames, how="vertical_relaxed")


def _table(path: Path, title: str) -> Any:
    import numpy as np
    import polars as pl

    if title == "Parquet":
        return pl.read_parquet(path)
    if title == "NPZ":
        with np.load(path, allow_pickle=False) as arrays:
            return pl.DataFrame({name: arrays[name] for name in arrays.files})
    separator = "," if title == "CSV" else "\t"
    return pl.read_csv(path, separator=separator, try_parse_dates=True, infer_schema_length=10_000)


def _published(paths: Sequence[Path], users: int, seed: int) -> Sites:
    """Return what two sites see of simulated people in eight weeks."""
    from reidrisk import populations, topics

    sets = populations.published(users, _WEEKS, seed=seed)
    api = topics.TopicsAPI(n_topics=sets.n_tokens, top_k=sets.k)
    one, two = (api.expose(sets, seed=seed, site=site) for site in ("site 1", "site 2"))
    return Sites(one, two, TopKNoise(api.top_k, api.noise, sets.n_tokens))


_READERS: dict[str, Reader] = {
    **{name.lower(): partial(_tables, title=name) for name in ("CSV", "TSV", "Parquet", "NPZ")},
    "published": _published,
}
