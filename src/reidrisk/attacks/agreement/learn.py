r"""How often the two rows of one person agree, learnt without truth by expectation-maximisation.

A query's cell in column c is, with probability h_cj, that of somebody whose value lies in level j around the true one:
the very same value (level 0), one near it, anybody's (the last level but one); or, last, any of the K_c values of the
column, each alike. Two values o, w whose closest level is l are therefore

    P(o | w) / f(o) = sum over j >= l of h_cj / F_cj(o),

where F_cj(o) is the share of targets whose value lies in level j around o, f = F_c0, and K_c f(o) stands for the last
F. Divided by what is expected of a random target, 1 - h + h / (K_c f(o)) with the last h, that is how much likelier the
two are for one person than for two. With one level this is the hit-miss model of Copas and Hilton (1990): agreement on
a rare value weighs more, and disagreement h. Without ``by_value`` a level is as telling for all values of a column,
m_cl / u_cl, as in Fellegi and Sunter (1969), with u counted over all pairs. Missing cells weigh nothing.

A query belongs to one of the n targets with probability ``linked``, and then to each of them alike; or to nobody among
them. Then it looks like other queries do: columns depend on each other, so strangers resemble some target far more than
independent columns would. How much, is learnt the same way from the queries, each beside all others. Given h, that
makes the probability of each pair; given those, the best h and ``linked`` are averages; and so on (Winkler 1988).
Queries are a sample, and so are the targets of each: all that are likely, and some of the others, for all the rest.

Where one column is right and others are not, every h is about as likely, and few queries are fitted by chance. So what
the counts of values tell (:mod:`reidrisk.attacks.agreement.histograms`) is added, and where only some columns are
clearly shared, it begins with these alone, too; the more likely end counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from reidrisk import search
from reidrisk.attacks.agreement.histograms import histograms
from reidrisk.attacks.agreement.levels import Levels
from reidrisk.attacks.agreement.repeats import have_several
from reidrisk.base import Bools, Floats, Ints, each, stream
from reidrisk.search import Index, RangeWeights, to_grid

_QUERIES = 100, 1_000  # queries to learn from, at least and at most, where there are as many
_CELLS = 2e9  # pairs of cells to look at for candidates: fewer queries where there are many targets
_LEVELS = 6e7  # levels of pairs that are kept: fewer queries where there are many columns
_TIERS = {0: 128, 128: 128, 1024: 128, 8192: 128}  # of the targets of a query by rank: from here on, this many
_SCORES = 4_000_000  # scores held at once
_STEPS, _SMALL = 200, 1e-4
_FEWEST, _MANY = 50, 20_000  # queries, from which on and up to which it is learnt how they resemble each other
_PRIOR = 4.0  # queries that the beginning counts for: with few queries, little is learnt
_EXACT, _LINKED = 0.8, 0.9  # where it begins
_UNSHARED = 0.1  # of that, in columns that are not clearly shared, where others are


@dataclass(frozen=True, eq=False)
class Agreement:
    """What was learnt by column: ``drawn`` (r, levels + 2) is h; ``m``, ``u`` how often a level is the closest.

    These are (r, levels + 1); ``m`` is of the two rows of one person, ``u`` of two people. ``apart`` is the same of a
    query and the others, where there were enough to learn it from.
    """

    levels: Levels
    drawn: Floats
    m: Floats
    u: Floats
    linked: float = _LINKED
    by_value: bool = True
    apart: Agreement | None = None

    def ratios(self, tokens: Ints, column: Ints) -> tuple[Floats, Floats]:
        """Return (…, levels + 1) likelihoods beside these tokens of these columns, not near last, over f.

        Second, (…): that beside a random target.
        """
        if not self.by_value:
            found = np.divide(self.m, self.u, out=np.zeros_like(self.m), where=self.u > 0)
            found = np.where(found > 0, found, found[:, -1:])  # levels that the column does not have
            return np.asarray(found[column]), np.ones(tokens.shape)
        parts = self.parts(tokens, column)
        return _at_least(parts)[..., :-1], np.asarray(1.0 - self.drawn[column][..., -1] + parts[..., -1])

    def parts(self, tokens: Ints, column: Ints) -> Floats:
        """Return h / F of each level, which add up to the ratios."""
        shares = np.moveaxis(self.levels.share[:, np.maximum(tokens, 0)], 0, -1)
        even = shares[..., 0] * self.levels.values[column]
        whole = np.concatenate([shares, np.ones((*tokens.shape, 1)), even[..., None]], axis=-1)
        return np.asarray(self.drawn[column] / whole)

    def weights(self, starts: Ints, n_tokens: int) -> RangeWeights:
        """Return what each token is worth, on the grid of scores; ``starts`` are the first tokens of the columns."""
        ratios, by_chance = self.ratios(np.arange(n_tokens), _columns(starts, n_tokens))
        steps = to_grid(np.log(ratios / by_chance[:, None]))
        worth, mismatch = steps[:, :-1] - steps[:, 1:], steps[:, -1]
        return RangeWeights(
            match=(mismatch + worth[:, 0])[None],
            mismatch=mismatch[None],
            first=self.levels.first[1:],
            last=self.levels.last[1:],
            worth=worth[:, 1:].T,
        )

    def chance(self, starts: Ints, n_tokens: int) -> Floats:
        """Return for each token, in nats, how likely it is beside a random target, over f."""
        return np.asarray(np.log(self.ratios(np.arange(n_tokens), _columns(starts, n_tokens))[1]))


def _columns(starts: Ints, n_tokens: int) -> Ints:
    """Return the column of each token."""
    order = np.argsort(starts, kind="stable")
    return np.asarray(order[np.maximum(np.searchsorted(starts[order], np.arange(n_tokens), "right") - 1, 0)])


def beginning(levels: Levels, by_value: bool) -> Agreement:
    """Return what is taken to hold before any query was seen: four in five cells are as they were."""
    drawn = np.zeros((len(levels.depth), len(levels.first) + 2))
    for row, deep in zip(drawn, levels.depth, strict=True):
        row[0], row[1:deep], row[-2:] = _EXACT, (1.0 - _EXACT) / deep, (1.0 - _EXACT) / deep / 2.0
    m = _closest(drawn)
    return Agreement(levels, drawn, m, np.ones_like(m), by_value=by_value)


def learn(levels: Levels, targets: Index, queries: Ints, starts: Ints, by_value: bool, seed: int) -> Agreement:
    """Learn from all targets and a sample of the queries (q, r); which is which is never seen.

    In a single column nearer is better, however often cells are wrong: nothing is learnt.
    """
    begun = replace(beginning(levels, by_value), u=_by_chance(levels, queries))
    if len(starts) == 1:
        return begun
    n, r, (fewest, most) = len(targets), targets.n_epochs, _QUERIES
    seen = histograms(levels, targets.tokens, queries)
    enough = min(max(_CELLS / (n * r), fewest), most, _LEVELS / (min(n, sum(_TIERS.values())) * r))
    rows = _sampled(queries, max(int(enough), 1), stream(seed, "agreement: queries"))
    asked, apart, like = queries[rows].astype(np.int64), None, np.ones(len(rows))
    if len(queries) >= _FEWEST:
        # The same queries come first, so that each is left out beside itself.
        many = int(min(_MANY, max(_CELLS / (n * r), len(rows))))
        others = np.setdiff1d(_sampled(queries, many, stream(seed, "agreement: apart")), rows)
        among = Index(queries[np.concatenate([rows, others])], targets.n_tokens)
        pairs = _pairs(begun, among, asked, starts, stream(seed, "agreement: others apart"))
        pairs.counts[pairs.rows == np.arange(len(rows))[:, None]] = 0.0
        nearest = _nearest_of_repeats(begun, targets, among.tokens, starts)
        if nearest is not None:  # who is nearest to the same target may be the same person once more, and no stranger
            pairs.counts[nearest[pairs.rows] == nearest[: len(rows)][:, None]] = 0.0
        apart, like = _fitted(replace(begun, linked=1.0), asked, pairs, np.zeros(len(rows)))
        like = like / (len(among) - 1)
    found = [
        (one, *_fitted(one, asked, _pairs(one, targets, asked, starts, stream(seed, "agreement: others")), like * n))
        for one in _beginnings(begun, seen.shared)
    ]
    nats = [_nats(one, likely, like * n) + float(seen.nats(one.drawn[:, 0]).sum()) for _, one, likely in found]
    return replace(found[int(np.argmax(nats))][1], apart=apart)


def learn_again(found: Agreement, targets: Index, queries: Ints, near: Ints, chance: Floats) -> Agreement:
    """Return the parameters that fit best, given the ``chance`` (q, k) that each query is of the targets ``near``.

    That is one step of the same expectation-maximisation, with probabilities that came from elsewhere.
    """
    begun, asked = beginning(found.levels, found.by_value), queries.astype(np.int64)
    level = found.levels.of(asked[:, None, :], targets.tokens[near])
    sums = np.stack([(chance[..., None] * (level == one)).sum(axis=1) for one in range(found.m.shape[1])], axis=-1)
    column = np.broadcast_to(np.arange(asked.shape[1]), asked.shape)
    return _better(found, begun, sums, chance.sum(axis=1), asked, column)


def _nearest_of_repeats(begun: Agreement, targets: Index, queries: Ints, starts: Ints) -> Ints | None:
    """Return the nearest target of each query, where people have several queries; else ``None``."""
    scorer = search.EpochScorer(begun.weights(starts, targets.n_tokens))
    best = scorer.best(targets, queries)
    some = _by_content(targets.tokens)[: len(queries)]
    others = scorer.candidates(targets, targets.tokens[some], min(2, len(targets)))
    of_others = np.where(others.target[:, 0] == some, others.score[:, -1], others.score[:, 0])
    return best.target if have_several(best.target, best.score, of_others) else None


def _beginnings(begun: Agreement, shared: Bools) -> tuple[Agreement, ...]:
    """Return where to begin: with all columns alike, and where only some are clearly shared, with these alone."""
    if shared.all() or not shared.any():
        return (begun,)
    drawn = begun.drawn.copy()
    drawn[~shared, :-2] *= _UNSHARED
    drawn[~shared, -2] += 1.0 - drawn[~shared].sum(axis=1)
    return begun, replace(begun, drawn=drawn, m=_closest(drawn))


def _nats(found: Agreement, likely: Floats, strangers: Floats) -> float:
    """Return how likely the queries are, but for what is the same for all parameters."""
    return float(np.log(found.linked * likely + (1.0 - found.linked) * strangers).sum())


def _closest(drawn: Floats) -> Floats:
    """Return how often each level is the closest one, where values near each other are rare."""
    return np.concatenate([drawn[:, :-2], drawn[:, -2:].sum(axis=1, keepdims=True)], axis=1)


def _fitted(begun: Agreement, asked: Ints, pairs: Pairs, strangers: Floats) -> tuple[Agreement, Floats]:
    """Return the best parameters, and for each query the sum of its likelihoods over all targets."""
    found, column = begun, np.broadcast_to(np.arange(asked.shape[1]), asked.shape)
    level, likely = pairs.level(begun.levels, asked), np.zeros(len(asked))
    halves = slice(0, len(asked) // 2), slice(len(asked) // 2, len(asked))
    for _ in range(_STEPS):
        before, (ratios, by_chance) = found, found.ratios(asked, column)
        # Beside a missing cell, a query's is as likely as beside a random target's; its own missing cells tell nothing.
        missing = np.where(asked >= 0, by_chance, 1.0)
        nats = np.log(np.concatenate([ratios, missing[..., None]], axis=-1))
        sums, links = np.zeros(nats.shape), np.zeros(len(asked))
        odds = strangers * (1.0 - found.linked) / found.linked if found.linked < 1.0 else np.zeros(len(asked))

        rows = level, nats, pairs.counts, odds, sums, links, likely
        each(partial(_expected, rows), halves)
        found = _better(found, begun, sums[..., :-1], links, asked, column)
        if np.abs(found.m - before.m).max() < _SMALL and abs(found.linked - before.linked) < _SMALL:
            break
    return found, likely


def _expected(rows: tuple[Any, ...], part: slice) -> None:
    from reidrisk.attacks.agreement.kernel import expected

    expected(*(array[part] for array in rows))


def _better(found: Agreement, begun: Agreement, sums: Floats, links: Floats, asked: Ints, column: Ints) -> Agreement:
    """Return the parameters that fit best, given how likely each level is that of a query's own person."""
    m, drawn = sums.sum(axis=0) + _PRIOR * begun.m, found.drawn
    if found.by_value:
        parts = found.parts(asked, column)
        per_ratio = np.cumsum(sums / _at_least(parts)[..., :-1], axis=-1)
        both = np.concatenate([per_ratio, per_ratio[..., -1:]], axis=-1)  # the last two are of everybody
        drawn = (parts * both).sum(axis=0) + _PRIOR * begun.drawn
        drawn = drawn / drawn.sum(axis=1, keepdims=True)
    linked = (links.sum() + _PRIOR * _LINKED) / (len(links) + _PRIOR) if begun.linked < 1.0 else 1.0
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
    return _by_content(rows)[rng.choice(len(rows), n, replace=False)]


