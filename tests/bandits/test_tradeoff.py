"""The trade-off is made of the single measurements, marks what nothing beats, and can be written and read."""

from dataclasses import replace

import numpy as np
import pytest

from reidrisk import bandits
from reidrisk.bandits.tradeoff import on_front, risk_of
from reidrisk.base.errors import OptionError
from reidrisk_studies.galozy.clustered import clustered_users

USERS = clustered_users(16, n_states=6, n_clusters=4, seed=0)
SMALL = {"n_aux": 12, "runs": 30, "steps": 80, "seed": 0}


def spec_of(strategies, amounts, **options):
    return bandits.TradeoffSpec(strategies=strategies, amounts=amounts, **SMALL | options)


@pytest.fixture(scope="module")
def surface():
    told = []
    strategies = [*bandits.paper_strategies(4), "microaggregation:4", "clusters:3"]
    spec = spec_of(strategies, [0.0, 1e-4, 1e-2])
    result = bandits.tradeoff(USERS, spec, progress=lambda _, share: told.append(share))
    assert told == sorted(told)
    assert told[-1] == 1.0
    return result


def test_every_strategy_has_every_amount(surface):
    assert len(surface.points) == 9 * 3
    assert surface.guess == 1 / 16
    assert surface.points[0].strategy == "own"
    assert surface.points[0].regret.mean == pytest.approx(surface.least_regret), (
        "own records without noise are the true ones"
    )
    assert all(0 <= p.regret.low <= p.regret.mean <= p.regret.high for p in surface.points)
    assert all(p.regret.baseline == pytest.approx(surface.blind_regret) for p in surface.points)


