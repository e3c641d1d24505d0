"""Populations as visit rates follow the definitions of the paper, any block alone, for any size."""

import gzip
import math

import numpy as np
import pytest
from scipy import sparse

from reidrisk import populations
from reidrisk.base.errors import DataError, FormatError, OptionError
from reidrisk.populations.rates import BLOCK

MATRIX = np.array([[2.0, 0.0, 1.0, 0.5, 0.0], [4.0, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 3.0, 0.0, 0.0]])
MODELS = {
    "iid": lambda n, seed: populations.iid(MATRIX, n, seed),
    "crossover": lambda n, seed: populations.crossover(MATRIX, n, seed),
    "distinct": lambda n, seed: populations.distinct(n, n_topics=40, seed=seed),
}


@pytest.mark.parametrize("model", MODELS)
def test_a_larger_population_starts_with_the_same_users_and_any_block_comes_alone(model):
    small, large = MODELS[model](100, 3), MODELS[model](BLOCK + 50, 3)
    assert np.array_equal(small.toarray(), large.toarray()[:100])
    assert large.n_blocks == 2
    assert np.array_equal(large.block(1).toarray(), large.toarray()[BLOCK:])
    assert large.block(1).shape == (50, large.n_topics)
    assert not np.array_equal(small.toarray(), MODELS[model](100, 4).toarray())


def test_real_users_are_the_matrix_dense_or_sparse():
    many = np.tile(MATRIX, (BLOCK, 1))
    assert np.array_equal(populations.real(many).toarray(), many)
    assert np.array_equal(populations.real(sparse.csr_array(MATRIX)).toarray(), MATRIX)
    assert [(start, stop) for start, stop, _ in populations.real(many[: BLOCK + 1]).blocks()] == [
        (0, BLOCK),
        (BLOCK, BLOCK + 1),
    ]


def test_iid_personas_share_the_first_order_statistics():
    n = 60_000
    dense = populations.iid(MATRIX, n, seed=0).toarray()
    sizes = np.bincount((dense > 0).sum(axis=1), minlength=4) / n
    assert sizes == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3], abs=0.01)
    assert [sorted(set(c)) for c in dense.T.tolist()] == [[0, 7 / 3], [0], [0, 2], [0, 0.5], [0]]


def test_iid_topics_are_drawn_one_after_the_other_by_popularity():
    dense = populations.iid(MATRIX, 60_000, seed=1).toarray()
    w = np.array([3, 2, 1]) / 6  # topics 0, 2 and 3
    one, two = (dense[(dense > 0).sum(axis=1) == size][:, [0, 2, 3]] > 0 for size in (1, 2))
    assert one.mean(axis=0) == pytest.approx(w, abs=0.015)
    first_two = [
        w[i] + sum(w[j] * w[i] / (1 - w[j]) for j in range(3) if j != i) for i in range(3)
    ]  # drawn first, or second after j
    assert two.mean(axis=0) == pytest.approx(first_two, abs=0.015)


def test_a_user_without_topics_gives_personas_without_topics():
    dense = populations.iid([[0.0, 0.0], [1.0, 1.0]], 10_000, seed=0).toarray()
    assert np.mean(dense.sum(axis=1) == 0) == pytest.approx(0.5, abs=0.03)


def test_crossover_takes_each_topic_from_one_of_two_different_parents():
    matrix = np.arange(1.0, 4.0)[:, None] * np.ones((1, 8))
    dense = populations.crossover(matrix, 40_000, seed=0).toarray()
    parents = [frozenset(row) for row in dense.tolist()]
    assert max(map(len, parents)) == 2
    pairs = [sum(p == frozenset(pair) for p in parents) / 40_000 for pair in [(1, 2), (1, 3), (2, 3)]]
    # All eight bits are equal with probability 2/256; otherwise both parents show, and they are never the same.
    assert pairs == pytest.approx([(1 - 2 / 256) / 3] * 3, abs=0.01)
    assert np.mean(dense[:, 0] == dense[:, 1]) == pytest.approx(0.5, abs=0.01)


def test_the_extremes_of_appendix_a():
    same = populations.identical(BLOCK + 3).toarray()
    assert same.shape == (BLOCK + 3, 349)
    assert (same == same[0]).all()
    assert same[0, :5] == pytest.approx(5 * math.log(10))
    assert same[0, 5:].sum() == 0
    other = populations.distinct(3 * BLOCK, seed=1).toarray()
    assert ((other > 0).sum(axis=1) == 5).all()
    assert len(np.unique(other > 0, axis=0)) == 3 * BLOCK
    assert (other > 0).any(axis=0).all()


