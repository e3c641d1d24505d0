"""Attacks whose score is a sum over epochs: what a token of the query is worth beside the target's token there."""

from abc import abstractmethod
from dataclasses import replace
from typing import Self

import numpy as np

from reidrisk import search
from reidrisk.attacks.base import check_comparable
from reidrisk.attacks.pooled import Observed, Pooled, as_traces, gathered
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.base import DataError, Ints
from reidrisk.records import Traces
from reidrisk.search.weights import AnyWeights


class PositionalAttack(ScoredAttack[Observed]):
    """An attack whose score is a sum over epochs of a weight that depends on the two tokens there.

    A subclass says what the weights are; a missing token on either side adds nothing. Where several observers are
    pooled, the tokens of every observer of the targets are compared with those of every observer of the queries, and
    the scores add up: score = sum over both observers and epochs. Several looks at one top set are not independent,
    so this sum is no likelihood, and a pooled attack gives no probability.
    """

    weights_: AnyWeights
    _known: Traces

    @abstractmethod
    def _weights(self, targets: Traces) -> AnyWeights:
        """Return the weights this attacker uses after having seen the targets."""

    def fit(self, targets: Observed) -> Self:
        """Learn the weights and lay the targets out for the search; a list of observers is pooled."""
        records = gathered(targets)
        self._known = as_traces(records, self.name)
        self._observers = len(records.observers) if isinstance(records, Pooled) else 1
        self.weights_ = self._weights(self._known)
        self._indices: dict[int, search.Index] = {}
        return self

    def narrowed(self, rows: Ints) -> Self:
        """Return this attacker with the weights it has learnt, looking at these target rows only."""
        new = super().narrowed(rows)
        new._indices = {}
        return new

    def facing(self, targets: Observed) -> Self:
        """Return this attacker with the weights it has learnt, looking at other targets."""
        new = super().facing(targets)
        new._indices = {}
        return new

    def _laid_out(self, targets: Observed) -> Traces:
        found = as_traces(gathered(targets), self.name)
        check_comparable(self._known, found, (self._known.n_epochs, found.n_epochs))
        return found

    def _columns(self, asking: int) -> Ints:
        """Return the column of the targets in each column of the comparison with this many observers of the queries."""
        by_observer = np.arange(self._known.n_epochs).reshape(self._observers, 1, -1)
        return np.repeat(by_observer, asking, axis=1).ravel()

    def _posed(self, queries: Observed) -> Posed:
        """Return targets, queries and weights with a column for each pair of observers and epoch."""
        self._refuse_unfitted("_known")
        records, known = gathered(queries), self._known
        if not isinstance(records, Traces | Pooled):
            raise DataError(f"{self.name} compares traces, not {type(records).__name__}")
        check_comparable(known, records, (known.n_epochs // self._observers, records.n_epochs))
        asking = len(records.observers) if isinstance(records, Pooled) else 1
        tokens, weights = as_traces(records, self.name).tokens, self.weights_
        if asking not in self._indices:
            laid_out = known.tokens if asking == 1 else known.tokens[:, self._columns(asking)]
            self._indices[asking] = search.Index(laid_out, known.n_tokens)
        if self._observers > 1:
            tokens = np.tile(tokens, (1, self._observers))
        if asking > 1 and isinstance(weights, search.PairWeights) and len(weights.table) > 1:
            weights = replace(weights, table=weights.table[self._columns(asking)])
        elif asking > 1 and isinstance(weights, search.Weights) and len(weights.match) > 1:
            columns = self._columns(asking)
            weights = replace(weights, match=weights.match[columns], mismatch=weights.mismatch[columns])
        if asking * self._observers > 1:
            weights = replace(weights, per_nat=0)
        return Posed(search.EpochScorer(weights), self._indices[asking], tokens)
