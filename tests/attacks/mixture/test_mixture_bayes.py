"""MixtureBayes against enumeration of every draw of a small mixture, and as the ceiling on its own people."""

from itertools import combinations, product

import numpy as np
import pytest

from reidrisk import Traces, attacks, measure, populations, topics
from reidrisk.attacks.mixture import device
from reidrisk.attacks.mixture.scorer import add_type
from reidrisk.base.errors import DataError, OptionError
from reidrisk.mechanisms import token_probabilities
from reidrisk.populations import TypeMixture
from reidrisk.search import GRID


def mixture(types=3, epochs=2, k=2, n=4, seed=0, sharp=2.0):
    return TypeMixture(np.random.default_rng(seed).normal(scale=sharp, size=(types, epochs, k, n)))


def sets_of(slots):
    """Return every padded set that slots can give, with its probability."""
    k, n = slots.shape
    found = {}
    for drawn in product(range(n), repeat=k):
        held = frozenset(drawn)
        chance = float(np.prod([slots[s, o] for s, o in enumerate(drawn)]))
        pads = list(combinations(sorted(set(range(n)) - held), k - len(held)))
        for pad in pads:
            full = held | set(pad)
            found[full] = found.get(full, 0.0) + chance / len(pads)
    return found


def enumerated(model, noise, a, b):
    """Return P(b | a) by going through types and sets: of both traces together, divided by that of a."""
    inside, outside = token_probabilities(model.n_tokens, model.k, noise)
    shown = lambda token, held: 1.0 if token < 0 else inside if token in held else outside  # noqa: E731
    both, alone = 0.0, 0.0
    for kind in range(model.n_types):
        of_pair, of_one = 1.0, 1.0
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            sets = sets_of(model.probabilities(i)[kind])
            of_pair *= sum(chance * shown(x, held) * shown(y, held) for held, chance in sets.items())
            of_one *= sum(chance * shown(x, held) for held, chance in sets.items())
        both, alone = both + of_pair, alone + of_one
    return both / alone


@pytest.mark.parametrize(("k", "noise"), [(1, 0.05), (2, 0.1), (3, 0.05), (2, 0.0)])
def test_likelihoods_are_those_of_enumeration(k, noise):
    model = mixture(k=k)
    rng = np.random.default_rng(k)
    a, b = rng.integers(-1, 4, size=(12, 2)), rng.integers(-1, 4, size=(6, 2))
    attack = attacks.MixtureBayes(model, noise=noise, negligible=0.0).fit(Traces(a, 4))
    scorer, targets, asked = attack._posed(Traces(b, 4))
    expected = np.array([[enumerated(model, noise, x, y) for x in a] for y in b])
    # Exact to 1e-9 before rounding to the grid: the common factor of a query's targets cancels.
    for kind in range(model.n_types):
        for epoch in range(2):
            tables = scorer.factors(kind, epoch, np.arange(4))
            sets = sets_of(model.probabilities(epoch)[kind])
            inside, outside = token_probabilities(4, k, noise)
            for x, y in product(range(4), repeat=2):
                two = sum(
                    c * (inside if x in s else outside) * (inside if y in s else outside) for s, c in sets.items()
                )
                one = sum(c * (inside if x in s else outside) for s, c in sets.items())
                assert tables[y, x] * scorer.seen[epoch].mean(axis=0)[y] == pytest.approx(two / one, rel=1e-9)
    common = expected / expected.max(axis=1, keepdims=True)
    scores = scorer.scores(targets, asked)
    relative = np.exp((scores - scores.max(axis=1, keepdims=True)) / GRID)
    np.testing.assert_allclose(relative, common, atol=3 / GRID)
    links = attack.link(Traces(b, 4), probability=True)
    np.testing.assert_allclose(links.probability, expected.max(axis=1) / expected.sum(axis=1), atol=1e-4)


