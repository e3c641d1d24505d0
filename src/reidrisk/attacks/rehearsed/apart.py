"""Do real queries bear it out that whole items went to one side? Told without truth, by people who are not there.

Then a person's own target is of the query's taste and shares nothing with it, and few strangers of that taste do: of
long records, hardly any. So the best target by taste gains if what is shared is held against targets. A third of the
targets at a time is asked for among the others, where none of them is: the best targets of such strangers, with records
as long and of items as common as those of queries, do not gain as much by it. Where items are shared, people lose their
own targets by it, and gain less than strangers.

That is asked of which items there are, however often.
"""

from __future__ import annotations

import math

import numpy as np

from reidrisk.attacks.profile.sized.model import Model
from reidrisk.attacks.profile.sized.rows import all_scores
from reidrisk.attacks.profile.sized.tally import Tally
from reidrisk.attacks.profile.sized.taste import PRECISIONS, Taste
from reidrisk.attacks.rehearsed.explained import mean_log, once, totals_of
from reidrisk.attacks.rehearsed.panel import fingerprints
from reidrisk.attacks.rehearsed.strangers import Excess, excess
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.streams import stream
from reidrisk.records import Bags
from reidrisk.records.thinning import drawn

_FOLDS, _FEWEST = 3, 5  # and people of a fold
_PEOPLE, _TARGETS = 800, 10_000
_CLEAR, _EACH = 3.0, 0.5  # standard errors in all, and of each fold
_SHORT = 0.25  # of the usual number of items, below which a target shares nothing with most people
_ASKED = 200  # queries of which it is asked how likely they are
_SHARED, _ANYBODY = (0.1, 0.2, 0.4), 0.001  # shares of a query that are held against none, and how much is anybody's
_TELLS = 0.1  # nats of a query from which a model tells something
_NEARLY, _AT_MOST = 0.1, 1.5  # nats of an item by which queries may be less likely, and of all items of a query at most
_LESS = -6.0  # standard errors of what is shared beyond strangers, of items made as common: people of other tastes


def borne_out(targets: Bags, queries: Bags, seed: int) -> bool:
    """Whether queries gain clearly more than strangers do if what is shared is held against targets.

    >>> rng = np.random.default_rng(0)
    >>> held = rng.random((400, 60)) < rng.beta(2.0, 2.0, (400, 60))
    >>> side = rng.random((400, 60)) < 0.5
    >>> one, two = (Bags((held & part).astype(int)) for part in (side, ~side))
    >>> borne_out(one, two, seed=0)
    True
    >>> borne_out(one.take(slice(0, 200)), two.take(slice(200, 400)), seed=0)
    False
    """
    found = gains(targets, queries, seed)
    if not found or together(found).errors <= _CLEAR or min(together([one]).errors for one in found) <= _EACH:
        return False
    # People of quite other tastes share less with everybody.
    people, strangers = _as_common(_some(queries, _PEOPLE), _some(targets, _TARGETS), stream(seed, "rehearsal: apart"))
    return excess(strangers, people, seed).errors > _LESS


def as_likely(targets: Bags, queries: Bags, seed: int) -> bool:
    """Whether queries are about as likely if they share nothing with their targets, and that says who they are of.

    A little less likely will do: people are alike in more ways than a taste knows, and whoever shares is then likelier
    than anybody. Where the model that finds its target by what is *not* shared tells nothing, sharing is taken for
    granted.

    >>> rng = np.random.default_rng(0)
    >>> held = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 80)) + rng.normal(size=(300, 80)) > 0.0
    >>> sides = rng.random((2, 300, 80)) < 0.5
    >>> one, two, three = (Bags((held & part).astype(int)) for part in (sides[0], ~sides[0], sides[1]))
    >>> as_likely(one, two, seed=0), as_likely(one, three, seed=0)
    (True, False)
    """
    # What is sold in one season alone is shared by nobody.
    asked, known = _as_common(_some(queries, _ASKED), _some(targets, _TARGETS), stream(seed, "rehearsal: apart"))
    if not (known.counts.nnz and asked.counts.nnz):
        return False
    table, few = Tally.of(known), Tally.of(asked)
    taste = Taste.learnt(table, table.popularity, seed)
    tastes = [None, *(() if taste is None else map(taste.at, PRECISIONS))]
    none, some = (
        max(float(mean_log(all_scores(model, table, few, table.popularity)).mean()) for model in models)
        for models in (
            [Model(0.0, taste=one, apart=True) for one in tastes],
            [Model(share, _ANYBODY, taste=one) for share in _SHARED for one in tastes],
        )
    )
    return none > max(_TELLS, some - min(_NEARLY * float(few.variety.mean()), _AT_MOST))


def together(found: list[Floats]) -> Excess:
    """Return the mean of all that was found, with its error; nothing where nothing was.

    >>> together([]).errors
    0.0
    """
    each = np.concatenate(found) if found else np.zeros(1)
    return Excess(float(each.mean()), math.sqrt(each.var() / len(each)) if found else 1.0)


