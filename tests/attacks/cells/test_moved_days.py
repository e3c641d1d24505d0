"""Logs whose dates are all moved are linked by the days between their events."""

import numpy as np
import polars as pl
import pytest

from reidrisk import attacks, io, measure
from reidrisk.scenarios import TwoTables

N = 200


def logs(moved: str, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    rng = np.random.default_rng(seed)
    days = rng.integers(0, 90, (N, 6))
    by = {"no": np.zeros(N), "week": np.full(N, 7), "each": rng.integers(-180, 181, N)}.get(moved)
    other = rng.integers(0, 90, (N, 6)) if by is None else days + by[:, None].astype(int)
    return tuple(
        pl.DataFrame(
            {"user": np.repeat(np.arange(N), 6), "kind": rng.integers(0, 2, 6 * N), "day": day.ravel()}
        ).select("user", pl.col("kind").cast(pl.String), date=pl.date(2024, 6, 1) + pl.duration(days=pl.col("day")))
        for day in (days, other)
    )


@pytest.mark.parametrize(
    ("moved", "least", "most"), [("week", 0.2, 1.0), ("each", 0.6, 1.0), ("drawn anew", 0.0, 0.03)]
)
def test_days_since_the_first_are_kept_by_a_shift(moved, least, most):
    case = TwoTables(*(export.records for export in io.read_exports(*logs(moved)))).case()
    rate = measure.random_user(attacks.AllCells(), case.targets, case.queries, case.truth).rate
    assert least <= rate <= most
