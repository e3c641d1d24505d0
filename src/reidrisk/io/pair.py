"""Two tables to be linked, read over one vocabulary, with what had to be assumed, and files of their true pairs."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from reidrisk.base import DataError, Ints, Note, is_text
from reidrisk.base.options import option
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.io.atomic import PathLike
from reidrisk.io.bags import build_bags, read_raw_bags
from reidrisk.io.exports.pairs import read_pairs
from reidrisk.io.tables.encoding import Declared, Encoding, settle
from reidrisk.io.tables.formats import open_table
from reidrisk.io.tables.tokens import RawTokens, read_raw
from reidrisk.io.traces import build_traces
from reidrisk.records import Bags, Traces, Truth
from reidrisk.records.case import matched

Records = TypeVar("Records", Traces, Bags)  # what a pair holds two tables of


@dataclass(frozen=True)
class Pair(Generic[Records]):
    """Two tables over one vocabulary: the known records, and those to identify."""

    targets: Records
    queries: Records
    vocabulary: Vocabulary | None  # labels of the tokens, where the tables have any
    unmatched_targets: int
    unmatched_queries: int  # how many users of each table have no counterpart in the other
    notes: tuple[Note, ...] = ()  # what was assumed
    truth: Ints | None = None
    """Row of the true target of each query, -1 = not among the targets; only where a file of true pairs was given."""
    matched: Truth | None = None
    """Who each query is: by the true pairs, by equal ids or by equal rows; ``None`` where nobody knows."""


def read_pair(
    targets_path: PathLike,
    queries_path: PathLike,
    layout: str | None = None,
    n_tokens: int | None = None,
    vocabulary: Declared | None = None,
    allow_unmatched: bool = False,
    truth: PathLike | None = None,
) -> Pair[Traces]:
    r"""Read two tables of traces over one vocabulary and check that they can be compared.

    Tables that differ in their epochs, their kind of tokens or their vocabulary are refused, and so are two of which
    one names its users and the other does not. ``layout``, ``n_tokens`` and ``vocabulary`` are as for
    :func:`read_traces` and hold for both tables. Users that are in one table only are refused, unless
    ``allow_unmatched`` keeps them: such a target is a distractor, and any link of such a query is wrong. ``truth`` is a
    file of true pairs (see :func:`read_truth`) for tables whose ids differ.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("user,epoch_0\nann,news\nbob,music\n")
    >>> _ = (folder / "b.csv").write_text("user,epoch_0\nbob,music\nann,sports\n")
    >>> read_pair(folder / "a.csv", folder / "b.csv").vocabulary
    Vocabulary(3 labels: 'music', 'news', 'sports')
    """
    tables = (open_table(path) for path in (targets_path, queries_path))
    a, b = (read_raw(table, layout, labels=vocabulary is not None) for table in tables)
    _check_epochs(a, b)
    encoding = settle([a, b], n_tokens, vocabulary)
    encoding = replace(encoding, notes=(*encoding.notes, *a.notes, *b.notes))
    targets, queries = build_traces(a, encoding), build_traces(b, encoding)
    return _paired(targets, queries, encoding, (a.name, b.name), allow_unmatched, truth)


def read_bags_pair(
    targets_path: PathLike,
    queries_path: PathLike,
    n_tokens: int | None = None,
    vocabulary: Declared | None = None,
    allow_unmatched: bool = False,
    truth: PathLike | None = None,
) -> Pair[Bags]:
    r"""Read two tables of bags over one vocabulary: what :func:`read_pair` does for traces.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("user,token\nann,waltz\nann,tango\nbob,polka\n")
    >>> _ = (folder / "b.csv").write_text("user,token\nbob,polka\nbob,rumba\nann,waltz\n")
    >>> read_bags_pair(folder / "a.csv", folder / "b.csv").targets
    Bags(2 users, 4 tokens, 3 different items in all)
    """
    tables = (open_table(path) for path in (targets_path, queries_path))
    a, b = (read_raw_bags(table, labels=vocabulary is not None) for table in tables)
    encoding = settle([a.items, b.items], n_tokens, vocabulary)
    targets, queries = build_bags(a, encoding), build_bags(b, encoding)
    return _paired(targets, queries, encoding, (a.items.name, b.items.name), allow_unmatched, truth)


def read_truth(path: PathLike, pair: Pair[Any]) -> Ints:
    r"""Read which target each query truly is: the row of each target, -1 = not among the targets.

    The file has the columns ``query`` and ``target``, or any two that fit: user ids of the two tables, which must name
    their users. An empty ``target``, or no row, says that a query is not among the targets.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("user,epoch_0\nann,news\nbob,music\n")
    >>> _ = (folder / "b.csv").write_text("user,epoch_0\n901,music\n902,news\n903,news\n")
    >>> _ = (folder / "pairs.csv").write_text("query,target\n901,bob\n902,ann\n")
    >>> read_pair(folder / "a.csv", folder / "b.csv", truth=folder / "pairs.csv").truth.tolist()
    [1, 0, -1]
    """
    return read_pairs(path, pair.targets.users, pair.queries.users, strict=True)[0]


def _check_epochs(a: RawTokens, b: RawTokens) -> None:
    one, two = (table.tokens.shape[1] for table in (a, b))
    if one != two:
        raise DataError(f"{a.name} has {one} epochs and {b.name} has {two}; give both tables the same epochs")
    if a.epochs is None or b.epochs is None or a.epochs == b.epochs:
        return
    for table, other in ((a, b), (b, a)):
        there = set(other.epochs or ())
        only = [epoch for epoch in table.epochs or () if epoch not in there]
        if only:
            alike = "name epochs alike (one without observations has a row with an empty token)"
            raise DataError(f"epoch {only[0]} of {table.name} is not in {other.name}; {alike}")


def _paired(
    targets: Records, queries: Records, encoding: Encoding, names: tuple[str, str], keep: bool, truth: PathLike | None
) -> Pair[Records]:
    """Find who is in both tables, by the true pairs or by their ids; refuse people of one alone, or ``keep`` them."""
    rows, notes = None, encoding.notes
    if truth is not None:
        named = ":" in str(truth) and not Path(truth).exists()  # two columns of a table that may be of others as well
        rows, more = read_pairs(truth, targets.users, queries.users, strict=not named)
        notes += more
    found = paired(targets, queries, encoding.vocabulary, notes, names, rows)
    alone = (found.unmatched_targets, found.unmatched_queries)
    if rows is None and any(alone) and not keep:
        raise DataError(why_unmatched(targets.users is not None, names, (len(targets), len(queries)), alone))
    return found


def paired(
    targets: Records,
    queries: Records,
    vocabulary: Vocabulary | None,
    notes: tuple[Note, ...],
    names: tuple[str, str],
    rows: Ints | None,
) -> Pair[Records]:
    """Say who is in both tables, by true pairs (``rows``) or by their ids, and what had to be assumed."""
    if rows is None:
        targets, queries = _ids_of_one_kind(targets, queries, names)
    found = matched(targets, queries, None if rows is None else Truth(rows, "given"))
    return Pair(targets, queries, vocabulary, *found.alone, notes + found.notes, rows, found.truth)


def _ids_of_one_kind(targets: Records, queries: Records, names: tuple[str, str]) -> tuple[Records, Records]:
    """Compare ids as text where one table has numbers: a single 'x' in a CSV file makes all its ids text."""
    if (targets.users is None) != (queries.users is None):
        named, bare = reversed(names) if targets.users is None else names
        raise DataError(f"{named} names its users and {bare} does not; give both a column 'user' or neither")
    if targets.users is None or is_text(targets.users) == is_text(queries.users):
        return targets, queries
    import pyarrow as pa

    if is_text(targets.users):
        return targets, queries.with_users(pa.array(queries.users).cast(pa.large_string()))
    return targets.with_users(pa.array(targets.users).cast(pa.large_string())), queries


def why_unmatched(is_named: bool, names: tuple[str, str], sizes: tuple[int, int], alone: tuple[int, int]) -> str:
    """Say why two tables cannot be compared: how many people of each are ``alone``, and what to do."""
    a, b = names
    keep = option("allow_unmatched", True)
    if not is_named:
        differ = f"{a} has {sizes[0]:,} rows, {b} has {sizes[1]:,}, and neither names its users"
        return f"{differ}; add a column 'user' to both, or go on without a rate ({keep})"
    if alone == sizes:
        pairs = f"give the true pairs ({option('truth', 'FILE')}), or go on without a rate ({keep})"
        return f"no user of {a} ({sizes[0]:,}) is in {b} ({sizes[1]:,}); {pairs}"
    differ = f"{alone[0]:,} users of {a} are not in {b} and {alone[1]:,} of {b} not in {a}"
    return f"{differ}; {keep} keeps them: such a target is a distractor, any link of such a query is wrong"
