"""The attacker who knows every target's top sets: no one in this closed world does better (carey, Section 3)."""

from typing import Self

import numpy as np

from reidrisk import search
from reidrisk.attacks.base import check_comparable
from reidrisk.attacks.registry import per_pair, register
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.base import DataError, find_users
from reidrisk.mechanisms import token_probabilities
from reidrisk.records import TopSets, Traces


@register(kinds=(Traces,), cost=per_pair(1e-9), needs=("top sets",))
class FullInformation(ScoredAttack[Traces]):
    """Link to the target whose top sets hold most of the tokens shown: the optimal rule of full information.

    P[i, o] = prod over epochs of q_in where o_s is in the set S_i^s, q_out where it is not (carey, equation 6), so the
    best target is the one with most hits (Corollary 1). A missing token adds nothing.

    ``top_sets`` are what the system holds of the targets: the same users, or row by row where nobody is named.

    >>> sets = TopSets([[[0, 1]], [[2, 3]]], n_tokens=9)
    >>> links = FullInformation(sets).fit(Traces([[0], [2]], 9)).link(Traces([[3], [8]], 9))
    >>> links.target.tolist(), links.n_ties.tolist()
    ([1, 0], [1, 2])
    """

    def __init__(self, top_sets: TopSets, noise: float = 0.05) -> None:
        self.top_sets, self.noise = top_sets, noise

    description = (
        "Knows the top sets of every target and links a record to the one whose sets hold most of its tokens. "
        "No attacker does better in the random-user setting of this closed world (carey, Corollary 1)."
    )

    def fit(self, targets: Traces) -> Self:
        """Find the top sets of the targets."""
        sets = self._sets_of(targets)
        q_in, q_out = token_probabilities(sets.n_tokens, sets.k, self.noise)
        # Sets are distinct, so being in one is one match among k columns: the scan needs no other kernel.
        self._targets = targets
        self._known = search.Index(sets.tokens.reshape(len(targets), -1), sets.n_tokens)
        gain = search.to_grid([np.log(q_in / q_out) if q_out > 0.0 else 50.0])[0]
        match = np.full((1, sets.n_tokens), gain, dtype=np.int64)
        self.weights_ = search.Weights(match=match, mismatch=np.zeros_like(match))
        return self

    def _posed(self, queries: Traces) -> Posed:
        self._refuse_unfitted("_known")
        if not isinstance(queries, Traces):
            raise DataError(f"{self.name} compares traces, not {type(queries).__name__}")
        check_comparable(self._targets, queries, (self._targets.n_epochs, queries.n_epochs))
        scorer = search.EpochScorer(self.weights_, "scan")
        return Posed(scorer, self._known, np.repeat(queries.tokens, self.top_sets.k, axis=1))

    def _sets_of(self, targets: Traces) -> TopSets:
        sets = self.top_sets
        if not isinstance(targets, Traces):
            raise DataError(f"{self.name} compares traces, not {type(targets).__name__}")
        if not sets.is_padded:
            raise DataError("some top sets are not full; pad them once, for all observers: top_sets.padded(seed)")
        if sets.n_tokens != targets.n_tokens or sets.n_epochs < targets.n_epochs:
            covered = f"{sets.n_epochs} epochs of {sets.n_tokens} tokens"
            raise DataError(f"the top sets cover {covered}, the targets {targets.n_epochs} of {targets.n_tokens}")
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
