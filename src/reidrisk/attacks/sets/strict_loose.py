"""The set attacks: link two records whose denoised profiles fit each other and nobody else's (jha, Section 3.3).

The paper searches, for a victim v of one site, the audience of the other. Here the victim is the query and the audience
searched are the targets; the conditions are symmetric, so with the two tables swapped the same holds for a target.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Self

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.base import Attack, Links, check_k
from reidrisk.attacks.pooled import Observed, as_traces
from reidrisk.attacks.registry import per_pair, register
from reidrisk.attacks.sets.matching import Audience, FittingSets, SameSets, alike
from reidrisk.attacks.sets.profiles import Profiles, build_profiles, pair_scores
from reidrisk.base.errors import DataError
from reidrisk.records import Traces
from reidrisk.search.engines import Engine, LocalEngine

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

_ENTRIES = 2_000_000  # scores held at once for candidates


class SetAttack(Attack[Observed]):
    """What the set attacks share: they answer only when exactly one target fits, and are right or wrong as a whole.

    A link is *correct* if it is the query's own user, *incorrect* if it is another one; with no or several fitting
    targets there is no answer. Records may miss tokens and differ in their number of epochs. Of pooled observers the
    profiles are those of all their tokens: a token is kept if it was seen at least f times, at whichever of them.
    """

    def fit(self, targets: Observed) -> Self:
        """Reconstruct the profiles of the targets; of a list of observers, from all they saw together."""
        records = as_traces(targets, self.name)
        self._n, self._n_tokens = len(records), records.n_tokens
        self._records, self._looked = records, False
        self._learn(records)
        return self

    def look_around(self, queries: Observed) -> Self:
        """See everybody the second observer saw: who is unique is judged there until the next ``fit``.

        Without it, the queries of a ``link`` are taken to be everybody. With no record at all, each stands alone.
        """
        self._look_around(self._checked(queries))
        self._looked = True
        return self

    def narrowed(self, rows: Ints) -> Attack[Observed]:
        """Return this attacker, looking at these target rows only: it learns nothing but each target's profile."""
        return copy.copy(self).fit(self._records.take(self._chosen(rows, self._n)))

    def link(self, queries: Observed, probability: bool = False, *, engine: Engine | None = None) -> Links:
        """Link every query to the only target that fits, or to none; ``n_ties`` counts those that fit."""
        asked = self._checked(queries)
        if not self._looked:
            self._look_around(asked)
        return self._answers(asked, engine or LocalEngine())

    def score(self, queries: Observed, target_index: Ints) -> Ints:
        """Return 0 where query and target do not fit; uniqueness among the queries is that of the last ``link``."""
        asked = self._checked(queries)
        rows = self._rows(target_index, len(asked), self._n)
        return self._scores(asked, rows.astype(np.int64)[:, None])[:, 0]

    def candidates(self, queries: Observed, k: int, among: Ints | None = None) -> tuple[Ints, Ints]:
        """Return the k best targets of each query and their scores, best first, equals by row or as in ``among``."""
        asked = self._checked(queries)
        rows = np.arange(self._n) if among is None else self._chosen(among, self._n)
        check_k(k, len(rows))
        found, scores = (np.zeros((len(asked), k), dtype=np.int64) for _ in range(2))
        size = max(1, _ENTRIES // len(rows))
        for start in range(0, len(asked), size):
            part = asked.take(slice(start, start + size))
            every = self._scores(part, np.tile(rows, (len(part), 1)))
            best = np.argsort(-every, axis=1, kind="stable")[:, :k]
            found[start : start + size] = rows[best]
            scores[start : start + size] = np.take_along_axis(every, best, axis=1)
        return found, scores

    def _checked(self, queries: Observed) -> Traces:
        self._refuse_unfitted("_n")
        asked = as_traces(queries, self.name)
        if asked.n_tokens != self._n_tokens:
            raise DataError(
                f"targets have {self._n_tokens} tokens in the vocabulary, queries have {asked.n_tokens}; "
                "both must be the same"
            )
        return asked

    @abstractmethod
    def _learn(self, targets: Traces) -> None:
        """Keep what is needed of the targets."""

    @abstractmethod
    def _look_around(self, queries: Traces) -> None:
        """Keep what is needed of all queries, to judge later which profiles are unique among them."""

    @abstractmethod
    def _answers(self, queries: Traces, engine: Engine) -> Links:
        """Link the queries, which may be part of those looked at."""

    def _named(self, queries: Traces, engine: Engine) -> Ints:
        """Return the (q, m) targets named for each query, different ones, ascending; -1 fills up."""
        return self._answers(queries, engine).target[:, None]

    @abstractmethod
    def _scores(self, queries: Traces, rows: Ints) -> Ints:
        """Return the (q, j) scores of each query with its target rows (q, j)."""


class _OneThreshold(SetAttack):
    """An attack with profiles of one threshold f."""

    _strict: bool

    def __init__(self, threshold: int = 2) -> None:
        self.threshold = threshold

    def _learn(self, targets: Traces) -> None:
        self._targets = Audience(targets.tokens, targets.n_tokens, build_profiles(targets, self.threshold))
        self._around: Words | None = None

    def _look_around(self, queries: Traces) -> None:
        self._around = build_profiles(queries, self.threshold).kept

    def _alike(self, asked: Profiles) -> Ints:
        """Count the queries around that have the same R."""
        return alike(asked.kept if self._around is None else self._around, asked.kept)[0]

    def _scores(self, queries: Traces, rows: Ints) -> Ints:
        asked = build_profiles(queries, self.threshold)
        out = np.empty(rows.shape, dtype=np.int64)
        known = self._targets.profiles
        pair_scores(asked.kept, asked.seen, known.kept, known.seen, rows, self._strict, out)
        return out

    def _links(self, queries: Traces, count: Ints, target: Ints) -> Links:
        """Score the answers (target -1: none)."""
        score = self._scores(queries, np.maximum(target, 0)[:, None])[:, 0]
        return Links(target=target, score=np.where(target >= 0, score, 0), n_ties=count)


@register(kinds=(Traces,), cost=per_pair(1e-10))
class StrictSets(_OneThreshold):
    """Link two records with the same denoised profile, if nobody else has it (jha, Section 3.3.1).

    Query v and target v' are linked iff R^f_v = R^f_v', R^f_v is unique among the queries and R^f_v' among the
    targets. An empty profile matches nobody. The score of a match is 1 + |R^f|, of anything else 0. (The paper
    prints P_U(2|1) P_U = P_U(1); it is P_U = P_U(1) P_U(2|1), as its next line uses it.)

    Parameters
    ----------
    threshold : int
        f: a token is kept if it was seen in at least so many epochs.

    Examples
    --------
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

    def _answers(self, queries: Traces, engine: Engine) -> Links:
        asked = build_profiles(queries, self.threshold)
        found = engine.best(SameSets(), self._targets, asked)
        unique = (found.n_ties == 1) & (self._alike(asked) <= 1)
        return self._links(queries, found.n_ties, np.where(unique, found.target, -1))


@register(kinds=(Traces,), cost=per_pair(1e-9))
class LooseSets(_OneThreshold):
    """Link two records that do not contradict each other, if no other target fits (jha, Section 3.3.2).

    Query v and target v' fit iff R^f_v is a subset of G_v' and R^f_v' a subset of G_v; they are linked iff no other
    target fits v. An empty R^f matches nobody. A link is incorrect if the only fitting target is another user; the
    formula printed for it joins the two conditions with a union, which must be the intersection that the matching
    rule asks for. The score of a match is 1 + |R^f_v and R^f_v' in common|, of anything else 0.

    Parameters
    ----------
    threshold : int
        f: a token is kept if it was seen in at least so many epochs.
    require_unique : bool
        Answer only if also R^f_v is unique among the queries and R^f_v' among the targets. The text does not ask for
        it; the code released with the paper does.

    Examples
    --------
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
    def compares_queries(self) -> bool:
        """Whether a profile must be unique among the queries."""
        return self.require_unique

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return (
            f"Keeps the tokens seen in at least {self.threshold} epochs and links a record to the only one where each "
            "side saw, at least once, all that the other keeps. With none or several such, it gives no answer "
            "(jha, Section 3.3.2)." + (" The kept tokens must be unique on both sides." if self.require_unique else "")
        )

    def _answers(self, queries: Traces, engine: Engine) -> Links:
        asked = build_profiles(queries, self.threshold)
        found = engine.best(FittingSets(), self._targets, asked)
        answered = found.n_ties == 1
        if self.require_unique:
            own = alike(self._targets.profiles.kept, self._targets.profiles.kept)[0]
            answered &= (self._alike(asked) <= 1) & (own[found.target] == 1)
        return self._links(queries, found.n_ties, np.where(answered, found.target, -1))
