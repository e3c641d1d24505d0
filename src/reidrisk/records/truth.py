"""The truth of each query: the target of the same user, a given pair, or none."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.base import ArrayLike, DataError, Ints, TruthError, find_users, is_text


@dataclass(frozen=True, eq=False)
class Truth:
    """Target row of each query's user, -1 where that user is not among the targets; and how it is known.

    ``origin`` is a code: ``"given"`` pairs, equal ``"ids"``, equal ``"rows"``, ``"simulated"`` people, records that
    were ``"cut"`` in two; or a sentence of your own.
    """

    target: Ints
    origin: str


def find_truth(targets: Any, queries: Any, truth: ArrayLike | Truth | None = None) -> Truth:
    """Say which target each query of two tables, Traces or Bags, truly is.

    Given pairs win, (n_queries,) integers: the target row of each query, -1 = this user is not among the targets; then
    equal user ids; row numbers count as users only when both tables have the same length and neither names its users.

    >>> from reidrisk import Traces
    >>> a = Traces([[1], [2]], n_tokens=3, users=["ann", "bob"])
    >>> b = Traces([[1], [2]], n_tokens=3, users=["bob", "eve"])
    >>> find_truth(a, b).target.tolist()
    [1, -1]
    """
    for name, table in (("targets", targets), ("queries", queries)):
        if not hasattr(table, "users"):
            raise DataError(f"{name} must be records such as Traces or Bags, not {type(table).__name__}")
    if truth is not None:
        rows, origin = (truth.target, truth.origin) if isinstance(truth, Truth) else (truth, "given")
        return Truth(_checked_pairs(rows, len(targets), len(queries)), origin)
    if targets.users is not None and queries.users is not None:
        rows = np.full(len(queries), -1, dtype=np.int64)
        if is_text(queries.users) == is_text(targets.users):  # ids of two kinds have nobody in common
            rows = find_users(queries.users, targets.users)
        if not (rows >= 0).any():
            unknown = "no user is in both tables, so the truth is not known and no rate can be measured"
            raise TruthError(f"{unknown}; give the true pairs, or ask for link probabilities only")
        return Truth(rows, "ids")
    if targets.users is not None or queries.users is not None:
        named = "targets" if targets.users is not None else "queries"
        raise TruthError(f"only the {named} name their users; name them in both tables, or give the true pairs")
    if len(targets) != len(queries):
        differ = f"neither table names its users and they differ in length ({len(targets):,} and {len(queries):,} rows)"
        raise TruthError(f"{differ}, so the truth is not known; name the users, or give the true pairs")
    return Truth(np.arange(len(queries), dtype=np.int64), "rows")


def _checked_pairs(truth: ArrayLike, n_targets: int, n_queries: int) -> Ints:
    if isinstance(truth, Mapping):
        of_ids = "a mapping of ids is for two exports (assess(..., truth=)) or io.read_pair"
        raise TruthError(f"truth must hold one target row for each of the {n_queries:,} queries; {of_ids}")
    rows = np.asarray(truth)
    if rows.shape != (n_queries,) or rows.dtype.kind not in "iu":
        raise TruthError(f"truth must hold one target row for each of the {n_queries:,} queries, not {rows.shape}")
    wrong = np.flatnonzero((rows < -1) | (rows >= n_targets))
    if wrong.size:
        allowed = f"rows lie in [0, {n_targets}), -1 = not among them"
        raise TruthError(f"truth of query {wrong[0]} is target {rows[wrong[0]]}; {allowed}")
    rows = rows.astype(np.int64)
    if not (rows >= 0).any():
        raise TruthError("no query has a target in the given truth, so no rate can be measured")
    return rows
