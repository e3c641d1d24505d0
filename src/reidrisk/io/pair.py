"""Two tables to be linked, read over one vocabulary, with what had to be assumed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError
from reidrisk.base.notes import Note, unless_few
from reidrisk.base.users import find_users, is_text
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.io.atomic import PathLike
from reidrisk.io.bags import build_bags, read_raw_bags
from reidrisk.io.tables.encoding import Declared, Encoding, settle
from reidrisk.io.tables.formats import open_table
from reidrisk.io.tables.tokens import RawTokens, read_raw
from reidrisk.io.traces import build_traces
from reidrisk.io.truth import read_truth
from reidrisk.records import Bags, Traces

Records = TypeVar("Records", Traces, Bags)
"""What a pair holds two tables of."""


@dataclass(frozen=True)
class Pair(Generic[Records]):
    """Two tables over one vocabulary.

    Attributes
    ----------
    targets, queries : Traces or Bags
        The known records and the records to identify.
    vocabulary : Vocabulary or None
        Labels of the tokens, where the tables have any.
    unmatched_targets, unmatched_queries : int
        How many users of each table have no counterpart in the other.
    notes : tuple of Note
        What was assumed.
    truth : (n_queries,) int64 array or None
        Row of the true target of each query, -1 = not among the targets; only where a file of true pairs was given.
    """

    targets: Records
    queries: Records
    vocabulary: Vocabulary | None
    unmatched_targets: int
    unmatched_queries: int
    notes: tuple[Note, ...] = ()
    truth: npt.NDArray[np.int64] | None = None


def read_pair(
    targets_path: PathLike,
    queries_path: PathLike,
    layout: str | None = None,
    n_tokens: int | None = None,
    vocabulary: Declared | None = None,
    allow_unmatched: bool = False,
    truth: PathLike | None = None,
    min_group: int = 1,
) -> Pair[Traces]:
    r"""Read two tables of traces over one vocabulary and check that they can be compared.

    Parameters
    ----------
    targets_path, queries_path : str or path
        The two files, in any of the formats.
    layout, n_tokens, vocabulary
        As for :func:`read_traces`; they hold for both tables. Left out, labels are the sorted union of those that
        occur, and the size is one more than the largest number that occurs; the notes say so.
    allow_unmatched : bool
        Keep users that are in one table only: such a target is a distractor, and any link of such a query is wrong.
    truth : str or path, optional
        A file of true pairs (see :func:`read_truth`) for tables whose ids differ. The check of common users is then
        left out.
    min_group : int
        The notes count users that are in one table only where there are at least so many of them.

    Raises
    ------
    DataError
        If the tables differ in their epochs, their kind of tokens or their vocabulary, if one names its users and the
        other does not, or if users are in one table only and ``allow_unmatched`` is not set.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("user,epoch_0\nann,news\nbob,music\n")
    >>> _ = (folder / "b.csv").write_text("user,epoch_0\nbob,music\nann,sports\n")
    >>> pair = read_pair(folder / "a.csv", folder / "b.csv")
    >>> pair.vocabulary
    Vocabulary(3 labels: 'music', 'news', 'sports')
    >>> pair.notes[0]
    Note('vocabulary-from-data', n=3, tables=2, numbers=False)
    """
    declared = vocabulary is not None
    a, b = (read_raw(open_table(path), layout, labels=declared) for path in (targets_path, queries_path))
    _check_epochs(a, b)
    encoding = settle([a, b], n_tokens, vocabulary)
    encoding = replace(encoding, notes=(*encoding.notes, *a.notes, *b.notes))
    targets, queries = build_traces(a, encoding), build_traces(b, encoding)
    return _paired(targets, queries, encoding, (a.name, b.name), allow_unmatched, truth, min_group)


def read_bags_pair(
    targets_path: PathLike,
    queries_path: PathLike,
    n_tokens: int | None = None,
    vocabulary: Declared | None = None,
    allow_unmatched: bool = False,
    truth: PathLike | None = None,
) -> Pair[Bags]:
    r"""Read two tables of bags over one vocabulary: what :func:`read_pair` does for traces.

    Parameters
    ----------
    targets_path, queries_path : str or path
        The two files, as for :func:`read_bags`.
    n_tokens, vocabulary, allow_unmatched, truth
        As for :func:`read_pair`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from reidrisk import attacks, measure
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("user,token\nann,waltz\nann,tango\nbob,polka\n")
    >>> _ = (folder / "b.csv").write_text("user,token\nbob,polka\nbob,rumba\nann,waltz\n")
    >>> pair = read_bags_pair(folder / "a.csv", folder / "b.csv")
    >>> pair.targets
    Bags(2 users, 4 tokens, 3 different items in all)
    >>> measure.random_user(attacks.Overlap(), pair.targets, pair.queries).rate
    1.0
    """
    declared = vocabulary is not None
    a, b = (read_raw_bags(open_table(path), labels=declared) for path in (targets_path, queries_path))
    encoding = settle([a.items, b.items], n_tokens, vocabulary)
    targets, queries = build_bags(a, encoding), build_bags(b, encoding)
    return _paired(targets, queries, encoding, (a.items.name, b.items.name), allow_unmatched, truth)


def _paired(
    targets: Records,
    queries: Records,
    encoding: Encoding,
    names: tuple[str, str],
    allow_unmatched: bool,
    truth: PathLike | None,
    min_group: int = 1,
) -> Pair[Records]:
    """Find who is in both tables, by their ids or by the true pairs, and say what had to be assumed."""
    if truth is not None:
        pair = Pair(targets, queries, encoding.vocabulary, 0, 0, encoding.notes)
        rows = read_truth(truth, pair)
        lone_queries = int((rows < 0).sum())
        stated = list(encoding.notes)
        if lone_queries:
            stated.append(Note("without-pair", n=unless_few(lone_queries, min_group), of=len(rows), least=min_group))
        lone_targets = len(targets) - len(np.unique(rows[rows >= 0]))
        return replace(
            pair, unmatched_targets=lone_targets, unmatched_queries=lone_queries, notes=tuple(stated), truth=rows
        )
    known, asked = _ids_of_one_kind(targets, queries)
    alone: tuple[int, int, list[Note]] = _unmatched(known, asked, names, allow_unmatched, min_group)
    return Pair(known, asked, encoding.vocabulary, alone[0], alone[1], (*encoding.notes, *alone[2]))


def _ids_of_one_kind(targets: Records, queries: Records) -> tuple[Records, Records]:
    """Compare ids as text where one table has numbers: a single 'x' in a CSV file makes all its ids text."""
    if targets.users is None or queries.users is None or is_text(targets.users) == is_text(queries.users):
        return targets, queries
    return _with_text_ids(targets), _with_text_ids(queries)


def _with_text_ids(table: Records) -> Records:
    if is_text(table.users):
        return table
    import pyarrow as pa

    return table.with_users(pa.array(table.users).cast(pa.large_string()))


def _check_epochs(a: RawTokens, b: RawTokens) -> None:
    counts = [table.tokens.shape[1] for table in (a, b)]
    if counts[0] != counts[1]:
        raise DataError(
            f"{a.name} has {counts[0]} epochs and {b.name} has {counts[1]}; give both tables the same epochs"
        )
    if a.epochs is None or b.epochs is None or a.epochs == b.epochs:
        return
    for table, other in ((a, b), (b, a)):
        there = set(other.epochs or ())
        only = [epoch for epoch in table.epochs or () if epoch not in there]
        if only:
            raise DataError(
                f"epoch {only[0]} of {table.name} is not in {other.name}; epochs are compared by name, so name them "
                "alike (an epoch without observations has one row with an empty token)"
            )


def _unmatched(
    targets: Traces | Bags, queries: Traces | Bags, names: tuple[str, str], allow_unmatched: bool, min_group: int
) -> tuple[int, int, list[Note]]:
    a, b = names
    if (targets.users is None) != (queries.users is None):
        named, bare = (b, a) if targets.users is None else (a, b)
        raise DataError(f"{named} names its users and {bare} does not; give both a column 'user' or neither")
    if targets.users is None:
        return _unnamed(len(targets), len(queries), names, allow_unmatched)
    lone_queries = int((find_users(queries.users, targets.users) < 0).sum())
    lone_targets = len(targets) - (len(queries) - lone_queries)
    if not (lone_targets or lone_queries):
        return 0, 0, []
    if not allow_unmatched:
        if lone_queries == len(queries):
            raise DataError(
                f"no user of {a} ({len(targets):,}) is in {b} ({len(queries):,}); if the ids differ by design, "
                "give the true pairs in a file with columns query, target (--truth), or keep all with --allow-unmatched"
            )
        raise DataError(
            f"{lone_targets:,} users of {a} are not in {b} and {lone_queries:,} of {b} not in {a}; --allow-unmatched "
            "keeps them: such a target is a distractor, any link of such a query is wrong"
        )
    if lone_queries == len(queries):
        return (
            lone_targets,
            lone_queries,
            [Note("nobody-in-common")],
        )
    return (
        lone_targets,
        lone_queries,
        [
            Note(
                "in-one-table-only",
                targets=unless_few(lone_targets, min_group),
                queries=unless_few(lone_queries, min_group),
                least=min_group,
            )
        ],
    )


def _unnamed(
    n_targets: int, n_queries: int, names: tuple[str, str], allow_unmatched: bool
) -> tuple[int, int, list[Note]]:
    if n_targets == n_queries:
        return 0, 0, [Note("rows-are-people")]
    if not allow_unmatched:
        raise DataError(
            f"{names[0]} has {n_targets:,} rows, {names[1]} has {n_queries:,}, and neither names its users, so nobody "
            "knows who is who; add a column 'user' to both, or keep all with --allow-unmatched"
        )
    return n_targets, n_queries, [Note("lengths-differ")]
