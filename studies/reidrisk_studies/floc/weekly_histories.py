"""Synthetic people whose browsing has habits: the sites each of them visits, week after week."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import OptionError
from reidrisk.base.options import whole
from reidrisk.base.streams import blocks, checked_seed, stream
from reidrisk.cohorts.floc.simhash import DomainLists

__all__ = ["weekly_histories"]

_BLOCK = 8_192
_FAVOURITES = 30  # sites that a person comes back to
_INTERESTS = 3  # of a person
_ZIPF = 1.0
_EVERYONE = 0.3  # share of visits to sites that everybody visits
_POPULAR = 500  # number of those sites


def weekly_histories(
    n: int,
    weeks: int,
    seed: int = 0,
    habit: float = 0.6,
    sites: float = 25.0,
    n_interests: int = 200,
    sites_per_interest: int = 100,
) -> list[DomainLists]:
    """Draw the sites that ``n`` people visit in each of several weeks.

    A person has three of ``n_interests`` interests and 30 favourite sites, and makes about ``sites`` visits a week: a
    Poisson number whose mean differs between people (log-normal, deviation 0.5). A visit goes to a favourite with
    probability ``habit``, else to a new site, drawn like the favourites were: 3 in 10 among 500 sites that everybody
    visits, 7 in 10 within an interest, by Zipf's law each. These are choices of ours, made so that a person visits
    tens of sites a week, some of them common to all; no published figure is behind them.

    Parameters
    ----------
    n, weeks : int
        People and weeks; more of either leave the first ones as they are.
    seed : int
        Seed.
    habit : float
        Probability that a visit goes to a favourite, from 0 (only the interests last) to 1.
    sites : float
        Mean number of visits a week of the median person.
    n_interests, sites_per_interest : int
        Size of the web.

    Returns
    -------
    list of DomainLists
        One a week, as :func:`weekly_cohorts` and :func:`simhash` take them; a site may occur more than once.

    Examples
    --------
    >>> first, second = weekly_histories(200, weeks=2, seed=0)
    >>> bool(15 < np.diff(first.starts).mean() < 40), first.distinct[0].as_py()
    (True, 'popular-0.example')
    """
    web = (("n_interests", n_interests), ("sites_per_interest", sites_per_interest))
    for name, value in (("n", n), ("weeks", weeks), *web):
        whole(name, value)
    if not 0.0 <= habit <= 1.0 or not 0.0 < sites < 10_000.0:
        raise OptionError(f"habit lies in 0 to 1 and sites above 0, below 10,000; not {habit!r} and {sites!r}")
    seed = checked_seed(seed)
    import pyarrow as pa

    names = [f"popular-{i}.example" for i in range(_POPULAR)]
    names += [f"site-{j}.interest-{i}.example" for i in range(n_interests) for j in range(sites_per_interest)]
    distinct = pa.array(names, type=pa.large_string())
    parts: list[list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]]] = [[] for _ in range(weeks)]
    for block, start, stop in blocks(n, _BLOCK):
        rng = stream(seed, "people who browse", block)
        size = stop - start
        # A block is drawn whole, so that a larger population starts with the same people.
        interests = rng.integers(n_interests, size=(_BLOCK, _INTERESTS))
        mean = sites * np.exp(0.5 * rng.standard_normal(_BLOCK))
        everyone = np.repeat(np.arange(_BLOCK), _FAVOURITES)
        favourites = _new_sites(rng, interests[everyone], sites_per_interest).reshape(_BLOCK, _FAVOURITES)
        for week in range(weeks):
            own = stream(seed, f"browsing in week {week}", block)
            visits = own.poisson(mean)
            who = np.repeat(np.arange(_BLOCK), visits)
            back = own.random(who.size) < habit
            seen = favourites[who, own.integers(_FAVOURITES, size=who.size)]
            new = _new_sites(own, interests[who], sites_per_interest)
            codes = np.where(back, seen, new)[: int(visits[:size].sum())]
            parts[week].append((visits[:size], codes.astype(np.int32)))
    made = []
    for part in parts:
        counts = np.concatenate([visits for visits, _ in part])
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        made.append(DomainLists(starts, np.concatenate([codes for _, codes in part]), distinct, False))
    return made


def _new_sites(rng: np.random.Generator, interests: npt.NDArray[np.int64], per_interest: int) -> npt.NDArray[np.int64]:
    """Draw a site for each row of interests."""
    size = len(interests)
    common = _zipf(rng.random(size), _POPULAR)
    chosen = interests[np.arange(size), rng.integers(interests.shape[1], size=size)]
    special = _POPULAR + chosen * per_interest + _zipf(rng.random(size), per_interest)
    return np.where(rng.random(size) < _EVERYONE, common, special)


def _zipf(u: npt.NDArray[np.float64], n: int) -> npt.NDArray[np.int64]:
    weights = 1.0 / np.arange(1, n + 1) ** _ZIPF
    steps = np.cumsum(weights) / weights.sum()
    return np.minimum(np.searchsorted(steps, u, side="right"), n - 1)
