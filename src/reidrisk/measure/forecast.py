"""What if there were ten million: the rate among more people than were measured, with an interval for model choice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.attacks.base import Attack
from reidrisk.attacks.pooled import gathered
from reidrisk.attacks.registry import find_attack
from reidrisk.base import ArrayLike, DataError, Floats, Ints, Note, OptionError, Result, between_0_and_1, is_whole
from reidrisk.base.streams import seed_or_fresh, stream
from reidrisk.measure.extrapolation import WAYS
from reidrisk.measure.families import FAMILIES, Parameters, fitted
from reidrisk.measure.subsets import Ranks, ranks, rates_among
from reidrisk.records import Truth, find_truth

_TARGETS = 100_000  # limit: targets that are searched, at most: the curve among them is what is extrapolated
_POINTS = 40  # limit: sizes of subsets
_WINDOW = 100  # prior: a fit looks at sizes from this part of the largest on
_DRAWS = 40  # limit: draws of weights of queries, for the interval
_FEWEST = 40  # limit: people, below which nothing can be learnt of a curve
_HELD_OUT = 5  # prior: sizes above n / 5 weigh the ways; above n / 10, forecasts of simulated people were worse
_TINY = 1e-300  # unit: in place of 0, whose logarithm is none
_LEAST = 0.03  # prior: standard deviation of the ways per factor of e, at least; chosen on some data, tried on other


@dataclass(frozen=True, eq=False)
class Predicted(Result):
    """The rate among ``population`` people, with its interval; ``families`` is what each way to continue it says.

    Up to the number of targets the rate is measured, not forecast, and there are none.
    """

    population: int
    rate: float
    low: float
    high: float
    families: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Forecast(Result):
    """Rates of right links among random subsets of the targets of growing ``sizes``, and ``predicted`` ones among more.

    The intervals of ``level`` allow for other queries and for the
    choice of the family of curves.
    """

    attack: str
    n_targets: int
    n_queries: int
    sizes: tuple[int, ...]
    rates: tuple[float, ...]
    predicted: tuple[Predicted, ...]
    level: float = 0.9
    seed: int | None = None
    notes: tuple[Note, ...] = ()

    @property
    def measured(self) -> tuple[tuple[int, float], ...]:
        """The sizes with the rates that were measured there."""
        return tuple(zip(self.sizes, self.rates, strict=True))


def forecast(
    attack: Attack[Any] | str,
    targets: Any,
    queries: Any,
    population: int | Sequence[int],
    truth: ArrayLike | Truth | None = None,
    sample: int | None = 2_000,
    seed: int | None = None,
    level: float = 0.9,
) -> Forecast:
    r"""Say how many people this attack would find if there were ``population`` people to choose from.

    The rate among random subsets of the targets is known exactly from one search (:mod:`reidrisk.measure.subsets`).
    From the sizes within a factor of 100 of the largest, n, the curve is continued in six ways: by three families
    (:mod:`reidrisk.measure.families`), each set to the measured rate at n, and by three that go on as it went
    (:mod:`reidrisk.measure.extrapolation`). The forecast is their weighted geometric mean,

        log rate = sum of w_i log kappa_i,        w_i proportional to 1 / (e_i^2 + v),

    where e_i^2 is the mean squared error of way i in logarithms on the sizes above n / 5, forecast from those below,
    and v how far queries by themselves may move what happens between n / 5 and n (Bates and Granger 1969, doi
    10.1057/jors.1969.103). The interval reaches as many weighted standard deviations of the six logarithms to either
    side as a normal distribution asks for (at least 0.03 ln(population / n) each), under random weights of the queries
    and of one more that is found never, or always: as Gaffke's interval of a mean (:mod:`reidrisk.base.intervals`).

    It assumes that further people are like these, and that the attack would learn no more from them. Of more than
    100,000 targets as many are drawn. A ``sample`` of the queries is asked; ``None``: all. Queries whose person is not
    among the targets are left out, and each is met by itself: an attacker who weighs them against each other finds
    more.

    >>> from reidrisk import Traces, attacks
    >>> rng = np.random.default_rng(0)
    >>> table = Traces(rng.integers(4, size=(500, 6)), n_tokens=4)
    >>> found = forecast(attacks.Hamming(), table, table, population=[100, 5_000], seed=0)
    >>> [round(one.rate, 1) for one in found.predicted]
    [1.0, 0.7]
    """
    level, wanted = between_0_and_1("level", level), _populations(population)
    targets, queries = gathered(targets), gathered(queries)
    known, attack = find_truth(targets, queries, truth), find_attack(attack, targets)
    used = seed_or_fresh(seed)
    rows = np.flatnonzero(known.target >= 0)
    if sample is not None and len(rows) > sample:
        rows = np.sort(stream(used, "forecast: queries").choice(rows, size=sample, replace=False))
    own = known.target[rows]
    targets, own = _fewer(targets, own, used)
    if len(targets) < _FEWEST or len(rows) < _FEWEST:
        few = min(len(targets), len(rows))
        raise DataError(f"{few} people are too few to learn how the rate falls; give at least {_FEWEST} on each side")
    asked = queries.take(rows)
    alone = attack.one_by_one()  # how much more is found together among more people, nobody has seen
    alone.fit(targets).look_around(queries)
    found = ranks(alone, asked, own, len(targets))
    sizes = np.unique(np.geomspace(2, len(targets), _POINTS).astype(np.int64))
    curves = rates_among(found, sizes)
    predicted = tuple(_predicted(one, found, sizes, curves, level, used) for one in wanted)
    notes: tuple[Note, ...] = (Note("strangers-like-these"), Note("forecast-between-families", share=level))
    if alone is not attack:
        notes += (Note("forecast-one-by-one", attack=attack.name),)
    measured = (tuple(sizes.tolist()), tuple(curves.mean(axis=0).tolist()))
    return Forecast(attack.name, len(targets), len(rows), *measured, predicted, level, used, notes)


def _populations(population: int | Sequence[int]) -> tuple[int, ...]:
    given: tuple[Any, ...] = tuple(population) if isinstance(population, Sequence) else (population,)
    wrong = [one for one in given if not is_whole(one) or one < 2]
    if wrong or not given:
        raise OptionError(f"population is a number of people, at least 2, or several, not {population!r}")
    return tuple(int(one) for one in given)


def _fewer(targets: Any, own: Ints, seed: int) -> tuple[Any, Ints]:
    """Return at most as many targets as are searched, those of the queries among them, and where these are."""
    if len(targets) <= _TARGETS:
        return targets, own
    people = np.unique(own)
    others = np.setdiff1d(np.arange(len(targets)), people)
    drawn = stream(seed, "forecast: targets").choice(others, size=max(0, _TARGETS - len(people)), replace=False)
    kept = np.sort(np.concatenate((people, drawn)))
    return targets.take(kept), np.searchsorted(kept, own)


def _predicted(population: int, found: Ranks, sizes: Ints, curves: Floats, level: float, seed: int) -> Predicted:
    from scipy.special import ndtri

    tails = ((1.0 - level) / 2.0, (1.0 + level) / 2.0)
    shares = stream(seed, "forecast: interval").dirichlet(np.ones(len(curves) + 1), size=_DRAWS)
    last = shares[:, -1]  # the weight of one more query, which is found never, or always
    if population <= sizes[-1]:
        credit = rates_among(found, np.array([population]))[:, 0]
        rate, drawn = float(credit.mean()), shares[:, :-1] @ credit
        low, high = np.quantile(drawn, tails[0]), np.quantile(drawn + last, tails[1])
        return Predicted(population, rate, float(min(low, rate)), float(max(high, rate)), {})
    inside = sizes >= sizes[-1] / _WINDOW
    seen, n, ahead = curves[:, inside], sizes[inside].astype(np.float64), np.array([float(population)])
    weights = _weights(sizes, curves, shares[:, :-1])
    rates, parameters = _continued(n, seen.mean(axis=0), ahead, None)
    drawn_rates = [_continued(n, one @ seen, ahead, parameters)[0] for one in shares[:, :-1]]
    least_apart, reach = _LEAST * float(np.log(population / n[-1])), float(ndtri(tails[1]))
    lows = np.array([_mean(one[:, 0], weights, -reach, least_apart) for one in drawn_rates])
    highs = np.array([_mean(one[:, 0], weights, reach, least_apart) for one in drawn_rates]) + last
    least, most = 1.0 / population, max(float(seen[:, -1].mean()), 1.0 / population)
    rate = float(np.clip(_mean(rates[:, 0], weights), least, most))
    low, high = np.clip(np.quantile(lows, tails[0]), 0.0, rate), np.clip(np.quantile(highs, tails[1]), rate, 1.0)
    names = (*(family.name for family in FAMILIES), *WAYS)
    by_family = {name: float(one) for name, one in zip(names, rates[:, 0], strict=True)}
    return Predicted(population, rate, float(low), float(high), by_family)


def _weights(sizes: Ints, curves: Floats, shares: Floats) -> Floats:
    """Return the weight of each way by how well it forecasts the largest sizes from the smaller ones."""
    known = sizes <= sizes[-1] / _HELD_OUT
    inside, rates = known & (sizes >= sizes[known][-1] / _WINDOW), curves.mean(axis=0)
    if rates[-1] <= 0.0:
        return np.full(len(FAMILIES) + len(WAYS), 1.0 / (len(FAMILIES) + len(WAYS)))
    said, _ = _continued(sizes[inside].astype(np.float64), rates[inside], sizes[~known].astype(np.float64), None)
    error = np.mean((_log(said) - _log(rates[~known])) ** 2, axis=1)
    moved = np.var(_log(shares @ curves[:, -1]) - _log(shares @ curves[:, known][:, -1]))
    weights = 1.0 / np.maximum(error + moved, _TINY)
    return np.asarray(weights / weights.sum())


def _continued(
    n: Floats, rates: Floats, ahead: Floats, starts: list[Parameters] | None
) -> tuple[Floats, list[Parameters]]:
    """Return (ways, len(ahead)) rates, families set to the measured rate at the largest size, and their parameters."""
    if rates[-1] <= 0.0:  # nobody is found among all: nothing is known but that
        return np.zeros((len(FAMILIES) + len(WAYS), len(ahead))), [np.zeros(len(one.starts[0])) for one in FAMILIES]
    found, parameters = [], []
    for place, family in enumerate(FAMILIES):
        fit = fitted(family, n, rates, [tuple(starts[place])] if starts else ())
        found.append(rates[-1] * family.rate(ahead, fit) / family.rate(n[-1:], fit))
        parameters.append(fit)
    found += [np.array([way(n, rates, float(one)) for one in ahead]) for way in WAYS.values()]
    return np.asarray(found), parameters


def _mean(rates: Floats, weights: Floats, reach: float = 0.0, least_apart: float = 0.0) -> float:
    """Return the weighted geometric mean of the ways, moved by ``reach`` of their standard deviations."""
    logs = _log(rates)
    mean = weights @ logs
    return float(np.exp(mean + reach * max(float(np.sqrt(weights @ (logs - mean) ** 2)), least_apart)))


def _log(rates: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(rates, _TINY)))
