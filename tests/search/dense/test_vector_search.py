"""Exact nearest neighbours: every answer is that of a plain double loop, at every scale, with ties, in any shards."""

import numpy as np
import pytest

from reidrisk.base.errors import DataError, OptionError
from reidrisk.search.answer import merged
from reidrisk.search.dense import VectorRows, VectorScorer
from reidrisk.search.dense import scorer as searched
from reidrisk.search.dense.margin import SINGLE, gamma, margin
from reidrisk.search.dense.rows import to_scores

FORMS = ("cosine", "distance", "likelihood")


def twin(form, targets, queries):
    """Return all scores by one sum after the other, from the first dimension to the last."""
    found = []
    for x, of_x in zip(queries.values.astype(float), queries.extra, strict=True):
        total = np.zeros(len(targets))
        for i, y in enumerate(targets.values.astype(float).T):
            total += (x[i] - y) ** 2 if form == "distance" else x[i] * y
        if form == "cosine":
            total = total / (of_x * targets.extra)
        found.append(to_scores(form, total + targets.extra + of_x if form == "likelihood" else total))
    return np.array(found)


def case(form, size, away, seed=0, n=700, q=60, d=9):
    rng = np.random.default_rng(seed)
    known = (rng.normal(size=(n, d)) * size + away).astype(np.float32)
    known[100:110] = known[5]  # ties
    asked = (known[rng.integers(0, n, q)] + rng.normal(size=(q, d)) * size / 2).astype(np.float32)
    asked[:9], asked[10] = known[5], asked[10] * 300
    extra = (None, None) if form != "likelihood" else (rng.normal(size=n) * 3, rng.normal(size=q))
    return VectorRows.of(known, form, extra[0]), VectorRows.of(asked, form, extra[1])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("size", "away"), [(1.0, 0.0), (1e-3, 50.0), (30.0, 0.0), (1e-12, 0.0)])
def test_answers_are_those_of_a_plain_loop(form, size, away, monkeypatch):
    monkeypatch.setattr(searched, "_TARGETS", 256)
    monkeypatch.setattr(searched, "_QUERIES", 32)
    known, asked = case(form, size, away)
    scorer, want = VectorScorer.of(form, known), twin(form, known, asked)
    found = scorer.best(known, asked)
    assert (found.score == want.max(axis=1)).all()
    assert (found.target == want.argmax(axis=1)).all()
    assert (found.n_ties == (want == want.max(axis=1)[:, None]).sum(axis=1)).all()
    order = np.lexsort((np.broadcast_to(np.arange(len(known)), want.shape), -want), axis=1)
    for k in (1, 7, 400):
        top = scorer.candidates(known, asked, k)
        assert (top.target == order[:, :k]).all()
        assert (top.score == np.take_along_axis(want, order[:, :k], axis=1)).all()
    assert (scorer.scores(known, asked) == want).all()
    rows = np.arange(len(asked)) * 7 % len(known)
    assert (scorer.pairs(known, asked, rows) == want[np.arange(len(asked)), rows]).all()


@pytest.mark.parametrize("form", FORMS)
def test_scores_near_the_best_are_exact_and_others_lower(form):
    known, asked = case(form, 1.0, 0.0)
    want, scorer = twin(form, known, asked), VectorScorer.of(form, known)
    least = np.sort(want, axis=1)[:, -30]
    found = scorer.scores(known, asked, want.max(axis=1) - least)
    near = want >= least[:, None]
    assert (found[near] == want[near]).all()
    assert (found < least[:, None])[~near].all()


@pytest.mark.parametrize("form", FORMS)
def test_shards_and_threads_give_the_same(form):
    known, asked = case(form, 1.0, 0.0)
    scorer = VectorScorer.of(form, known)
    whole = scorer.best(known, asked)
    parts = [np.arange(0, 650), np.arange(650, 700)]
    one, two = (scorer.best(known.take(rows), asked) for rows in parts)
    both = merged(one, two._replace(target=two.target + 650))
    alone = VectorScorer(scorer.form, scorer.centre, scorer.scale, threads=1).best(known, asked)
    for other in (both, alone):
        assert all((a == b).all() for a, b in zip(whole, other, strict=True))


def test_the_sum_of_likelihoods_is_that_of_all_targets():
    known, asked = case("likelihood", 0.5, 0.0)
    scorer, want = VectorScorer.of("likelihood", known, temperature=2.0), twin("likelihood", known, asked)
    best = want.max(axis=1)
    below = (want - best[:, None]) / scorer.per_nat
    total = np.where(below > -26.0, np.rint(np.exp(below) * 2.0**36), 0).sum(axis=1)
    assert (np.abs(scorer.total(known, asked, best) - total) <= len(known)).all()  # exp may differ in its last bit
    with pytest.raises(OptionError, match="no likelihoods"):
        VectorScorer("cosine").total(known, asked, best)


def test_the_margin_holds_for_sums_made_to_be_bad():
    rng = np.random.default_rng(0)
    for d in (1, 7, 64, 1000):
        for _ in range(50):
            u, v = (rng.normal(size=d) * 10.0 ** rng.integers(-3, 3, d) for _ in range(2))
            v = np.where(rng.random(d) < 0.5, v, -v[::-1])  # cancels
            a, b = u.astype(np.float32), v.astype(np.float32)
            total = np.float32(0)
            for x, y in zip(a, b, strict=True):
                total += x * y
            exact = float(np.sum(u.astype(np.longdouble) * v))
            assert abs(float(total) - exact) <= margin(d, np.linalg.norm(u), np.linalg.norm(v))
    assert gamma(4, SINGLE) > 4 * SINGLE


def test_what_cannot_be_compared_is_refused_by_row():
    zeros = np.ones((3, 2), dtype=np.float32)
    zeros[1] = 0.0
    with pytest.raises(DataError, match="row 1 holds zeros only"):
        VectorRows.of(zeros, "cosine")
    known, asked = (VectorRows.of(np.ones((2, d), dtype=np.float32), "cosine") for d in (2, 3))
    with pytest.raises(DataError, match="targets have 2 dimensions, queries 3"):
        VectorScorer("cosine").best(known, asked)
