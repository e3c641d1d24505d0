"""How many users hold a topic, estimated from what one observer saw (carey, Lemma 10)."""

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Ints
from reidrisk.base.errors import DataError, OptionError
from reidrisk.mechanisms.top_k_noise import token_probabilities
from reidrisk.records import Traces


def popularity(traces: Traces, top_k: int, noise: float, per_epoch: bool = False) -> npt.NDArray[np.float64]:
    r"""Estimate the share of users who hold each topic in their top set.

    p[o] = (share of observed tokens that are o - q_out) / (q_in - q_out), clipped to [0, 1].

    The estimate of Lemma 10 is unbiased but can leave [0, 1] for topics rarer than the noise floor; clipped,
    a match on such a topic counts as much as a mismatch and never less. Missing tokens are left out. The result is
    (1, N), or (r, N) with ``per_epoch``.

    >>> t = Traces([[0], [0], [0], [1]], n_tokens=2)
    >>> popularity(t, top_k=1, noise=0.0).tolist()
    [[0.75, 0.25]]
    """
    counts = np.stack([np.bincount(column[column >= 0], minlength=traces.n_tokens) for column in traces.tokens.T])
    return popularity_of_counts(counts, top_k, noise, per_epoch)


def popularity_of_counts(counts: Ints, top_k: int, noise: float, per_epoch: bool = False) -> npt.NDArray[np.float64]:
    """Estimate the same as :func:`popularity` from (r, N) counts: how often each token was seen in each epoch.

    >>> popularity_of_counts(np.array([[3, 1]]), top_k=1, noise=0.0).tolist()
    [[0.75, 0.25]]
    """
    q_in, q_out = token_probabilities(counts.shape[1], top_k, noise)
    if q_in == q_out:
        raise OptionError("noise 1 replaces every token by a random one: nothing can be learnt of the users")
    if not per_epoch:
        counts = counts.sum(axis=0, keepdims=True)
    seen = counts.sum(axis=1, keepdims=True)
    if not seen.all():
        which = f"epoch {int(np.argmin(seen))}" if per_epoch else "any epoch"
        raise DataError(f"no token was observed in {which}; popularity cannot be estimated")
    return np.asarray(np.clip((counts / seen - q_out) / (q_in - q_out), 0.0, 1.0))
