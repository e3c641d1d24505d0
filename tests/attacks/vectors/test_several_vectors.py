"""Attacks on records of several vectors: against ten lines of NumPy, and against the density of a Gaussian."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from reidrisk import attacks, measure, mitigations
from reidrisk.attacks.vectors.counted import Counted, Within, within
from reidrisk.attacks.vectors.spread import Spread
from reidrisk.records import Vectors
from reidrisk.scenarios import Split
from reidrisk.search.engines.shards import Shard, Sharding, over


def unit(values):
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def several(n=200, d=12, noise=1.4, uneven=0.0, kinds=1, seed=0):
    """People with one to eight vectors each, perhaps of several kinds."""
    rng = np.random.default_rng(seed)
    owner = np.repeat(np.arange(n), rng.integers(2, 9, n))
    each = noise * np.exp(uneven * rng.normal(size=d)) / np.exp(uneven**2)
    values = rng.normal(size=(n, d))[owner] + each * rng.normal(size=(len(owner), d))
    if kinds > 1:
        values += 3.0 * rng.normal(size=(n, kinds, d))[owner, rng.integers(0, kinds, len(owner))]
    return Vectors.of_several(values, owner)


class Thirds(Sharding):
    """An engine that looks at every third target at a time."""

    def mapped(self, question, targets):
        rows = (np.arange(first, len(targets), 3) for first in range(3))
        return over(question, (Shard(some, targets.take(some)) for some in rows))


def numpy_rates(case):
    """Mean and cosine, the largest cosine over pairs, and the mean over pairs."""
    known, asked = case.targets.several, case.queries.several
    pairs = unit(asked.values.astype(float)) @ unit(known.values.astype(float)).T
    scores = [unit(case.queries.values) @ unit(case.targets.values).T]
    for of in (np.max, np.mean):
        wide = np.stack([of(pairs[:, known.owner == j], axis=1) for j in range(len(case.targets))], axis=1)
        scores.append(np.stack([of(wide[asked.owner == i], axis=0) for i in range(len(case.queries))]))
    return [(one.argmax(axis=1) == case.truth.target).mean() for one in scores]


@pytest.mark.parametrize("kind", [{}, {"uneven": 1.0}, {"kinds": 3, "noise": 0.4}])
def test_ten_lines_of_numpy_find_no_more_people(kind):
    case = Split(several(150, **kind), by="random").case(1)
    tried = attacks.Nearest(), attacks.NearestPair(), attacks.MeanPair(), attacks.GaussianBayes()
    rates = [measure.random_user(one, *case).rate for one in tried]
    plain = numpy_rates(case)
    assert rates[:3] == pytest.approx(plain)
    assert max(rates) >= max(plain)
    if not kind.get("kinds"):
        assert rates[3] >= max(plain) - 0.02  # three of 150
        assert tried[3].learnt_.within > 100
        assert "several vectors" in tried[3].description
    if kind.get("uneven"):
        assert rates[3] > max(plain) + 0.1


def test_ties_of_the_nearest_two_are_exact():
    known = Vectors.of_several([[1, 0], [0, 1], [2, 0], [1, 1], [0, 3]], users=[0, 0, 1, 1, 2])
    asked = Vectors.of_several([[5, 0], [-1, 0], [0, 2], [0, -1]], users=[0, 0, 1, 1])
    links = attacks.NearestPair().fit(known).link(asked)
    assert links.target.tolist() == [0, 0]
    assert links.n_ties.tolist() == [2, 2]
    attack = attacks.NearestPair().fit(known)
    best, score = attack.candidates(asked, 3)
    assert best.tolist() == [[0, 1, 2], [0, 2, 1]]
    assert (score == np.stack([attack.score(asked, best[:, j]) for j in range(3)], axis=1)).all()
    whole = attack.near_best(asked, np.array([-1, -1]))
    assert (np.take_along_axis(whole, best, axis=1) == score).all()


def test_the_ratio_is_that_of_gaussians_of_means():
    rng = np.random.default_rng(0)
    d, table = 3, several(60, 3)
    w, b = (one @ one.T + 0.1 * np.eye(d) for one in rng.normal(size=(2, d, d)))
    spread = Spread(np.ones(d), b + 0.4 * w)
    model = Counted.of(Within(w, 100, 0.3), (spread, spread), 0.1, np.full(d, 0.5))
    counts = np.array([1, 2, 4, 8])
    points = rng.normal(size=(4, d)).astype(np.float32)
    known, asked = model.rows(points, counts, 0), model.rows(points[::-1], counts, 1)
    scores = model.scorer(known).scores(known, asked)
    for i in range(4):
        for j in range(4):
            one, two = (b + (1.0 / counts[k] + 0.1) * w for k in (j, i))
            y, x = points[j].astype(float), points[::-1][i].astype(float)
            apart = multivariate_normal(np.ones(d), one).logpdf(y) + multivariate_normal(np.ones(d) + 0.5, two).logpdf(
                x
            )
            both = multivariate_normal(np.repeat([1.0, 1.5], d), np.block([[one, b], [b, two]]))
            want = both.logpdf(np.concatenate([y, x])) - apart
            assert scores[i, j] / 2**16 == pytest.approx(want, rel=1e-3, abs=1e-3)
    assert within(Vectors(np.eye(3)), Vectors(np.eye(3)), 0) is None
    assert within(table, table, 0).n > 100


def test_more_vectors_are_worth_more_and_probabilities_hold():
    case = Split(several(600, noise=1.2), by="random").case(1)
    attack = attacks.GaussianBayes().fit(case.targets).look_around(case.queries)
    links = attack.link(case.queries, probability=True)
    credit = measure.credits(attack, case.queries, links, case.truth.target)
    many = case.queries.several.per_record > 2
    assert credit[many].mean() > credit[~many].mean() + 0.1
    assert measure.calibration(links.probability, credit, links.n_ties).excess <= 0.03


@pytest.mark.parametrize("attack", [attacks.NearestPair(), attacks.MeanPair(), attacks.GaussianBayes()])
def test_shards_answer_alike(attack):
    case = Split(several(80), by="random").case(1)
    attack.fit(case.targets).look_around(case.queries)
    here, there = attack.link(case.queries), attack.link(case.queries, engine=Thirds())
    assert (here.target == there.target).all()
    assert (here.score == there.score).all()
    assert (here.n_ties == there.n_ties).all()


def test_noise_is_of_each_vector_and_averages_out():
    case = Split(several(300, noise=0.3), by="random").case(1)
    noisy = mitigations.GaussianNoise(1.0).apply(case, 1).queries
    gap = noisy.several.values - case.queries.several.values
    mean = noisy.values - case.queries.values
    assert gap.std() == pytest.approx(case.queries.several.values.std(axis=0).mean(), rel=0.1)
    assert mean.std() < 0.8 * gap.std()
    assert mitigations.Reduce(4).apply(case, 1).targets.several.values.shape[1] == 4
