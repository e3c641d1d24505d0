"""What every attack does: learn from the targets, then link queries to them; it never sees the truth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from reidrisk import search
from reidrisk.errors import DataError, OptionError
from reidrisk.traces import Traces

__all__ = ["Attack", "Links", "PositionalAttack", "candidates_among"]

Progress = Callable[[float], None]
Records = TypeVar("Records")
"""What an attack compares: Traces or Bags."""


@dataclass(frozen=True, eq=False)
class Links:
    """The attacker's answers.

    Attributes
    ----------
    target : (q,) int64
        Row of the linked target, the lowest where several tie; -1 = no answer.
    score : (q,) int64
        Score of the link on the attack's integer grid.
    n_ties : (q,) int64
        Number of targets that share the best score; the attacker picks one of them at random.
    probability : (q,) float64 or None
        How sure the attack's own model is of one of these targets, where it has such a model.
    """

    target: npt.NDArray[np.int64]
    score: npt.NDArray[np.int64]
    n_ties: npt.NDArray[np.int64]
    probability: npt.NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.target)


class Attack(ABC, Generic[Records]):
    """The common interface, with the habits of scikit-learn: parameters in ``__init__``, ``fit`` returns self."""

    @property
    def name(self) -> str:
        """Short name for tables and charts."""
        return type(self).__name__

    @property
    @abstractmethod
    def description(self) -> str:
        """What the attacker does and assumes, in two sentences, with the reference."""

    @abstractmethod
    def fit(self, targets: Records) -> Self:
        """Learn from the targets: all that this attacker sees before the queries come."""

    @abstractmethod
    def link(self, queries: Records, probability: bool = False) -> Links:
        """Link every query to a target; ``probability=True`` also asks the attack how sure it is."""

    @abstractmethod
    def score(self, queries: Records, target_index: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the score of each query with the given target row."""

    @abstractmethod
    def candidates(
        self, queries: Records, k: int, among: npt.NDArray[np.int64] | None = None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the k best targets of each query and their scores, best first.

        Among equals the lower row comes first. With ``among`` (rows of targets) only these targets are looked at, and
        among equals the one that stands first there comes first.
        """

    def _rows(self, target_index: npt.NDArray[np.int64], n_queries: int, n_targets: int) -> npt.NDArray[np.int64]:
        """Check that there is one existing target row for each query."""
        rows = np.asarray(target_index)
        if rows.shape != (n_queries,) or rows.dtype.kind not in "iu":
            raise OptionError(f"give one target row for each of the {n_queries} queries, not shape {rows.shape}")
        if rows.size and (rows.min() < 0 or rows.max() >= n_targets):
            raise OptionError(f"target rows lie in [0, {n_targets}); there is one outside")
        return rows


class PositionalAttack(Attack[Traces]):
    """An attack whose score is a sum over epochs of a weight that depends on the two tokens there.

    A subclass says what the weights are; a missing token on either side adds nothing.
    """

    weights_: search.Weights | search.PairWeights

    @abstractmethod
    def _weights(self, targets: Traces) -> search.Weights | search.PairWeights:
        """Return the weights this attacker uses after having seen the targets."""

    def fit(self, targets: Traces) -> Self:
        """Learn the weights and lay the targets out for the search."""
        if not isinstance(targets, Traces):
            raise DataError(f"{self.name} compares traces, not {type(targets).__name__}")
        self.weights_ = self._weights(targets)
        self._targets = targets
        self._index = search.Index(targets.tokens, targets.n_tokens)
        return self

    def link(self, queries: Traces, probability: bool = False, progress: Progress | None = None) -> Links:
        """Link every query to its best target; with ``probability``, say how sure the model is."""
        self._check(queries)
        found = search.best(self._index, queries.tokens, self.weights_, progress=progress)
        sure = None
        if probability and self.weights_.per_nat:
            sure = search.posterior(self._index, queries.tokens, self.weights_, found.score, progress=progress)
        return Links(target=found.target, score=found.score, n_ties=found.n_ties, probability=sure)

    def score(self, queries: Traces, target_index: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the score of each query with the given target row."""
        self._check(queries)
        rows = self._rows(target_index, len(queries), len(self._targets))
        return search.pair_scores(self._targets.tokens, queries.tokens, self.weights_, rows)

    def candidates(
        self, queries: Traces, k: int, among: npt.NDArray[np.int64] | None = None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the k best targets of each query and their scores, best first."""
        self._check(queries)
        return candidates_among(self._index, queries.tokens, self.weights_, k, among)

    def _check(self, queries: Traces) -> None:
        fitted: Any = getattr(self, "_targets", None)
        if fitted is None:
            raise OptionError(f"{self.name} has not seen any targets yet; call fit(targets) first")
        if not isinstance(queries, Traces):
            raise DataError(f"{self.name} compares traces, not {type(queries).__name__}")
        for what, a, b in (
            ("epochs", fitted.n_epochs, queries.n_epochs),
            ("tokens in the vocabulary", fitted.n_tokens, queries.n_tokens),
        ):
            if a != b:
                raise DataError(f"targets have {a} {what}, queries have {b}; both must be the same")
        if fitted.vocabulary and queries.vocabulary and fitted.vocabulary != queries.vocabulary:
            raise DataError("targets and queries have different vocabularies; read both over one (io.read_pair)")


def candidates_among(
    index: search.Index,
    queries: npt.NDArray[Any],
    weights: search.Weights | search.PairWeights,
    k: int,
    among: npt.NDArray[np.int64] | None,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Find the k best of these target rows, equals in the order in which they are given."""
    if among is None:
        return search.candidates(index, queries, weights, k)
    rows, scores = search.candidates(search.Index(index.tokens[among], index.n_tokens), queries, weights, k)
    return among[rows], scores
