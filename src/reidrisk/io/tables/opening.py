"""Files on their way in: they are there, they are files, they are not too large, and what is damaged is named."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

from reidrisk.base import FormatError, ReidRiskError, printable, reason, sizes
from reidrisk.io.atomic import PathLike

_CHUNK = 1 << 20  # limit: bytes unpacked at a time
_DEFLATE_AT_MOST = 1032  # unit: no byte of gzip or zip can stand for more bytes than this


def existing_file(path: PathLike) -> Path:
    """Return the path of a file that is there, or say that it is not; pipes and devices are refused."""
    file = Path(path)
    if file.is_dir():
        raise FormatError(f"{path}: is a folder, not a file; name the table in it")
    if not file.exists():
        raise FormatError(f"{path}: there is no such file; check the path")
    if not file.is_file():
        # It would be read more than once, or never end.
        raise FormatError(f"{path}: is a pipe or a device, not a file; save what it gives into a file and name that")
    return file


def text_of(path: PathLike, otherwise: str = "save the file in UTF-8") -> str:
    """Return the UTF-8 text of a file, or say which byte is none and what to do ``otherwise``."""
    file = existing_file(path)
    sizes.BYTES.check(file.stat().st_size, str(path), "give less text")
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: byte {error.start} is not UTF-8 text; {otherwise}") from error
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror}") from error


@contextmanager
def while_reading(name: str, title: str) -> Iterator[None]:
    """Turn whatever a library raises on a damaged file into one line that names the file."""
    import zlib
    from zipfile import BadZipFile

    import pyarrow as pa

    try:
        yield
    except ReidRiskError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, EOFError, RuntimeError, zlib.error, BadZipFile) as error:
        # RuntimeError is what zipfile says of encrypted members and of ways to pack them that it does not know.
        why = f"it may be truncated or damaged ({printable(reason(error))})"  # libraries quote bytes as they stand
        raise FormatError(f"{name}: cannot be read as {title}, {why}; write it again") from error


def is_packed(path: PathLike) -> bool:
    """Tell by its name whether a file is to be compressed with gzip."""
    return Path(path).name.lower().endswith(".gz")


def is_gzip(file: PathLike) -> bool:
    """Tell by its first bytes whether a file is compressed with gzip, whatever it is called."""
    with open(file, "rb") as raw:
        return raw.read(2) == b"\x1f\x8b"


def opened(file: PathLike) -> BufferedReader:
    """Open a file to be read as bytes, unpacked where it is packed."""
    return BufferedReader(gzip.GzipFile(file)) if is_gzip(file) else open(file, "rb")


def arrow_stream(file: PathLike) -> Any:
    """Open a file as a stream of Arrow, unpacked where it is packed."""
    import pyarrow as pa

    return pa.input_stream(open(file, "rb"), compression="gzip" if is_gzip(file) else None)


def check_bytes(file: Path, name: str) -> None:
    """Refuse a file that is too large to be read into memory, unpacked where it is gzip or an archive of zip."""
    from zipfile import ZipFile, is_zipfile

    on_disk, less = file.stat().st_size, "give fewer rows or columns, or split the file"
    sizes.BYTES.check(on_disk, name, less)
    if on_disk * _DEFLATE_AT_MOST <= sizes.BYTES.most:
        return
    if is_zipfile(file):
        with while_reading(name, "an archive"), ZipFile(file) as archive:
            sizes.BYTES.check(sum(member.file_size for member in archive.infolist()), name, less)
    if not is_gzip(file):
        return
    # What it says of its size cannot be trusted.
    total = 0
    with while_reading(name, "gzip"), gzip.open(file, "rb") as unpacked:
        while part := unpacked.read(_CHUNK):
            total += len(part)
            sizes.BYTES.check(total, name, less)
