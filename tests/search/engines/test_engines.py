"""Where an attack searches changes none of its answers: here, or on shards of the targets."""

import copy
import importlib
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sharding import ShardingEngine

from reidrisk import Bags, TopSets, Traces, attacks, measure
from reidrisk.attacks import Cells
from reidrisk.audit import AuditSpec, audit_traces
from reidrisk.mechanisms import TopKNoise
from reidrisk.populations.type_mixture import TypeMixture
from reidrisk.records import Attributes, Events, Vectors
from reidrisk.scenarios import TwoTables
from reidrisk.search.engines import ENGINES, LocalEngine
from reidrisk.sequence import Schedule, Sizes
from reidrisk.sequence.pairs import PairSchedule, PairSizes

N, TOKENS = 40, 6


def tables(kind, seed):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(-1, TOKENS, (N, 5))
    other = np.where(rng.random((N, 5)) < 0.5, tokens, rng.integers(0, TOKENS, (N, 5)))[rng.permutation(N)[:25]]
    if kind is Traces:
        return Traces(tokens, TOKENS), Traces(other, TOKENS)
    if kind is Cells:
        return Cells(np.where(tokens < 0, np.nan, tokens / 9)), Cells(np.where(other < 0, np.nan, other / 9))
    if kind is Vectors:
        return Vectors(tokens + 2.0), Vectors(other + 2.0)
    if kind is Attributes:
        cells = (
            {f"c{i}": [None if v < 0 else f"v{v}" for v in column] for i, column in enumerate(t.T)}
            for t in (tokens, other)
        )
        return Attributes.together(*(Attributes(columns) for columns in cells))
    counts = [np.stack([np.bincount(row[row >= 0], minlength=TOKENS) for row in table]) for table in (tokens, other)]
    return tuple(Bags(table) for table in counts)


def made(entry, kind, seed):
    if not entry.needs:
        return entry.attack.knowing(TopKNoise(2, 0.1, TOKENS), seed)
    rng = np.random.default_rng(seed)
    if "training users" in entry.needs:
        return copy.copy(trained(kind))
    if entry.needs == ("the population",):
        return entry.attack(TypeMixture(rng.normal(size=(3, 5, 2, TOKENS))), noise=0.1)
    assert entry.needs == ("top sets",)
    return entry.attack(TopSets(rng.permuted(np.tile(np.arange(TOKENS), (N, 5, 1)), axis=2)[:, :, :2], TOKENS))


@cache
def trained(kind):
    """A neural attack that has learnt next to nothing, which is enough to give scores."""
    one, two = tables(kind, 99)
    sizes = Sizes(width=8, heads=1, mlp=8, encoder_layers=1, decoder_layers=1), PairSizes(tower=8, width=8, hidden=8)
    plans = PairSchedule(steps=4, batch=8), Schedule(passes=1, batch=16)
    return attacks.Neural(*sizes, *plans, device="cpu").train(one.take(slice(0, 25)), two)


@cache
def linked(entry, kind, seed):
    targets, queries = tables(kind, seed)
    attack = made(entry, kind, seed).fit(targets)
    return attack, queries, attack.link(queries)


CASES = [(entry, kind) for entry in attacks.registry() if not entry.attack.reads_cells for kind in entry.kinds]


@pytest.mark.parametrize(("entry", "kind"), CASES, ids=lambda value: getattr(value, "name", None) or value.__name__)
@settings(deadline=None, max_examples=15)
@given(cuts=st.lists(st.integers(0, N), max_size=4).map(sorted), seed=st.integers(0, 2))
def test_every_registered_attack_gives_the_same_answers_on_shards(entry, kind, cuts, seed):
    engine = ShardingEngine(cuts)
    attack, queries, here = linked(entry, kind, seed)
    there = attack.link(queries, engine=engine)
    for field in ("target", "score", "n_ties"):
        assert np.array_equal(getattr(here, field), getattr(there, field)), field
    assert engine.asked == len({0, *cuts} - {N})


@pytest.mark.parametrize(("entry", "kind"), CASES, ids=lambda value: getattr(value, "name", None) or value.__name__)
def test_probabilities_candidates_and_matchings_are_the_same_on_shards(entry, kind, monkeypatch):
    (targets, queries), engine, truth = tables(kind, 1), ShardingEngine([7, 20, 20]), np.arange(25)
    attack = made(entry, kind, 1).fit(targets)
    here, there = (attack.link(queries, probability=True, engine=e) for e in (None, engine))
    if here.probability is None:
        assert there.probability is None
    else:
        assert engine.asked == 2 * 3
        assert np.array_equal(here.probability, there.probability)
    for k, among in ((1, None), (30, None), (9, np.random.default_rng(2).permutation(N)[:15])):
        near, far = (attack.candidates(queries, k, among, engine=e) for e in (None, engine))
        assert np.array_equal(near[0], far[0])
        assert np.array_equal(near[1], far[1])
    dense, before = measure.matching(made(entry, kind, 1), targets, queries, truth, seed=3), engine.asked
    assert np.array_equal(dense.per_user, measured(entry, kind, targets, queries, truth, engine).per_user)
    assert engine.asked > before
    monkeypatch.setattr(importlib.import_module("reidrisk.measure.matching"), "DENSE_LIMIT", 10)
    greedy = [measured(entry, kind, targets, queries, truth, e).per_user for e in (None, engine)]
    assert np.array_equal(*greedy)


