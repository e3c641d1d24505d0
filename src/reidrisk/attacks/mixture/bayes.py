"""MixtureBayes: the attacker who knows how people come about, which nobody with the same records can beat."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from reidrisk.attacks.base import check_comparable
from reidrisk.attacks.mixture.inclusion import MOST_SLOTS, Inclusion
from reidrisk.attacks.mixture.scorer import MixtureScorer, Typed
from reidrisk.attacks.registry import per_pair, register
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.base.arrays import Floats
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.options import from_0_to_1, of_class
from reidrisk.mechanisms import token_probabilities
from reidrisk.populations import TypeMixture
from reidrisk.records import Traces

_ROWS = 4096  # targets whose types are weighed together


@register(kinds=(Traces,), cost=per_pair(2e-8, learning=5.0), needs=("the population",))
class MixtureBayes(ScoredAttack[Traces]):
    r"""Link to the target of the highest posterior under the very population that people were drawn from.

    With people independent draws from ``model``, the record of a user of target a is b with the probability
    :math:`P(b \mid a)` of :mod:`reidrisk.attacks.mixture.scorer`: types are integrated out, epochs are coupled through
    the type, and one epoch's two tokens through the padded set that both observers are shown from. Any target is as
    likely, so :math:`P(b \mid a_j) / \sum_l P(b \mid a_l)` is the exact posterior, and on people of this population no
    attacker with the same two tables does better in expectation, one record at a time: its rate is the ceiling of
    carey, Lemma 2, computed instead of bounded. An attacker who knows top sets, or matches all records at once, knows
    more.

    Types that together have less than ``negligible`` of a target's posterior are left out. That costs at most
    ``negligible`` of the rate: the sum over b of :math:`\max_j P(b \mid a_j)` falls by no more than the mass left out
    for all n targets, and the rate is that sum divided by n. With 0 all types count.

    ``noise`` is the probability with which the system shows any token at all. A missing token says nothing.

    >>> model = TypeMixture(np.log([[[[0.98, 0.01, 0.01]]], [[[0.01, 0.01, 0.98]]]]))   # two types, one slot
    >>> attack = MixtureBayes(model, noise=0.1).fit(Traces([[0], [2]], n_tokens=3))
    >>> links = attack.link(Traces([[2], [0]], n_tokens=3), probability=True)
    >>> links.target.tolist(), links.probability.round(3).tolist()
    ([1, 0], [0.933, 0.933])
    """

    description = (
        "Knows how likely every kind of person is and what the system does, and links to the target of the highest "
        "posterior. On people of that population nobody with the same records does better (carey, Lemma 2)."
    )

    def __init__(self, model: TypeMixture, noise: float = 0.05, negligible: float = 1e-6) -> None:
        of_class("model", model, TypeMixture, "a population that is a mixture of types")
        self.model = model
        self.noise, self.negligible = from_0_to_1("noise", noise), from_0_to_1("negligible", negligible)
        if model.k > MOST_SLOTS:
            raise OptionError(f"the model's sets hold {model.k} tokens; {MOST_SLOTS} at most can be weighed exactly")
        if model.n_tokens < model.k:
            raise OptionError(f"sets of {model.k} cannot be filled with {model.n_tokens} tokens")

    def fit(self, targets: Traces) -> Self:
        """Weigh the types of every target."""
        if not isinstance(targets, Traces):
            raise DataError(f"{self.name} compares traces, not {type(targets).__name__}")
        model = self.model
        if targets.n_tokens != model.n_tokens or targets.n_epochs > model.n_epochs:
            of_model = f"the model is of {model.n_epochs} epochs of {model.n_tokens} tokens"
            raise DataError(f"{of_model}, the targets of {targets.n_epochs} of {targets.n_tokens}")
        if None not in (model.vocabulary, targets.vocabulary) and model.vocabulary != targets.vocabulary:
            raise DataError("the model and the targets have different vocabularies; read both over one")
        inside, outside = token_probabilities(model.n_tokens, model.k, self.noise)
        self._scorer = self._scoring(targets.n_epochs, inside, outside)
        self._targets = targets.take(np.zeros(min(1, len(targets)), dtype=np.int64))
        tokens = np.where(targets.tokens >= 0, targets.tokens, model.n_tokens).astype(np.int32)
        self._known = Typed(tokens, self._posterior(tokens))
        return self

    def _scoring(self, n_epochs: int, inside: float, outside: float) -> MixtureScorer:
        epochs = tuple(Inclusion(self.model.probabilities(i)) for i in range(n_epochs))
        return MixtureScorer(epochs, inside, outside)

    def _posterior(self, tokens: Any) -> Any:
        """Return the (n, T) posteriors of types, without those that together weigh less than what is negligible."""
        from scipy import sparse

        with np.errstate(divide="ignore"):
            tables = [np.log(shown) for shown in self._scorer.seen]
        parts = []
        for start in range(0, len(tokens), _ROWS):
            some = tokens[start : start + _ROWS]
            log = np.zeros((len(some), self.model.n_types))
            for i, table in enumerate(tables):
                there = some[:, i] < self.model.n_tokens
                log[there] += table.T[some[there, i]]
            parts.append(sparse.csr_array(_without_tail(_softmax(log), self.negligible)))
        return sparse.vstack(parts, format="csr")

    def _posed(self, queries: Traces) -> Posed:
        self._refuse_unfitted("_known")
        if not isinstance(queries, Traces):
            raise DataError(f"{self.name} compares traces, not {type(queries).__name__}")
        check_comparable(self._targets, queries, (self._targets.n_epochs, queries.n_epochs))
        return Posed(self._scorer, self._known, queries.tokens.astype(np.int64))


def _softmax(log: Floats) -> Floats:
    most = log.max(axis=1, keepdims=True)
    # What no type of the model can show is of any type.
    weight = np.exp(log - np.where(np.isfinite(most), most, 0.0))
    weight[~np.isfinite(most[:, 0])] = 1.0
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _without_tail(weights: Floats, negligible: float) -> Floats:
    """Return rows without their smallest weights, which add up to at most ``negligible``."""
    ascending = np.sort(weights, axis=1)
    tail = (np.cumsum(ascending, axis=1) <= negligible).sum(axis=1)
    least = np.take_along_axis(ascending, np.minimum(tail, weights.shape[1] - 1)[:, None], axis=1)
    return np.where(weights >= least, weights, 0.0)
