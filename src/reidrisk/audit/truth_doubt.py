"""Whether the truth may be misaligned: more links that it calls wrong are close than strangers' links are.

Half of the targets are what the attack is fitted on, and queries are asked whose truth lies in it. How close anybody
comes by chance, three kinds of strangers tell: targets of the other half; the queries with tokens shuffled between
people, epoch by epoch, which keeps gaps and how common tokens are; and queries of the one half linked to those of the
other, for tables that differ. Then the halves change roles. A link that is wrong is a link to a stranger: if truth is
right, at most as large a share of queries is close *and* called wrong as strangers are close, whatever the attack.
What exceeds the largest of the three shares are people who met themselves, and whom truth calls somebody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from reidrisk import measure
from reidrisk.attacks import Attack, Hamming, Hellinger, Links, NearestEuclidean
from reidrisk.audit.axis import holds
from reidrisk.audit.choice import only
from reidrisk.base import Array, Bools, Floats, Ints, Result, mean_interval, stream
from reidrisk.records import Attributes, Bags, Traces, Vectors

_ASKED = 2_000  # queries, and strangers of each kind, that are looked at
_QUANTILES = (0.5, 0.8, 0.9, 0.95, 0.99)  # of the strangers' scores: where queries and strangers are compared

_TELLING = {True: 0.1, False: 0.03}
"""Excess of close queries, at its lower end, from which something is learned: with one epoch only, and with more."""

_TOLERATED, _EXCLUDED = 0.05, 1.0 / 3.0
"""Of that excess, what may be called wrong without doubt, and what must be excluded to pass.

Where truth is wrong for a share w, its people are in the half that was fitted half of the time: close queries exceed
strangers by (1 - w/2) x, close wrong links by (w/2) x. A third of the excess is w = 1/2, a twentieth about w = 1/10.
"""

_LEVEL, _SUSPECTED = 0.999, 0.5  # of what is said to be so, and of what is no more than suspected

Draws = np.random.Generator
TruthCheck = Literal["passed", "doubt", "suspicion", "no power"]


@dataclass(frozen=True, eq=False)
class TruthDoubt(Result):
    """Why the truth is doubted: ``n_close`` links closer than most strangers come, the share ``wrong`` by the truth.

    ``low`` is the lower end of that share at the level 99.9 %; ``attack`` and ``n_epochs`` say where it was found, and
    ``n_asked`` of how many records. What would tell of a few people is None, and ``low`` 0 then.
    """

    attack: str
    n_epochs: int
    n_asked: int
    n_close: int | None
    wrong: float | None
    low: float


def check_truth(
    chosen: Sequence[Attack[Any]], choices: Sequence[tuple[int, ...]], targets: Any, scored: Any, truth: Ints, seed: int
) -> tuple[TruthCheck, TruthDoubt | None]:
    """Return whether the truth stands up, and the first reason to doubt it over all attacks and choices of epochs.

    ``"passed"`` says that where most is learned, a truth that is wrong for half of the people was excluded at the level
    99.9 %. ``"suspicion"`` says that it was not, and that more close links are called wrong than strangers explain, at
    the level 50 %: too many to stand, too few to be doubted. ``"no power"`` says that nothing is learned: no attack
    finds clearly more queries close than strangers, or they are too few to exclude anything and none speaks against it.

    Each attack is fitted here, on half of the targets at a time; a single epoch is compared only where there are no
    more, and ``()`` is a choice of everything, for records without epochs. ``scored`` are queries that have a
    counterpart, ``truth`` (n_scored,) is the target row of each.

    >>> from reidrisk import attacks
    >>> rng = np.random.default_rng(0)
    >>> people = Traces(rng.integers(0, 50, (300, 6)), n_tokens=50)
    >>> own, all_six = np.arange(300), [tuple(range(6))]
    >>> check_truth([attacks.Hamming()], all_six, people, people, own, seed=0)
    ('passed', None)
    >>> answer, doubt = check_truth([attacks.Hamming()], all_six, people, people, np.roll(own, 1), seed=0)
    >>> answer, doubt.wrong
    ('doubt', 1.0)
    """
    draw = stream(seed, "doubt the truth")
    half, other = (np.sort(part) for part in np.split(draw.permutation(len(targets)), [len(targets) // 2]))
    if len(half) < 10:
        return "no power", None
    pairs = ((half, other), (other, half))
    splits = [_Split.drawn(known, strange, targets, scored, truth, draw) for known, strange in pairs]
    largest, stands, suspected = 0.0, False, False
    plainest: type[Attack[Any]] = Hamming if isinstance(targets, Traces) else Hellinger
    if isinstance(targets, Vectors):
        plainest = NearestEuclidean
    comparable = [one for one in chosen if one.one_scale] or [plainest()]
    several = [which for which in choices if len(which) > 1] or choices
    for which in sorted(several, key=len, reverse=True):
        # In one epoch every attack goes by equal tokens, and weights would put the kinds of strangers on two scales.
        for attack in comparable if len(which) != 1 else (Hamming(),):
            found = [split.scores(attack, which) for split in splits]
            if not all(len(one.asked) for one in found):
                continue
            scores = _Scores(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
            for cut in _cuts(scores, single=len(which) == 1):
                if cut.wrong_low > _TOLERATED * cut.excess:
                    wrong = 1.0 - scores.right[cut.close]
                    told = len(wrong), float(wrong.mean()), mean_interval(wrong, _LEVEL)[0]
                    return "doubt", TruthDoubt(attack.name, len(which), len(cut.close), *told)
                if cut.low > largest:
                    largest, stands = cut.low, cut.wrong_high < _EXCLUDED * cut.excess
                suspected |= cut.suspect
    return ("passed" if stands else "suspicion" if suspected else "no power"), None


class _Scores(NamedTuple):
    """Best scores of queries and of the kinds of strangers; how far truth calls the queries' links right."""

    asked: Floats
    right: Floats
    strangers: Floats
    others: Floats
    shuffled: Floats


