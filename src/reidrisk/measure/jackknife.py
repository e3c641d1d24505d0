"""The rate without each person in turn: how far it would move with other people like these.

A person leaves both tables at once: their own credits go, and the credit of another query changes only if their target
was among its t best. If the truth is among them, too, 1/t becomes 1/(t - 1); if their target was the only one, and not
the truth, the next best level takes its place, and the credit becomes 1/u if the truth is one of the u targets there;
otherwise it stays 0. What the attack learnt from all targets is taken as it is.

A few targets that attract many queries together escape this: without one of them, the others still do. So there is no
jackknife where more than the square root of q of the q queries (and more than ten) are *held by few*: linked wrongly to
the same one target, or to the same tie of at most ten, and still wrong without any one of its targets. The square root
is about what an interval allows for; of a kind of record that more than ten people have here, others like these have
some, too. A kind of record that nobody has here, but others like these may have, is seen by no rule.
"""

from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.base import Attack, Links
from reidrisk.base import Bools, Floats, Ints, each, slices
from reidrisk.measure.alike import distinct

PAIRS = 1_000_000_000  # scores computed again, at most, to see how links change when a target leaves: some seconds
_SCORES = 2_000_000  # scores held at once
_FEW = 10  # targets whose kind may be absent, or much rarer, among as many other people
_CHANCE = 10  # queries that may share a wrong link in a small table
_GRID = 2.0**32  # credits are rounded to its steps: sums of up to two million are then exact, in whatever order


class Gains(NamedTuple):
    """What all other queries gain in credit when each target leaves; or ``None``, and a code that says why not."""

    by_target: Floats | None
    why_not: str = ""


