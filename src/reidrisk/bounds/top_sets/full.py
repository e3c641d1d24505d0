"""Full information in the Topics model: what follows from the top sets themselves (carey, Appendix D).

Given its top set, a user shows a token of the set with probability ``q_in`` and any other with ``q_out``, in each
epoch anew. The (n, N) matrix of an epoch is therefore known from how many users hold each token; it is never built.
"""

import math

import numpy as np

from reidrisk.base import (
    Array,
    Bound,
    DataError,
    Ints,
    Ints32,
    Note,
    between_0_and_1,
    frozen,
    mean_interval,
    of_class,
    whole,
)
from reidrisk.base.streams import blocks, checked_seed, stream
from reidrisk.bounds.ldp import from_ldp
from reidrisk.bounds.matching import distinct_outputs
from reidrisk.bounds.other_notions import from_mutual_information
from reidrisk.mechanisms.top_k_noise import token_probabilities
from reidrisk.records import TopSets, Traces

_NOTES = (Note("knows-top-sets"), Note("periods-independent"))


def topics_full_information(
    top_sets: TopSets, noise: float, queries: Traces | None = None, level: float = 0.95, seed: int = 0
) -> tuple[Bound, ...]:
    r"""Return the bounds of the framework for an attacker who knows the top sets of all users.

    For one epoch all are exact, from the number of users :math:`c_o` who hold each token:

    - random user, the optimum: ``(1/n) sum_o (q_in if c_o > 0 else q_out)`` (carey, Corollary 1);
    - random user, from ``epsilon = log(q_in / q_out)`` (Lemma 3), and from mutual information (Lemma 9);
    - matching: ``(1/n) sum_o (1 - (1 - q_in)^{c_o} (1 - q_out)^{n - c_o})`` (Lemma 4).

    For r epochs there are N^r outputs, and each bound is replaced by one that can be computed:

    - Corollary 1: :math:`\sum_o \max_i \prod_s P_s[i, o^s] \le \prod_s \sum_{o^s} \max_i P_s[i, o^s]`;
      :func:`topics_optimum` estimates the left side itself.
    - Lemma 3 with ``epsilon = r log(q_in / q_out)``, because ratios multiply.
    - Lemma 9 with the sum of the exact mutual informations of the epochs: given the user they are independent, so
      ``MI(I; O^1..O^r) <= sum_s MI(I; O^s)``.
    - Lemma 4 is the expected number of distinct representations over n. One draw of all users (``queries``; default:
      drawn with ``seed``) estimates it, with an interval at ``level``, see :func:`distinct_outputs`.

    The sets must be padded; ``noise`` is the probability that an answer is a token drawn uniformly from all.

    >>> sets = TopSets([[[0, 1]], [[1, 2]], [[2, 3]]], n_tokens=4)
    >>> [(bound.name, round(bound.value, 3)) for bound in topics_full_information(sets, noise=0.2)[:2]]
    [('optimal attacker', 0.6), ('local differential privacy', 3.0)]
    """
    q_in, q_out = _probabilities(top_sets, noise, level)
    n, r, n_tokens = top_sets.n_users, top_sets.n_epochs, top_sets.n_tokens
    holders = [_holders(top_sets, s) for s in range(r)]
    optimum = math.prod(float(np.where(c > 0, q_in, q_out).sum()) for c in holders) / n
    epsilon = r * math.log(q_in / q_out) if q_out > 0.0 else math.inf
    bits = sum(_bits(c, n, q_in, q_out) for c in holders)
    how, added = ("", "") if r == 1 else (", epoch by epoch", ", epochs added up")

    def bound(name: str, value: float, reference: str, setting: str = "random user", **inputs: float) -> Bound:
        return Bound(name, setting, value, 1.0 / n, reference, inputs=inputs, n_epochs=r, notes=_NOTES)

    if r == 1:
        distinct = _distinct_tokens(holders[0], n, q_in, q_out) / n
        matching = bound("distinct representations", distinct, "carey, Lemma 4", "matching")
    else:
        matching = distinct_outputs(_queries(top_sets, noise, queries, seed), level, _NOTES)
    private, informed = from_ldp(n, n_tokens**r, epsilon), from_mutual_information(bits, n)
    return (
        bound(f"optimal attacker{how}", optimum, f"carey, Corollary 1{how}"),
        bound("local differential privacy", private, "carey, Lemma 3", epsilon=epsilon, delta=0.0),
        bound("mutual information", informed, f"carey, Lemma 9{added}", bits=bits),
        matching,
    )


