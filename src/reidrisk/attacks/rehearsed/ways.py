"""How to cut a target so that the cut looks like the real case, found without truth.

The real queries may be part of the records that the targets hold (somebody knows a few facts), or other events of the
same people, or share some. Each way to cut is tried: queries taken that way from targets, and real queries of the same
sizes, are compared with what is left. How well the best targets explain a query must be the same on average.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from reidrisk.attacks.profile.bayes import ProfileBayes
from reidrisk.attacks.profile.sized import Model
from reidrisk.attacks.profile.sized.distinct import shown
from reidrisk.attacks.rehearsed.apart import as_likely, borne_out
from reidrisk.attacks.rehearsed.cutting import Cutting, shares_items
from reidrisk.attacks.rehearsed.explained import (
    anybody,
    held_factors,
    mean_log,
    once,
    totals_of,
)
from reidrisk.attacks.rehearsed.panel import reference
from reidrisk.attacks.rehearsed.strangers import Excess, excess, same_amounts
from reidrisk.attacks.rehearsed.yardstick import Yardstick, likeliest_mixture
from reidrisk.records import Bags, Case
from reidrisk.records.cut import Way

_QUERIES, _FITTED, _SCORES = 600, 200, 2_000_000
_LONGER, _ENOUGH = 2.0, 200  # times as much in queries as in targets from which queries are cut, if there are as many
_WRONG = (0.02, 0.2)  # share of queries that are not wholly held by their target, where most are
_SURE, _SURER = 2.0, 3.0  # standard errors from which a difference is taken for one
_SIGN = 1.5  # standard errors from which different items are a sign that something is shared
_OTHERS = -3.0  # standard errors below which queries share so much less than strangers that both cannot be compared
_CLEAR = 8.0  # standard errors from which queries share something, whatever a rehearsal shares
_NEARLY = 0.25, 0.1  # of what a rehearsal shares: less is taken for nothing; the latter of items held once each
_CLOSE_CALL = 0.1  # nats of an event by which other ways may be likelier than facts: a model with more forms decides
_SEEN_WRONG = 0.02  # share of wrong facts from which they are rehearsed
_FEW, _MANY = 20, 100  # records with two visits: below none can be practised on, above always
_TORN = 0.6  # size of a query's visits, of that of targets' visits, below which they are parts of visits
_ELSEWHERE, _SEVERAL = 0.2, 5  # share of queries' events of items, and holders on one side if nobody on the other
_HALF = 0.5  # a share that is kept, which must be excluded before none is taken to be kept
_KEPT = (0.0, 0.1, 0.2, 0.3, 0.4, _HALF, 0.6, 0.75)


def with_wrong_facts(cutting: Cutting, targets: Bags, queries: Bags, seed: int) -> Cutting:
    """Return the cutting with as many wrong facts as real queries seem to hold, where these are facts."""
    model = _model(targets, queries, seed) if cutting.way == "held" else None
    if model is None or not (model.distinct or model.facts is not None):
        return cutting
    wrong = 1.0 - model.share if model.facts is None else model.facts.wrong
    return replace(cutting, wrong=wrong if wrong >= _SEEN_WRONG else 0.0)


def find_way(targets: Bags, queries: Bags, seed: int, sharing: bool = False) -> Cutting:
    """Return the way of cutting targets that looks most like the real case.

    With ``sharing``, that the two sides share nothing is no answer. Where queries hold far more than targets, parts of
    targets would be shorter still, and look like neither side: then queries are cut.

    >>> rng = np.random.default_rng(0)
    >>> plays = Bags(rng.poisson(rng.gamma(0.2, 2.0, (200, 60))) + np.eye(200, 60, dtype=int))
    >>> from reidrisk.records.cut import cut
    >>> known = cut(plays, np.array([5]), seed=0, way="held")
    >>> find_way(known.targets, known.queries, seed=0).way
    'held'
    """
    if _longer(queries, targets):
        found = find_way(queries, targets, seed, sharing)
        if found.way in ("part", "visits"):
            return replace(found, turned=True)
    targets, queries = _in_both(targets, queries)
    most = _how_many(targets)
    few = queries.take(reference(queries, most))
    fewer = queries.take(reference(queries, min(most, _FITTED)))
    gain = likeliest_mixture(targets, fewer)[-1]
    held = _held(targets, fewer)
    if held > gain and (sharing or not _held_by_strangers(targets, queries, few, seed)):
        units = once(targets)
        more = _held(units, fewer) + anybody(units, fewer) - held - anybody(targets, fewer)
        return Cutting("held", once=more > 0.0)
    if gain >= held > gain - _CLOSE_CALL * totals_of(fewer).mean():
        model = _model(targets, queries, seed)
        if model is not None and model.facts is not None:
            return Cutting("held", once=model.facts.items)
    yardstick = Yardstick.of(targets, few, seed)
    shares = excess(targets, queries, seed)
    found = _other_events(targets, queries, few, yardstick, shares, sharing, seed)
    return replace(found, shared=shares.errors > _SURE)


def _longer(queries: Bags, targets: Bags) -> bool:
    """Whether queries hold so much more than targets that they are better cut, and are enough."""
    if len(queries) < min(len(targets), _ENOUGH):
        return False
    return bool(totals_of(queries).mean() >= _LONGER * totals_of(targets).mean())


def _how_many(targets: Bags) -> int:
    """Return how many queries are looked at."""
    return int(np.clip(_SCORES // len(targets), 100, _QUERIES))


def _in_both(targets: Bags, queries: Bags) -> tuple[Bags, Bags]:
    """Return both without items that several people hold on one side and nobody on the other, where these are many.

    What the other shop does not sell is shared by nobody, and says nothing of how the two tables are related. Where
    hardly a record would be left, as of labels in two languages, both stay as they are.
    """
    holders = [np.bincount(bags.counts.indices, minlength=bags.n_tokens) for bags in (targets, queries)]
    both = (np.minimum(*holders) > 0) | (np.maximum(*holders) < _SEVERAL)
    asked = np.asarray(queries.counts.sum(axis=0), dtype=np.float64).ravel()
    if asked[~both].sum() <= _ELSEWHERE * asked.sum():
        return targets, queries
    one, two = (bags.with_counts(bags.counts.data * both[bags.counts.indices]) for bags in (targets, queries))
    asking = np.flatnonzero(np.diff(two.counts.indptr))
    if min(len(asking), int((totals_of(one) >= 2).sum())) < _FEW:
        return targets, queries
    return one, two.take(asking)


def _other_events(
    targets: Bags, queries: Bags, few: Bags, yardstick: Yardstick, shares: Excess, sharing: bool, seed: int
) -> Cutting:
    """Return how queries that are no facts of the targets are related to them; ``few`` of the queries are looked at.

    ``shares`` is what they are seen to share. With ``sharing``, that they share nothing is no answer.
    """

    def tried(way: Way, kept: float = 0.0) -> Cutting:
        return yardstick.compared(Cutting(way, kept), targets, few, seed)

    def would_show(nothing: bool) -> bool:
        # A cut event by event shares far more than two real tables do if amounts come in one piece. Whole items tell.
        one, some = (none, half) if nothing else (tried("apart"), tried("apart", _HALF))
        return some.distance - one.distance > _SURER

    none, half = tried("part"), tried("part", _HALF)
    divisible = not sharing and separable(targets, few)
    if divisible and none.distance > _SURER and shares.errors > _SURE:
        apart = tried("apart")
        if -2.0 * none.distance < apart.distance < -_SURER:
            return _crossing(lambda kept: tried("apart", kept), {0.0: apart})
    if _whole_visits(targets, queries):
        none = tried("visits")
    cut_once = none.rehearse(targets, queries, seed)
    nothing = not shares_items(cut_once)  # each item is held once: what was taken out of a record is not in it
    if nothing:
        cut_once = Cutting("part", _HALF).rehearse(targets, queries, seed)
    # That nothing is shared is believed only if it would have been seen: sharing will count against a target, and
    # nobody is found if that is wrong.
    different = excess(once(targets), once(queries), seed).errors
    no_sign = divisible and _OTHERS < different <= _SIGN
    seen = shares.errors <= _SURE and (
        (no_sign and as_likely(targets, queries, seed)) or (divisible and borne_out(targets, queries, seed))
    )
    if seen or (no_sign and _hidden(shares, cut_once, _NEARLY[nothing], seed) and would_show(nothing)):
        return replace(none if nothing else Cutting("apart"), nothing=nothing, borne_out=seen)
    if nothing:
        return Cutting("part", max(_share(targets, queries, seed), _HALF))  # with less there is little to practise on
    if none.way == "part" and none.distance > _SURER and same_amounts(targets, queries, seed) > _SURER:
        # Lines of an item with its amount went to either side, some to both: cut one by one, far too much is alike.
        return min((tried("apart", kept) for kept in _KEPT[1:]), key=lambda one: abs(one.distance))
    # Above: later habits differ, and people with two visits come back more often. No way of cutting shares less.
    if none.distance > _SURER or (none.distance >= -_SURE and half.distance > _SURE):
        return none
    explained = yardstick.telling or shares.errors > _SURE
    if not explained and half.distance - none.distance < _SURER:
        return none  # items tell nothing, and whatever is kept looks the same
    return _crossing(lambda kept: tried("part", kept), {0.0: none, _HALF: half})


def _share(targets: Bags, queries: Bags, seed: int) -> float:
    """Return the share of a query's items that its target holds, as a model of sets learns it from real queries.

    An event is the target's with some probability. That is more than the share of different items, of which the target
    has no more than it holds; but where records differ in size, taking all for alike makes it too small. The middle of
    both was off by 0.06 at most on simulated sets that share three tenths or more.
    """
    model = _model(targets, queries, seed)
    if model is None:
        return _HALF
    held, asked = (float(np.diff(bags.counts.indptr).mean()) for bags in (targets, queries))
    own = model.share * held / (held + model.strength)  # a large strength says that most is anybody's
    popular = np.asarray(targets.counts.sum(axis=0), dtype=np.float64).ravel()
    anybody = float((once(targets).counts @ popular).mean() / popular.sum())
    return (own + shown(own + (1.0 - own) * anybody, max(round(held), 1), max(round(asked), 1))) / 2.0


def _model(targets: Bags, queries: Bags, seed: int) -> Model | None:
    """Return the model under which real queries are most likely, if something is shared."""
    return ProfileBayes(seed=seed).practising(Cutting("part", _HALF)).fit(targets).look_around(queries).model_


def _held(targets: Bags, queries: Bags) -> float:
    """Return how likely queries are as draws from a target, of all events or of some.

    Where all hold equally much, as facts that somebody knows of each do, people with fewer events were not asked for.
    """
    sizes, rows = totals_of(queries), np.arange(len(targets))
    if sizes.min() == sizes.max():
        enough = np.flatnonzero(totals_of(targets) >= sizes.max())
        rows = enough if len(enough) >= _FEW else rows
    return max(float(mean_log(held_factors(targets, queries, wrong)[:, rows]).mean()) for wrong in _WRONG)


def _held_by_strangers(targets: Bags, queries: Bags, few: Bags, seed: int) -> bool:
    """Whether targets hold facts of strangers about as much, and real queries say that nothing is shared.

    Of few items that most people have, somebody holds any few of them.
    """
    if excess(targets, queries, seed, facts=True).errors > _SURE:
        return False
    return separable(targets, few) and borne_out(targets, queries, seed)


def separable(targets: Bags, queries: Bags) -> bool:
    """Whether most queries can each be given a target that shares no item with them, no two of them the same.

    Where whole items went to one side, their own targets would do. One short record, which shares nothing with many,
    is the own target of one of them at most.

    >>> rng = np.random.default_rng(0)
    >>> dense = Bags(np.vstack([rng.poisson(2.0, (30, 8)), np.eye(8, dtype=int)]))
    >>> separable(dense, dense), separable(Bags(np.eye(8, dtype=int)), Bags(np.eye(8, dtype=int)))
    (False, True)
    """
    from scipy import sparse
    from scipy.sparse.csgraph import maximum_bipartite_matching

    n, wanted = len(targets), min(len(queries), len(targets))
    common = (once(queries).counts @ once(targets).counts.T.tocsr()).tocsr()
    free = n - np.diff(common.indptr)
    hard = np.flatnonzero(free < wanted)  # the others find one that is left, whoever the rest are given
    own = maximum_bipartite_matching(sparse.csr_array(common[hard].toarray() == 0), perm_type="column")
    return bool(min(len(free) - len(hard), wanted) + np.sum(own >= 0) > _HALF * wanted)


def _hidden(shares: Excess, case: Case, nearly: float, seed: int) -> bool:
    """Whether real queries share nearly nothing, although queries of such a rehearsal would be seen to share."""
    if not _OTHERS < shares.errors <= _CLEAR:
        return False
    seen = excess(case.targets, case.queries, seed)
    return seen.above(shares) > _SURER and shares.nats < nearly * seen.nats


def _whole_visits(targets: Bags, queries: Bags) -> bool:
    """Whether queries seem to hold whole visits, and enough records have two or more to practise on.

    Where each event went to one side by itself, the smaller side is left with smaller visits.
    """
    known, asked = targets.visits, queries.visits
    if known is None or asked is None:
        return False
    whole = bool(asked.sizes.mean() >= _TORN * known.sizes.mean())
    several = int((known.per_record >= 2).sum())
    return whole and several >= min(_MANY, max(len(targets) / 5, _FEW))


def _crossing(tried: Callable[[float], Cutting], known: dict[float, Cutting]) -> Cutting:
    """Return the share at which rehearsed queries are as well explained as real ones, or the nearest to it.

    Some were tried before. The more is kept, the better they are explained, so that what is found is made to rise by
    the least squares: of short records it is mostly chance.
    """
    from scipy.optimize import isotonic_regression

    found = [known.get(kept) or tried(kept) for kept in _KEPT]
    if found[0].distance >= 0.0:
        return found[0]  # more that is kept is explained better still
    rising = isotonic_regression([one.distance for one in found]).x
    if rising[0] >= 0.0 or rising[-1] < 0.0:
        return found[0 if rising[0] >= 0.0 else -1]
    after = int(np.argmax(rising >= 0.0))
    one, two = found[after - 1], found[after]
    near = -rising[after - 1] / (rising[after] - rising[after - 1])
    return Cutting(two.way, one.kept + float(near) * (two.kept - one.kept))
