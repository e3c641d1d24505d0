"""AllCells: link to the target that holds the most, and the rarest, of the query's cells, whatever their columns."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations, pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from reidrisk.attacks.base import Records
from reidrisk.attacks.cells import kernels
from reidrisk.attacks.cells.forms import as_text, days_of, forms_of, is_part
from reidrisk.attacks.registry import register
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.base import DataError, each, slices
from reidrisk.base.arrays import Bools, Floats, Ints, Ints32, UInts
from reidrisk.records import Attributes, Bags, RawTable, Traces, Vectors
from reidrisk.search.sparse import SparseDot, SparseRows

Facts = Callable[[slice], tuple[Ints, UInts]]  # from rows to those that say something, and the token of each

_STEPS = 1 << 12  # unit: of the grid of weights
_ALL_PAIRS = 8  # limit: columns of which all pairs are facts; of more, neighbours are
_ROWS = 1 << 18  # limit: rows whose pairs are made at once
_MOVED = 2_000_000  # limit: rows of a file in which days since the first are looked at
_NEVER = 1 << 40  # unit: a day after all others
_HELD = 2_048  # limit: people who hold a token, above which it is not compared: it says little, and takes long
_POWER = 3.0  # prior: of the rarity of a token; the power that found most people in some 25 made-up pairs of tables
_LENGTH = 0.5  # prior: power of a target's number of rows by which its score is divided, as of a cosine
_PART = 0.25  # unit: a letter is in up to four parts of a word


def _seconds(targets: Any) -> Callable[[int], float]:
    raw = getattr(targets, "raw", None)
    columns, rows = (0, 0) if raw is None else (len(raw.columns), len(raw.row))
    looked_up = 0.1 + columns * (0.03 + 6e-7 * rows)
    return lambda n_queries: looked_up + n_queries * (1e-4 + 2e-9 * len(targets))


@register(kinds=(Bags, Traces, Attributes, Vectors), cost=_seconds, default=True, whole=True)
class AllCells(ScoredAttack[Records]):
    """Link to the target that shares the most, and the rarest, of all that stands in the query's rows.

    Cells become tokens by a few canonical forms (:mod:`reidrisk.attacks.cells.forms`), and so do pairs of cells of one
    row, and whole rows. A token that n_i of n targets hold in a column weighs log(n / n_i)^3 / sqrt(r) for a target of
    r rows. A query asks for its tokens in every column, since columns may be called anything; who holds one twice,
    holds it once. The order of rows, and the names of columns, say nothing.

    >>> import pyarrow as pa
    >>> def table(**columns):
    ...     raw = RawTable.of({name: pa.chunked_array([cells]) for name, cells in columns.items()}, np.arange(3), 3)
    ...     return Bags([[1], [1], [1]]).with_raw(raw)
    >>> known, asked = table(price=["12.50", "7.00", "9.10"]), table(cost=["EUR 7", "9,10 EUR", "EUR 12.5"])
    >>> AllCells().fit(known).link(asked).target.tolist()
    [1, 2, 0]
    """

    description = (
        "Compares every cell of every column of both files, whatever the columns are called and however cells are "
        "written, and pairs of cells of one row; what few people have counts for more (our own)."
    )
    one_scale = False
    reads_cells = True
    rehearses = True  # no part of a rehearsal: cut records have no cells of a file
    exact: ClassVar[bool] = False

    @classmethod
    def applies(cls, targets: Records, queries: Records) -> bool:
        """Whether the cells of both files are there."""
        return all(getattr(side, "raw", None) is not None for side in (targets, queries))

    def fit(self, targets: Records) -> Self:
        """Take the cells of the targets; they are looked up once it is known which are asked for."""
        raw = _cells_of(targets)
        if getattr(self, "_read", None) is not raw:
            self._read, self._raw, self._found = raw, self._seen(raw), None
        self._shown: Ints | None = None
        return self

    _found: _Found | None

    def _seen(self, raw: RawTable) -> RawTable:
        """Return the cells, and beside times the days since the person's first: they stay where all dates are moved."""
        return raw if self.exact else with_days_since_first(raw)

    def narrowed(self, rows: Ints) -> Self:
        """Return this attacker, with all it has learnt, looking at these target rows only; its row i is ``rows[i]``."""
        self._refuse_unfitted("_raw")
        chosen = self._chosen(rows, len(self._raw) if self._shown is None else len(self._shown))
        new = copy.copy(self)
        new._shown = chosen if self._shown is None else self._shown[chosen]
        return new

    def facing(self, targets: Records) -> Self:
        """Refuse: how many hold a token is counted over all targets."""
        return self._laid_out(targets)  # type: ignore[no-any-return]

    def _posed(self, queries: Records) -> Posed:
        found, asked = self._looked_up(queries)
        known = found.known if self._shown is None else found.known.take(self._shown)
        return Posed(SparseDot(), known, SparseRows(asked))

    def shared_by(self, queries: Records, target_index: Ints) -> dict[str, float]:
        """Return the share that each column of the targets has of what queries share with these target rows."""
        found, asked = self._looked_up(queries)
        both = asked.multiply(found.known.rows[self._rows_of(target_index)]).tocoo()
        names = self._raw.names
        weight = np.bincount(found.label[both.col], weights=both.data, minlength=len(found.columns))
        total = np.zeros(len(names))
        for columns, part in zip(found.columns, weight, strict=True):
            total[list(columns)] += part / len(columns)
        return dict(zip(names, (total / max(total.sum(), 1.0)).tolist(), strict=True))

    def _rows_of(self, target_index: Ints) -> Ints:
        return target_index if self._shown is None else self._shown[target_index]

    def _looked_up(self, queries: Records) -> tuple[_Found, Any]:
        """Return what was found of the tokens of these queries, or of more, and the queries over that."""
        from scipy import sparse

        self._refuse_unfitted("_raw")
        raw = self._seen(_cells_of(queries))
        owner, token = _tokens(raw, self.exact)
        tokens = np.unique(token)
        found = self._found
        if found is None or not np.isin(tokens, found.tokens, assume_unique=True).all():
            found = self._found = _Found.of(self._raw, tokens, self.exact)
        place = np.searchsorted(found.tokens, token)
        entries = (np.ones(len(owner), dtype=np.int64), (owner, place))
        asked = sparse.csr_array(entries, shape=(len(raw), max(len(found.tokens), 1)))
        return found, sparse.csr_array(asked @ found.columns_of_token)


