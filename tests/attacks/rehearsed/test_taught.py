"""What rehearsed pairs teach: the taste that two parts have in common, and the items that people hold again."""

import numpy as np
from people import two_looks

from reidrisk import Bags
from reidrisk.attacks.rehearsed.adapted import RealLinks
from reidrisk.attacks.rehearsed.panel import Panel
from reidrisk.attacks.rehearsed.practice import practise
from reidrisk.attacks.rehearsed.taught import Kindred, Lasting, RehearsedPairs, taught_by
from reidrisk.attacks.rivals import BM25, TfIdf
from reidrisk.records.cut import cut


def rate(attack, known, asked):
    links = attack.fit(known).link(asked)
    return ((links.target == np.arange(len(asked))) / links.n_ties).mean()


def groups(n=400, seed=0):
    """Two looks at people who take items of three of forty groups, never one item twice: only taste is shared."""
    rng = np.random.default_rng(seed)
    rows = np.zeros((2, n, 800), dtype=np.int64)
    for i in range(n):
        own = rng.choice(40, 3, replace=False)
        items = rng.permutation((20 * own[:, None] + np.arange(20)).ravel())
        rows[0, i, items[:15]], rows[1, i, items[15:30]] = 1, 1
    return Bags(rows[0]), Bags(rows[1])


def test_tastes_are_compared_along_what_pairs_have_in_common():
    known, asked = groups()
    attack = Kindred(RehearsedPairs.of(cut(known, np.full(10, 7), seed=0)))
    assert rate(attack, known, asked) > 0.1 > 0.03 > rate(TfIdf(), known, asked)


def test_a_record_without_items_is_as_far_from_all():
    known, _ = groups(200)
    attack = Kindred(RehearsedPairs.of(cut(known, np.full(10, 7), seed=0))).fit(known)
    assert attack.link(Bags(np.zeros((1, 800), dtype=np.int64))).n_ties.tolist() == [200]


def test_items_weigh_by_how_often_people_hold_them_again():
    """Half of the items are habits, the others are anybody's each time."""
    rng = np.random.default_rng(0)
    habits = np.array([rng.permutation(100)[:8] for _ in range(500)])
    tables = []
    for _ in range(2):
        rows = np.zeros((500, 200), dtype=np.int64)
        for i in range(500):
            rows[i, rng.choice(habits[i], 2, replace=False)] = 3
            rows[i, 100 + rng.choice(100, 8, replace=False)] = 3
        tables.append(Bags(rows))
    attack = Lasting(RehearsedPairs(tables[0].counts.astype(int), tables[1].counts.astype(int), np.arange(500)))
    assert rate(attack, *tables) > rate(TfIdf(), *tables) + 0.03
    assert attack.rarity_[:100].mean() > 2.0 * attack.rarity_[100:].mean()


def test_few_pairs_teach_nothing():
    known, _ = groups(60)
    assert taught_by(RehearsedPairs.of(cut(known, np.full(10, 7), seed=0))) == []


def test_real_links_that_are_sure_teach_and_probabilities_follow_the_rate():
    targets, queries = two_looks(300, 100, 40, seed=3)
    case = cut(targets, np.full(10, 20), seed=0)
    practice = practise(lambda: [BM25(), TfIdf()], case, 100, 1.0, seed=0)
    panel = Panel(practice.attacks, targets, queries)
    real = RealLinks(panel, queries, seed=0)
    weights = real.adapted(practice)
    assert (weights >= 0.0).all()
    assert not np.array_equal(weights, practice.weights)
    best, sure = real._linked(real.scaled(weights, 0.6))
    mine = real._choices.own_first(best)
    assert mine.credits(mine.scores(weights)).min() > 0.0
    assert abs(sure.mean() - 0.6) < 0.02
