"""Jha et al.: personas drawn from the visit rates of real users, and the two extremes (Section 5, Appendix A)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from reidrisk.base import sizes
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.options import whole
from reidrisk.base.streams import checked_seed, stream
from reidrisk.populations.rates import BLOCK, Rates, checked_rates

Ints = npt.NDArray[np.int64]

CERTAIN = 5 * math.log(10)
"""Rate of a topic that is all but certainly visited: exp(-CERTAIN) = 1e-5 is the probability of a week without it."""

_LARGEST = 1 << 50  # sets of topics that can be numbered; BLOCK of them times a step stay below 2^63


def iid(matrix: Any, n: int, seed: int) -> Rates:
    """Draw personas that share only first-order statistics with real users (jha, Section 5, 'I.I.D. Personas').

    A persona has c topics, c that of a real user drawn at random (the inverse transform of its empirical
    distribution). The topics are drawn one after the other, 'with no repetitions', each in proportion to the share of
    real users who visit it, 'the normalized version of the empirical distribution of the topic popularity'. Each has
    the mean rate among its visitors (Equation 2): lambda_t = sum of lambda[u, t] over the users who visit t / their
    number.

    Parameters
    ----------
    matrix : (m, n_topics) array
        Rates of real users.
    n : int
        Number of personas; any.
    seed : int
        Seed; a larger population starts with the same personas.

    Examples
    --------
    >>> rates = iid([[2.0, 0.0, 1.0], [4.0, 0.0, 0.0]], n=1000, seed=0)
    >>> dense = rates.toarray()
    >>> [sorted(set(column)) for column in dense.T.tolist()]
    [[0.0, 3.0], [0.0], [0.0, 1.0]]
    """
    given, n, seed = checked_rates(matrix), whole("n", n), checked_seed(seed)
    sizes.USERS.check(n, "drawing users", "draw fewer")
    visits = given > 0
    n_chosen, visitors = visits.sum(axis=1), visits.sum(axis=0)
    topics = np.flatnonzero(visitors)
    if not topics.size:
        raise DataError("every rate is 0: nobody visits any topic, so there is nothing to draw personas from")
    popularity = visitors[topics] / len(given)
    mean_rate = given[:, topics].sum(axis=0) / visitors[topics]

    def make(index: int) -> Any:
        rng = stream(seed, "populations.iid", index)
        wanted = n_chosen[rng.integers(len(given), size=BLOCK)]
        # Drawing without replacement in proportion to w is a race of exponential clocks of speed w: the first c win.
        clocks = rng.standard_exponential((BLOCK, len(topics))) / popularity
        last = np.sort(clocks, axis=1)[np.arange(BLOCK), np.maximum(wanted - 1, 0)]
        users, places = np.nonzero((clocks <= last[:, None]) & (wanted > 0)[:, None])
        return sparse.csr_array((mean_rate[places], (users, topics[places])), shape=(BLOCK, given.shape[1]))

    return Rates(n, given.shape[1], "iid", make)


def crossover(matrix: Any, n: int, seed: int) -> Rates:
    """Cross two real users into each persona (jha, Section 5, 'Crossover Personas').

    'We then randomly select two parent individuals p0 and p1 [...]. We generate a binary mask and assign the rate of
    p0 (p1) if the corresponding bit is true (false).' The text leaves two things open: here the parents are two
    different users, every pair as likely, and each bit is a fair coin of its own, one a topic.

    Parameters
    ----------
    matrix, n, seed
        As for :func:`iid`; the matrix has at least two users.

    Examples
    --------
    >>> dense = crossover([[2.0, 2.0], [5.0, 5.0]], n=1000, seed=0).toarray()
    >>> sorted(set(map(tuple, dense.tolist())))
    [(2.0, 2.0), (2.0, 5.0), (5.0, 2.0), (5.0, 5.0)]
    """
    given, n, seed = checked_rates(matrix), whole("n", n), checked_seed(seed)
    sizes.USERS.check(n, "drawing users", "draw fewer")
    m, n_topics = given.shape
    if m < 2:
        raise DataError("a crossover needs two parents, but the rates have one user; give at least 2 rows")

    def make(index: int) -> Any:
        rng = stream(seed, "populations.crossover", index)
        one = rng.integers(m, size=BLOCK)
        other = (one + rng.integers(1, m, size=BLOCK)) % m
        bits = np.unpackbits(rng.integers(256, size=(BLOCK, -(-n_topics // 8)), dtype=np.uint8), axis=1)
        return sparse.csr_array(np.where(bits[:, :n_topics] == 1, given[one], given[other]))

    return Rates(n, n_topics, "crossover", make)


def drawn(matrix: Any, n: int, seed: int) -> Rates:
    """Draw people from the real users, each as likely, again and again: a population whose law is known exactly.

    Parameters
    ----------
    matrix, n, seed
        As for :func:`iid`.

    Examples
    --------
    >>> sorted(set(map(tuple, drawn([[2.0, 0.0], [0.0, 5.0]], n=1000, seed=0).toarray().tolist())))
    [(0.0, 5.0), (2.0, 0.0)]
    """
    given, n, seed = checked_rates(matrix), whole("n", n), checked_seed(seed)
    sizes.USERS.check(n, "drawing users", "draw fewer")

    def make(index: int) -> Any:
        return sparse.csr_array(given[stream(seed, "populations.drawn", index).integers(len(given), size=BLOCK)])

    return Rates(n, given.shape[1], "drawn", make)


def identical(n: int, n_topics: int = 349, top_k: int = 5, rate: float = CERTAIN) -> Rates:
    """Give every user the same ``top_k`` topics: the attacker's worst case (jha, Appendix A).

    'We set z = 5 topics with lambda = 5 log(10), and we set the lambda for every other topic to zero.' The logarithm
    is the natural one: a topic is then missed in a week with probability exp(-lambda) = 1e-5.

    Parameters
    ----------
    n, n_topics, top_k : int
        Users, topics, and topics that everybody visits: the first ones.
    rate : float
        Mean weekly visits to each of them.

    Examples
    --------
    >>> identical(2, n_topics=4, top_k=2, rate=9.0).toarray().tolist()
    [[9.0, 9.0, 0.0, 0.0], [9.0, 9.0, 0.0, 0.0]]
    """
    n, n_topics, top_k, rate = _extreme(n, n_topics, top_k, rate)
    sets = np.tile(np.arange(top_k), (BLOCK, 1))
    return Rates(n, n_topics, "identical", lambda index: _of_sets(sets, rate, n_topics))


def distinct(n: int, n_topics: int = 349, top_k: int = 5, rate: float = CERTAIN, seed: int = 0) -> Rates:
    """Give every user ``top_k`` topics that no other user has together: the attacker's best case (jha, Appendix A).

    'Assigning to every user a 5-tuple of topics [...], being careful that no users share the same 5-tuple.' The M =
    C(n_topics, top_k) sets are numbered in colexicographic order (the first 2^50 of them, if there are more); user i
    has number (a i + b) mod M, with a prime to M, so that no two are equal and any block can be made alone.

    Parameters
    ----------
    n, n_topics, top_k, rate
        As for :func:`identical`.
    seed : int
        Chooses a and b.

    Examples
    --------
    >>> dense = distinct(10, n_topics=5, top_k=2, rate=9.0).toarray()    # C(5, 2) = 10: every pair once
    >>> len(set(map(tuple, dense.tolist()))), set((dense > 0).sum(axis=1).tolist())
    (10, {2})
    """
    n, n_topics, top_k, rate = _extreme(n, n_topics, top_k, rate)
    n_sets = min(math.comb(n_topics, top_k), _LARGEST)
    if n > n_sets:
        raise OptionError(f"{n_topics} topics have {n_sets:,} different sets of {top_k}, too few for {n:,} users")
    rng = stream(seed, "populations.distinct")
    shift, step = (int(x) for x in rng.integers(n_sets, size=2))
    while math.gcd(step, n_sets) != 1:
        step = int(rng.integers(n_sets))

    def make(index: int) -> Any:
        first = (step * index * BLOCK + shift) % n_sets
        numbers = (first + step * np.arange(BLOCK, dtype=np.int64)) % n_sets
        return _of_sets(_numbered_sets(numbers, n_topics, top_k), rate, n_topics)

    return Rates(n, n_topics, "distinct", make)


def _extreme(n: int, n_topics: int, top_k: int, rate: float) -> tuple[int, int, int, float]:
    n, n_topics, top_k = whole("n", n), whole("n_topics", n_topics), whole("top_k", top_k)
    sizes.USERS.check(n, "drawing users", "draw fewer")
    if top_k > n_topics:
        raise OptionError(f"top_k must lie between 1 and the {n_topics} topics, not {top_k}")
    if not 0 < rate < math.inf:
        raise OptionError(f"rate must be a finite number above 0, not {rate}")
    return n, n_topics, top_k, float(rate)


def _numbered_sets(numbers: Ints, n_topics: int, size: int) -> Ints:
    """Return the sets of these numbers in colexicographic order: number = sum over j of C(topic j, j + 1)."""
    left, sets = numbers.copy(), np.empty((len(numbers), size), dtype=np.int64)
    for j in range(size, 0, -1):
        steps = np.array([min(math.comb(topic, j), 1 << 62) for topic in range(n_topics)], dtype=np.int64)
        sets[:, j - 1] = np.searchsorted(steps, left, side="right") - 1
        left -= steps[sets[:, j - 1]]
    return sets


def _of_sets(sets: Ints, rate: float, n_topics: int) -> Any:
    ends = np.arange(0, sets.size + 1, sets.shape[1])
    return sparse.csr_array((np.full(sets.size, rate), sets.ravel(), ends), shape=(len(sets), n_topics))
