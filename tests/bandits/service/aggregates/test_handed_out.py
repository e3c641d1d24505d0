"""Groups: what each is given, noise that stays, a budget that ends, and the risk of all."""

from dataclasses import replace

import numpy as np
import pytest

from reidrisk import bandits
from reidrisk.bandits.service.aggregates.batches import Member
from reidrisk.bandits.service.aggregates.groups import built, highest_risk
from reidrisk.bandits.service.aggregates.noise import laplace, private_mean, private_sigma
from reidrisk.bandits.service.spec import ServiceSpec
from reidrisk.bandits.sharing.strategies import PrivateClusters
from reidrisk.base.errors import OptionError

N, D = 12, 4


@pytest.fixture
def members():
    lots = np.random.default_rng(1)
    records = lots.dirichlet(np.ones(D), (N, D))
    return [
        Member(f"{i:016x}", 1, r, np.array([i // 3 * 1.0]), i // 3, 1, r, np.array([i // 3 * 1.0]))
        for i, r in enumerate(records)
    ]


def spec(strategy, **options):
    return ServiceSpec(strategy=strategy, **{"minimum_group": 3, **options})


def test_every_batch_is_a_group_and_its_matrix_the_mean(members):
    found = built(members, spec("microaggregation:3"), {})
    assert [group.size for group in found.groups] == [3] * 4
    for number, group in enumerate(found.groups):
        mean = np.mean([m.published_matrix for m in members[3 * number : 3 * number + 3]], axis=0)
        np.testing.assert_allclose(group.matrix, mean, atol=1e-9)


def test_the_average_is_everybodys(members):
    (group,) = built(members, spec("average"), {}).groups
    np.testing.assert_allclose(group.matrix, np.mean([m.matrix for m in members], axis=0), atol=1e-9)


def test_clusters_are_made_of_whole_batches(members):
    found = built(members, spec("clusters:2"), {})
    assert len(found.groups) == 2
    for batch in range(4):
        inside = {m.agent for m in members if m.batch == batch}
        assert any(inside <= set(group.members) for group in found.groups)


def test_truncation_comes_after_the_mean(members):
    (group,) = built(members, spec("average+svd:2"), {}).groups
    records = np.array([m.matrix for m in members])
    np.testing.assert_allclose(group.matrix, bandits.anonymise(records, "average+svd:2").records[0], atol=1e-8)


def test_the_risk_is_that_of_the_library(members):
    found = built(members, spec("average"), {})
    records = np.array([m.matrix for m in members])
    shared = bandits.anonymise(records, "average")
    for attack in ("scoreboard", "likelihood"):
        assert found.risk[attack]["rate"] == pytest.approx(
            bandits.deanonymisation(records, shared, D * D - 2, attack=attack).rate, abs=1e-6
        )
    assert highest_risk(found.risk) >= found.risk["likelihood"]["rate"] == pytest.approx(1 / N)


def test_single_records_are_found(members):
    found = built(members, spec("own", minimum_group=1), {})
    assert len(found.groups) == N
    assert found.risk["likelihood"]["rate"] > 0.99


def test_noise_of_an_unchanged_group_stays(members):
    strategy = spec("microaggregation:3+laplace:0.01,uniform")
    first = built(members, strategy, {})
    assert first.draws == 4
    changed = [*members[:-1], replace(members[-1], published_matrix=members[0].matrix)]
    again = built(changed, strategy, {group.key: group.matrix for group in first.groups})
    same = [np.array_equal(a.matrix, b.matrix) for a, b in zip(first.groups, again.groups, strict=True)]
    assert (same, again.draws) == ([True, True, True, False], 1)


def test_no_private_group_is_drawn_beyond_the_budget(members):
    strategy = spec("private-clusters:4,10,1e-6")
    first = built(members, strategy, {})
    before = {group.key: group.matrix for group in first.groups}
    changed = [*members[:-1], replace(members[-1], published_matrix=members[0].matrix)]
    again = built(changed, strategy, before, may_draw=False)
    assert (len(again.groups), again.draws) == (3, 0)


def test_a_small_group_never_leaves(members):
    with pytest.raises(AssertionError):
        built(members[:5], spec("microaggregation:3"), {})


def test_noise_has_the_scale_asked_for():
    scale = np.tile([0.0, 0.5], (20_000, 1))
    drawn = laplace(scale)
    assert (drawn[:, 0] == 0).all()
    assert np.abs(drawn[:, 1]).mean() == pytest.approx(0.5, rel=0.05)
    assert drawn[:, 1].std() == pytest.approx(0.5 * np.sqrt(2), rel=0.05)


def test_private_means_have_the_noise_that_the_budget_asks_for():
    step, records = PrivateClusters(1, 1.0, 1e-6), np.full((10, 30, 30), 1 / 30)
    sigma = private_sigma(step, 1, 10, 30)
    # Discrete noise by zCDP costs a little more than the exact continuous noise of the simulation.
    assert 1.0 < sigma / (bandits_sigma(step) * np.sqrt(60) / 10) < 1.15
    drawn = private_mean(records, sigma) - 1 / 30
    assert drawn.std() == pytest.approx(sigma, rel=0.15)


def bandits_sigma(step):
    from reidrisk.privacy import gaussian_sigma

    return gaussian_sigma(step.epsilon, step.delta)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"strategy": "own"}, "single members"),
        ({"strategy": "neighbour:1+laplace:0.1"}, "single members"),
        ({"strategy": "laplace:0.1+average"}, "put it after"),
        ({"strategy": "nonsense"}, "nonsense"),
        ({"minimum_group": 0}, "minimum_group must be"),
        ({"max_risk": 1.5}, "max_risk must be"),
        ({"rebuild_every": 0}, "rebuild_every must be"),
        ({"requests_per_minute": -1}, "requests_per_minute must be"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, what):
    with pytest.raises(OptionError, match=what):
        ServiceSpec(**options)
