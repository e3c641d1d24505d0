"""Which columns of a table of people an outsider may know, guessed from their names and contents."""

from typing import Any

import numpy as np

from reidrisk.base import Note
from reidrisk.io.exports import names
from reidrisk.records import Attributes

_UNIQUE = 0.95  # prior: share of different values among those given from which a column of text is an id or free text
_LONG = 30  # prior: characters of a mean value from which a column is free text


def outside(table: Attributes, file: str, named: bool) -> Note:
    """Sort the columns: those an outsider is taken to know, others, and those that nobody is taken to know.

    ``known`` are those whose names are of what others see or look up: age, sex, place, job. Free text, ids and columns
    of one value are ``never`` known, whatever they are called. Where the reader ``named`` the columns, all are known.

    >>> people = Attributes({"age": [31, 40, 31], "answer": [1, 2, 2], "country": ["de", "de", "de"]})
    >>> note = outside(people, "survey.csv", named=False)
    >>> note["known"], note["others"], note["never"]
    (['age'], ['answer'], [['country', 'constant']])
    """
    if named:
        return Note("columns-known-outside", name=file, known=list(table.names), others=[], never=[], guessed=False)
    never: list[list[str]] = []
    known: list[str] = []
    others: list[str] = []
    for place, name in enumerate(table.names):
        why = _never(table, place)
        if why is not None:
            never.append([name, why])
        else:
            (known if names.is_seen_by_others(name) else others).append(name)
    return Note("columns-known-outside", name=file, known=known, others=others, never=never, guessed=True)


def _never(table: Attributes, place: int) -> str | None:
    """Tell why nobody is taken to know a column; ``None`` where somebody may."""
    column: Any = table.columns[place]
    tokens = table.tokens[:, place]
    given = int((tokens >= 0).sum())
    different = len(np.unique(tokens[tokens >= 0]))
    if different <= 1:
        return "constant"
    if names.is_seen_by_others(column.name):
        return None
    if column.kind == "number":
        values = column.numbers
        counted = different == given and bool((values % 1.0 == 0.0).all())
        is_id = counted and (names.is_id(column.name) or float(np.ptp(values)) == different - 1)
        return "id" if is_id else None
    if np.mean([len(label) for label in column.labels]) > _LONG:
        return "text"
    return "id" if different >= _UNIQUE * given else None
