"""What must not matter to any attack: where people and periods stand, how items are called, how long records are."""

import numpy as np
import pytest

from reidrisk import Bags, Traces, attacks
from reidrisk.attacks.registry import nameable
from reidrisk.mechanisms import TopKNoise

SYSTEM = TopKNoise(3, 0.05, 40)
ON_TRACES, ON_BAGS = (
    [one for one in nameable(kind) if one.attack is not attacks.Rehearsed and not one.attack.reads_cells]
    for kind in (Traces, Bags)
)  # what Rehearsed does, and those that read files, is in their own tests


def two_sites(n=60, epochs=10, seed=0):
    rng = np.random.default_rng(seed)
    favourites = rng.permuted(np.tile(np.arange(40), (n, 1)), axis=1)[:, :3]
    sides = [favourites[np.arange(n)[:, None], rng.integers(3, size=(n, epochs))] for _ in range(2)]
    return [Traces(np.where(rng.random(side.shape) < 0.1, -1, side), 40) for side in sides]


def of_two_sizes(n=60, seed=0):
    """Return bags of 1 to 10,000 events, and of 10 to 300."""
    rng = np.random.default_rng(seed)
    tastes = rng.dirichlet(np.full(40, 0.08), size=n)
    sizes = (
        rng.permutation(np.geomspace(1, 10_000, n).astype(int)),
        rng.permutation(np.linspace(10, 300, n).astype(int)),
    )
    return [Bags(np.stack([rng.multinomial(m, t) for m, t in zip(side, tastes, strict=True)])) for side in sizes]


def same(links, others, rows):
    """Whether the others are the same links, where target i of theirs is ``rows[i]`` of ours."""
    clear = links.n_ties == 1
    assert np.array_equal(links.n_ties, others.n_ties)
    return clear.sum() > 20 and np.array_equal(rows[others.target[clear]], links.target[clear])


@pytest.mark.parametrize("entry", ON_TRACES, ids=lambda one: one.name)
def test_order_of_people_and_periods_and_names_on_traces(entry):
    a, b = two_sites()
    rng = np.random.default_rng(1)
    people, names, when = rng.permutation(60), rng.permutation(40), rng.permutation(10)
    if entry.attack is attacks.Markov:
        when = np.arange(10)  # it asks what followed what

    def moved(side, rows):
        tokens = side.tokens[rows][:, when]
        return Traces(np.where(tokens < 0, -1, names[tokens]), 40)

    links = entry.attack.knowing(SYSTEM).fit(a).link(b)
    others = entry.attack.knowing(SYSTEM).fit(moved(a, people)).link(moved(b, np.arange(60)))
    if entry.attack is attacks.LooseSets:  # it mostly gives no answer
        assert np.array_equal(np.append(people, -1)[others.target], links.target)
    else:
        assert same(links, others, people)


@pytest.mark.parametrize("entry", ON_BAGS, ids=lambda one: one.name)
def test_order_of_people_and_names_on_bags_of_one_to_ten_thousand_events(entry):
    a, b = of_two_sizes()
    people, names = np.random.default_rng(1).permutation(60), np.random.default_rng(2).permutation(40)
    links = entry.attack().fit(a).link(b)
    moved = Bags(a.counts.toarray()[people][:, names]), Bags(b.counts.toarray()[:, names])
    assert same(links, entry.attack().fit(moved[0]).link(moved[1]), people)


# Totals alone, and what is not shared, are no evidence where both sides hold the same items.
@pytest.mark.parametrize(
    "entry", [one for one in ON_BAGS if one.name not in ("totals", "disjoint")], ids=lambda one: one.name
)
def test_sizes_alone_decide_nothing(entry):
    a, b = of_two_sizes(seed=3)
    links = entry.attack().fit(a).link(b)
    long = np.asarray(a.counts.sum(axis=1)).ravel() >= 30
    assert np.mean(links.target[long] == np.flatnonzero(long)) > 0.3
    assert np.bincount(links.target, minlength=60).max() <= 30  # neither the longest nor the shortest draws all