def test_the_compiled_sum_is_its_numpy_twin():
    rng = np.random.default_rng(0)
    tables, places = rng.random((3, 5, 7)), rng.integers(5, size=(4, 3))
    held, rows, weight = rng.integers(7, size=(6, 3)), np.array([0, 2, 3, 5, 8, 9]), rng.random(6)
    found = np.zeros((4, 10))
    add_type(found, tables, places, held, rows, weight)
    twin = np.zeros((4, 10))
    for q in range(4):
        twin[q, rows] += weight * np.prod([tables[i, places[q, i], held[:, i]] for i in range(3)], axis=0)
    np.testing.assert_allclose(found, twin, rtol=1e-14)


def people(model, n, noise, seed):
    sets = populations.mixture(model, n, seed=seed)
    api = topics.TopicsAPI(model.n_tokens, top_k=model.k, noise=noise)
    return [api.expose(sets, seed=seed, site=site) for site in ("one", "two")]


def test_on_its_own_people_nobody_is_above_it_and_its_probabilities_hold():
    model = mixture(types=12, epochs=6, k=3, n=40, seed=1, sharp=2.0)
    targets, queries = people(model, 1500, 0.05, seed=2)
    best = measure.random_user(attacks.MixtureBayes(model), targets, queries)
    for other in (attacks.Hamming(), attacks.WeightedHamming(3, 0.05), attacks.ProfileBayes(top_k=3, noise=0.05)):
        gap = measure.difference(best, measure.random_user(other, targets, queries))
        assert gap.high > 0.0
    assert gap.low > 0.0  # the strongest of them is below it, too
    links = attacks.MixtureBayes(model).fit(targets).link(queries, probability=True)
    sure = links.probability * links.n_ties  # of any of those that tie
    right = (attacks.MixtureBayes(model).fit(targets).score(queries, np.arange(1500)) == links.score).mean()
    assert abs(sure.mean() - right) < 4 * np.sqrt(0.25 / 1500)


def test_what_is_negligible_changes_no_rate_beyond_it_and_shards_change_nothing():
    model = mixture(types=30, epochs=6, k=2, n=30, seed=3)
    targets, queries = people(model, 400, 0.05, seed=4)
    whole, less = (attacks.MixtureBayes(model, negligible=at).fit(targets) for at in (0.0, 1e-6))
    assert less._known.posterior.nnz < whole._known.posterior.nnz
    assert np.mean(whole.link(queries).target != less.link(queries).target) < 0.01
    rows = np.arange(100, 300)
    scorer, known, asked = whole._posed(queries)
    np.testing.assert_array_equal(scorer.scores(known, asked)[:, rows], scorer.scores(known.take(rows), asked))
    np.testing.assert_array_equal(scorer.pairs(known, asked[:200], rows), scorer.scores(known, asked)[range(200), rows])


def test_the_search_in_torch_gives_the_same_answers(monkeypatch):
    model = mixture(types=9, epochs=3, k=2, n=12, seed=5)
    targets, queries = people(model, 300, 0.05, seed=6)
    tokens = queries.tokens.copy()
    tokens[::7, 1] = -1
    scorer, known, asked = attacks.MixtureBayes(model).fit(targets)._posed(Traces(tokens, 12))
    monkeypatch.setattr(device, "_SUMS", 300 * 64)  # several blocks of queries
    for one, other in zip(
        scorer.best(known, asked), device.best(scorer.factors, known, asked, 1e-300, device="cpu"), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: attacks.MixtureBayes("a model"), DataError),
        (lambda: attacks.MixtureBayes(mixture(), noise=2.0), OptionError),
        (lambda: attacks.MixtureBayes(mixture(k=8, n=9)), OptionError),
        (lambda: attacks.MixtureBayes(mixture(k=5, n=4)), OptionError),
        (lambda: attacks.MixtureBayes(mixture()).fit(Traces([[0, 1, 2]], 4)), DataError),
        (lambda: attacks.MixtureBayes(mixture()).fit(Traces([[0]], 5)), DataError),
        (lambda: attacks.MixtureBayes(mixture()).link(Traces([[0]], 4)), OptionError),
        (lambda: attacks.MixtureBayes(mixture()).fit(Traces([[0]], 4)).link(Traces([[0, 1]], 4)), DataError),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(make, error):
    with pytest.raises(error) as caught:
        make()
    assert "\n" not in str(caught.value)
