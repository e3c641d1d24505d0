"""The set attacks: link two records whose denoised profiles fit each other and nobody else's (jha, Section 3.3).

The paper searches, for a victim v of one site, the audience of the other. Here the victim is the query and the audience
searched are the targets; the conditions are symmetric, so with the two tables swapped the same holds for a target.
"""

import copy
from typing import Self

import numpy as np

from reidrisk.attacks.base import Links, check_comparable
from reidrisk.attacks.pooled import Observed, as_traces
from reidrisk.attacks.registry import per_pair, register
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.attacks.sets.reconstruction import Audience, Fit, Words, alike, reconstruct
from reidrisk.base.arrays import Array, Ints
from reidrisk.records import Traces
from reidrisk.search.engines import Engine, LocalEngine


class SetAttack(ScoredAttack[Observed]):
    """What the set attacks share: they answer only when exactly one target fits, and are right or wrong as a whole.

    A link is *correct* if it is the query's own user, *incorrect* if it is another one; with no or several fitting
    targets there is no answer. Records may miss tokens and differ in their number of epochs. A token is kept if it was
    seen at least f = ``threshold`` times, at whichever of pooled observers.
    """

    _records: Traces
    _strict: bool
    require_unique: bool = True

    def __init__(self, threshold: int = 2) -> None:
        self.threshold = threshold

    @property
    def compares_queries(self) -> bool:
        """Whether a profile must be unique among the queries."""
        return self.require_unique

    def fit(self, targets: Observed) -> Self:
        """Reconstruct the profiles of the targets; of a list of observers, from all they saw together."""
        self._records, self._looked = as_traces(targets, self.name), False
        self._learn(self._records)
        return self

    def look_around(self, queries: Observed) -> Self:
        """See everybody the second observer saw: who is unique is judged there until the next ``fit``.

        Without it, the queries of a ``link`` are taken to be everybody. With no record at all, each stands alone.
        """
        self._look_around(self._checked(queries))
        self._looked = True
        return self

    def narrowed(self, rows: Ints) -> Self:
        """Return this attacker, looking at these target rows only: it learns nothing but each target's profile."""
        return copy.copy(self).fit(self._records.take(self._chosen(rows, len(self._records))))

    def link(self, queries: Observed, probability: bool = False, *, engine: Engine | None = None) -> Links:
        """Link every query to the only target that fits, or to none; ``n_ties`` counts those that fit."""
        asked = self._checked(queries)
        if not self._looked:
            self._look_around(asked)
        return self._answers(asked, engine or LocalEngine())

    def near_best(self, queries: Observed, reach: Ints) -> Array | None:
        """Return nothing: the best score is no link where others have it, too."""
        return None

    def _checked(self, queries: Observed) -> Traces:
        self._refuse_unfitted("_records")
        asked = as_traces(queries, self.name)
        check_comparable(self._records, asked, (0, 0))  # numbers of epochs may differ
        return asked

    def _learn(self, targets: Traces) -> None:
        self._known = Audience(targets.tokens, targets.n_tokens, reconstruct(targets, self.threshold))
        self._around: Words | None = None

    def _look_around(self, queries: Traces) -> None:
        self._around = reconstruct(queries, self.threshold).kept

    def _posed(self, queries: Observed) -> Posed:
        return Posed(Fit(self._strict), self._known, reconstruct(self._checked(queries), self.threshold))

    def _answers(self, queries: Traces, engine: Engine) -> Links:
        """Link the queries, which may be part of those looked at."""
        scorer, known, asked = posed = self._posed(queries)
        found = engine.best(*posed)
        answered = found.n_ties == 1
        if self.require_unique:
            around, kept = asked.kept if self._around is None else self._around, known.sets.kept
            answered &= (alike(around, asked.kept)[0] <= 1) & (alike(kept, kept)[0][found.target] == 1)
        target = np.where(answered, found.target, -1)
        score = scorer.pairs(known, asked, np.maximum(target, 0))
        return Links(target=target, score=np.where(answered, score, 0), n_ties=found.n_ties)


@register(kinds=(Traces,), cost=per_pair(1e-10))
class StrictSets(SetAttack):
    """Link two records with the same denoised profile, if nobody else has it (jha, Section 3.3.1).

    Query v and target v' are linked iff R^f_v = R^f_v', R^f_v is unique among the queries and R^f_v' among the
    targets. An empty profile matches nobody. The score of a match is 1 + |R^f|, of anything else 0. (The paper
    prints P_U(2|1) P_U = P_U(1); it is P_U = P_U(1) P_U(2|1), as its next line uses it.)

    Token 1 twice is the first target's profile and the first query's alone; the second query keeps nothing.

    >>> targets = Traces([[1, 1, 4], [2, 2, 5]], n_tokens=9)
    >>> StrictSets().fit(targets).link(Traces([[1, 1, 7], [2, 6, 7]], n_tokens=9)).target.tolist()
    [0, -1]
    """

    _strict = True

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return (
            f"Keeps the tokens seen in at least {self.threshold} epochs and links two records that keep the same ones, "
            "if nobody else does on either side. Otherwise it gives no answer (jha, Section 3.3.1)."
        )


@register(kinds=(Traces,), cost=per_pair(1e-9))
class LooseSets(SetAttack):
    """Link two records that do not contradict each other, if no other target fits (jha, Section 3.3.2).

    Query v and target v' fit iff R^f_v is a subset of G_v' and R^f_v' a subset of G_v; they are linked iff no other
    target fits v. An empty R^f matches nobody. A link is incorrect if the only fitting target is another user; the
    formula printed for it joins the two conditions with a union, which must be the intersection that the matching
    rule asks for. The score of a match is 1 + |R^f_v and R^f_v' in common|, of anything else 0.

    With ``require_unique`` it answers only if also R^f_v is unique among the queries and R^f_v' among the targets: the
    text does not ask for it, the code released with the paper does.

    Target 0 kept token 1, query 0 kept tokens 1 and 4, of which the target saw 4 once.

    >>> targets = Traces([[1, 1, 4, 8], [2, 2, 5, 8]], n_tokens=9)
    >>> LooseSets().fit(targets).link(Traces([[1, 4, 1, 4], [2, 5, 6, 7]], n_tokens=9)).target.tolist()
    [0, -1]
    """

    _strict = False

    def __init__(self, threshold: int = 2, require_unique: bool = False) -> None:
        super().__init__(threshold)
        self.require_unique = require_unique

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return (
            f"Keeps the tokens seen in at least {self.threshold} epochs and links a record to the only one where each "
            "side saw, at least once, all that the other keeps. With none or several such, it gives no answer "
            "(jha, Section 3.3.2)." + (" The kept tokens must be unique on both sides." if self.require_unique else "")
        )
