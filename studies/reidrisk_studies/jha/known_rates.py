r"""The attacker who knows visit rates: how probable it is that a week's top set holds a topic, or two, exactly.

A user visits topic o Poisson(:math:`\lambda_o`) times and holds the k most visited topics, equals in random order,
unvisited ones among them: give each topic the height visits + a lot in [0, 1), and the set is the k highest. At height
c + u topic o is higher with probability :math:`s_o = P(V_o > c) + P(V_o = c)(1 - u)`, independently, so that

.. math:: P(a, b \in S) = \sum_c \int_0^1 \big( P(V_a = c) s_b + P(V_b = c) s_a \big)
          P\Big(\text{at most } k - 2 \text{ others are higher}\Big)\, du.

The last factor is a sum of coefficients of :math:`\prod_o (1 - s_o + s_o x)`; the integrand is a polynomial in u, and
Gauss-Legendre nodes integrate it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import gammaln

from reidrisk.attacks import MixtureBayes
from reidrisk.attacks.mixture.scorer import MixtureScorer
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.kernels import njit
from reidrisk.base.parallel import each
from reidrisk.populations.rates import checked_rates

__all__ = ["KnownRates", "RateSets"]

_NODES = 12  # of a level with visits, where the polynomial hardly bends
_FAR = 12.0  # standard deviations


class RateSets:
    """Membership of the top sets of people with these visit rates (T, N), as the scorer of mixtures takes it.

    Examples
    --------
    >>> coin = RateSets(np.array([[1.0, 1.0, 0.0]]), k=1)
    >>> coin.single.round(4).tolist()          # exp(-2) is the probability of no visit at all: then any of three
    [[0.4774, 0.4774, 0.0451]]
    >>> round(float(coin.single.sum()), 9), coin.pairs(0)[0].round(4).tolist()
    (1.0, [0.4774, 0.0, 0.0])
    """

    def __init__(self, rates: Any, k: int) -> None:
        rates = checked_rates(rates)
        self.k, (self.n_types, self.n_tokens) = k, rates.shape
        # Topics that a user never visits are all alike: one stands for them, the last.
        self._place = np.where(rates > 0, np.cumsum(rates > 0, axis=1) - 1, (rates > 0).sum(axis=1, keepdims=True))
        found = each(lambda row: _of_user(row[row > 0], self.n_tokens, k), list(rates))
        self._both = [both for _, both in found]
        self.single: Floats = np.stack([alone[place] for (alone, _), place in zip(found, self._place, strict=True)])

    def pairs(self, kind: int, tokens: Ints | None = None) -> Floats:
        """Return how probable both topics are in a set of this user: of some ``tokens`` (default: all) and all."""
        place = self._place[kind]
        some = np.arange(self.n_tokens) if tokens is None else tokens
        both: Floats = self._both[kind][place[some]][:, place]
        both[np.arange(len(some)), some] = self.single[kind, some]
        return both


def _of_user(rates: Floats, n_tokens: int, k: int) -> tuple[Floats, Floats]:
    """Return P(a in S), and P(a, b in S): of the topics with a rate, and last of one without."""
    last = int(np.ceil(max(1.0, (rates + _FAR * np.sqrt(rates) + 20.0).max(initial=1.0))))
    count = np.arange(last + 1)
    level = np.exp(count * np.log(rates)[:, None] - rates[:, None] - gammaln(count + 1.0))
    above = np.maximum(1.0 - np.cumsum(level, axis=1), 0.0)
    unvisited = n_tokens - len(rates)
    none, some = (np.polynomial.legendre.leggauss(n) for n in (n_tokens // 2 + 2, _NODES))
    alone, both = np.zeros(len(rates) + 1), np.zeros((len(rates) + 1, len(rates) + 1))
    for (nodes, weights), levels in ((none, slice(0, 1)), (some, slice(1, last + 1))):
        u, w = (nodes + 1.0) / 2.0, weights / 2.0
        _integrate(
            level[:, levels], above[:, levels], u, w, float(unvisited if levels.start == 0 else 0), k, alone, both
        )
    return alone, both


@njit(cache=True, nogil=True)
def _integrate(level: Any, above: Any, u: Any, w: Any, unvisited: float, k: int, alone: Any, both: Any) -> None:
    """Add up levels and nodes; ``unvisited`` topics have no visits for certain, and compete at level 0 alone."""
    m = len(level)
    after = np.zeros((m + 2, k))  # cumulative coefficients of the topics from i on, unvisited ones last
    rest = np.zeros((3, k))  # of the unvisited but none, one and two
    before, between, s = np.zeros(k), np.zeros(k), np.zeros(m)
    for c in range(level.shape[1]):
        for node in range(len(u)):
            share = 1.0 - u[node]
            for i in range(m):
                s[i] = min(1.0, above[i, c] + level[i, c] * share)
            for left in range(3):
                _binomial(max(0.0, unvisited - left), share, rest[left])
            for left in range(3 if unvisited else 1):
                if unvisited < left:
                    continue
                after[m] = rest[left]
                for i in range(m - 1, -1, -1):
                    _times(after[i + 1], s[i], after[i])
                if after[0].sum() < 1e-30:
                    continue
                if left == 2:  # two that are never visited
                    if k > 1:
                        both[m, m] += w[node] * 2.0 * share * after[0, : k - 1].sum()
                    continue
                before[:] = 0.0
                before[0] = 1.0
                for a in range(m):
                    if left == 0:
                        alone[a] += w[node] * level[a, c] * _at_most(before, after[a + 1], k - 1)
                    elif k > 1:
                        pair = w[node] * (level[a, c] * share + s[a]) * _at_most(before, after[a + 1], k - 2)
                        both[a, m] += pair
                        both[m, a] += pair
                    if left == 0 and k > 1:
                        between[:] = before
                        for b in range(a + 1, m):
                            pair = level[a, c] * s[b] + level[b, c] * s[a]
                            if pair > 0.0:
                                pair *= w[node] * _at_most(between, after[b + 1], k - 2)
                                both[a, b] += pair
                                both[b, a] += pair
                            _times(between, s[b], between)
                    _times(before, s[a], before)
                if left == 1:  # the others are all topics with a rate, and all but one without
                    alone[m] += w[node] * after[0].sum()


@njit(cache=True, nogil=True)
def _times(poly: Any, s: float, out: Any) -> None:
    """Multiply by 1 - s + s x, up to the highest coefficient kept."""
    for j in range(len(poly) - 1, 0, -1):
        out[j] = poly[j] * (1.0 - s) + poly[j - 1] * s
    out[0] = poly[0] * (1.0 - s)


@njit(cache=True, nogil=True)
def _at_most(one: Any, two: Any, most: int) -> float:
    """Return the sum of the coefficients of a product up to x^most."""
    total = 0.0
    for i in range(most + 1):
        inner = 0.0
        for j in range(most + 1 - i):
            inner += two[j]
        total += one[i] * inner
    return total


@njit(cache=True, nogil=True)
def _binomial(n: float, share: float, out: Any) -> None:
    """Return the first coefficients of (1 - share + share x)^n."""
    out[0] = (1.0 - share) ** n
    for j in range(1, len(out)):
        out[j] = out[j - 1] * (n - j + 1.0) / j * share / (1.0 - share) if j <= n else 0.0


class KnownRates(MixtureBayes):
    """Link to the target of the highest exact posterior, knowing visit rates.

    Without ``whose``, people are known to be independent draws from the rows of ``rates``: on such people nobody with
    the same two tables does better, one record at a time. With ``whose``, the row of every target is known as well:
    that is more than any table says, so its rate is an upper limit for attackers who see records alone.

    Examples
    --------
    >>> from reidrisk import Traces
    >>> attack = KnownRates([[9.0, 0.0, 0.0], [0.0, 0.0, 9.0]], top_k=1).fit(Traces([[0], [2]], n_tokens=3))
    >>> attack.link(Traces([[2], [0]], n_tokens=3)).target.tolist()
    [1, 0]
    """

    def __init__(
        self, rates: Any, top_k: int = 5, noise: float = 0.05, whose: npt.NDArray[np.int64] | None = None
    ) -> None:
        self.noise, self.negligible, self.whose = noise, 1e-6, whose
        if whose is not None:  # people with equal rates are computed once
            rates, kind = np.unique(checked_rates(rates), axis=0, return_inverse=True)
            self.whose = kind.ravel()[whose]
        self._sets = RateSets(rates, top_k)
        n_types, n_tokens = self._sets.single.shape
        shape = {"n_types": n_types, "n_tokens": n_tokens, "k": top_k, "n_epochs": np.inf, "vocabulary": None}
        self.model: Any = SimpleNamespace(**shape)

    def _scoring(self, n_epochs: int, inside: float, outside: float) -> MixtureScorer:
        epochs: Any = (self._sets,) * n_epochs
        return _SameEveryEpoch(epochs, inside, outside)

    def _posterior(self, tokens: Any) -> Any:
        if self.whose is None:
            return super()._posterior(tokens)
        n = len(tokens)
        return sparse.csr_array((np.ones(n), (np.arange(n), self.whose)), shape=(n, self.model.n_types))


class _SameEveryEpoch(MixtureScorer):
    """Factors are made once for all epochs of a user: rates do not change."""

    def factors(self, kind: int, epoch: int, tokens: Ints) -> Floats:
        """Return what the base class does."""
        held: tuple[int, Any] = self.__dict__.get("_kept", (-1, None))
        if held[0] != kind:
            everything = np.append(np.arange(self.epochs[0].n_tokens), -1)
            held = kind, super().factors(kind, epoch, everything)
            self.__dict__["_kept"] = held
        return np.asarray(held[1][tokens])
