from pathlib import Path

import numpy as np
import polars as pl
import pytest


def purchases(people=30, days=12, seed=0):
    """Thirty customers who buy two of their own four favourites per day, in one basket."""
    rng = np.random.default_rng(seed)
    favourites = np.array([rng.choice(40, 4, replace=False) for _ in range(people)])
    rows = [
        (f"c{who:02d}", day, f"item {item}", f"{who}-{day}")
        for who in range(people)
        for day in range(days)
        for item in rng.choice(favourites[who], 2)
    ]
    return pl.DataFrame(rows, schema=["customer", "day", "article", "basket"], orient="row")


@pytest.fixture
def frame():
    return purchases()


@pytest.fixture
def manifest(tmp_path, frame):
    """A manifest of one CSV file, beside a function that adds lines to it."""
    frame.write_csv(tmp_path / "log.csv")

    def write(more: str = "", columns: str = 'user = "customer"\nitems = ["article"]\ntime = "day"\n') -> Path:
        path = tmp_path / "manifest.toml"
        path.write_text(f'[data.shop]\nfiles = {{ "log.csv" = "" }}\n{columns}{more}', encoding="utf-8")
        return path

    return write