def test_points_are_the_single_measurements(surface):
    shared = bandits.anonymise(USERS.records, "clusters:4", USERS.profiles)
    env = bandits.LatentBandit(USERS.records, bandits.hard_rewards(6), 2.0)
    point = next(p for p in surface.points if p.strategy == "clusters:4" and p.amount == 0.0)
    assert point.regret.mean == pytest.approx(bandits.regret(env, shared.records, runs=30, steps=80).mean)
    draws = -(-1000 // 32)
    for name, risk in (("scoreboard", point.risk), ("likelihood", point.likelihood)):
        assert risk.rate == pytest.approx(
            bandits.deanonymisation(USERS.records, shared, 12, draws=draws, attack=name).rate
        )
    assert point.ads == bandits.ads(USERS.records, shared)


def test_the_front_is_what_nothing_beats(surface):
    for attack in ("scoreboard", "likelihood"):
        front = surface.front(attack)
        found, every = (
            [(p.regret.mean, max(risk_of(p, attack).rate, surface.guess)) for p in points]
            for points in (front, surface.points)
        )
        for cost, risk in every:
            beaten = any(c <= cost and r <= risk and (c, r) != (cost, risk) for c, r in every)
            assert ((cost, risk) in found) == (not beaten)
    assert {id(p) for p in surface.front()} == {id(p) for p in surface.points if p.on_front}


def test_no_choice_is_safer_than_a_guess(surface):
    """A rate below that of a guess is chance: it buys no place on the front at a higher price."""
    cheap = next(p for p in surface.points if p.strategy == "average")
    guess = cheap.risk.baseline
    assert cheap.risk.rate == pytest.approx(guess)
    dear = replace(
        cheap,
        regret=replace(cheap.regret, mean=cheap.regret.mean + 1.0),
        risk=replace(cheap.risk, rate=guess / 2, low=0.0),
    )
    assert on_front([cheap, dear], "scoreboard") == [True, False]


def test_the_front_follows_the_attack(surface):
    safest_first = [p.likelihood.rate for p in surface.front("likelihood")]
    assert safest_first == sorted(safest_first)
    found = bandits.tradeoff(USERS, spec_of(["own", "average", "clusters:4"], [0.0, 1e-4], attack="likelihood"))
    front = found.front("likelihood")
    assert [p for p in found.points if p.on_front] == [p for p in found.points if p in front]
    assert (found.attack, found.attacks) == ("likelihood", ("likelihood", "scoreboard"))
    assert found.judged_by("scoreboard").judged_by("likelihood") == found


def test_the_saved_spec_runs_it_again(surface):
    saved = bandits.Tradeoff.from_json(surface.to_json())
    assert saved.spec == surface.spec
    assert bandits.tradeoff(USERS, saved.spec) == surface


def test_defaults_are_filled_in_from_users_and_states():
    filled = bandits.TradeoffSpec(noise="svd").filled(n_users=16, n_states=6)
    assert filled.strategies == (
        "own",
        "average",
        "neighbour:1",
        "neighbour:2",
        "clusters:3",
        "clusters:6",
        "clusters:9",
    )
    assert (filled.amounts, filled.n_aux) == ((6.0, 5.0, 4.0, 3.0, 2.0, 1.0), 34)
    assert bandits.TradeoffSpec().filled(n_users=300, n_states=41).n_aux == 91
    steps = bandits.TradeoffSpec(strategies=[bandits.Clusters(3), [bandits.Own(), bandits.Laplace(0.5)]])
    assert steps.strategies == ("clusters:3", "own+laplace:0.5")


def test_the_call_before_specs_works_and_warns():
    told = []
    with pytest.warns(DeprecationWarning, match="TradeoffSpec"):
        old = bandits.tradeoff(USERS, ["own"], [0.0], 12, "laplace", runs=30, steps=80, progress=told.append)
    assert told == [1.0]
    assert old == bandits.tradeoff(USERS, spec_of(["own"], [0.0]))


def test_a_file_and_its_spec_are_enough(tmp_path):
    np.savez(tmp_path / "m.npz", records=USERS.records, profiles=USERS.profiles)
    inputs = bandits.BehaviourFile(path=str(tmp_path / "m.npz"), format="matrices")
    spec = bandits.TradeoffSpec.from_dict(spec_of(["own"], [0.0], inputs=inputs).to_dict())
    assert bandits.tradeoff(spec.inputs.read(), spec).points == bandits.tradeoff(USERS, spec).points
    with pytest.raises(OptionError, match="states is for logs"):
        bandits.BehaviourFile(path="m.npz", format="matrices", states="s.txt")


def test_private_clusters_take_uniform_noise_and_truncation_on_top():
    for options in ({"weights": "uniform", "amounts": [0.0, 0.1]}, {"noise": "svd", "amounts": [2]}):
        found = bandits.tradeoff(USERS, spec_of(["private-clusters:4,2"], **options))
        assert {p.strategy for p in found.points} == {"private-clusters:4,2,1e-05"}


def test_it_can_be_written_and_read(surface):
    again = bandits.Tradeoff.from_json(surface.to_json())
    assert again == surface
    assert again.points[3].likelihood.rate == surface.points[3].likelihood.rate
    assert "per_user" not in surface.to_json()


def test_ranks_and_seeds():
    first, second = (bandits.tradeoff(USERS, spec_of(["own"], [6, 2], noise="svd", likelihood=False)) for _ in range(2))
    assert first == second
    assert first.points[0].regret.mean == pytest.approx(first.least_regret)
    assert first.points[0].likelihood is None
    assert first.points[1].risk.rate < first.points[0].risk.rate
    other = bandits.tradeoff(USERS, spec_of(["own"], [2], noise="svd", seed=1, likelihood=False))
    assert other.points[0].regret.mean != first.points[1].regret.mean


def test_runs_are_spread_over_releases():
    one, three = (bandits.tradeoff(USERS, spec_of(["own"], [1e-3], releases=r)) for r in (1, 3))
    assert one.points[0].regret.runs == three.points[0].regret.runs == 30
    assert not np.array_equal(one.points[0].regret.per_run, three.points[0].regret.per_run)
    assert np.array_equal(one.points[0].regret.per_run[:10], three.points[0].regret.per_run[:10]), (
        "the first release is the same"
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"noise": "salt"}, "noise must be one of laplace, svd, not 'salt'"),
        ({"rewards": "none"}, "rewards must be"),
        ({"amounts": []}, "at least one"),
        ({"strategies": []}, "at least one"),
        ({"releases": 31}, "releases"),
        ({"n_aux": 37}, "36 cells"),
        ({"amounts": [7], "noise": "svd"}, "at most 6"),
        ({"strategies": ["clusters:17"]}, "no 17 clusters"),
        ({"strategies": ["private-clusters:4,2"]}, "takes its weights from the records"),
        ({"steps": 0}, "steps must be a whole number of at least 1"),
        ({"steps": -5}, "steps must be"),
        ({"runs": 0}, "runs must be"),
        ({"amounts": [1.5], "noise": "svd"}, "whole numbers such as 10, not 1.5"),
        ({"amounts": [float("nan")], "noise": "svd"}, "whole numbers"),
        ({"attack": "magic"}, "attack must be one of"),
        ({"attack": "likelihood", "likelihood": False}, "leave out one"),
    ],
)
def test_bad_options_are_refused(options, words):
    given = {"strategies": ["own"], "amounts": [0.1], **SMALL} | options
    with pytest.raises(OptionError, match=words):
        bandits.tradeoff(USERS, bandits.TradeoffSpec(**given))


def test_equal_profiles_are_told():
    profiles = USERS.profiles.copy()
    profiles[3] = profiles[5]
    alike = bandits.Behaviour(USERS.records, profiles, USERS.users, USERS.states, "made up")
    for users, told in ((USERS, False), (alike, True)):
        found = bandits.tradeoff(users, spec_of(["own"], [0.0], likelihood=False))
        assert [note["users"] for note in found.notes if note.code == "profiles-alike"] == [2] * told


def test_cells_without_noise_are_told_where_the_weights_leave_some():
    users = clustered_users(12, n_states=12, n_clusters=3)
    bare = int((bandits.cell_weights(users.records) == 0).sum())
    assert bare > 0
    for weights, told in (("inverse entropy", True), ("uniform", False)):
        found = bandits.tradeoff(users, spec_of(["own"], [0.1], n_aux=8, runs=6, steps=20, weights=weights))
        noted = [(note["cells"], note["of"]) for note in found.notes if note.code == "cells-without-noise"]
        assert noted == [(bare, 144)] * told
