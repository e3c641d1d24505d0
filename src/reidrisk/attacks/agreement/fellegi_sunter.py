"""FellegiSunter: link rows of attributes by how telling their agreements are, learnt without truth."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from reidrisk import search
from reidrisk.attacks.agreement.learn import Agreement, beginning, learn, learn_again
from reidrisk.attacks.agreement.levels import Bands, Levels, levels_of, with_gaps
from reidrisk.attacks.base import Links, check_comparable
from reidrisk.attacks.registry import register
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.base import DataError, Floats, Ints, checked_seed
from reidrisk.records import Attributes
from reidrisk.search import GRID, UNIT
from reidrisk.search.engines import Engine, LocalEngine

_CELL = 2.5e-10  # reference seconds for a pair of cells, all levels together
_LEARNING = 2e9  # pairs of cells looked at to learn, at most


def agreement_cost(targets: Any, columns: int | None = None) -> Callable[[int], float]:
    """Return reference seconds: learning from pairs of cells, then one pass over all pairs."""
    wide = targets.n_epochs if columns is None else columns
    cells = len(targets) * wide
    learning = 2.0 + 2 * _CELL * min(2_000 * cells, max(_LEARNING, 200 * cells)) if wide > 1 else 0.0
    return lambda n_queries: learning + _CELL * n_queries * cells


@register(kinds=(Attributes,), cost=agreement_cost, default=True, whole=True)
class FellegiSunter(ScoredAttack[Attributes]):
    r"""Link to the target whose agreements are the most telling (Fellegi and Sunter 1969; Winkler 1988).

    score(o, w) = sum over columns c, known of both, of log P(o_c, w_c | one person) / P(o_c, w_c | two people).

    Rarer agreements weigh more, by how many targets hold the query's value. Numbers also agree within ``bands`` around
    each other (distances by column; default: the interquartile range, half of it, and so on down to the smallest
    difference in the column), codes by common prefixes. An empty cell weighs nothing; with ``gaps``, whether it is
    empty is a column of its own, where some targets have a gap, and weighs as much as the two rows of one person agree
    in that, which may be nothing. How often the two rows of one person agree, equal, near or not at all, is learnt from
    all targets and queries by expectation-maximisation (:mod:`reidrisk.attacks.agreement.learn`), never from who is
    whom; so is the share of queries whose person is among the targets, for which the probabilities allow.
    ``by_value=False`` gives all values of a column the same weights, log m / u.

    Errors in the columns of one person are taken for independent of each other. Values need not be: what two columns
    say alike is the same for all targets, missing cells apart.

    >>> people = {"age": [31, 40, 31, 77], "town": ["Ulm", "Ulm", "Bonn", "Ulm"], "sex": ["f", "f", "f", "m"]}
    >>> asked = {"age": [32], "town": ["Bonn"], "sex": ["?"]}
    >>> known, asked = Attributes.together(Attributes(people), Attributes(asked))
    >>> FellegiSunter().fit(known).link(asked).target.tolist()
    [2]
    """

    description = (
        "Adds up, column by column, how much likelier two values are for one person than for two: rare values that "
        "agree weigh most. How often cells are wrong it learns from both tables, without truth (Fellegi and Sunter)."
    )

    def __init__(self, by_value: bool = True, bands: Bands | None = None, gaps: bool = True, seed: int = 0) -> None:
        self.by_value, self.bands, self.gaps, self.seed = bool(by_value), bands, bool(gaps), checked_seed(seed)

    @property
    def compares_queries(self) -> bool:
        """False: all queries together teach a few numbers of each column, and none is told from the others."""
        return False

    def fit(self, targets: Attributes) -> Self:
        """Count the values of the targets; what errors are like depends on the queries."""
        if not isinstance(targets, Attributes):
            raise DataError(f"{self.name} compares Attributes, not {type(targets).__name__}")
        self._targets = targets
        lacking = (~targets.observed).mean(axis=0)
        self._gaps = np.flatnonzero((lacking > 0.0) & (lacking < 1.0)) if self.gaps else np.zeros(0, dtype=np.int64)
        self._levels: Levels = with_gaps(levels_of(targets, self.bands), targets.tokens, self._gaps)
        self._n_tokens = targets.n_tokens + 2 * len(self._gaps)
        self._starts = np.append(targets.start, targets.n_tokens + 2 * np.arange(len(self._gaps)))
        self._known = self._everyone = search.Index(self._with_gaps(targets.tokens), self._n_tokens)
        self._learnt: list[tuple[Agreement, search.Weights]] = []  # shared with narrowed copies
        return self

    def look_around(self, queries: Attributes) -> Self:
        """Learn how often cells agree, once after each fit; of nobody, nothing is learnt."""
        self._refuse_unfitted("_known")
        if not self._learnt and len(queries):
            tokens = self._checked(queries)
            found = learn(self._levels, self._everyone, tokens, self._starts, self.by_value, self.seed)
            self._learnt.append((found, self._weights(found)))
        return self

    def taught(self, queries: Attributes, near: Ints, chance: Floats) -> Self:
        """Return this attacker after it has learnt from how likely each query is of the target rows ``near`` (q, k)."""
        tokens, new = self._checked(queries), copy(self)
        found = learn_again(self.agreement_, self._known, tokens, near, chance)
        new._learnt = [(found, new._weights(found))]
        return new

    @property
    def agreement_(self) -> Agreement:
        """What is taken to hold: learnt from the queries, or before any was seen."""
        self._refuse_unfitted("_known")
        return self._learnt[0][0] if self._learnt else beginning(self._levels, self.by_value)

    @property
    def m_(self) -> dict[str, tuple[float, ...]]:
        """How often each level is the closest one of the two rows of one person, by column: equal first, else last."""
        return self._by_column(self.agreement_.m)

    @property
    def u_(self) -> dict[str, tuple[float, ...]]:
        """The same of the rows of two people."""
        return self._by_column(self.agreement_.u)

    def _by_column(self, shares: Floats) -> dict[str, tuple[float, ...]]:
        of = zip(self._targets.names, shares, self._levels.depth.tolist(), strict=False)  # gaps come last
        return {name: (*row[:deep].tolist(), float(row[-1])) for name, row, deep in of}

    def _weights(self, found: Agreement) -> search.Weights:
        weights = found.weights(self._starts, self._n_tokens)
        if not weights.worth.any():  # categories alone: a weighted Hamming distance, for which there are faster ways
            return search.Weights(weights.match, weights.mismatch)
        return weights

    def _checked(self, queries: Attributes) -> Any:
        if not isinstance(queries, Attributes):
            raise DataError(f"{self.name} compares Attributes, not {type(queries).__name__}")
        check_comparable(self._targets, queries, (self._targets.n_epochs, queries.n_epochs))
        if self._targets.names != queries.names:
            raise DataError(
                f"targets have the columns {', '.join(self._targets.names)}; give queries the same, in order"
            )
        return self._with_gaps(queries.tokens)

    def _with_gaps(self, tokens: Any) -> Any:
        """Append a column for each that has gaps: the first of two tokens where there is a value, else the second."""
        if not len(self._gaps):
            return tokens
        first = self._targets.n_tokens + 2 * np.arange(len(self._gaps))
        kind = np.int16 if self._n_tokens < 2**15 else np.int32
        return np.concatenate([tokens, first + (tokens[:, self._gaps] < 0)], axis=1).astype(kind)

    def _posed(self, queries: Attributes) -> Posed:
        self._refuse_unfitted("_known")
        tokens = self._checked(queries)
        self.look_around(queries)
        weights = self._learnt[0][1] if self._learnt else self._weights(self.agreement_)
        return Posed(search.EpochScorer(weights), self._known, tokens)

    def link(self, queries: Attributes, probability: bool = False, *, engine: Engine | None = None) -> Links:
        """Link every query to its best target; a probability allows for people who are not among the targets.

        How likely such a query is, is learnt from the other queries, and taken beside the targets.
        """
        links = super().link(queries, probability, engine=engine)
        found = None if links.probability is None else self.nobody(queries, engine=engine)
        if links.probability is None or found is None:
            return links
        nats, linked = found
        odds = np.exp(np.clip(nats - links.score / GRID, -700.0, 700.0)) * (1.0 - linked) / linked
        return replace(links, probability=1.0 / (1.0 / links.probability + odds))

    def nobody(self, queries: Attributes, *, engine: Engine | None = None) -> tuple[Floats, float] | None:
        """Return how likely each query is if its person is no target's, as far as queries resemble each other."""
        posed, where = self._posed(queries), engine or LocalEngine()
        apart, linked = self.agreement_.apart, self.agreement_.linked
        if apart is None:
            return None
        alike = posed._replace(scorer=search.EpochScorer(self._weights(apart)))
        best = where.best(*alike)
        nats = best.score / GRID + np.log(where.total(*alike, best.score) / UNIT)
        # Scores of the two models are beside what each expects of a random target.
        by_chance = (model.chance(self._starts, self._n_tokens) for model in (apart, self.agreement_))
        more = np.subtract(*by_chance)
        return nats + np.where(posed.queries >= 0, more[posed.queries], 0.0).sum(axis=1), linked
