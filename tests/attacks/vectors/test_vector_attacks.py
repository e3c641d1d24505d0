"""Attacks on vectors against plain NumPy, and the likelihood ratio against the density of a Gaussian."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from reidrisk import attacks, measure
from reidrisk.attacks.vectors.learn import learn
from reidrisk.attacks.vectors.spread import spread
from reidrisk.base.errors import DataError, OptionError
from reidrisk.records import Vectors


def copies(n=600, d=16, noise=0.3, uneven=0.0, seed=0):
    """Two noisy copies of people; ``uneven`` makes the noise differ by direction."""
    rng = np.random.default_rng(seed)
    people = rng.normal(size=(n, d)) / np.arange(1, d + 1) ** 0.5
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    each = np.exp(uneven * rng.normal(size=d))
    each *= noise / np.sqrt((each**2).mean())
    return tuple(Vectors(people + (rng.normal(size=(n, d)) * each) @ turn) for _ in range(2))


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "whitened"])
def test_nearest_is_what_numpy_finds(metric):
    known, asked = copies(300)
    a, b = (table.values.astype(float) for table in (known, asked))
    if metric == "cosine":
        near = (b / np.linalg.norm(b, axis=1)[:, None]) @ (a / np.linalg.norm(a, axis=1)[:, None]).T
    else:
        white = spread(known.values).whitening if metric == "whitened" else np.eye(16)
        near = -(((b @ white)[:, None] - (a @ white)[None]) ** 2).sum(axis=2)
    links = attacks.Nearest(metric).fit(known).link(asked)
    assert (links.target == near.argmax(axis=1)).all()
    assert (links.n_ties == 1).all()


def test_the_ratio_is_that_of_two_gaussians():
    known, asked = copies(400, d=4, noise=0.5)
    model = learn(known, asked, (known.values, asked.values), seed=0).model
    back = [np.linalg.inv(basis) for basis in model.bases]
    one, two = (side.T @ side for side in back)
    between = back[0].T @ np.diag(model.correlation) @ back[1]
    joint = np.block([[one, between], [between.T, two]])
    mean = np.concatenate([model.centre, model.centre + model.drift])
    for i, j in ((0, 0), (3, 7), (9, 2)):
        y, x = known.values[i].astype(float), asked.values[j].astype(float)
        apart = multivariate_normal(model.centre, one).logpdf(y) + multivariate_normal(
            model.centre + model.drift, two
        ).logpdf(x)
        want = multivariate_normal(mean, joint).logpdf(np.concatenate([y, x])) - apart
        found = model.ratios(model.weighed(known.values[[i]], 0), model.weighed(asked.values[[j]], 1))
        assert found[0, 0] == pytest.approx(want, rel=1e-4, abs=1e-4)


def test_bayes_finds_more_than_cosine_where_noise_differs_by_direction_and_its_probabilities_hold():
    known, asked = copies(600, noise=0.5, uneven=1.2)
    bayes = attacks.GaussianBayes()
    strong, plain = (measure.random_user(one, known, asked) for one in (bayes, attacks.Nearest()))
    assert measure.difference(strong, plain).low > 0.05
    links = bayes.link(asked, probability=True)
    credit = measure.credits(bayes, asked, links, np.arange(600))
    assert measure.calibration(links.probability, credit, links.n_ties).excess <= 0.03
    assert bayes.learnt_.pairs == 0
    assert "without known pairs" in bayes.description


def test_bayes_is_not_below_cosine_where_noise_is_round():
    known, asked = copies(600, noise=0.45)
    strong, plain = (measure.random_user(one, known, asked) for one in (attacks.GaussianBayes(), attacks.Nearest()))
    assert measure.difference(strong, plain).high > 0.0
    assert strong.rate >= plain.rate


def test_known_pairs_teach_what_differs():
    known, asked = copies(600, noise=0.6, uneven=1.2)
    some, rest = np.arange(200), np.arange(200, 600)
    pairs = known.take(some), asked.take(some)
    attack = attacks.GaussianBayes(pairs=pairs)
    told = measure.random_user(attack, known.take(rest), asked.take(rest))
    assert told.rate > measure.random_user(attacks.Nearest(), known.take(rest), asked.take(rest)).rate
    assert attack.learnt_.pairs == 200
    assert "200 people" in attack.description


def test_a_shift_between_the_tables_does_not_matter_to_bayes():
    known, asked = copies(400)
    moved = Vectors(asked.values + 3.0)
    rates = [measure.random_user(attacks.GaussianBayes(), known, table).rate for table in (asked, moved)]
    assert rates[1] == pytest.approx(rates[0], abs=0.02)


@pytest.mark.parametrize("s", [0, 1, 5, 50, 200])
def test_procrustes_turns_another_model_back(s):
    known, asked = copies(600, noise=0.1)
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(16, 16)))[0]
    other = Vectors(asked.values @ turn.astype(np.float32) + 1.0)
    pairs = attacks.Procrustes() if s == 0 else attacks.Procrustes(known.take(slice(0, s)), other.take(slice(0, s)))
    rest = np.arange(200, 600)
    found = measure.random_user(attacks.Nearest(align=pairs), known.take(rest), other.take(rest)).rate
    assert pairs.n_pairs == s
    assert (found > 0.95) == (s >= 50)
    if s == 200:
        aligned = attacks.GaussianBayes(align=pairs)
        assert measure.random_user(aligned, known.take(rest), other.take(rest)).rate > 0.95


def test_spaces_of_two_sizes_need_pairs():
    known, asked = copies(300, noise=0.05)
    wide = Vectors(np.hstack([asked.values, asked.values[:, :3]]))
    with pytest.raises(DataError, match="align the two spaces"):
        attacks.Nearest().fit(known).link(wide)
    pairs = attacks.Procrustes(known.take(slice(0, 100)), wide.take(slice(0, 100)))
    assert measure.random_user(attacks.Nearest(align=pairs), known, wide).rate > 0.9
    with pytest.raises(DataError, match="row by row"):
        attacks.Procrustes(known, asked.take(slice(0, 3)))


def test_groups_and_narrowing_look_at_some_targets_only():
    known, asked = copies(200, noise=0.2)
    for attack in (attacks.Nearest(), attacks.NearestWhitened(), attacks.WhitenedCosine(), attacks.GaussianBayes()):
        attack.fit(known).look_around(asked)
        rows = np.arange(0, 200, 2)
        links = attack.narrowed(rows).link(asked.take(rows))
        assert (links.target == np.arange(100)).mean() > 0.8
        best, score = attack.candidates(asked.take(slice(0, 5)), 3)
        assert (score == np.stack([attack.score(asked.take(slice(0, 5)), best[:, j]) for j in range(3)], 1)).all()


def test_probabilities_with_strangers_are_lower():
    known, asked = copies(200, noise=0.4)
    sure = [
        attacks.GaussianBayes(absent=absent).fit(known).link(asked, probability=True).probability.mean()
        for absent in (0.0, 0.9)
    ]
    assert sure[1] < sure[0]


def test_options_and_tables_are_checked():
    known, _ = copies(20)
    with pytest.raises(OptionError, match="cosine, euclidean, whitened"):
        attacks.Nearest("manhattan")
    with pytest.raises(DataError, match="compares vectors"):
        attacks.Nearest().fit(known.values)
    with pytest.raises(DataError, match="10 are needed"):
        attacks.GaussianBayes().fit(known.take(slice(0, 5)))
    with pytest.raises(DataError, match="one and the same"):
        attacks.GaussianBayes().fit(Vectors(np.ones((20, 3)))).link(Vectors(np.ones((5, 3))))
    with pytest.raises(OptionError, match="absent"):
        attacks.GaussianBayes(absent=1.0)


def test_scoreboard_takes_vectors_too():
    known, _ = copies(50)
    assert measure.random_user(attacks.Scoreboard(), known, known).rate == 1.0
