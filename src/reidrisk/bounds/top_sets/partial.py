"""Partial information in the Topics model: what one site's tokens tell about another's (carey, Appendix D)."""

import math
from typing import Any

import numpy as np

from reidrisk.base import ArrayLike, Bound, DataError, Floats, Note, OptionError, each, mean_interval
from reidrisk.base.options import between_0_and_1, whole
from reidrisk.base.streams import blocks, seed_or_fresh, stream
from reidrisk.bounds.matching import row_keys
from reidrisk.bounds.top_sets.conditional_poisson import inclusion_probabilities, pair_inclusion
from reidrisk.mechanisms.top_k_noise import token_probabilities
from reidrisk.records import Traces

_QUERIES = 16
"""Queries in a block: their tables stay in the processor's cache, and each block has its own random stream."""


def popularity_error(n: int, n_tokens: int, top_k: int = 5, noise: float = 0.05, delta: float = 0.05) -> float:
    """Return how far an estimated popularity may be off: ``sqrt(log(2 N / delta) / (2 n)) / (q_in - q_out)``.

    With probability ``1 - delta`` it holds for all tokens at once (carey, Lemma 10), for estimates ``p[o] = (share of
    users who showed o - q_out) / (q_in - q_out)`` from one answer of each of ``n`` users.

    >>> round(popularity_error(n=1_000_000, n_tokens=469), 4)
    0.0117
    """
    n = whole("n", n)
    delta = between_0_and_1("delta", delta)
    inside, outside = token_probabilities(n_tokens, top_k, noise)
    if inside <= outside:
        raise OptionError("with noise 1 tokens say nothing about popularity; choose noise below 1")
    return math.sqrt(math.log(2.0 * n_tokens / delta) / (2.0 * n)) / (inside - outside)


def topics_posterior(popularity: ArrayLike, top_k: int = 5, noise: float = 0.05) -> Floats:
    r"""Return ``Q[w, o] = E[P(o) | W = w]``: what a user who showed ``w`` on one site shows on another.

    .. math:: Q[w, o] = q_{out} + d \, P(o \in S \mid W = w), \qquad d = q_{in} - q_{out},

    .. math:: P(o \in S \mid W = w) = \frac{q_{in} x_{ow} + q_{out} (p_o - x_{ow})}{q_{out} + d \, p_w}
              \quad (o \ne w), \qquad \frac{q_{in} p_w}{q_{out} + d \, p_w} \quad (o = w),

    with :math:`x_{ow} = P(o \in S, w \in S)` (carey, Theorem 1, before its approximations). Top sets S are
    maximum-entropy k-subsets with the given popularity ``p[o]``, the probability that a set holds the token; estimates
    that do not quite add up to ``top_k`` are scaled (capped at 1) until they do. Assumption 1 of the paper is not used:
    with unequal popularity its rows do not add up to 1. These do. A token that cannot occur (popularity 0 without
    noise) gets the row of a user of whom nothing is known.

    >>> Q = topics_posterior([0.75, 0.75, 0.25, 0.25], top_k=2, noise=0.1)
    >>> Q.sum(axis=1).round(12).tolist(), Q.argmax(axis=0).tolist()          # a match speaks for the user
    ([1.0, 1.0, 1.0, 1.0], [0, 1, 2, 3])
    """
    return _posterior_and_prior(popularity, top_k, noise)[:-1]


def topics_partial_information(
    traces: Traces | ArrayLike,
    popularity: ArrayLike,
    top_k: int = 5,
    noise: float = 0.05,
    samples: int = 2000,
    seed: int | None = 0,
    level: float = 0.95,
    threads: int | None = None,
) -> Bound:
    """Return what the best attacker reaches who saw ``traces`` on one site: ``(1/n) sum_o max_i E[P | W][i, o]``.

    The bound of carey, Lemma 2, in the Topics model of its Appendix D: users independent and alike, epochs independent,
    ``E[P | W][i, o] = prod_s Q_s[W_i^s, o^s]`` with :func:`topics_posterior`. One epoch is computed exactly. For
    several, ``n x N^r`` numbers cannot be built, but the bound is an expectation,

    ``E[max_i Q[i, O] / sum_j Q[j, O]]`` over a random user's representation ``O`` on the other site,

    and is estimated from ``samples`` of them, with its interval. ``popularity`` is (N,) for all epochs or (r, N) for
    each. The same seed gives the same estimate on any number of threads; ``None`` draws one. It is recorded.

    >>> bound = topics_partial_information([[0], [1], [2], [3]], [0.5, 0.5, 0.5, 0.5], top_k=2, noise=0.0)
    >>> round(bound.value, 4), bound.low == bound.high
    (0.5, True)
    """
    shares = np.asarray(popularity, dtype=np.float64)
    if shares.ndim not in (1, 2) or not shares.size:
        raise DataError(f"popularity must have shape (tokens,) or (epochs, tokens), not {shares.shape}")
    table = traces if isinstance(traces, Traces) else Traces(traces, shares.shape[-1])
    n, r, n_tokens = table.n_users, table.n_epochs, table.n_tokens
    if shares.shape not in ((n_tokens,), (r, n_tokens)):
        raise DataError(f"popularity has shape {shares.shape}, but the traces have {r} epochs of {n_tokens} tokens")
    samples = whole("samples", samples)
    seed = seed_or_fresh(seed)
    posteriors = [_posterior_and_prior(epoch, top_k, noise) for epoch in np.atleast_2d(shares)]
    if shares.ndim == 1:
        posteriors *= r
    if r == 1:
        return _of_one_epoch(posteriors[0], np.unique(table.tokens), n)
    drawn = _sampled_shares(table, posteriors, samples, seed, threads)
    ends = mean_interval(drawn, level)
    return _bound(float(drawn.mean()), ends, n, r, {"samples": float(samples), "seed": float(seed), "level": level})


