"""The embedded default population: top-5 topic sets that have the rates printed in the papers.

How a user's sets come about, and what each parameter is for:

- **Twelve named topics.** User ``u`` has topic ``o`` in week ``e`` when ``a[u, o] + b[u, e, o] > h[o]``, with
  ``a ~ N(0, lasting)`` drawn once and ``b ~ N(0, weekly)`` drawn every week; the two variances of a topic add up
  to 1. The threshold ``h`` is set by the rate of the topic, ``lasting`` by the rates across weeks, and
  ``lasting + weekly`` by the rates within a week. More than five at once are cut to five at random.
- **The other 457 topics** fill the set. A user has a theme and ``n_favourites`` favourite topics for good. Every free
  place takes a favourite (``favourite_share``) or a fresh topic; a topic, favourite or fresh, comes from the theme
  (``theme_share``) or from anywhere, each time by popularity ``(rank + shift) ** -exponent``. What is already in
  the set is drawn again.

The numbers are in ``published.json``, which ``reidrisk_studies.calibrate_published`` derives from the printed figures.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base import Floats, Ints, Vocabulary, each, n_threads, sizes, whole
from reidrisk.base.streams import block_of, blocks, checked_seed, stream
from reidrisk.records import TopSets

Tokens = npt.NDArray[np.int16]

PURPOSE = "populations.published"
SET_SIZE = 5
N_TOPICS = 469

BLOCK = 8192  # users drawn together, always a whole block, so that a larger population starts with the same users


@dataclass(frozen=True, eq=False)
class Parameters:
    """What the population is drawn from; the module's first lines say what each number does."""

    labels: tuple[str, ...]
    threshold: Floats
    lasting: Floats
    weekly: Floats
    shift: float
    exponent: float
    n_themes: int
    theme_share: float
    n_favourites: int
    favourite_share: float

    @property
    def n_named(self) -> int:
        """Number of topics that the papers name; their tokens come first."""
        return len(self.labels)

    @cached_property
    def popularity(self) -> Floats:
        """Probability of each unnamed topic when one is drawn, the most popular first."""
        weight = (np.arange(1, N_TOPICS - self.n_named + 1) + self.shift) ** -self.exponent
        return np.asarray(weight / weight.sum())

    @cached_property
    def theme_steps(self) -> Floats:
        """Cumulative probability of the themes: each that of its topics together, which leaves popularity as it is."""
        return np.cumsum(np.bincount(self._theme_of_rank, self.popularity, self.n_themes))

    @cached_property
    def _theme_of_rank(self) -> Ints:
        # In turn, so that every theme has popular and rare topics.
        return np.arange(N_TOPICS - self.n_named) % self.n_themes

    @cached_property
    def _lookup(self) -> tuple[Floats, Tokens]:
        """Cumulative steps and topics of all themes end to end, then of all topics: one search serves every draw."""
        members = [np.flatnonzero(self._theme_of_rank == theme) for theme in range(self.n_themes)]
        members.append(np.arange(N_TOPICS - self.n_named))
        steps = [np.cumsum(self.popularity[ranks]) for ranks in members]
        scaled = [place + cumulative / cumulative[-1] for place, cumulative in enumerate(steps)]
        return np.concatenate(scaled), (np.concatenate(members) + self.n_named).astype(np.int16)

    def unnamed(self, theme: Ints, uniform: Floats) -> Tokens:
        """Turn uniform numbers into topics of users with these themes."""
        steps, topics = self._lookup
        share = self.theme_share
        inside, outside = uniform / max(share, 1e-300), (uniform - share) / max(1 - share, 1e-300)
        place = np.where(uniform < share, theme + inside, self.n_themes + outside)
        return topics[np.minimum(np.searchsorted(steps, place, side="right"), topics.size - 1)]

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Parameters:
        """Read what ``published.json`` holds: covariances are lower triangles, one row a topic."""
        named = given["named"]
        return cls(
            labels=tuple(topic["label"] for topic in named),
            threshold=np.array([topic["threshold"] for topic in named]),
            lasting=_symmetric([topic["lasting"] for topic in named]),
            weekly=_symmetric([topic["weekly"] for topic in named]),
            **given["unnamed"],
        )


def published(n: int, epochs: int, seed: int = 0, *, threads: int | None = None, first: int = 0) -> TopSets:
    """Draw a population of top-5 topic sets from published figures only: (n, epochs, 5) tokens out of 469.

    The rates of topics, of pairs within a week and of pairs across two weeks are those of dick, Figures 1 and 7, every
    week alike (dick, Appendix C); the entropy of one observed topic and the mutual information between two observers
    are those of carey, Appendix F.1.4. Tokens ascend within a set, and every set is full. Tokens 0 to 11 are the topics
    that the papers name, by rate; the others are numbered by popularity. The same seed gives the same people on any
    number of threads, and more users or weeks leave the first ones as they are. The users drawn are those from number
    ``first`` on, which begins a block of 8,192: a part of a larger population.

    >>> sets = published(1000, epochs=2)
    >>> sets
    TopSets(1,000 users x 2 epochs x 5 tokens of 469)
    >>> share = (sets.tokens[:, 0] == 0).any(axis=1).mean()    # of users with /News; dick, Figure 1: 34.60 %
    >>> bool(0.30 < share < 0.40)
    True
    """
    parameters = embedded()
    tokens = draw(parameters, n, epochs, seed, threads, first)
    unlisted = (f"unlisted topic {number:03d}" for number in range(1, N_TOPICS - parameters.n_named + 1))
    return TopSets(tokens, N_TOPICS, vocabulary=Vocabulary([*parameters.labels, *unlisted]))


