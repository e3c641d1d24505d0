"""Records of several vectors, against plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk.base.errors import DataError
from reidrisk.records import Vectors


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(0, 2**32 - 1))
def test_records_are_the_means_of_what_each_person_has(owner, seed):
    values = np.random.default_rng(seed).normal(size=(len(owner), 3)).astype(np.float32)
    table = Vectors.of_several(values, users=[f"u{i}" for i in owner])
    people = list(dict.fromkeys(owner))
    assert table.users.to_pylist() == [f"u{i}" for i in people]
    own = {i: values[[j for j, who in enumerate(owner) if who == i]] for i in people}
    assert np.allclose(table.values, [own[i].mean(axis=0) for i in people], atol=1e-6)
    back = table.take(np.arange(len(people))[::-1])
    assert np.array_equal(back.several.values, np.concatenate([own[i] for i in people[::-1]]))
    some = np.random.default_rng(seed).random(len(owner)) < 0.5
    some[0] = True
    part, rows = table.only(some)
    kept = table.several.values[some]
    assert np.array_equal(part.several.values, kept)
    assert rows.tolist() == sorted(set(table.several.owner[some].tolist()))


def test_vectors_come_in_the_order_of_their_times():
    table = Vectors.of_several([[1.0], [2.0], [3.0]], users=[7, 8, 7], time=[9.0, 1.0, 4.0])
    assert table.several.values.ravel().tolist() == [3.0, 1.0, 2.0]
    assert table.several.time.tolist() == [4.0, 9.0, 1.0]
    with pytest.raises(DataError, match="one number for each"):
        Vectors.of_several([[1.0]], users=[7], time=["monday"])


def test_differences_within_people_have_the_covariance_of_a_vector():
    rng = np.random.default_rng(0)
    owner = np.repeat(np.arange(3_000), rng.integers(1, 6, 3_000))
    shape = np.array([[1.0, 0.6], [0.0, 0.5]])
    values = 10.0 * rng.normal(size=(3_000, 2))[owner] + rng.normal(size=(len(owner), 2)) @ shape
    table = Vectors.of_several(values, owner)
    found = table.several.contrasts(10**6, np.random.default_rng(1)).astype(float)
    assert len(found) == len(owner) - 3_000
    assert np.allclose(found.T @ found / len(found), shape.T @ shape, atol=0.05)
    assert len(table.several.contrasts(100, np.random.default_rng(1))) < 110


def test_a_change_is_made_to_every_vector():
    table = Vectors.of_several([[1.0], [3.0], [5.0]], users=[7, 7, 8])
    squares = table.mapped(lambda points: points**2)
    assert squares.values.tolist() == [[5.0], [25.0]]
    assert len(squares.several) == 3
    assert table.with_values([[0.0], [0.0]]).several is None
