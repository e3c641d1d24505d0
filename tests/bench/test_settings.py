"""Settings by name: who holds what in each."""

import numpy as np
import pytest

from reidrisk.bench import SETTINGS, Sites
from reidrisk.records import Events, Traces

UNTIMED = [name for name in SETTINGS if name not in ("two-tables", "later")]


@pytest.fixture
def events(frame):
    return Events(frame, user="customer", items="article", time="day")


def totals(bags):
    return np.asarray(bags.counts.sum(axis=1)).ravel()


def test_every_setting_of_a_log_keeps_people_apart_and_is_the_same_for_the_same_seed(events):
    for name in UNTIMED:
        one, again, other = (SETTINGS[name](events, seed) for seed in (3, 3, 4))
        assert (one.queries.counts != again.queries.counts).nnz == 0, name
        assert (
            one.queries.counts.shape != other.queries.counts.shape or (one.queries.counts != other.queries.counts).nnz
        )
        assert len(np.unique(one.truth.target)) == len(one.queries), name


def test_sizes_are_as_the_names_say(events):
    whole = events.bags()
    for facts in (2, 4, 8, 16):
        case = SETTINGS[f"knows-{facts}"](events, 0)
        assert (totals(case.queries) == facts).all()
        assert (case.targets.counts != whole.counts).nnz == 0
    for name, share in (("halves", 0.5), ("one-in-five", 0.2)):
        case = SETTINGS[name](events, 0)
        assert totals(case.queries).mean() == pytest.approx(24 * share, rel=0.15)
        assert totals(case.queries).sum() + totals(case.targets).sum() == len(events)
    assert (totals(SETTINGS["later"](events, 0).queries) == 12).all()
    both = SETTINGS["independent"](events, 0)
    assert totals(both.queries).mean() == pytest.approx(12, rel=0.15)
    assert totals(both.targets).mean() == pytest.approx(12, rel=0.15)
    apart = SETTINGS["apart"](events, 0)
    assert apart.targets.take(apart.truth.target).counts.multiply(apart.queries.counts).nnz == 0


def test_sessions_stay_together(frame):
    events = Events(frame, user="customer", items="basket", time="day", keep=["basket"])  # an item is a basket
    for name in ("halves", "one-in-five"):
        case = SETTINGS[name](events, 0)
        assert case.targets.take(case.truth.target).counts.multiply(case.queries.counts).nnz == 0
        assert totals(case.queries).sum() + totals(case.targets).sum() <= len(events)


def test_settings_without_meaning_for_the_data_give_no_case(frame):
    untimed = Events(frame, user="customer", items="article")
    assert SETTINGS["later"](untimed, 0) is None
    assert SETTINGS["two-tables"](untimed, 0) is None
    sites = Sites(*(Traces([[1, 2], [3, 4]], n_tokens=9) for _ in range(2)))
    assert [name for name in SETTINGS if SETTINGS[name](sites, 0) is not None] == ["two-tables"]
