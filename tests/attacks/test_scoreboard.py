"""The scoreboard scores as its twin does, keeps the common interface, and knows no cell that is not known."""

import numpy as np
import pytest
from attack_twins import agreement_numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import attacks, measure
from reidrisk.attacks import scoreboard
from reidrisk.attacks.scoreboard import Cells
from reidrisk.base.errors import DataError, OptionError

NAN = float("nan")


def table(seed: int, n: int, m: int, unknown: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.integers(4, size=(n, m)) / 4
    values[rng.random((n, m)) < unknown] = NAN
    return values


@given(
    st.integers(0, 10_000),
    st.integers(1, 12),
    st.integers(1, 6),
    st.integers(1, 300),
    st.sampled_from([1e-9, 0.25, 0.3]),
)
@settings(max_examples=60, deadline=None)
def test_the_kernel_scores_as_its_twin(seed, n, m, q, alpha):
    targets, queries = table(seed, n, m, 0.1), table(seed + 1, q, m, 0.5)
    cells, values = scoreboard.known_cells(queries)
    weights = np.random.default_rng(seed).integers(5, size=m)
    fast = scoreboard.agreement(targets, cells, values, weights, alpha, threads=2)
    assert np.array_equal(fast, agreement_numpy(targets, cells, values, weights, alpha))
    near = np.abs(queries[:, None] - targets) < alpha
    assert np.array_equal(fast, (near * weights).sum(axis=2))


def test_four_records_by_hand():
    targets = Cells([[0.9, 0.1, 0.5], [0.9, 0.1, 0.2], [0.6, 0.4, 0.5], [0.6, 0.4, 0.5]], users=list("abcd"))
    queries = Cells([[0.9, NAN, 0.5], [NAN, NAN, 0.2], [NAN, 0.4, NAN], [NAN, NAN, NAN]], users=list("abcd"))
    links = attacks.Scoreboard().fit(targets).link(queries)
    assert links.target.tolist() == [0, 1, 2, 0]
    assert links.n_ties.tolist() == [1, 1, 2, 4]
    risk = measure.random_user(attacks.Scoreboard(), targets, queries)
    assert risk.per_user.tolist() == [1.0, 1.0, 0.5, 0.25]


def test_the_difference_is_absolute_and_must_be_below_alpha():
    attack = attacks.Scoreboard(alpha=0.25).fit(Cells([[0.5], [1.0], [0.75]]))
    assert attack.score(Cells([[0.75]] * 3), np.arange(3)).tolist() == [0, 0, 65536]


def test_weights_count():
    targets = Cells([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    query = Cells([[1.0, 1.0, 1.0]])
    assert attacks.Scoreboard().fit(targets).link(query).target.tolist() == [1]
    assert attacks.Scoreboard(weights=[3, 1, 1]).fit(targets).link(query).target.tolist() == [0]
    assert attacks.Scoreboard(weights=[0, 0, 0]).fit(targets).link(query).n_ties.tolist() == [2]


def test_link_score_and_candidates_agree():
    targets, queries = Cells(table(0, 30, 8, 0.0)), Cells(table(1, 50, 8, 0.4))
    attack = attacks.Scoreboard(weights=np.arange(8)).fit(targets)
    links = attack.link(queries)
    assert np.array_equal(attack.score(queries, links.target), links.score)
    rows, scores = attack.candidates(queries, 30)
    assert np.array_equal(rows[:, 0], links.target)
    assert np.array_equal((scores == scores[:, :1]).sum(axis=1), links.n_ties)
    among = np.array([7, 3, 20])
    rows, scores = attack.candidates(queries, 2, among)
    assert np.isin(rows, among).all()
    assert (scores[:, 0] >= scores[:, 1]).all()
    view = attack.narrowed(among).link(queries)
    assert np.array_equal(view.score, scores[:, 0])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: attacks.Scoreboard(alpha=0.0), OptionError, "alpha"),
        (lambda: attacks.Scoreboard().link(Cells([[1.0]])), OptionError, "call fit"),
        (lambda: attacks.Scoreboard().fit([[1.0]]), DataError, "not list"),
        (lambda: attacks.Scoreboard(weights=[1.0]).fit(Cells([[1.0, 2.0]])), DataError, "weights must be 2"),
        (lambda: attacks.Scoreboard(weights=[-1.0]).fit(Cells([[1.0]])), DataError, "at least 0"),
        (lambda: attacks.Scoreboard().fit(Cells([[1.0]])).link(Cells([[1.0, 2.0]])), DataError, "queries have 2"),
        (lambda: attacks.Scoreboard().fit(Cells([[1.0]])).candidates(Cells([[1.0]]), 2), OptionError, "2 candidates"),
        (lambda: Cells([1.0]), DataError, "shape"),
        (lambda: Cells([[1.0], [float("inf")]]), DataError, "record 1 has an infinite cell"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