def measured(entry, kind, targets, queries, truth, engine):
    return measure.matching(made(entry, kind, 1), targets, queries, truth, seed=3, candidates=4, engine=engine)


@pytest.mark.parametrize(
    "attack",
    [
        attacks.LooseSets(2, require_unique=True),
        attacks.ProfileBayes(2, 0.1, min_probability=0.3),
    ],
    ids=lambda attack: attack.name,
)
def test_attacks_that_may_give_no_answer_too(attack):
    targets, queries = tables(Traces, 1)
    attack.fit(targets)
    here, there = attack.link(queries), attack.link(queries, engine=ShardingEngine([7, 20]))
    for field in ("target", "score", "n_ties"):
        assert np.array_equal(getattr(here, field), getattr(there, field)), field
    for near, far in zip(*(attack.candidates(queries, 3, engine=e) for e in (None, ShardingEngine([9]))), strict=True):
        assert np.array_equal(near, far)


@pytest.mark.parametrize("attack", [attacks.Coincidences(), attacks.Clock()], ids=lambda attack: attack.name)
def test_what_times_of_bags_say_is_the_same_on_shards(attack):
    rng = np.random.default_rng(4)
    who, what = rng.integers(0, N, 600), rng.integers(0, TOKENS, 600)
    when = (1.7e15 + rng.integers(0, 60 * 86_400, 600) * 1e6).astype("M8[us]")
    seen = [
        {"who": who[side], "what": what[side].astype(str), "when": when[side]} for side in rng.random((2, 600)) < 0.6
    ]
    case = TwoTables(*(Events(one, user="who", items="what", time="when") for one in seen)).case(0)
    assert case.targets.timeline is not None
    assert case.targets.clock is not None
    attack.fit(case.targets).look_around(case.queries)
    here, there = (attack.link(case.queries, engine=e) for e in (None, ShardingEngine([7, 20])))
    assert len(np.unique(here.target)) > N // 2
    for field in ("target", "score", "n_ties"):
        assert np.array_equal(getattr(here, field), getattr(there, field)), field


def test_pooled_observers_and_groups_on_shards():
    targets, queries = tables(Traces, 2)
    engine = ShardingEngine([13])
    one, two = (attacks.Hamming().fit([targets, targets]).link([queries, queries], engine=e) for e in (None, engine))
    assert np.array_equal(one.n_ties, two.n_ties)
    groups = np.arange(N) % 3, np.arange(len(queries)) % 3
    rates = [measure.random_user(attacks.Hamming(), targets, queries, np.arange(25), groups=groups, engine=e).rate
             for e in (None, engine)]  # fmt: skip
    assert rates[0] == rates[1]


def test_the_engine_goes_from_the_audit_to_the_search():
    targets, queries = tables(Traces, 3)
    truth, engine = np.arange(len(queries)), ShardingEngine([5, 21])
    risks = [measure.curve(attacks.Hamming(), targets, queries, (1, 5), truth, engine=e) for e in (None, engine)]
    assert [risk.rate for risk in risks[0]] == [risk.rate for risk in risks[1]]
    assert engine.asked == 2 * 3
    plain, sharded = (audit_traces(targets, queries, AuditSpec(seed=1), truth, engine=e) for e in (None, engine))
    assert engine.asked >= 6 + 3 * (len(plain.risks) + 2)  # every row; and how sure one attack is, by best and total
    strangers = queries.take(np.arange(20))  # without truth
    plain_too, sharded_too = (audit_traces(targets, strangers, AuditSpec(seed=1), engine=e) for e in (None, engine))
    assert plain_too.to_dict() == sharded_too.to_dict()
    assert plain.to_dict() == sharded.to_dict()


def test_the_local_engine_hears_of_progress():
    told = []
    targets, queries = tables(Traces, 4)
    attacks.Hamming().fit(targets).link(queries, engine=LocalEngine(lambda stage, share: told.append(share)))
    assert told[-1] == 1.0
    assert ENGINES["local"] is LocalEngine
