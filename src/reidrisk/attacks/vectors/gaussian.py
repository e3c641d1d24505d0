"""GaussianBayes: two vectors are of one person if one point explains both better than two points would."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from reidrisk.attacks.base import Links
from reidrisk.attacks.profile.posterior import Round, best_temperature
from reidrisk.attacks.registry import register
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.attacks.vectors.counted import counts_of
from reidrisk.attacks.vectors.learn import LearntVectors, learn
from reidrisk.attacks.vectors.nearest import checked_vectors, per_product, same_space
from reidrisk.attacks.vectors.procrustes import Procrustes, moved
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.options import from_0_to_1
from reidrisk.base.streams import checked_seed, stream
from reidrisk.mechanisms import TopKNoise
from reidrisk.records import Vectors
from reidrisk.search import GRID, UNIT
from reidrisk.search.answer import Best
from reidrisk.search.engines import Engine

_FEWEST = 10  # targets from which on there is a spread to learn
_SIMULATED, _PAIRS = 1_000, 20_000_000  # people simulated for the temperature, and pairs compared there
_DEEPEST = 70.0  # nats below the best from which on a target adds nothing


@register(kinds=(Vectors,), cost=per_product(learning=2.0, each=1e-4), default=True)
class GaussianBayes(ScoredAttack[Vectors]):
    """Link to the target with the highest likelihood ratio: P(both vectors | one person) / P(both | two people).

    People and records of one person are spread as Gaussians, with a covariance between people and one within a person
    (:mod:`reidrisk.attacks.vectors.two_covariances`): directions in which a person's records differ much count little,
    those in which people differ much count more, and how far the two tables are shifted against each other does not
    count. The score is in nats; its posterior over targets, softened by a temperature learnt on simulated people, is
    the link's probability.

    ``pairs``, two tables of vectors that are row by row the same people, tell the within part where the attacker has
    them. Where records are of several vectors, these differ as vectors of one person do: they tell it, and the more of
    them a record has, the more its mean counts (:mod:`reidrisk.attacks.vectors.counted`). Otherwise it is estimated
    from the two tables themselves, by expectation maximisation over who is whom
    (:mod:`reidrisk.attacks.vectors.learn`); ``learnt_`` says which. ``align`` brings queries of another model into the
    targets' space first. ``absent`` is the prior probability that a query's person is not among the targets. The
    ``seed`` is of the queries that are learnt from, and of the simulated people.

    >>> rng = np.random.default_rng(0)
    >>> people = rng.normal(size=(300, 8))
    >>> known, asked = (Vectors(people + rng.normal(size=(300, 8)) * ([0.01] * 4 + [3.0] * 4)) for _ in range(2))
    >>> attack = GaussianBayes().fit(known).look_around(asked)
    >>> float((attack.link(asked).target == np.arange(300)).mean()), attack.learnt_.pairs
    (1.0, 0)
    """

    def __init__(
        self,
        pairs: tuple[Vectors, Vectors] | None = None,
        align: Procrustes | None = None,
        absent: float = 0.0,
        seed: int = 0,
    ) -> None:
        from_0_to_1("absent", absent)
        if absent >= 1.0:
            raise OptionError(f"absent must lie in [0, 1), not {absent!r}: at 1 nobody is there to be found")
        self.pairs, self.align, self.absent, self.seed = pairs, align, absent, checked_seed(seed)
        self._known_pairs = None if pairs is None else Procrustes(*pairs)  # which checks them

    @classmethod
    def knowing(cls, mechanism: TopKNoise, seed: int = 0) -> Self:
        """Return the attacker of this seed; there is nothing to know of a system."""
        return cls(seed=seed)

    @classmethod
    def applies(cls, targets: Vectors, queries: Vectors) -> bool:
        """Whether there are people enough to learn how they differ, and both sides are of one space."""
        return len(targets) >= _FEWEST and targets.n_dimensions == queries.n_dimensions

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        known = 0 if self._known_pairs is None else self._known_pairs.n_pairs
        how = f"from {known:,} people known in both tables" if known else "without known pairs, from the two tables"
        learnt = getattr(self, "_learnt", None)
        if learnt is not None and learnt.within:
            how = f"from the several vectors that people have in one table ({learnt.within:,} differences of two)"
        return (
            "Weighs how much better one person explains two vectors than two people would, with Gaussians between and "
            f"within people. How far records of one person differ in each direction it learns {how} (two-covariance "
            "model)."
        )

    @property
    def compares_queries(self) -> bool:
        """False: all queries together teach the model, and none is told from the others."""
        return False

    @property
    def learnt_(self) -> LearntVectors:
        """The model, and how many known pairs it was learnt from."""
        self._refuse_unfitted("_learnt")
        if self._learnt is None:
            raise OptionError(f"{self.name} has not seen any queries yet; call look_around(queries) first")
        return self._learnt

    def fit(self, targets: Vectors) -> Self:
        """Keep the targets; the model needs both tables, and is learnt from the queries that come."""
        self._targets = checked_vectors(targets, self.name)
        if len(targets) < _FEWEST:
            raise DataError(f"there are {len(targets)} targets; {_FEWEST} are needed to learn how people differ")
        self._chosen_rows: Ints | None = None
        self._learnt: LearntVectors | None = None
        self._known: Any = None
        return self

    def look_around(self, queries: Vectors) -> Self:
        """Learn the model from both tables."""
        self._refuse_unfitted("_targets")
        asked = self._moved(queries)
        pairs = None
        known = self._known_pairs
        if known is not None and known.targets is not None and known.queries is not None:
            second = moved(self.align, known.queries)
            same_space(second, self._targets.n_dimensions)
            pairs = known.targets.values, second.values
        if not float(np.ptp(self._targets.values, axis=0).max()) > 0.0:
            raise DataError("all targets are one and the same vector; there is nothing to tell them apart by")
        self._learnt = learn(self._targets, asked, pairs, self.seed)
        self._temperature: float | None = None
        self._asked_counts = counts_of(asked)
        everyone = self._weighed(self._targets)
        self._scorer = self._learnt.model.scorer(everyone)
        self._known = everyone if self._chosen_rows is None else everyone.take(self._chosen_rows)
        return self

    def narrowed(self, rows: Ints) -> Self:
        """Return this attacker, with all it has learnt, looking at these target rows only; its row i is ``rows[i]``."""
        self._refuse_unfitted("_targets")
        n = len(self._targets) if self._chosen_rows is None else len(self._chosen_rows)
        chosen = self._chosen(rows, n)
        new = copy.copy(self)
        new._chosen_rows = chosen if self._chosen_rows is None else self._chosen_rows[chosen]
        new._known = None if self._known is None else self._known.take(chosen)
        return new

    def link(self, queries: Vectors, probability: bool = False, *, engine: Engine | None = None) -> Links:
        """Link every query to its best target; with ``probability``, say how sure the model is."""
        if probability:
            self._seen(queries)
            self._learn_temperature()
        return super().link(queries, probability, engine=engine)

    def _seen(self, queries: Vectors) -> LearntVectors:
        self._refuse_unfitted("_targets")
        if self._learnt is None:
            self.look_around(queries)
        return self.learnt_

    def _posed(self, queries: Vectors) -> Posed:
        model, asked = self._seen(queries).model, self._moved(queries)
        scorer = replace(self._scorer, temperature=self._temperature or 1.0)
        return Posed(scorer, self._known, model.rows(asked.values, counts_of(asked), 1))

    def _weighed(self, targets: Vectors) -> Any:
        return self.learnt_.model.rows(targets.values, counts_of(targets), 0)

    def _moved(self, queries: Vectors) -> Vectors:
        found = moved(self.align, checked_vectors(queries, self.name))
        same_space(found, self._targets.n_dimensions)
        return found

    def _sure(self, best: Best, total: Ints) -> Floats:
        odds = self.absent / (1.0 - self.absent) * len(self._known)
        others = (
            odds * np.exp(-np.clip(best.score / (GRID * (self._temperature or 1.0)), -700.0, 700.0)) if odds else 0.0
        )
        return np.asarray(1.0 / (total / UNIT + others))

    def nobody(self, queries: Vectors, *, engine: Engine | None = None) -> tuple[Floats, float] | None:
        """Return the likelihood of somebody who is not among the targets, where ``absent`` allows for that."""
        return (np.full(len(queries), np.log(len(self._known))), 1.0 - self.absent) if self.absent else None

    def _learn_temperature(self) -> None:
        """Learn how far to trust the ratios: people like the targets, simulated, among the targets that there are."""
        if self._temperature is not None:
            return
        model, n, counts = self.learnt_.model, len(self._targets), counts_of(self._targets)
        rng = stream(self.seed, "gaussian bayes: temperature")
        m = min(n, _SIMULATED, max(100, _PAIRS // n))
        rows = np.sort(rng.choice(n, m, replace=False))
        asked: Any = model.drawn(self._targets.values[rows], counts[rows], self._asked_counts, rng)
        known, rounds = self._weighed(self._targets), []
        size = max(1, _PAIRS // 5 // n)
        for start in range(0, m, size):
            part, own = asked[start : start + size], rows[start : start + size]
            found = self._scorer.scores(known, part, np.full(len(own), np.int64(_DEEPEST * GRID)))
            rounds.append(Round.of(self._scorer.pairs(known, part, own), found, own))
        # Softer, never surer than the model.
        self._temperature = max(1.0, best_temperature(rounds), self.learnt_.softer)
