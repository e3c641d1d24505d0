r"""How often the two rows of one person agree, learnt without truth by expectation-maximisation.

A query's cell in column c is, with probability h_cj, that of somebody whose value lies in level j around the true one:
the very same value (level 0), one near it, or anybody's (the last level). Two values o, w whose closest level is l are
therefore

    P(o | w) / P(o) = sum over j >= l of h_cj / F_cj(o)

times as likely for one person as for two, where F_cj(o) is the share of targets whose value lies in level j around o.
With one level this is the hit-miss model of Copas and Hilton (1990): agreement on a value of frequency f weighs
(1 - h) / f + h, more if it is rare, and disagreement weighs h. Without ``by_value`` a level is as telling for all
values of a column, m_cl / u_cl, as in Fellegi and Sunter (1969), with u counted over all pairs. Missing cells weigh
nothing.

A query belongs to one of the n targets with probability ``linked``, and then to each of them alike. Given h, that makes
the probability of each pair; given those, the best h and ``linked`` are averages; and so on (Winkler 1988). Queries are
a sample, and so are the targets of each: all that are likely, and some of the others, which stand for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidrisk.attacks.agreement.levels import Levels
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.kernels import njit
from reidrisk.base.streams import stream
from reidrisk.search import EpochScorer, Index, RangeWeights, to_grid

_QUERIES = 100, 1_000  # queries to learn from, at least and at most, where there are as many
_CELLS = 2e9  # pairs of cells to look at for candidates: fewer queries where there are many targets
_LEVELS = 6e7  # levels of pairs that are kept: fewer queries where there are many columns
_CANDIDATES, _OTHERS = 128, 384
_STEPS, _SMALL = 200, 1e-5
_PRIOR = 4.0  # queries that the beginning counts for: with few queries, little is learnt
_EXACT, _LINKED = 0.8, 0.9  # where it begins


@dataclass(frozen=True, eq=False)
class Agreement:
    """What was learnt, (r, levels + 1) each: ``drawn`` is h; ``m`` and ``u`` say how often a level is the closest.

    ``m`` is of the two rows of one person, ``u`` of two people.
    """

    levels: Levels
    drawn: Floats
    m: Floats
    u: Floats
    linked: float = _LINKED
    by_value: bool = True

    def ratios(self, tokens: Ints, column: Ints) -> Floats:
        """Return (…, levels + 1) likelihood ratios of levels beside these tokens of these columns, not near last."""
        if not self.by_value:
            found = np.divide(self.m, self.u, out=np.zeros_like(self.m), where=self.u > 0)
            found = np.where(found > 0, found, found[:, -1:])  # levels that the column does not have
            return np.asarray(found[column])
        return _at_least(self.parts(tokens, column))

    def parts(self, tokens: Ints, column: Ints) -> Floats:
        """Return h / F of each level, which add up to the ratios."""
        shares = np.moveaxis(self.levels.share[:, np.maximum(tokens, 0)], 0, -1)
        return np.asarray(self.drawn[column] / np.concatenate([shares, np.ones((*tokens.shape, 1))], axis=-1))

    def weights(self, starts: Ints, n_tokens: int) -> RangeWeights:
        """Return what each token is worth, on the grid of scores; ``starts`` are the first tokens of the columns."""
        order, tokens = np.argsort(starts, kind="stable"), np.arange(n_tokens)
        column = order[np.maximum(np.searchsorted(starts[order], tokens, "right") - 1, 0)]
        steps = to_grid(np.log(self.ratios(tokens, column)))
        worth, mismatch = steps[:, :-1] - steps[:, 1:], steps[:, -1]
        return RangeWeights(
            match=(mismatch + worth[:, 0])[None],
            mismatch=mismatch[None],
            first=self.levels.first[1:],
            last=self.levels.last[1:],
            worth=worth[:, 1:].T,
        )


def beginning(levels: Levels, by_value: bool) -> Agreement:
    """Return what is taken to hold before any query was seen: four in five cells are as they were."""
    depth, width = levels.depth, len(levels.first) + 1
    drawn = np.zeros((len(depth), width))
    drawn[:, 0] = _EXACT
    for row, deep in zip(drawn, depth, strict=True):
        row[1:deep], row[-1] = (1.0 - _EXACT) / deep, (1.0 - _EXACT) / deep
    drawn /= drawn.sum(axis=1, keepdims=True)
    return Agreement(levels, drawn, drawn, np.ones_like(drawn), by_value=by_value)


def learn(levels: Levels, targets: Index, queries: Ints, starts: Ints, by_value: bool, seed: int) -> Agreement:
    """Learn from all targets and a sample of the queries (q, r); which is which is never seen."""
    n, r = len(targets), targets.n_epochs
    begun = found = replace(beginning(levels, by_value), u=_by_chance(levels, queries))
    fewest, most = _QUERIES
    enough = min(max(_CELLS / (n * r), fewest), most, _LEVELS / (min(n, _CANDIDATES + _OTHERS) * r))
    asked = queries[_sampled(queries, max(int(enough), 1), stream(seed, "agreement: queries"))].astype(np.int64)
    rows, counts = _pairs(found, targets, asked, starts, stream(seed, "agreement: others"))
    level, column = levels.of(asked[:, None, :], targets.tokens[rows]), np.broadcast_to(np.arange(r), asked.shape)
    for _ in range(_STEPS):
        before, ratios = found, found.ratios(asked, column)
        # The last level is 'missing', which is as likely for two people as for one.
        nats = np.log(np.concatenate([ratios, np.ones((*asked.shape, 1))], axis=-1))
        sums, links = np.zeros(nats.shape), np.zeros(len(asked))
        _expected(level, nats, counts, n * (1.0 - found.linked) / found.linked, sums, links)
        found = _better(found, begun, sums[..., :-1], links, asked, column)
        if np.abs(found.m - before.m).max() < _SMALL and abs(found.linked - before.linked) < _SMALL:
            break
    return found


def _better(found: Agreement, begun: Agreement, sums: Floats, links: Floats, asked: Ints, column: Ints) -> Agreement:
    """Return the parameters that fit best, given how likely each level is that of a query's own person."""
    m, drawn = sums.sum(axis=0) + _PRIOR * begun.m, found.drawn
    if found.by_value:
        parts = found.parts(asked, column)
        per_ratio = np.cumsum(sums / _at_least(parts), axis=-1)
        drawn = (parts * per_ratio).sum(axis=0) + _PRIOR * begun.drawn
        drawn = drawn / drawn.sum(axis=1, keepdims=True)
    linked = (links.sum() + _PRIOR * _LINKED) / (len(links) + _PRIOR)
    return replace(found, drawn=drawn, m=m / m.sum(axis=1, keepdims=True), linked=float(linked))


