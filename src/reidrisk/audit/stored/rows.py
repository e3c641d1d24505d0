"""The rows of an audit of stored tables: of everyone where joins find them, of some people where pairs are scored."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks import Attack, Links, WeightedHamming
from reidrisk.attacks.elsewhere import Elsewhere
from reidrisk.attacks.positional import PositionalAttack
from reidrisk.audit.spec import AuditSpec
from reidrisk.audit.stored.prepare import Prepared, prefix
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.errors import DataError
from reidrisk.base.intervals import counted_interval, mean_interval
from reidrisk.base.notes import Note
from reidrisk.base.progress import Progress
from reidrisk.base.results import Risk
from reidrisk.base.streams import stream
from reidrisk.measure.risk import risk_of_links
from reidrisk.mechanisms.popularity import popularity_of_counts
from reidrisk.records import Traces, Truth
from reidrisk.search.engines.aggregates import token_counts
from reidrisk.search.engines.join import MOST_SETS, LatticeJoin, joinable, n_sets
from reidrisk.search.engines.parts import FinishedParts
from reidrisk.search.engines.relational import Relational, Session, patterns_of, resumed, searched
from reidrisk.search.weights import Weights

LEARN_FROM = 200_000
"""Targets, drawn at random, from which attacks on stored tables learn what joins cannot count; or all, if fewer."""


class Everyone(NamedTuple):
    """A row of everyone with what it is the mean of, counted, and the same for each of those who were drawn."""

    risk: Risk
    points: Floats
    counts: Floats
    drawn: Floats


@dataclass(frozen=True)
class World:
    """Two stored tables with what is held here of them: the drawn queries with their truth, and targets to learn from.

    ``drawn`` are rows of queries who have a target; ``asked`` their tokens, ``own`` those of their true targets.
    """

    session: Session
    engine: Relational
    tables: Prepared
    drawn: Ints
    truth: Ints
    asked: Traces
    own: tuple[Ints, Traces]
    taught: tuple[Ints, Traces]
    level: float
    seed: int
    parts: FinishedParts | None = None

    @classmethod
    def of(
        cls,
        session: Session,
        engine: Relational,
        tables: Prepared,
        drawn: Ints,
        spec: AuditSpec,
        parts: FinishedParts | None,
    ) -> World:
        """Fetch the drawn queries, and targets to learn from; ``parts`` are kept of a job that may be resumed."""
        seed = spec.seed or 0
        n, r, width = len(tables.targets), tables.targets.n_epochs, tables.targets.n_tokens
        session.put("drawn", {"id": drawn})
        found = session.fetch("SELECT q.* FROM queries q JOIN drawn d ON q.id = d.id WHERE q.truth >= 0")
        if not len(found["id"]):
            raise DataError(f"none of the {len(drawn):,} records drawn has a counterpart; draw more of them (--sample)")
        order = np.argsort(found["id"])
        rows, truth = found["id"][order].astype(np.int64), found["truth"][order].astype(np.int64)
        asked, true = (np.stack([found[f"{k}{s}"][order] for s in range(r)], axis=1).astype(np.int32) for k in "ct")
        ids, first = np.unique(truth, return_index=True)
        return cls(
            session,
            engine,
            tables,
            rows,
            truth,
            Traces(asked, width),
            (ids, Traces(true[first], width)),
            _taught(session, n, r, width, seed),
            spec.level,
            seed,
            parts,
        )

    def learnt(self, attack: Attack[Any], n_epochs: int) -> Attack[Any]:
        """Let an attack learn: how common tokens are from all targets, the rest from those that are here."""
        ids, some = self.taught
        attack.fit(some.epochs(n_epochs))
        if isinstance(attack, WeightedHamming) and len(ids) < len(self.tables.targets):
            counts = token_counts(self.session, "targets", n_epochs, some.n_tokens)
            attack.weights_ = attack.weigh(popularity_of_counts(counts, attack.top_k, attack.noise, attack.per_epoch))
        return attack

    def by_join(self, attack: Attack[Any], n_epochs: int, progress: Progress | None = None) -> Everyone | None:
        """Measure everyone by joins; None where this attack's scores, or too many patterns of gaps, do not allow it."""
        weights = getattr(attack, "weights_", None)
        if not isinstance(attack, PositionalAttack) or not isinstance(weights, Weights) or not joinable(weights):
            return None
        patterns = patterns_of(self.session, "targets", n_epochs)
        if n_sets(patterns) > MOST_SETS:
            return None
        join = LatticeJoin(n_epochs, self.tables.targets.n_tokens, patterns, len(weights.match) == 1, truth=True)
        name = f"{attack.name}-{n_epochs}"
        if self.parts is None:
            state = searched(self.session, join, weights, progress)
        elif (known := self.parts.found(f"{name}-row")) is not None:
            return self._of_counts(attack, n_epochs, *(_arrays(known[key]) for key in ("right", "total", "some")))
        else:
            state = resumed(self.session, join, weights, self.parts, name, progress)
        if self.engine.people is not None:  # rows of the table, no names
            found_of_each = f"SELECT id, score, ties, lowest, own = score AS found FROM {state} WHERE own IS NOT NULL"
            self.session.write(found_of_each, str(self.engine.people / name))
        asked = "count(*) AS n, sum(ties) AS ties"
        total = self.session.fetch(f"SELECT {asked} FROM {state} WHERE own IS NOT NULL")
        right = self.session.fetch(f"SELECT ties, count(*) AS n FROM {state} WHERE own = score GROUP BY ties")
        some = self.session.fetch(
            f"SELECT s.id, s.ties, s.own = s.score AS hit FROM {state} s JOIN drawn d ON s.id = d.id"
        )
        if self.parts is None:
            self.session.drop(state)
        else:
            found = {"right": right, "total": total, "some": some}
            self.parts.finish(f"{name}-row", {key: _listed(columns) for key, columns in found.items()})
            self.parts.forget(f"{name}-{len(list(join.batches()))}")
        return self._of_counts(attack, n_epochs, right, total, some)

    def _of_counts(self, attack: Attack[Any], n_epochs: int, right: Any, total: Any, some: Any) -> Everyone:
        """Return the rate of everyone from how many were linked rightly at each number of ties."""
        chosen = np.argsort(some["id"])
        credit = np.where(some["hit"][chosen], 1.0 / some["ties"][chosen].astype(np.float64), 0.0)
        drawn = credit[np.searchsorted(some["id"][chosen], self.drawn)]
        n, order = int(total["n"][0]), np.argsort(right["ties"])
        ties, people = (right[name][order].astype(np.int64) for name in ("ties", "n"))
        points = np.concatenate([[0.0], (1.0 / ties)[::-1]])
        counts = np.concatenate([[n - int(people.sum())], people[::-1]]).astype(np.float64)
        points, counts = points[counts > 0], counts[counts > 0]
        rate = float(math.fsum(points * counts) / n)
        low, high = counted_interval(points, counts, self.level)
        notes = (Note("truth", origin=self.tables.origin), Note("everyone-scored"))
        risk = Risk(
            rate=rate,
            low=low,
            high=high,
            incorrect=1.0 - rate,
            abstained=0.0,
            baseline=1.0 / len(self.tables.targets),
            n_targets=len(self.tables.targets),
            n_queries=n,
            attack=attack.name,
            n_epochs=n_epochs,
            level=self.level,
            mean_ties=int(total["ties"][0]) / n,
            everyone=True,
            notes=(*notes, Note("covers-records", why="elsewhere", level=self.level), Note("gaffke-conjectured")),
        )
        return Everyone(risk, points, counts, drawn)

    def elsewhere(self, attack: Attack[Any], n_epochs: int) -> Elsewhere:
        """Return a fitted attack that looks at all stored targets."""
        ids, own = self.own
        return Elsewhere(attack, prefix(self.tables.targets, n_epochs), self.engine, (ids, own.epochs(n_epochs)))

    def _kept_links(self, where: Elsewhere, asked: Traces, name: str) -> Links:
        """Return the links of the drawn queries: those of a finished part, where there is one."""
        known = None if self.parts is None else self.parts.found(name)
        if known is not None:
            return Links(**_arrays(known))
        links = where.link(asked)
        if self.parts is not None:
            self.parts.finish(name, _listed({"target": links.target, "score": links.score, "n_ties": links.n_ties}))
        return links

    def by_shards(self, attack: Attack[Any], n_epochs: int) -> Risk:
        """Measure the people who were drawn, against every target, shard by shard."""
        where = self.elsewhere(attack, n_epochs)
        asked = self.asked.epochs(n_epochs)
        links = self._kept_links(where, asked, f"{attack.name}-{n_epochs}-links")
        truth = Truth(self.truth, self.tables.origin)
        risk = risk_of_links(where, self.tables.targets, asked, links, truth, False, self.seed, self.level)
        return replace(risk, n_epochs=n_epochs)


