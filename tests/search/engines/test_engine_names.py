"""Engines and attacks go by name or by value, at every door, and what is neither is refused in one line."""

import numpy as np
import pytest

from reidrisk import Bags, Traces, assess, attacks, measure
from reidrisk.attacks.registry import find_attack, nameable
from reidrisk.audit import AuditSpec, audit_traces
from reidrisk.base.errors import DataError, OptionError
from reidrisk.search.engines import ENGINES, DuckDBEngine, find_engine

RNG = np.random.default_rng(0)
TOKENS = RNG.integers(4, size=(60, 3))
A, B = Traces(TOKENS, 4), Traces(np.where(RNG.random(TOKENS.shape) < 0.3, 0, TOKENS), 4)
LOG = {"user": np.repeat(np.arange(40), 6), "item": RNG.integers(9, size=240).astype(str)}
HAMMING = attacks.Hamming()
DOORS = {
    "random_user": lambda engine: measure.random_user(HAMMING, A, B, engine=engine).rate,
    "curve": lambda engine: measure.curve(HAMMING, A, B, (1, 3), engine=engine)[1].rate,
    "matching": lambda engine: measure.matching(HAMMING, A, B, seed=1, engine=engine).rate,
    "attribution": lambda engine: measure.attribution(HAMMING, A, B, seed=1, engine=engine).whole.rate,
    "audit_traces": lambda engine: (
        audit_traces(A, B, AuditSpec(seed=1, attacks="hamming"), engine=engine).risks[0].rate
    ),
    "assess": lambda engine: (
        assess(
            LOG, user="user", items=["item"], scenario="knows", seed=1, attacks="bm25", say=None, engine=engine
        ).strongest.rate
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_an_engine_is_a_name_or_a_value(door):
    here = DOORS[door](None)
    assert [DOORS[door](engine) for engine in ("local", "duckdb", DuckDBEngine())] == [here] * 3
    for wrong in ("nonsense", 3, DuckDBEngine):
        with pytest.raises(OptionError, match="'local', 'duckdb', 'spark'") as told:
            DOORS[door](wrong)
        assert "\n" not in str(told.value)


def test_every_engine_has_its_name():
    assert [type(find_engine(name)) for name in ENGINES] == [*ENGINES.values()]


def test_an_attack_is_a_name_or_a_value():
    bags = Bags(np.random.default_rng(1).poisson(0.5, (60, 20)))
    for measured in (measure.random_user, measure.matching, measure.known_victim):
        one, two = (measured(attack, bags, bags, seed=1) for attack in ("bm25", attacks.BM25()))
        assert one.to_dict() == two.to_dict()
    parts = [measure.attribution(attack, A, B, seed=1) for attack in ("hamming", HAMMING, ["hamming"])]
    assert parts[0].to_dict() == parts[1].to_dict() == parts[2].to_dict()
    ahead = [measure.forecast(attack, bags, bags, 500, seed=1) for attack in ("bm25", attacks.BM25())]
    assert ahead[0] == ahead[1]
    with pytest.raises(OptionError, match=r"bm25.*not 'hamming'"):  # it compares no bags
        measure.random_user("hamming", bags, bags)
    with pytest.raises(DataError, match="not BM25"):
        measure.random_user(attacks.BM25, bags, bags)


def test_every_attack_that_needs_nothing_else_goes_by_its_name():
    for entry in nameable(Traces):
        assert type(find_attack(entry.name, A)) is entry.attack
