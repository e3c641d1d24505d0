"""Random channels of every kind the bounds must survive."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from scipy import sparse

quick = settings(deadline=None, max_examples=60)
"""No deadline: the first example may wait for a compiler."""

KINDS = ("positive", "with zeros", "one-hot", "identical", "repeated", "tiny entries")


@st.composite
def channels(draw: Any, max_users: int = 6, max_outputs: int = 6) -> np.ndarray:
    n, m = draw(st.integers(1, max_users)), draw(st.integers(1, max_outputs))
    kind = draw(st.sampled_from(KINDS))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = rng.dirichlet(np.ones(m), size=n)
    if kind == "with zeros":
        rows = rows * (rng.random((n, m)) < 0.5)
        rows[np.arange(n), rng.integers(m, size=n)] += 0.1
    elif kind == "one-hot":
        rows = np.eye(m)[rng.integers(m, size=n)]
    elif kind == "identical":
        rows = np.repeat(rows[:1], n, axis=0)
    elif kind == "repeated":
        rows = rows[rng.integers(n, size=n)]
    elif kind == "tiny entries":
        rows = rows ** rng.integers(1, 30)
    return rows / rows.sum(axis=1, keepdims=True)


def as_given(matrix: np.ndarray, form: str) -> Any:
    """The same matrix in one of the forms the functions accept."""
    from reidrisk import Channel

    return {"dense": matrix, "sparse": sparse.csr_array(matrix), "coo": sparse.coo_array(matrix),
            "channel": Channel(sparse.csr_matrix(matrix)), "list": matrix.tolist()}[form]  # fmt: skip


FORMS = ("dense", "sparse", "coo", "channel", "list")
