"""Random sets of fixed size with given inclusion probabilities and nothing else: maximum entropy.

Of all distributions over the k-subsets S of N tokens with ``P(o in S) = p[o]``, the one of largest entropy has

    P(S) proportional to prod_{o in S} w[o],

known as conditional Poisson sampling. The weights are found by the fixed-point iteration of Chen, Dempster and Liu
(1994), damped so that it converges in the extreme cases too; sums over subsets are the probabilities of a
Poisson-binomial count, built up from both ends by sums and products of positive numbers only, so nothing cancels.
"""

import numpy as np

from reidrisk.base import ArrayLike, DataError, Floats, whole_up_to

_STEP = 2.0 / 3.0
"""The iteration's error shrinks by ``|1 - step * mu|`` with mu in (0, 2], so a full step can swing for ever."""

_PATIENCE = 100  # iterations without progress after which the last digit is taken to be reached
_NEGLIGIBLE = 1e-12  # a token held with a probability this near to 0 or 1 counts as one never, or always, held
_BLOCK = 4_000_000


def inclusion_probabilities(popularity: ArrayLike, k: int) -> Floats:
    """Return ``p[o] = min(1, c popularity[o])`` with the c that makes them add up to ``k``, the size of a set.

    Inclusion probabilities of k-subsets add up to k. Estimates (the share of users whose set holds each of N tokens) do
    not quite: those of carey, Lemma 10, do until they are clipped to [0, 1]. They are scaled, so a token that nobody
    has stays at 0.

    >>> inclusion_probabilities([0.9, 0.6, 0.6, 0.0], k=2).round(4).tolist()
    [0.8571, 0.5714, 0.5714, 0.0]
    """
    given = np.asarray(popularity, dtype=np.float64)
    if given.ndim != 1 or not given.size:
        raise DataError(f"popularity must be one number per token, but has shape {given.shape}")
    whole_up_to("top_k", k, given.size, limit=f"{given.size} tokens")
    wrong = np.flatnonzero(~((given >= 0.0) & (given <= 1.0)))
    if wrong.size:
        raise DataError(f"the popularity of token {wrong[0]} is {given[wrong[0]]}; it must lie in [0, 1]")
    if np.count_nonzero(given) < k:
        raise DataError(f"only {np.count_nonzero(given)} tokens are ever in a set, but sets have {k}")
    p, sure = given.copy(), np.zeros(given.size, dtype=bool)
    while True:
        # Scale all that are not sure; what reaches 1 stays there; then drop what all but vanishes.
        rest, left = ~sure & (p > 0.0), k - int(sure.sum())
        if not left or not rest.any():
            p[~sure] = 0.0
            return p
        p[rest] /= p[rest].max()
        p[rest] *= left / p[rest].sum()
        new, rare = rest & (p >= 1.0 - _NEGLIGIBLE), rest & (p < _NEGLIGIBLE)
        if new.any():
            p[new] = 1.0
            sure |= new
        elif rare.any():
            p[rare] = 0.0
        else:
            return p


def pair_inclusion(p: Floats, k: int) -> Floats:
    """Return ``x[o, w] = P(o in S and w in S)`` under the maximum-entropy k-subsets with ``P(o in S) = p[o]``.

    Symmetric (N, N) with ``p`` on the diagonal; row o adds up to ``k p[o]``.

    >>> pair_inclusion(np.array([0.5, 0.5, 0.5, 0.5]), k=2).round(4)[0].tolist()
    [0.5, 0.1667, 0.1667, 0.1667]
    """
    # A sure token is independent of all others, an impossible one is never in a pair; the rest is a smaller problem.
    x = np.outer(p, p)
    free = np.flatnonzero((p > 0.0) & (p < 1.0))
    size = k - int(np.count_nonzero(p == 1.0))
    if free.size:
        x[np.ix_(free, free)] = _pairs(_log_odds(p[free], size), size) if size > 1 else 0.0
    np.fill_diagonal(x, p)
    return x


