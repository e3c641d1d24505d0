"""Simulated people of nine kinds, each with parameters of its own for every seed: two views of them, and an attack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reidrisk import Bags, Traces
from reidrisk.attacks import Attack, Hamming, NaiveBayes, Nearest, TfIdf, WeightedHamming
from reidrisk.records import Vectors

Views = tuple[Any, Any, Attack[Any]]


def people(kind: str, n: int, seed: int) -> Views:
    """Return what two observers see of n people of this kind, and who attacks them."""
    return KINDS[kind](n, np.random.default_rng([seed, list(KINDS).index(kind)]))


def types(n: int, rng: np.random.Generator) -> Views:
    """Draw six tokens by one of 50 to 2,000 types."""
    n_types, n_tokens = int(rng.integers(50, 2_000)), 200
    of = rng.choice(n_types, n, p=rng.dirichlet(np.full(n_types, 0.5)))
    rates = rng.dirichlet(np.full(n_tokens, 0.03), n_types)[of].cumsum(axis=1)
    views = [np.stack([_drawn(rates, rng) for _ in range(6)], axis=1) for _ in range(2)]
    return Traces(views[0], n_tokens), Traces(views[1], n_tokens), NaiveBayes()


def places(n: int, rng: np.random.Generator) -> Views:
    """Draw four usual places, some of them common."""
    usual = np.minimum(rng.zipf(rng.uniform(1.4, 2.0), (n, 4)), 300) - 1
    noise = rng.uniform(0.05, 0.3)
    return *_noisy(usual, noise, 300, rng), WeightedHamming(top_k=1, noise=noise)


def bags(n: int, rng: np.random.Generator) -> Views:
    """Draw some purchases of thirty favourites each, popular ones more often."""
    popularity = np.arange(1, 1_501) ** -rng.uniform(0.6, 1.1)
    favourites = rng.choice(1_500, (n, 30), p=popularity / popularity.sum())
    shares, most = rng.dirichlet(np.full(30, 0.5), n).cumsum(axis=1), int(rng.integers(6, 25))
    views = [_bought(favourites, lambda: _drawn(shares, rng), most, 0.63, rng) for _ in range(2)]
    return *views, TfIdf()


def vectors(n: int, rng: np.random.Generator) -> Views:
    """Draw a point of a normal distribution, seen twice with noise."""
    at, noise = rng.normal(size=(n, int(rng.integers(6, 24)))), rng.uniform(0.3, 0.9)
    return *(Vectors(at + noise * rng.normal(size=at.shape)) for _ in range(2)), Nearest()


def few_records(n: int, rng: np.random.Generator) -> Views:
    """Draw four columns of 3 to 13 values: there are only so many records."""
    columns = [rng.choice(size, n, p=rng.dirichlet(np.full(size, 2.0))) for size in rng.integers(3, 14, 4)]
    return *_noisy(np.stack(columns, axis=1), rng.uniform(0.0, 0.1), 14, rng), Hamming()


def half_unique(n: int, rng: np.random.Generator) -> Views:
    """Draw half of the people nearly unique, half alike."""
    return _alike_or_unique(n, 0.5, rng)


def fifth_unique(n: int, rng: np.random.Generator) -> Views:
    """Draw a fifth of the people nearly unique, the rest alike."""
    return _alike_or_unique(n, 0.2, rng)


def some_unique_places(n: int, rng: np.random.Generator) -> Views:
    """Draw six usual places, of a share of the people out of thousands that nobody else favours."""
    usual = np.minimum(rng.zipf(rng.uniform(1.4, 2.0), (n, 6)), 300) - 1
    return *_noisy(_own(usual, rng.uniform(0.2, 0.8), rng), rng.uniform(0.05, 0.3), 3_000, rng), Hamming()


def some_unique_bags(n: int, rng: np.random.Generator) -> Views:
    """Draw purchases of twelve favourites, of a share of the people out of 1,500 items and else of 40."""
    own, most = rng.random(n) < rng.uniform(0.2, 0.8), int(rng.integers(6, 25))
    favourites = rng.integers(np.where(own, 1_500, 40)[:, None], size=(n, 12))
    return *(_bought(favourites, lambda: rng.integers(12, size=n), most, 1.0, rng) for _ in range(2)), TfIdf()


def _alike_or_unique(n: int, share: float, rng: np.random.Generator) -> Views:
    few = rng.integers(3_000, size=(int(rng.integers(5, 60)), 6))
    usual = _own(few[rng.integers(len(few), size=n)], share, rng)
    return *_noisy(usual, rng.uniform(0.02, 0.3), 3_000, rng), Hamming()


def _own(usual: Any, share: float, rng: np.random.Generator) -> Any:
    return np.where(rng.random(len(usual))[:, None] < share, rng.integers(3_000, size=usual.shape), usual)


def _noisy(usual: Any, noise: float, n_tokens: int, rng: np.random.Generator) -> tuple[Traces, Traces]:
    shown = [
        np.where(rng.random(usual.shape) < noise, rng.integers(n_tokens, size=usual.shape), usual) for _ in range(2)
    ]
    return Traces(shown[0], n_tokens), Traces(shown[1], n_tokens)


def _drawn(cumulated: Any, rng: np.random.Generator) -> Any:
    drawn = (rng.random(len(cumulated))[:, None] > cumulated).sum(axis=1)
    return np.minimum(drawn, cumulated.shape[1] - 1)


def _bought(favourites: Any, choose: Callable[[], Any], most: int, share: float, rng: np.random.Generator) -> Bags:
    who = np.arange(len(favourites))
    counts = np.zeros((len(who), 1_500), dtype=np.int16)
    for _ in range(most):
        np.add.at(counts, (who, favourites[who, choose()]), rng.random(len(who)) < share)
    return Bags(counts)


KINDS = {
    one.__name__.replace("_", " "): one
    for one in (
        types, places, bags, vectors, few_records, half_unique, fifth_unique, some_unique_places, some_unique_bags
    )
}  # fmt: skip
