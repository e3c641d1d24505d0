"""One rehearsal: attacks practised on targets that were cut in two, rated, and weighed against each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.attacks.base import ScoredAttack
from reidrisk.attacks.rehearsed.panel import READINGS, Panel, Side, features_of
from reidrisk.attacks.rehearsed.scorer import Choices, clearly_above, fitting_scale, learnt_weights, starting_weights
from reidrisk.attacks.rehearsed.taught import FEWEST, Pairs, taught_by
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.streams import stream
from reidrisk.records import Case

FOLDS = 4
_PENALTIES = (np.inf, 300.0, 30.0, 3.0, 0.3)
_TOP, _CLOSE, _FAR = 8, 120, 40  # close targets by each reading, of all readings together, and others beside them
_SCORES = 2_000_000

Attacks = Callable[[], Sequence[ScoredAttack[Any]]]


@dataclass(frozen=True, eq=False)
class Practice:
    """What a rehearsal taught: ``weights`` of the features, and the rates of right links (credits, each with its ties).

    ``credits`` of each attack by name, (m,), and of the ``learnt`` weights, each query's by weights that never saw its
    person. ``signed``: weights may be below 0. ``choices`` is what they were learnt from, and ``attacks`` are
    those weighed, with what the whole rehearsal taught.
    """

    weights: Floats
    credits: dict[str, Floats]
    learnt: Floats
    signed: bool
    choices: Choices
    attacks: Sequence[ScoredAttack[Any]]

    @property
    def rate(self) -> float:
        """How many rehearsed links were right."""
        return float(self.learnt.mean())

    @property
    def best(self) -> str:
        """The attack that linked most people by itself."""
        return max(self.credits, key=lambda name: float(self.credits[name].mean()))


def practise(attacks: Attacks, case: Case, most: int, seed: int) -> Practice:
    """Rate every attack on the case, and learn how to weigh them; at most ``most`` queries are asked.

    The other queries teach (:mod:`reidrisk.attacks.rehearsed.taught`). Of several penalties the strongest is taken
    under which about as many people are linked as under the best (one standard error of the difference), each asked
    with weights that were learnt from others.
    """
    choices, credits, signed = _asked(attacks, case, most, seed)
    asked, spread = choices, choices.spread
    start = starting_weights(choices, list(credits.values())) * spread
    choices = choices.over(spread)
    fold = stream(seed, "rehearsal: folds").integers(FOLDS, size=len(choices.more))
    tried, at = [], None
    for penalty in _PENALTIES:
        credit, scale, at = _cross_tried(choices, start, penalty, signed, fold, at)
        tried.append((credit, scale))
    best = max(tried, key=lambda one: float(one[0].mean()))[0]
    # The strongest penalty that links about as many: what is no better in the rehearsal may be worse outside it.
    which = next(i for i, (found, _) in enumerate(tried) if not clearly_above(best - found, 1.0))
    learnt, scale = tried[which]
    weights = learnt_weights(choices, start, _PENALTIES[which], signed) / spread * scale
    enough = len(case.queries) - _questions(case, most) >= FEWEST
    return Practice(
        weights, credits, learnt, signed, asked, [*attacks(), *(taught_by(Pairs.of(case)) if enough else [])]
    )


def _questions(case: Case, most: int) -> int:
    """Return how many queries are asked; the others teach, if there are enough for both."""
    n = len(case.queries)
    return min(most, n // 2) if n >= 2 * FEWEST else min(most, n)


def _asked(attacks: Attacks, case: Case, most: int, seed: int) -> tuple[Choices, dict[str, Floats], bool]:
    """Ask some queries of the case; also tell whether no rehearsed pair shares an item, so that sharing may count less.

    Two parts of a record that cannot share an item: then sharing one speaks against a target.
    """
    assert case.truth is not None
    few = _questions(case, most)
    panel = Panel([*attacks(), *taught_by(Pairs.of(case, few))], case.targets, case.queries)
    queries, truth = case.queries.take(slice(0, few)), case.truth.target[:few]
    choices, credits = choices_of(panel, panel.asked(queries), truth, stream(seed, "rehearsal: choices"))
    shared = queries.counts.minimum(case.targets.counts[truth])
    return choices, credits, not shared.nnz


def _cross_tried(
    choices: Choices, start: Floats, penalty: float, signed: bool, fold: Ints, at: dict[int, Floats] | None
) -> tuple[Floats, float, dict[int, Floats]]:
    """Return each query's credit by weights that were learnt from people of other folds, the scale that fits, and them.

    ``at`` are the weights of each fold with which to begin.
    """
    scores, weights = np.empty(choices.more.shape), {}
    for f in range(FOLDS):
        inside = np.flatnonzero(fold == f)
        begin = None if at is None else at[f]
        weights[f] = learnt_weights(choices.take(fold != f), start, penalty, signed, begin)
        scores[inside] = choices.take(inside).scores(weights[f])
    return choices.credits(scores), fitting_scale(choices, scores)[0], weights


def retried(attacks: Attacks, case: Case, weights: Floats, most: int, seed: int) -> Floats:
    """Return the credits on another case of what was learnt on one."""
    choices, _, _ = _asked(attacks, case, most, seed)
    # Where too few are left to teach, what is taught has no say.
    return choices.credits(choices.scores(weights[: choices.features.shape[2]]))


def choices_of(panel: Panel, asked: Side, truth: Ints, rng: np.random.Generator) -> tuple[Choices, dict[str, Floats]]:
    """Return each query's own target with others that come close and some of the rest, and each attack's credits."""
    n, m = len(panel.known), len(asked)
    width = min(_CLOSE + _FAR, n - 1) + 1
    features, more = np.zeros((m, width, panel.n_features)), np.full((m, width), -np.inf)
    credits = {name: np.empty(m) for name in panel.names}
    for part, raw in _raw_blocks(panel, asked):
        own = truth[part]
        for name, scores in zip(panel.names, raw, strict=True):
            mine, best = np.take_along_axis(scores, own[:, None], axis=1), scores.max(axis=1, keepdims=True)
            credits[name][part] = ((mine == best) / (scores == best).sum(axis=1, keepdims=True))[:, 0]
        read = features_of(raw, panel.typical, panel.known, asked[part])
        k = min(_TOP, n)
        # The third reading orders targets as the first does.
        kinds = [j for j in range(panel.n_features) if j % READINGS != READINGS - 1]
        near = np.stack([np.argpartition(-read[..., j], k - 1, axis=1)[:, :k] for j in kinds], axis=2)
        drawn = rng.integers(n, size=(len(own), 2 * _FAR))
        for i in range(len(own)):
            rows, stand = _chosen(near[i].ravel(), drawn[i], int(own[i]), n)
            features[part.start + i, : len(rows)] = read[i][rows]
            more[part.start + i, : len(rows)] = stand
    return Choices(features, more, np.ones(m)), credits


def _chosen(near: Ints, drawn: Ints, own: int, n: int) -> tuple[Ints, Floats]:
    """Return the rows of the own target, close ones, and others of the drawn ones; and log how many each stands for."""
    close = near[np.sort(np.unique(near, return_index=True)[1])]
    close = close[close != own][:_CLOSE]
    if n - 1 <= _CLOSE + _FAR:
        rest = np.setdiff1d(np.arange(n), np.append(close, own))
    else:
        other = ~np.isin(drawn, np.append(close, own))
        rest = np.unique(drawn[other])[:_FAR]
    rows = np.concatenate([[own], close, rest])
    stand = np.zeros(len(rows))
    if len(rest):
        stand[1 + len(close) :] = np.log((n - 1 - len(close)) / len(rest))
    return rows, stand


def _raw_blocks(panel: Panel, asked: Side) -> Iterator[tuple[slice, list[Floats]]]:
    size = max(1, _SCORES // (len(panel.known) * panel.n_features))
    for start in range(0, len(asked), size):
        part = slice(start, min(start + size, len(asked)))
        some = asked[part]
        pairs = zip(panel.scorers, panel.known.parts, some.parts, strict=True)
        yield part, [np.asarray(scorer.scores(known, queries), dtype=np.float64) for scorer, known, queries in pairs]
