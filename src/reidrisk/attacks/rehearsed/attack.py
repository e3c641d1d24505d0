"""Rehearsed: practise every attack on the targets, cut in two so that the truth is known, and use what worked."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from reidrisk.attacks.profile.counts import one_table
from reidrisk.attacks.registry import register
from reidrisk.attacks.rehearsed.cutting import Cutting
from reidrisk.attacks.rehearsed.estimate import Estimate, lifted
from reidrisk.attacks.rehearsed.panel import fingerprints
from reidrisk.attacks.rehearsed.practice import Practice
from reidrisk.attacks.rehearsed.rehearsal import FEWEST, PRACTISED, Rehearsal, rehearse
from reidrisk.attacks.rehearsed.scorer import WeighedPanel
from reidrisk.attacks.rehearsed.settled import PAIRS, LinkedAlone, Settled, settle
from reidrisk.attacks.rehearsed.sizes import SizeTerm
from reidrisk.attacks.rivals.base import Counted, counts_of
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.base.arrays import Ints
from reidrisk.base.errors import DataError
from reidrisk.base.notes import Note
from reidrisk.base.options import whole
from reidrisk.base.streams import checked_seed
from reidrisk.records import Bags, Traces


def _cost(targets: Any) -> Callable[[int], float]:
    """Return reference seconds: most go into learning, on a bounded number of targets.

    Queries, about as many as targets, are all weighed against each other, whichever of them are asked about.
    """
    n, items, tokens = len(targets), _size(targets), int(targets.n_tokens)
    practice = 7e-4 * min(n, PRACTISED) + 3.5e-5 * min(items, 200_000) + 4e-4 * min(tokens, 20_000)
    together = 3e-7 * n * n if n * n <= PAIRS else 0.0
    return lambda n_queries: 1.5 + practice + 1.2e-4 * n + together + 3e-7 * n * n_queries


def _size(targets: Any) -> int:
    return int(targets.tokens.size if isinstance(targets, Traces) else targets.counts.nnz)


@register(kinds=(Bags, Traces), cost=_cost, default=True, whole=True)
class Rehearsed(ScoredAttack[Counted]):
    """Link as practised: whoever holds the targets cuts each in two, and learns which attacks find the other half.

    How the two parts of a cut are related (the query stays in the target, is taken out of it, or shares no item) is
    chosen so that rehearsed queries look like the real ones (:mod:`reidrisk.attacks.rehearsed.ways`). On the rehearsal
    every registered attack on such records is rated, and a conditional logistic regression learns to weigh their
    scores (:mod:`reidrisk.attacks.rehearsed.scorer`), tried over folds of people. Where that teaches little, all have
    an equal say, or the one that was clearly the best. Attacks are fitted anew in every rehearsal; no truth of the real
    queries is ever seen. Probabilities are the regression's, on the scale that fits the rehearsal.

    What a rehearsal cannot know is how the second observer differs from the first: other devices, other habits later.
    Records that are cut are shorter than real ones, so links are more often right than they were in the rehearsal.

    **Who holds both tables** uses all of them. Queries are weighed against each other
    (:mod:`reidrisk.attacks.rehearsed.settled`): where they are a table with one record of each person, a target that is
    another query's is hardly this one's. That is carey's *matching* attacker, and ``setting`` says so. It is not done
    where links show that most people have several queries, nor above 16 million pairs, and ``rests_on`` says why. Links
    depend on all queries that were looked at, not on which of them are asked; one that was not looked at is linked by
    itself. Without ``jointly``, every query is: the random-user setting, of somebody who is given one record.

    **How much a record holds** counts where links that are sure without it agree closely in size
    (:mod:`reidrisk.attacks.rehearsed.sizes`), and ``rests_on`` says so; not without ``volume``, nor in parts that an
    audit cut to size itself.

    ``people`` is how many rehearsed people are asked about at most. Of many targets some thousand are practised on,
    and stand for all. Traces are taken as counts.

    >>> rng = np.random.default_rng(0)
    >>> plays = Bags(rng.poisson(rng.gamma(0.1, 8.0, (80, 40))) + np.eye(80, 40, dtype=int))
    >>> later = Bags(rng.binomial(plays.counts.toarray(), 0.7) + np.eye(80, 40, dtype=int))
    >>> attack = Rehearsed().fit(plays).look_around(later)
    >>> bool((attack.link(later).target == np.arange(80)).mean() > 0.9)
    True
    """

    description = (
        "Practises every simple attack on the known records, cut in two, and weighs them as that teaches. "
        "It never sees who is whom, and cannot know how the second observer differs from the first (our own)."
    )
    rehearses = True  # it is no part of a rehearsal itself

    @classmethod
    def applies(cls, targets: Counted, queries: Counted) -> bool:
        """Whether these are bags.

        Of traces it takes the counts alone and leaves out what was seen in the same epoch, and what is known of the
        system: ``ProfileBayes`` uses both, and found 6 to 20 more in 100 people on every table of traces tried.

        >>> bags, traces = Bags([[1, 1]]), Traces([[0]], n_tokens=1)
        >>> Rehearsed.applies(bags, bags), Rehearsed.applies(traces, traces)
        (True, False)
        """
        return isinstance(targets, Bags)

    def __init__(self, people: int = 600, seed: int = 0, jointly: bool = True, volume: bool = True) -> None:
        self.people, self.seed = whole("people", people, least=FEWEST), checked_seed(seed)
        self.jointly, self.volume = jointly, volume

    @property
    def compares_queries(self) -> bool:
        """Whether queries were weighed against each other; else a few learnt numbers depend on the others."""
        return isinstance(getattr(self, "_settled", None), Settled)

    @property
    def setting(self) -> str:
        """``"matching"`` where queries were weighed against each other."""
        return "matching" if self.compares_queries else "random user"

    @property
    def rests_on(self) -> tuple[Note, ...]:
        """Whether queries were linked together, or why not, where that was asked for; and whether sizes counted."""
        found, sizes = getattr(self, "_settled", None), self._sizes if getattr(self, "_learnt", None) else None
        notes: tuple[Note, ...] = ()
        if isinstance(found, LinkedAlone):
            notes = (Note("linked-alone", attack=self.name, why=found.why),)
        elif found is not None:
            notes = (Note("linked-together", attack=self.name),)
        if sizes is None:
            return notes
        return (*notes, Note("sizes-agree", attack=self.name, correlation=sizes.correlation))

    def one_by_one(self) -> Self:
        """Return this attacker, with all it has learnt, where each query is met by itself."""
        if not self.jointly:
            return self
        new = copy(self)
        new.jointly, new._settled, new._looked = False, None, None
        return new

    def given_sizes(self) -> Self:
        """Return this attacker, with all it has learnt, where how much records hold says nothing."""
        if not self.volume:
            return self
        new = copy(self)
        new.volume, new._settled, new._looked = False, None, None
        return new

    @property
    def practice_(self) -> Practice | None:
        """What the rehearsal taught; None where there were too few records to cut."""
        return self._seen.practice

    @property
    def cutting_(self) -> Cutting | None:
        """How targets were cut."""
        return self._seen.cutting

    @property
    def estimate_(self) -> Estimate | None:
        """How many links are right, as far as the rehearsal tells: without truth."""
        found, sizes = self._seen.estimate, self._sizes
        if found is not None and sizes is not None:
            found = lifted(found, sizes.lift, len(self._targets))
        return found if found is None or self._settled is None else self._settled.lifted(found)

    def fit(self, targets: Counted) -> Self:
        """Keep the targets; what to learn from them depends on what queries look like."""
        self._targets = _as_bags(targets, self.name)
        self._within: Ints | None = None
        self._learnt: list[Rehearsal] = []  # shared with narrowed copies: one rehearsal serves all
        self._settled: Settled | LinkedAlone | None = None
        self._looked: Counted | None = None
        return self

    def look_around(self, queries: Counted) -> Self:
        """Rehearse, with cuts that look like these queries, once after each fit; and weigh them against each other."""
        self._refuse_unfitted("_targets")
        if not len(queries) or self._looked is queries:
            return self
        bags = _as_bags(queries, self.name)
        if not self._learnt:
            self._learnt.append(rehearse(self._targets, bags, self.people, self.seed))
        self._looked, self._settled = queries, None
        if self.jointly and self._seen.practice is None:
            self._settled = LinkedAlone("few")
        elif self.jointly:
            ordered = bags.take(np.argsort(fingerprints(self._seen.order.asked(bags)), kind="stable"))
            scorer, known, asked = self._question(ordered)
            self._settled = settle(scorer, known, asked, ordered)
        return self

    def narrowed(self, rows: Ints) -> Self:
        """Return this attacker, with all it has learnt, looking at these target rows only."""
        self._refuse_unfitted("_targets")
        new = copy(self)
        within = np.arange(len(self._targets)) if self._within is None else self._within
        new._within = within[self._chosen(rows, len(within))]
        new._settled = new._looked = None  # other targets, and other queries that claim them
        return new

    @property
    def _sizes(self) -> SizeTerm | None:
        return self._seen.sizes if self.volume else None

    @property
    def _seen(self) -> Rehearsal:
        self._refuse_unfitted("_learnt")
        if not self._learnt:
            raise DataError(f"{self.name} has not seen any queries yet; call look_around(queries) first")
        return self._learnt[0]

    def _posed(self, queries: Counted) -> Posed:
        self._refuse_unfitted("_targets")
        if self._looked is None:
            self.look_around(queries)
        asked = _as_bags(queries, self.name)
        posed = self._question(asked)
        if not isinstance(self._settled, Settled):
            return posed
        scorer = replace(posed.scorer, cool=self._settled.cool)
        return Posed(scorer, self._settled.known(posed.targets), self._settled.asked(posed.queries, asked))

    def _question(self, queries: Bags) -> Posed:
        """Return the question of each query by itself."""
        found, hours, sizes = self._seen, self._seen.hours, self._sizes
        records = found.order.asked(queries)
        known, asked = found.panel.known, found.panel.asked(records)
        scorer = WeighedPanel(found.panel.scorers, found.panel.typical, found.weights)
        if hours is not None:
            known, asked = hours.known(known), hours.asked(asked, records)
        if sizes is not None:
            known, asked = sizes.known(known, found.targets), sizes.asked(asked, records)
            scorer = replace(scorer, agreeing=sizes.correlation)
        known = known.take(found.order.back if self._within is None else found.order.back[self._within])
        return Posed(scorer, known, asked)


def _as_bags(records: Counted, who: str) -> Bags:
    _, table = one_table(records, who)
    return table if isinstance(table, Bags) else Bags(counts_of(table), table.users, table.vocabulary)
