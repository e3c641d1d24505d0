"""The matching setting: an attacker who sees all records at once and links them one to one (carey, Appendix A)."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from reidrisk import bounds
from reidrisk.attacks.base import Attack
from reidrisk.attacks.grouped import Groups
from reidrisk.attacks.pooled import gathered
from reidrisk.attacks.registry import find_attack
from reidrisk.base import ArrayLike, Floats, Ints, Note, Risk, between_0_and_1, seed_or_fresh, slices, stream, whole
from reidrisk.measure.jackknife import Gains
from reidrisk.measure.risk import checked_groups, groups_note, guessed, risk_of
from reidrisk.records import Traces, find_truth
from reidrisk.search.engines import Engine, find_engine

DENSE_LIMIT = 10_000  # users up to which every pair is weighed; beyond, only each query's best candidates are

Draws = np.random.Generator
Ranked = tuple[Ints, Ints]  # targets, and their scores

_CANDIDATES = 20
_PAIRS = 20_000_000  # candidates held at once: some 320 MB
_ORDERS = 5


def matching(
    attack: Attack[Any] | str,
    targets: Any,
    queries: Any,
    truth: ArrayLike | None = None,
    level: float = 0.95,
    seed: int | None = None,
    orders: int = _ORDERS,
    candidates: int = _CANDIDATES,
    groups: tuple[ArrayLike, ArrayLike] | None = None,
    engine: Engine | str | None = None,
) -> Risk:
    """Measure the matching setting: link all queries at once, each target at most once, for the best total score.

    The answer is an assignment of the highest sum of scores: for a likelihood attack the most likely matching, for
    others a heuristic. The paper's rule may name a target twice, which finds more where links are doubtful; this one
    does not. Equal scores are broken by the order of the rows, drawn at random with ``seed``; the rate is the mean over
    ``orders`` such orders. An assignment maximises the whole, not each link: it can fall below the random-user rate. Up
    to :data:`DENSE_LIMIT` users it is optimal; beyond, it is found greedily among each query's
    best ``candidates``, and the result says so. Links of one assignment depend on each other: the interval is that of
    independent ones, and promises nothing (``covers`` is ``"none"``). Every query is scored; everything else is as for
    :func:`reidrisk.measure.random_user`. With ``groups`` there is an assignment for each group, with what the attack
    has learnt from all targets. Below, both queries fit user 0 best; together, only one of them can be user 0.

    >>> from reidrisk import Traces, attacks
    >>> targets = Traces([[1, 2], [1, 3]], n_tokens=5)
    >>> queries = Traces([[1, 2], [1, 4]], n_tokens=5)
    >>> matching(attacks.Hamming(), targets, queries, seed=0).rate
    1.0
    """
    whole("orders", orders)
    whole("candidates", candidates)
    between_0_and_1("level", level)
    targets, queries = gathered(targets), gathered(queries)
    known, engine = find_truth(targets, queries, truth), find_engine(engine)
    attack = find_attack(attack, targets)
    used = seed_or_fresh(seed)
    parts = None if groups is None else checked_groups(groups, len(targets), len(queries))
    attack.fit(targets)
    right, answered = (np.zeros(len(queries), dtype=np.int64) for _ in range(2))
    optimal = True
    for block, (view, asked, target_rows, query_rows) in enumerate(_views(attack, targets, queries, parts)):
        dense = max(len(target_rows), len(query_rows)) <= DENSE_LIMIT
        matrix = _scores(view, asked, len(target_rows), engine) if dense else None
        optimal &= dense
        for number in range(orders):
            rng = stream(used, "matching order", block * orders + number)
            order = rng.permutation(len(target_rows))
            if matrix is not None:
                link = _assigned(matrix, order, rng)
            else:
                link = _by_candidates(view, asked, order, candidates, rng, engine)
            right[query_rows] += (target_rows[link] == known.target[query_rows]) & (link >= 0)
            answered[query_rows] += link >= 0
    silent = 1.0 - int(answered.sum()) / (orders * len(queries))
    risk = risk_of(right / orders, silent, attack, targets, queries, known, level, True, Gains(None, "linked-together"))
    notes = [Note("truth", origin=known.origin), Note("assignment", optimal=optimal), Note("orders", n=orders)]
    notes.append(Note("covers-nothing"))
    if isinstance(queries, Traces):  # records that look the same cannot be told apart: one of a kind is right at best
        notes.append(Note("distinct-records", share=bounds.distinct_outputs(queries).value))
    if parts is not None:
        risk = replace(risk, baseline=float(guessed(parts, known).mean()))
        notes.append(groups_note(parts, np.arange(len(queries))))
    return replace(risk, setting="matching", covers="none", seed=used, notes=tuple(notes))


def _views(
    attack: Attack[Any], targets: Any, queries: Any, groups: Groups | None
) -> Iterator[tuple[Any, Any, Ints, Ints]]:
    """Yield, for each group, the fitted attack narrowed to it, its queries, and the rows of its targets and queries."""
    if groups is None:
        yield attack.look_around(queries), queries, np.arange(len(targets)), np.arange(len(queries))
        return
    for target_rows, query_rows in groups.parts():
        asked = queries.take(query_rows)
        yield attack.narrowed(target_rows).look_around(asked), asked, target_rows, query_rows


def _scores(attack: Attack[Any], queries: Any, n: int, engine: Engine | None = None) -> Floats:
    """Return the (q, n) matrix of all scores."""
    matrix = np.empty((len(queries), n))
    for part in slices(len(queries), _PAIRS // n):
        rows, scores = _candidates(attack, queries.take(part), n, None, engine)
        np.put_along_axis(matrix[part], rows, scores, axis=1)
    return matrix


def _candidates(attack: Attack[Any], queries: Any, k: int, among: Ints | None, engine: Engine | None) -> Ranked:
    """Return the k best targets of each query, here or where the engine searches."""
    where = {} if engine is None else {"engine": engine}
    return attack.candidates(queries, k, among, **where)


def _assigned(matrix: Floats, order: Ints, rng: Draws) -> Ints:
    """Return the target of each query in an optimal assignment; ties go by a random order of rows and columns."""
    from scipy.optimize import linear_sum_assignment

    by_row = rng.permutation(len(matrix))
    rows, columns = linear_sum_assignment(matrix[by_row][:, order], maximize=True)
    link = np.full(len(matrix), -1, dtype=np.int64)
    link[by_row[rows]] = order[columns]
    return link


def _by_candidates(attack: Attack[Any], queries: Any, order: Ints, k: int, rng: Draws, engine: Engine | None) -> Ints:
    """Link greedily among each query's k best targets; who is left looks among the free targets, twice as far."""
    link = np.full(len(queries), -1, dtype=np.int64)
    left, free = np.arange(len(queries)), order
    while left.size and free.size:
        k = min(k, free.size, max(1, _PAIRS // left.size))
        rows, scores = _candidates(attack, queries.take(left), k, free, engine)
        link[left] = _greedy(rows, scores, len(order), rng)
        taken = np.zeros(len(order), dtype=np.bool_)
        taken[link[link >= 0]] = True
        left, free = np.flatnonzero(link < 0), free[~taken[free]]
        k *= 2
    return link


def _greedy(rows: Ints, scores: Ints, n: int, rng: Draws) -> Ints:
    """Take pairs from the best score down, ties in random order, skipping targets and queries already linked."""
    q, k = rows.shape
    pairs = rng.permutation(q * k)
    pairs = pairs[np.argsort(-scores.ravel()[pairs], kind="stable")]
    link, taken = np.full(q, -1, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    while pairs.size:
        # The first free pair of every query and of every target stands whatever comes later: take all of these at once.
        query, target = pairs // k, rows.ravel()[pairs]
        first_query, first_target = (np.zeros(pairs.size, dtype=np.bool_) for _ in range(2))
        first_query[np.unique(query, return_index=True)[1]] = True
        first_target[np.unique(target, return_index=True)[1]] = True
        chosen = first_query & first_target
        link[query[chosen]], taken[target[chosen]] = target[chosen], True
        pairs = pairs[(link[query] < 0) & ~taken[target]]
    return link
