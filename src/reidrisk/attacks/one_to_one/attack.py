"""OneToOne: link all queries at once by the likelihoods of another attack, each target to one of them at most."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from reidrisk.attacks.agreement.fellegi_sunter import FellegiSunter
from reidrisk.attacks.agreement.repeats import have_several
from reidrisk.attacks.base import Links
from reidrisk.attacks.one_to_one.claims import Claims, Wishes, settle
from reidrisk.attacks.one_to_one.scorer import ClaimedTargets, ClaimingQueries, LessClaims
from reidrisk.attacks.registry import register, registry
from reidrisk.attacks.rehearsed.settled import PAIRS, WhyAlone
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.attacks.vectors.gaussian import GaussianBayes
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.errors import OptionError
from reidrisk.base.notes import Note
from reidrisk.base.streams import checked_seed
from reidrisk.mechanisms import TopKNoise
from reidrisk.records import Attributes, Vectors
from reidrisk.search import UNIT
from reidrisk.search.engines import Engine, LocalEngine

_OF: dict[type, type[ScoredAttack[Any]]] = {Attributes: FellegiSunter, Vectors: GaussianBayes}
_FEWEST = 20  # records of either side below which an audit does not ask it
_NEAR = 256  # targets of a query of which it can have claims
_LESSONS, _TAUGHT = 10, 32  # how often the attack learns from what was found, and targets of a query that count there


def _cost(targets: Any) -> Callable[[int], float]:
    """Return reference seconds: those of the attack itself, and of all queries, about as many as there are targets."""
    n = len(targets)
    alone = next(one for one in registry() if one.attack is _OF[type(targets)]).cost(targets)
    together = 0.8 + 1e-6 * n * n + alone(2 * n) - alone(0) if n * n <= PAIRS else 0.0
    return lambda n_queries: alone(n_queries) + together


@register(kinds=(Attributes, Vectors), cost=_cost, default=True, whole=True, together=True)
class OneToOne(ScoredAttack[Any]):
    """Link all queries at once: a target that is another query's is hardly this one's (carey's *matching* attacker).

    Scores are those of ``attack``, one whose scores are log-likelihoods; default: :class:`FellegiSunter` for
    Attributes, :class:`GaussianBayes` for Vectors. Of them, marginals over all ways to give queries to targets, none
    twice, are found by passing messages (:mod:`reidrisk.attacks.one_to_one.claims`); queries may be nobody's, as far as
    the attack knows of that. Where marginals can teach it something (``taught``), it learns from them, some times over.
    A query is linked to its likeliest target then, and that marginal is its probability.

    Each query is linked by itself where there are more of them than targets, more than 16 million pairs, or where links
    show that people have several (``rests_on`` says which); or without ``jointly``. Links depend on all queries that
    were looked at, not on which of them are asked; one that was not looked at is linked by itself. The ``seed`` is that
    of the default attack.

    >>> people = {"age": [31, 40, 31, 77], "town": ["Ulm", "Ulm", "Bonn", "Ulm"], "sex": ["f", "f", "f", "m"]}
    >>> asked = {"age": [31, 31], "town": ["Ulm", "Ulm"], "sex": ["f", "m"]}
    >>> known, asked = Attributes.together(Attributes(people), Attributes(asked))
    >>> OneToOne(jointly=False).fit(known).link(asked).target.tolist()
    [0, 0]
    """

    description = (
        "Links all records at once: likelihoods of the attack for such records, and no known record given away twice. "
        "How many records are nobody's it learns from that; it takes people to have one record each (matching)."
    )

    def __init__(self, attack: ScoredAttack[Any] | None = None, jointly: bool = True, seed: int = 0) -> None:
        if attack is not None and not isinstance(attack, ScoredAttack):
            raise OptionError(f"attack is one that scores pairs or None, not {type(attack).__name__}")
        self.attack, self.jointly, self.seed = attack, jointly, checked_seed(seed)

    @classmethod
    def knowing(cls, mechanism: TopKNoise, seed: int = 0) -> Self:
        """Return the attacker of this seed; there is nothing to know of a system."""
        return cls(seed=seed)

    @classmethod
    def applies(cls, targets: Any, queries: Any) -> bool:
        """Whether there are enough records, at most one query for each target, and not too many pairs."""
        fits = _FEWEST <= len(queries) <= len(targets) and len(queries) * len(targets) <= PAIRS
        return fits and _OF[type(targets)].applies(targets, queries)

    @property
    def compares_queries(self) -> bool:
        """Whether queries were weighed against each other."""
        return isinstance(getattr(self, "_found", None), Claims)

    @property
    def setting(self) -> str:
        """``"matching"`` where queries were weighed against each other."""
        return "matching" if self.compares_queries else "random user"

    @property
    def rests_on(self) -> tuple[Note, ...]:
        """Whether queries were linked together, or why not, where that was asked for."""
        found = getattr(self, "_found", None)
        if isinstance(found, str):
            return (Note("linked-alone", attack=self.name, why=found),)
        return () if found is None else (Note("linked-together", attack=self.name),)

    def one_by_one(self) -> Self:
        """Return this attacker where each query is met by itself."""
        new = copy(self)
        new.jointly, new._found, new._looked = False, None, None
        return new

    def fit(self, targets: Any) -> Self:
        """Fit the attack whose likelihoods are used."""
        if self.attack is None and type(targets) not in _OF:
            raise OptionError(f"{self.name} has no attack for {type(targets).__name__}; give one that scores pairs")
        attack = copy(self.attack) if self.attack is not None else _OF[type(targets)](seed=self.seed)  # type: ignore[call-arg]
        self._base: ScoredAttack[Any] = attack.fit(targets)
        self._targets = targets
        self._looked: Any = None
        self._found: Claims | WhyAlone | None = None
        return self

    def look_around(self, queries: Any) -> Self:
        """Let the attack learn from all queries, and weigh them against each other."""
        self._refuse_unfitted("_base")
        if not len(queries) or self._looked is queries:
            return self
        self._base.look_around(queries)
        self._looked, self._found = queries, None
        if self.jointly:
            self._found = self._settled(queries)
        return self

    def narrowed(self, rows: Ints) -> Self:
        """Return this attacker, with all it has learnt, looking at these target rows only."""
        self._refuse_unfitted("_base")
        new = copy(self)
        new._base = self._base.narrowed(rows)
        new._targets = self._targets.take(self._chosen(rows, len(self._targets)))
        new._looked = new._found = None  # other targets, and other queries that claim them
        return new

    def link(self, queries: Any, probability: bool = False, *, engine: Engine | None = None) -> Links:
        """Link every query to its likeliest target among all, given what others claim."""
        if self._looked is None:
            self.look_around(queries)
        if not isinstance(self._found, Claims):
            return self._base.link(queries, probability, engine=engine)
        links = super().link(queries, probability, engine=engine)
        if links.probability is None:
            return links
        nobody, linked = self._nobody(queries)
        odds = np.where(self._places(queries) >= 0, self._found.odds, (1.0 - linked) / linked)
        below = nobody - links.score / self._base._posed(queries).scorer.per_nat
        more = odds * np.exp(np.clip(below, -700.0, 700.0))
        return replace(links, probability=1.0 / (1.0 / links.probability + more))

    def _settled(self, queries: Any) -> Claims | WhyAlone:
        m, n = len(queries), len(self._targets)
        if m > n or m * n > PAIRS or m < 2:
            return "few" if m < 2 else "more-queries" if m > n else "too-many"
        self._base.link(queries.take(np.arange(1)), probability=True)  # which may learn how far to trust likelihoods
        if not getattr(self._base._posed(queries).scorer, "per_nat", 0.0) > 0:
            raise OptionError(f"{self._base.name} has no likelihoods to weigh queries by; give an attack that has")
        wanted, best = self._wanted(queries)
        if have_several(wanted.near[:, 0], best, self._of_others()):
            return "several"
        claims = settle(wanted, n)
        for _ in range(_LESSONS):
            wiser = self._base.taught(queries, wanted.near[:, :_TAUGHT], claims.chances(wanted)[:, :_TAUGHT])
            if wiser is self._base:
                break
            self._base = wiser
            wanted, _ = self._wanted(queries)
            claims = settle(wanted, n)
        self._keys = {key: place for place, key in enumerate(_contents(queries))}
        return claims

    def _wanted(self, queries: Any) -> tuple[Wishes, Ints]:
        """Return what queries want, each by itself, and their best scores."""
        scorer, targets, asked = self._base._posed(queries)
        found = scorer.candidates(targets, asked, min(_NEAR, len(self._targets)))
        best = found.score[:, 0]
        nats = (found.score - best[:, None]) / scorer.per_nat
        total = LocalEngine().total(scorer, targets, asked, best) / UNIT
        rest = np.maximum(total - np.exp(nats).sum(axis=1), 0.0)
        nobody, linked = self._nobody(queries)
        least = np.exp(np.clip(nobody - best / scorer.per_nat, -700.0, 700.0))
        return Wishes(found.target, nats, rest, least, linked), best

    def _of_others(self) -> Ints:
        """Return the best score of each target with those of other people."""
        rows, scores = self._base.candidates(self._targets, min(2, len(self._targets)))
        own = rows[:, 0] == np.arange(len(rows))
        return np.where(own, scores[:, -1], scores[:, 0])

    def _nobody(self, queries: Any) -> tuple[Floats, float]:
        found = self._base.nobody(queries)
        return (np.full(len(queries), -np.inf), 1.0) if found is None else found

    def _places(self, queries: Any) -> Ints:
        """Return the place of each query among those looked at, -1 where it is not; it is known by what it holds."""
        return np.array([self._keys.get(key, -1) for key in _contents(queries)], dtype=np.int64)

    def _posed(self, queries: Any) -> Posed:
        self._refuse_unfitted("_base")
        if self._looked is None:
            self.look_around(queries)
        posed, found = self._base._posed(queries), self._found
        if not isinstance(found, Claims):
            return posed
        steps, place = posed.scorer.per_nat, self._places(queries)
        taken, back = (np.rint(one * steps).astype(np.int64) for one in (found.taken, found.back))
        known = ClaimedTargets(posed.targets, taken, np.arange(len(taken)))
        return Posed(
            LessClaims(posed.scorer), known, ClaimingQueries(posed.queries, found.near[place], back[place], place >= 0)
        )


def _contents(records: Any) -> list[bytes]:
    values = np.ascontiguousarray(records.tokens if hasattr(records, "tokens") else records.values)
    return [row.tobytes() for row in values]
