"""How large anything may get: one bound for each kind of size, refused before memory is taken.

A file of a few bytes can ask for terabytes: a compressed column of zeros, a table with a new period in every row, a
number with thirty digits. Each of these is compared with a bound here first. The bounds are far above the normal size
(10 million people x 8 periods) and can be raised, or lowered, by environment variables.
"""

import os
from dataclasses import dataclass

from reidrisk.base.errors import OptionError, SizeError


@dataclass(frozen=True)
class SizeLimit:
    """A bound on one kind of size; an environment variable may hold another one.

    >>> people = SizeLimit("REIDRISK_MAX_PEOPLE", 1000, "people")
    >>> people.check(10**30, "survey.csv", "leave some out")
    Traceback (most recent call last):
        ...
    reidrisk.base.errors.SizeError: survey.csv: 1e30 people are more than the 1,000 that are allowed; leave some out, or
    raise the bound with the environment variable REIDRISK_MAX_PEOPLE
    """

    variable: str
    default: int
    unit: str

    @property
    def most(self) -> int:
        """The bound that holds now."""
        given = os.environ.get(self.variable)
        if not given:
            return self.default
        if not (given.isascii() and given.isdecimal() and len(given) <= 18 and int(given) > 0):
            raise OptionError(f"the environment variable {self.variable} is {given!r}; give a whole number above 0")
        return int(given)

    def check(self, figure: int, what: str, do: str) -> None:
        """Refuse ``figure`` if it is beyond the bound: ``what`` asks for it, and ``do`` says what helps."""
        most = self.most
        if figure > most:
            raise SizeError(
                f"{what}: {_written(figure)} {self.unit} are more than the {most:,} that are allowed; {do}, or raise "
                f"the bound with the environment variable {self.variable}"
            )


def _written(figure: int) -> str:
    """Write a count with commas, or as a power of ten where nobody would count its digits."""
    figure = int(figure)
    if figure < 10**18:
        return f"{figure:,}"
    # Not by way of its digits: Python refuses to write very long numbers.
    tens = int((figure.bit_length() - 1) * 0.30102999566398)
    tens += figure >= 10 ** (tens + 1)
    return f"{'' if figure == 10**tens else 'over '}1e{tens}"


CELLS = SizeLimit("REIDRISK_MAX_CELLS", 1_000_000_000, "cells")
"""People x periods of a table, times the size of a set where it holds sets; rows x columns that are read."""

NUMBERS = SizeLimit("REIDRISK_MAX_NUMBERS", 250_000_000, "numbers")
"""Entries of one table of real numbers: a channel, transition matrices, a model; 2 GB."""

COLUMNS = SizeLimit("REIDRISK_MAX_COLUMNS", 1_000_000, "columns")  # columns of a file

TOKENS = SizeLimit("REIDRISK_MAX_TOKENS", 10_000_000, "possible tokens")
"""Size of a vocabulary: attacks keep a few numbers for every token."""

OUTPUTS = SizeLimit("REIDRISK_MAX_OUTPUTS", 100_000_000, "rows or columns")
"""Either side of a sparse matrix: bounds keep a few numbers for each."""

BYTES = SizeLimit("REIDRISK_MAX_BYTES", 4 * 1024**3, "bytes")  # what is read into memory from one file, decompressed

USERS = SizeLimit("REIDRISK_MAX_USERS", 1_000_000_000, "users")  # users drawn from a model or a population

RUNS = SizeLimit("REIDRISK_MAX_RUNS", 1_000_000, "runs")  # repetitions of a simulation: runs, trials, draws

STEPS = SizeLimit("REIDRISK_MAX_STEPS", 1_000_000_000, "steps")  # steps of one simulation or of one fit
