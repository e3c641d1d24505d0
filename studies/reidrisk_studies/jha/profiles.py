"""Denoised profiles by themselves: what noise leaves in them, how many people share one (jha, Sections 3.2 and 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.attacks.pooled import as_traces
from reidrisk.base.options import between_0_and_1, from_0_to_1, whole, whole_up_to
from reidrisk.base.results import Result
from reidrisk.present.words.frequencies import capital, in_words, people, range_in_words


def p_above(threshold: int, epochs: int, noise: float = 0.05, n_tokens: int = 349) -> float:
    r"""Return the probability that a given token gets into a denoised profile by noise alone (jha, Section 3.2).

    p_above(f, N, p, T) = 1 - sum_{k < f} C(N, k) (p/T)^k (1 - p/T)^(N-k): a random token replaces the real one with
    probability p and is this one with probability 1/T, and must come at least f times in N epochs.

    With p = 0.05, T = 349, N = 30 and f = 2 the paper prints 'in the order of 10^-8', but its formula gives 8.9e-6: the
    printed figure is that of (p/T)^2 = 2.1e-8, which leaves out the C(30, 2) = 435 pairs of epochs. Over all T tokens
    0.003 of them get in, so the conclusion stands: noise is rare in R^2.

    Parameters
    ----------
    threshold : int
        f, the epochs in which a token must have been seen.
    epochs : int
        N.
    noise : float
        p, the probability of a random token.
    n_tokens : int
        T, the size of the vocabulary.

    Examples
    --------
    >>> f"{p_above(2, 30):.1e}", f"{349 * p_above(2, 30):.4f}", p_above(1, 1, noise=0.5, n_tokens=5)
    ('8.9e-06', '0.0031', 0.1)
    """
    threshold, epochs, n_tokens = whole("threshold", threshold), whole("epochs", epochs), whole("n_tokens", n_tokens)
    noise = from_0_to_1("noise", noise)
    if threshold > epochs or noise == 0.0:
        return 0.0
    from scipy.special import betainc  # half a second nobody else should pay for

    # P(Binomial(N, q) >= f) as an incomplete beta function: exact where 1 - sum would lose all digits.
    return float(betainc(threshold, epochs - threshold + 1, noise / n_tokens))


@dataclass(frozen=True, eq=False)
class Anonymity(Result):
    """How many people share their denoised profile with at least k - 1 others.

    Attributes
    ----------
    k, threshold : int
        Size of the crowd, the person included; f of the profiles.
    rate, low, high : float
        Share of people whose profile at least ``k`` people have, with its interval at ``level``.
    unique : float
        Share of people who are alone with their profile.
    empty : float
        Share of people of whom nothing is kept. They look alike and count as one crowd, but an attack cannot use them.
    baseline : float
        The same share if nobody could be told apart: 1 from k users on.
    """

    k: int
    threshold: int
    rate: float
    low: float
    high: float
    unique: float
    empty: float
    baseline: float
    n_users: int
    n_epochs: int
    level: float = 0.95

    @property
    def reading(self) -> str:
        """One sentence for someone who is no statistician."""
        who = capital(people(self.rate))
        others = "other" if self.k == 2 else "others"
        return (
            f"{who} {'share their' if self.rate else 'shares a'} profile with at least {self.k - 1} {others} "
            f"({range_in_words(self.rate, self.low, self.high)}); {in_words(self.unique)} are alone with it."
        )


def profile_anonymity(traces: Any, threshold: int = 2, k: int = 2, level: float = 0.95) -> Anonymity:
    """Measure the probability that a denoised profile is k-anonymous in the audience of one observer.

    Prob(k-anonymous) = (1/n) #{u : #{u' : R^f_u' = R^f_u} >= k}, u itself counted; the proxy for risk of the paper's
    forerunner, which jha (Section 8) replaces by the probability of re-identification. It bounds nothing by itself:
    the strict attack also needs the same profile at the second observer.

    One person can change the status of k people at once, so the interval, that of Clopper and Pearson for users like
    these in an audience of this size, counts every k people as one observation.

    Parameters
    ----------
    traces : Traces, or a list of them
        What the observer saw; a list is pooled.
    threshold : int
        f: a token is kept if it was seen in at least f epochs.
    k : int
        Size of the crowd.
    level : float
        Level of the interval.

    Examples
    --------
    >>> from reidrisk import Traces
    >>> found = profile_anonymity(Traces([[1, 1], [1, 1], [2, 2], [3, 4]], n_tokens=9), k=2)
    >>> found.rate, found.unique, found.empty
    (0.5, 0.5, 0.25)
    """
    from reidrisk.attacks.sets.reconstruction import reconstruct, sizes  # the compiler is loaded by those who measure

    records = as_traces(traces, "profile_anonymity")
    n = len(records)
    k = whole_up_to("k", k, n, limit=f"the {n:,} users")
    level = between_0_and_1("level", level)
    kept = reconstruct(records, threshold).kept
    _, place, counts = np.unique(kept, axis=0, return_inverse=True, return_counts=True)
    crowd = counts[place.reshape(-1)]
    rate = float((crowd >= k).mean())
    low, high = _clopper_pearson(rate, n / k, level)
    return Anonymity(
        k=int(k),
        threshold=int(threshold),
        rate=rate,
        low=low,
        high=high,
        unique=float((crowd == 1).mean()),
        empty=float((sizes(kept) == 0).mean()),
        baseline=1.0,
        n_users=n,
        n_epochs=records.n_epochs,
        level=level,
    )


def _clopper_pearson(rate: float, n: float, level: float) -> tuple[float, float]:
    """Return the interval of a share observed on n, not necessarily whole, observations."""
    from scipy.special import betaincinv

    hits, tail = rate * n, (1.0 - level) / 2.0
    low = 0.0 if hits <= 0.0 else float(betaincinv(hits, n - hits + 1.0, tail))
    high = 1.0 if hits >= n else float(betaincinv(hits + 1.0, n - hits, 1.0 - tail))
    return low, high
