"""Vocabularies in files: one label per line, or a JSON list."""

from pathlib import Path

from reidrisk.base import sizes
from reidrisk.base.errors import DataError, FormatError
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.io.atomic import PathLike
from reidrisk.io.documents import parse_json
from reidrisk.io.tables.opening import text_of


def read_vocabulary(path: PathLike) -> Vocabulary:
    r"""Read the labels of all tokens of a system.

    A file whose name ends in ``.json`` holds a list of labels (integers are taken as text), or of objects with a
    ``topic_id``, as the taxonomy of Google's Topics release; any other file is UTF-8 text, one label per line.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "labels.txt"
    >>> _ = file.write_text("news\nsports\n")
    >>> read_vocabulary(file)
    Vocabulary(2 labels: 'news', 'sports')
    """
    text, name = text_of(path), str(path)
    is_json = Path(path).suffix.lower() == ".json"
    # Not splitlines: a label may hold the rarer separators of Unicode.
    labels = _from_json(name, text) if is_json else [line.removesuffix("\r") for line in text.split("\n")]
    if not is_json and labels[-1] == "":
        labels.pop()
    sizes.TOKENS.check(len(labels), name, "leave out what nobody has")
    if not labels:
        raise DataError(f"{name}: there is no label in it; give one label per line")
    what, first = "entry" if is_json else "line", dict[str, int]()
    for number, label in enumerate(labels, start=1):
        if not label.strip():
            raise DataError(f"{name}: {what} {number} is empty; every token has a label")
        if label in first:
            raise DataError(f"{name}: {what}s {first[label]} and {number} are both {label!r}; labels are distinct")
        first[label] = number
    return Vocabulary(labels)


def _from_json(name: str, text: str) -> list[str]:
    document = parse_json(text, name)
    if not isinstance(document, list):
        raise FormatError(f"{name}: holds a {type(document).__name__}; give a list of labels")
    labels = [entry.get("topic_id") if isinstance(entry, dict) else entry for entry in document]
    for number, label in enumerate(labels, start=1):
        if isinstance(label, bool) or not isinstance(label, str | int):
            raise FormatError(f"{name}: entry {number} is {label!r}; labels are text")
        if isinstance(label, int) and label.bit_length() > 64:
            raise FormatError(f"{name}: entry {number} is a number of more than 64 bits; give such labels as text")
    return [str(label) for label in labels]