@register(kinds=(Bags, Traces, Attributes, Vectors), cost=_seconds, default=True, whole=True)
class SameCells(AllCells[Records]):
    """Link as :class:`AllCells` does by cells that say the same alone: each has one token, its most exact form.

    Where many columns are noise, such as the dimensions of vectors, rounded cells agree by chance more often than the
    one exact column that remains.
    """

    description = (
        "Compares every cell of every column of both files, whatever the columns are called and however cells are "
        "written, where both say exactly the same; what few people have counts for more (our own)."
    )
    exact = True


class _Found(NamedTuple):
    """The tokens that were asked for, and what targets hold of them: a column for each, and column of the file.

    Column k of ``known`` is of a token in the columns ``columns[label[k]]`` of the file; ``columns_of_token`` is 1
    where a column is of a token.
    """

    tokens: UInts
    known: SparseRows
    label: Ints
    columns: Sequence[tuple[int, ...]]
    columns_of_token: Any

    @classmethod
    def of(cls, raw: RawTable, tokens: UInts, exact: bool) -> _Found:
        """Look the tokens up in the rows of all targets, and weigh them."""
        from scipy import sparse

        n, asked = len(raw), _Asked(tokens)
        length = np.maximum(raw.per_record, 1).astype(np.float64) ** _LENGTH
        start = np.zeros(n + 1, dtype=np.int64)
        held_by, numbers, labels = [], [], []
        columns: list[tuple[int, ...]] = []
        width = 0
        for which, person, number in _sources(raw, asked, exact):
            holders = kernels.count_holders(person, number, len(tokens))
            kept = np.flatnonzero((holders > 0) & (holders < n) & (holders <= _HELD))
            column = np.full(len(tokens), -1, dtype=np.int32)
            column[kept] = np.arange(len(kept))
            who, what = kernels.each_once(person, number, column, holders[kept].sum())
            factor = np.where(is_part(tokens[kept]), _PART, 1.0)
            rarity: Floats = _STEPS * factor * np.log(n / holders[kept]) ** _POWER
            held_by.append((who, what + np.int32(width), np.rint(rarity[what] / length[who]).astype(np.int32)))
            start[1:] += np.bincount(who, minlength=n)
            numbers.append(kept)
            labels.append(np.full(len(kept), len(columns)))
            columns.append(which)
            width += len(kept)
        np.cumsum(start, out=start)
        place, weight = (np.empty(start[-1], dtype=np.int32) for _ in range(2))
        at = start[:-1].copy()
        while held_by:
            kernels.put(*held_by.pop(), at, place, weight)
        known = sparse.csr_array((weight, place, start), shape=(n, max(width, 1)))
        token, label = (np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64) for parts in (numbers, labels))
        ones = (np.ones(width, dtype=np.int64), (token, np.arange(width)))
        columns_of_token = sparse.csr_array(ones, shape=(max(len(tokens), 1), max(width, 1)))
        return cls(tokens, SparseRows(known), label, columns, columns_of_token)