def topics_optimum(top_sets: TopSets, noise: float, samples: int = 2000, seed: int = 0, level: float = 0.95) -> Bound:
    """Return what the best attacker who knows all top sets reaches in r epochs, estimated with its interval.

    ``(1/n) sum_o max_i P[i, o] = E[max_i P[i, O] / sum_j P[j, O]]`` over a random user's answers ``O``
    (carey, Corollary 1). A user whose sets hold h of the r tokens shown has ``P[i, O] = q_in^h q_out^(r - h)``,
    so one count of h for all users gives the ratio exactly. ``samples`` answers are drawn.

    >>> sets = TopSets([[[0, 1]], [[1, 2]], [[2, 3]]], n_tokens=4)
    >>> bound = topics_optimum(sets, noise=0.2)
    >>> bound.low <= 0.6 <= bound.high                       # exact for one epoch, see above
    True
    """
    q_in, q_out = _probabilities(top_sets, noise, level)
    samples, n, r = whole("samples", samples), top_sets.n_users, top_sets.n_epochs
    rng = stream(checked_seed(seed), "optimum of full information")
    users = rng.integers(n, size=samples)
    shown = _answers(top_sets.tokens[users], top_sets.n_tokens, noise, rng)
    postings = [_postings(top_sets, s) for s in range(r)]
    # Relative to r hits: log P = h log(q_in) + (r - h) log(q_out) up to a constant.
    step = math.log(q_out / q_in) if q_out > 0.0 else -math.inf
    likelihood = np.array([math.exp((r - h) * step) if h < r else 1.0 for h in range(r + 1)])
    shares = np.empty(samples)
    for query, tokens in enumerate(shown):
        holders = [users[starts[t] : starts[t + 1]] for (users, starts), t in zip(postings, tokens, strict=True)]
        hits = np.bincount(np.bincount(np.concatenate(holders), minlength=n), minlength=r + 1)
        best = int(np.flatnonzero(hits)[-1])
        ratio = likelihood / likelihood[best] if likelihood[best] > 0.0 else (np.arange(r + 1) == best)
        shares[query] = 1.0 / float(hits[: best + 1] @ ratio[: best + 1])
    what = ("optimal attacker", "random user", float(shares.mean()), 1.0 / n, "carey, Corollary 1")
    inputs = {"samples": float(samples), "seed": float(seed), "level": level}
    return Bound(*what, *mean_interval(shares, level), inputs, r, notes=_NOTES)


def _probabilities(top_sets: TopSets, noise: float, level: float) -> tuple[float, float]:
    """Return q_in and q_out, once the sets are known to be full."""
    between_0_and_1("level", level)
    of_class("what the attacker knows", top_sets, TopSets, "TopSets")
    if not top_sets.is_padded:
        raise DataError("some top sets are not full, so answers are not yet decided; use top_sets.padded(seed)")
    return token_probabilities(top_sets.n_tokens, top_sets.k, noise)


def _holders(top_sets: TopSets, s: int) -> Ints:
    """Return how many users hold each token in epoch ``s``."""
    counts = np.zeros(top_sets.n_tokens, dtype=np.int64)
    for _, start, stop in blocks(top_sets.n_users):
        counts += np.bincount(top_sets.tokens[start:stop, s].ravel(), minlength=top_sets.n_tokens)
    return counts


def _bits(c: Ints, n: int, q_in: float, q_out: float) -> float:
    """Return the mutual information of user and token in one epoch, from the number of holders."""
    shown = (c * q_in + (n - c) * q_out) / n
    used = shown > 0.0
    c, shown = c[used], shown[used]
    bits = float(c @ np.log2(q_in / shown)) * q_in / n
    if q_out > 0.0:
        bits += float((n - c) @ np.log2(q_out / shown)) * q_out / n
    return max(0.0, bits)


def _distinct_tokens(c: Ints, n: int, q_in: float, q_out: float) -> float:
    """Return the expected number of distinct tokens in one epoch."""
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.where(c > 0, c * np.log1p(-q_in), 0.0)
        outside = np.where(c < n, (n - c) * np.log1p(-q_out), 0.0)
    return float(-np.expm1(inside + outside).sum())


def _queries(top_sets: TopSets, noise: float, queries: Traces | None, seed: int) -> Traces:
    """Check the given answers of every user, or draw them once."""
    expected = (top_sets.n_users, top_sets.n_epochs, top_sets.n_tokens)
    if queries is not None:
        given = (queries.n_users, queries.n_epochs, queries.n_tokens)
        if given != expected:
            raise DataError(f"queries have (users, epochs, tokens) {given}, but the top sets have {expected}")
        return queries
    shown = np.empty(expected[:2], dtype=np.int32)
    for block, start, stop in blocks(top_sets.n_users):
        rng = stream(seed, "distinct representations", block)
        shown[start:stop] = _answers(top_sets.tokens[start:stop], top_sets.n_tokens, noise, rng)
    return Traces(frozen(shown), top_sets.n_tokens)  # which need not copy it


def _answers(sets: Array, n_tokens: int, noise: float, rng: np.random.Generator) -> Ints:
    """Draw one answer for each (user, epoch) of an (n, r, k) array of sets."""
    slot = rng.integers(sets.shape[2], size=sets.shape[:2])
    held = np.take_along_axis(sets, slot[:, :, None], axis=2)[:, :, 0]
    anything = rng.integers(n_tokens, size=slot.shape)
    return np.where(rng.random(slot.shape) < noise, anything, held).astype(np.int64)


def _postings(top_sets: TopSets, s: int) -> tuple[Ints32, Ints]:
    """Return the users who hold each token in epoch ``s``, token by token, and where each token's users start."""
    tokens = top_sets.tokens[:, s].ravel()
    users = (np.argsort(tokens, kind="stable") // top_sets.k).astype(np.int32)
    return users, np.concatenate([[0], np.cumsum(np.bincount(tokens, minlength=top_sets.n_tokens))]).astype(np.int64)
