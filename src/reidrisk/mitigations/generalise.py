"""Fewer and coarser attributes: leave columns out, or merge values of a column."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from reidrisk.base import DataError, Floats, Ints, OptionError, is_number, is_whole
from reidrisk.mitigations.base import Mitigation, Side
from reidrisk.mitigations.registry import register
from reidrisk.mitigations.rows import masked
from reidrisk.records import Attributes, Bags, Case, Traces

Coarser = float | str | Mapping[str, str]
"""The width of bins of numbers, how much of a code stays (``2`` or ``"first 2 digits"``), or parents of values."""
_FIRST = re.compile(r"first (\d+)( [a-z]+)?")
_BINS = (20, 8, 3)  # limit: of a column of numbers, from mild to strong
_LETTERS = (1, 2, 3)  # limit: of a code, that go


@register(kinds=(Attributes, Bags, Traces))
@dataclass(frozen=True)
class DropColumns(Mitigation):
    """Leave these columns out of what is released; of a log, those that are not read as user, time or item.

    >>> people = Attributes({"age": [31, 40], "sex": ["f", "m"]})
    >>> DropColumns(["age"]).apply(Case(people, people, None)).queries.tokens.tolist()
    [[-1, 2], [-1, 3]]
    """

    names: Sequence[str]

    def __post_init__(self) -> None:
        if (
            isinstance(self.names, str)
            or not self.names
            or not all(isinstance(name, str) and name for name in self.names)
        ):
            raise OptionError(f"names are those of at least one column, in a list, not {self.names!r}")
        object.__setattr__(self, "names", tuple(self.names))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the change that leaves out the columns of a list with commas."""
        return cls([name.strip() for name in text.split(",")])

    @property
    def text(self) -> str:
        """The change as a text."""
        return f"{self.name}:{','.join(self.names)}"

    def check(self, case: Any, seed: int, side: str) -> None:
        """Refuse columns that are not there, and leaving out all of them."""
        super().check(case, seed, side)
        table = case.targets if side == "targets" else case.queries
        spare = () if table.raw is None else table.raw.names
        used = [name for name in self.names if name not in spare or name in getattr(table, "names", ())]
        if used and not isinstance(table, Attributes):
            raise DataError(f"{self.text}: the released file has no column {used[0]!r}")
        if used and len(table.places(used)) == table.n_epochs:
            raise DataError(f"{self.text} leaves out every column, so that nothing is released; keep one at least")

    @classmethod
    def usual(cls, case: Case) -> tuple[Self, ...]:
        """Return without the column that tells most by itself, without the two that do, and without half of them."""
        if not isinstance(case.queries, Attributes):
            return ()
        order = _by_entropy(case.queries)
        return tuple(cls(order[:n]) for n in dict.fromkeys((1, 2, len(order) // 2)) if 0 < n < len(order))

    @classmethod
    def ladder(cls, case: Case) -> tuple[Self, ...]:
        """Return one column after the other left out, the one that tells most by itself first."""
        if not isinstance(case.queries, Attributes):
            return ()
        order = _by_entropy(case.queries)
        return tuple(cls(order[:n]) for n in range(1, len(order)))

    def _changed(self, table: Any, learnt: Any, rng: np.random.Generator) -> Any:
        left = None if table.raw is None else table.raw.without(tuple(self.names))
        if isinstance(table, Attributes):
            kept = np.ones(table.n_epochs, dtype=np.bool_)
            kept[table.places([name for name in self.names if name in table.names])] = False
            table = masked(table, np.broadcast_to(kept, table.tokens.shape))
        return table.with_raw(left)


@register(kinds=(Attributes,))
@dataclass(frozen=True)
class Generalise(Mitigation):
    """Merge values of columns: numbers into bins, codes that begin alike, categories with one parent.

    ``columns`` says how, by name: the width of the bins of a column of numbers, which begin at its multiples; how many
    letters stay of a ``"prefix"`` code, as a number or as ``"first 2 digits"``; or a mapping from values to their
    parents, for any column. Merged values are all shown as the first of them, in the order of the column. An attacker
    sees what was done, and does the same.

    >>> people = Attributes({"age": [31, 34, 40], "town": ["Ulm", "Bonn", "Ulm"]})
    >>> case = Generalise({"age": 10}).apply(Case(people, people, None))
    >>> [case.queries.vocabulary.labels[token] for token in case.queries.tokens[:, 0]]
    ['age=31', 'age=31', 'age=40']
    """

    columns: Mapping[str, Coarser] = field(hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping) or not self.columns:
            raise OptionError(f"columns say by name how each is generalised, not {self.columns!r}")
        for name, how in self.columns.items():
            number = how if isinstance(how, Mapping) else _number(how)
            if not isinstance(number, Mapping) and (not is_number(number) or not 0 < number < np.inf):
                what = "a width of bins or a number of letters above 0, or a mapping to parents"
                raise OptionError(f"column {name!r} is generalised by {what}, not {how!r}")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the change of a text such as ``"age=10,postcode=2"``."""
        given: dict[str, Coarser] = {}
        for part in text.split(","):
            name, equals, value = part.rpartition("=")
            try:
                given[name.strip()] = value.strip() if _FIRST.fullmatch(value.strip()) else float(value)
            except ValueError:
                equals = ""
            if not equals or not name.strip():
                raise OptionError(f"{part.strip()!r} is no column and number; write generalise:age=10,postcode=2")
        return cls(given)

    @property
    def text(self) -> str:
        """The change as a text; a mapping is named by its number of parents."""
        return f"{self.name}:{','.join(f'{name}={_shown(how)}' for name, how in self.columns.items())}"

    def within(self, trial: Any, case: Case) -> Self:
        """Return the same with what stays of codes in words: first letters, or first digits."""
        held = {} if not isinstance(case.queries, Attributes) else {one.name: one for one in case.queries.columns}
        codes = {name for name, how in self.columns.items() if name in held and held[name].kind == "prefix"}
        how = {name: _first(held[name], one) if name in codes else one for name, one in self.columns.items()}
        return type(self)(how)

    def check(self, case: Any, seed: int, side: str) -> None:
        """Refuse columns that are not there, or of another kind, and mappings that miss values."""
        super().check(case, seed, side)
        self._learn(case, "both")

    @classmethod
    def usual(cls, case: Case) -> tuple[Self, ...]:
        """Return three grids of all numbers and codes, of about 20, 8 and 3 bins and 1, 2 and 3 letters fewer."""
        return tuple(
            cls(how) for how in (_grid(case.queries, *one) for one in zip(_BINS, _LETTERS, strict=True)) if how
        )

    @classmethod
    def ladder(cls, case: Case) -> tuple[Self, ...]:
        """Return grids of all numbers and codes, from fine to coarse."""
        steps = zip((50, 30, 20, 12, 8, 5, 3, 2), (1, 1, 1, 2, 2, 3, 4, 5), strict=True)
        return tuple(cls(how) for how in (_grid(case.queries, *one) for one in steps) if how)

    def _repeatable(self) -> bool:
        return True

    def _learn(self, case: Case, side: Side) -> Ints:
        """Return what each token is called now."""
        table: Attributes = case.queries
        to = np.arange(table.n_tokens)
        table.places(list(self.columns))
        for place, column in enumerate(table.columns):
            if column.name in self.columns:
                group = _groups(column, self.columns[column.name])
                _, first, which = np.unique(group, return_index=True, return_inverse=True)
                to[table.start[place] : table.start[place] + len(column)] = table.start[place] + first[which]
        return to

    def _changed(self, table: Any, learnt: Ints, rng: np.random.Generator) -> Any:
        return table.with_tokens(np.where(table.observed, learnt[table.tokens], -1))


def _groups(column: Any, how: Coarser) -> Any:
    """Return which values of a column are merged: those with the same answer."""
    if isinstance(how, Mapping):
        missing = [label for label in column.labels if label not in how]
        if missing:
            named = ", ".join(map(repr, missing[:3])) + (", …" if len(missing) > 3 else "")
            known = f"column {column.name!r}: the mapping misses {len(missing):,} of {len(column):,} values, {named}"
            raise DataError(f"{known}; say the parent of each, or that it is its own")
        return np.array([how[label] for label in column.labels])
    number = _number(how)
    if column.kind == "number" and not isinstance(how, str):
        return np.floor(column.numbers / number)
    if column.kind == "prefix" and is_whole(int(number)) and float(number).is_integer():
        return np.array([label[: int(number)] for label in column.labels])
    if column.kind == "prefix":
        raise DataError(f"column {column.name!r} keeps a whole number of letters, not {how}")
    if column.kind == "number":
        raise DataError(f"column {column.name!r} holds numbers, whose bins have a width; it has no {how}")
    raise DataError(f"column {column.name!r} holds categories, which have no width; give a mapping to their parents")


def _grid(table: Attributes, bins: int, letters: int) -> dict[str, Coarser]:
    """Return a way to generalise all numbers into about that many bins, and to cut this many letters from codes."""
    found: dict[str, Coarser] = {}
    for place, column in enumerate(table.columns):
        held = table.tokens[:, place]
        values = held[held >= 0] - table.start[place]
        if column.kind == "number" and column.numbers is not None and len(values):
            low, high = np.quantile(column.numbers[values], (0.05, 0.95))
            width = _round((high - low) / bins)
            if width > 0.0 and len(np.unique(np.floor(column.numbers / width))) < len(column):
                found[column.name] = width
        elif column.kind == "prefix":
            longest = max((len(label) for label in column.labels), default=0)
            if longest > 1:
                found[column.name] = _first(column, max(longest - letters, 1))
    return found


def _number(how: float | str) -> float:
    """Return the number in ``"first 2 digits"``, or the number itself; 0 where it is none."""
    if not isinstance(how, str):
        return how
    found = _FIRST.fullmatch(how)
    return 0.0 if found is None else float(found[1])


def _first(column: Any, how: Coarser) -> Coarser:
    """Return in words how much of a code stays."""
    if isinstance(how, Mapping):
        return how
    kind = "digit" if all(label.isdigit() for label in column.labels) else "letter"
    number = _number(how)
    return f"first {number:g} {kind}{'' if number == 1.0 else 's'}"


def _round(width: float) -> float:
    """Return the next width of one digit."""
    if width <= 0.0:
        return 0.0
    unit = 10.0 ** np.floor(np.log10(width))
    return float(np.ceil(width / unit - 1e-9) * unit)


def _by_entropy(table: Attributes) -> list[str]:
    """Return the names of the columns, the one whose values tell people apart best first."""
    entropy: Floats = np.zeros(table.n_epochs)
    for place in range(table.n_epochs):
        held = table.tokens[:, place]
        share = np.bincount(held[held >= 0] - table.start[place]) / max(len(held), 1)
        entropy[place] = -np.sum(share[share > 0] * np.log(share[share > 0]))
    return [table.names[place] for place in np.argsort(-entropy, kind="stable")]


def _shown(how: Coarser) -> str:
    if isinstance(how, str):
        return how
    return f"{len(set(how.values()))} parents" if isinstance(how, Mapping) else f"{how:g}"