class _Asked:
    """Which tokens are asked for, and their numbers in order."""

    def __init__(self, tokens: UInts) -> None:
        self.tokens, self._bits = tokens, max(2 * len(tokens) - 1, 1).bit_length() + 1
        self._table = kernels.hash_table(tokens, self._bits)

    def __call__(self, token: UInts) -> Bools:
        """Tell which tokens are asked for."""
        return np.asarray(self.numbers(token) >= 0)

    def numbers(self, token: UInts) -> Ints32:
        """Return the number of each token, -1 where it is not asked for."""
        return np.asarray(kernels.numbers_of(token, self.tokens, self._table, self._bits))


def _cells_of(records: Any) -> RawTable:
    raw = getattr(records, "raw", None)
    if raw is None:
        kind = type(records).__name__
        raise DataError(f"these {kind} do not hold the cells of a file; AllCells compares tables read from files")
    return raw  # type: ignore[no-any-return]


def with_days_since_first(raw: RawTable) -> RawTable:
    """Add a column for each of times: the days since the first of the person.

    >>> import pyarrow as pa
    >>> raw = RawTable.of({"day": pa.chunked_array([["2024-01-01", "2024-01-08"]])}, np.array([0, 0]), 1)
    >>> with_days_since_first(raw).column("day, days since the first").to_pylist()
    ['+0 days', '+7 days']
    """
    import polars as pl

    several = np.flatnonzero(raw.per_record)
    if not len(several) or raw.per_record.max() < 2 or len(raw.row) > _MOVED:
        return raw
    added = {}
    for name, cells in raw.columns.items():
        day = days_of(raw.column(name))
        if day is None:
            continue
        number = day.fill_null(_NEVER).to_numpy()
        first = np.minimum.reduceat(number, raw.start[several])
        since = pl.Series(number - np.repeat(first, raw.per_record[several]))
        text = pl.select(pl.when(day.is_not_null()).then(pl.format("+{} days", since))).to_series()
        place = np.full(len(cells), -1, dtype=np.int64)
        place[raw.row] = np.arange(len(raw.row))
        added[f"{name}, days since the first"] = text[pl.Series(place).replace(-1, None).cast(pl.UInt32)].to_arrow()
    return RawTable({**raw.columns, **added}, raw.row, raw.start)


class _Column(NamedTuple):
    """A column by the different texts in it: row i has text ``code[i]``, which has these tokens."""

    code: Any
    place: Ints
    token: UInts
    fine: UInts
    coarse: UInts

    @classmethod
    def of(cls, raw: RawTable, name: str, exact: bool, asked: _Asked | None = None) -> _Column:
        """Find the tokens of the cells of a column, of those that are asked for."""
        cells = raw.columns[name]
        whole = 2 * len(raw.row) >= len(cells)
        text = as_text(cells if whole else raw.column(name))
        first, code = _distinct(text.hash(0).to_numpy())
        found = forms_of(text if first is None else text[first], exact, asked)
        return cls(code[raw.row] if whole else code, *found)

    def by_row(self) -> tuple[Ints, Ints]:
        """Return the rows, each once for each of its tokens, and which these are."""
        order = np.argsort(self.place, kind="stable")
        many = np.bincount(self.place, minlength=len(self.fine))
        start = np.cumsum(many) - many
        times = many[self.code]
        row = np.repeat(np.arange(len(times)), times)
        nth = np.arange(len(row)) - np.repeat(np.cumsum(times) - times, times)
        return row, order[start[self.code[row]] + nth]


