"""Attacks that link to the best score: what they learn becomes a scorer, which an engine asks."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np

from reidrisk.attacks.base import Attack, Links, Records
from reidrisk.base import Floats, Ints, OptionError, Signed
from reidrisk.search.answer import UNIT, Best, Candidates, check_k
from reidrisk.search.engines import Engine, LocalEngine


class Posed(NamedTuple):
    """A question to an engine: the scorer, the targets it looks at, and the queries as it takes them."""

    scorer: Any
    targets: Any
    queries: Any


class ScoredAttack(Attack[Records]):
    """An attack that links to the best score, and hands its scorer to an engine (:mod:`reidrisk.search.engines`).

    A subclass's ``fit`` sets ``_known``, the targets as the scorer takes them; ``_posed`` does the same for queries.
    """

    _known: Any

    @abstractmethod
    def _posed(self, queries: Records) -> Posed:
        """Check the queries, and return the question to ask."""

    def _sure(self, best: Best, total: Ints) -> Floats:
        """Return the posterior of the best targets, from the sums of all likelihoods relative to theirs."""
        return np.asarray(UNIT / total)

    def nobody(self, queries: Records, *, engine: Engine | None = None) -> tuple[Floats, float] | None:
        """Return how likely each query is if its person is no target's, and the share of queries whose person is one.

        That is the log of a likelihood (q,) beside the sum of those of all targets, where both are as likely before.
        ``None`` where everybody is taken to be among the targets.
        """
        return None

    def taught(self, queries: Records, near: Ints, chance: Floats) -> Self:
        """Return this attacker after it has learnt from the ``chance`` that queries are of the targets ``near`` (q, k).

        Itself, where it has nothing to learn from that.
        """
        return self

    def narrowed(self, rows: Ints) -> Self:
        """Return this attacker, with all it has learnt, looking at these target rows only; its row i is ``rows[i]``."""
        self._refuse_unfitted("_known")
        new = copy.copy(self)
        new._known = self._known.take(self._chosen(rows, len(self._known)))
        return new

    def facing(self, targets: Records) -> Self:
        """Return this attacker, with all it has learnt, looking at other targets, such as a shard of a larger table."""
        self._refuse_unfitted("_known")
        new = copy.copy(self)
        new._known = self._laid_out(targets)
        return new

    def _laid_out(self, targets: Records) -> Any:
        """Return other targets as the scorer takes them, by what was learnt before."""
        raise OptionError(f"{self.name} learns from all that it looks at; it cannot be asked shard by shard")

    def link(self, queries: Records, probability: bool = False, *, engine: Engine | None = None) -> Links:
        """Link every query to its best target; with ``probability``, say how sure the model is, if there is one."""
        posed, where, sure = self._posed(queries), engine or LocalEngine(), None
        asked = probability and getattr(posed.scorer, "per_nat", 0.0) > 0
        if asked and isinstance(where, LocalEngine):
            found, total = where.best_and_total(*posed)
            sure = self._sure(found, total)
        else:
            found = where.best(*posed)
            sure = self._sure(found, where.total(*posed, found.score)) if asked else None
        return Links(target=found.target, score=found.score, n_ties=found.n_ties, probability=sure)

    def score(self, queries: Records, target_index: Ints) -> Ints:
        """Return the score of each query with the given target row."""
        scorer, targets, asked = self._posed(queries)
        return np.asarray(scorer.pairs(targets, asked, self._rows(target_index, len(asked), len(targets))))

    def candidates(
        self, queries: Records, k: int, among: Ints | None = None, *, engine: Engine | None = None
    ) -> tuple[Ints, Ints]:
        """Return the k best targets of each query and their scores, best first, equals by row or as in ``among``."""
        scorer, targets, asked = self._posed(queries)
        rows = None if among is None else self._chosen(among, len(targets))
        looked_at = targets if rows is None else targets.take(rows)
        check_k(k, len(looked_at))
        found: Candidates = (engine or LocalEngine()).candidates(scorer, looked_at, asked, k)
        return found.target if rows is None else rows[found.target], found.score

    def near_best(self, queries: Records, reach: Ints) -> Signed | None:
        """Return the score of every query with every target, exact as far as ``reach`` below the best."""
        scorer, targets, asked = self._posed(queries)
        return np.asarray(scorer.scores(targets, asked, reach))
