"""Read the data of a benchmark: files are checked first; what is not here, or another file than stated, is noted."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from reidrisk.base import FormatError, Note, ReidRiskError
from reidrisk.bench.manifest import DataSet
from reidrisk.io.tables import check_bytes, open_table, opened, while_reading
from reidrisk.mechanisms import TopKNoise
from reidrisk.records import Events, Traces

_WEEKS = 8
TABLES = ("csv", "tsv", "parquet", "npz")  # formats of plain tables, one row per event


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
    known = {**dict.fromkeys(TABLES), "published": _published, **readers}
    if data.format not in known:
        return Note("data-format", data=data.name, format=data.format, known=sorted(known))
    reader = known[data.format] or partial(_tables, data)
    try:
        with while_reading(data.name, data.format):  # a reader may be anybody's
            found = reader(paths, users, seed)
            return found if isinstance(found, Sites) else data.events(found, users, seed)
    except ReidRiskError as error:
        return Note("data-unreadable", data=data.name, why=str(error))


def _checksum(path: Path) -> str:
    """Return the SHA-256 of a file, of its content where it is packed: packing is no part of the data."""
    try:
        with opened(path) as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except (OSError, EOFError):
        return "unreadable"


def _tables(data: DataSet, paths: Sequence[Path], users: int, seed: int) -> Any:
    """Read the columns of tables, one below the other."""
    import pyarrow as pa

    if not paths:
        raise FormatError("it names no file; name one with its checksum under files")
    parts = []
    for path in paths:
        table = _text(path, data.format) if data.format in ("csv", "tsv") else open_table(path)
        names = list(getattr(table, "column_names", None) or table.types)
        for column in data.columns:
            if column not in names:
                there = ", ".join(map(repr, names[:20]))
                raise FormatError(f"{path}: there is no column {column!r}; choose from {there}")
        parts.append(pa.table({column: table.column(column) for column in data.columns}))
    return pa.concat_tables(parts, promote_options="permissive")


def _text(path: Path, kind: str) -> Any:
    import pyarrow.csv as pc

    check_bytes(path, str(path))
    return pc.read_csv(path, parse_options=pc.ParseOptions(delimiter="\t" if kind == "tsv" else ","))


def _published(paths: Sequence[Path], users: int, seed: int) -> Sites:
    """Return what two sites see of simulated people in eight weeks."""
    from reidrisk import populations, topics

    sets = populations.published(users, _WEEKS, seed=seed)
    api = topics.TopicsAPI(n_topics=sets.n_tokens, top_k=sets.k)
    one, two = (api.expose(sets, seed=seed, site=site) for site in ("site 1", "site 2"))
    return Sites(one, two, TopKNoise(api.top_k, api.noise, sets.n_tokens))
