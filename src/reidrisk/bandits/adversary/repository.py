"""The repository: what the adversary gathered about people, cell by cell, kept and added to (galozy, Section 3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from reidrisk.bandits.linkage.measure import Auxiliary
from reidrisk.base import Floats, FormatError, Ints


@dataclass
class Repository:
    """Cells of people's transition matrices that are known from elsewhere: person, then cell number, then value.

    >>> known = Repository()
    >>> known.add("ann", {3: 0.25})
    >>> known.add("ann", {0: 0.75, 3: 0.2})
    >>> known.cells
    {'ann': {3: 0.2, 0: 0.75}}
    """

    cells: dict[str, dict[int, float]] = field(default_factory=dict)

    def add(self, person: str, cells: Mapping[int, float]) -> None:
        """Add cells of a person; what was known before is replaced where it differs."""
        self.cells.setdefault(person, {}).update({int(cell): float(value) for cell, value in cells.items()})

    def add_drawn(self, people: tuple[str, ...], known: Auxiliary) -> None:
        """Add the cells of the first draw of each person."""
        n = len(people)
        for user, cells, values in zip(known.user[:n], known.cells[:n], known.values[:n], strict=True):
            self.add(people[user], dict(zip(cells.tolist(), values.tolist(), strict=True)))

    def arrays(self, person: str) -> tuple[Ints, Floats]:
        """Return the known cells of a person in ascending order, and their values."""
        found = sorted(self.cells[person].items())
        return np.array([cell for cell, _ in found], dtype=np.int64), np.array([value for _, value in found])

    def write(self, path: Path) -> None:
        """Write it as JSON; an interrupted run leaves the old file or none."""
        from reidrisk.io.atomic import write_text

        write_text(json.dumps(self.cells), path)

    @classmethod
    def read(cls, path: Path) -> Repository:
        """Read what :meth:`write` wrote."""
        from reidrisk.io.documents import parse_json
        from reidrisk.io.tables import existing_file

        try:
            told = parse_json(existing_file(path).read_text(encoding="utf-8"), str(path), "a repository of cells")
            return cls({str(who): {int(c): float(v) for c, v in cells.items()} for who, cells in told.items()})
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise FormatError(f"{path} is no repository of cells; give another file, or let one be made") from error