@lru_cache(maxsize=1)
def embedded() -> Parameters:
    """Return the parameters that ship with the package."""
    text = files("reidrisk.populations").joinpath("published.json").read_text(encoding="utf-8")
    return Parameters.from_dict(json.loads(text))


def draw(parameters: Parameters, n: int, epochs: int, seed: int, threads: int | None = None, first: int = 0) -> Tokens:
    """Draw (n, epochs, 5) tokens for any parameters; :func:`published` uses the embedded ones."""
    n, epochs, seed = whole("n", n, unit="users"), whole("epochs", epochs, unit="epochs"), checked_seed(seed)
    workers, before = n_threads(threads), block_of(first, BLOCK)
    sizes.CELLS.check(n * epochs * SET_SIZE, "drawing the published population", "draw fewer users or epochs")
    tokens = np.empty((n, epochs, SET_SIZE), dtype=np.int16)

    def fill(part: tuple[int, int, int]) -> None:
        block, start, stop = part
        for epoch, sets in enumerate(_block(parameters, epochs, seed, before + block)):
            tokens[start:stop, epoch] = sets[: stop - start]

    each(fill, blocks(n, BLOCK), workers)
    return tokens


def _block(parameters: Parameters, epochs: int, seed: int, block: int) -> list[Tokens]:
    """Draw the sets of one whole block of users, a list over epochs of (BLOCK, 5) tokens."""
    rng = stream(seed, PURPOSE, block)
    lasting = correlated(parameters.lasting, BLOCK, rng)
    theme = np.searchsorted(parameters.theme_steps, rng.random(BLOCK), side="right").clip(max=parameters.n_themes - 1)
    favourites = np.full((BLOCK, parameters.n_favourites), -1, dtype=np.int16)
    nobody = np.zeros(BLOCK, dtype=np.intp)
    _fill(favourites, nobody, lambda rows, uniform: parameters.unnamed(theme[rows], uniform), rng)

    def favourite_or_fresh(rows: Ints, uniform: Floats) -> Tokens:
        # One uniform number serves every choice: what is left of it after a choice is uniform again.
        share = parameters.favourite_share
        chosen = np.empty(rows.size, dtype=np.int16)
        old = uniform < share
        which = (uniform[old] * (parameters.n_favourites / max(share, 1e-300))).astype(np.intp)
        chosen[old] = favourites[rows[old], np.minimum(which, parameters.n_favourites - 1)]
        chosen[~old] = parameters.unnamed(theme[rows[~old]], (uniform[~old] - share) / max(1 - share, 1e-300))
        return chosen

    weeks = []
    for epoch in range(epochs):
        # A stream a week, so that asking for more weeks leaves the first ones as they are.
        rng = stream(seed, f"{PURPOSE} epoch {epoch}", block)
        has = named_topics(parameters, lasting, rng)
        sets = np.full((BLOCK, SET_SIZE), -1, dtype=np.int16)
        rows, topics = np.nonzero(has)
        sets[rows, (np.cumsum(has, axis=1) - 1)[rows, topics]] = topics
        _fill(sets, has.sum(axis=1), favourite_or_fresh, rng)
        weeks.append(np.sort(sets, axis=1))
    return weeks


def named_topics(parameters: Parameters, lasting: Floats, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Draw which named topics each user has in one week: (size, named), at most five of them."""
    has: npt.NDArray[np.bool_] = lasting + correlated(parameters.weekly, len(lasting), rng) > parameters.threshold
    crowded = np.flatnonzero(has.sum(axis=1) > SET_SIZE)
    if crowded.size:
        lot = np.where(has[crowded], rng.random((crowded.size, has.shape[1])), -1.0)
        kept = np.argsort(-lot, axis=1)[:, :SET_SIZE]
        has[crowded] = False
        has[crowded[:, None], kept] = True
    return has


def correlated(covariance: Floats, size: int, rng: np.random.Generator) -> Floats:
    """Draw (size, named) interests: those that stay with a user, or those of one week."""
    # einsum, not matmul: it adds in one order, whatever the linear algebra library and its threads.
    root = np.linalg.cholesky(covariance)
    return np.asarray(np.einsum("uj,ij->ui", rng.standard_normal((size, len(covariance))), root))


def _fill(sets: Tokens, taken: Ints, topics: Callable[[Ints, Floats], Tokens], rng: np.random.Generator) -> None:
    """Fill the places of each row from ``taken[row]`` on, drawing again what the row already holds."""
    for place in range(sets.shape[1]):
        rows = np.flatnonzero(taken <= place)
        while rows.size:
            drawn = topics(rows, rng.random(rows.size))
            sets[rows, place] = drawn
            rows = rows[(sets[rows, :place] == drawn[:, None]).any(axis=1)]


def _symmetric(triangle: list[list[float]]) -> Floats:
    lower = np.zeros((len(triangle), len(triangle)))
    for i, row in enumerate(triangle):
        lower[i, : i + 1] = row
    return lower + np.tril(lower, -1).T
