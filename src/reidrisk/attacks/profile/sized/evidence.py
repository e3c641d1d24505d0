"""Learn the model's parameters without any truth: those under which the queries are most likely.

The evidence of parameters is the mean over queries of log (1 / n) sum over targets t of P(query | t). Whoever made a
query is most likely one of the targets, and a model that says so of the right kind of person makes the query likely.
"""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reidrisk.attacks.profile.sized.facts import MOST_FACTS, MOST_TIMES, WRONG, Facts
from reidrisk.attacks.profile.sized.levels import ItemLevels
from reidrisk.attacks.profile.sized.model import Model
from reidrisk.attacks.profile.sized.rows import STEPS, KnownBags, all_scores
from reidrisk.attacks.profile.sized.scale import log_mean
from reidrisk.attacks.profile.sized.tally import Tally
from reidrisk.attacks.profile.sized.taste import PRECISIONS, Taste
from reidrisk.attacks.profile.sized.volume import CORRELATIONS, Volume, ranks
from reidrisk.base import Floats, stream
from reidrisk.search.sparse import SparseDot

if TYPE_CHECKING:
    from reidrisk.attacks.rehearsed.cutting import Cutting

SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 0.9999)
STRENGTHS = (0.001, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
SPREADS = (math.inf, 10_000.0, 3_000.0, 1_000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0)
_USUAL, _FINE = 300.0, 30.0  # spread up to which all are tried, whatever totals are; and a query's largest count
_QUERIES, _TARGETS, _CANDIDATES = 150, 1_000, 4
FEWEST = 10  # queries from which something is learnt
_LOYAL = tuple((share, 0.1) for share in (0.1, 0.2, 0.3, 0.4, 0.5, 0.7))  # shares of events that records foresee
_MARGIN = 3.0  # nats of a query by which evidence may fall short and still not decide
_MORE = 400, 1_000  # queries and targets from which the noise of levels is learnt
_BURSTS, _SHAPE = 0.5, 0.25  # spread of bursts beside totals, and nats of an item that its shape may be worth
_SHARED = (0.1, 0.2, 0.4)  # shares of a query that are held against none
_TASTE_OF_SETS = 0.2  # nats of an item by which a taste must make sets likelier, of which some items are shared
_TASTE = 0.1  # nats of a query that a taste must be worth: of people without any, chance gives less than 0.01
# Nats of a query by which one of them may be more likely, in all and of an item: people are alike in more ways than a
# taste knows.
_TIE = 1.5, 0.1
_AS_LIKELY = 0.02  # nats of an event by which others may be likelier than facts of which equally many are known
_CLEARLY = 3.0  # standard errors by which facts must be likelier where sizes differ
_NEARLY_ALL, _FEW_WRONG = 0.9, 0.1  # share of queries of one size; and of wrong facts, where sizes differ
_STARTS = tuple((a, b) for a in (2, 5, 8, 11, 15) for b in (1, 4, 6, 8))  # places of share and strength to begin with


@dataclass(frozen=True, eq=False)
class Sample:
    """Some queries and targets, each target standing for ``weight`` of them; of those near a query, none is left out.

    A random part of the targets alone would lack most queries' own: the few that score best are always in it.
    """

    queries: Tally
    targets: Tally
    popularity: Floats
    weight: Floats

    def scores(self, model: Model) -> Floats:
        """Return the (q, n) log Bayes factors."""
        return all_scores(model, self.targets, self.queries, self.popularity)

    def evidence(self, model: Model) -> float:
        """Return the mean over queries of the log-likelihood, relative to independent events of anybody."""
        return float(np.mean(self._of_each(model, self.scores(model))))

    def of_long_enough(self, model: Model) -> Floats:
        """Return the same of each query, if it is of somebody who has at least as many events."""
        less = self.targets.totals < self.queries.totals[:, None]
        scores = np.where(less & ~less.all(axis=1, keepdims=True), -np.inf, self.scores(model))
        return self._of_each(model, scores)

    def _of_each(self, model: Model, scores: Floats) -> Floats:
        return np.asarray(log_mean(scores, self.weight) + _anybody(model, self.queries, self.popularity))


def _anybody(model: Model, queries: Tally, popularity: Floats) -> Floats:
    """Return how much likelier the form finds each query's events if anybody made them than if independent."""
    if model.levels is not None:
        return model.levels.anybody(queries, popularity)
    if not model.bursts:
        return np.zeros(len(queries))
    from scipy.special import gammaln

    urn, times = model.spread * popularity[queries.counts.indices], queries.events
    own = gammaln(urn + times) - gammaln(urn) - times * np.log(urn / model.spread)
    sums = np.bincount(queries.rows, own, minlength=len(queries))
    return np.asarray(sums + gammaln(model.spread) - gammaln(model.spread + queries.totals))


def default(known: KnownBags) -> Model:
    """Return the parameters to begin with, and those used where there are too few queries to learn from."""
    if known.table.distinct:
        return Model(distinct=True)
    return Model(spread=300.0)


def sampled(
    known: KnownBags,
    queries: Tally,
    seed: int,
    most: tuple[int, int] = (_QUERIES, _TARGETS),
    model: Model | None = None,
) -> Sample:
    """Choose ``most`` queries and targets to learn from, by seed and content; ``model`` says who is near a query."""
    table, rng = known.table, stream(seed, "profile bayes evidence")
    asked = queries.in_order(table.holders)
    if len(asked) > most[0]:
        asked = asked[np.sort(rng.choice(len(asked), most[0], replace=False))]
    some = queries.take(asked)
    rows, weight = table.in_order(table.holders), np.ones(len(table))
    if len(table) > most[1] + _CANDIDATES * len(some):
        model = default(known).facing(some) if model is None else model
        scorer = SparseDot(per_nat=STEPS)
        near = np.unique(scorer.candidates(known.facing(model), known.asked(model, some), _CANDIDATES).target)
        chosen = np.zeros(len(table), dtype=np.bool_)
        chosen[rng.choice(rows, most[1], replace=False)] = True
        weight[chosen] = (len(table) - len(near)) / max(int(chosen.sum() - chosen[near].sum()), 1)
        chosen[near], weight[near] = True, 1.0
        rows = rows[chosen[rows]]
    return Sample(some, table.take(rows), known.popularity, weight[rows])


def learn(sample: Sample, distinct: bool, like: Model | None = None) -> Model:
    """Return the parameters of the highest evidence on the grid; ``distinct``: no record holds an item twice.

    ``like`` are those of similar tables, on the grid: then the climb begins there, and their form is taken.
    """
    if like is not None:
        form = replace(like, volume=None, taste=None, levels=None).facing(sample.queries)
        if form.facts is not None:
            return form
        return _climbed(sample, form, (_nearest(SHARES, like.share), _nearest(STRENGTHS, like.strength)))[0]
    forms = [Model(distinct=True).facing(sample.queries)] if distinct else []
    # Much beyond the totals, no burst is seen.
    most, fine = max(float(np.median(sample.queries.totals)), _USUAL), large_counts(sample.queries)
    forms += [Model()] if distinct else [Model(spread=one, fine=fine) for one in SPREADS if one <= most or one > 1e9]
    found, best, place = forms[0], -math.inf, _highest(sample, forms[0])
    for form in forms:
        model, evidence, place = _climbed(sample, form, place)
        if evidence > best:
            found, best = model, evidence
        elif form.bursts:
            break  # evidence rises and then falls with the spread
    return found if distinct else _facts_if_as_likely(sample, found)


def _facts_if_as_likely(sample: Sample, found: Model) -> Model:
    """Return the likeliest model of facts, unless the one that was found is clearly likelier: it has more freedom.

    That is where equally many are known of nearly everybody. Queries of mixed sizes may as well be a part of each
    record, and of few items any part is held by somebody: then facts must be clearly likelier, and hardly any wrong.
    People with fewer events than are known of somebody cannot be asked about, so that both leave them out. (It is not
    asked where both tables are sets: the distinct form covers that.)
    """
    sizes = sample.queries.totals
    if sizes.max(initial=0.0) > MOST_FACTS or sample.queries.events.max(initial=0.0) > MOST_TIMES:
        return found
    equal = np.mean(sizes == np.median(sizes)) >= _NEARLY_ALL
    wrong = [one for one in WRONG if equal or one <= _FEW_WRONG]
    tried = (Model(facts=Facts(share, items)).facing(sample.queries) for items in (False, True) for share in wrong)
    facts, gains = max(((one, sample.of_long_enough(one)) for one in tried), key=lambda one: float(one[1].mean()))
    gains = gains - sample.of_long_enough(found)
    least = _CLEARLY * float(gains.std()) / math.sqrt(len(gains))
    if equal:
        least = -_AS_LIKELY * float(sizes.mean())
    return facts if gains.mean() > least else found


def large_counts(queries: Tally) -> bool:
    """Whether queries usually hold an item so often that what bursts tell must be tabulated for it."""
    most = np.zeros(len(queries))
    np.maximum.at(most, queries.rows, queries.events)
    return bool(np.median(most) > _FINE)


def nearly_as_likely(sample: Sample, model: Model) -> list[Model]:
    """Return models in which little of a query is the person's own, but that little is sure, if evidence allows them.

    Evidence speaks of how queries are drawn on the whole, not of who is told apart: where most of a query is new, much
    of anybody in every record (a large strength) is as likely as this, and finds fewer.
    """
    others = [replace(model, share=share, strength=strength) for share, strength in _LOYAL]
    least = sample.evidence(model) - _MARGIN
    return [other for other in others if sample.evidence(other) >= least]


def learn_levels(sample: Sample, model: Model, known: KnownBags, queries: Tally, seed: int) -> Model:
    """Return the model of levels, where shares differ by more than chance and tables are dense; else the one given.

    It may be a little less likely: counts are no normal curve, but which items go together tells more of who it is than
    their shape does.
    """
    by_chance = not model.bursts or model.spread >= _BURSTS * np.median(queries.totals)
    levels = None if by_chance else ItemLevels.learnt(known.table, queries)
    if levels is None:
        return model
    more = sampled(known, queries, seed, _MORE, model)
    found = Model(levels=levels.likeliest(more.targets, more.queries, more.weight))
    least = sample.evidence(model) - _SHAPE * len(levels.items)
    return found if sample.evidence(found) > least else model


def learn_apart(sample: Sample, taste: Taste | None, related: "Cutting", weighed: bool = False) -> Model | None:
    """Return the model of tables that share no item; ``None`` if queries are likelier where some are shared.

    Asked of which items there are, however often: the forms for counts say more, and of other things. Where real
    queries bear out that nothing is shared, it is not asked: people are alike in more ways than a taste knows, and
    whoever shares is then likelier than anybody. A taste counts if queries
    are clearly likelier by it, and where somebody practises and weighs what it says, in any case: shorter records
    hardly show it.
    """
    items = replace(sample, queries=sample.queries.once(), targets=sample.targets.once())
    tastes = [None, *([] if taste is None else (taste.at(one) for one in PRECISIONS))]
    none = [Model(share=0.0, taste=one, apart=True) for one in tastes]
    some = [Model(share, STRENGTHS[0], taste=one) for one in tastes for share in _SHARED]
    plain, found = none[0], max(none, key=items.evidence)
    if weighed and taste is not None:
        found = max(none[1:], key=items.evidence)
    elif items.evidence(found) <= items.evidence(plain) + _TASTE:
        found = plain
    if related.borne_out:
        return found
    tie = min(_TIE[0], _TIE[1] * float(items.queries.variety.mean()))
    return found if items.evidence(found) > max(map(items.evidence, some)) - tie else None


def with_taste(sample: Sample, model: Model, taste: Taste | None) -> list[Model]:
    """Return the model of sets in which anybody's items are those of the target's taste, if that is clearly likelier.

    Then strangers of one taste, such as students of one subject, are less surprising, and what is shared beyond it
    tells more. A little likelier is not enough: of long records, taste repeats what is shared.
    """
    if taste is None:
        return []
    found = max((replace(model, taste=taste.at(one)) for one in PRECISIONS), key=sample.evidence)
    least = sample.evidence(model) + _TASTE_OF_SETS * float(sample.queries.variety.mean())
    return [found] if sample.evidence(found) > least else []


def learn_volume(sample: Sample, model: Model, known: Tally, queries: Tally) -> Model:
    """Return the model with the correlation of totals of the highest evidence; without, where none has more."""
    if min(np.ptp(known.totals), np.ptp(queries.totals)) == 0.0:
        return model  # one size fits all
    sides = ranks(known.totals), ranks(queries.totals)
    tried = [model, *(replace(model, volume=Volume(one, *sides)) for one in CORRELATIONS)]
    return max(tried, key=sample.evidence)


def _climbed(sample: Sample, form: Model, start: tuple[int, int]) -> tuple[Model, float, tuple[int, int]]:
    """Climb the grid of shares and strengths until no neighbour is higher."""
    seen: dict[tuple[int, int], float] = {}

    def evidence(place: tuple[int, int]) -> float:
        if place not in seen:
            seen[place] = sample.evidence(_at(form, place))
        return seen[place]

    here = start
    for step in (2, 1):
        while True:
            steps = [(0, 0), (-step, 0), (step, 0), (0, -step), (0, step), (step, step), (-step, -step)]
            near = [(here[0] + one, here[1] + two) for one, two in steps]
            near = [(a, b) for a, b in near if 0 <= a < len(SHARES) and 0 <= b < len(STRENGTHS)]
            best = max(near, key=evidence)
            if evidence(best) <= evidence(here):
                break
            here = best
    return _at(form, here), seen[here], here


def _nearest(grid: tuple[float, ...], value: float) -> int:
    return int(np.argmin(np.abs(np.log(grid) - math.log(value))))


def _highest(sample: Sample, form: Model) -> tuple[int, int]:
    """Return where to begin: share and strength make up for each other, and the ridge is long."""
    return max(_STARTS, key=lambda place: sample.evidence(_at(form, place)))


def _at(form: Model, place: tuple[int, int]) -> Model:
    return replace(form, share=SHARES[place[0]], strength=STRENGTHS[place[1]])