def _distinct(hashed: UInts) -> tuple[Ints | None, Any]:
    """Return the first row of each text, and which text each row has; no rows where most texts are different."""
    n = len(hashed)
    few = hashed[:: max(n >> 16, 1)]
    if 2 * len(np.unique(few)) > len(few):
        return None, np.arange(n, dtype=np.int32)
    _, first, code = np.unique(hashed, return_index=True, return_inverse=True)
    return first.astype(np.int64), code.astype(np.int32)


def _sources(raw: RawTable, asked: _Asked, exact: bool) -> Iterator[tuple[tuple[int, ...], Ints32, Ints32]]:
    """Yield, of each column and pair of columns, and of all, who holds a token that is asked for, and its number.

    People rise; somebody may hold a token several times.
    """
    owner = raw.owner.astype(np.int32)
    most = _HELD * int(raw.per_record.max(initial=0))  # more rows are certainly of more people
    made: list[_Column] = []
    for i, name in enumerate(raw.names):
        column = _Column.of(raw, name, exact, asked)
        number = asked.numbers(column.token)
        rows = np.bincount(column.code, minlength=len(column.fine))[column.place]
        few = np.flatnonzero(np.bincount(number, rows, minlength=len(asked.tokens))[number] <= most)
        row, at = column._replace(place=column.place[few]).by_row()
        yield (i,), owner[row], number[few][at]
        made.append(column._replace(place=column.place[:0], token=column.token[:0]))
    for which, tokens in _facts(made, exact):

        def found(rows: slice, tokens: Facts = tokens) -> tuple[Ints32, Ints32]:
            row, token = tokens(rows)
            number = asked.numbers(token)
            there = np.flatnonzero(number >= 0)
            return owner[row[there]], number[there]

        parts = each(found, slices(max(len(owner), 1), _ROWS))
        person, number = (np.concatenate(some) for some in zip(*parts, strict=True))
        yield which, person, number


def _tokens(raw: RawTable, exact: bool) -> tuple[Ints, UInts]:
    """Return all tokens of some people, each once: whose they are, and which."""
    owner = raw.owner
    made = [_Column.of(raw, name, exact) for name in raw.names]
    people, tokens = [], []
    for column in made:
        row, at = column.by_row()
        people.append(owner[row])
        tokens.append(column.token[at])
    for _, facts in _facts(made, exact):
        row, token = facts(slice(0, len(owner)))
        people.append(owner[row])
        tokens.append(token)
    person, found = np.concatenate(people), np.concatenate(tokens)
    order = np.lexsort((found, person))
    person, found = person[order], found[order]
    new = np.ones(len(person), dtype=bool)
    new[1:] = (person[1:] != person[:-1]) | (found[1:] != found[:-1])
    return person[new], found[new]


def _facts(made: Sequence[_Column], exact: bool) -> Iterator[tuple[tuple[int, ...], Facts]]:
    """Yield what makes tokens of pairs of cells of a row, exact and coarse, and of whole rows."""
    k = len(made)
    pairs = combinations(range(k), 2) if k <= _ALL_PAIRS else pairwise(range(k))
    for pair in pairs:
        both = [made[i] for i in pair]
        yield pair, partial(_together, both, "exact")
        if not exact:
            yield pair, partial(_together, both, "coarse")
    if k > 2:
        yield tuple(range(k)), partial(_together, made, "row")


def _together(columns: Sequence[_Column], what: str, rows: slice) -> tuple[Ints, UInts]:
    """Return which of these rows say something in these columns, and the token of it, whatever their order.

    Coarse cells make a token where they are not the exact ones; of a whole row, empty cells are part.
    """
    fine = [column.fine[column.code[rows]] for column in columns]
    cells = fine if what != "coarse" else [column.coarse[column.code[rows]] for column in columns]
    there = np.ones(len(fine[0]), dtype=bool)
    if what != "row":
        there = np.logical_and.reduce([one > 0 for one in fine])
    if what == "coarse":
        there &= np.logical_or.reduce([a != b for a, b in zip(fine, cells, strict=True)])
    at = np.flatnonzero(there)
    return at + rows.start, _mixed([one[at] for one in cells])


def _mixed(cells: Sequence[UInts]) -> UInts:
    """Return one token of several, the same in whatever order they are; its last bit is 0."""
    total = np.zeros(len(cells[0]), dtype=np.uint64)
    for one in cells:
        total += (one ^ (one >> np.uint64(29))) * kernels.MIX
    return ((total ^ (total >> np.uint64(32))) * kernels.MIX) & ~np.uint64(1)
