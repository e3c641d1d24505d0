"""How many users hold a topic, or two together, estimated from what observers saw (carey, Lemma 10 and Theorem 1)."""

import numpy as np

from reidrisk.base import DataError, Floats, Ints, OptionError
from reidrisk.mechanisms.top_k_noise import token_probabilities
from reidrisk.records import TopSets, Traces


def popularity(traces: Traces, top_k: int, noise: float, per_epoch: bool = False) -> Floats:
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


def popularity_of_counts(counts: Ints, top_k: int, noise: float, per_epoch: bool = False) -> Floats:
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


def pairs_from_sets(top_sets: TopSets) -> Floats:
    """Return x[o, w] = P({o, w} in S) over all users and epochs; the diagonal is the popularity P(o in S).

    >>> pairs_from_sets(TopSets([[[0, 1]], [[0, 2]]], n_tokens=3)).tolist()
    [[1.0, 0.5, 0.5], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]
    """
    if not top_sets.is_padded:
        raise DataError("some top sets are not full; pad them once, for all observers: top_sets.padded(seed)")
    n_tokens = top_sets.n_tokens
    sets = top_sets.tokens.reshape(-1, top_sets.k).astype(np.int64)
    counts = np.zeros(n_tokens * n_tokens, dtype=np.int64)
    for a in range(top_sets.k):
        for b in range(top_sets.k):
            counts += np.bincount(sets[:, a] * n_tokens + sets[:, b], minlength=n_tokens * n_tokens)
    return counts.reshape(n_tokens, n_tokens) / len(sets)


def pairs_from_observers(one: Traces, two: Traces, top_k: int, noise: float) -> Floats:
    r"""Estimate x[o, w] = P({o, w} in S) from what two observers saw of the same training users, row by row.

    Given the set, the observers are independent, so with d = q_in - q_out

        P(A = o, B = w) = q_out^2 + q_out d (p_o + p_w) + d^2 x[o, w],

    which is solved for x and clipped to what is possible, max(0, p_o + p_w - 1) <= x <= min(p_o, p_w). From one
    observer alone, x cannot be learnt: it shows one token per user and epoch.

    >>> a = Traces([[0], [1], [0], [1]], n_tokens=2)
    >>> b = Traces([[0], [0], [1], [1]], n_tokens=2)
    >>> pairs_from_observers(a, b, top_k=2, noise=0.0).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    if one.tokens.shape != two.tokens.shape or one.n_tokens != two.n_tokens:
        raise DataError("the two observers must have seen the same users and epochs over one vocabulary")
    n_tokens = one.n_tokens
    seen = (one.tokens >= 0) & (two.tokens >= 0)
    if not seen.any():
        raise DataError("the two observers never saw the same user in the same epoch")
    both = one.tokens[seen].astype(np.int64) * n_tokens + two.tokens[seen]
    joint = np.bincount(both, minlength=n_tokens * n_tokens).reshape(n_tokens, n_tokens)
    return pairs_of_counts(joint, popularity(one, top_k, noise)[0], popularity(two, top_k, noise)[0], top_k, noise)


def pairs_of_counts(joint_counts: Ints, one: Floats, two: Floats, top_k: int, noise: float) -> Floats:
    """Estimate the same as :func:`pairs_from_observers` from counts: (N, N), how often one saw o where two saw w.

    ``one`` and ``two`` are the popularity (N,) that each observer saw.

    >>> half = np.array([1.0, 1.0])
    >>> pairs_of_counts(np.ones((2, 2), dtype=np.int64), half, half, top_k=2, noise=0.0).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    q_in, q_out = token_probabilities(len(joint_counts), top_k, noise)
    d = q_in - q_out
    joint = joint_counts / joint_counts.sum()
    joint = (joint + joint.T) / 2.0
    p = (one + two) / 2.0
    x = (joint - q_out**2 - q_out * d * (p[:, None] + p[None, :])) / d**2
    x = np.clip(x, np.maximum(0.0, p[:, None] + p[None, :] - 1.0), np.minimum(p[:, None], p[None, :]))
    np.fill_diagonal(x, p)
    return np.asarray(x)
