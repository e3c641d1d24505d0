"""The two Hamming attacks of the framework: plain, and weighted by how telling a match is (carey, Appendix D, E)."""

from typing import Any, Self

import numpy as np

from reidrisk.attacks.positional import PositionalAttack
from reidrisk.attacks.registry import by_search, register
from reidrisk.base import Floats, OptionError
from reidrisk.base.moved import moved
from reidrisk.mechanisms import TopKNoise, pairs_from_observers, pairs_from_sets, popularity, token_probabilities
from reidrisk.records import Attributes, TopSets, Traces
from reidrisk.search import PairWeights, Weights, to_grid
from reidrisk.search.weights import AnyWeights

_NEAR = "WeightedHamming(max_distance=)"
_IMPOSSIBLE = -50.0  # log-ratio, in nats, that stands for a probability of 0: far below any real one, yet finite

Pairs = Floats | TopSets | tuple[Traces, Traces]  # where the probabilities of pairs of tokens come from


@register(kinds=(Traces, Attributes), cost=by_search, default=True)
class Hamming(PositionalAttack):
    """Link to the target that agrees in most epochs (carey, Example 1).

    score(o, w) = number of epochs s with w_s = o_s, both observed.

    >>> targets = Traces([[1, 2, 3], [1, 5, 6]], n_tokens=9)
    >>> links = Hamming().fit(targets).link(Traces([[1, 5, 0]], n_tokens=9))
    >>> links.target.tolist(), links.score.tolist(), links.n_ties.tolist()
    ([1], [2], [1])
    """

    description = (
        "Links a record to the one that agrees with it in most epochs. "
        "It knows nothing of the system and counts every agreement the same (carey, Example 1)."
    )

    def _weights(self, targets: Traces) -> Weights:
        match = np.ones((1, targets.n_tokens), dtype=np.int64)
        return Weights(match=match, mismatch=np.zeros_like(match), per_nat=0)


@register(kinds=(Traces,), cost=by_search, default=True)
class WeightedHamming(PositionalAttack):
    r"""Link to the target that most likely has the query's top sets (carey, Theorem 1, as simplified in E.1.2).

    With q_in, q_out of :func:`reidrisk.mechanisms.token_probabilities`, d = q_in - q_out, p the popularity of the
    query's token (Lemma 10, clipped to [0, 1]) and k = ``top_k`` the size of a top set, one epoch adds

        match     log [ (q_out + d q_in p / (q_out + d p)) / (q_out + d p) ]
        mismatch  log [ (q_out + d a)                      / (q_out + d p) ],     a = (k - 1) p / (k - p).

    The numerators are Theorem 1's, with a(o) = P(o in S | w in S) from Lemma 11 for any k. Dividing by the
    probability q_out + d p of seeing the token at all changes no comparison between fully observed targets; it
    makes a missing token, on either side, worth 0. Since p lies in [0, 1], a match never counts less than a mismatch.

    ``per_epoch`` estimates the popularity epoch by epoch instead of once for all. ``pairs`` says how often two tokens
    are held together: (N, N) probabilities (such as a published q_within), or what to learn them from, top sets or two
    observers of training users. With it, the mismatch term depends on both tokens, as in Theorem 1 before its
    simplification (:func:`pair_weights`).

    Two targets agree with the query once each; the match on the rare token 3 counts more.

    >>> targets = Traces([[0, 3], [0, 1], [2, 1], [0, 2]], n_tokens=5)
    >>> links = WeightedHamming(top_k=2, noise=0.05).fit(targets).link(Traces([[2, 3]], n_tokens=5))
    >>> links.target.tolist()
    [0]
    """

    def __new__(cls, *arguments: Any, max_distance: float | None = None, **named: Any) -> Self:
        """Return the attack; one with ``max_distance`` is the study's, and works here for one version."""
        if max_distance is None or cls is not WeightedHamming:
            return super().__new__(cls)
        near: Any = moved("reidrisk.attacks", {_NEAR: "reidrisk_studies.jha.near:NearHamming"})(_NEAR)
        found: Self = near(*arguments, max_distance=max_distance, **named)
        return found

    def __init__(self, top_k: int, noise: float, per_epoch: bool = False, pairs: Pairs | None = None) -> None:
        self.top_k, self.noise, self.per_epoch, self.pairs = top_k, noise, per_epoch, pairs

    @classmethod
    def knowing(cls, mechanism: TopKNoise, seed: int = 0) -> Self:
        """Return the attacker who takes the system to be this one."""
        return cls(mechanism.top_k, mechanism.noise)

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return (
            f"Weighs each agreement by how rare the token is, for a system that shows one of {self.top_k} tokens "
            f"held for a user and a random one with probability {self.noise:g}. It learns how common tokens are from "
            "the targets alone (carey, Theorem 1, Lemmas 10 and 11)."
            + (" It also knows which tokens are often held together." if self.pairs is not None else "")
        )

    def _weights(self, targets: Traces) -> AnyWeights:
        if not 0.0 <= self.noise < 1.0:
            raise OptionError(f"noise must lie in [0, 1), not {self.noise}: at 1 a token tells nothing of its user")
        return self.weigh(popularity(targets, self.top_k, self.noise, self.per_epoch))

    def weigh(self, p: Floats) -> AnyWeights:
        """Return the weights where tokens are this popular: (1, N), or (r, N) by epoch."""
        n_tokens = p.shape[1]
        q_in, q_out = token_probabilities(n_tokens, self.top_k, self.noise)
        if self.pairs is None:
            match, mismatch = match_weights(p, q_in, q_out, self.top_k)
            return Weights(match=to_grid(match), mismatch=to_grid(mismatch))
        together = _together(self.pairs, n_tokens, self.top_k, self.noise)
        return PairWeights(np.stack([to_grid(pair_weights(row, together, q_in, q_out)) for row in p]))