def gains(attack: Attack[Any], queries: Any, links: Links, truth: Ints, credit: Floats, n_targets: int) -> Gains:
    """Return the sum over queries of other people of what each target's leaving would add to their credits.

    The attack is as it was when it made the links; ``truth`` holds the target row of each of the q queries, -1 = none,
    and ``credit`` the :func:`reidrisk.measure.credits` of the links. Below, targets 0 and 1 look the same, so that each
    gives half a credit to the other by leaving; query 2 is taken for target 3, and for the right one if that leaves.

    >>> from reidrisk import Traces, attacks
    >>> from reidrisk.measure import credits
    >>> targets = Traces([[1, 2], [1, 2], [5, 6], [5, 7]], n_tokens=9)
    >>> queries = Traces([[1, 2], [1, 2], [5, 7]], n_tokens=9)
    >>> attack, truth = attacks.Hamming().fit(targets), np.arange(3)
    >>> links = attack.link(queries)
    >>> gains(attack, queries, links, truth, credits(attack, queries, links, truth), 4).by_target.tolist()
    [0.5, 0.5, 0.0, 1.0]
    """
    known, among, alone = truth >= 0, credit > 0.0, links.n_ties == 1
    rows = np.flatnonzero(known & (among != alone))
    if (links.target[known] < 0).any() or attack.near_best(queries.take(slice(0, 1)), np.zeros(1, np.int64)) is None:
        return Gains(None, "best-score")
    if rows.size * n_targets > PAIRS:
        return Gains(None, "too-many-scores")
    found, held = np.zeros(n_targets), known & ~among
    if not _add_tied(found, attack, queries, links, truth, rows[among[rows]]):
        return Gains(None, "best-score")
    alone_and_wrong = rows[~among[rows]]
    for some in slices(alone_and_wrong.size, _SCORES // n_targets):
        part = alone_and_wrong[some]
        if not _add(found, held, attack, queries.take(part), links, truth, part):
            return Gains(None, "best-score")
    if _most_held(links, held) > max(_CHANCE, len(truth) ** 0.5):
        return Gains(None, "few-attract-many")
    return Gains(found)


def _most_held(links: Links, held: Bools) -> int:
    """Return the largest number of such queries that one target or one tie of few has.

    A tie is known by its size and its first target, so that near the limit the order of the targets may decide.
    """
    few = np.flatnonzero(held & (links.n_ties <= _FEW))
    return int(np.bincount(links.target[few] * _FEW + links.n_ties[few] - 1).max(initial=0))


def _add_tied(found: Floats, attack: Attack[Any], queries: Any, links: Links, truth: Ints, rows: Ints) -> bool:
    """Add what queries gain whose truth is one of several best; tell whether their links are what the scores say."""
    ties = links.n_ties[rows]
    worth = _rounded(1.0 / (ties - 1.0) - 1.0 / ties)
    first, kind = distinct(queries.take(rows), attack)
    together = np.bincount(kind, weights=worth, minlength=len(first))  # exact: worths are on the grid

    def gained(some: slice) -> Floats | None:
        part = rows[first[some]]
        best = links.score[part]
        scores = attack.near_best(queries.take(part), np.zeros(len(part), dtype=np.int64))
        if scores is None or (scores.max(axis=1) != best).any():
            return None
        asked, target = np.nonzero(scores == best[:, None])
        if (np.bincount(asked, minlength=len(part)) != links.n_ties[part]).any():
            return None
        if (scores[np.arange(len(part)), links.target[part]] != best).any():
            return None
        return np.asarray(np.bincount(target, together[some][asked], len(found)), dtype=np.float64)

    for added in each(gained, slices(len(first), _SCORES // len(found))):
        if added is None:
            return False
        found += added
    np.subtract.at(found, truth[rows], worth)  # a person's own query leaves with them
    return True


def _add(found: Floats, held: Bools, attack: Attack[Any], asked: Any, links: Links, truth: Ints, part: Ints) -> bool:
    """Add the gains of some queries with one best target, a wrong one; they are no longer held where the truth is next.

    Tell whether their links are what the scores say.
    """
    own, best, link = truth[part], links.score[part], links.target[part]
    least = attack.score(asked, own)
    scores = attack.near_best(asked, best - least)
    if scores is None or (scores[np.arange(len(part)), link] != best).any():
        return False
    above = np.count_nonzero(scores > least[:, None], axis=1)
    if (above == 0).any():
        return False
    second = above == 1
    level = np.count_nonzero(scores[second] == least[second, None], axis=1)
    np.add.at(found, link[second], _rounded(1.0 / level))
    held[part[second]] = False
    return True


def _rounded(credit: Floats) -> Floats:
    return np.asarray(np.rint(credit * _GRID) / _GRID)


def rates_without(credit: Floats, by_target: Floats, truth: Ints) -> Floats | None:
    """Return the rate without each person: first those of the targets, then the queries of nobody among them.

    A target without query is a person, too, and so is each query without target. ``None`` where one person has all
    queries.

    >>> rates_without(np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.5, 0.0, 1.0]), np.array([0, 1, 2])).round(2).tolist()
    [0.5, 0.5, 0.5, 0.67]
    """
    known, strangers, credit = truth >= 0, int((truth < 0).sum()), _rounded(credit)
    n, total, q = len(by_target), float(credit.sum()), len(credit)
    own = np.bincount(truth[known], weights=credit[known], minlength=n)
    asked = np.bincount(truth[known], minlength=n)
    if (asked == q).any() or q - strangers < 1 or q < 2:
        return None
    without = (total - own + by_target) / (q - asked)
    return np.asarray(np.clip(np.concatenate([without, np.full(strangers, total / (q - 1))]), 0.0, 1.0))


def variance(without: Floats) -> float:
    """Return the jackknife's variance of what was computed without each of n: (n - 1) / n sum (x_i - mean)^2.

    Of plain means it is the usual one; of pairs that look alike it is up to twice too large, on the safe side.

    >>> x = np.array([0.0, 1.0, 1.0, 0.0])
    >>> bool(np.isclose(variance((x.sum() - x) / 3), x.var(ddof=1) / 4))
    True
    """
    return float((len(without) - 1) * np.sort(without).var())  # sorted: the order of people must not matter


def queries_per_person(truth: Ints) -> float:
    """Return how many queries the person behind a query has, on average; a query without target stands alone.

    Queries of one person may be found all or none, so that they tell no more than one: the largest design effect that
    persons with m_i of q queries can cause is sum m_i^2 / q.

    >>> queries_per_person(np.array([0, 1, 2])), queries_per_person(np.array([0, 0, 0, 1, -1, -1]))
    (1.0, 2.0)
    """
    many = np.bincount(truth[truth >= 0])
    return float((many.astype(np.float64) ** 2).sum() + (truth < 0).sum()) / max(len(truth), 1)