def _by_content(rows: Ints) -> Ints:
    """Return an order of rows that depends on what they hold alone."""
    mixed = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        mixed = (mixed ^ (column.astype(np.int64) + 2).astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return np.argsort(mixed, kind="stable")


class Pairs(NamedTuple):
    """(q, p) targets to look at for each query, and how many targets each of them stands for."""

    targets: Index
    rows: Ints
    counts: Floats

    def level(self, levels: Levels, asked: Ints) -> Any:
        """Return the (q, p, r) closest level of each cell."""
        return levels.of(asked[:, None, :], self.targets.tokens[self.rows])


def _pairs(found: Agreement, targets: Index, asked: Ints, starts: Ints, rng: np.random.Generator) -> Pairs:
    """Return all pairs where there are few; else the likeliest of each query, and fewer of those less likely."""
    n, size = len(targets), sum(_TIERS.values())
    if n <= size:
        return Pairs(targets, np.broadcast_to(np.arange(n), (len(asked), n)), np.ones((len(asked), n)))
    content = _by_content(targets.tokens)
    sorted_targets = targets.take(content)
    ends = [min(rank, n) for rank in (*_TIERS, n)][1:]
    scorer = search.EpochScorer(found.weights(starts, targets.n_tokens))
    rows, counts = np.zeros((len(asked), size), dtype=np.int64), np.zeros((len(asked), size))
    at_once = max(1, _SCORES // n)
    for start in range(0, len(asked), at_once):
        scores = scorer.scores(sorted_targets, asked[start : start + at_once])
        for i, row in enumerate(scores, start=start):
            order, place = np.argpartition(-row, [end - 1 for end in ends if end < n]), 0
            for (first, many), end in zip(_TIERS.items(), ends, strict=True):
                tier = order[first:end]
                chosen = tier if len(tier) <= many else tier[rng.choice(len(tier), many, replace=False)]
                rows[i, place : place + len(chosen)] = content[chosen]
                counts[i, place : place + len(chosen)] = len(tier) / max(len(chosen), 1)
                place += many
    return Pairs(targets, rows, counts)
