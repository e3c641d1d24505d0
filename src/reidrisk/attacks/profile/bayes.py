"""ProfileBayes: two records are of one user if one set of interests explains both better than two sets would.

The papers' attacks either ignore when a token was seen (jha) or ignore everything but the same epoch (carey). Interests
persist, and in one epoch both observers draw from one top set: both are evidence, and here they are weighed together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from reidrisk.attacks.base import Links, check_comparable
from reidrisk.attacks.pooled import Pooled, gathered
from reidrisk.attacks.profile.calibration import learn_posterior
from reidrisk.attacks.profile.counts import Ladder, one_table, widened
from reidrisk.attacks.profile.factor import BayesFactor
from reidrisk.attacks.profile.learnt import Learnt
from reidrisk.attacks.profile.posterior import Posterior
from reidrisk.attacks.profile.prior import Prior
from reidrisk.attacks.profile.sized import STEPS, Habits, KnownBags, Model, SoftDot, Tally
from reidrisk.attacks.registry import per_item, per_pair, register
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.base import Array, DataError, Floats, Ints, OptionError, checked_seed, is_whole, n_threads, whole_up_to
from reidrisk.mechanisms import TopKNoise
from reidrisk.records import Bags, Traces
from reidrisk.search import GRID, UNIT
from reidrisk.search.answer import Best
from reidrisk.search.engines import Engine

if TYPE_CHECKING:
    from reidrisk.attacks.rehearsed.cutting import Cutting

Records = Traces | Pooled | Sequence[Traces] | Bags


def _cost(targets: Any) -> Callable[[int], float]:
    """Return what it costs: learning takes a while, of bags by a rehearsal on some of them."""
    if isinstance(targets, Bags):
        return per_item(1.2e-9, learning=min(4.5, 0.6 + 4e-5 * targets.counts.nnz))(targets)
    return per_pair(3e-9, learning=0.3)(targets)


@register(kinds=(Traces, Bags), cost=_cost, default=True, epochs=2)
class ProfileBayes(ScoredAttack[Records]):
    r"""Link to the target with the highest Bayes factor: P(both records | one user) / P(both records | two users).

    A user has, for each token v, a rate theta_v: the probability that an observer sees v in an epoch. Rates are
    unknown and have a prior F_v, learnt from the targets alone. For a pair with c and d sights of v, m of them in the
    same epoch,

        score = log sum_z w_z prod_v E[p11^m p10^(c-m) p01^(d-m) p00^(r-c-d+m)]  -  log P(query)  -  log P(target),

    where E averages over F_v of the kind of user z, w_z is how common the kind is, and p11, … are the probabilities
    that both observers, one of them or neither see v in an epoch (see :mod:`reidrisk.attacks.profile.likelihoods`).
    Where a system shows one of ``top_k`` tokens held for a user, p11 exceeds theta^2: seeing a token in the same epoch
    tells more than seeing it in two. The posterior over targets is the link's probability, softened by a temperature
    and bent (:mod:`reidrisk.attacks.profile.posterior`), as simulated users teach. Missing tokens add nothing; with
    gaps the epochs seen by both are counted in expectation.
    Where a token comes more often than tables can hold (64 times, or 255 without ``top_k``), several epochs are taken
    for one: counts and epochs are divided by the same number and rounded. Observers who pool what they saw stand side
    by side as more epochs: their counts add up, while the same epoch is compared with the first of them alone. The
    problem is that of jha, Section 3; the attack is ours.

    The ``mechanism`` is what the system does: the size of the top sets from which it draws, and its noise. Without it,
    or where only guessed (``declared="nothing"``), nothing is made of the same epoch. A whole
    number, or ``top_k=``, with ``noise=`` says the same. The prior tells at most ``kinds`` kinds of users apart.
    ``absent`` is the prior probability that a query's user is not among the targets; below ``min_probability`` there is
    no answer. ``calibrate`` says whether to learn temperature and bend, once a probability is asked for; otherwise the
    posterior is taken as it is.
    The ``seed`` is of the simulated users, and of the choice of targets to learn from when there are more than 20,000:
    what is drawn depends on it and on what the targets hold, not on the order of their rows.

    Bags may be of any two sizes: how much a record holds is given, and only what it holds is evidence. Their model, in
    :mod:`reidrisk.attacks.profile.sized.model`, learns from all queries together how they are drawn, and its
    temperature by a rehearsal on the targets; ``mechanism`` and ``kinds`` are of no use to it. With ``volume``, totals
    are evidence too: how far they agree is learnt from the queries (:mod:`reidrisk.attacks.profile.sized.volume`), and
    the temperature softens that with the rest. The default: where both tables hold some of the same events. Hours of
    the day count where both sides know them, by as much as sure links share them
    (:mod:`reidrisk.attacks.profile.sized.hours`). Where tables share no item at all, tastes are compared
    (:mod:`reidrisk.attacks.profile.sized.taste`), and what is shared counts against a target. How much of a trace was
    seen is for :class:`Presence` to ask.

    The first query has the first target's tokens in another order.

    >>> targets = Traces([[1, 2, 1, 2, 1], [3, 4, 3, 3, 4], [5, 6, 5, 6, 6]], n_tokens=9)
    >>> attack = ProfileBayes(top_k=2, noise=0.05).fit(targets)
    >>> attack.link(Traces([[2, 1, 2, 1, 1], [4, 4, 3, 0, 3]], n_tokens=9)).target.tolist()
    [0, 1]
    """

    _everyone: KnownBags | None  # all targets, where they are bags
    _habits: Habits | None
    _given: tuple[Cutting | None, Model | None] = None, None

    def __init__(
        self,
        mechanism: TopKNoise | int | None = None,
        noise: float = 0.05,
        kinds: int = 4,
        absent: float = 0.0,
        min_probability: float = 0.0,
        calibrate: bool = True,
        seed: int = 0,
        threads: int | None = None,
        *,
        top_k: int | None = None,
        volume: bool | None = None,
    ) -> None:
        if mechanism is not None and top_k is not None:
            raise OptionError("give the mechanism or top_k, not both: a mechanism has its own")
        if isinstance(mechanism, TopKNoise):
            # Of a system that was not declared nothing is assumed about the same epoch.
            top_k, noise = None if mechanism.declared == "nothing" else mechanism.top_k, mechanism.noise
        elif mechanism is not None:
            top_k = mechanism
        self.mechanism, self.top_k, self.noise = mechanism, top_k, noise
        self.kinds, self.absent, self.min_probability, self.calibrate = kinds, absent, min_probability, calibrate
        self.seed, self.threads, self.volume = seed, threads, volume

    @classmethod
    def knowing(cls, mechanism: TopKNoise, seed: int = 0) -> Self:
        """Return the attacker who knows the size of top sets where it was declared, and uses no more than that."""
        return cls(mechanism, seed=seed)

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        shows = f"one of {self.top_k} tokens held for a user, and a random one with probability {self.noise:g}"
        system = f"It knows {'nothing of the system' if self.top_k is None else f'that the system shows {shows}'}"
        return (
            "Weighs how much better one set of lasting interests explains two records than two sets would, whenever "
            f"the tokens were seen. {system}; how interests are spread it learns from the targets alone, and whether "
            "records are facts of known ones or hold other events, and what hours of the day tell, from all that are "
            "asked for (our own)."
        )

    @property
    def compares_queries(self) -> bool:
        """False: all queries together teach a few parameters of the model on bags, and none is told from the others."""
        return False

    @property
    def prior_(self) -> Prior:
        """What was learnt of the rates of traces."""
        return self._fitted.prior

    @property
    def model_(self) -> Model | None:
        """What was learnt of bags; None until there were queries to learn from."""
        self._refuse_unfitted("_known")
        return None if self._habits is None else self._habits.model

    @property
    def temperature_(self) -> float | None:
        """Temperature of the probabilities, of bags that of queries of a usual size; None until one was asked for."""
        self._refuse_unfitted("_known")
        if self._everyone is None:
            return None if self._fitted.posterior is None else self._fitted.posterior.temperature
        softness = None if self._habits is None else self._habits.softness
        return None if softness is None else softness.temperature

    def fit(self, targets: Records) -> Self:
        """Learn how rates are spread, and lay the targets out by token; a list of observers is pooled."""
        return self._fit(targets)

    def _fit(self, targets: Records, ladder: Ladder | None = None) -> Self:
        self._check_options()
        self._n_epochs, table = one_table(targets, self.name)
        self._asked: tuple[Records, Any] | None = None
        self._targets, self._habits = table, None
        self._everyone = None
        if isinstance(table, Bags):
            counted = Tally.of(table)
            if not counted.counts.nnz:
                raise DataError("no target holds a single token; there is nothing to learn from")
            self._known = self._everyone = KnownBags(counted, counted.popularity)
            return self
        if self.volume:
            raise OptionError("volume=True is for bags; when something was seen of a trace, Presence compares")
        if isinstance(self.mechanism, TopKNoise) and self.mechanism.n_tokens != table.n_tokens:
            raise OptionError(f"the mechanism has {self.mechanism.n_tokens} tokens, the targets {table.n_tokens}")
        system = None if self.top_k is None else (self.top_k, self.noise)
        self._learnt = Learnt(table, system, self.kinds, self.seed, ladder)
        self._known = self._learnt.known
        return self

    def _laid_out(self, targets: Records) -> Any:
        if self._everyone is not None:  # how bags are drawn is learnt from all of them, with the queries
            return super()._laid_out(targets)
        return self._fitted.laid_out(self._comparable(targets))

    def look_around(self, queries: Records) -> Self:
        """Learn how bags of the second observer are drawn, from all of them; of traces there is nothing to learn."""
        self._refuse_unfitted("_known")
        if self._everyone is not None:
            table, self._asked = Tally.of(self._comparable(queries)), None
            self._habits = Habits(self._known, self._everyone, table, self.seed, self.volume, *self._given)
            if self._given[0] is None:  # who practises weighs hours otherwise
                alone = ProfileBayes(calibrate=self.calibrate, seed=self.seed, threads=self.threads, volume=self.volume)
                self._habits.learn_hours(alone, self.calibrate)
        return self

    def given_sizes(self) -> Self:
        """Return this attacker, not yet fitted, where totals are no evidence; one that was told they are stays."""
        if self.volume is not None:
            return self
        new = copy(self)
        new.volume = False
        return new

    def practising(self, cutting: Cutting, like: Model | None = None) -> Self:
        """Take it as found out how two tables of bags are related, and begin with the model of similar tables."""
        self._given = cutting, like
        return self

    def link(self, queries: Records, probability: bool = False, *, engine: Engine | None = None) -> Links:
        """Link every query to its best target, or to none where that is less than ``min_probability`` sure."""
        sure = probability or self.min_probability > 0.0
        if sure and self._everyone is None:
            self._learn_posterior()
        elif sure:
            self._seen(queries).learn_softness(self.calibrate)
        links = super().link(queries, sure, engine=engine)
        if links.probability is None:
            return links
        return replace(links, target=np.where(links.probability >= self.min_probability, links.target, -1))

    def _sure(self, best: Best, total: Ints) -> Floats:
        odds = self.absent / (1.0 - self.absent) * len(self._known)
        per_nat: Any = self._per_nat
        if self._habits is not None and self._asked is not None and odds:
            softened = SoftDot(0.0, None, self._targets.n_tokens, self._habits.softness)
            per_nat = STEPS * softened.temperatures(self._asked[1])
        others = odds * np.exp(-np.clip(best.score * (1.0 / per_nat), -700.0, 700.0)) if odds else 0.0
        sure = np.asarray(1.0 / (total / UNIT + others))
        posterior = self._fitted.posterior if self._everyone is None else None
        # Of targets that are alike, no more than one is right.
        return sure if posterior is None else np.minimum(posterior.bend.of(sure), 1.0 / best.n_ties)

    def near_best(self, queries: Records, reach: Ints) -> Array | None:
        """Return the scores of every query and target near its best; ``None`` where unsure links are not given."""
        return None if self.min_probability > 0.0 else super().near_best(queries, reach)

    def _check_options(self) -> None:
        whole_up_to("kinds", self.kinds, 64)
        if self.top_k is not None and not is_whole(self.top_k):
            raise OptionError(f"top_k must be a whole number of tokens or None, not {self.top_k!r}")
        for name, limit, why in (
            ("absent", "[0, 1)", ": at 1 nobody is there to be found"),
            ("min_probability", "[0, 1]", ""),
            ("noise", "[0, 1)", ": at 1 a token tells nothing of its user"),
        ):
            value = getattr(self, name)
            number = isinstance(value, int | float | np.integer | np.floating)
            within = number and 0.0 <= value <= 1.0 and (value < 1.0 or limit == "[0, 1]")
            unused = number and name == "noise" and self.top_k is None
            if not within and not unused:
                raise OptionError(f"{name} must lie in {limit}, not {value!r}{why}")
        checked_seed(self.seed)
        n_threads(self.threads)

    @property
    def _fitted(self) -> Learnt:
        self._refuse_unfitted("_learnt")
        return self._learnt

    @property
    def _per_nat(self) -> float:
        return (GRID if self._everyone is None else STEPS) * (self.temperature_ or 0.0)

    def _seen(self, queries: Records) -> Habits:
        """Return what was learnt of the second observer's bags, from these queries where there were none before."""
        found = self.look_around(queries)._habits if self._habits is None else self._habits
        assert found is not None  # they are bags
        return found

    def _posed(self, queries: Records) -> Posed:
        """Count the queries; the last ones are kept, since matching asks for the same again and again."""
        self._refuse_unfitted("_known")
        if self._everyone is not None:
            return self._posed_bags(queries)
        learnt = self._fitted
        if self._asked is None or self._asked[0] is not queries:
            asked: Any = gathered(queries)  # a list may change in place: it is never the one kept
            table = widened(self._comparable(asked), learnt.targets.n_epochs, asked.n_epochs)
            self._asked = asked, learnt.laid_out(table)
        return Posed(BayesFactor(learnt.tables, self.threads, self._per_nat), self._known, self._asked[1])

    def _posed_bags(self, queries: Records) -> Posed:
        habits = self._seen(queries)
        if self._asked is None or self._asked[0] is not queries:
            table = replace(Tally.of(self._comparable(queries)), unit=habits.unit)
            self._asked = queries, habits.asked(table)
        scorer = SoftDot(self._per_nat, self.threads, self._targets.n_tokens, habits.softness)
        return Posed(scorer, self._known.facing(habits.model), self._asked[1])

    def _comparable(self, queries: Records) -> Any:
        """Return the queries as one table, of the same kind as the targets and over the same tokens."""
        fitted, (n_epochs, table) = self._targets, one_table(queries, self.name)
        if type(table) is not type(fitted):
            raise DataError(f"the targets are {type(fitted).__name__}, the queries {type(table).__name__}; give alike")
        check_comparable(fitted, table, (self._n_epochs, n_epochs))
        return table

    def _learn_posterior(self) -> None:
        """Learn temperature and bend, once after each fit."""
        learnt = self._fitted
        if learnt.posterior is None:
            learnt.posterior = learn_posterior(learnt, self.seed, self.threads) if self.calibrate else Posterior()
