"""What the engines that speak SQL have in common: the search by joins where it fits, by shards where it does not."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from reidrisk.base.arrays import Ints
from reidrisk.base.errors import EngineError
from reidrisk.base.progress import Progress, silent
from reidrisk.search.answer import Best, Candidates
from reidrisk.search.engines.base import Scorer
from reidrisk.search.engines.join import MOST_SETS, LatticeJoin, Pattern, joinable, n_sets, weight_columns
from reidrisk.search.engines.parts import FinishedParts
from reidrisk.search.engines.shards import Sharding
from reidrisk.search.engines.stored import StoredTokens
from reidrisk.search.index import Index
from reidrisk.search.weights import Weights, check_fit

Columns = dict[str, Any]


class Session(Protocol):
    """A connection that runs statements; what it has made is gone when it ends."""

    def put(self, name: str, columns: Columns) -> None:
        """Make a relation of arrays."""

    def keep(self, name: str, statement: str) -> None:
        """Run a statement, and keep what it gives under a name."""

    def view(self, name: str, statement: str) -> None:
        """Give a statement a name, and run it whenever the name is used."""

    def drop(self, name: str) -> None:
        """Forget what was kept."""

    def fetch(self, statement: str) -> Columns:
        """Run a statement, and return its columns as arrays."""

    def share(self, column: str, of: int) -> str:
        """Return the condition that chooses one in ``of`` by what a column holds."""

    def columns(self, name: str) -> dict[str, str]:
        """Return the columns of a table, and the type of each."""

    def parquet(self, name: str, files: Sequence[str], numbered: bool = False) -> None:
        """Name Parquet files; ``numbered`` adds ``file_name`` and ``file_row``, where each row stands."""

    def write(self, statement: str, folder: str) -> None:
        """Run a statement, and write what it gives as Parquet files into a folder that is not there yet."""


class Relational(Sharding):
    """An engine whose dialect gives sessions; scores that only ask which epochs agree are found by joins."""

    name: str = ""
    progress: Progress | None = None
    spill: Path
    """Where tables are written while an audit lasts."""
    resume: Path | None = None
    """Where finished parts of an audit are kept, so that a killed one goes on from them; default: nowhere."""
    people: Path | None = None
    """Where an audit writes what joins found of every person, as Parquet; default: nowhere, and nothing is kept."""

    @abstractmethod
    def session(self) -> Any:
        """Return a context manager that gives a :class:`Session`."""

    def best(self, scorer: Scorer, targets: Any, queries: Any) -> Best:
        """Find best score, number of ties and lowest tied target of each query."""
        weights = joined_weights(scorer)
        scorer = _of_stored(scorer, targets)
        if weights is None or not isinstance(targets, Index | StoredTokens):
            return super().best(scorer, targets, queries)
        with self.session() as session:
            if isinstance(targets, Index):
                check_fit(targets, queries, weights)
                patterns = tuple(tuple(map(int, epochs)) for epochs, _ in targets.patterns)
                session.put("targets", _tokens(targets.tokens))
            else:
                session.parquet("targets", targets.files)
                patterns = patterns_of(session, "targets", targets.n_epochs)
            if n_sets(patterns) <= MOST_SETS:
                session.put("queries", _tokens(queries))
                join = LatticeJoin(queries.shape[1], targets.n_tokens, patterns, len(weights.match) == 1)
                name = searched(session, join, weights, self.progress)
                return _by_query(session.fetch(f"SELECT id, score, ties, lowest FROM {name}"), len(queries))
        return super().best(scorer, targets, queries)

    def candidates(self, scorer: Scorer, targets: Any, queries: Any, k: int) -> Candidates:
        """Find the k best targets of each query."""
        return super().candidates(_of_stored(scorer, targets), targets, queries, k)

    def total(self, scorer: Scorer, targets: Any, queries: Any, score: Ints) -> Ints:
        """Add up the likelihoods of all targets relative to the score given for each query."""
        return super().total(_of_stored(scorer, targets), targets, queries, score)


@dataclass(frozen=True)
class _OfTokens:
    """A scorer of an index as one of stored tokens, shard by shard."""

    scorer: Any
    n_tokens: int

    def best(self, targets: Any, queries: Any, progress: Progress | None = None) -> Best:
        found: Best = self.scorer.best(Index(targets, self.n_tokens), queries)
        return found

    def candidates(self, targets: Any, queries: Any, k: int) -> Candidates:
        found: Candidates = self.scorer.candidates(Index(targets, self.n_tokens), queries, k)
        return found

    def total(self, targets: Any, queries: Any, score: Ints) -> Ints:
        found: Ints = self.scorer.total(Index(targets, self.n_tokens), queries, score)
        return found


def no_space(place: str | Path) -> EngineError:
    """Return what to say where a disk is full."""
    return EngineError(f"no space is left in {place}; name a larger folder (--spill, or --resume if that is full)")


def _of_stored(scorer: Any, targets: Any) -> Any:
    from reidrisk.search.plan import EpochScorer

    stored = isinstance(targets, StoredTokens) and isinstance(scorer, EpochScorer)
    return _OfTokens(scorer, targets.n_tokens) if stored else scorer


def joined_weights(scorer: Any) -> Weights | None:
    """Return the weights of a scorer whose search can be done by joins; None where it cannot."""
    from reidrisk.search.plan import EpochScorer

    if type(scorer) is not EpochScorer or scorer.method == "scan" or not joinable(scorer.weights):
        return None
    assert isinstance(scorer.weights, Weights)
    return scorer.weights


def searched(session: Session, join: LatticeJoin, weights: Weights, progress: Progress | None = None) -> str:
    """Run the statements of a search, and return the name of what was found: id, score, ties, lowest and more."""
    tell = progress or silent
    session.put(join.weights, weight_columns(weights))
    state = "state_0"
    session.keep(state, join.begin())
    batches = list(join.batches())
    for i, batch in enumerate(batches):
        tell("searching", i / len(batches))
        new = f"state_{i + 1}"
        session.keep(new, join.advance(state, batch))
        session.drop(state)
        state = new
    tell("searching", 1.0)
    return state


def resumed(
    session: Session,
    join: LatticeJoin,
    weights: Weights,
    parts: FinishedParts,
    name: str,
    progress: Progress | None = None,
) -> str:
    """Do what :func:`searched` does, with what each statement makes kept as a part: a killed search goes on there."""
    tell = progress or silent
    session.put(join.weights, weight_columns(weights))
    batches = list(join.batches())
    part = [f"{name}-{i}" for i in range(len(batches) + 1)]
    done = next((i for i in range(len(batches), -1, -1) if parts.found(part[i]) is not None), None)
    if done is None:
        session.write(join.begin(), str(parts.room(part[0])))
        parts.finish(part[0], {})
        done = 0
    for i, batch in enumerate(batches[done:], start=done):
        tell("searching", i / len(batches))
        session.parquet("state", parts.files(part[i]))
        session.write(join.advance("state", batch), str(parts.room(part[i + 1])))
        parts.finish(part[i + 1], {})
        parts.forget(part[i])
    session.parquet("state", parts.files(part[-1]))
    tell("searching", 1.0)
    return "state"


def patterns_of(session: Session, name: str, n_epochs: int) -> tuple[Pattern, ...]:
    """Return the sets of epochs in which targets were seen."""
    bits = " + ".join(f"CASE WHEN c{s} >= 0 THEN {1 << s} ELSE 0 END" for s in range(n_epochs))
    found = session.fetch(f"SELECT {bits} AS seen, count(*) AS n FROM {name} GROUP BY 1")
    return tuple(
        tuple(s for s in range(n_epochs) if int(seen) >> s & 1) for seen in sorted(found["seen"], reverse=True)
    )


def _tokens(tokens: Any) -> Columns:
    small = np.int16 if tokens.size == 0 or tokens.max() < 1 << 15 else np.int32
    return {"id": np.arange(len(tokens))} | {f"c{s}": tokens[:, s].astype(small) for s in range(tokens.shape[1])}


def _by_query(found: Columns, n: int) -> Best:
    """Return the answers in the order of the queries, whatever that of the rows."""
    place = np.empty(n, dtype=np.int64)
    place[found["id"]] = np.arange(n)
    return Best(*(found[name][place].astype(np.int64) for name in ("score", "ties", "lowest")))
