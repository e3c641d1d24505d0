"""The adapted attackers are as strong as a few lines of NumPy that know of the change."""

import numpy as np
import pytest

from reidrisk import Bags, Traces, attacks
from reidrisk.mitigations import Draw, RandomItem, Rotate, Shorten, SuppressRare, Trial
from reidrisk.mitigations.aware import Blurred
from reidrisk.mitigations.scoring import attackers, is_slow, strongest, usual_attacks
from reidrisk.records import Case, Truth

N, V = 300, 40


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    tastes = rng.gamma(0.3, 2.0, (N, V))
    return Case(*(Bags(rng.poisson(tastes)) for _ in range(2)), Truth(np.arange(N), "rows"))


def ours(case, change):
    """Return the interval of the strongest quick attacker who meets the change, knowing of it or not."""
    views = [(change.released(case, 1), False), (change.known_to_attacker(case, 1), True)]
    quick = [one for one in usual_attacks(case) if not is_slow(one, case)]
    return strongest(case, views, np.arange(len(case.queries)), quick, Trial())


def likeliest(case, change, noise=0.0):
    """Twin: the best of some naive Bayes attackers, who smooth by how common items are and know of the noise."""
    known = case.targets.counts.toarray().astype(float)
    asked = change.apply(case, 1).queries.counts.toarray()
    common = (known.sum(axis=0) + 1) / (known.sum() + V)
    rates = []
    for weight in (0.5, 2.0, 10.0, 40.0):
        profile = (known + weight * common) / (known.sum(axis=1, keepdims=True) + weight)
        scores = asked @ np.log((1 - noise) * profile + noise / V).T
        rates.append(float((scores.argmax(axis=1) == np.arange(N)).mean()))
    return max(rates)


@pytest.mark.parametrize(
    ("change", "noise"),
    [(RandomItem(0.3), 0.3), (RandomItem(0.6), 0.6), (RandomItem(0.8), 0.8), (Draw(0.3), 0.0), (Shorten(items=4), 0.0)],
    ids=lambda one: getattr(one, "text", one),
)
def test_a_few_lines_of_numpy_find_no_more_people(case, change, noise):
    assert likeliest(case, change, noise) <= ours(case, change).high


def test_suppressed_items_are_left_out_of_what_is_known_too(case):
    change = SuppressRare(120)
    stays = np.asarray(change.apply(case, 1).queries.counts.sum(axis=0)).ravel() > 0
    known, asked = (table.counts.toarray()[:, stays].astype(float) for table in (case.targets, case.queries))
    cosine = (asked @ known.T) / np.linalg.norm(known, axis=1).clip(1e-9)
    assert (cosine.argmax(axis=1) == np.arange(N)).mean() <= ours(case, change).high


def test_pseudonyms_that_are_joined_by_hand_find_no_more_people():
    rng = np.random.default_rng(2)
    habits = rng.integers(60, size=(200, 3))
    one, two = (Traces(np.take_along_axis(habits, rng.integers(3, size=(200, 8)), axis=1), n_tokens=60) for _ in "ab")
    case = Case(one, two, Truth(np.arange(200), "rows"))
    held, halves = np.zeros((200, 60)), np.zeros((2, 200, 60))
    np.add.at(held, (np.arange(200)[:, None], one.tokens), 1)
    for half in range(2):
        np.add.at(halves[half], (np.arange(200)[:, None], two.tokens[:, 4 * half : 4 * half + 4]), 1)
    rare = np.log(200 / (1 + (held > 0).sum(axis=0)))
    partner = (halves[0] * rare**2 @ halves[1].T).argmax(axis=1)  # the later half that is most alike
    scores = (halves[0] + halves[1][partner]) * rare**2 @ (held / np.linalg.norm(held * rare, axis=1)[:, None]).T
    assert (scores.argmax(axis=1) == np.arange(200)).mean() <= ours(case, Rotate(4)).high


def test_noise_that_is_known_is_told_to_an_attacker_who_uses_it(case):
    view = RandomItem(0.6).known_to_attacker(case)
    entry = next(one for one in attacks.registry() if one.attack is attacks.TfIdf)
    told = attackers(view, [entry], Trial(), knows=True)[-1]
    assert isinstance(told, Blurred)
    assert told.noise == pytest.approx(0.6)
    assert len(attackers(view, [entry], Trial(), knows=False)) == 1
    assert len(attackers(view, [attacks.TfIdf()], Trial(), knows=True)) == 1  # the caller's own choice stays


def test_likelihoods_are_those_of_the_formula():
    known = Bags([[3, 0, 1], [1, 1, 0]])
    attack = Blurred(noise=0.4, smoothing=0.5).fit(known)
    counts = known.counts.toarray()
    share = (counts + 0.5) / (counts.sum(axis=1, keepdims=True) + 1.5)
    expected = np.array([[2, 0, 1]]) @ np.log(0.6 * share + 0.4 / 3).T
    scores = attack.near_best(Bags([[2, 0, 1]]), np.array([-1]))[0]
    assert scores[0] - scores[1] == pytest.approx((expected[0, 0] - expected[0, 1]) * attack.steps, abs=4)