def _at_least(parts: Floats) -> Floats:
    """Add up each level and those beyond it."""
    return np.cumsum(parts[..., ::-1], axis=-1)[..., ::-1]


def _by_chance(levels: Levels, queries: Ints) -> Floats:
    """Return how often each level is the closest one of a query's and a random target's cell."""
    u = np.zeros((queries.shape[1], len(levels.first) + 1))
    for place in range(queries.shape[1]):
        held = queries[:, place]
        tokens, times = np.unique(held[held >= 0], return_counts=True)
        closest = np.diff(levels.share[:, tokens], axis=0, prepend=0.0, append=1.0)
        u[place] = closest @ times / max(int(times.sum()), 1)
    return u


def _sampled(rows: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Draw rows by what they hold, so that their order does not matter."""
    if len(rows) <= n:
        return np.arange(len(rows))
    mixed = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        mixed = (mixed ^ (column.astype(np.int64) + 2).astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return np.argsort(mixed, kind="stable")[rng.choice(len(rows), n, replace=False)]


def _pairs(
    found: Agreement, targets: Index, asked: Ints, starts: Ints, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """Return (q, p) targets to look at for each query, and how many targets each of them stands for."""
    n = len(targets)
    if n <= _CANDIDATES + _OTHERS:
        return np.broadcast_to(np.arange(n), (len(asked), n)), np.ones((len(asked), n))
    scorer = EpochScorer(found.weights(starts, targets.n_tokens))
    near = scorer.candidates(targets, asked, _CANDIDATES).target
    others = _sampled(targets.tokens, _OTHERS, rng)
    new = ~(others[None, :, None] == near[:, None, :]).any(axis=2)
    stands = new * ((n - _CANDIDATES) / np.maximum(new.sum(axis=1), 1))[:, None]
    rows = np.concatenate([near, np.broadcast_to(others, new.shape)], axis=1)
    return rows, np.concatenate([np.ones(near.shape), stands], axis=1)


@njit(cache=True, nogil=True)
def _expected(level: Any, nats: Any, counts: Any, stranger: Any, sums: Any, links: Any) -> None:
    """Add up, for each query and column, how likely each level is that of its own person; and that there is one."""
    q, p, r = level.shape
    score = np.empty(p)
    for i in range(q):
        top = -np.inf
        for j in range(p):
            total = 0.0
            for c in range(r):
                total += nats[i, c, level[i, j, c]]
            score[j] = total
            top = max(top, total)
        top = max(top, 0.0)
        whole = stranger * np.exp(-top)
        for j in range(p):
            score[j] = counts[i, j] * np.exp(score[j] - top)
            whole += score[j]
        for j in range(p):
            share = score[j] / whole
            links[i] += share
            if share > 0.0:
                for c in range(r):
                    sums[i, c, level[i, j, c]] += share
