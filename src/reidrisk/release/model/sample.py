"""Synthetic users in Parquet files: drawn from a mixture of types, file by file, and read back."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.base import (
    BLOCK,
    Array,
    FormatError,
    OptionError,
    Progress,
    Stage,
    blocks,
    checked_seed,
    silent,
    sizes,
    whole,
)
from reidrisk.base.arrays import frozen
from reidrisk.io.atomic import PathLike
from reidrisk.io.documents import parse_json
from reidrisk.io.tables import KEY, existing_file, to_json, while_reading, write_batches
from reidrisk.io.together import found, write_together
from reidrisk.io.traces import read_top_sets
from reidrisk.populations.type_mixture import TypeMixture
from reidrisk.privacy import PrivacyStatement
from reidrisk.records import TopSets

_KEY = "users"
SHARD = 16 * BLOCK  # users of one file: 1,048,576


def write_users(
    model: TypeMixture,
    n: int,
    seed: int,
    folder: PathLike,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Draw users as ``model.sample`` does, write them as ``users-00000-of-00010.parquet`` and so on; return the files.

    A file holds up to 1,048,576 users: a column ``user`` (0, 1, …) and list columns ``epoch_0, epoch_1, …``; short sets
    stay short. One file's users are in memory at a time. The privacy statement, without which a model is refused, is in
    the metadata of every file. All files come into the folder together, when the last one is complete.
    """
    from reidrisk.populations.draw_kernels import draw  # the compiler is loaded by those who sample

    n, seed = whole("n", n, unit="users"), checked_seed(seed)
    sizes.USERS.check(n, "drawing users", "draw fewer")
    if model.statement is None:
        raise OptionError("the model has no privacy statement, so users drawn from it are not written")
    folder, say = Path(folder), progress or silent
    statement = model.statement.after("synthetic users were drawn from the model")
    document = json.loads(to_json(model.n_tokens, model.vocabulary))
    metadata = json.dumps(document | {"k": model.k, "privacy": statement.to_dict()}, ensure_ascii=False)
    steps = model.cumulated()
    names = [f"users-{shard:05d}-of-{-(-n // SHARD):05d}.parquet" for shard, _, _ in blocks(n, SHARD)]
    with write_together(folder, _KEY, names) as new:
        for shard, start, stop in blocks(n, SHARD):
            write_batches(new / names[shard], [_batch(draw(steps, start, stop, seed, threads), start)], metadata)
            say(Stage("users-drawn", n=stop), stop / n)
    return [folder / name for name in names]


def holds_users(folder: PathLike) -> bool:
    """Tell whether there are files of users in a folder."""
    return bool(found(Path(folder), _KEY, "users-*-of-*.parquet"))


def read_users(folder: PathLike) -> tuple[TopSets, PrivacyStatement]:
    """Read what :func:`write_users` wrote, all files of it, and the privacy statement; without one it is refused.

    >>> import tempfile
    >>> from reidrisk.release import PUBLISHED, TypeMixture
    >>> folder = tempfile.mkdtemp()
    >>> _ = write_users(TypeMixture(np.zeros((3, 2, 2, 4)), statement=PUBLISHED), 5, seed=0, folder=folder)
    >>> read_users(folder)[0]
    TopSets(5 users x 2 epochs x 2 tokens of 4)
    """
    files = found(Path(folder), _KEY, "users-*-of-*.parquet")
    if not files:
        raise FormatError(f"{folder}: there are no files users-…-of-….parquet in it")
    if [file.name for file in files] != [f"users-{i:05d}-of-{len(files):05d}.parquet" for i in range(len(files))]:
        of = f"of {files[0].stem.rpartition('-')[2].lstrip('0')[:9]} files there are {len(files)}"
        raise FormatError(f"{folder}: {of}, or files of two runs; sample again")
    statement = PrivacyStatement.from_document(str(files[0]), _privacy(files[0]))
    parts = [read_top_sets(file) for file in files]
    first, n = parts[0], sum(map(len, parts))
    kinds = [(part.tokens.shape[1:], part.n_tokens, part.vocabulary) for part in parts]
    for file, kind in zip(files, kinds, strict=True):
        if kind != kinds[0]:
            raise FormatError(f"{file}: it has other epochs or tokens than {files[0].name}; sample again")
    sizes.CELLS.check(n * first.n_epochs * first.k, str(folder), "read fewer files")
    tokens = frozen(np.concatenate([part.tokens for part in parts]))
    return TopSets(tokens, first.n_tokens, np.arange(n), first.vocabulary), statement


def _privacy(file: Path) -> Any:
    """Return the privacy statement in the metadata of a file, as it stands there."""
    import pyarrow.parquet as pq

    with while_reading(str(file), "Parquet"):
        text = (pq.read_schema(existing_file(file)).metadata or {}).get(KEY, b"{}")
    document = parse_json(text, str(file), "the metadata of synthetic users")
    return document.get("privacy") if isinstance(document, dict) else None


def _batch(tokens: Array, start: int) -> Any:
    import pyarrow as pa

    columns = {"user": pa.array(np.arange(start, start + len(tokens)))}
    for epoch in range(tokens.shape[1]):
        held = tokens[:, epoch] >= 0
        ends = np.zeros(len(tokens) + 1, dtype=np.int32)
        np.cumsum(held.sum(axis=1), out=ends[1:])
        columns[f"epoch_{epoch}"] = pa.ListArray.from_arrays(ends, pa.array(tokens[:, epoch][held]))
    return pa.RecordBatch.from_pydict(columns)
