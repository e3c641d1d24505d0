"""Opening tables that stay where they are: files or folders of Parquet or CSV, or tables of the engine."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reidrisk.base.errors import FormatError, ReidRiskError
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.io.tables.metadata import KEY, Metadata, from_json
from reidrisk.io.tables.streaming import csv_columns, csv_rows
from reidrisk.search.engines.stored import opened

TABLE = "table:"
"""What the name of a table of the engine begins with."""

IN_MEMORY = 2_000_000
"""Records of both tables up to which they are fetched, and audited as tables in memory are."""

LONG = ("user", "epoch", "token")
"""Columns of the long layout: a row for each token that was seen."""

_CSV = (".csv", ".csv.gz")
_ENDINGS = (".parquet", *_CSV)
_EPOCH = re.compile(r"epoch_([0-9]{1,9})")
_WANTED = "it needs user (if people are named), epoch_0, epoch_1, …, or else user, epoch, token"


@dataclass(frozen=True)
class StoredTable:
    """A table of traces, wide (``user``, if it names people, and epoch_0, epoch_1, …) or long (user, epoch, token).

    Tokens are whole numbers, or ``labels``. A table of an engine has no ``files``.
    """

    name: str
    files: tuple[str, ...]
    epochs: tuple[str, ...]
    named: bool
    labels: bool
    metadata: Metadata
    long: bool = False

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The labels that the files carry, if any."""
        return self.metadata.vocabulary


def is_stored(path: str) -> bool:
    """Whether this names a folder, or a table of an engine: what no reader of files takes."""
    return path.startswith(TABLE) or "://" in path or Path(path).is_dir()


def for_engine(paths: tuple[str, ...], most: int = IN_MEMORY) -> bool:
    """Whether two tables of traces are audited where they are: folders always, files with more than ``most`` rows."""
    if len(paths) != 2:
        return False
    return any(map(is_stored, paths)) or (all(map(_holds_traces, paths)) and sum(map(n_rows, paths)) > most)


def _holds_traces(path: str) -> bool:
    """Whether this is a file of Parquet or CSV whose columns are those of traces; only its head is read."""
    if not path.lower().endswith(_ENDINGS) or not Path(path).is_file():
        return False
    try:
        names = columns_of(path)
    except ReidRiskError:
        return False  # the reader of files says what is wrong with it
    return set(names) == set(LONG) or any(map(_EPOCH.fullmatch, names))


def columns_of(file: str) -> list[str]:
    """Return the names of the columns of a Parquet or CSV file."""
    return csv_columns(file) if is_csv(file) else list(_footer(file).names)


def n_rows(path: str) -> int:
    """Count the rows of files, from footers where there are any."""
    return sum(csv_rows(file) if is_csv(file) else opened(file).metadata.num_rows for file in table_files(path))


def is_csv(file: str) -> bool:
    """Whether the name of a file is one of CSV."""
    return file.lower().endswith(_CSV)


def table_files(path: str) -> tuple[str, ...]:
    """Return the Parquet or CSV files of a folder, or the one file, sorted by name; hidden ones are not read."""
    if "://" in path:
        from pyarrow import fs

        system, place = fs.FileSystem.from_uri(path)
        scheme = path.partition("://")[0]
        found = system.get_file_info(fs.FileSelector(place, recursive=True))
        names = [f"{scheme}://{one.path}" for one in found if one.path.endswith(".parquet")]
    elif Path(path).is_file():
        names = [str(Path(path).resolve())]
    else:
        names = [str(one.resolve()) for one in Path(path).rglob("*") if one.name.endswith(_ENDINGS) and one.is_file()]
    seen = sorted(name for name in names if not Path(name).name.startswith((".", "_")))
    if not seen:
        if "://" not in path and not Path(path).exists():
            raise FormatError(f"{path}: there is no such file or folder; check the path")
        raise FormatError(f"{path}: there is no Parquet file in it (*.parquet); name a folder that holds some")
    if len({is_csv(name) for name in seen}) > 1:
        raise FormatError(f"{path}: it holds Parquet and CSV files; keep one kind of them in a folder")
    return tuple(seen)


def open_files(path: str, files: tuple[str, ...], layout: str | None = None) -> StoredTable:
    """Look at the footer of every Parquet file: all must be whole, and alike."""
    first, names = None, {}
    for file in files:
        schema = _footer(file)
        kinds = {field.name: str(field.type) for field in schema}
        if first is None:
            first, names = schema, kinds
        elif kinds != names:
            other = next(name for name in {**names, **kinds} if names.get(name) != kinds.get(name))
            raise FormatError(f"{file}: its column {other!r} is not as in {files[0]}; write all files of a table alike")
    return described(path, files, names, (first.metadata or {}).get(KEY) if first is not None else None, layout)


def described(
    name: str, files: tuple[str, ...], kinds: dict[str, str], said: bytes | None, layout: str | None = None
) -> StoredTable:
    """Return what the names and types of columns say of a table."""
    metadata = Metadata() if said is None else from_json(name, said.decode("utf-8"))
    if layout == "long" or (layout is None and {"epoch", "token"} <= set(kinds)):
        if set(kinds) != set(LONG):
            have = f"its columns are {', '.join(kinds)[:200]}"
            raise FormatError(f"{name}: {have}; the long layout has user, epoch, token, and no other")
        return StoredTable(name, files, (), True, _are_labels(name, kinds, ("token",)), metadata, long=True)
    numbers = {int(found[1]): column for column in kinds if (found := _EPOCH.fullmatch(column))}
    if not numbers or sorted(numbers) != list(range(min(numbers), min(numbers) + len(numbers))):
        raise FormatError(f"{name}: its columns are {', '.join(kinds)[:200]}; {_WANTED}, without gaps")
    odd = [column for column in kinds if column != "user" and column not in numbers.values()]
    if odd:
        raise FormatError(f"{name}: column {odd[0]!r} is not known; {_WANTED}, and no other")
    epochs = tuple(numbers[i] for i in sorted(numbers))
    return StoredTable(name, files, epochs, "user" in kinds, _are_labels(name, kinds, epochs), metadata)


def _are_labels(name: str, kinds: dict[str, str], columns: tuple[str, ...]) -> bool:
    """Whether these columns hold labels; if not, they hold whole numbers."""
    text = [column for column in columns if "string" in kinds[column] or "VARCHAR" in kinds[column]]
    whole = [column for column in columns if "int" in kinds[column].lower()]
    if len(text) + len(whole) < len(columns) or (text and whole):
        wrong = next(column for column in columns if column not in (whole or text))
        raise FormatError(f"{name}: column {wrong!r} is of type {kinds[wrong]}; tokens are whole numbers or labels")
    return bool(text)


def _footer(file: str) -> Any:
    import pyarrow as pa

    try:
        return opened(file).schema_arrow
    except (pa.ArrowException, OSError) as error:
        said = str(error).splitlines()[0].rstrip(".")[:120]
        raise FormatError(f"{file}: this is no whole Parquet file ({said}); it was cut short, or is another") from error
