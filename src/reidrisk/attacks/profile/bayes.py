"""ProfileBayes: two records are of one user if one set of interests explains both better than two sets would.

The papers' attacks either ignore when a token was seen (jha) or ignore everything but the same epoch (carey). Interests
persist, and in one epoch both observers draw from one top set: both are evidence, and here they are weighed together.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.base import Attack, Links, check_comparable, check_k
from reidrisk.attacks.pooled import Pooled, gathered
from reidrisk.attacks.profile import calibration, kernel
from reidrisk.attacks.profile.counts import Counts, Ladder, count, one_table, widened
from reidrisk.attacks.profile.factor import QUERIES, BayesFactor, Known
from reidrisk.attacks.profile.learnt import Learnt
from reidrisk.attacks.profile.prior import Prior
from reidrisk.attacks.registry import per_pair, register
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.options import whole_up_to
from reidrisk.base.parallel import each, n_threads
from reidrisk.base.streams import checked_seed, stream
from reidrisk.mechanisms import TopKNoise
from reidrisk.records import Bags, Traces
from reidrisk.search.engines import Engine, LocalEngine
from reidrisk.search.weights import GRID

Ints = npt.NDArray[np.int64]
Records = Traces | Pooled | Sequence[Traces] | Bags

_SCORES = 4_000_000  # scores held at once for candidates
_SIMULATED, _ROUNDS = 1_000, 8  # simulated users aimed at in all, and rounds in which to reach them, at most


@register(kinds=(Traces, Bags), cost=per_pair(3e-9), default=True, up_to=0.36, epochs=2)
class ProfileBayes(Attack[Records]):
    r"""Link to the target with the highest Bayes factor: P(both records | one user) / P(both records | two users).

    A user has, for each token v, a rate theta_v: the probability that an observer sees v in an epoch. Rates are
    unknown and have a prior F_v, learnt from the targets alone. For a pair with c and d sights of v, m of them in the
    same epoch,

        score = log sum_z w_z prod_v E[p11^m p10^(c-m) p01^(d-m) p00^(r-c-d+m)]  -  log P(query)  -  log P(target),

    where E averages over F_v of the kind of user z, w_z is how common the kind is, and p11, … are the probabilities
    that both observers, one of them or neither see v in an epoch (see :mod:`reidrisk.attacks.profile.tables`). Where a
    system shows one of ``top_k`` tokens held for a user, p11 exceeds theta^2: seeing a token in the same epoch tells
    more than seeing it in two. The posterior over targets is the link's probability, softened by a temperature learnt
    on simulated users. Missing tokens add nothing; with gaps the epochs seen by both are counted in expectation. Where
    a token comes more often than tables can hold (64 times, or 255 without ``top_k``), several epochs are taken for
    one: counts and epochs are divided by the same number and rounded.
    Observers who pool what they saw stand side by side as more epochs: their counts add up, while the same epoch is
    compared with the first of them alone.
    The problem is that of jha, Section 3; the attack is ours.

    Parameters
    ----------
    top_k : int, optional
        Size of the top sets from which the system draws; without it nothing is made of the same epoch, and the
        attack needs no model of the system. Bags always do without.
    noise : float
        Probability that the system shows a uniformly random token instead; used with ``top_k`` only.
    kinds : int
        Kinds of users that the prior tells apart, at most.
    absent : float
        Prior probability that a query's user is not among the targets; it lowers the probabilities.
    min_probability : float
        Below it there is no answer.
    calibrate : bool
        Whether to learn the temperature (only done when a probability is asked for); otherwise it is 1.
    seed : int
        Seed of the simulated users, and of the choice of targets to learn from when there are more than 20,000.
        What is drawn depends on the seed and on what the targets hold, not on the order of their rows.
    threads : int, optional
        Threads to use, one for each core when missing; the answer does not depend on it.

    Attributes
    ----------
    prior_ : Prior
        What was learnt of the rates.
    temperature_ : float
        Set by the first ``link`` that needs a probability.

    Examples
    --------
    The first query has the first target's tokens in another order.

    >>> targets = Traces([[1, 2, 1, 2, 1], [3, 4, 3, 3, 4], [5, 6, 5, 6, 6]], n_tokens=9)
    >>> attack = ProfileBayes(top_k=2, noise=0.05).fit(targets)
    >>> attack.link(Traces([[2, 1, 2, 1, 1], [4, 4, 3, 0, 3]], n_tokens=9)).target.tolist()
    [0, 1]
    """

    def __init__(
        self,
        top_k: int | None = None,
        noise: float = 0.05,
        kinds: int = 3,
        absent: float = 0.0,
        min_probability: float = 0.0,
        calibrate: bool = True,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.top_k = top_k
        self.noise = noise
        self.kinds = kinds
        self.absent = absent
        self.min_probability = min_probability
        self.calibrate = calibrate
        self.seed = seed
        self.threads = threads

    @classmethod
    def knowing(cls, mechanism: TopKNoise, seed: int = 0) -> Self:
        """Return the attacker who knows the size of top sets where it was declared, and uses no more than that."""
        # Of a system that was not declared nothing is assumed about the same epoch.
        top_k = None if mechanism.declared == "nothing" else mechanism.top_k
        return cls(top_k, mechanism.noise, seed=seed)

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        system = (
            "It knows nothing of the system"
            if self.top_k is None
            else f"It knows that the system shows one of {self.top_k} tokens held for a user, and a random one with "
            f"probability {self.noise:g}"
        )
        return (
            "Weighs how much better one set of lasting interests explains two records than two sets would, whenever "
            f"the tokens were seen. {system}; how interests are spread it learns from the targets alone (our own)."
        )

    @property
    def prior_(self) -> Prior:
        """What was learnt of the rates."""
        return self._fitted.prior

    @property
    def temperature_(self) -> float | None:
        """Temperature of the probabilities; None until one was asked for."""
        return self._fitted.temperature

    def fit(self, targets: Records) -> Self:
        """Learn how rates are spread, and lay the targets out by token; a list of observers is pooled."""
        return self._fit(targets)

    def _fit(self, targets: Records, ladder: Ladder | None = None) -> Self:
        self._check_options()
        self._n_epochs, table = one_table(targets, self.name)
        system = None if self.top_k is None else (self.top_k, self.noise)
        self._learnt = Learnt(table, system, self.kinds, self.seed, ladder)
        self._look_at(self._learnt.counts, self._learnt.evidence(self._learnt.counts))
        return self

    def narrowed(self, rows: Ints) -> ProfileBayes:
        """Return this attacker, with all it has learnt, looking at these target rows only; its row i is ``rows[i]``."""
        learnt, rows = self._fitted, self._chosen(rows, len(self._counts))
        new = copy(self)
        new._learnt = learnt
        new._look_at(self._counts.take(rows), self._alone[rows])
        return new

    def _look_at(self, counts: Counts, alone: Ints) -> None:
        """Look at these targets."""
        self._counts, self._alone, self._known = counts, alone, Known(counts, alone)
        self._asked: tuple[Records, Counts, Ints] | None = None

    def link(self, queries: Records, probability: bool = False, *, engine: Engine | None = None) -> Links:
        """Link every query to its best target, or to none where that is less than ``min_probability`` sure."""
        asked, alone = self._prepare(queries)
        scorer = BayesFactor(self._learnt.tables, self.threads)
        if not (probability or self.min_probability > 0.0):
            found = (engine or LocalEngine()).best(scorer, self._known, (asked, alone))
            return Links(target=found.target, score=found.score, n_ties=found.n_ties)
        # The posterior is a sum over all targets, which are here: it finds the best on its way.
        nats = 1.0 / (GRID * self._temperature())
        (best, ties, first), total = scorer.summed(self._known, asked, alone, nats)
        odds = self.absent / (1.0 - self.absent) * len(self._counts)
        others = odds * np.exp(-np.minimum(np.maximum(best * nats, -700.0), 700.0)) if odds else 0.0
        sure = 1.0 / (total / kernel.UNIT + others)
        target = np.where(sure >= self.min_probability, first, -1)
        return Links(target=target, score=best, n_ties=ties, probability=sure)

    def score(self, queries: Records, target_index: Ints) -> Ints:
        """Return the log Bayes factor of each query with the given target row, in steps of the grid."""
        asked, alone = self._prepare(queries)
        rows = self._rows(target_index, len(asked), len(self._counts)).astype(np.int64)
        out = np.empty(len(asked), dtype=np.int64)
        kernel.pair_scores(self._known.records, asked.beside(alone), self._learnt.tables.evidence, rows, out)
        return out

    def candidates(self, queries: Records, k: int, among: Ints | None = None) -> tuple[Ints, Ints]:
        """Return the k best targets of each query and their scores, best first."""
        if among is not None:
            narrow = self.narrowed(among)
            found, scores = narrow.candidates(queries, k)
            return np.asarray(among, dtype=np.int64)[found], scores
        asked, alone = self._prepare(queries)
        records, evidence, counts = asked.beside(alone), self._learnt.tables.evidence, self._counts
        check_k(k, len(counts))
        found, scores = (np.empty((len(asked), k), dtype=np.int64) for _ in range(2))
        size = max(1, min(QUERIES, _SCORES // len(counts)))
        no_limit = np.full(len(asked), -1)
        for rung, rows in asked.by_rung():
            known = self._known.facing(self._learnt.tables, rung)

            def work(part: Ints, known: kernel.LaidOut = known) -> None:
                every = np.empty((len(part), len(counts)), dtype=np.int64)
                kernel.all_rows(known, records, evidence, part, no_limit[part], every)
                for row, values in zip(part, every, strict=True):
                    best = _k_best(values, k)
                    found[row], scores[row] = best, values[best]

            self._parallel(work, rows, size)
        return found, scores

    def near_best(self, queries: Records, reach: Ints) -> Ints | None:
        """Return the scores of every query and target near its best; ``None`` where unsure links are not given."""
        if self.min_probability > 0.0:
            return None
        asked, alone = self._prepare(queries)
        records, evidence = asked.beside(alone), self._learnt.tables.evidence
        out = np.empty((len(asked), len(self._counts)), dtype=np.int64)
        for rung, rows in asked.by_rung():
            known = self._known.facing(self._learnt.tables, rung)

            def work(part: Ints, known: kernel.LaidOut = known) -> None:
                every = np.empty((len(part), len(self._counts)), dtype=np.int64)
                kernel.all_rows(known, records, evidence, part, reach[part], every)
                out[part] = every

            self._parallel(work, rows)
        return out

    def _check_options(self) -> None:
        whole_up_to("kinds", self.kinds, 64)
        if self.top_k is not None and (isinstance(self.top_k, bool) or not isinstance(self.top_k, int | np.integer)):
            raise OptionError(f"top_k must be a whole number of tokens or None, not {self.top_k!r}")
        for name, limit, why in (
            ("absent", "[0, 1)", ": at 1 nobody is there to be found"),
            ("min_probability", "[0, 1]", ""),
            ("noise", "[0, 1)", ": at 1 a token tells nothing of its user"),
        ):
            value = getattr(self, name)
            number = isinstance(value, int | float | np.integer | np.floating)
            if number and name == "noise" and self.top_k is None:
                continue  # it is not used
            if not number or not 0.0 <= value <= 1.0 or (value == 1.0 and limit == "[0, 1)"):
                raise OptionError(f"{name} must lie in {limit}, not {value!r}{why}")
        checked_seed(self.seed)
        n_threads(self.threads)

    @property
    def _fitted(self) -> Learnt:
        self._refuse_unfitted("_learnt")
        return self._learnt

    def _prepare(self, queries: Records) -> tuple[Counts, Ints]:
        """Count the queries; the last ones are kept, since matching asks for the same again and again."""
        learnt = self._fitted
        fitted = learnt.targets
        if self._asked is not None and self._asked[0] is queries:
            return self._asked[1], self._asked[2]
        queries = gathered(queries)  # a list may change in place: it is never the one kept
        n_epochs, table = one_table(queries, self.name)
        if type(table) is not type(fitted):
            raise DataError(f"the targets are {type(fitted).__name__}, the queries {type(table).__name__}; give alike")
        check_comparable(fitted, table, (self._n_epochs, n_epochs))
        if isinstance(table, Traces) and isinstance(fitted, Traces):
            table = widened(table, fitted.n_epochs, n_epochs)
        asked = count(table, learnt.ladder)
        learnt.make_room(asked)
        self._asked = (queries, asked, learnt.evidence(asked))
        return asked, self._asked[2]

    def _parallel(self, work: Any, rows: Ints, size: int = QUERIES) -> None:
        each(work, [rows[start : start + size] for start in range(0, len(rows), size)], self.threads)

    def _temperature(self) -> float:
        """Return the temperature, learnt once after each fit, from all targets."""
        learnt = self._learnt
        if learnt.temperature is None:
            n = calibration.n_simulated(len(learnt.targets), learnt.targets.n_tokens) if self.calibrate else 0
            learnt.temperature = self._learnt_temperature(learnt, n) if n > 1 else 1.0
        return learnt.temperature

    def _learnt_temperature(self, learnt: Learnt, n: int) -> float:
        """Link simulated users, in several rounds where there are few, and fit the temperature to all of them."""
        rounds = []
        for number in range(min(_ROUNDS, -(-_SIMULATED // n))):
            rng = stream(self.seed, "profile bayes calibration", number)
            one, two = calibration.simulate_pair(
                learnt.targets, learnt.counts, learnt.ladder, learnt.prior, n, learnt.system, rng, learnt.order
            )
            if isinstance(one, Traces) and not one.observed.any():
                continue  # a few people with many gaps, and by chance nobody was seen: nothing to learn from
            fresh = ProfileBayes(
                self.top_k, self.noise, self.kinds, calibrate=False, seed=self.seed, threads=self.threads
            )
            order, scores = fresh._fit(one, learnt.ladder).candidates(two, n)
            matrix = np.empty_like(scores)
            np.put_along_axis(matrix, order, scores, axis=1)
            rounds.append(matrix)
        return calibration.best_temperature(rounds, learnt.ladder.every) if rounds else 1.0


def _k_best(values: Ints, k: int) -> Ints:
    """Return the places of the k highest values, highest first, the first among equals first."""
    if k < len(values) // 4:
        limit = np.partition(values, len(values) - k)[len(values) - k]
        near = np.flatnonzero(values >= limit)
        return near[np.argsort(-values[near], kind="stable")[:k]]
    return np.argsort(-values, kind="stable")[:k]
