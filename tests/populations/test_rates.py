"""Populations as visit rates follow the definitions of the paper, any block alone, for any size."""

import gzip

import numpy as np
import pytest
from scipy import sparse

from reidrisk import populations
from reidrisk.base.errors import DataError, FormatError, OptionError, ReidRiskError
from reidrisk.populations.rates import BLOCK

MATRIX = np.array([[2.0, 0.0, 1.0, 0.5, 0.0], [4.0, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 3.0, 0.0, 0.0]])


def test_real_users_are_the_matrix_dense_or_sparse():
    many = np.tile(MATRIX, (BLOCK, 1))
    assert np.array_equal(populations.real(many).toarray(), many)
    assert np.array_equal(populations.real(sparse.csr_array(MATRIX)).toarray(), MATRIX)
    assert [(start, stop) for start, stop, _ in populations.real(many[: BLOCK + 1]).blocks()] == [
        (0, BLOCK),
        (BLOCK, BLOCK + 1),
    ]


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
    with pytest.raises(DataError, match=message) as caught:
        populations.real(matrix)
    assert "\n" not in str(caught.value)


def test_a_block_that_is_not_there_is_named():
    with pytest.raises(OptionError, match="blocks 0 to 0, not 1"):
        populations.real(MATRIX).block(1)


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
        ("a,b\n1,2\n", "row 1, column '1' holds 'a'"),
        ("1,2\n1,\n", "row 2, column '2' holds ''"),
        ("1,2\n1,-2\n", "row 2, column '2' holds -2"),
        ("1,nan\n", "row 1, column '2' holds nan"),
        ("1,2\n1,2,3\n", "line 2 has 3 cells where the first line has 2"),
        ("", "is empty"),
    ],
)
def test_bad_files_are_named_by_line_and_column(tmp_path, text, message):
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(ReidRiskError, match=message):
        populations.read_rates(tmp_path / "bad.csv")


def test_files_that_are_none_are_refused(tmp_path):
    (tmp_path / "bad.csv.gz").write_bytes(b"\x1f\x8b1,2\n")
    (tmp_path / "wide.csv").write_text("1,2\n")
    for name, message in (("bad.csv.gz", "cannot be read as CSV"), ("missing.csv", "no such file")):
        with pytest.raises(FormatError, match=message):
            populations.read_rates(tmp_path / name)
    with pytest.raises(DataError, match="has 2 columns, not 349"):
        populations.read_rates(tmp_path / "wide.csv", n_topics=349)


@pytest.mark.data
def test_the_real_users_of_the_paper(study_file):
    matrix = populations.read_rates(study_file("topics_rates_jha/lambda-user-topic.csv.gz"), n_topics=349)
    assert matrix.shape == (268, 349)
    assert np.mean(matrix > 0, axis=0).max() == pytest.approx(0.993, abs=0.001)  # jha, Section 4.2: 99.3 %
