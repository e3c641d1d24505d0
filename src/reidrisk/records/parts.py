"""What records are made of, part by part: vectors, visits, events; the parts of one record lie side by side."""

import numpy as np

from reidrisk.base import Ints


class InParts:
    """Parts of records: those from ``start[i]`` to ``start[i + 1]`` are of record i."""

    start: Ints

    @property
    def per_record(self) -> Ints:
        """How many parts each record has."""
        return np.diff(self.start)

    @property
    def owner(self) -> Ints:
        """Row of the record that each part is of, rising."""
        return np.repeat(np.arange(len(self.start) - 1), self.per_record)

    def places(self, rows: Ints | slice) -> tuple[Ints, Ints]:
        """Return where the parts of the chosen records are, in that order, and where those of each then begin."""
        chosen = np.arange(len(self.start) - 1)[rows]
        many = self.per_record[chosen]
        start = np.concatenate(([0], np.cumsum(many)))
        return np.arange(start[-1]) + np.repeat(self.start[chosen] - start[:-1], many), start
