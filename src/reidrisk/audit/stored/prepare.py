"""Two stored tables, checked by the engine and written as whole numbers, without names, with the truth beside them."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk import io
from reidrisk.audit.spec import Tables
from reidrisk.audit.stored.opening import StoredTable, table_files
from reidrisk.audit.stored.pairs import MatchedIds, open_pairs, paired
from reidrisk.audit.stored.relations import Opened, open_relation, remove_rewritten
from reidrisk.base import sizes
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.notes import Note
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.io.tables.encoding import vocabulary_of
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


def prepare(session: Session, inputs: Tables, folder: Path, keep: bool, one_in: int = 1) -> Prepared:
    """Check the two tables of a spec, and write them to a folder as :class:`Prepared` says.

    Refused are people who come twice, tokens outside the vocabulary, and, unless they are to ``keep``, people in one
    table only; all of it is counted where the tables are. About one person in ``one_in`` is taken, the same in both.
    """
    labels = inputs.vocabulary is not None
    opened = [
        open_relation(session, side, getattr(inputs, side), folder, inputs.layout, labels=labels) for side in _SIDES
    ]
    tables = [one.table for one in opened]
    _check_epochs(opened)
    if len({table.labels for table in tables}) > 1:
        raise DataError("one table has labels and the other whole numbers; give both tables the same kind of tokens")
    if inputs.truth is not None:
        open_pairs(session, inputs.truth, tables, folder)
    given = inputs.truth is not None
    n_users = [_numbered(session, side, table, one_in, given) for side, table in zip(_SIDES, tables, strict=True)]
    n_tokens, vocabulary, notes = _encoded(session, inputs, tables)
    notes += tuple(note for one in opened for note in one.notes)
    found: MatchedIds = paired(session, tables, n_users, given, keep, part=one_in > 1)
    n_epochs = len(tables[0].epochs)
    columns = ", ".join(f"c{s}" for s in range(n_epochs))
    session.write(f"SELECT id, {columns} FROM coded_targets", str(folder / "targets"))
    session.write("SELECT * FROM matched", str(folder / "queries"))
    remove_rewritten(folder)
    stored = [written(str(folder / side), n, n_epochs, n_tokens) for side, n in zip(_SIDES, n_users, strict=True)]
    return Prepared(stored[0], stored[1], vocabulary, found.queries, found.origin, (*notes, *found.notes))


def written(folder: str, n_users: int, n_epochs: int, n_tokens: int) -> StoredTokens:
    """Return what was written to a folder as stored tokens; the name of its relation is that of the folder."""
    return StoredTokens(Path(folder).name, table_files(folder), n_users, n_epochs, n_tokens)


def _check_epochs(opened: list[Opened]) -> None:
    """Refuse two tables that are not of the same epochs."""
    tables = [one.table for one in opened]
    if len(tables[0].epochs) != len(tables[1].epochs):
        one, two = (f"{table.name} has {len(table.epochs)}" for table in tables)
        raise DataError(f"{one} epochs and {two}; give both tables the same epochs")
    if opened[0].periods is None or opened[1].periods is None or opened[0].periods == opened[1].periods:
        return
    only = next(epoch for epoch in opened[0].periods if epoch not in opened[1].periods)
    raise DataError(f"epoch {only} of {tables[0].name} is not in {tables[1].name}; name epochs alike")


def _numbered(session: Session, side: str, table: StoredTable, one_in: int, given: bool) -> int:
    """Take all rows, or those of one person in ``one_in``, and check who they are of."""
    columns = ", ".join([*table.epochs, *["user"] * table.named])
    if one_in > 1:
        # The same people in both tables: true pairs are known by the name in the second.
        by_pair = given and side == "targets"
        who = "coalesce(p.query, CAST(r.user AS STRING))" if by_pair else "CAST(r.user AS STRING)"
        some = session.share(who if table.named else "r.id", one_in)
        join = " LEFT JOIN pairs p ON CAST(r.user AS STRING) = p.target" if by_pair else ""
        places = "row_number() OVER (ORDER BY r.id) - 1 AS id"
        listed = ", ".join(f"r.{name}" for name in columns.split(", "))
        once = f"SELECT {'DISTINCT ' * by_pair}{listed}, r.id FROM all_{side} r{join} WHERE {some}"
        session.view(f"raw_{side}", f"SELECT {listed}, {places} FROM ({once}) r")
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
        known, notes = vocabulary_of({str(label) for label in found["label"]}, inputs.n_tokens, "the tables", 2)
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


def prefix(stored: StoredTokens, n_epochs: int) -> StoredTokens:
    """Return the first epochs of stored tokens."""
    return replace(stored, n_epochs=n_epochs)
