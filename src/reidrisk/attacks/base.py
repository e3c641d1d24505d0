"""What every attack does: learn from the targets, then link queries to them; it never sees the truth."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from reidrisk import search
from reidrisk.attacks.pooled import Observed, Pooled, as_traces, gathered
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.progress import Progress
from reidrisk.mechanisms import TopKNoise
from reidrisk.records import Traces
from reidrisk.search.engines import Engine, LocalEngine

_SCORES = 2_000_000  # scores held at once where every target of a group is weighed

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

    @classmethod
    def knowing(cls, mechanism: TopKNoise, seed: int = 0) -> Self:
        """Return the attacker who knows this of the system; one without use for it is made plainly."""
        return cls()

    @abstractmethod
    def fit(self, targets: Records) -> Self:
        """Learn from the targets: all that this attacker sees before the queries come."""

    def look_around(self, queries: Records) -> Self:
        """See everybody the second observer saw, before some of them are linked.

        It matters to attacks that ask who is unique there. With no record at all, each query stands alone.
        """
        return self

    @property
    def compares_queries(self) -> bool:
        """Whether the answer for one query depends on the other queries; so it is taken to be of who looks around."""
        return type(self).look_around is not Attack.look_around

    def narrowed(self, rows: npt.NDArray[np.int64]) -> Attack[Records]:
        """Return this attacker, with all it has learnt, looking at these target rows only; its row i is ``rows[i]``."""
        return Narrowed(self, rows)

    @abstractmethod
    def link(self, queries: Records, probability: bool = False, *, engine: Engine | None = None) -> Links:
        """Link every query to a target; ``probability=True`` also asks the attack how sure it is.

        ``engine`` is where targets are searched, default: here. The answer is the same; an attack that has learnt a
        :class:`reidrisk.search.engines.Scorer` hands it over, one that has none does its own search.
        """

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

    def near_best(self, queries: Records, reach: npt.NDArray[np.int64]) -> npt.NDArray[np.signedinteger[Any]] | None:
        """Return the score of every query with every target, (q, n); ``None`` where the best score is not the link.

        A score must be exact where it is at most ``reach`` (q,) below the query's best, or everywhere if that is
        negative; what is further below may be any lower number. This tells how links change when a target leaves, see
        :mod:`reidrisk.measure.jackknife`; without it, intervals hold for these targets only.
        """
        return None

    def _refuse_unfitted(self, learnt: str) -> None:
        """Refuse to answer before ``fit``, which is what sets the attribute ``learnt``."""
        if not hasattr(self, learnt):
            raise OptionError(f"{self.name} has not seen any targets yet; call fit(targets) first")

    def _rows(self, target_index: npt.NDArray[np.int64], n_queries: int, n_targets: int) -> npt.NDArray[np.int64]:
        """Check that there is one existing target row for each query."""
        rows = np.asarray(target_index)
        if rows.shape != (n_queries,) or rows.dtype.kind not in "iu":
            raise OptionError(f"give one target row for each of the {n_queries} queries, not shape {rows.shape}")
        if rows.size and (rows.min() < 0 or rows.max() >= n_targets):
            raise OptionError(f"target rows lie in [0, {n_targets}); there is one outside")
        return rows

    def _chosen(self, rows: npt.ArrayLike, n_targets: int) -> npt.NDArray[np.int64]:
        """Check the target rows to which an attack is narrowed: at least one, and each an existing one."""
        found = _row_numbers(rows)
        return self._rows(found, len(found), n_targets)


def check_k(k: int, n_targets: int) -> None:
    """Refuse to give no candidate, or more of them than there are targets."""
    if not 1 <= k <= n_targets:
        raise OptionError(f"cannot give {k} candidates of {n_targets} targets; choose from 1 to that number")


def check_comparable(targets: Any, queries: Any, epochs: tuple[int, int]) -> None:
    """Refuse tables over different vocabularies, or whose observers saw different numbers of epochs."""
    tokens = targets.n_tokens, queries.n_tokens
    for what, (a, b) in (("epochs", epochs), ("tokens in the vocabulary", tokens)):
        if a != b:
            raise DataError(f"targets have {a} {what}, queries have {b}; both must be the same")
    if targets.vocabulary and queries.vocabulary and targets.vocabulary != queries.vocabulary:
        raise DataError("targets and queries have different vocabularies; read both over one (io.read_pair)")


def _row_numbers(rows: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Refuse what are no numbers of rows, and no rows at all."""
    found = np.asarray(rows)
    if found.ndim != 1 or not found.size or found.dtype.kind not in "iu":
        raise OptionError(f"give the rows of at least one target, whole numbers, not {found.dtype} {found.shape}")
    return found.astype(np.int64)


