"""Cases, and records cut in two: nothing is lost or made up, and the truth is where each query was taken from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse, stats

from reidrisk import Bags, Traces, Vocabulary
from reidrisk.base.errors import DataError, OptionError, TruthError
from reidrisk.records import Case, Cells, Truth
from reidrisk.records.cut import cut
from reidrisk.records.thinning import drawn

tables = hnp.arrays(
    np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=7), elements=st.sampled_from([0, 0, 1, 2, 3, 60])
)
WAYS = ("part", "held", "apart")


def dense(bags):
    return bags.counts.toarray()


@settings(deadline=None)
@given(tables, st.sampled_from(WAYS), st.lists(st.integers(0, 80), min_size=1, max_size=4), st.integers(0, 2**20))
def test_what_is_cut_off_and_what_is_left_are_the_record(table, way, sizes, seed):
    units = (table > 0).sum(axis=1) if way == "apart" else table.sum(axis=1)
    bags = Bags(table, users=np.arange(len(table)) * 3)
    if units.max() < 2:
        with pytest.raises(DataError, match="nothing to cut"):
            cut(bags, np.array(sizes), seed, way)
        return
    case = cut(bags, np.array(sizes), seed, way)
    rows, asked, left = case.truth.target, dense(case.queries), dense(case.targets)
    assert sorted(rows) == np.flatnonzero(units >= 2).tolist(), "a query of every record that can be cut"
    assert case.queries.users.tolist() == (3 * rows).tolist()
    assert case.targets.users.tolist() == (3 * np.arange(len(table))).tolist()
    given_back = left.copy()
    if way == "held":
        assert (asked <= table[rows]).all()
    else:
        given_back[rows] += asked
    assert (given_back == table).all()
    taken = (asked > 0).sum(axis=1) if way == "apart" else asked.sum(axis=1)
    most = units[rows] if way == "held" else units[rows] // 2
    allowed = {max(size, 1) for size in sizes}
    assert all(n in {min(size, room) for size in allowed} for n, room in zip(taken, most, strict=True))
    if way == "apart":
        assert not ((asked > 0) & (left[rows] > 0)).any()


@pytest.mark.parametrize("way", WAYS)
def test_by_rank_whoever_holds_more_is_asked_about_with_more(way):
    rng = np.random.default_rng(1)
    table = Bags(rng.poisson(rng.lognormal(0.5, 1.0, (200, 1)), (200, 40)))
    units = (dense(table) > 0 if way == "apart" else dense(table)).sum(axis=1)

    def agreement(ranked):
        case = cut(table, np.array([1, 2, 4, 8]), 3, way, ranked=ranked)
        asked = (dense(case.queries) > 0 if way == "apart" else dense(case.queries)).sum(axis=1)
        held = units[case.truth.target]
        many = held >= 16  # whoever has fewer may have to give fewer
        return stats.spearmanr(held[many], asked[many]).statistic

    assert agreement(ranked=True) > 0.9 > 0.3 > abs(agreement(ranked=False))


@pytest.mark.parametrize("way", WAYS)
def test_the_seed_decides(way):
    table = Bags(np.random.default_rng(0).poisson(1.0, (50, 20)))
    one, two, three = (cut(table, np.array([3, 5]), seed, way) for seed in (4, 4, 5))
    assert (one.truth.target == two.truth.target).all()
    assert (dense(one.queries) == dense(two.queries)).all()
    assert not np.array_equal(dense(one.queries), dense(three.queries))
    assert not (np.diff(one.truth.target) > 0).all(), "queries do not come in the order of the targets"


def test_every_choice_of_events_is_equally_likely():
    row, n = [1, 3, 2], 6_000
    counts = sparse.csr_array(np.tile(row, (n, 1)))
    found = drawn(counts, np.full(n, 3), np.random.default_rng(1)).reshape(n, 3)
    kinds, seen = np.unique(found, axis=0, return_counts=True)
    wanted = stats.multivariate_hypergeom(row, 3).pmf(kinds) * n
    assert np.isclose(wanted.sum(), n)
    assert stats.chisquare(seen, wanted).pvalue > 1e-4


@pytest.mark.parametrize("most", [10**6, 3 * 10**9, 2**60])
def test_many_events_cost_no_more(most):
    counts = sparse.csr_array([[most, 1, most // 2, 7], [0, most, 0, 0]])
    sizes = np.array([most // 3, 5])
    found = drawn(counts, sizes, np.random.default_rng(0))
    assert (found <= counts.data).all()
    assert found[:4].sum() == sizes[0]
    assert found[4] == 5
    share = found[0] / sizes[0]
    assert abs(share - 2 / 3) < 0.01


def test_records_too_small_stay_whole():
    case = cut(Bags([[1, 0], [2, 3], [0, 0]]), np.array([2]), 0)
    assert case.truth.target.tolist() == [1]
    assert dense(case.targets)[[0, 2]].tolist() == [[1, 0], [0, 0]]


@pytest.mark.parametrize("sizes", [[], [-1], [2.5], [[1]]])
def test_sizes_that_are_none_are_refused(sizes):
    with pytest.raises(OptionError, match="sizes are those of real queries"):
        cut(Bags([[2, 2]]), np.array(sizes), 0)


def test_an_unknown_way_is_refused():
    with pytest.raises(OptionError, match="way must be one of part, visits, held, apart, not 'half'"):
        cut(Bags([[2, 2]]), np.array([1]), 0, "half")


def test_other_counts_of_the_same_items():
    bags = Bags([[2, 0, 1], [0, 4, 0]], users=["ann", "bob"])
    fewer = bags.with_counts(np.array([0, 1, 3]))
    assert dense(fewer).tolist() == [[0, 0, 1], [0, 3, 0]]
    assert fewer.counts.nnz == 2
    assert dense(bags).tolist() == [[2, 0, 1], [0, 4, 0]]
    for wrong in ([1, 2], [1, 2, -1]):
        with pytest.raises(DataError, match="a count of at least 0 for each of the 3 entries"):
            bags.with_counts(np.array(wrong))


def test_a_case_refuses_what_cannot_be_compared():
    bags, traces = Bags([[1, 1]]), Traces([[0]], n_tokens=2)
    with pytest.raises(DataError, match="targets are Bags and queries are Traces"):
        Case(bags, traces, None)
    with pytest.raises(DataError, match="targets have 2 tokens in their vocabulary, queries 3"):
        Case(bags, Bags([[1, 1, 1]]), None)
    with pytest.raises(DataError, match="different vocabularies"):
        Case(*(Bags([[1]], vocabulary=Vocabulary([label])) for label in "ab"), None)
    with pytest.raises(DataError, match="not list"):
        Case([[1, 1]], bags, None)
    cells = Cells(np.ones((2, 3)))
    assert Case(cells, cells, Truth(np.array([0, 1]), "rows")).truth.target.tolist() == [0, 1]
    with pytest.raises(TruthError, match="truth of query 0 is target 1"):
        Case(bags, bags, Truth(np.array([1]), "given"))
    with pytest.raises(TruthError, match="a Truth or None, not a list"):
        Case(bags, bags, [0])


def test_several_queries_may_have_one_target():
    targets, queries, truth = Case(Bags([[1, 1]]), Bags([[1, 0], [0, 1]]), Truth(np.array([0, 0]), "given"))
    assert (len(targets), len(queries), truth.target.tolist()) == (1, 2, [0, 0])


def test_whoever_holds_fewer_facts_is_not_asked_about():
    plays = Bags(np.repeat(np.eye(40, dtype=np.int64), 2, axis=0) * np.tile([2, 9], 40)[:, None])
    case = cut(plays, np.array([5]), seed=0, way="held")
    assert set(np.asarray(case.queries.counts.sum(axis=1)).ravel()) == {5}
    assert set(case.truth.target % 2) == {1}
    short = cut(plays, np.array([50]), seed=0, way="held")  # nobody has so many: then they give what they hold
    assert len(short.queries) == 80


def test_an_item_apart_is_kept_whole_or_not_at_all():
    plays = Bags(np.full((30, 20), 7))
    case = cut(plays, np.array([8]), seed=0, way="apart", kept=0.5)
    own = case.targets.counts.toarray()[case.truth.target]
    asked = case.queries.counts.toarray()
    assert set(np.unique(own)) == {0, 7}
    assert 0.3 < (own[asked > 0] == 7).mean() < 0.7
