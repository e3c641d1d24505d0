"""One vocabulary for one or two tables: what their numbers and labels stand for, settled before they are compared."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, TypeAlias

import numpy as np

from reidrisk.base import Array, DataError, Note, OptionError, Vocabulary, frozen, sizes, whole
from reidrisk.io.tables.tokens import RawTokens
from reidrisk.records.base import NUMBER_IDS

Declared: TypeAlias = Vocabulary | Sequence[str]
"""A vocabulary as a caller may give it: one that was read, or just its labels."""


@dataclass(frozen=True)
class Encoding:
    """The settled vocabulary, its size, and what had to be assumed."""

    n_tokens: int
    vocabulary: Vocabulary | None
    notes: tuple[Note, ...] = ()


def settle(tables: Sequence[RawTokens], n_tokens: int | None, declared: Declared | None) -> Encoding:
    """Find the vocabulary of these tables: the declared one, else the one in the files, else the tokens that occur."""
    if n_tokens is not None:
        whole("n_tokens", n_tokens)
        sizes.TOKENS.check(int(n_tokens), "n_tokens", "give the size of the system's vocabulary")
    text = [table for table in tables if table.labels is not None]
    numbers = [table for table in tables if table.labels is None]
    if text and numbers and numbers[0].metadata.vocabulary is None:
        kinds = f"the tokens of {text[0].name} are text and those of {numbers[0].name} are integers"
        raise DataError(f"{kinds}; give both tables the same kind of tokens")
    if isinstance(declared, str) or not isinstance(declared, Vocabulary | Sequence | None):
        kind = type(declared).__name__
        raise OptionError(f"vocabulary must be a Vocabulary or a list of labels, not a {kind}; see read_vocabulary")
    known = declared if isinstance(declared, Vocabulary | None) else Vocabulary(declared)
    vocabulary = _one_vocabulary(tables, known)
    if vocabulary is not None:
        if n_tokens is not None and n_tokens != len(vocabulary):
            sizes_differ = f"the vocabulary has {len(vocabulary)} labels but n_tokens is {n_tokens}"
            raise DataError(f"{_named(tables)}: {sizes_differ}; leave out n_tokens")
        return Encoding(len(vocabulary), vocabulary)
    return _from_labels(tables, n_tokens) if text else _from_numbers(tables, n_tokens)


def encode(table: RawTokens, encoding: Encoding) -> Array:
    """Return the tokens of a table over the settled vocabulary, read-only; what lies outside is refused."""
    tokens = table.tokens
    if table.labels is not None and encoding.vocabulary is not None:
        tokens = _recoded(table, encoding.vocabulary)
    elif tokens.max(initial=-1) >= encoding.n_tokens:
        at = tuple(int(i) for i in np.argwhere(tokens >= encoding.n_tokens)[0])
        allowed = f"tokens lie in [0, {encoding.n_tokens}), or raise n_tokens"
        raise DataError(f"{table.place(*at)} holds token {int(tokens[at])}, outside the vocabulary; {allowed}")
    return frozen(tokens)


def _one_vocabulary(tables: Sequence[RawTokens], declared: Vocabulary | None) -> Vocabulary | None:
    carried = [table for table in tables if table.metadata.vocabulary is not None]
    if not carried:
        return declared
    first = carried[0].metadata.vocabulary
    for table in carried:
        own = table.metadata.vocabulary
        if declared is not None:
            _refuse_difference(table.name, own, declared, "the declared one", "leave out the declared one")
        _refuse_difference(table.name, own, first, f"that of {carried[0].name}", "write both over one vocabulary")
    bare = [table for table in tables if table.metadata.vocabulary is None and table.labels is None]
    if declared is None and bare:
        carries = f"{carried[0].name} carries one of {len(first or ())} labels; declare the vocabulary of both"
        raise DataError(f"{bare[0].name} holds integers without a vocabulary but {carries}")
    return first


def _refuse_difference(name: str, own: Any, other: Any, whose: str, do: str) -> None:
    if own == other:
        return
    if len(own) != len(other):
        raise DataError(f"{name}: its vocabulary has {len(own)} labels and {whose} {len(other)}; {do}")
    token, a, b = next((t, a, b) for t, (a, b) in enumerate(zip(own.labels, other.labels, strict=True)) if a != b)
    raise DataError(f"{name}: token {token} is {a!r} in its vocabulary and {b!r} in {whose}; {do}")


def _from_labels(tables: Sequence[RawTokens], n_tokens: int | None) -> Encoding:
    seen = {label for table in tables for label in table.labels or ()}
    vocabulary, notes = vocabulary_of(seen, n_tokens, _named(tables), len(tables))
    return Encoding(len(vocabulary), vocabulary, notes)


def vocabulary_of(
    seen: Collection[str], n_tokens: int | None, name: str, n_tables: int
) -> tuple[Vocabulary, tuple[Note, ...]]:
    """Return the vocabulary of labels that were seen in tables, of ``n_tokens`` if that is known, and what to say."""
    labels = sorted(seen)
    _refuse_nothing(name, len(labels))
    if n_tokens is None:
        note = Note("vocabulary-from-data", n=len(labels), tables=n_tables, numbers=False)
        return Vocabulary(labels), (note,)
    if len(labels) > n_tokens:
        raise DataError(f"{name}: {len(labels)} different labels occur but n_tokens is {n_tokens}; raise it")
    # The labels of the tokens that never occur are not known, but they count: noise is uniform over all tokens.
    known, names = set(labels), (f"(not seen {number})" for number in count(1))
    unseen = islice((label for label in names if label not in known), n_tokens - len(labels))
    return Vocabulary([*labels, *unseen]), ()


def _from_numbers(tables: Sequence[RawTokens], n_tokens: int | None) -> Encoding:
    stated = [table for table in tables if table.metadata.n_tokens is not None]
    for table in stated:
        own, other = table.metadata.n_tokens, stated[0].metadata.n_tokens
        if n_tokens is not None and own != n_tokens:
            says = f"the file says that there are {own} tokens but n_tokens is {n_tokens}"
            raise DataError(f"{table.name}: {says}; leave out n_tokens")
        if own != other:
            says = f"{stated[0].name} says that there are {other} tokens and {table.name} says {own}"
            raise DataError(f"{says}; two tables are compared over one vocabulary")
    n_tokens = n_tokens or (stated[0].metadata.n_tokens if stated else None)
    if n_tokens is not None:
        return Encoding(int(n_tokens), None)
    size = 1 + max(int(table.tokens.max(initial=-1)) for table in tables)
    sizes.TOKENS.check(size, _named(tables), NUMBER_IDS)
    _refuse_nothing(_named(tables), size)
    return Encoding(size, None, (Note("vocabulary-from-data", n=size, tables=len(tables), numbers=True),))


def _refuse_nothing(name: str, size: int) -> None:
    if not size:
        raise DataError(f"{name}: not a single token is observed; give a table with tokens in it")


def _named(tables: Sequence[RawTokens]) -> str:
    return " and ".join(table.name for table in tables)


def _recoded(table: RawTokens, vocabulary: Vocabulary) -> Array:
    known = {label: token for token, label in enumerate(vocabulary.labels)}
    labels = table.labels or []
    for code, label in enumerate(labels):
        if label not in known:
            at = tuple(int(i) for i in np.argwhere(table.tokens == code)[0])
            unknown = f"which is not among the {len(vocabulary)} labels of the vocabulary; correct it or add it"
            raise DataError(f"{table.place(*at)} holds {label!r}, {unknown}")
    kind = np.result_type(table.tokens.dtype, np.min_scalar_type(-max(len(vocabulary) - 1, 1)))
    # The last entry, at index -1, keeps what was not observed.
    lookup = np.array([known[label] for label in labels] + [-1], dtype=kind)
    tokens = table.tokens.astype(kind, copy=False)
    for start in range(0, len(tokens), 1 << 17):
        tokens[start : start + (1 << 17)] = lookup[tokens[start : start + (1 << 17)]]
    return tokens