class Narrowed(Attack[Records]):
    """A fitted attack that looks at some of its targets; ``narrowed`` of any attack that knows no quicker way.

    It links to the best of them by score, as the attack's ``candidates`` give it, and always answers.
    """

    def __init__(self, attack: Attack[Records], rows: npt.NDArray[np.int64]) -> None:
        self.attack, self.rows = attack, _row_numbers(rows)

    @property
    def name(self) -> str:
        """Name of the attack."""
        return self.attack.name

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return self.attack.description

    def fit(self, targets: Records) -> Self:
        """Refuse: it was fitted before it was narrowed."""
        raise OptionError(f"{self.name} was narrowed after it was fitted; fit the attack and narrow it again")

    def link(self, queries: Records, probability: bool = False, *, engine: Engine | None = None) -> Links:
        """Link every query to the best of the rows, ties counted among them."""
        asked: Any = gathered(queries)
        target, score, n_ties = (np.zeros(len(asked), dtype=np.int64) for _ in range(3))
        size = max(1, _SCORES // len(self.rows))
        for start in range(0, len(asked), size):
            part = slice(start, start + size)
            found, scores = self.candidates(asked.take(part), len(self.rows))
            target[part], score[part] = found[:, 0], scores[:, 0]
            n_ties[part] = (scores == scores[:, :1]).sum(axis=1)
        return Links(target=target, score=score, n_ties=n_ties)

    def score(self, queries: Records, target_index: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the score of each query with the given one of the rows."""
        asked: Any = gathered(queries)
        return self.attack.score(queries, self.rows[self._rows(target_index, len(asked), len(self.rows))])

    def candidates(
        self, queries: Records, k: int, among: npt.NDArray[np.int64] | None = None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the k best of the rows for each query and their scores, best first."""
        rows = self.rows if among is None else self.rows[self._chosen(among, len(self.rows))]
        found, scores = self.attack.candidates(queries, k, rows)
        order = np.argsort(self.rows, kind="stable")
        return order[np.searchsorted(self.rows, found, sorter=order)], scores

    def near_best(self, queries: Records, reach: npt.NDArray[np.int64]) -> npt.NDArray[np.signedinteger[Any]] | None:
        """Return the score of every query with every one of the rows, where the attack gives it."""
        # The best of the rows may be far below the best of all: every score must be exact.
        found = self.attack.near_best(queries, np.full(len(reach), -1, dtype=np.int64))
        return None if found is None else found[:, self.rows]


class PositionalAttack(Attack[Observed]):
    """An attack whose score is a sum over epochs of a weight that depends on the two tokens there.

    A subclass says what the weights are; a missing token on either side adds nothing. Where several observers are
    pooled, the tokens of every observer of the targets are compared with those of every observer of the queries, and
    the scores add up: score = sum over both observers and epochs. Several looks at one top set are not independent,
    so this sum is no likelihood, and a pooled attack gives no probability.
    """

    weights_: search.Weights | search.PairWeights

    @abstractmethod
    def _weights(self, targets: Traces) -> search.Weights | search.PairWeights:
        """Return the weights this attacker uses after having seen the targets."""

    def fit(self, targets: Observed) -> Self:
        """Learn the weights and lay the targets out for the search; a list of observers is pooled."""
        records = gathered(targets)
        self._targets = as_traces(records, self.name)
        self._observers = len(records.observers) if isinstance(records, Pooled) else 1
        self.weights_ = self._weights(self._targets)
        self._indices: dict[int, search.Index] = {}
        return self

    def narrowed(self, rows: npt.NDArray[np.int64]) -> Attack[Observed]:
        """Return this attacker with the weights it has learnt, looking at these target rows only."""
        new = copy.copy(self)
        new._targets, new._indices = self._targets.take(self._chosen(rows, len(self._targets))), {}
        return new

    def link(
        self,
        queries: Observed,
        probability: bool = False,
        progress: Progress | None = None,
        *,
        engine: Engine | None = None,
    ) -> Links:
        """Link every query to its best target; with ``probability``, say how sure the model is."""
        index, tokens, weights = self._aligned(queries)
        found = (engine or LocalEngine(progress)).best(search.EpochScorer(weights), index, tokens)
        sure = None
        if probability and weights.per_nat and index.n_epochs == self._n_epochs:
            sure = search.posterior(index, tokens, weights, found.score, progress=progress)
        return Links(target=found.target, score=found.score, n_ties=found.n_ties, probability=sure)

    def score(self, queries: Observed, target_index: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the score of each query with the given target row."""
        index, tokens, weights = self._aligned(queries)
        rows = self._rows(target_index, len(tokens), index.n_users)
        return search.pair_scores(index.tokens, tokens, weights, rows)

    def candidates(
        self, queries: Observed, k: int, among: npt.NDArray[np.int64] | None = None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the k best targets of each query and their scores, best first."""
        index, tokens, weights = self._aligned(queries)
        chosen = None if among is None else self._chosen(among, index.n_users)
        return candidates_among(index, tokens, weights, k, chosen)

    def near_best(self, queries: Observed, reach: npt.NDArray[np.int64]) -> npt.NDArray[np.signedinteger[Any]] | None:
        """Return the score of every query with every target, all of them exact."""
        return search.scan.scores(*self._aligned(queries))

    @property
    def _n_epochs(self) -> int:
        return self._targets.n_epochs // self._observers

    def _columns(self, asking: int) -> npt.NDArray[np.int64]:
        """Return the column of the targets in each column of the comparison with so many observers of the queries."""
        by_observer = np.arange(self._targets.n_epochs).reshape(self._observers, 1, self._n_epochs)
        return np.repeat(by_observer, asking, axis=1).ravel()

    def _aligned(self, queries: Observed) -> tuple[search.Index, npt.NDArray[Any], search.Weights | search.PairWeights]:
        """Return targets, queries and weights with a column for each pair of observers and epoch."""
        records = gathered(queries)
        self._check(records)
        asking = len(records.observers) if isinstance(records, Pooled) else 1
        flat = as_traces(records, self.name)
        if asking not in self._indices:
            tokens = self._targets.tokens
            tokens = tokens if asking == 1 else tokens[:, self._columns(asking)]
            self._indices[asking] = search.Index(tokens, self._targets.n_tokens)
        asked = flat.tokens if self._observers == 1 else np.tile(flat.tokens, (1, self._observers))
        return self._indices[asking], asked, _weights_of(self.weights_, self._columns(asking), asking)

    def _check(self, queries: Any) -> None:
        self._refuse_unfitted("_targets")
        if not isinstance(queries, Traces | Pooled):
            raise DataError(f"{self.name} compares traces, not {type(queries).__name__}")
        check_comparable(self._targets, queries, (self._n_epochs, queries.n_epochs))


def _weights_of(
    weights: search.Weights | search.PairWeights, columns: npt.NDArray[np.int64], asking: int
) -> search.Weights | search.PairWeights:
    """Return the weights of each column of a comparison, where they differ from epoch to epoch."""
    if asking == 1:
        return weights
    if isinstance(weights, search.PairWeights):
        return weights if len(weights.table) == 1 else search.PairWeights(weights.table[columns], weights.per_nat)
    if len(weights.match) == 1:
        return weights
    return search.Weights(weights.match[columns], weights.mismatch[columns], weights.per_nat)


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