def _log_odds(p: Floats, k: int) -> Floats:
    """Return log w with which the conditional Poisson inclusion probabilities are ``p``, all in (0, 1)."""
    target = np.log(p) - np.log1p(-p)
    scale = np.minimum(p, 1.0 - p)
    odds = _centred(target, k)
    best, waited = np.inf, 0
    while best > 1e-12 and waited < _PATIENCE:
        one_less, all_k = _without_each(odds, k)
        # P(o in S) / P(o not in S) = w[o] P(k - 1 of the others) / P(k of the others)
        reached = odds + np.log(one_less) - np.log(all_k)
        error = float(np.max(np.abs(_expit(reached) - p) / scale))
        best, waited = (error, 0) if error < 0.9 * best else (best, waited + 1)
        odds = _centred(odds + _STEP * (target - reached), k)
    # Where 1 - p has few digits left the last of them cannot be met.
    if best * float(scale.max()) > 1e-6:
        raise DataError(f"no sets of {k} tokens with these popularities were found; the nearest are {best:.2g} off")
    return odds


def _without_each(odds: Floats, k: int) -> tuple[Floats, Floats]:
    """Return, for each token, the probability that k - 1, and that k, of the *other* tokens are included."""
    n = odds.size
    inside, outside = _expit(odds), _expit(-odds)
    before, after = np.zeros((n + 1, k + 1)), np.zeros((n + 1, k + 1))
    before[0, 0] = after[n, 0] = 1.0
    for i in range(n):
        before[i + 1] = before[i] * outside[i]
        before[i + 1, 1:] += before[i, :-1] * inside[i]
    for i in reversed(range(n)):
        after[i] = after[i + 1] * outside[i]
        after[i, 1:] += after[i + 1, :-1] * inside[i]
    one_less = np.einsum("it,it->i", before[:-1, :k], after[1:, k - 1 :: -1])
    return one_less, np.einsum("it,it->i", before[:-1], after[1:, ::-1])


def _pairs(odds: Floats, k: int) -> Floats:
    """Return the pair inclusion probabilities of free tokens; the diagonal is left at 0."""
    n = odds.size
    inside, outside = _expit(odds), _expit(-odds)
    x = np.zeros((n, n))
    one_less, all_k = _without_each(odds, k)
    together = inside[0] * one_less[0] + outside[0] * all_k[0]  # P(k of all)
    step = max(1, _BLOCK // (n * (k - 1)))
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        # before[j, i, t]: probability of t inclusions among the tokens below j, token i left out.
        before, count = np.zeros((n, rows.size, k - 1)), np.eye(1, k - 1).repeat(rows.size, axis=0)
        for j in range(n):
            before[j] = count
            _include(count, np.where(rows == j, 0.0, inside[j]), np.where(rows == j, 1.0, outside[j]))
        count[:] = np.eye(1, k - 1)
        for j in reversed(range(n)):
            others = np.einsum("it,it->i", before[j], count[:, ::-1])
            x[rows, j] = np.where(rows == j, 0.0, inside[rows] * inside[j] * others / together)
            _include(count, np.where(rows == j, 0.0, inside[j]), np.where(rows == j, 1.0, outside[j]))
    return 0.5 * (x + x.T)


def _include(count: Floats, inside: Floats, outside: Floats) -> None:
    """Add one more token, with its own probability in each row, to the distribution of the number included."""
    more = count[:, :-1] * inside[:, None]
    count *= outside[:, None]
    count[:, 1:] += more


def _centred(odds: Floats, k: int) -> Floats:
    """Shift log-odds so that the independent inclusions add up to ``k``: sets stay the same, nothing underflows."""
    low, high = -float(odds.max()) - 50.0, -float(odds.min()) + 50.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _expit(odds + middle).sum() > k else (middle, high)
    return odds + 0.5 * (low + high)


def _expit(odds: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-odds)), dtype=np.float64)
