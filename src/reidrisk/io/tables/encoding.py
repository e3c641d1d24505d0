"""One vocabulary for one or two tables: what their numbers and labels stand for, settled before they are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base import sizes
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.notes import Note
from reidrisk.base.options import whole
from reidrisk.base.users import UserIds
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.io.tables.raw import RawTokens

Declared = Vocabulary | Sequence[str]
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
    words = _declared(declared)
    _refuse_two_kinds(tables)
    vocabulary = _one_vocabulary(tables, words)
    if vocabulary is not None:
        if n_tokens is not None and n_tokens != len(vocabulary):
            raise DataError(
                f"{_named(tables)}: the vocabulary has {len(vocabulary)} labels but n_tokens is {n_tokens}; "
                "leave out n_tokens"
            )
        return Encoding(len(vocabulary), vocabulary)
    return _from_labels(tables, n_tokens) if tables[0].labels is not None else _from_numbers(tables, n_tokens)


def encode(table: RawTokens, encoding: Encoding) -> npt.NDArray[Any]:
    """Return the tokens of a table over the settled vocabulary, read-only; what lies outside is refused."""
    tokens = table.tokens
    if table.labels is not None and encoding.vocabulary is not None:
        tokens = _recoded(table, encoding.vocabulary)
    elif tokens.max(initial=-1) >= encoding.n_tokens:
        at = tuple(int(i) for i in np.argwhere(tokens >= encoding.n_tokens)[0])
        raise DataError(
            f"{table.place(*at)} holds token {int(tokens[at])}, outside the vocabulary; tokens lie in "
            f"[0, {encoding.n_tokens}), or raise n_tokens"
        )
    return frozen(tokens)


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Make an array read-only: then the base types take it without a copy."""
    array.flags.writeable = False
    return array


def refuse_repeated_users(name: str, users: UserIds | None) -> None:
    """Say in which rows of a file a user occurs twice, if one does."""
    if users is None:
        return
    if isinstance(users, np.ndarray):
        order = np.argsort(users, kind="stable")
        ranked = users[order]
        same = np.flatnonzero(ranked[1:] == ranked[:-1])
    else:
        codes = users.dictionary_encode().indices.to_numpy(zero_copy_only=False)
        order = np.argsort(codes, kind="stable")
        same = np.flatnonzero(codes[order][1:] == codes[order][:-1])
    if same.size:
        pick = same[np.argmin(order[same + 1])]
        first, second = int(order[pick]), int(order[pick + 1])
        user = users[first] if isinstance(users, np.ndarray) else repr(users[first].as_py())
        raise DataError(f"{name}: rows {first + 1} and {second + 1} are both user {user}; give every user one row")


def _declared(vocabulary: Declared | None) -> Vocabulary | None:
    if vocabulary is None or isinstance(vocabulary, Vocabulary):
        return vocabulary
    if isinstance(vocabulary, str) or not isinstance(vocabulary, Sequence):
        kind = type(vocabulary).__name__
        raise OptionError(f"vocabulary must be a Vocabulary or a list of labels, not a {kind}; see read_vocabulary")
    return Vocabulary(vocabulary)


def _refuse_two_kinds(tables: Sequence[RawTokens]) -> None:
    text = [table for table in tables if table.labels is not None]
    numbers = [table for table in tables if table.labels is None]
    if text and numbers and numbers[0].metadata.vocabulary is None:
        raise DataError(
            f"the tokens of {text[0].name} are text and those of {numbers[0].name} are integers; "
            "give both tables the same kind of tokens"
        )


def _one_vocabulary(tables: Sequence[RawTokens], declared: Vocabulary | None) -> Vocabulary | None:
    carried = [table for table in tables if table.metadata.vocabulary is not None]
    for table in carried:
        own = table.metadata.vocabulary
        if declared is not None and own != declared:
            raise DataError(f"{table.name}: {_difference(own, declared, 'declared')}; leave out the declared one")
        if own != carried[0].metadata.vocabulary:
            other = carried[0].metadata.vocabulary
            raise DataError(f"{table.name}: {_difference(own, other, carried[0].name)}; write both over one vocabulary")
    if declared is None and carried:
        bare = [table for table in tables if table.metadata.vocabulary is None and table.labels is None]
        if bare:
            raise DataError(
                f"{bare[0].name} holds integers without a vocabulary but {carried[0].name} carries one of "
                f"{len(carried[0].metadata.vocabulary or ())} labels; declare the vocabulary of both"
            )
        return carried[0].metadata.vocabulary
    return declared


