"""The page of a simulation shows coverage, observers, when it was seen and what was assumed."""

from reidrisk.present.console import parts_of
from reidrisk.present.model import Table
from reidrisk.present.pages.simulation import page

SHARES = {"topics": 0.7, "no topic": 0.0, "unknown": 0.3, "not a host": 0.0}
FOUND = {
    "reading": "70 % of 10 visits have a topic.",
    "epochs": {"n": 3, "days": 7.0, "step_days": 7.0, "first_starts": "2024-05-01", "last_ends": "2024-05-22"},
    "n_visits_outside": 1_200,
    "coverage": {"visits": {"shares": SHARES, "n": 10}, "hosts": {"shares": SHARES, "n": 7}},
    "observers": [{"site": "shop.com", "file": "seen/shop.com.parquet", "missing_share": 0.25}],
    "assumptions": ["Everyone meets every observer."],
    "seed": 7,
}


def test_all_of_it_is_on_a_terminal():
    parts = list(parts_of(page(FOUND)))
    coverage, observers = (part for part in parts if isinstance(part, Table))
    assert coverage.rows[0] == ("visits", "70.0%", "0.0%", "30.0%", "0.0%", "10")
    assert observers.rows == (("shop.com", "seen/shop.com.parquet", "25.0%"),)
    said = [part for part in parts if isinstance(part, str)]
    assert "\n70 % of 10 visits have a topic." in said
    assert any(part.startswith("3 epochs of 7 days") and "1,200 visits" in part for part in said)
    assert said[-2:] == ["- Everyone meets every observer.", "- Seed 7."]
