"""Equivalence classes: people whose known columns are the same, and how likely one of them is told from the others."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from reidrisk.base import Array, DataError, Ints, Note, Result, Spoken, between_0_and_1
from reidrisk.base.plain import MEMORY
from reidrisk.records import Attributes


@dataclass(frozen=True, eq=False)
class Journalist(Result):
    """What somebody finds who has a register of a whole population, and does not know who is in the table.

    A class of f people in the table has F >= f in the population. The risk of each of them is 1 / F.
    """

    n: int  # people in the population
    k: int  # smallest F of a class of the table
    highest: float  # 1 / k: of whom the attacker chooses to look for
    mean: float
    """The larger of (sum of f / F) / n, from the table to the register, and classes / (sum of F), the other way."""
    marketer: float  # (sum of f / F) / n: the share of the table that is named rightly, if everybody is
    unique: float  # share of people of the table who are alone in the population
    at_risk: float  # share of people whose risk is above the threshold
    absent: int = 0  # people of the table who cannot be in the population; they are counted as if they were


@dataclass(frozen=True, eq=False)
class Classes(Spoken):
    """Equivalence classes of a table over some of its columns, for an attacker who knows that a person is in it.

    This is the prosecutor's risk: 1 / f for a person in a class of f. ``journalist`` is that of somebody who does not
    know who is in the table, where a population was given. All numbers are exact for these people.

    >>> from reidrisk.records import Attributes
    >>> found = classes(Attributes({"age": [30, 30, 30, 41], "sex": ["f", "f", "m", "m"]}))
    >>> Classes.from_json(found.to_json()) == found
    True
    """

    columns: tuple[str, ...]
    n: int
    k: int  # size of the smallest class: the table is k-anonymous over these columns
    n_classes: int
    unique: float  # share of people who are alone in their class
    highest: float  # 1 / k: of whom the attacker chooses to look for
    mean: float
    """classes / n: prosecutor's risk on average, and the share of people named rightly if all are (marketer's)."""
    at_risk: float  # share of people whose risk, 1 / f, is above the threshold
    threshold: float
    journalist: Journalist | None = None
    notes: tuple[Note, ...] = ()
    sizes: Ints | None = field(default=None, repr=False, metadata=MEMORY)
    """(n,) Size of each person's class; stays in memory."""


def classes(
    table: Attributes,
    columns: Sequence[str] | None = None,
    population: Attributes | None = None,
    threshold: float = 0.2,
) -> Classes:
    r"""Count the equivalence classes of a table: groups of people with the same values in the columns known.

    With classes j of f_j people, n in all, and F_j of them in the population (El Emam and Dankar 2008; Dankar and El
    Emam 2010; the words are also those of ARX and sdcMicro),

        k               min f_j
        prosecutor      highest 1 / k        mean (1/n) sum f_j (1 / f_j) = classes / n
        journalist      highest 1 / min F_j  mean max((1/n) sum f_j / F_j, classes / sum F_j)
        marketer        classes / n, or with a population (1/n) sum f_j / F_j

    ``at_risk`` is the share of people whose risk is above ``threshold``: the default 0.2 counts classes of fewer than
    five. ``columns`` are what the attacker knows; default: all. Values must be equal, however close they are: an
    attacker who allows for errors is :class:`reidrisk.attacks.FellegiSunter`. An empty cell is a value of its own,
    which only equals other empty cells.

    >>> found = classes(Attributes({"age": [30, 30, 30, 41], "sex": ["f", "f", "m", "m"]}), ["age"])
    >>> found.k, found.n_classes, found.mean, found.unique
    (1, 2, 0.5, 0.25)
    >>> people = Attributes({"age": [30] * 8 + [41] * 4})
    >>> classes(Attributes({"age": [30, 30, 30, 41]}), population=people).journalist.highest
    0.25
    """
    for given in (table, *([] if population is None else [population])):
        if not isinstance(given, Attributes):
            raise DataError(f"equivalence classes are of Attributes, not of {type(given).__name__}")
    between_0_and_1("threshold", threshold)
    asked = table.only(table.names if columns is None else columns)
    n = len(asked)
    sizes = asked.class_sizes()
    n_classes = _rounded_sum(1.0 / sizes)
    notes = []
    gaps = int((asked.tokens < 0).any(axis=1).sum())
    if gaps:
        notes.append(Note("empty-is-a-value", n=gaps, of=n))
    journalist = None if population is None else _journalist(asked, sizes, population, threshold)
    if journalist is not None and journalist.absent:
        notes.append(Note("not-in-population", n=journalist.absent, of=n))
    sizes.flags.writeable = False
    k = int(sizes.min())
    return Classes(
        columns=asked.names,
        n=n,
        k=k,
        n_classes=n_classes,
        unique=float((sizes == 1).mean()),
        highest=1.0 / k,
        mean=n_classes / n,
        at_risk=float((1.0 / sizes > threshold).mean()),
        threshold=float(threshold),
        journalist=journalist,
        notes=tuple(notes),
        sizes=sizes,
    )


def _journalist(asked: Attributes, sizes: Ints, population: Attributes, threshold: float) -> Journalist:
    import polars as pl

    missing = [name for name in asked.names if name not in population.names]
    if missing:
        raise DataError(f"the population has no column {missing[0]!r}; leave it out of the columns, or read it too")
    everybody, here = Attributes.together(population.only(asked.names), asked)
    keys = here.keys()
    counts = everybody.keys().group_by(keys.columns).agg(pl.len().alias("in population"))
    joined = keys.join(counts, on=keys.columns, how="left", maintain_order="left")
    found = joined["in population"].fill_null(0).to_numpy().astype(np.int64)
    # A class with fewer people in the population than in the table: the register is not of everybody.
    absent = _rounded_sum(np.maximum(sizes - found, 0) / sizes)
    among = np.maximum(found, sizes)
    marketer, n_classes = float((1.0 / among).mean()), _rounded_sum(1.0 / sizes)
    return Journalist(
        n=len(everybody),
        k=int(among.min()),
        highest=1.0 / int(among.min()),
        mean=max(marketer, n_classes / _rounded_sum(among / sizes)),
        marketer=marketer,
        unique=float((among == 1).mean()),
        at_risk=float((1.0 / among > threshold).mean()),
        absent=absent,
    )


def _rounded_sum(parts: Array) -> int:
    """Add up over people what adds up to a whole number in every class."""
    return int(np.rint(parts.sum()))
