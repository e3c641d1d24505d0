"""Whether the clocks of two logs agree: one may be in another time zone, or in universal time.

Then nobody is there at the same time in both, and evidence of hours and moments is lost or, worse, misleads. Both can
be seen without truth. People are linked by what they hold, whenever that was; many of these links are right.

Where the logs are of the same time, an item that both records of a link have is had at the same moment more often than
a day earlier or later, at the true shift alone. Where they are not, a linked person keeps to their own hours: those of
the query, moved by the true shift, are where the target is more often than others are. Both compare a person with
themselves or with others at the same hour, so that a population that works at night is not taken for a shifted clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.attacks import Matched, TfIdf
from reidrisk.base import Floats, Ints, Note
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.records import Bags, Events
from reidrisk.records.calendar import DAY, HOURS

_HOUR = 3_600.0
_STEP = 900.0  # time zones lie at quarters of an hour
_FURTHEST = 56  # steps: fourteen hours either way
_COMMON = 3.0  # days that two logs of the same time have in common, at least, and a quarter of the shorter one
_FEWEST, _MOST = 30, 2_000  # links from which a shift is learnt
_JOINTLY = 4_000_000  # pairs up to which links are one to one
_AS_GOOD = 2.0  # standard errors up to which a shift is about as good as another
_AGAINST = 3.0  # standard errors by which moments speak against what hours say
_CLEAR = 5.0  # standard errors of a shift that is believed, and by which it beats none
_EACH = 4_000  # pairs of events of one link that are looked at, at most


@dataclass(frozen=True)
class Shift:
    """By how many seconds the second clock is ahead, by how many standard errors that is clear, and what shows it."""

    seconds: float
    errors: float
    same_moments: bool


def settle_clocks(tables: Sequence[Any]) -> tuple[list[Any], tuple[Note, ...]]:
    """Return two logs with the times of the second moved to the clock of the first, where clocks clearly differ.

    >>> rng = np.random.default_rng(0)
    >>> who, what = np.repeat(np.arange(60), 20), rng.integers(0, 40, 1200)
    >>> when = rng.integers(0, 20 * 86_400, 1200) * np.timedelta64(1, "s") + np.datetime64("2024-03-01")
    >>> log = {"who": who, "what": what, "when": when}
    >>> late = log | {"when": when + np.timedelta64(8, "h")}
    >>> one, two = (Events(table, user="who", items="what", time="when") for table in (log, late))
    >>> (_, moved), (note,) = settle_clocks([one, two])
    >>> note["hours"], bool((moved.time == one.time).all())
    (8.0, True)
    """
    given = list(tables)
    if len(given) != 2 or not all(isinstance(table, Events) and table.is_calendar for table in given):
        return given, ()
    if any((table.time % DAY == 0.0).all() for table in given):
        return given, ()  # days alone have no clock
    every = Vocabulary(sorted({*given[0].vocabulary.labels, *given[1].vocabulary.labels}))
    found = shift_of(*(table.over(every).bags() for table in given))
    if found is None:
        return given, ()
    given[1] = given[1].moved(-found.seconds)
    how = "moments" if found.same_moments else "hours"
    return given, (Note("clocks-apart", hours=found.seconds / _HOUR, errors=found.errors, by=how),)


def shift_of(targets: Bags, queries: Bags) -> Shift | None:
    """Return by how much the clock of the queries is ahead of that of the targets; None where that is not clear."""
    query, target = _links(targets, queries)
    if len(query) < _FEWEST:
        return None
    moments = _moments(targets, queries, query, target)
    found = None if moments is None else _clearest(moments, _STEP)
    if found is not None:
        return Shift(*found, same_moments=True)
    found = _clearest(_hours_kept(targets, queries, query, target), _HOUR)
    if found is None or (moments is not None and _errors(moments, round(found[0] / _STEP)) < -_AGAINST):
        return None
    return Shift(*found, same_moments=False)


def _moments(targets: Bags, queries: Bags, query: Ints, target: Ints) -> Floats | None:
    """Return how much more often links have an item at each lag than a day earlier and later; None of other weeks."""
    spans = [(side.timeline.time.min(), side.timeline.time.max()) for side in (targets, queries) if side.timeline]
    common = min(last for _, last in spans) - max(first for first, _ in spans)
    if common < max(_COMMON * DAY, min(last - first for first, last in spans) / 4.0):
        return None
    lags = np.array([_lags(targets, queries, q, t) for q, t in zip(query, target, strict=True)])
    day = round(DAY / _STEP)
    return np.asarray(lags[:, day:-day] - 0.5 * (lags[:, : -2 * day] + lags[:, 2 * day :]))


def _links(targets: Bags, queries: Bags) -> tuple[Ints, Ints]:
    """Return queries, and the targets that they are linked to by what they hold alone."""
    few = min(len(targets), len(queries)) < _FEWEST
    jointly = len(targets) * len(queries) <= _JOINTLY
    attack: Any = Matched() if jointly and not few else TfIdf()
    attack.fit(targets).look_around(queries)
    asked = np.arange(len(queries))
    if len(asked) > _MOST:
        asked = np.unique(np.linspace(0, len(queries) - 1, _MOST).astype(np.int64))
    links = attack.link(queries.take(asked))
    clear = links.n_ties == 1
    return asked[clear], links.target[clear]


def _lags(targets: Bags, queries: Bags, query: int, target: int) -> Floats:
    """Return in how many moments a query has an item that its target has so much earlier: at each step of lag."""
    width = 2 * (_FURTHEST + round(DAY / _STEP)) + 1
    one, two = targets.timeline, queries.timeline
    assert one is not None
    assert two is not None
    mine, theirs = slice(*one.start[target : target + 2]), slice(*two.start[query : query + 2])
    had, asked = one.item[mine], two.item[theirs]
    here, there = np.nonzero(asked[:, None] == had[None, :])
    here, there = here[:_EACH], there[:_EACH]
    lag = np.rint((two.time[theirs][here] - one.time[mine][there]) / _STEP).astype(np.int64) + width // 2
    good = (lag >= 0) & (lag < width)
    # An event counts once at each lag, however often the target has its item then; neighbours count half.
    once = np.unique(here[good] * width + lag[good]) % width
    times = np.bincount(once, minlength=width).astype(np.float64)
    times[1:-1] += 0.5 * (np.bincount(once, minlength=width)[:-2] + np.bincount(once, minlength=width)[2:])
    return np.sqrt(times)


def _hours_kept(targets: Bags, queries: Bags, query: Ints, target: Ints) -> Floats:
    """Return how much more often linked targets than others are there in the query's hours, moved back: (q, 25)."""
    known, asked = (side.clock[:, -HOURS:].toarray().astype(np.float64) for side in (targets, queries))
    known, asked = (side / np.maximum(side.sum(axis=1, keepdims=True), 1.0) for side in (known, asked))
    more = (known - known.mean(axis=0))[target]
    each = [(np.roll(asked[query], -hours, axis=1) * more).sum(axis=1) for hours in range(-12, 13)]
    return np.stack(each, axis=1)


