"""The two Hamming attacks of the framework: plain, and weighted by how telling a match is (carey, Appendix D, E)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.base import PositionalAttack
from reidrisk.errors import OptionError
from reidrisk.search import Weights, to_grid
from reidrisk.topics.popularity import exposure, popularity
from reidrisk.traces import Traces

__all__ = ["Hamming", "WeightedHamming"]

_IMPOSSIBLE = -50.0
"""Log-ratio, in nats, that stands for a probability of 0: one such mismatch outweighs any real evidence."""


class Hamming(PositionalAttack):
    """Link to the target that agrees in most epochs (carey, Example 1).

    score(o, w) = number of epochs s with w_s = o_s, both observed.

    Examples
    --------
    >>> targets = Traces([[1, 2, 3], [1, 5, 6]], n_tokens=9)
    >>> links = Hamming().fit(targets).link(Traces([[1, 5, 0]], n_tokens=9))
    >>> links.target.tolist(), links.score.tolist(), links.n_ties.tolist()
    ([1], [2], [1])
    """

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return (
            "Links a record to the one that agrees with it in most epochs. "
            "It knows nothing of the system and counts every agreement the same (carey, Example 1)."
        )

    def _weights(self, targets: Traces) -> Weights:
        match = np.ones((1, targets.n_tokens), dtype=np.int64)
        return Weights(match=match, mismatch=np.zeros_like(match), per_nat=0)


class WeightedHamming(PositionalAttack):
    r"""Link to the target that most likely has the query's top sets (carey, Theorem 1, as simplified in E.1.2).

    With q_in, q_out of :func:`reidrisk.topics.exposure`, d = q_in - q_out, p the popularity of the query's token
    (Lemma 10, clipped to [0, 1]) and k the size of a top set, one epoch adds

        match     log [ (q_out + d q_in p / (q_out + d p)) / (q_out + d p) ]
        mismatch  log [ (q_out + d a)                      / (q_out + d p) ],     a = (k - 1) p / (k - p).

    The numerators are Theorem 1's, with a(o) = P(o in S | w in S) from Lemma 11 for any k. Dividing by the
    probability q_out + d p of seeing the token at all changes no comparison between fully observed targets; it
    makes a missing token, on either side, worth 0. Since p lies in [0, 1], a match never counts less than a mismatch.

    Parameters
    ----------
    top_k : int
        Tokens in a top set, k.
    noise : float
        Probability that a random token is shown instead.
    per_epoch : bool
        Estimate the popularity epoch by epoch instead of once for all.

    Examples
    --------
    Two targets agree with the query once each; the match on the rare token 3 counts more.

    >>> targets = Traces([[0, 3], [0, 1], [2, 1], [0, 2]], n_tokens=5)
    >>> links = WeightedHamming(top_k=2, noise=0.05).fit(targets).link(Traces([[2, 3]], n_tokens=5))
    >>> links.target.tolist()
    [0]
    """

    def __init__(self, top_k: int, noise: float, per_epoch: bool = False) -> None:
        self.top_k = top_k
        self.noise = noise
        self.per_epoch = per_epoch

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return (
            f"Weighs each agreement by how rare the token is, for a system that shows one of {self.top_k} tokens "
            f"held for a user and a random one with probability {self.noise:g}. It learns how common tokens are from "
            "the targets alone (carey, Theorem 1, Lemmas 10 and 11)."
        )

    def _weights(self, targets: Traces) -> Weights:
        if not 0.0 <= self.noise < 1.0:
            raise OptionError(f"noise must lie in [0, 1), not {self.noise}: at 1 a token tells nothing of its user")
        p = popularity(targets, self.top_k, self.noise, self.per_epoch)
        q_in, q_out = exposure(targets.n_tokens, self.top_k, self.noise)
        match, mismatch = match_weights(p, q_in, q_out, self.top_k)
        return Weights(match=to_grid(match), mismatch=to_grid(mismatch))


def match_weights(
    p: npt.NDArray[np.float64], q_in: float, q_out: float, top_k: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the two log-ratios of :class:`WeightedHamming` in nats; zeros are handled before the logarithm.

    A token that cannot be seen (noise 0, popularity 0) tells nothing: both are 0. A mismatch that cannot
    happen (noise 0, sets of one) is worth so little that it outweighs everything else, but stays finite.

    Examples
    --------
    >>> match, mismatch = match_weights(np.array([0.01, 0.5]), q_in=0.19, q_out=0.0001, top_k=5)
    >>> bool(match[0] > match[1] > mismatch[1])
    True
    """
    d = q_in - q_out
    seen = q_out + d * p
    can_be_seen = seen > np.finfo(np.float64).tiny
    held = np.divide(q_in * p, seen, out=np.zeros_like(p), where=can_be_seen)
    # Sets of one that hold the token in every user leave no other token to mismatch on.
    other = np.divide((top_k - 1) * p, top_k - p, out=np.ones_like(p), where=top_k > p)
    ratios = []
    for probability in (held, other):
        ratio = np.divide(q_out + d * probability, seen, out=np.ones_like(p), where=can_be_seen)
        with np.errstate(divide="ignore"):
            ratios.append(np.maximum(np.log(ratio), _IMPOSSIBLE))
    return ratios[0], ratios[1]