def partial_information_of_counts(
    counts: ArrayLike, popularity: ArrayLike, n: int, top_k: int = 5, noise: float = 0.05
) -> Bound:
    """Return what :func:`topics_partial_information` does for one epoch of ``n`` users, from counts alone.

    ``counts`` is (N,), how many users showed each token; the others were not seen.

    >>> half = [0.5, 0.5, 0.5, 0.5]
    >>> round(partial_information_of_counts([1, 1, 1, 1], half, n=4, top_k=2, noise=0.0).value, 4)
    0.5
    """
    shown = np.asarray(counts)
    seen = np.flatnonzero(shown)
    if int(shown.sum()) < n:
        seen = np.append(seen, -1)
    return _of_one_epoch(_posterior_and_prior(popularity, top_k, noise), seen, n)


def _of_one_epoch(posterior: Floats, seen: Any, n: int) -> Bound:
    """Return the bound for one epoch, where it is exact, of the tokens that were seen; -1 is none."""
    value = float(posterior[np.sort(seen)].max(axis=0).sum() / n)
    return _bound(value, (value, value), n, 1, {})


def _bound(value: float, ends: tuple[float, float], n: int, r: int, inputs: dict[str, float]) -> Bound:
    low, high = ends
    how = ("partial information", "random user", value, 1.0 / n, "carey, Lemma 2 and Appendix D", low, high, inputs, r)
    return Bound(*how, within_model=True, notes=(Note("maximum-entropy-sets"), Note("knows-popularity")))


def _posterior_and_prior(popularity: ArrayLike, top_k: int, noise: float) -> Floats:
    """Return (N + 1, N): the posterior of each token, and last (at index -1, as of a missing token) the prior."""
    p = inclusion_probabilities(popularity, top_k)
    q_in, q_out = token_probabilities(p.size, top_k, noise)
    d = q_in - q_out
    x = pair_inclusion(p, top_k)
    held = np.empty((p.size + 1, p.size))
    shown = q_out + d * p
    possible = shown > 0.0
    weight = np.where(possible, shown, 1.0)[:, None]
    held[:-1] = np.where(possible[:, None], (q_in * x + q_out * (p - x)) / weight, p)
    diagonal = np.flatnonzero(possible)
    held[diagonal, diagonal] = q_in * p[diagonal] / shown[diagonal]
    held[-1] = p
    return q_out + d * held


def _sampled_shares(table: Traces, posteriors: list[Floats], samples: int, seed: int, threads: int | None) -> Floats:
    """Return ``max_i Q[i, O] / sum_j Q[j, O]`` of ``samples`` random representations."""
    from reidrisk.bounds.kernels import largest_shares

    n_tokens = table.n_tokens
    _, first, counts = np.unique(row_keys(table.tokens, n_tokens), return_index=True, return_counts=True)
    tokens = table.tokens[first]
    tokens = np.where(tokens < 0, n_tokens, tokens).astype(np.uint16 if n_tokens < 2**16 else np.uint32)
    weights = counts.astype(np.float64)
    # One table for equal epochs: they share the object.
    with np.errstate(divide="ignore"):
        ready = {id(q): (np.cumsum(q, axis=1), np.log(q)) for q in posteriors}
    cumulative, logs = zip(*(ready[id(q)] for q in posteriors), strict=True)
    out = np.empty(samples)

    def work(part: tuple[int, int, int]) -> None:
        block, start, stop = part
        seen, shown = _draw(table, cumulative, stop - start, seed, block)
        tables = np.stack([np.ascontiguousarray(log[:, shown[:, s]].T) for s, log in enumerate(logs)], axis=1)
        # Relative to the drawn user's own: the largest is then at least 0, and sums keep their digits.
        tables -= np.stack([log[seen[:, s], shown[:, s]] for s, log in enumerate(logs)], axis=1)[:, :, None]
        largest_shares(tokens, weights, tables, out[start:stop])

    each(work, blocks(samples, _QUERIES), threads)
    return np.minimum(out, 1.0)


def _draw(table: Traces, cumulative: Any, size: int, seed: int, block: int) -> tuple[Any, Any]:
    """Draw users uniformly, and for each a representation on the other site from the user's posterior."""
    rng = stream(seed, "partial information", block)
    seen = table.tokens[rng.integers(table.n_users, size=size)]
    # A hair below 1, so that rounding cannot push a draw past the last token that is possible.
    u = rng.random((size, table.n_epochs)) * (1.0 - 2.0**-50)
    shown = np.empty(seen.shape, dtype=np.int64)
    for s, steps in enumerate(cumulative):
        rows = steps[seen[:, s]]
        shown[:, s] = (rows <= u[:, s, None] * rows[:, -1:]).sum(axis=1)
    return seen, shown
