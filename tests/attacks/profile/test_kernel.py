"""The kernel of ProfileBayes gives the integers of the first one, whatever the blocks and however wide its sums are."""

import sys
from pathlib import Path

import numpy as np
import pytest

from reidrisk import Traces
from reidrisk.attacks import ProfileBayes
from reidrisk.attacks.profile import factor, layout, powers
from reidrisk.attacks.profile.counts import ladder_of
from reidrisk.attacks.profile.posterior import Posterior
from reidrisk.search import GRID, UNIT
from reidrisk.search.answer import FAR

sys.path.insert(0, str(Path(__file__).parent))
from first_kernel import FirstKernel


def people(seed, tokens=7, epochs=9, gaps=0.0, n=(60, 41)):
    """Return two tables of the same people, with gaps, and a record of nothing on either side."""
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.full(tokens, 0.4), max(n))
    tables = [np.stack([rng.choice(tokens, epochs, p=row) for row in chances[:size]]) for size in n]
    tables = [np.where(rng.random(x.shape) < gaps, -1, x) for x in tables]
    tables[0][[3, 8]] = -1
    tables[1][5] = -1
    return tuple(Traces(x, tokens) for x in tables)


def posed(attack, queries, temperature=1.3):
    attack._learnt.posterior = Posterior(temperature)
    return attack._posed(queries)


def check(scorer, targets, queries):
    """Compare every answer with those of the first kernel."""
    twin = FirstKernel(scorer.tables, scorer.per_nat)
    best = twin.best(targets, queries)
    total = twin.total(targets, queries, best.score)
    both = scorer.best_and_total(targets, queries)
    for mine in (scorer.best(targets, queries), both[0]):
        for a, b in zip(mine, best, strict=True):
            assert np.array_equal(a, b)
    assert np.array_equal(both[1], total)
    assert np.array_equal(scorer.total(targets, queries, best.score), total)
    scores = twin.scores(targets, queries)
    assert np.array_equal(scorer.scores(targets, queries), scores)
    reach = np.full(len(queries), 2 * GRID)
    near = scores >= best.score[:, None] - reach[:, None]
    some = scorer.scores(targets, queries, reach)
    assert np.array_equal(some[near], scores[near])
    assert (some[~near] < best.score.repeat(len(targets)).reshape(near.shape)[~near] - 2 * GRID).all()


@pytest.mark.parametrize("top_k", [None, 2])
@pytest.mark.parametrize(("kinds", "gaps"), [(1, 0.3), (2, 0.0), (3, 0.3), (4, 0.0), (6, 0.2)])
@pytest.mark.parametrize("cut", ["as it is", "small blocks", "wide sums", "little room"])
def test_every_answer_is_that_of_the_first_kernel(top_k, kinds, gaps, cut, monkeypatch):
    if cut == "small blocks":
        monkeypatch.setattr(layout, "_BLOCK", 7)
        monkeypatch.setattr(factor, "_QUERIES", 3)
    elif cut == "wide sums":
        monkeypatch.setattr(factor, "SAFE", 40 * GRID)  # of some parts of the queries, and of all targets with gaps
    elif cut == "little room":
        monkeypatch.setattr(layout, "_BLOCK", 7)
        monkeypatch.setattr(factor, "_KEPT", 12)
    targets, queries = people(kinds, gaps=gaps)
    check(*posed(ProfileBayes(top_k, 0.1, kinds=kinds).fit(targets), queries))


@pytest.mark.parametrize("every", [2, 3])
def test_epochs_taken_together_too(every):
    targets, queries = people(every, tokens=5, epochs=40, gaps=0.1)
    check(*posed(ProfileBayes(2, 0.1)._fit(targets, ladder_of(targets, every)), queries))


def test_large_vocabularies_and_tokens_that_no_target_holds():
    rng = np.random.default_rng(2)
    targets, queries = (Traces(rng.integers(0, high, (30, 6)) * 900, 40_000) for high in (30, 44))
    check(*posed(ProfileBayes(2, 0.1).fit(targets), queries))


def test_targets_of_which_none_holds_anything_score_nothing():
    targets, queries = people(1)
    scorer, known, asked = posed(ProfileBayes(2, 0.1).fit(targets), queries)
    nobody = known.take(np.array([3, 8]))
    check(scorer, nobody, asked)
    assert scorer.best(nobody, asked).n_ties.tolist() == [2] * len(queries)


def test_likelihoods_from_tables_are_those_of_the_definition():
    rng = np.random.default_rng(3)
    for temperature in (0.5, 1.0, 1.0293, 7.9):
        table = powers.powers_of(1.0 / (GRID * temperature))
        below = np.concatenate([np.arange(2_000), rng.integers(0, int(1.1 * table.reach), 200_000)])
        nats = below * table.nats
        expected = np.where(nats < FAR, np.floor(np.exp(-nats) * UNIT + 0.5), 0.0)
        found = np.array([powers.likelihoods(0, -below[i : i + 1], table) for i in range(0, len(below), 40)])
        assert np.array_equal(found, expected[::40])
        assert powers.likelihoods(0, -below, table) == int(expected.astype(np.int64).sum())
    assert powers.likelihoods(-GRID, np.zeros(1, dtype=np.int64), powers.powers_of(1.0 / GRID)) == round(np.e * UNIT)


def test_the_error_of_the_table_of_logarithms_is_below_what_counts_as_doubt():
    rng = np.random.default_rng(4)
    sums = -rng.integers(0, 25 * GRID, (50_000, 4)).astype(np.float64)
    for kinds in (2, 3, 4):
        exact = np.logaddexp.reduce(sums[:, :kinds] / GRID, axis=1) * GRID
        found = []
        for row in sums[:, :kinds]:
            total = row[0]
            for value in row[1:]:
                total = powers.joined(total, value)
            found.append(total)
        assert np.abs(found - exact).max() < powers._DOUBT_SOFT
    assert powers.in_doubt(7.5 - 0.9 * powers._DOUBT_SOFT)
    assert not powers.in_doubt(7.5 + 1.1 * powers._DOUBT_SOFT)