def test_distinct_can_use_up_every_set_and_no_more():
    every = populations.distinct(math.comb(24, 4), n_topics=24, top_k=4, seed=5).toarray()
    assert len(np.unique(every > 0, axis=0)) == len(every) == math.comb(24, 4)
    with pytest.raises(OptionError, match="10 different sets of 2, too few for 11 users"):
        populations.distinct(11, n_topics=5, top_k=2)
    huge = populations.distinct(500, n_topics=469, top_k=20)
    assert len(np.unique(huge.toarray() > 0, axis=0)) == 500


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 2.0], [0.0, -0.5]], "row 1, column 1 holds the rate -0.5"),
        ([[1.0, np.nan]], "row 0, column 1 holds the rate nan"),
        ([[np.inf, 1.0]], "row 0, column 0 holds the rate inf"),
        ([1.0, 2.0], "2 dimensions"),
        (np.zeros((0, 3)), "are empty"),
        (np.zeros((3, 0)), "are empty"),
        ([["a", "b"]], "table of numbers"),
        ([[1.0], [1.0, 2.0]], "table of numbers"),
    ],
)
def test_bad_rates_are_one_clear_line(matrix, message):
    for make in (populations.real, lambda m: populations.iid(m, 5, 0), lambda m: populations.crossover(m, 5, 0)):
        with pytest.raises(DataError, match=message) as caught:
            make(matrix)
        assert "\n" not in str(caught.value)


def test_too_few_users_and_bad_options_are_named():
    with pytest.raises(DataError, match="two parents"):
        populations.crossover([[1.0]], 5, 0)
    with pytest.raises(DataError, match="every rate is 0"):
        populations.iid([[0.0]], 5, 0)
    for n in (0, -1, 2.5, True):
        with pytest.raises(OptionError, match="n must be a whole number"):
            populations.iid(MATRIX, n, 0)
    with pytest.raises(OptionError, match="top_k must lie"):
        populations.identical(3, n_topics=4)
    with pytest.raises(OptionError, match="rate must be"):
        populations.identical(3, rate=0.0)
    with pytest.raises(OptionError, match="blocks 0 to 0, not 1"):
        populations.real(MATRIX).block(1)
    with pytest.raises(OptionError, match="seed"):
        populations.iid(MATRIX, 3, -1)


def test_rates_are_read_from_csv_and_gz(tmp_path):
    text = "\n".join(",".join(map(repr, row)) for row in MATRIX.tolist())
    (tmp_path / "a.csv").write_text(text)
    with gzip.open(tmp_path / "a.csv.gz", "wt") as file:
        file.write(text)
    for name in ("a.csv", "a.csv.gz"):
        assert np.array_equal(populations.read_rates(tmp_path / name, n_topics=5), MATRIX)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "line 1, column 1 holds 'a'"),
        ("1,2\n1,\n", "line 2, column 2 holds ''"),
        ("1,2\n1,-2\n", "line 2, column 2 holds '-2'"),
        ("1,nan\n", "line 1, column 2 holds 'nan'"),
        ("1,2\n1,2,3\n", "line 2 has 3 columns, not 2"),
        ("", "is empty"),
    ],
)
def test_bad_files_are_named_by_line_and_column(tmp_path, text, message):
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        populations.read_rates(tmp_path / "bad.csv")


def test_files_that_are_none_are_refused(tmp_path):
    (tmp_path / "bad.csv.gz").write_text("1,2\n")
    (tmp_path / "wide.csv").write_text("1,2\n")
    for name, message in (("bad.csv.gz", "cannot read rates"), ("missing.csv", "no such file")):
        with pytest.raises(FormatError, match=message):
            populations.read_rates(tmp_path / name)
    with pytest.raises(DataError, match="has 2 columns, not 349"):
        populations.read_rates(tmp_path / "wide.csv", n_topics=349)


@pytest.mark.data
def test_the_real_users_of_the_paper(study_file):
    matrix = populations.read_rates(study_file("topics_rates_jha/lambda-user-topic.csv.gz"), n_topics=349)
    assert matrix.shape == (268, 349)
    assert np.mean(matrix > 0, axis=0).max() == pytest.approx(0.993, abs=0.001)  # jha, Section 4.2: 99.3 %
    iid = populations.iid(matrix, 4_000, seed=0).toarray() > 0
    assert iid.sum(axis=1).mean() == pytest.approx((matrix > 0).sum(axis=1).mean(), rel=0.05)
