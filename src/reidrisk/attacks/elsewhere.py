"""Attacks on targets that are not here: learnt from some of them, and asked shard by shard where they are stored."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from reidrisk.attacks.base import Attack, Links, Wrapping
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.base import Ints, OptionError, Progress
from reidrisk.records import Traces
from reidrisk.search.answer import Best, Candidates
from reidrisk.search.engines import Engine


@dataclass(frozen=True, eq=False)
class ByShard:
    """A fitted attack as a scorer of shards: targets are tokens (n, r), queries Traces."""

    attack: ScoredAttack[Any]
    n_tokens: int

    def _posed(self, targets: Any, queries: Any) -> Posed:
        # What is read from a file has another type than what was learnt from: kernels are compiled for one of them.
        return self.attack.facing(Traces(targets, self.n_tokens))._posed(queries)

    def best(self, targets: Any, queries: Any, progress: Progress | None = None) -> Best:
        """Find best score, number of ties and lowest tied target of each query among these targets."""
        scorer, laid_out, asked = self._posed(targets, queries)
        found: Best = scorer.best(laid_out, asked)
        return found

    def candidates(self, targets: Any, queries: Any, k: int) -> Candidates:
        """Find the k best targets of each query."""
        scorer, laid_out, asked = self._posed(targets, queries)
        found: Candidates = scorer.candidates(laid_out, asked, k)
        return found

    def total(self, targets: Any, queries: Any, score: Ints) -> Ints:
        """Add up the likelihoods of these targets relative to the score given for each query."""
        scorer, laid_out, asked = self._posed(targets, queries)
        found: Ints = scorer.total(laid_out, asked, score)
        return found


class Elsewhere(Wrapping[Traces]):
    """A fitted attack whose targets an engine has stored; ``own`` are those whose scores may be asked for one by one.

    Its answers are those of the attack, had all targets been here: what it learnt it learnt before.
    """

    attack: ScoredAttack[Any]

    def __init__(self, attack: Attack[Any], targets: Any, engine: Engine, own: tuple[Ints, Traces]) -> None:
        if not isinstance(attack, ScoredAttack):
            raise OptionError(f"{attack.name} does not link by score alone; it cannot be asked shard by shard")
        self.attack, self.targets, self.engine = attack, targets, engine
        self._ids, self._own = own

    @property
    def compares_queries(self) -> bool:
        """As the attack does."""
        return self.attack.compares_queries

    def fit(self, targets: Traces) -> Self:
        """Return self: what there is to learn was learnt."""
        return self

    def link(self, queries: Traces, probability: bool = False, *, engine: Engine | None = None) -> Links:
        """Link every query to its best target, by asking each shard."""
        scorer, where = ByShard(self.attack, self.targets.n_tokens), engine or self.engine
        if probability:  # the temperature is learnt when first asked for
            self.attack.link(queries.take(np.arange(1)), probability=True)
        found, sure = where.best(scorer, self.targets, queries), None
        if probability and getattr(self.attack._posed(queries).scorer, "per_nat", 0.0) > 0:
            sure = self.attack._sure(found, where.total(scorer, self.targets, queries, found.score))
        return Links(target=found.target, score=found.score, n_ties=found.n_ties, probability=sure)

    def score(self, queries: Traces, target_index: Ints) -> Ints:
        """Return the score of each query with the given target, which must be one of ``own``."""
        place = np.searchsorted(self._ids, target_index)
        if not np.array_equal(self._ids[np.minimum(place, len(self._ids) - 1)], target_index):
            raise OptionError("only targets whose tokens were fetched can be scored one by one")
        return self.attack.facing(self._own).score(queries, place)

    def candidates(
        self, queries: Traces, k: int, among: Ints | None = None, *, engine: Engine | None = None
    ) -> tuple[Ints, Ints]:
        """Return the k best targets of each query and their scores."""
        if among is not None:
            raise OptionError("stored targets are asked all together, not some of them")
        scorer = ByShard(self.attack, self.targets.n_tokens)
        found = (engine or self.engine).candidates(scorer, self.targets, queries, k)
        return found.target, found.score