def _clearest(gain: Floats, unit: float) -> tuple[float, float] | None:
    """Return the shift in seconds with the largest mean gain, and by how many errors it beats none; None if not clear.

    Clocks are mostly set apart by whole hours, then by halves: of those that are about as good, the roundest is taken.
    """
    middle = gain.shape[1] // 2
    best = int(np.argmax(gain.mean(axis=0))) - middle
    if _mean_in_errors(gain[:, middle + best]) < _CLEAR or _errors(gain, best) < _CLEAR:
        return None
    near = [step for step in range(-middle, middle + 1) if abs(step - best) * unit < _HOUR]
    equal = [step for step in near if _mean_in_errors(gain[:, middle + best] - gain[:, middle + step]) < _AS_GOOD]
    chosen = min(equal, key=lambda step: (_roundness(step * unit), abs(step - best)))
    return (chosen * unit, _errors(gain, chosen)) if chosen else None


def _roundness(seconds: float) -> int:
    return next(place for place, unit in enumerate((_HOUR, _HOUR / 2, _STEP)) if seconds % unit == 0.0)


def _errors(gain: Floats, step: int) -> float:
    """Return by how many standard errors a shift of this many steps is better than none."""
    middle = gain.shape[1] // 2
    return _mean_in_errors(gain[:, middle + step] - gain[:, middle])


def _mean_in_errors(values: Floats) -> float:
    return float(values.mean() / max(values.std(ddof=1) / np.sqrt(len(values)), 1e-12))
