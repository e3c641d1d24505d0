"""Which data attacks are tried on: a manifest says where each set comes from, its checksums, and how to read it."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, field_validator

from reidrisk.base import FormatError, OptionError, ReidRiskError, reason, stream
from reidrisk.base.frames import coded, columns_of
from reidrisk.base.specs import Spec
from reidrisk.io.tables import text_of
from reidrisk.records import Events


class DataSet(Spec):
    """One data set: who publishes it (``origin``), under which ``licence``, and how to read it.

    ``files`` are paths with the SHA-256 of each, of its content where it is packed by gzip; empty = not known.
    ``user``, ``items``, ``time`` and ``amount`` are columns as for :class:`reidrisk.records.Events`; ``session`` says
    which events belong together, and stay so in a random split. ``people`` cuts out a share of the people in the order
    of their ids. Nothing was chosen on data that is ``held_back``.
    """

    name: str = Field(min_length=1)
    what: str = ""
    files: Mapping[str, str] = {}
    format: str = "csv"
    user: str = "user"
    items: tuple[str, ...] = ("item",)
    time: str | None = None
    amount: str | None = None
    session: str | None = None
    people: tuple[float, float] = (0.0, 1.0)
    origin: str = ""
    licence: str = ""
    held_back: bool = False

    @field_validator("people")
    @classmethod
    def _share(cls, people: tuple[float, float]) -> tuple[float, float]:
        if not 0.0 <= people[0] < people[1] <= 1.0:
            raise ValueError("must be two rising shares from 0 to 1")
        return people

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        named = (self.user, *self.items, self.time, self.amount, self.session)
        return tuple(dict.fromkeys(name for name in named if name is not None))

    def events(self, frame: Any, users: int, seed: int) -> Events:
        """Return the log of a frame; of more than ``users`` people, those drawn with the seed."""
        import pyarrow as pa

        cells = columns_of(frame, self.columns)
        who = coded(cells[self.user], self.user, fractions=False)
        first, last = (round(share * len(who.values)) for share in self.people)
        people = np.arange(first, last)
        if users < len(people):
            people = stream(seed, "bench: people").choice(people, size=users, replace=False)
        chosen = np.zeros(len(who.values) + 1, dtype=bool)  # the last one is for rows of nobody, -1
        chosen[people] = True
        kept = pa.table(cells).filter(pa.array(chosen[who.codes]))
        together = () if self.session is None else (self.session,)
        return Events(kept, user=self.user, items=self.items, time=self.time, amount=self.amount, keep=together)


@dataclass(frozen=True)
class Manifest:
    """Data sets, and the folder in which their files are looked for."""

    sets: tuple[DataSet, ...]
    folder: Path = Path()

    def only(self, names: Sequence[str]) -> Manifest:
        """Return the data sets of these names alone, or of all where none is given."""
        known = [data.name for data in self.sets]
        for name in names:
            if name not in known:
                raise OptionError(f"there is no data set {name!r} in the manifest; choose from {', '.join(known)}")
        return Manifest(tuple(data for data in self.sets if not names or data.name in names), self.folder)


EMBEDDED = Manifest(
    (DataSet(name="published", what="simulated people of the published population", format="published"),)
)
"""What needs no file: two sites over the published population."""


def read_manifest(path: str | Path) -> Manifest:
    """Read a TOML file with a table for each data set, ``[data.NAME]``, whose keys are the fields of :class:`DataSet`.

    Paths are relative to ``folder``, a key at the top in which ``$VARIABLE`` stands for its value; default: the folder
    of the manifest.
    """
    try:
        found = tomllib.loads(text_of(path))
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{path}: this is no TOML: {reason(error)}") from error
    sets, folder = found.pop("data", None), found.pop("folder", "")
    if not isinstance(sets, dict) or not sets or not isinstance(folder, str) or found:
        other = f", and {next(iter(found))!r} is none of its keys" if found else ""
        raise FormatError(f"{path}: a manifest has one table [data.NAME] for each data set and a text folder{other}")
    made = []
    for name, fields in sets.items():
        try:
            made.append(DataSet.from_dict({"name": name} | (fields if isinstance(fields, dict) else {"": fields})))
        except ReidRiskError as error:
            raise FormatError(f"{path}: data.{name}: {error}") from error
    return Manifest(tuple(made), Path(path).parent / os.path.expandvars(folder))
