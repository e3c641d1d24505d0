"""Counts that an engine takes of stored tokens: how common they are, which go together, how many records differ."""

import numpy as np

from reidrisk.base.arrays import Ints
from reidrisk.search.engines.relational import Session


def token_counts(session: Session, name: str, n_epochs: int, n_tokens: int) -> Ints:
    """Return (r, N), how often each token was seen in each epoch: all that popularity needs (carey, Lemma 10)."""
    found = session.fetch(_counted(name, n_epochs, ("c",)))
    counts = np.zeros((n_epochs, n_tokens), dtype=np.int64)
    counts[found["epoch"], found["c"]] = found["n"]
    return counts


def pair_counts(session: Session, name: str, n_epochs: int, n_tokens: int) -> Ints:
    """Return (N, N), how often a person's true target showed o in an epoch where the query showed w."""
    found = session.fetch(f"SELECT c, t, sum(n) AS n FROM ({_counted(name, n_epochs, ('c', 't'))}) p GROUP BY c, t")
    counts = np.zeros((n_tokens, n_tokens), dtype=np.int64)
    counts[found["t"].astype(np.int64), found["c"].astype(np.int64)] = found["n"].astype(np.int64)
    return counts


def distinct_rows(session: Session, name: str, n_epochs: int) -> int:
    """Count the different records of the first epochs; a missing token counts as one more value."""
    columns = ", ".join(f"c{s}" for s in range(n_epochs))
    return int(session.fetch(f"SELECT count(*) AS n FROM (SELECT 1 FROM {name} GROUP BY {columns}) d")["n"][0])


def _counted(name: str, n_epochs: int, kinds: tuple[str, ...]) -> str:
    """Return the statement that counts the tokens, or pairs of them, of every epoch."""
    columns = ", ".join(kinds)
    epochs = " UNION ALL ".join(
        f"SELECT {s} AS epoch, {', '.join(f'{kind}{s} AS {kind}' for kind in kinds)} FROM {name}"
        for s in range(n_epochs)
    )
    seen = " AND ".join(f"{kind} >= 0" for kind in kinds)
    return f"SELECT epoch, {columns}, count(*) AS n FROM ({epochs}) e WHERE {seen} GROUP BY epoch, {columns}"
