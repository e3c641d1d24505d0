"""People made up for rehearsals: lasting tastes over items, of which records are drawn."""

import numpy as np

from reidrisk import Bags
from reidrisk.records import Events


def tastes(n, items, seed, strength=8.0):
    """Shares of items (n, items): some items are common, and each person likes a few far more than others do."""
    rng = np.random.default_rng(seed)
    common = rng.dirichlet(np.full(items, 0.5))
    return np.array([rng.dirichlet(strength * common + 1e-3) for _ in range(n)])


def drawn(shares, sizes, seed):
    rng = np.random.default_rng(seed)
    return Bags(np.array([rng.multinomial(size, p) for size, p in zip(sizes, shares, strict=True)]))


def two_looks(n=150, items=120, size=40, seed=0):
    """Two tables of the same people, drawn independently from their tastes."""
    shares = tastes(n, items, seed)
    return drawn(shares, np.full(n, size), seed + 1), drawn(shares, np.full(n, size), seed + 2)


def sets(n=200, groups=10, items=400, size=30, seed=0):
    """Sets of items: each person takes most of theirs from one group of items."""
    rng = np.random.default_rng(seed)
    rows = np.zeros((n, items), dtype=np.int64)
    group = np.arange(items) % groups
    for i in range(n):
        weight = np.where(np.isin(group, rng.choice(groups, 2, replace=False)), 12.0, 1.0)
        rows[i, rng.choice(items, size, replace=False, p=weight / weight.sum())] = 1
    return Bags(rows)


def baskets(n=200, topics=40, visits=6, size=8, seed=0):
    """A log of visits: all items of one are of one topic, of which each person has a few; topics have ten items."""
    rng = np.random.default_rng(seed)
    own = rng.integers(topics, size=(n, 3))
    topic = np.take_along_axis(own, rng.integers(3, size=(n, visits)), axis=1)
    item = 10 * topic[..., None] + rng.integers(10, size=(n, visits, size))
    who, when, _ = np.indices(item.shape)
    return Events(
        {"who": who.ravel(), "what": item.ravel(), "when": when.ravel()}, user="who", items="what", time="when"
    )


def torn_tables(seed):
    """Two tables of the same visits, of which each holds some events: they share hours, and few items."""
    log, rng = baskets(220, topics=25, visits=3, size=8, seed=seed - 4), np.random.default_rng(seed)
    visit = log.user * 3 + log.time.astype(np.int64)
    when = (rng.integers(0, 60 * 24, visit.max() + 1)[visit] * 3_600).astype("M8[s]")
    log = Events({"who": log.user, "what": log.item, "when": when}, user="who", items="what", time="when")
    side = rng.random(len(log)) < 0.5
    return [log.take(part).bags() for part in (side, ~side)]
