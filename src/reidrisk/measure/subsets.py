r"""The rate among random subsets of the targets, exactly: from how many of them beat the truth, or tie with it.

If b of the N - 1 other targets score better than the truth and e score the same, and m of the others are drawn at
random, the link is right with probability P(none better is drawn) E[1 / (1 + ties drawn)], which is

    [C(M + 1, m + 1) - C(M - e, m + 1)] / [(e + 1) C(N - 1, m)],        M = N - 1 - b

(Vandermonde's identity). One search gives the whole curve; no subset is drawn. What the attack learnt from all targets
is taken as it is.
"""

from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.base import Attack
from reidrisk.base import Floats, Ints, OptionError, slices

_SCORES = 20_000_000  # scores held at once


class Ranks(NamedTuple):
    """How many other targets score better than the truth of each query, how many the same, and how many there are."""

    better: Ints
    tied: Ints
    others: int


def ranks(attack: Attack[Any], queries: Any, truth: Ints, n_targets: int) -> Ranks:
    """Return the ranks of the truths of some queries; the attack is fitted, and all truths are among its targets.

    >>> from reidrisk import Traces, attacks
    >>> targets = Traces([[1, 2], [1, 2], [1, 4], [5, 6]], n_tokens=9)
    >>> found = ranks(attacks.Hamming().fit(targets), Traces([[1, 2], [1, 2]], n_tokens=9), np.array([0, 2]), 4)
    >>> found.better.tolist(), found.tied.tolist()
    ([0, 2], [1, 0])
    """
    better, tied = np.zeros(len(truth), dtype=np.int64), np.zeros(len(truth), dtype=np.int64)
    for part in slices(len(truth), _SCORES // n_targets):
        asked, own = queries.take(part), truth[part]
        scores = attack.near_best(asked, np.full(len(own), -1, dtype=np.int64))
        if scores is None:
            raise OptionError(f"{attack.name} does not score every target, so its rate among subsets is not known")
        reached = scores[np.arange(len(own)), own][:, None]
        better[part] = np.count_nonzero(scores > reached, axis=1)
        tied[part] = np.count_nonzero(scores == reached, axis=1) - 1
    return Ranks(better, tied, n_targets - 1)


def rates_among(found: Ranks, sizes: Ints) -> Floats:
    """Return the (q, len(sizes)) probability that each query is linked rightly among a random subset of each size.

    The truth is always in the subset and counted in its size.

    >>> rates_among(Ranks(np.array([0, 2]), np.array([1, 0]), 3), np.array([1, 2, 4])).round(3).tolist()
    [[1.0, 0.833, 0.5], [1.0, 0.333, 0.0]]
    """
    left = (found.others - found.better)[:, None].astype(np.float64)
    tied = found.tied[:, None].astype(np.float64)
    drawn = np.asarray(sizes, dtype=np.float64)[None, :] - 1.0
    possible = left >= drawn
    room = np.where(possible, left, drawn)
    none_better = _log_choose(room, drawn) - _log_choose(np.float64(found.others), drawn)
    without = room - tied >= drawn + 1.0  # there may be no tie at all
    share = np.where(without, _log_choose(np.where(without, room - tied, drawn + 1.0), drawn + 1.0), -np.inf)
    share = share - _log_choose(room + 1.0, drawn + 1.0)
    luck = np.where(tied > 0, (room + 1.0) / ((drawn + 1.0) * (tied + 1.0)) * -np.expm1(share), 1.0)
    return np.asarray(np.where(possible, np.clip(np.exp(none_better) * luck, 0.0, 1.0), 0.0))


def _log_choose(n: Any, k: Any) -> Any:
    from scipy.special import gammaln

    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