def _difference(own: Vocabulary | None, other: Vocabulary | None, name: str) -> str:
    mine, theirs = (own.labels if own else ()), (other.labels if other else ())
    whose = "the declared one" if name == "declared" else f"that of {name}"
    if len(mine) != len(theirs):
        return f"its vocabulary has {len(mine)} labels and {whose} {len(theirs)}"
    token = next(t for t, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a != b)
    return f"token {token} is {mine[token]!r} in its vocabulary and {theirs[token]!r} in {whose}"


def _from_labels(tables: Sequence[RawTokens], n_tokens: int | None) -> Encoding:
    labels = sorted({label for table in tables for label in table.labels or ()})
    if not labels:
        raise DataError(f"{_named(tables)}: not a single token is observed; give a table with tokens in it")
    if n_tokens is None:
        return Encoding(len(labels), Vocabulary(labels), (_note(tables, len(labels)),))
    if len(labels) > n_tokens:
        raise DataError(f"{_named(tables)}: {len(labels)} different labels occur but n_tokens is {n_tokens}; raise it")
    # The labels of the tokens that never occur are not known, but they count: noise is uniform over all tokens.
    known, unseen, number = set(labels), list[str](), 0
    while len(labels) + len(unseen) < n_tokens:
        number += 1
        if (label := f"(not seen {number})") not in known:
            unseen.append(label)
    return Encoding(n_tokens, Vocabulary(labels + unseen))


def _from_numbers(tables: Sequence[RawTokens], n_tokens: int | None) -> Encoding:
    told = [table for table in tables if table.metadata.n_tokens is not None]
    for table in told:
        if n_tokens is not None and table.metadata.n_tokens != n_tokens:
            raise DataError(
                f"{table.name}: the file says that there are {table.metadata.n_tokens} tokens but n_tokens is "
                f"{n_tokens}; leave out n_tokens"
            )
        if table.metadata.n_tokens != told[0].metadata.n_tokens:
            raise DataError(
                f"{told[0].name} says that there are {told[0].metadata.n_tokens} tokens and {table.name} says "
                f"{table.metadata.n_tokens}; two tables are compared over one vocabulary"
            )
    if n_tokens is None and told:
        n_tokens = told[0].metadata.n_tokens
    if n_tokens is not None:
        return Encoding(int(n_tokens), None)
    most = max(int(table.tokens.max(initial=-1)) for table in tables)
    ids = "if these numbers are ids, number those that occur from 0 on, or give them as text"
    sizes.TOKENS.check(most + 1, _named(tables), ids)
    if most < 0:
        raise DataError(f"{_named(tables)}: not a single token is observed; give a table with tokens in it")
    return Encoding(most + 1, None, (_note(tables, most + 1, numbers=True),))


def _note(tables: Sequence[RawTokens], count: int, numbers: bool = False) -> Note:
    return Note("vocabulary-from-data", n=count, tables=len(tables), numbers=numbers)


def _named(tables: Sequence[RawTokens]) -> str:
    return " and ".join(table.name for table in tables)


def _recoded(table: RawTokens, vocabulary: Vocabulary) -> npt.NDArray[Any]:
    known = {label: token for token, label in enumerate(vocabulary.labels)}
    labels = table.labels or []
    for code, label in enumerate(labels):
        if label not in known:
            at = tuple(int(i) for i in np.argwhere(table.tokens == code)[0])
            raise DataError(
                f"{table.place(*at)} holds {label!r}, which is not among the {len(vocabulary)} labels of the "
                "vocabulary; correct it or add it to the vocabulary"
            )
    kind = np.result_type(table.tokens.dtype, np.min_scalar_type(-max(len(vocabulary) - 1, 1)))
    # The last entry, at index -1, keeps what was not observed.
    lookup = np.array([known[label] for label in labels] + [-1], dtype=kind)
    tokens = table.tokens.astype(kind, copy=False)
    for start in range(0, len(tokens), 1 << 17):
        tokens[start : start + (1 << 17)] = lookup[tokens[start : start + (1 << 17)]]
    return tokens