def _listed(columns: Any) -> dict[str, list[Any]]:
    """Return columns as JSON writes them."""
    return {name: np.asarray(values).tolist() for name, values in columns.items()}


def _arrays(columns: dict[str, list[Any]]) -> dict[str, Any]:
    return {name: np.array(values) for name, values in columns.items()}


def _taught(session: Session, n: int, n_epochs: int, n_tokens: int, seed: int) -> tuple[Ints, Traces]:
    """Fetch the targets to learn from, in the order of their rows."""
    if n <= LEARN_FROM:
        found = session.fetch("SELECT * FROM targets")
    else:
        rows = stream(seed, "stored targets").choice(n, LEARN_FROM, replace=False, shuffle=False)
        session.put("taught", {"id": np.sort(rows)})
        found = session.fetch("SELECT t.* FROM targets t JOIN taught d ON t.id = d.id")
    order = np.argsort(found["id"])
    tokens = np.stack([found[f"c{s}"][order] for s in range(n_epochs)], axis=1).astype(np.int32)
    return found["id"][order].astype(np.int64), Traces(tokens, n_tokens)


def of_drawn(risk: Risk, drawn: Floats) -> Risk:
    """Return the row of everyone as one of the people who were drawn, to compare it with others of them."""
    rate, (low, high) = float(drawn.mean()), mean_interval(drawn, risk.level)
    part = replace(risk, rate=rate, low=low, high=high, incorrect=1.0 - rate)
    return replace(part, n_queries=len(drawn), per_user=drawn, everyone=False)
