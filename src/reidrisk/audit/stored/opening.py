"""Opening tables that stay where they are: folders of Parquet files, or tables of the engine."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reidrisk.base.errors import FormatError
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.io.tables.metadata import KEY, Metadata, from_json
from reidrisk.search.engines.stored import opened

TABLE = "table:"
"""What the name of a table of the engine begins with."""

_EPOCH = re.compile(r"epoch_([0-9]{1,9})")


@dataclass(frozen=True)
class StoredTable:
    """A wide table of traces: ``user``, if it names people, and epoch_0, epoch_1, …: whole numbers or labels."""

    name: str
    files: tuple[str, ...]
    epochs: tuple[str, ...]
    named: bool
    labels: bool
    metadata: Metadata

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The labels that the files carry, if any."""
        return self.metadata.vocabulary


def is_stored(path: str) -> bool:
    """Whether this names a folder, or a table of an engine: what no reader of files takes."""
    return path.startswith(TABLE) or "://" in path or Path(path).is_dir()


def parquet_files(path: str) -> tuple[str, ...]:
    """Return the Parquet files of a folder, or the one file, sorted by name; hidden ones are not read."""
    if "://" in path:
        from pyarrow import fs

        system, place = fs.FileSystem.from_uri(path)
        scheme = path.partition("://")[0]
        found = system.get_file_info(fs.FileSelector(place, recursive=True))
        names = [f"{scheme}://{one.path}" for one in found if one.path.endswith(".parquet")]
    elif Path(path).is_file():
        names = [str(Path(path).resolve())]
    else:
        names = [str(one.resolve()) for one in Path(path).rglob("*.parquet") if one.is_file()]
    seen = sorted(name for name in names if not Path(name).name.startswith((".", "_")))
    if not seen:
        raise FormatError(f"{path}: there is no Parquet file in it (*.parquet); name a folder that holds some")
    return tuple(seen)


def open_files(path: str) -> StoredTable:
    """Look at every file's footer: all must be whole, and alike."""
    files = parquet_files(path)
    first, names = None, {}
    for file in files:
        schema = _footer(file)
        kinds = {field.name: str(field.type) for field in schema}
        if first is None:
            first, names = schema, kinds
        elif kinds != names:
            other = next(name for name in {**names, **kinds} if names.get(name) != kinds.get(name))
            raise FormatError(f"{file}: its column {other!r} is not as in {files[0]}; write all files of a table alike")
    return described(path, files, names, (first.metadata or {}).get(KEY) if first is not None else None)


def described(name: str, files: tuple[str, ...], kinds: dict[str, str], said: bytes | None) -> StoredTable:
    """Return what the names and types of columns say of a table."""
    numbers = {int(found[1]): column for column in kinds if (found := _EPOCH.fullmatch(column))}
    wanted = "it needs user (if people are named), epoch_0, epoch_1, …"
    if not numbers or sorted(numbers) != list(range(min(numbers), min(numbers) + len(numbers))):
        raise FormatError(f"{name}: its columns are {', '.join(kinds)[:200]}; {wanted}, without gaps")
    odd = [column for column in kinds if column != "user" and column not in numbers.values()]
    if odd:
        raise FormatError(f"{name}: column {odd[0]!r} is not known; {wanted}, and no other")
    epochs = tuple(numbers[i] for i in sorted(numbers))
    text = [column for column in epochs if "string" in kinds[column] or "VARCHAR" in kinds[column]]
    whole = [column for column in epochs if "int" in kinds[column].lower()]
    if len(text) + len(whole) < len(epochs) or (text and whole):
        wrong = next(column for column in epochs if column not in (whole or text))
        raise FormatError(f"{name}: column {wrong!r} is of type {kinds[wrong]}; tokens are whole numbers or labels")
    metadata = Metadata() if said is None else from_json(name, said.decode("utf-8"))
    return StoredTable(name, files, epochs, "user" in kinds, bool(text), metadata)


def _footer(file: str) -> Any:
    import pyarrow as pa

    try:
        return opened(file).schema_arrow
    except (pa.ArrowException, OSError) as error:
        said = str(error).splitlines()[0].rstrip(".")[:120]
        raise FormatError(f"{file}: this is no whole Parquet file ({said}); it was cut short, or is another") from error
