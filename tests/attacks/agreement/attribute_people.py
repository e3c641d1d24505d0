"""People with attributes, and copies of them with errors and empty cells, for tests of record linkage."""

import numpy as np

from reidrisk.records import Attributes


def people(n, seed=0, kinds=("number", "category", "category", "prefix")):
    rng = np.random.default_rng(seed)
    columns = {
        "number": lambda: rng.normal(45, 15, n).round().astype(int),
        "category": lambda: rng.choice([f"v{i}" for i in range(40)], n, p=rng.dirichlet(np.full(40, 0.5))),
        "prefix": lambda: np.array([f"{x:04d}" for x in rng.integers(0, 2_000, n)]),
    }
    frame = {f"{kind}{place}": columns[kind]() for place, kind in enumerate(kinds)}
    return Attributes(frame, columns=dict(zip(frame, kinds, strict=True)))


def copied(table, errors=0.1, missing=0.1, seed=1):
    """Return the table with a share of its cells drawn anew from their column, and a share empty."""
    rng = np.random.default_rng(seed)
    tokens = table.tokens.astype(np.int64)
    wrong = rng.random(tokens.shape) < errors
    others = np.take_along_axis(tokens, rng.integers(0, len(tokens), tokens.shape), axis=0)
    tokens = np.where(wrong, others, tokens)
    return table.with_tokens(np.where(rng.random(tokens.shape) < missing, -1, tokens))
