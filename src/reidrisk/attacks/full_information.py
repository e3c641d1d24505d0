"""The attacker who knows every target's top sets: no one in this closed world does better (carey, Section 3)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from reidrisk import search
from reidrisk.attacks.base import Attack, Links, candidates_among
from reidrisk.attacks.registry import per_pair, register
from reidrisk.base.errors import DataError
from reidrisk.base.progress import Progress
from reidrisk.base.users import find_users
from reidrisk.mechanisms.top_k_noise import token_probabilities
from reidrisk.records import TopSets, Traces
from reidrisk.search.engines import Engine, LocalEngine


@register(kinds=(Traces,), cost=per_pair(1e-9), needs=("top sets",))
class FullInformation(Attack[Traces]):
    """Link to the target whose top sets hold most of the tokens shown: the optimal rule of full information.

    P[i, o] = prod over epochs of q_in where o_s is in the set S_i^s, q_out where it is not (carey, equation 6), so the
    best target is the one with most hits (Corollary 1). A missing token adds nothing.

    Parameters
    ----------
    top_sets : TopSets
        What the system holds of the targets: the same users, or row by row where nobody is named.
    noise : float
        Probability that a random token is shown instead.

    Examples
    --------
    >>> sets = TopSets([[[0, 1]], [[2, 3]]], n_tokens=9)
    >>> links = FullInformation(sets).fit(Traces([[0], [2]], 9)).link(Traces([[3], [8]], 9))
    >>> links.target.tolist(), links.n_ties.tolist()
    ([1, 0], [1, 2])
    """

    def __init__(self, top_sets: TopSets, noise: float = 0.05) -> None:
        self.top_sets = top_sets
        self.noise = noise

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return (
            "Knows the top sets of every target and links a record to the one whose sets hold most of its tokens. "
            "No attacker does better in the random-user setting of this closed world (carey, Corollary 1)."
        )

    def fit(self, targets: Traces) -> Self:
        """Find the top sets of the targets."""
        sets = self._sets_of(targets)
        q_in, q_out = token_probabilities(sets.n_tokens, sets.k, self.noise)
        # Sets are distinct, so being in one is one match among k columns: the scan needs no other kernel.
        self._k, self._n = sets.k, len(targets)
        self._shape = (targets.n_epochs, targets.n_tokens)
        self._flat = sets.tokens.reshape(len(targets), -1)
        self._index = search.Index(self._flat, sets.n_tokens)
        gain = search.to_grid([np.log(q_in / q_out) if q_out > 0.0 else 50.0])[0]
        match = np.full((1, sets.n_tokens), gain, dtype=np.int64)
        self.weights_ = search.Weights(match=match, mismatch=np.zeros_like(match))
        return self

    def link(
        self,
        queries: Traces,
        probability: bool = False,
        progress: Progress | None = None,
        *,
        engine: Engine | None = None,
    ) -> Links:
        """Link every query to the target whose sets hold most of its tokens."""
        tokens = self._repeated(queries)
        scorer = search.EpochScorer(self.weights_, "scan")
        found = (engine or LocalEngine(progress)).best(scorer, self._index, tokens)
        sure = None
        if probability:
            sure = search.posterior(self._index, tokens, self.weights_, found.score, progress=progress)
        return Links(target=found.target, score=found.score, n_ties=found.n_ties, probability=sure)

    def score(self, queries: Traces, target_index: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the score of each query with the given target row."""
        tokens = self._repeated(queries)
        return search.pair_scores(self._flat, tokens, self.weights_, self._rows(target_index, len(queries), self._n))

    def candidates(
        self, queries: Traces, k: int, among: npt.NDArray[np.int64] | None = None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the k best targets of each query and their scores, best first."""
        asked = self._repeated(queries)
        chosen = None if among is None else self._chosen(among, self._n)
        return candidates_among(self._index, asked, self.weights_, k, chosen)

    def near_best(self, queries: Traces, reach: npt.NDArray[np.int64]) -> npt.NDArray[np.signedinteger[Any]] | None:
        """Return the score of every query with every target, all of them exact."""
        return search.scan.scores(self._index, self._repeated(queries), self.weights_)

    def _repeated(self, queries: Traces) -> npt.NDArray[np.signedinteger[npt.NBitBase]]:
        self._refuse_unfitted("_index")
        if not isinstance(queries, Traces):
            raise DataError(f"{self.name} compares traces, not {type(queries).__name__}")
        if (queries.n_epochs, queries.n_tokens) != self._shape:
            raise DataError(
                f"targets have {self._shape[0]} epochs of {self._shape[1]} tokens, "
                f"queries have {queries.n_epochs} of {queries.n_tokens}; both must be the same"
            )
        return np.repeat(queries.tokens, self._k, axis=1)

    def _sets_of(self, targets: Traces) -> TopSets:
        sets = self.top_sets
        if not isinstance(targets, Traces):
            raise DataError(f"{self.name} compares traces, not {type(targets).__name__}")
        if not sets.is_padded:
            raise DataError("some top sets are not full; pad them once, for all observers: top_sets.padded(seed)")
        if sets.n_tokens != targets.n_tokens or sets.n_epochs < targets.n_epochs:
            raise DataError(
                f"the top sets cover {sets.n_epochs} epochs of {sets.n_tokens} tokens, "
                f"the targets {targets.n_epochs} of {targets.n_tokens}"
            )
        sets = sets.epochs(targets.n_epochs)
        if sets.users is not None and targets.users is not None:
            rows = find_users(targets.users, sets.users)
            if (rows < 0).any():
                raise DataError(f"{int((rows < 0).sum()):,} targets have no top sets; give the sets of every target")
            return sets if np.array_equal(rows, np.arange(len(sets))) else sets.take(rows)
        if sets.users is not None or targets.users is not None:
            raise DataError("only the top sets or only the targets name their users; name them in both or in neither")
        if len(sets) != len(targets):
            raise DataError(f"there are top sets of {len(sets):,} users for {len(targets):,} targets; name the users")
        return sets
