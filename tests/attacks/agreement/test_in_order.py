"""People who stand in a like order in two files are found by it, with no look at what they did."""

import numpy as np
import polars as pl
import pytest

import reidrisk
from reidrisk import attacks, io, measure, scenarios

N = 150


def logs(order: str, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, str]]:
    """Two logs of random items under other ids; ``order`` says what of the order is kept."""
    rng = np.random.default_rng(seed)
    names = [f"a{i:04d}" for i in rng.permutation(N)]
    new = {name: f"b{i:04d}" for name, i in zip(sorted(names), range(N), strict=True)}
    if order != "ids":
        new = dict(zip(names, (f"b{i:04d}" for i in rng.permutation(N)), strict=True))
    second = names if order == "rows" else [names[i] for i in rng.permutation(N)]

    def log(who: list[str]) -> pl.DataFrame:
        return pl.DataFrame({"user": np.repeat(who, 4), "item": [f"i{i}" for i in rng.integers(0, 9, 4 * N)]})

    return log(names), log([new[name] for name in second]), {name: new[name] for name in names}


@pytest.mark.parametrize(("order", "attack"), [("rows", attacks.RowOrder), ("ids", attacks.IdOrder)])
@pytest.mark.parametrize("kept", [True, False])
def test_an_order_that_is_kept_finds_everybody_and_one_that_is_not_finds_nobody(order, attack, kept):
    one, two, new = logs(order if kept else "none")
    known, asked = (export.records.bags() for export in io.read_exports(one, two))
    truth = np.array([{new[u]: i for i, u in enumerate(known.users.to_pylist())}[u] for u in asked.users.to_pylist()])
    rate = measure.random_user(attack(), known, asked, truth).rate
    assert rate == 1.0 if kept else rate < 0.05


def test_a_share_of_the_people_is_found_by_a_like_order():
    one, two, new = logs("rows")
    some = set(np.random.default_rng(5).choice(two["user"].unique().sort(), 50, replace=False).tolist())
    known, asked = (e.records.bags() for e in io.read_exports(one, two.filter(pl.col("user").is_in(some))))
    truth = np.array([{new[u]: i for i, u in enumerate(known.users.to_pylist())}[u] for u in asked.users.to_pylist()])
    assert measure.random_user(attacks.RowOrder(), known, asked, truth).rate > 3 / N


@pytest.mark.parametrize("order", ["rows", "ids", "none"])
def test_an_audit_with_given_pairs_runs_it_and_says_so(order):
    one, two, new = logs(order)
    pairs = pl.DataFrame({"target": list(new), "query": list(new.values())})
    found = reidrisk.assess(one, two, truth=pairs, seed=1, budget="5s")
    assert (found.strongest.rate > 0.9) == (order != "none")
    assert order == "none" or found.strongest.attack == {"rows": "RowOrder", "ids": "IdOrder"}[order]


def test_equal_ids_in_one_order_are_no_finding():
    one, _, _ = logs("none")
    other = one.with_columns(item=pl.Series([f"i{i}" for i in np.random.default_rng(3).integers(0, 9, len(one))]))
    case = scenarios.TwoTables(*(e.records for e in io.read_exports(one.sort("user"), other.sort("user")))).case()
    assert not attacks.RowOrder.applies(case.targets, case.queries)
    assert not case.suits(attacks.IdOrder)


def test_two_parts_of_one_file_have_no_order_of_their_own():
    log = logs("none")[0].with_columns(time=pl.Series(np.arange(4 * N)))
    case = scenarios.Split(io.read_export(log).records, by="random").case()
    assert not attacks.RowOrder.applies(case.targets, case.queries)


def test_two_logs_of_a_file_train_the_learned_attack_as_before():
    one, two, _ = logs("none")
    known, asked = (export.records.bags() for export in io.read_exports(one, two))
    assert len(attacks.Rehearsed().fit(known).look_around(asked).link(asked).target) == N
