"""Taxonomies: the parent of each label, read from a file, and the root that it leads to."""

from collections.abc import Mapping
from pathlib import Path

from reidrisk.base.errors import DataError, FormatError
from reidrisk.io.atomic import PathLike
from reidrisk.io.documents import parse_json
from reidrisk.io.tables.opening import text_of

_SEPARATORS = ("\t", ";", ",")
_HEADINGS = {"item", "label", "child", "product", "topic", "category", "code"}


def read_taxonomy(path: PathLike) -> dict[str, str]:
    r"""Read the parent of each label.

    A file whose name ends in ``.json`` holds an object from labels to parents; any other is UTF-8 text, a label and its
    parent per line, separated by a tab, a semicolon or a comma (the last one of the line). A first line whose first
    word is a heading, such as ``item``, is left out.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "kinds.csv"
    >>> _ = file.write_text("item,parent\nrum,spirits\nspirits,drinks\n")
    >>> read_taxonomy(file)
    {'rum': 'spirits', 'spirits': 'drinks'}
    """
    text, name = text_of(path), str(path)
    pairs = _from_json(name, text) if Path(path).suffix.lower() == ".json" else _from_lines(name, text)
    parents: dict[str, str] = {}
    for label, parent in pairs:
        if parents.get(label, parent) != parent:
            raise DataError(f"{name}: {label!r} has two parents, {parents[label]!r} and {parent!r}; say one")
        parents[label] = parent
    if not parents:
        raise DataError(f"{name}: there is no label in it; give a label and its parent per line")
    roots(parents)  # which refuses labels that are above themselves
    return parents


def roots(parents: Mapping[str, str]) -> dict[str, str]:
    """Return the root above each name that occurs; one without a parent, or that is its own, is a root.

    >>> roots({"rum": "spirits", "spirits": "drinks", "tea": "tea"})
    {'rum': 'drinks', 'spirits': 'drinks', 'drinks': 'drinks', 'tea': 'tea'}
    """
    found: dict[str, str] = {}
    for label in parents:
        above, now = [label], label
        while now not in found and parents.get(now, now) != now:
            now = parents[now]
            if now in above:
                raise DataError(f"in the taxonomy, {label!r} leads to {now!r} again and again; break the circle")
            above.append(now)
        found |= dict.fromkeys(above, found.get(now, now))
    return found


def _from_json(name: str, text: str) -> list[tuple[str, str]]:
    found = parse_json(text, name, "a taxonomy")
    if not isinstance(found, dict) or not all(isinstance(parent, str) for parent in found.values()):
        raise FormatError(f"{name}: a taxonomy in JSON is an object from labels to the names of their parents")
    return list(found.items())


def _from_lines(name: str, text: str) -> list[tuple[str, str]]:
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    pairs = []
    for number, line in lines:
        separator = next((one for one in _SEPARATORS if one in line), None)
        label, _, parent = line.rpartition(separator) if separator else ("", "", "")
        label, parent = (cell.strip().strip('"').strip() for cell in (label, parent))
        if not label or not parent:
            raise FormatError(f"{name}: line {number} has no label and parent; separate them by a tab, ';' or ','")
        pairs.append((label, parent))
    return pairs[1:] if pairs and pairs[0][0].lower() in _HEADINGS else pairs
