"""Two stored tables, checked by the engine and written as whole numbers, without names, with the truth beside them."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk import io
from reidrisk.audit.spec import Tables
from reidrisk.audit.stored.opening import TABLE, StoredTable, described, open_files, parquet_files
from reidrisk.base import sizes
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.notes import Note
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.search.engines.relational import Session
from reidrisk.search.engines.stored import StoredTokens

_SIDES = ("targets", "queries")


@dataclass(frozen=True)
class Prepared:
    """Targets and queries over one vocabulary; queries have ``truth``, and their true target's tokens t0, t1, …."""

    targets: StoredTokens
    queries: StoredTokens
    vocabulary: Vocabulary | None
    n_matched: int
    origin: str
    notes: tuple[Note, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all but the places of the files as JSON writes it."""
        both = zip(_SIDES, (self.targets, self.queries), strict=True)
        sizes_of = {side: [len(one), one.n_epochs, one.n_tokens] for side, one in both}
        labels = None if self.vocabulary is None else list(self.vocabulary.labels)
        notes = [note.to_dict() for note in self.notes]
        return {**sizes_of, "labels": labels, "n_matched": self.n_matched, "origin": self.origin, "notes": notes}

    @classmethod
    def from_dict(cls, said: dict[str, Any], files: list[tuple[str, ...]]) -> "Prepared":
        """Return what :meth:`to_dict` said of tables in these files."""
        both = [StoredTokens(side, files[i], *said[side]) for i, side in enumerate(_SIDES)]
        labels = None if said["labels"] is None else Vocabulary(said["labels"])
        notes = tuple(Note.from_dict(note) for note in said["notes"])
        return cls(both[0], both[1], labels, said["n_matched"], said["origin"], notes)


def prepare(session: Session, inputs: Tables, folder: Path, one_in: int = 1) -> Prepared:
    """Check the two tables of a spec, and write them to a folder as :class:`Prepared` says.

    Refused are people who come twice, tokens outside the vocabulary, and people in one table only unless the spec keeps
    them; all of it is counted where the tables are. Of people, about one in ``one_in`` are taken, the same in both.
    """
    tables = [_opened(session, side, getattr(inputs, side)) for side in _SIDES]
    if len(tables[0].epochs) != len(tables[1].epochs):
        one, two = (f"{table.name} has {len(table.epochs)}" for table in tables)
        raise DataError(f"{one} epochs and {two}; give both tables the same epochs")
    if len({table.labels for table in tables}) > 1:
        raise DataError("one table has labels and the other whole numbers; give both tables the same kind of tokens")
    n_users = [_numbered(session, side, table, one_in) for side, table in zip(_SIDES, tables, strict=True)]
    n_tokens, vocabulary, notes = _encoded(session, inputs, tables)
    matched, origin = _paired(session, inputs, tables, n_users)
    n_epochs = len(tables[0].epochs)
    columns = ", ".join(f"c{s}" for s in range(n_epochs))
    session.write(f"SELECT id, {columns} FROM coded_targets", str(folder / "targets"))
    session.write("SELECT * FROM matched", str(folder / "queries"))
    stored = [written(str(folder / side), n, n_epochs, n_tokens) for side, n in zip(_SIDES, n_users, strict=True)]
    alone = (n_users[0] - matched[1], n_users[1] - matched[0])
    if origin == "given" and alone[1]:
        notes += (Note("without-pair", n=alone[1], of=n_users[1]),)
    elif any(alone):
        notes += (Note("in-one-table-only", targets=alone[0], queries=alone[1]),)
    return Prepared(stored[0], stored[1], vocabulary, matched[0], origin, notes)


def written(folder: str, n_users: int, n_epochs: int, n_tokens: int) -> StoredTokens:
    """Return what was written to a folder as stored tokens; the name of its relation is that of the folder."""
    return StoredTokens(Path(folder).name, parquet_files(folder), n_users, n_epochs, n_tokens)


def _opened(session: Session, side: str, path: str) -> StoredTable:
    if path.startswith(TABLE):
        name = path.removeprefix(TABLE)
        kinds = session.columns(name)
        table = described(path, (), kinds, None)
        if not table.named:
            raise DataError(f"{path}: a table has no order of its own; give it a column 'user'")
        session.view(f"all_{side}", f"SELECT *, row_number() OVER (ORDER BY user) - 1 AS id FROM {name}")
        return table
    return open_files(path)


def _numbered(session: Session, side: str, table: StoredTable, one_in: int) -> int:
    """Give every row its number: that of its place in the files, by name, or of its user in a table."""
    if table.files:
        session.parquet(f"filed_{side}", table.files, numbered=True)
        found = session.fetch(f"SELECT file_name, count(*) AS n FROM filed_{side} GROUP BY file_name")
        order = np.argsort(found["file_name"])
        sizes_of = found["n"][order].astype(np.int64)
        starts = np.cumsum(sizes_of) - sizes_of
        session.put(f"files_{side}", {"file_name": [str(name) for name in found["file_name"][order]], "start": starts})
        session.view(
            f"all_{side}",
            f"SELECT r.*, f.start + r.file_row AS id FROM filed_{side} r JOIN files_{side} f "
            "ON r.file_name = f.file_name",
        )
    columns = ", ".join([*table.epochs, *["user"] * table.named])
    if one_in > 1:
        some = session.share("user" if table.named else "id", one_in)
        places = "row_number() OVER (ORDER BY id) - 1 AS id"
        session.view(f"raw_{side}", f"SELECT {columns}, {places} FROM all_{side} WHERE {some}")
    else:
        session.view(f"raw_{side}", f"SELECT {columns}, id FROM all_{side}")
    n = int(session.fetch(f"SELECT count(*) AS n FROM raw_{side}")["n"][0])
    if not n:
        raise DataError(f"{table.name}: the table is empty; give at least one row")
    if table.named:
        found = session.fetch(f"SELECT count(user) AS named, count(DISTINCT user) AS people FROM raw_{side}")
        named, people = int(found["named"][0]), int(found["people"][0])
        if named < n:
            raise DataError(f"{table.name}: {n - named:,} rows have no user; name everybody, or nobody")
        if people < n:
            raise DataError(f"{table.name}: {n - people:,} rows repeat a user; a wide table has one row per person")
    return n


def _encoded(
    session: Session, inputs: Tables, tables: list[StoredTable]
) -> tuple[int, Vocabulary | None, tuple[Note, ...]]:
    """Make the views ``coded_…`` with tokens over one vocabulary, and refuse what lies outside."""
    declared = None if inputs.vocabulary is None else io.read_vocabulary(inputs.vocabulary)
    carried = next((table.vocabulary for table in tables if table.vocabulary is not None), None)
    known = declared or carried
    notes: tuple[Note, ...] = ()
    if not tables[0].labels:
        return _numbers(session, inputs, tables, known)
    if known is None:
        parts = (
            f"SELECT {e} AS label FROM raw_{side}" for side, t in zip(_SIDES, tables, strict=True) for e in t.epochs
        )
        found = session.fetch(f"SELECT DISTINCT label FROM ({' UNION ALL '.join(parts)}) l WHERE label IS NOT NULL")
        known = Vocabulary(sorted(str(label) for label in found["label"]))
        notes = (Note("vocabulary-from-data", n=len(known), tables=2, numbers=False),)
    if inputs.n_tokens is not None and inputs.n_tokens != len(known):
        raise OptionError(f"there are {len(known):,} labels, and n_tokens is {inputs.n_tokens:,}; leave it out")
    session.put("words", {"label": list(known.labels), "token": np.arange(len(known), dtype=np.int32)})
    for side, table in zip(_SIDES, tables, strict=True):
        joins = " ".join(f"LEFT JOIN words w{s} ON r.{name} = w{s}.label" for s, name in enumerate(table.epochs))
        columns = ", ".join(f"coalesce(w{s}.token, -1) AS c{s}" for s in range(len(table.epochs)))
        lost = " + ".join(
            f"CASE WHEN r.{name} IS NOT NULL AND w{s}.token IS NULL THEN 1 ELSE 0 END"
            for s, name in enumerate(table.epochs)
        )
        n = int(session.fetch(f"SELECT sum({lost}) AS n FROM raw_{side} r {joins}")["n"][0])
        if n:
            raise DataError(f"{table.name}: {n:,} labels are not in the vocabulary of {len(known):,}; add them to it")
        session.view(f"coded_{side}", f"SELECT r.id, {_user(table)} AS user_id, {columns} FROM raw_{side} r {joins}")
    return len(known), known, notes


def _numbers(
    session: Session, inputs: Tables, tables: list[StoredTable], known: Vocabulary | None
) -> tuple[int, Vocabulary | None, tuple[Note, ...]]:
    """Take whole numbers as they are; the vocabulary is as large as stated, or as its largest number says."""
    largest = -1
    for side, table in zip(_SIDES, tables, strict=True):
        ends = ", ".join(f"min({e}) AS low{s}, max({e}) AS high{s}" for s, e in enumerate(table.epochs))
        found = {key: _number(value[0]) for key, value in session.fetch(f"SELECT {ends} FROM raw_{side}").items()}
        if min((value for key, value in found.items() if key.startswith("low")), default=0) < -1:
            raise DataError(f"{table.name}: a token is below -1; tokens are numbered from 0 on, and -1 is none")
        largest = max(largest, *(value for key, value in found.items() if key.startswith("high")))
        columns = ", ".join(f"CAST(coalesce(r.{e}, -1) AS INTEGER) AS c{s}" for s, e in enumerate(table.epochs))
        session.view(f"coded_{side}", f"SELECT r.id, {_user(table)} AS user_id, {columns} FROM raw_{side} r")
    stated = [table.metadata.n_tokens for table in tables if table.metadata.n_tokens is not None]
    n_tokens = inputs.n_tokens or (len(known) if known is not None else stated[0] if stated else largest + 1)
    if largest < 0:
        raise DataError("not a single token is observed; give a table with tokens in it")
    if largest >= n_tokens:
        raise DataError(f"a token is {largest:,}, outside the vocabulary of {n_tokens:,}; raise n_tokens (--n-tokens)")
    sizes.TOKENS.check(n_tokens, "the tables", "number those that occur from 0 on")
    stated_somewhere = inputs.n_tokens is not None or known is not None or bool(stated)
    note = Note("vocabulary-from-data", n=int(n_tokens), tables=2, numbers=True)
    return int(n_tokens), known, () if stated_somewhere else (note,)


def _number(value: Any) -> int:
    """Return a whole number, -1 for nothing: a column may hold no token at all."""
    return -1 if value is None or value is np.ma.masked or value != value else int(value)


def _user(table: StoredTable) -> str:
    return "CAST(r.user AS STRING)" if table.named else "CAST(r.id AS STRING)"


def _paired(
    session: Session, inputs: Tables, tables: list[StoredTable], n_users: list[int]
) -> tuple[tuple[int, int], str]:
    """Make the view ``matched``: every query with its true target; count queries and targets that have one."""
    if tables[0].named != tables[1].named:
        named, bare = tables if tables[0].named else tables[::-1]
        raise DataError(f"{named.name} names its users and {bare.name} does not; give both a column 'user' or neither")
    if not tables[0].named and n_users[0] != n_users[1]:
        sizes_differ = f"{tables[0].name} has {n_users[0]:,} rows, {tables[1].name} {n_users[1]:,}"
        raise DataError(f"{sizes_differ}, and neither names its users; add a column 'user' to both")
    r = range(len(tables[0].epochs))
    true = ", ".join(f"coalesce(t.c{s}, -1) AS t{s}" for s in r)
    columns = f"q.id, {', '.join(f'q.c{s}' for s in r)}, coalesce(t.id, -1) AS truth, {true}"
    origin, via = ("ids" if tables[0].named else "rows"), "LEFT JOIN coded_targets t ON q.user_id = t.user_id"
    if inputs.truth is not None:
        origin = "given"
        session.put("pairs", _pairs(inputs.truth))
        via = "LEFT JOIN pairs p ON q.user_id = p.query LEFT JOIN coded_targets t ON p.target = t.user_id"
    session.view("matched", f"SELECT {columns} FROM coded_queries q {via}")
    found = session.fetch("SELECT count(*) AS n, count(DISTINCT truth) AS people FROM matched WHERE truth >= 0")
    queries, people = int(found["n"][0]), int(found["people"][0])
    if not queries:
        given = "in the true pairs" if inputs.truth is not None else "by their ids"
        raise DataError(f"nobody of {tables[1].name} is in {tables[0].name} {given}; give the true pairs (--truth)")
    if origin != "given" and not inputs.allow_unmatched and (queries < n_users[1] or people < n_users[0]):
        differ = f"{n_users[0] - people:,} users of {tables[0].name} are not in {tables[1].name}"
        raise DataError(f"{differ}, and {n_users[1] - queries:,} the other way round; --allow-unmatched keeps them")
    return (queries, people), origin


def _pairs(path: str) -> dict[str, Any]:
    """Read true pairs: CSV or Parquet with the columns query and target."""
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path) if path.endswith(".parquet") else csv.read_csv(path)
        found = {name: table[name].cast(pa.string()) for name in ("query", "target")}
    except (OSError, KeyError, pa.ArrowException) as error:
        raise DataError(f"{path}: true pairs are CSV or Parquet with the columns query and target") from error
    repeated = len(found["query"]) - len(found["query"].unique())
    if repeated:
        raise DataError(f"{path}: {repeated:,} queries come twice; each has one target")
    return found


def prefix(stored: StoredTokens, n_epochs: int) -> StoredTokens:
    """Return the first epochs of stored tokens."""
    return replace(stored, n_epochs=n_epochs)
