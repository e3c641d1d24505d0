"""How sure a gap is: intervals, and p-values for 'this cohort is sensitive', over many categories and cohorts.

A cohort is a sample of users like these, independent of the **rest**, r of n users: the gap is
(r / n) (p_cohort - p_rest), which accounts for the cohort's own part in the population, however large it is.
"""

import numpy as np

from reidrisk.base import Bools, Floats, Ints, between_0_and_1
from reidrisk.cohorts.sensitivity.counts import CohortCounts
from reidrisk.cohorts.sensitivity.gaps import excess, row_blocks


def gap_intervals(counts: CohortCounts, level: float = 0.95) -> tuple[Floats, Floats]:
    r"""Return the interval of each cohort's sensitivity gap, :math:`\max_X` of the gaps of its categories.

    The largest of many gaps is large by chance alone. So the lower end is the largest of the categories' lower ends at
    tail :math:`(1 - level) / 2c` each (Bonferroni over the c categories). The upper end is the largest of the upper
    ends at tail :math:`(1 - level) / 2`, uncorrected: the category with the largest true gap is among them.

    For one category, the ends of cohort (Clopper-Pearson) and rest (Wilson) are combined by the square-and-add rule of
    Newcombe (1998): :math:`d \mp \sqrt{(\hat p_C - l_C)^2 + (u_R - \hat p_R)^2}`, times r/n.
    """
    tail = (1.0 - between_0_and_1("level", level)) / 2.0
    low, high = np.empty((2, counts.cohorts.size))
    for rows in row_blocks(*counts.visits.shape):
        x, size = counts.visits[rows].astype(np.int64), counts.sizes[rows, None]
        rest, y = counts.n_users - size, counts.population - x
        p, q = x / size, y / np.maximum(rest, 1)
        below, above = exact_ends(x, size, tail / x.shape[1])[0], exact_ends(x, size, tail)[1]
        rest_below, rest_above = wilson_ends(q, rest, tail)[0], wilson_ends(q, rest, tail / x.shape[1])[1]
        part = rest / counts.n_users
        low[rows] = (part * (p - q - np.hypot(p - below, rest_above - q))).max(axis=1)
        high[rows] = (part * (p - q + np.hypot(above - p, q - rest_below))).max(axis=1)
    return low, high


def nuisance(risk: float, n_cohorts: int, n_categories: int) -> float:
    r"""Return how likely the rest's frequency may lie above the bound used for it: :math:`\gamma = risk / 100 m c`.

    Added to every p-value, it comes to a hundredth of the risk that is taken, and is fixed before any visit is seen.
    """
    return risk / (100.0 * n_cohorts * n_categories)


def p_values(counts: CohortCounts, t: float, risk: float = 0.05) -> Floats:
    r"""Return for each cohort how likely gaps like these are if no category's true gap exceeds t.

    For a category, the hypothesis is :math:`p_C \le p_R + t n / r`. With :math:`u` a bound that :math:`p_R` stays below
    with probability :math:`1 - \gamma` (Clopper-Pearson on the rest; :func:`nuisance`), the p-value is
    :math:`P(\mathrm{Bin}(s, u + t n / r) \ge x) + \gamma` (Berger and Boos, 1994): it holds for any population, small
    ones too. The cohort's p-value is the smallest of its categories' times their number c.
    ``risk`` is the smallest that is taken with them, a false discovery rate or 1 - level.
    """
    from scipy.special import betainc

    found = np.ones(counts.cohorts.size)
    gamma = nuisance(risk, *counts.visits.shape)
    for rows in row_blocks(*counts.visits.shape):
        size = counts.sizes[rows]
        above = excess(counts, rows) > t * counts.n_users * size[:, None].astype(np.float64)
        row, category = np.nonzero(above)  # where the gap is not above t there is nothing to doubt
        x, s = counts.visits[rows][row, category].astype(np.float64), size[row].astype(np.float64)
        rest = counts.n_users - s
        bound = binomial_above(counts.population[category] - x, rest, gamma)
        limit = np.minimum(bound + t * counts.n_users / np.maximum(rest, 1.0), 1.0)
        smallest = np.ones(size.size)
        np.minimum.at(smallest, row, betainc(x, s - x + 1.0, limit) + gamma)
        found[rows] = np.minimum(smallest * counts.visits.shape[1], 1.0)
    return found


def binomial_above(count: Floats, size: Floats, tail: float) -> Floats:
    """Return the upper Clopper-Pearson end of each frequency ``count / size``."""
    from scipy.special import betainccinv

    bound = np.ones(count.size)
    some = count < size
    bound[some] = betainccinv(count[some] + 1.0, (size - count)[some], tail)
    return bound


def discoveries(p: Floats, fdr: float = 0.05) -> Bools:
    """Tell which p-values are discoveries at this false discovery rate (Benjamini and Hochberg, 1995)."""
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p, method="bh") <= between_0_and_1("fdr", fdr))


def exact_ends(x: Ints, size: Ints, tail: float) -> tuple[Floats, Floats]:
    """Return the Clopper-Pearson ends; equal pairs (x, size), of which there are many, are computed once."""
    from scipy.special import betaincinv

    width = int(size.max()) + 1
    keys, inverse = np.unique(size * width + x, return_inverse=True)
    s, k = np.divmod(keys, width)
    low, some = np.zeros(keys.size), k > 0
    low[some] = betaincinv(k[some], (s - k + 1)[some], tail)
    inverse = inverse.reshape(x.shape)
    return low[inverse], binomial_above(k, s, tail)[inverse]


def wilson_ends(q: Floats, n: Ints, tail: float) -> tuple[Floats, Floats]:
    """Return the Wilson score ends; an empty rest knows nothing, and its part is 0."""
    from scipy.special import ndtri

    z2 = ndtri(tail) ** 2
    m = np.maximum(n, 1).astype(np.float64)  # whose square may not fit 64 bits
    middle = (q + z2 / (2 * m)) / (1 + z2 / m)
    half = np.sqrt(z2 * (q * (1 - q) / m + z2 / (4 * m * m))) / (1 + z2 / m)
    return np.minimum(middle - half, q).clip(min=0.0), np.maximum(middle + half, q).clip(max=1.0)