class _Split(NamedTuple):
    """One half of the targets, the queries whose truth lies in it, and the strangers to it."""

    known: Any
    asked: Any
    own: Ints
    strangers: Any
    shuffled: Any
    peers: Any
    others: Any

    @classmethod
    def drawn(cls, known: Ints, strange: Ints, targets: Any, scored: Any, truth: Ints, draw: Draws) -> _Split:
        place = np.full(len(targets), -1, dtype=np.int64)
        place[known] = np.arange(len(known))
        inside, outside = (draw.permutation(np.flatnonzero(side)) for side in (place[truth] >= 0, place[truth] < 0))
        most = _ASKED // 2
        asked = scored.take(inside[:most])
        return cls(
            known=targets.take(known),
            asked=asked,
            own=place[truth[inside[:most]]],
            strangers=targets.take(draw.permutation(strange)[:most]),
            shuffled=_shuffled(asked, draw),
            peers=scored.take(inside),
            others=scored.take(outside[:most]),
        )

    def scores(self, attack: Attack[Any], which: tuple[int, ...]) -> _Scores:
        pool, asked, peers = (_view(table, which) for table in (self.known, self.asked, self.peers))
        if not (len(asked) and holds(pool)):
            return _Scores(*(np.zeros(0) for _ in _Scores._fields))
        links = attack.fit(pool).link(asked)
        right = measure.credits(attack, asked, links, self.own)
        strangers, shuffled = (_best(attack.link(_view(table, which))) for table in (self.strangers, self.shuffled))
        others = np.zeros(0)
        if len(self.others) and holds(peers):
            others = _best(attack.fit(peers).link(_view(self.others, which)))
        # Shuffled records of one epoch are the records themselves.
        return _Scores(_best(links), right, strangers, others, shuffled if len(which) != 1 else np.zeros(0))


def _best(links: Links) -> Floats:
    """Return the score of each link, the lowest there is where none was made."""
    return np.where(links.target >= 0, links.score, -np.inf)


class _Cut(NamedTuple):
    """Which queries come close; how many more than strangers, and its lower end; the ends of that for wrong links.

    ``suspect``: whether more wrong links are close than strangers, at the level of a suspicion.
    """

    close: Bools
    excess: float
    low: float
    wrong_low: float
    wrong_high: float
    suspect: bool


def _cuts(scores: _Scores, single: bool) -> Iterator[_Cut]:
    """Yield the scores from which clearly more queries come close than strangers of any kind."""
    kinds = [kind for kind in (scores.strangers, scores.others, scores.shuffled) if len(kind)]
    for cut in np.unique(np.quantile(np.concatenate(kinds), _QUANTILES, method="higher")):
        for reaches in (np.greater_equal, np.greater):
            close = reaches(scores.asked, cut)
            strange = max((reaches(kind, cut) for kind in kinds), key=np.mean)
            excess, low, _ = _difference(close, strange)
            if low > _TELLING[single]:
                wrong = np.where(close, 1.0 - scores.right, 0.0)
                _, wrong_low, wrong_high = _difference(wrong, strange)
                suspect = _difference(wrong, strange, _SUSPECTED)[1] > 0.0
                yield _Cut(close, excess, low, wrong_low, wrong_high, suspect)


def _difference(a: Array, b: Array, level: float = _LEVEL) -> tuple[float, float, float]:
    """Return the difference of two independent means of values in [0, 1], and its ends (Newcombe)."""
    (low, high), (least, most) = mean_interval(a, level), mean_interval(b, level)
    up, down = float(np.mean(a)), float(np.mean(b))
    gap = up - down
    return gap, gap - float(np.hypot(up - low, most - down)), gap + float(np.hypot(high - up, down - least))


def _shuffled(people: Any, draw: Draws) -> Any:
    """Return records that are nobody's: each token replaced by one of somebody else's, in the same epoch if any."""
    if isinstance(people, Vectors):
        values = draw.permuted(people.values, axis=0)
        gone = ~np.any(values != 0.0, axis=1, keepdims=True)  # a row of zeros has no direction
        return Vectors(np.where(gone, people.values, values))
    if isinstance(people, Bags):
        from scipy import sparse

        held = people.counts
        mixed = (held.data, draw.permutation(held.indices), held.indptr)
        return Bags(sparse.csr_array(mixed, shape=held.shape))
    tokens = np.array(people.tokens)
    for column in range(tokens.shape[1]):
        seen = np.flatnonzero(tokens[:, column] >= 0)
        tokens[seen, column] = tokens[draw.permutation(seen), column]
    return people.with_tokens(tokens) if isinstance(people, Attributes) else Traces(tokens, people.n_tokens)


def _view(table: Any, which: tuple[int, ...]) -> Any:
    return only(table, which) if which else table
