"""Carey et al., Measuring re-identification risk: samples of a user's songs, Figure 4 (Appendix E.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk import attacks, bounds, measure
from reidrisk.base.progress import Progress, Steps
from reidrisk.base.results import Risk
from reidrisk.present import drawing
from reidrisk_studies.carey.items import ItemSets, as_bags, drawn, read_lastfm, read_msweb
from reidrisk_studies.data import MissingDataError, data_file
from reidrisk_studies.results import Comparison, Row, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["figure_4"]

SAMPLES = (1, 2, 4, 8)
PUBLISHED_USERS = 1_000_000
_LASTFM, _MSWEB = "lastfm_hetrec2k/user_artists.dat.gz", "msweb/anonymous-msweb.data.gz"
_QUERIES = 10_000
"""Users whose bags are linked; the paper, too, draws 10,000."""

# The law of the synthetic population: a million songs, popularity 1 / (rank + 40), 10 + geometric songs a user with
# a mean of 48, the mean of the published data.
N_SONGS, RANK_SHIFT, LEAST, MEAN = 1_000_000, 40, 10, 48
_SONGS = "a million songs"
_LAW = (
    f"a stated law, {N_SONGS:,} songs of popularity 1 / (rank + {RANK_SHIFT}); {LEAST} songs a user and a geometric "
    f"number more, {MEAN} on average; taken by popularity without replacement. The law is our choice; the published "
    "data has 48 million pairs of a million users and about a million songs"
)


@dataclass(frozen=True)
class _Population:
    name: str
    about: str
    draw: Callable[[], ItemSets]


@study(
    "carey-fig4",
    title="Samples of a user's items: risk against the number of samples",
    reference="carey, Figure 4",
    users=PUBLISHED_USERS,
    seconds=(15.0, 75.0),
    data=("lastfm", "msweb"),
)
def figure_4(users: int, seed: int, progress: Progress) -> StudyResult:
    """Risk of handing out r random items of a user to two observers (carey, Figure 4).

    Each observer gets r independent samples of a user's items, uniformly with replacement. In order, they are
    compared as the paper's Hamming attack does, sample by sample; without order, by what the two bags share. Bags
    are linked for 10,000 users drawn at random, traces for all.

    Parameters
    ----------
    users : int
        Size of the drawn populations; about a million in the paper. Real data is used as it is.
    seed : int
        Of the populations and the samples.
    progress : callable
        Called with what is done.
    """
    there, missing = _populations(users, seed)
    steps = Steps(progress, len(there) * (1.0 + len(SAMPLES)))
    rows: list[Row] = []
    for population in there:
        steps.begin(population.name, 1.0)
        sets = population.draw()
        one, two = (sets.sample(SAMPLES[-1], seed, observer) for observer in ("observer 1", "observer 2"))
        for r in SAMPLES:
            steps.begin(f"{population.name}: {r} samples", 1.0)
            a, b = one.epochs(r), two.epochs(r)
            ordered = measure.random_user(attacks.Hamming(), a, b)
            bags = as_bags(a), as_bags(b)
            unordered = measure.random_user(attacks.Overlap(), *bags, sample=min(_QUERIES, len(sets)), seed=seed)
            rows += [_row(population.name, "ordered", r, ordered), _row(population.name, "unordered", r, unordered)]
        rows += _bounds(population.name, sets)
    return StudyResult(
        users=users,
        seed=seed,
        rows=tuple(rows),
        lines=_lines(rows),
        x_title="number of samples observed",
        comparisons=_compared(rows, users, bool(missing)),
        assumptions=(
            *(f"{population.name}: {population.about}." for population in there),
            *(f"Left out: {message}." for message in missing),
            "Each observer sees independent uniform samples, with replacement, of the same set of items.",
            "Ordered: the attack compares the first sample with the first, the second with the second (Hamming). "
            "Unordered: it counts items in common, which is the stronger use of the same samples.",
            f"Traces were linked for all users; bags for {_QUERIES:,} users drawn at random, or all where fewer.",
        ),
    )


def _populations(users: int, seed: int) -> tuple[list[_Population], list[str]]:
    """Return what can be measured here, and a message for each file that is missing."""
    there = [_Population(_SONGS, _LAW, lambda: _synthetic(users, seed))]
    missing = []
    try:
        lastfm = read_lastfm(data_file(_LASTFM))
        about = (
            "users drawn with last.fm's popularity: the number of artists of a real user drawn at random, artists "
            "taken without replacement in proportion to their real listeners; no tastes, so nothing goes together"
        )
        real = "real listeners and the artists they heard (HetRec 2011; at most 50 artists a user are recorded)"
        there.append(_Population("last.fm popularity", about, lambda: _alike(lastfm, users, seed)))
        there.append(_Population("last.fm", real, lambda: lastfm))
    except MissingDataError as error:
        missing.append(str(error))
    try:
        msweb = read_msweb(data_file(_MSWEB))
        real = "real visitors and the areas of one site they visited (UCI, anonymous Microsoft web data)"
        there.append(_Population("msweb", real, lambda: msweb))
    except MissingDataError as error:
        missing.append(str(error))
    return there, missing


def _synthetic(users: int, seed: int) -> ItemSets:
    popularity = 1.0 / (np.arange(1, N_SONGS + 1) + RANK_SHIFT)
    more = 1.0 / (MEAN - LEAST + 1)
    return drawn(users, lambda rng, size: LEAST - 1 + rng.geometric(more, size), popularity, seed)


def _alike(real: ItemSets, users: int, seed: int) -> ItemSets:
    sizes = real.sizes

    def like_someone(rng: np.random.Generator, size: int) -> npt.NDArray[np.int64]:
        return np.asarray(sizes[rng.integers(len(sizes), size=size)])

    return drawn(users, like_someone, real.holders.astype(np.float64), seed)


def _row(population: str, series: str, r: int, risk: Risk) -> Row:
    return {
        "population": population,
        "series": series,
        "kind": "measured",
        "samples": r,
        "rate": risk.rate,
        "low": risk.low,
        "high": risk.high,
        "baseline": risk.baseline,
        "targets": risk.n_targets,
        "queries": risk.n_queries,
    }


def _bounds(population: str, sets: ItemSets) -> Iterator[Row]:
    """Yield what no attacker beats who knows all users' items: Corollary 1 for one sample, Lemma 9 for any number.

    One sample of a user with m items has probability 1/m each. Given the user, samples are independent, so the
    information of r samples is at most r times that of one.
    """
    n, sizes = len(sets), sets.sizes
    each = 1.0 / np.repeat(sizes, sizes)
    largest = np.zeros(sets.n_items)
    np.maximum.at(largest, sets.items, each)
    shown = np.bincount(sets.items, each, sets.n_items) / n
    seen = shown[shown > 0.0]
    bits = max(0.0, float(-(seen * np.log2(seen)).sum() - np.log2(sizes).mean()))
    found = [("bound: optimal attacker (Corollary 1)", 1, float(largest.sum()) / n)]
    found += [("bound: mutual information (Lemma 9)", r, bounds.from_mutual_information(r * bits, n)) for r in SAMPLES]
    for series, r, value in found:
        yield {
            "population": population,
            "series": series,
            "kind": "bound",
            "samples": r,
            "rate": value,
            "low": value,
            "high": value,
            "baseline": 1.0 / n,
            "targets": n,
            "queries": n,
        }


def _lines(rows: list[Row]) -> tuple[drawing.Line, ...]:
    """One colour a population; a full line for ordered samples, a dashed one for unordered."""
    points: dict[tuple[str, str], dict[int, Any]] = {}
    for row in rows:
        if row["kind"] == "measured":
            key = (str(row["population"]), str(row["series"]))
            points.setdefault(key, {})[int(row["samples"])] = (row["rate"], row["low"], row["high"])
    colours = dict.fromkeys(population for population, _ in points)
    styles = dict(zip(colours, drawing.ATTACKS, strict=False))
    found = []
    for (population, series), rates in points.items():
        dash = (1, 0) if series == "ordered" else (6, 4)
        found.append(line(f"{population}, {series}", replace(styles[population], dash=dash), rates))
    return tuple(found)


def _compared(rows: list[Row], users: int, without_data: bool) -> tuple[Comparison, ...]:
    rates = {
        (row["population"], row["series"]): float(row["rate"])
        for row in rows
        if row["samples"] == 4 and row["kind"] == "measured"
    }
    size = f"{users:,} users instead of about a million. " if users != PUBLISHED_USERS else ""
    why = {
        _SONGS: "The popularity of songs and the number of songs a user are a stated law, not the "
        "Million Song Dataset, and nobody has tastes: songs do not go together.",
        "last.fm popularity": "17,632 artists instead of a million songs: each is held by more people, so a match says "
        "less. All but few users have exactly 50.",
        "last.fm": "1,892 real users instead of a million: far fewer to be confused with.",
        "msweb": "Visitors have 3 of 294 areas on average: the same areas come up on both sides, and in many people.",
    }
    found = []
    for population in dict.fromkeys(row["population"] for row in rows):
        drawn_here = population in (_SONGS, "last.fm popularity")
        ordered, unordered = (rates[population, series] for series in ("ordered", "unordered"))
        found.append(
            Comparison(
                f"rate at 4 samples, {population}",
                "about 1 % (a million users, about a million songs)",
                f"{100 * ordered:.3g} % ordered, {100 * unordered:.3g} % unordered",
                (size if drawn_here else "") + why[str(population)],
            )
        )
    if without_data:
        found.append(Comparison("real data", "Million Song Dataset", "left out", "Files are missing; see assumptions."))
    return tuple(found)