def gains(targets: Bags, queries: Bags, seed: int) -> list[Floats]:
    """Return how much more best scores of queries rise than strangers', if sharing is held against; fold by fold."""
    rng = stream(seed, "rehearsal: apart")
    known, asked = targets.take(_usual(targets, _TARGETS)), queries.take(_usual(queries, _PEOPLE))
    if not len(known) or not len(asked):
        return []
    long = _as_long(asked, known, rng) if max(known.counts.max(), asked.counts.max()) > 1 else (asked, known)
    people, strangers = _as_common(once(long[0]), once(long[1]), rng)
    known = once(known)
    folds = rng.permutation(len(known)) % _FOLDS, rng.permutation(len(asked)) % _FOLDS
    found: list[Floats] = []
    precision = None
    for fold in range(_FOLDS):
        there, away = (np.flatnonzero((folds[0] == fold) == one) for one in (False, True))
        both = _alike(people.take(np.flatnonzero(folds[1] == fold)), strangers.take(away), rng)
        if both is None:
            continue
        table, tables = Tally.of(known.take(there)), [Tally.of(one) for one in both]
        taste = Taste.learnt(table, table.popularity, seed)
        if not found:
            precision = _precision(table, tables, taste)
        at = None if taste is None or precision is None else taste.at(precision)
        against, plain = (
            [all_scores(model, table, one, table.popularity).max(axis=1) for one in tables]
            for model in (Model(0.0, taste=at, apart=True), Model(0.0, taste=at))
        )
        found.append((against[0] - plain[0]) - (against[1] - plain[1]))
    return found


def _as_long(asked: Bags, known: Bags, rng: np.random.Generator) -> tuple[Bags, Bags]:
    """Return both with as many events as records of the same rank on the other side have, at most.

    Of many events of a few items, what is left of a record is what it holds most of.
    """
    sizes = [totals_of(bags).astype(np.int64) for bags in (asked, known)]
    both = []
    for bags, own, other in zip((asked, known), sizes, sizes[::-1], strict=True):
        rank = np.argsort(np.argsort(own, kind="stable"), kind="stable")
        most = np.sort(other)[rank * len(other) // len(own)]
        both.append(bags.with_counts(drawn(bags.counts, np.minimum(own, most), rng)))
    return both[0], both[1]


def _some(bags: Bags, most: int) -> Bags:
    """Return some records that are not far shorter than usual, each item once."""
    return once(bags.take(_usual(bags, most)))


def _usual(bags: Bags, most: int) -> Ints:
    """Return the rows of some records that are not far shorter than usual, in the same order however rows lie."""
    sizes = np.diff(bags.counts.indptr)
    least = max(_SHORT * float(np.median(sizes[sizes > 0])), 1.0) if sizes.any() else 1.0
    rows = np.argsort(fingerprints(bags), kind="stable")
    return np.asarray(rows[sizes[rows] >= least][:most])


def _as_common(asked: Bags, known: Bags, rng: np.random.Generator) -> tuple[Bags, Bags]:
    """Return both with as many items left out by lot as make each item as common in one as in the other.

    What is sold in one shop only, or heard in one season, is shared by nobody; that says nothing of who it is.
    """
    common = [np.bincount(bags.counts.indices, minlength=bags.n_tokens) / len(bags) for bags in (asked, known)]
    least = np.minimum(*common)
    both = []
    for bags, share in zip((asked, known), common, strict=True):
        keep = (least / np.maximum(share, 1e-300))[bags.counts.indices]
        both.append(bags.with_counts((rng.random(len(keep)) < keep).astype(np.int64)))
    return both[0], both[1]


def _alike(asked: Bags, strangers: Bags, rng: np.random.Generator) -> tuple[Bags, Bags] | None:
    """Return as many of both, of the same sizes: in the order of size, the longer of two is thinned."""
    asked, strangers = (bags.take(np.flatnonzero(np.diff(bags.counts.indptr))) for bags in (asked, strangers))
    many = min(len(asked), len(strangers))
    if many < _FEWEST:
        return None
    both = []
    for bags in (asked, strangers):
        size = np.diff(bags.counts.indptr)
        order = np.lexsort((rng.random(len(size)), size))
        both.append(bags.take(order[np.linspace(0, len(order) - 1, many).round().astype(np.int64)]))
    sizes = np.minimum(*(np.diff(bags.counts.indptr) for bags in both)).astype(np.int64)
    one, two = (bags.with_counts(drawn(bags.counts, sizes, rng)) for bags in both)
    return one, two


def _precision(table: Tally, asked: list[Tally], taste: Taste | None) -> float | None:
    """Return the precision of tastes under which all that are asked for are likeliest; ``None``: without any taste.

    Queries and strangers choose together, so that neither is favoured.
    """

    def likely(one: float | None) -> float:
        model = Model(0.0, taste=None if one is None or taste is None else taste.at(one), apart=True)
        return sum(float(mean_log(all_scores(model, table, two, table.popularity)).mean()) for two in asked)

    tried: list[float | None] = [None, *(PRECISIONS if taste is not None else ())]
    return max(tried, key=likely)
