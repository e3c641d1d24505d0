"""Scores of pairs, shard by shard: what each shard of the targets answers, and how the answers become one."""

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any, NamedTuple, TypeVar

import numpy as np

from reidrisk.base.arrays import Ints
from reidrisk.search.answer import Best, Candidates, merged, merged_candidates
from reidrisk.search.engines.base import Scorer, Targets

ROWS = 1_000_000
"""Targets of a shard, at most."""

Answer = TypeVar("Answer")


class Shard(NamedTuple):
    """Some targets, and the row of each among all of them, ascending."""

    rows: Ints
    targets: Any


class Question(NamedTuple):
    """What is asked of every shard: a scorer's verb, the queries, and what the verb takes beside them."""

    verb: str
    scorer: Scorer | None
    queries: Any
    more: Any = None

    def answer(self, shard: Shard) -> Any:
        """Return the scorer's answer for one shard, with rows of all targets."""
        rows, targets = shard
        assert self.scorer is not None
        if self.verb == "best":
            found = self.scorer.best(targets, self.queries)
            # A target of -1 is no answer, whatever the shard.
            return found._replace(target=np.where(found.target >= 0, rows[np.maximum(found.target, 0)], -1))
        if self.verb == "candidates":
            some = self.scorer.candidates(targets, self.queries, min(self.more, len(rows)))
            return some._replace(target=rows[some.target])
        return self.scorer.total(targets, self.queries, self.more)

    def merged(self, answers: Iterable[Any]) -> Any:
        """Return the answer for all shards; their order does not matter."""
        if self.verb == "best":
            return reduce(merged, answers)
        if self.verb == "candidates":
            return reduce(lambda one, two: merged_candidates([one, two], self.more), answers)
        return reduce(np.add, answers)


def cut(targets: Targets, rows: int = ROWS) -> Iterator[Shard]:
    """Cut targets that are in memory into shards of this many rows."""
    if len(targets) <= rows:
        yield Shard(np.arange(len(targets)), targets)
        return
    for start in range(0, len(targets), rows):
        some = np.arange(start, min(start + rows, len(targets)))
        yield Shard(some, targets.take(some))


class Sharding:
    """An engine's verbs over shards; ``mapped`` says where shards are answered."""

    def mapped(self, question: Question, targets: Any) -> Any:
        """Return the merged answer of all shards."""
        raise NotImplementedError

    def best(self, scorer: Scorer, targets: Any, queries: Any) -> Best:
        """Find best score, number of ties and lowest tied target of each query."""
        found: Best = self.mapped(Question("best", scorer, queries), targets)
        return found

    def candidates(self, scorer: Scorer, targets: Any, queries: Any, k: int) -> Candidates:
        """Find the k best targets of each query."""
        found: Candidates = self.mapped(Question("candidates", scorer, queries, k), targets)
        return found

    def total(self, scorer: Scorer, targets: Any, queries: Any, score: Ints) -> Ints:
        """Add up the likelihoods of all targets relative to the score given for each query."""
        found: Ints = self.mapped(Question("total", scorer, queries, score), targets)
        return found


def over(question: Question, shards: Iterable[Shard], tell: Callable[[int], None] | None = None) -> Any:
    """Answer shard by shard, here, holding one shard and one answer at a time."""
    found = None
    for done, shard in enumerate(shards):
        answer = question.answer(shard)
        found = answer if found is None else question.merged([found, answer])
        if tell is not None:
            tell(done + 1)
    return found
