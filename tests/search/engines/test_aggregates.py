"""What engines count is what arrays count, and attacks face other targets as they face those they were fitted to."""

import numpy as np
import pytest

from reidrisk import Traces, attacks
from reidrisk.base.errors import OptionError
from reidrisk.mechanisms import pairs_from_observers, popularity
from reidrisk.mechanisms.popularity import pairs_of_counts, popularity_of_counts
from reidrisk.search.engines import DuckDBEngine
from reidrisk.search.engines.aggregates import pair_counts, token_counts

N, R, TOKENS = 300, 3, 8


def tables():
    rng = np.random.default_rng(0)
    return [Traces(rng.integers(-1, TOKENS, (N, R)), TOKENS) for _ in range(2)]


def test_popularity_and_pairs_are_counted_where_the_tables_are():
    one, two = tables()
    columns = {"id": np.arange(N)}
    columns |= {f"c{s}": two.tokens[:, s] for s in range(R)} | {f"t{s}": one.tokens[:, s] for s in range(R)}
    with DuckDBEngine(threads=1).session() as session:
        session.put("queries", columns)
        counts = token_counts(session, "queries", R, TOKENS)
        joint = pair_counts(session, "queries", R, TOKENS)
    for per_epoch in (False, True):
        assert np.array_equal(popularity_of_counts(counts, 2, 0.1, per_epoch), popularity(two, 2, 0.1, per_epoch))
    found = pairs_of_counts(joint, popularity(one, 2, 0.1)[0], popularity(two, 2, 0.1)[0], 2, 0.1)
    assert np.array_equal(found, pairs_from_observers(one, two, 2, 0.1))


FACING = [attacks.Hamming(), attacks.WeightedHamming(2, 0.1), attacks.ProfileBayes(2, 0.1), attacks.BM25(),
          attacks.TfIdf(), attacks.Hellinger(), attacks.NaiveBayes(), attacks.Markov(), attacks.Presence()]  # fmt: skip


@pytest.mark.parametrize("attack", FACING, ids=lambda attack: attack.name)
def test_a_fitted_attack_scores_other_targets_as_it_scores_its_own(attack):
    one, two = tables()
    asked, rows = two.take(np.arange(20)), np.arange(100, 120)
    fitted = attack.fit(one)
    part = fitted.facing(one.take(np.arange(90, 130)))
    assert np.array_equal(part.score(asked, rows - 90), fitted.score(asked, rows))
    links = fitted.facing(one).link(asked)
    for field in ("target", "score", "n_ties"):
        assert np.array_equal(getattr(links, field), getattr(fitted.link(asked), field))


def test_an_attack_that_learns_from_all_it_looks_at_says_so():
    one, _ = tables()
    with pytest.raises(OptionError, match="shard by shard"):
        attacks.LooseSets(2).fit(one).facing(one)
