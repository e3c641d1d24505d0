"""One rehearsal: attacks practised on targets that were cut in two, rated, and weighed against each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.attacks.profile.bayes import ProfileBayes
from reidrisk.attacks.profile.sized import Model
from reidrisk.attacks.rehearsed.choices import Choices
from reidrisk.attacks.rehearsed.nearest import CLOSE, FAR, chosen, largest
from reidrisk.attacks.rehearsed.panel import READINGS, Panel, Side, affordable, readings_of
from reidrisk.attacks.rehearsed.taught import FEWEST, RehearsedPairs, taught_by
from reidrisk.attacks.rehearsed.weights import clearly_above, fitting_scale, learnt_weights, starting_weights
from reidrisk.attacks.scored import ScoredAttack
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.streams import stream
from reidrisk.records import Case

FOLDS = 4
_PENALTIES = (np.inf, 300.0, 30.0, 3.0, 0.3)
_TOP = 8  # close targets by each reading
_SCORES = 16_000_000

Attacks = Callable[[], Sequence[ScoredAttack[Any]]]


@dataclass(frozen=True, eq=False)
class Practice:
    """What a rehearsal taught: ``weights`` of the features, and the rates of right links (credits, each with its ties).

    ``credits`` of each attack by name, (m,), and of the ``learnt`` weights, each query's by weights that never saw its
    person. ``signed``: weights may be below 0. ``choices`` is what they were learnt from, and ``attacks`` are
    those weighed, with what the whole rehearsal taught. ``model`` is what ``ProfileBayes`` learnt of the cut records.
    ``people`` are the target rows of those asked. ``farther`` is by how many logits the rate is lower among as many
    targets as there really are.
    """

    weights: Floats
    credits: dict[str, Floats]
    learnt: Floats
    signed: bool
    choices: Choices
    attacks: Sequence[ScoredAttack[Any]]
    model: Model | None
    people: Ints
    farther: float = 0.0

    @property
    def rate(self) -> float:
        """How many rehearsed links were right."""
        return float(self.learnt.mean())

    @property
    def by_likelihood(self) -> Floats:
        """Weights of the one reading that knows how unlikely all targets are, on the scale that fits the rehearsal.

        The model's score over a typical spread: other readings compare targets of a query with each other. The weights
        themselves where there is no model.
        """
        names = list(self.credits)
        if ProfileBayes.__name__ not in names:
            return self.weights
        alone = np.zeros(len(self.weights))
        alone[READINGS * names.index(ProfileBayes.__name__) + READINGS - 1] = 1.0
        return alone * fitting_scale(self.choices, self.choices.scores(alone))[0]


def practise(attacks: Attacks, case: Case, most: int, crowd: float, seed: int, exact: bool = False) -> Practice:
    """Rate every attack on the case, and learn how to weigh them; at most ``most`` queries are asked.

    Each of its targets stands for ``crowd`` of the real ones: probabilities are of links among all of them. ``exact``:
    rehearsed queries are related to their targets as real ones are.

    The other queries teach (:mod:`reidrisk.attacks.rehearsed.taught`). Of several penalties the strongest is taken
    under which about as many people are linked as under the best (within one standard error of the difference where
    the rehearsal is exact, else two), each asked with weights that were learnt from others.
    """
    few = questions(case, most)
    choices, credits, signed, model = _asked([*attacks(), *taught_by(RehearsedPairs.of(case, few))], case, few, seed)
    alone, choices = choices, choices.among(crowd)
    asked, spread = choices, choices.spread
    start = starting_weights(choices, list(credits.values()), exact, signed) * spread
    choices = choices.over(spread)
    fold = stream(seed, "rehearsal: folds").integers(FOLDS, size=len(choices.more))
    tried, at = [], None
    for penalty in _PENALTIES:
        credit, scale, at = _cross_tried(choices, start, penalty, signed, fold, at)
        tried.append((credit, scale))
    best = max(tried, key=lambda one: float(one[0].mean()))[0]
    # The strongest penalty that links about as many: what is no better in the rehearsal may be worse outside it.
    # Of parts of one record that holds all the more.
    errors = 1.0 if exact else 2.0
    which = next(i for i, (found, _) in enumerate(tried) if not clearly_above(best - found, errors))
    learnt, scale = tried[which]
    weights = learnt_weights(choices, start, _PENALTIES[which], signed) * scale
    # Two parts of a record go together in more ways than two records do: what they teach is believed by half.
    weights = (weights if exact else (weights + start) / 2.0) / spread
    enough = len(case.queries) - few >= FEWEST
    taught = taught_by(RehearsedPairs.of(case)) if enough else []
    assert case.truth is not None
    people = case.truth.target[: len(learnt)]
    farther = alone.farther(alone.scores(weights), crowd, float(learnt.mean()))
    return Practice(weights, credits, learnt, signed, asked, [*attacks(), *taught], model, people, farther)


def questions(case: Case, most: int) -> int:
    """Return how many queries are asked; the others teach, if there are enough for both."""
    n, most = len(case.queries), affordable(len(case.targets), most)
    return min(most, n // 2) if n >= 2 * FEWEST else min(most, n)


def _asked(
    attacks: Sequence[ScoredAttack[Any]], case: Case, few: int, seed: int
) -> tuple[Choices, dict[str, Floats], bool, Model | None]:
    """Ask the first queries of the case; also tell whether no rehearsed pair shares an item, so that it may count less.

    Two parts of a record that cannot share an item: then sharing one speaks against a target.
    """
    assert case.truth is not None
    panel = Panel(attacks, case.targets, case.queries)
    queries, truth = case.queries.take(slice(0, few)), case.truth.target[:few]
    choices, credits = choices_of(panel, panel.asked(queries), truth, stream(seed, "rehearsal: choices"))
    shared = queries.counts.minimum(case.targets.counts[truth])
    model = next((one.model_ for one in panel.attacks if isinstance(one, ProfileBayes)), None)
    return choices, credits, not shared.nnz, model


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


def retried(
    attacks: Sequence[ScoredAttack[Any]], case: Case, weights: Floats, few: int, crowd: float, seed: int
) -> tuple[Floats, float]:
    """Return the credits of the first ``few`` queries of another case, by what was learnt on one; the others teach.

    Also return by how much lower they are in the crowd.
    """
    # Where too few are left to teach, what is taught has no say.
    some, weights = with_say([*attacks, *taught_by(RehearsedPairs.of(case, few))], weights)
    choices, _, _, _ = _asked(some, case, few, seed)
    scores = choices.scores(weights)
    credit = choices.credits(scores)
    return credit, choices.farther(scores, crowd, float(credit.mean()))


def with_say(attacks: Sequence[ScoredAttack[Any]], weights: Floats) -> tuple[list[ScoredAttack[Any]], Floats]:
    """Return the attacks that have any weight, or else the first, and their weights: the others need not be fitted."""
    each = weights[: READINGS * len(attacks)].reshape(-1, READINGS)
    some = np.flatnonzero(each.any(axis=1)) if each.any() else np.zeros(1, dtype=np.int64)
    return [attacks[int(k)] for k in some], each[some].ravel()


def choices_of(panel: Panel, asked: Side, truth: Ints, rng: np.random.Generator) -> tuple[Choices, dict[str, Floats]]:
    """Return each query's own target with others that come close and some of the rest, and each attack's credits."""
    n, m = len(panel.known), len(asked)
    width = min(CLOSE + FAR, n - 1) + 1
    # Single precision: the largest part of what is learnt from, read again and again.
    features = np.zeros((m, width, panel.n_features), dtype=np.float32)
    more = np.full((m, width), -np.inf)
    credits = {name: np.empty(m) for name in panel.names}
    used = 1
    for part, raw in _raw_blocks(panel, asked):
        own = truth[part]
        for name, scores in zip(panel.names, raw, strict=True):
            mine, best = np.take_along_axis(scores, own[:, None], axis=1), scores.max(axis=1, keepdims=True)
            credits[name][part] = ((mine == best) / (scores == best).sum(axis=1, keepdims=True))[:, 0]
        some = asked[part]
        near = np.concatenate([_near(panel, scores, k, some) for k, scores in enumerate(raw)], axis=1)
        few = n - 1 <= CLOSE + FAR
        drawn = np.tile(np.arange(n), (len(own), 1)) if few else rng.integers(n, size=(len(own), 2 * FAR))
        rows, stand = chosen(own, near, drawn, n)
        wide = rows.shape[1]
        more[part, :wide], used = stand, max(used, wide)
        for k, scores in enumerate(raw):
            these = np.take_along_axis(scores, rows, axis=1)
            place = slice(READINGS * k, READINGS * (k + 1))
            features[part, :wide, place] = readings_of(these, k, rows, panel.typical, panel.known, some)
    return Choices(features[:, :used], more[:, :used], np.ones(m)), credits


def _near(panel: Panel, scores: Floats, k: int, asked: Side) -> Ints:
    """Return the targets nearest to each query by the scores of attack ``k``, as they are and as targets read them.

    The first reading orders targets as scores do, and so does the third.
    """
    standard = (scores - asked.mean[:, k, None]) / asked.spread[:, k, None]
    standard -= panel.known.mean[:, k]
    standard /= panel.known.spread[:, k]
    return np.concatenate([largest(scores, _TOP), largest(standard, _TOP)], axis=1)


def _raw_blocks(panel: Panel, asked: Side) -> Iterator[tuple[slice, list[Floats]]]:
    size = max(1, _SCORES // (len(panel.known) * len(panel.attacks)))
    for start in range(0, len(asked), size):
        part = slice(start, min(start + size, len(asked)))
        some = asked[part]
        pairs = zip(panel.scorers, panel.known.parts, some.parts, strict=True)
        yield part, [np.asarray(scorer.scores(known, queries), dtype=np.float64) for scorer, known, queries in pairs]
