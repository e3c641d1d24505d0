"""What an attacker knows of rows of attributes: some of their columns, with errors in the column's own values."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from reidrisk.base import DataError, Ints, stream
from reidrisk.records import Attributes


def known_columns(
    table: Attributes, names: Sequence[str], errors: float, draws: int, seed: int
) -> tuple[Attributes, Attributes, Ints]:
    """Return these columns of the table, the rows to look up in them, and whose each is.

    People with none of these columns are not looked up. Each cell is that of somebody else with probability ``errors``.

    >>> people = Attributes({"age": [31, 40, None], "sex": ["f", "m", "m"]})
    >>> targets, queries, rows = known_columns(people, ["age"], 0.0, 1, 0)
    >>> queries.tokens.tolist(), rows.tolist()
    ([[0], [1]], [0, 1])
    """
    targets = table.only(names)
    there = np.flatnonzero(targets.observed.any(axis=1))
    if not there.size:
        raise DataError(f"nobody has a value in {', '.join(targets.names)}; choose other columns")
    rows = np.tile(there, draws)
    cells = mistaken(targets, targets.tokens[rows], errors, seed)
    return targets, like(targets, cells, there, draws), rows


def mistaken(
    table: Attributes, cells: npt.NDArray[np.signedinteger], errors: float, seed: int, block: int = 0
) -> npt.NDArray[np.signedinteger]:
    """Put the value of a random person who has one, in the same column, in the place of a share of the cells."""
    if errors == 0.0:
        return cells
    rng = stream(seed, "knows: errors", block)
    told = np.array(cells)
    for place, column in enumerate(table.tokens.T):
        held = column[column >= 0]
        wrong = np.flatnonzero((rng.random(len(told)) < errors) & (told[:, place] >= 0))
        if wrong.size:
            told[wrong, place] = held[rng.integers(0, len(held), len(wrong))]
    return told


def like(table: Attributes, cells: npt.NDArray[np.signedinteger], rows: Ints, draws: int) -> Attributes:
    """Return these cells as attributes of the people in these rows, named where each is asked for once."""
    people = table.take(np.tile(rows, draws)).with_notes(())
    return (people if draws == 1 else people.with_users(None)).with_tokens(cells)
