"""Who is who in two stored tables: by true pairs, by equal ids, or by equal rows, found by a join."""

from pathlib import Path
from typing import NamedTuple

from reidrisk.audit.stored.opening import TABLE, StoredTable, columns_of, is_csv, table_files
from reidrisk.audit.stored.relations import fresh
from reidrisk.base.errors import DataError, TruthError
from reidrisk.base.notes import Note
from reidrisk.io.tables.streaming import csv_columns, to_parquet
from reidrisk.search.engines.relational import Session


class MatchedIds(NamedTuple):
    """How many ``queries`` have a target and how many ``targets`` a query, how that is known, and what to say of it."""

    queries: int
    targets: int
    origin: str
    notes: tuple[Note, ...]


def open_pairs(session: Session, given: str, tables: list[StoredTable], folder: Path) -> None:
    """Make the relation ``pairs`` of true pairs: a file or folder of Parquet or CSV, or a table of the engine.

    Its columns are query and target, or those named behind it: ``pairs.csv:crm_id=partner_id``, ids of the known
    records and of those to identify. A pair without a target says that the query has none.
    """
    path, target, query = columns_named(given)
    if not all(table.named for table in tables):
        raise TruthError(f"{path}: true pairs name users, and the tables do not; give both a column 'user'")
    if path.startswith(TABLE):
        source = path.removeprefix(TABLE)
    else:
        files, source = table_files(path), "pairs_given"
        if is_csv(files[0]):
            files = to_parquet(files, fresh(folder / "rewritten_pairs"), path, csv_columns(files[0]), labels=True)
        columns_of(files[0])  # refuses what is no Parquet file, by its name
        session.parquet(source, files)
    missing = [name for name in (query, target) if name not in session.columns(source)]
    odd = next((name for name in (query, target) if not name.isidentifier()), None)
    if odd is not None:
        raise TruthError(f"{path}: the name of column {odd!r} is no plain word; rename it, such as to 'query'")
    if missing:
        wanted = "say which ones with --truth FILE:COLUMN=COLUMN, ids of the first table and of the second"
        raise TruthError(
            f"{path}: true pairs have the columns query and target, and there is no {missing[0]!r}; {wanted}"
        )
    session.view("pairs", f"SELECT CAST({query} AS STRING) AS query, CAST({target} AS STRING) AS target FROM {source}")
    found = session.fetch("SELECT count(*) AS n, count(query) AS named, count(DISTINCT query) AS people FROM pairs")
    n, named, people = (int(found[key][0]) for key in ("n", "named", "people"))
    if named < n:
        raise TruthError(f"{path}: {n - named:,} pairs have no query; every pair names its query")
    if people < n:
        raise TruthError(f"{path}: {n - people:,} queries come twice; give every query one target")


def columns_named(given: str) -> tuple[str, str, str]:
    """Return where pairs are, and the names of the columns of targets and queries."""
    path, colon, names = given.rpartition(":")
    if colon and "=" in names and not Path(given).exists():
        target, _, query = names.partition("=")
        return path, target.strip(), query.strip()
    return given, "target", "query"


def paired(
    session: Session, tables: list[StoredTable], n_users: list[int], given: bool, keep: bool, part: bool
) -> MatchedIds:
    """Make the view ``matched``, every query with its true target and that one's tokens, and count who has one.

    People in one table only are refused, unless ``keep`` says otherwise. Of ``part`` of the people, true pairs of
    others are no mistake.
    """
    one, two = tables
    if one.named != two.named:
        named, bare = (one, two) if one.named else (two, one)
        raise DataError(f"{named.name} names its users and {bare.name} does not; give both a column 'user' or neither")
    if not one.named and n_users[0] != n_users[1]:
        sizes_differ = f"{one.name} has {n_users[0]:,} rows, {two.name} {n_users[1]:,}"
        raise DataError(f"{sizes_differ}, and neither names its users; add a column 'user' to both")
    if given and not part:
        _refuse_unknown(session, tables)
    r = range(len(one.epochs))
    true = ", ".join(f"coalesce(t.c{s}, -1) AS t{s}" for s in r)
    columns = f"q.id, {', '.join(f'q.c{s}' for s in r)}, coalesce(t.id, -1) AS truth, {true}"
    via = "LEFT JOIN coded_targets t ON q.user_id = t.user_id"
    if given:
        via = "LEFT JOIN pairs p ON q.user_id = p.query LEFT JOIN coded_targets t ON p.target = t.user_id"
    session.view("matched", f"SELECT {columns} FROM coded_queries q {via}")
    found = session.fetch("SELECT count(*) AS n, count(DISTINCT truth) AS people FROM matched WHERE truth >= 0")
    queries, people = int(found["n"][0]), int(found["people"][0])
    if not queries:
        how = "in the true pairs" if given else "by their ids"
        needed = "give the true pairs (--truth): a table with the columns query and target"
        raise DataError(f"nobody of {two.name} is in {one.name} {how}; {needed}")
    alone = (n_users[0] - people, n_users[1] - queries)
    if not given and not keep and any(alone):
        differ = f"{alone[0]:,} users of {one.name} are not in {two.name}"
        raise DataError(f"{differ}, and {alone[1]:,} the other way round; --allow-unmatched keeps them")
    return MatchedIds(
        queries, people, "given" if given else "ids" if one.named else "rows", _said(given, alone, n_users)
    )


def _said(given: bool, alone: tuple[int, int], n_users: list[int]) -> tuple[Note, ...]:
    if given:
        return (Note("without-pair", n=alone[1], of=n_users[1]),) if alone[1] else ()
    return (Note("in-one-table-only", targets=alone[0], queries=alone[1]),) if any(alone) else ()


def _refuse_unknown(session: Session, tables: list[StoredTable]) -> None:
    """Refuse true pairs of people who are in no table: they are of other tables, or ids were written otherwise."""
    for side, table in zip(("target", "query"), tables, strict=True):
        coded = "coded_targets" if side == "target" else "coded_queries"
        found = session.fetch(
            f"SELECT count(*) AS n, min(p.{side}) AS one FROM pairs p LEFT JOIN {coded} t ON p.{side} = t.user_id "
            f"WHERE p.{side} IS NOT NULL AND t.user_id IS NULL"
        )
        if n := int(found["n"][0]):
            raise TruthError(
                f"{n:,} true pairs name people who are not in {table.name}, such as {found['one'][0]!r}; correct them"
            )
