"""Entropy and mutual information of one epoch of the Topics API, in closed form: no sampling, no model to train."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError
from reidrisk.base.results import Result
from reidrisk.mechanisms.top_k_noise import token_probabilities

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EpochInformation(Result):
    """What the token shown in one epoch tells, in bits.

    Attributes
    ----------
    entropy : float
        H(A), of the token that one observer sees.
    conditional : float
        H(B | A), of what a second observer sees, once the first one is known.
    mutual : float
        I(A; B) = H(B) - H(B | A): what two observers have in common. It bounds an attacker who knows what one
        observer saw of each user.
    about_set : float
        I(S; A) = H(A) - H(A | S): what the token tells about the user's top set, at least ``mutual``. It bounds
        an attacker who knows the sets themselves.
    """

    entropy: float
    conditional: float
    mutual: float
    about_set: float


def epoch_information(single: npt.ArrayLike, within: npt.ArrayLike, noise: float, top_k: int) -> EpochInformation:
    r"""Return entropy and mutual information of what two observers see of a user in one epoch.

    Both see a uniform member of the same set of k tokens, or with probability p any of the N tokens, so

        P(A = a, B = b) = (1-p)^2 (W[a, b] + [a = b] q[a]) / k^2 + p (1-p) (q[a] + q[b]) / (k N) + p^2 / N^2

    exactly, with q the rates of tokens and W those of pairs (carey, Appendix F.1.4, measured there with sequence
    models). Given the set, the entropy is that of one row: -k q_in log q_in - (N - k) q_out log q_out.

    Parameters
    ----------
    single : (N,) array
        q_single: share of users who hold each token; adds up to k.
    within : (N, N) array
        q_within: share of users who hold both tokens; symmetric, the diagonal is not used.
    noise : float
        Probability p that a random token is shown instead.
    top_k : int
        Tokens in a set, k.

    Examples
    --------
    Everyone holds the same four tokens: two bits of entropy, and nothing to learn.

    >>> found = epoch_information(np.ones(4), np.ones((4, 4)), noise=0.0, top_k=4)
    >>> found.entropy, found.conditional, found.mutual, found.about_set
    (2.0, 2.0, 0.0, 0.0)
    """
    q = np.asarray(single, dtype=np.float64)
    pairs = np.array(within, dtype=np.float64)
    if q.ndim != 1 or pairs.shape != (q.size, q.size):
        raise DataError(f"rates of shape {q.shape} and of pairs {pairs.shape} do not fit: give (N,) and (N, N)")
    np.fill_diagonal(pairs, q)
    q_in, q_out = token_probabilities(q.size, top_k, noise)
    joint = (1.0 - noise) ** 2 * pairs / top_k**2
    joint += q_out * (1.0 - noise) * (q[:, None] + q[None, :]) / top_k + q_out**2
    entropy = _bits(joint.sum(axis=1))
    mutual = 2.0 * entropy - _bits(joint)
    of_row = top_k * _bits(np.array([q_in])) + (q.size - top_k) * _bits(np.array([q_out]))
    return EpochInformation(
        entropy=entropy, conditional=entropy - mutual, mutual=mutual, about_set=max(0.0, entropy - of_row)
    )


def _bits(p: Floats) -> float:
    """Return the entropy of the probabilities ``p``; 0 log 0 = 0."""
    return float(-np.sum(p * np.log2(p, where=p > 0, out=np.zeros_like(p)))) + 0.0