def match_weights(p: Floats, q_in: float, q_out: float, top_k: int) -> tuple[Floats, Floats]:
    """Return the two log-ratios of :class:`WeightedHamming` in nats; zeros are handled before the logarithm.

    A token that cannot be seen (noise 0, popularity 0) tells nothing: both are 0. A mismatch that cannot
    happen (noise 0, sets of one) counts heavily against a target, but stays finite.
    """
    d = q_in - q_out
    seen = q_out + d * p
    can_be_seen = seen > np.finfo(np.float64).tiny
    held = np.divide(q_in * p, seen, out=np.zeros_like(p), where=can_be_seen)
    # Sets of one that hold the token in every user leave no other token to mismatch on.
    other = np.divide((top_k - 1) * p, top_k - p, out=np.ones_like(p), where=top_k > p)
    ratios = (np.divide(q_out + d * p_in, seen, out=np.ones_like(p), where=can_be_seen) for p_in in (held, other))
    match, mismatch = (_log(ratio) for ratio in ratios)
    return match, mismatch


def pair_weights(p: Floats, together: Floats, q_in: float, q_out: float) -> Floats:
    r"""Return the (N, N) log-ratios of seeing o in the query and w in the target, in nats (carey, Theorem 1).

    With x = P({o, w} in S) and d = q_in - q_out, exactly

        P(o in S | W = w) = [q_in x + q_out (p_o - x)] / (q_out + d p_w)     for o != w,
        P(o in S | W = o) = q_in p_o / (q_out + d p_o),

    and the weight is log [ (q_out + d P(o in S | W = w)) / (q_out + d p_o) ]. The paper writes the first as
    P(o in S | w in S), which leaves out that w may have been shown as noise. ``p`` is the popularity of each token,
    ``together`` is x, symmetric; its diagonal is not used.
    """
    d = q_in - q_out
    seen = q_out + d * p
    x = np.clip(together, 0.0, np.minimum(p[:, None], p[None, :]))
    held = q_in * x + q_out * (p[:, None] - x)
    np.fill_diagonal(held, q_in * p)
    tiny = np.finfo(np.float64).tiny
    held = np.divide(held, seen[None, :], out=np.zeros_like(held), where=seen[None, :] > tiny)
    ratio = np.divide(q_out + d * held, seen[:, None], out=np.ones_like(held), where=seen[:, None] > tiny)
    return _log(ratio)


def _log(values: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(np.log(values), _IMPOSSIBLE))


def _together(pairs: Pairs, n_tokens: int, top_k: int, noise: float) -> Floats:
    """Return the (N, N) probabilities of pairs, learnt where they are not given."""
    if isinstance(pairs, TopSets):
        found = pairs_from_sets(pairs)
    elif isinstance(pairs, tuple):
        found = pairs_from_observers(*pairs, top_k=top_k, noise=noise)
    else:
        found = np.asarray(pairs, dtype=np.float64)
    if found.shape != (n_tokens, n_tokens):
        raise OptionError(f"pairs must be ({n_tokens}, {n_tokens}), a row and a column per token, not {found.shape}")
    if not np.isfinite(found).all() or found.min() < 0.0 or found.max() > 1.0:
        raise OptionError("pairs must be probabilities in [0, 1]")
    if not np.allclose(found, found.T, atol=1e-9):
        raise OptionError("pairs must be symmetric: {o, w} is held as often as {w, o}")
    return found
