"""Attacks on every cell of a file meet changed files: rows go with their events, and other columns stay as they are."""

import numpy as np
import pytest

from reidrisk import io, scenarios
from reidrisk.attacks import registry
from reidrisk.audit import AuditSpec
from reidrisk.audit.asking import audit_exports
from reidrisk.mitigations import DropColumns, Trial, Verdict, named, tried
from reidrisk.mitigations.cells import with_cells

ITEMS = {"targets": ("what",), "queries": ("what",)}


def logs(people=120, events=8, seed=0):
    """Return two logs of other purchases in which everybody always pays one amount of their own, under any name."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), events)
    paid = 1_000 + 7 * rng.permutation(people)[who]
    made = []
    for name in ("price", "sum"):
        day = np.datetime64("2024-01-01") + np.repeat(rng.integers(60, size=len(who) // 2), 2)
        items = [f"item {i}" for i in rng.integers(6, size=len(who))]
        made.append({"who": who, "what": items, "when": day, name: [f"{cents / 100:.2f}" for cents in paid]})
    return made


@pytest.fixture(scope="module")
def exports():
    reading = io.Reading(user="who", items="what", time="when", amount="none", layout="log")
    return io.read_exports(*logs(), reading)


@pytest.fixture(scope="module")
def case(exports):
    return scenarios.TwoTables(*(one.records for one in exports)).case()


@pytest.mark.parametrize("text", ["draw:0.5", "random-item:0.5", "coarsen:2", "shorten:3", "rotate:2"])
def test_rows_of_the_file_go_with_their_events(case, text):
    view = named(text).released(case, 1)
    changed = with_cells(case, view, ITEMS).case.queries
    before = case.queries.raw
    assert len(changed.raw.row) == len(changed.timeline)
    shown = [changed.vocabulary.labels[token] for token in changed.timeline.item.tolist()]
    assert changed.raw.column("what").to_pylist() == shown
    owner = view.part_of[changed.raw.owner]
    held = dict(zip(before.owner.tolist(), before.column("sum").to_pylist(), strict=True))
    assert changed.raw.column("sum").to_pylist() == [held[one] for one in owner.tolist()]


def test_what_items_are_changed_to_does_not_touch_the_column_that_gives_people_away(case):
    entry = next(one for one in registry() if one.name == "all-cells")
    trial = Trial(items=ITEMS, unused=("sum",))
    verdict = Verdict.of(case, [entry], trial)
    assert verdict.risk.rate > 0.7
    noisy, left = tried(case, [named("random-item:0.8"), DropColumns(["sum"])], trial=trial, verdict=verdict).tried
    assert noisy.risk.rate > 0.7
    assert left.risk.rate < 0.2
    assert left.kept.observations == 1.0


def test_an_audit_advises_to_leave_out_the_column_that_gives_people_away(exports):
    spec = AuditSpec(seed=1, attacks=("tf-idf", "all-cells"), what_if=True, what_if_budget=20.0)
    found = audit_exports(exports, spec)
    what = found.further.what_if
    assert (found.strongest.attack, what.before.attack) == ("AllCells", "AllCells")
    assert what.before.rate == found.strongest.rate
    best = {one.change: one.risk.rate for one in what.tried if one.full}
    assert best["drop-columns:sum"] < 0.2
    of_items = [rate for change, rate in best.items() if change.startswith(("random-item", "coarsen"))]
    assert of_items
    assert min(of_items) > 0.5


def test_nothing_seems_safer_where_the_rows_of_a_file_are_not_known(exports):
    periods = scenarios.TwoTables(*(one.records for one in exports), every="week").case()
    changed = with_cells(periods, named("random-item:0.9").released(periods), ITEMS).case.queries
    assert changed.raw.column("what").to_pylist() == periods.queries.raw.column("what").to_pylist()


def test_of_attributes_columns_show_their_new_values():
    rng = np.random.default_rng(0)
    table = {"who": np.arange(60), "age": rng.integers(20, 70, 60), "sex": rng.choice(["f", "m"], 60)}
    reading = io.Reading(user="who", layout="people", columns=("age=number", "sex=category"))
    case = scenarios.TwoTables(*(one.records for one in io.read_exports(table, table, reading))).case()
    view = named("generalise:age=20").released(case)
    changed = with_cells(case, view, {}).case.queries.raw
    assert len(set(changed.column("age").to_pylist())) <= 4
    assert changed.column("sex").to_pylist() == case.queries.raw.column("sex").to_pylist()
    assert case.targets.raw is with_cells(case, view, {}).case.targets.raw
