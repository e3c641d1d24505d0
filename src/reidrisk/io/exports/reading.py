"""Reading: what somebody says of an export, so that it need not be guessed."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import field_validator

from reidrisk.base.specs import OneOf, Spec
from reidrisk.records.registry import layouts

Layout = Annotated[str, OneOf(layouts)]
"""One of a kind of records: ``log``, ``people``, ``lists``, ``vectors``; of traces ``wide`` or ``long``."""

NONE = "none"  # what stands for a column that is not to be used, although one would be guessed

_DELIMITERS = {"tab": "\t", "\\t": "\t", "semicolon": ";", "comma": ",", "bar": "|", "blank": " ", "blanks": " "}
_METRES = {"m": 1.0, "km": 1000.0}
_GRID = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(m|km)\s*")


class Reading(Spec):
    """How to read an export. Default: columns, layout and dialect are guessed, and the guess is said.

    ``user``, ``time``, ``items`` and ``amount`` name columns, in any case; ``"none"`` does without one that would be
    guessed, and ``"a=b"`` names it ``a`` in the first of two tables and ``b`` in the second. Several ``items`` are one
    token together, or with ``channels`` one token each. ``every`` is the period of traces made of a log. ``columns``
    are the names of a file without a header, or the attributes to use, each with its kind if that is to be said
    (``"age=number"``). ``dates`` tells whether day, month or year comes first where the dates do not. ``grid`` is the
    width of the cells that coordinates become, such as ``"500m"``. ``merge_case`` takes labels that differ only in case
    or blanks for one, ``skip_bad_rows`` leaves rows out that cannot be read. ``keep`` are further columns of a log, to
    split it by.

    >>> Reading(user="customer", items="category", columns="age=number,sex").columns
    ('age=number', 'sex')
    >>> Reading(grid="1 km").cell_metres
    1000.0
    """

    user: str | None = None
    time: str | None = None
    items: tuple[str, ...] = ()
    channels: bool = False
    every: str | float | None = None
    amount: str | None = None
    layout: Layout | None = None
    columns: tuple[str, ...] = ()
    delimiter: str | None = None
    comment: str | None = None
    merge_case: bool = False
    skip_bad_rows: bool = False
    grid: str | None = None
    dates: Literal["day-first", "month-first", "year-first"] | None = None
    keep: tuple[str, ...] = ()

    @field_validator("items", "keep", mode="before")
    @classmethod
    def _one_item(cls, items: Any) -> Any:
        return (items,) if isinstance(items, str) else items

    @field_validator("columns", mode="before")
    @classmethod
    def _listed(cls, columns: Any) -> Any:
        if isinstance(columns, dict):
            return tuple(f"{name}={kind}" for name, kind in columns.items())
        return tuple(part.strip() for part in columns.split(",")) if isinstance(columns, str) else columns

    @field_validator("columns", "items", "keep")
    @classmethod
    def _named(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if "" in names or len(set(names)) < len(names):
            raise ValueError("must be different names, none of them empty")
        return names

    @field_validator("every")
    @classmethod
    def _period(cls, every: str | float | None) -> str | float | None:
        if isinstance(every, str) and every not in ("day", "week", "month"):
            try:
                every = float(every)
            except ValueError:
                raise ValueError("must be a day, a week, a month or a number of units of time") from None
        if isinstance(every, int | float) and not 0.0 < every < float("inf"):
            raise ValueError("must be a day, a week, a month or a number of units of time")
        return every

    @field_validator("delimiter")
    @classmethod
    def _character(cls, delimiter: str | None) -> str | None:
        found = _DELIMITERS.get(delimiter or "", delimiter)
        if found is not None and (len(found) != 1 or found in '"\r\n' or not found.isascii()):
            raise ValueError("must be one character such as ';', or tab, or blanks")
        return found

    @field_validator("comment")
    @classmethod
    def _prefix(cls, comment: str | None) -> str | None:
        if comment is not None and not comment.strip():
            raise ValueError("must be what lines to leave out begin with, such as #")
        return comment

    @field_validator("grid")
    @classmethod
    def _width(cls, grid: str | None) -> str | None:
        if grid is not None and not ((found := _GRID.fullmatch(grid)) and float(found[1]) > 0.0):
            raise ValueError("must be a width such as 500m or 2km")
        return grid

    @property
    def cell_metres(self) -> float | None:
        """The width of the cells of the grid."""
        found = None if self.grid is None else _GRID.fullmatch(self.grid)
        return None if found is None else float(found[1]) * _METRES[found[2]]

    def of_table(self, side: int) -> Self:
        """Return what is said of the first (0) or the second (1) of two tables: each name ``a=b`` is one of them."""

        def chosen(name: str | None) -> str | None:
            return name if name is None or "=" not in name else name.split("=", 1)[side]

        named = {field: chosen(getattr(self, field)) for field in ("user", "time", "amount")}
        return self.model_copy(update=named | {"items": tuple(str(chosen(item)) for item in self.items)})
