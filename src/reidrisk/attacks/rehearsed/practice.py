"""One rehearsal: attacks practised on targets that were cut in two, rated, and weighed against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.attacks.base import ScoredAttack
from reidrisk.attacks.rehearsed.panel import READINGS, Panel, Side, features
from reidrisk.attacks.rehearsed.scorer import WeighedPanel, best_scale, learnt_weights, starting_weights
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.streams import stream
from reidrisk.records import Case

FOLDS = 4
_PENALTIES = (300.0, 30.0, 3.0, 0.3)
_TOP, _RANDOM, _CHOICES = 6, 20, 80  # candidates by each reading, others, and all that are kept beside the true target
_SCORES = 2_000_000


@dataclass(frozen=True, eq=False)
class Practice:
    """What a rehearsal taught: ``weights`` of the features, and the rates of right links (credits, each with its ties).

    ``credits`` of each attack by name, (m,), and of the ``learnt`` weights, each query's by weights that never saw its
    person.
    """

    weights: Floats
    credits: dict[str, Floats]
    learnt: Floats

    @property
    def rate(self) -> float:
        """How many rehearsed links were right."""
        return float(self.learnt.mean())

    @property
    def best(self) -> str:
        """The attack that linked most people by itself."""
        return max(self.credits, key=lambda name: float(self.credits[name].mean()))


def practise(attacks: Sequence[ScoredAttack[Any]], case: Case, most: int, seed: int) -> Practice:
    """Rate every attack on the case, and learn how to weigh them; at most ``most`` queries are asked.

    Of several penalties the strongest is taken under which about as many people are linked as under the best (one
    standard error of the difference), each asked with weights that were learnt from others.
    """
    assert case.truth is not None
    panel = Panel(attacks, case.targets, case.queries)
    queries, truth = case.queries.take(slice(0, most)), case.truth.target[:most]
    asked = panel.asked(queries)
    rng = stream(seed, "rehearsal: choices")
    choices, credits = _choices(panel, asked, truth, rng)
    spread = choices.reshape(-1, choices.shape[2]).std(axis=0) + 1e-9
    start = starting_weights(choices) * spread
    choices /= spread
    # Two parts of a record that cannot share an item: then sharing one speaks against a target.
    shared = queries.counts.minimum(case.targets.counts[truth])
    signed = not shared.nnz
    fold = stream(seed, "rehearsal: folds").integers(FOLDS, size=len(truth))
    tried = [_cross_tried(panel, choices, spread, start, penalty, signed, asked, truth, fold) for penalty in _PENALTIES]
    best = max(tried, key=lambda one: float(one[0].mean()))[0]
    # The strongest penalty that links about as many: what is no better in the rehearsal may be worse outside it.
    at = next(i for i, (found, _) in enumerate(tried) if not _significant(best - found, 1.0))
    learnt, scale, penalty = *tried[at], _PENALTIES[at]
    weights = learnt_weights(choices, start, penalty, signed) / spread * scale
    return Practice(weights, credits, learnt)


def _significant(more: Floats, errors: float) -> bool:
    """Whether a mean is above 0 by more than this many standard errors."""
    return bool(more.mean() > errors * more.std() / np.sqrt(len(more)))


def _cross_tried(
    panel: Panel,
    choices: Floats,
    spread: Floats,
    start: Floats,
    penalty: float,
    signed: bool,
    asked: Side,
    truth: Ints,
    fold: Ints,
) -> tuple[Floats, float]:
    """Return each query's credit by weights that were learnt from people of other folds, and the scale that fits."""
    credit, scales = np.zeros(len(truth)), []
    for f in np.unique(fold):
        inside = np.flatnonzero(fold == f)
        weights = learnt_weights(choices[fold != f], start, penalty, signed) / spread
        credit[inside], scale = _tried(panel, weights, asked.take(inside), truth[inside])
        scales.append(scale)
    return credit, float(np.median(scales))


def retried(attacks: Sequence[ScoredAttack[Any]], case: Case, weights: Floats, most: int) -> tuple[Floats, float]:
    """Return the credits on another case of what was learnt on one, and the scale at which its probabilities fit."""
    assert case.truth is not None
    panel = Panel(attacks, case.targets, case.queries)
    asked = panel.asked(case.queries.take(slice(0, most)))
    return _tried(panel, weights, asked, case.truth.target[:most])


def _tried(panel: Panel, weights: Floats, asked: Side, truth: Ints) -> tuple[Floats, float]:
    """Return the credit of each query, and the scale at which probabilities fit."""
    scorer = WeighedPanel(panel.scorers, panel.typical, weights)
    credit, own, others = np.empty(len(asked)), np.empty(len(asked)), []
    for part, scores in scorer._blocks(panel.known, asked):
        mine = np.take_along_axis(scores, truth[part, None], axis=1)
        best = scores.max(axis=1, keepdims=True)
        credit[part] = ((mine == best) / (scores == best).sum(axis=1, keepdims=True))[:, 0]
        own[part] = mine[:, 0] / scorer.per_nat
        k = min(200, scores.shape[1])  # what is further below adds little
        others.append(np.partition(scores, scores.shape[1] - k, axis=1)[:, -k:] / scorer.per_nat)
    return credit, best_scale(own, np.concatenate(others))


def _choices(panel: Panel, asked: Side, truth: Ints, rng: np.random.Generator) -> tuple[Floats, dict[str, Floats]]:
    """Return features of the true target and of others that come close, (m, c, F), and each attack's credits (m,)."""
    n, m = len(panel.known), len(asked)
    c = min(_CHOICES, n - 1)
    out, credits = np.empty((m, c + 1, panel.n_features)), {name: np.empty(m) for name in panel.names}
    for part, raw in _raw_blocks(panel, asked):
        own = truth[part]
        near = []
        for name, scores in zip(panel.names, raw, strict=True):
            mine, best = np.take_along_axis(scores, own[:, None], axis=1), scores.max(axis=1, keepdims=True)
            credits[name][part] = ((mine == best) / (scores == best).sum(axis=1, keepdims=True))[:, 0]
        read = features(raw, panel.typical, panel.known, asked[part])
        k = min(_TOP, n)
        for j in range(panel.n_features):
            if j % READINGS != 2:  # the third reading orders targets as the first does
                near.append(np.argpartition(-read[..., j], k - 1, axis=1)[:, :k])
        near.append(rng.integers(n, size=(len(own), c + _RANDOM)))
        rows = np.concatenate(near, axis=1)
        for i, row in enumerate(rows):
            others = row[np.sort(np.unique(row, return_index=True)[1])]
            others = others[others != own[i]]
            few = len(others) < c
            others = np.setdiff1d(np.arange(n), own[i])[:c] if few and n <= c + 1 else np.resize(others, max(c, 1))[:c]
            out[part.start + i] = read[i][np.concatenate([[own[i]], others])]
    return out, credits


def _raw_blocks(panel: Panel, asked: Side) -> Iterator[tuple[slice, list[Floats]]]:
    size = max(1, _SCORES // (len(panel.known) * panel.n_features))
    for start in range(0, len(asked), size):
        part = slice(start, min(start + size, len(asked)))
        some = asked[part]
        pairs = zip(panel.scorers, panel.known.parts, some.parts, strict=True)
        yield part, [np.asarray(scorer.scores(known, queries), dtype=np.float64) for scorer, known, queries in pairs]
