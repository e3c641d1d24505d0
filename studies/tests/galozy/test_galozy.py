"""The studies of galozy, run tiny: few runs, few amounts; what must hold at any size."""

import csv
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import reidrisk_studies as studies
from reidrisk import bandits
from reidrisk.base.errors import OptionError
from reidrisk_studies.galozy import figures as galozy_figures
from reidrisk_studies.galozy import people as galozy_people
from reidrisk_studies.galozy.choices import cheapest, mixture, price
from reidrisk_studies.galozy.claims import noise_range
from reidrisk_studies.galozy.clustered import clustered_users
from reidrisk_studies.galozy.figures import figure_1, figure_6, figure_7
from reidrisk_studies.galozy.people import Size
from reidrisk_studies.galozy.surfaces import COUNTS, LAPLACE, SVD, counts_of, harmless_variance, noisy_counts, surfaces
from reidrisk_studies.galozy.tradeoffs import figure_10
from reidrisk_studies.galozy.weights import weights_compared
from reidrisk_studies.writing import as_csv, as_markdown

TINY = Size(runs=10, steps=400, printed=2, finer=2, on_counts=2, ranks=2, cells=2)
FIGURES = (1, 6, 7, 8, 9, 10, 11)


def quiet(stage, share):
    """Say nothing."""


@pytest.fixture(scope="module")
def people():
    return galozy_people.casas(24, 0)


@pytest.fixture(scope="module")
def found(people):
    return surfaces(people, TINY, 0, quiet)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Every figure, without any data: what a stranger has."""
    from reidrisk_studies.galozy.ads import figure_11

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REIDRISK_DATA", str(tmp_path_factory.mktemp("empty")))
        patch.setattr(galozy_figures, "_TRIED", (2, 5))
        figures = {
            "galozy-fig1": figure_1,
            "galozy-fig6": figure_6,
            "galozy-fig7": figure_7,
            "galozy-fig10": figure_10,
            "galozy-fig11": figure_11,
            "galozy-weights": weights_compared,
        }
        return {
            name: replace(figure(TINY, 24, 0, quiet), name=name, title=studies.find(name).title)
            for name, figure in figures.items()
        }


def test_every_figure_is_there_and_at_the_published_size_too():
    names = [name for name in studies.STUDIES if name.startswith("galozy")]
    assert {name.removesuffix("-full") for name in names} == {
        "galozy-weights",
        "galozy-fig5",  # the service and its adversary: test_adversary_study.py
        *(f"galozy-fig{n}" for n in FIGURES),
    }
    assert {name for name in names if name.endswith("-full")} == {
        "galozy-weights-full",
        *(f"galozy-fig{n}-full" for n in (1, 8, 9, 10, 11)),
    }
    full = galozy_people.FULL
    assert (full.runs, full.steps, len(full.printed_amounts(3.0)), full.ranks_of(41)) == (
        500,
        2500,
        50,
        [float(rank) for rank in range(41, 0, -1)],
    )
    assert full.printed_amounts(3.0)[-1] == pytest.approx(2.94)  # the end is left out
    with pytest.raises(OptionError, match="at least 24, not 10"):
        studies.run("galozy-fig8", users=10)


def test_results_have_rows_reasons_and_a_stand_in_says_so(results):
    for name, result in results.items():
        assert result.name == name
        rows = list(csv.DictReader(as_csv(result).splitlines()))
        assert len(rows) == len(result.rows) > 1
        for row in result.rows:
            assert all(math.isfinite(value) for value in row.values() if isinstance(value, float))
            if "low" in row:
                assert row["low"] <= row.get("rate", row.get("regret")) <= row["high"]
        assert all(c.published and c.ours and c.why.startswith("Made-up users") for c in result.comparisons)
        assert any("not at hand" in assumption for assumption in result.assumptions)
        assert f"reidrisk study run {name} --users 24" in as_markdown(result, Path("out"))


def test_charts_can_be_drawn(results, tmp_path):
    pytest.importorskip("vl_convert", reason="needs the extra report")
    from altair.utils.schemapi import debug_mode

    for name, panels in (("galozy-fig7", 3), ("galozy-fig10", 3), ("galozy-weights", 3)):
        with debug_mode(False):  # checking every mark against the schema takes seconds
            assert len(results[name].chart().to_dict(validate=False)["concat"]) == panels
    _, picture, _ = studies.write(results["galozy-fig6"], tmp_path)
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_counts_give_the_matrix_back_and_the_rarest_is_one():
    counts = np.array([[[600.0, 1.0, 3.0], [2.0, 50.0, 0.0], [1.0, 1.0, 90.0]]])
    again = counts_of(counts / counts.sum(axis=2, keepdims=True))
    assert again[0, 0] == pytest.approx([600, 1, 3])
    assert again[0, 1] == pytest.approx([1, 25, 0])  # two is the least here, and counts as one
    made = clustered_users(6, n_states=8, n_clusters=2).records
    again = counts_of(made)
    assert again / again.sum(axis=2, keepdims=True) == pytest.approx(made)


def test_noise_on_counts_keeps_rows_adding_up_and_none_changes_nothing():
    users = clustered_users(9, n_states=6, n_clusters=3)
    cells = bandits.cell_weights(users.records)
    own = bandits.anonymise(users.records, "own")
    assert noisy_counts(own, users.records, 0.0, cells).records == pytest.approx(users.records)
    noisy = noisy_counts(own, users.records, 50.0, cells).records
    assert noisy.sum(axis=2) == pytest.approx(np.ones((9, 6)))
    assert np.abs(noisy - users.records).max() > 1e-3
    mean = counts_of(users.records).mean(axis=0)
    average = noisy_counts(bandits.anonymise(users.records, "average"), users.records, 0.0, cells).records
    assert average[4] == pytest.approx(mean / mean.sum(axis=1, keepdims=True))


def test_from_the_harmless_variance_on_noise_doubles_the_leaving():
    """The closed form against noise itself."""
    users = clustered_users(30, n_states=41, n_clusters=7, seed=2)
    variance = harmless_variance(users)
    true = 1 - np.diagonal(users.records, axis1=1, axis2=2)

    def times_as_much(variance):
        given = bandits.anonymise(users.records, bandits.Laplace(variance)).records
        return np.median((1 - np.diagonal(given, axis1=1, axis2=2)) / true)

    assert times_as_much(variance / 100) < 1.3
    assert 1.5 < times_as_much(variance) < 2.6
    assert times_as_much(variance * 100) > 5


def test_the_surfaces_share_their_ends(found):
    assert set(found) == {LAPLACE, COUNTS, SVD}
    first = {noise: next(p for p in surface.points if p.strategy == "own") for noise, surface in found.items()}
    for noise, point in first.items():  # no noise, or the full rank: one and the same
        assert point.regret.mean == pytest.approx(found[LAPLACE].least_regret, rel=1e-6), noise
        assert point.risk.rate == pytest.approx(first[LAPLACE].risk.rate), noise
    for surface in found.values():
        assert any(p.on_front for p in surface.points)
        for p in surface.points:
            if p.strategy == "average":
                assert p.risk.rate == pytest.approx(1 / 24)


def test_the_printed_range_is_blind_choice_on_probabilities_and_a_trade_off_on_counts(people, found):
    def own(noise, amount):
        return next(p for p in found[noise].points if p.strategy == "own" and p.amount == pytest.approx(amount))

    blind = found[LAPLACE].blind_regret
    assert own(LAPLACE, 0.06).regret.mean > 0.95 * blind
    assert own(COUNTS, 0.06).regret.mean < 0.9 * blind
    assert own(COUNTS, 0.06).risk.rate < own(COUNTS, 0.0).risk.rate
    why = noise_range(people, found)[0].why
    assert "already" in why
    assert "Made-up" in people.why(why)


def test_the_cheapest_is_safe_enough_and_no_safe_one_is_cheaper(found):
    points = found[LAPLACE].points
    best = cheapest(points, 0.3)
    assert best.risk.rate <= 0.3
    assert all(p.regret.mean >= best.regret.mean for p in points if p.risk.rate <= 0.3)
    assert cheapest(points, 0.0) is None or cheapest(points, 0.0).risk.rate == 0.0
    share, point = price(found[LAPLACE], 1.0)
    assert share == pytest.approx((point.regret.mean - found[LAPLACE].least_regret) / (
        found[LAPLACE].blind_regret - found[LAPLACE].least_regret))  # fmt: skip
    assert share <= 0.0 + 1e-9  # the true matrices are among the choices


def test_a_coin_between_two_choices_has_their_mean_risk_and_regret(found):
    points = [p for p in found[LAPLACE].points if p.strategy == "own"]
    a, b = points[0], points[-1]  # found most often, and least
    half = (a.risk.rate + b.risk.rate) / 2
    both = mixture([a, b], half)
    assert both.mean == pytest.approx((a.regret.mean + b.regret.mean) / 2)
    assert both.per_run == pytest.approx((a.regret.per_run + b.regret.per_run) / 2)
    assert both.mean == pytest.approx(both.per_run.mean())
    low, high = both.minus(mixture([b], half))
    assert low <= both.mean - b.regret.mean <= high
    assert mixture([a], half) is None
    assert mixture([a, b], 1.0).mean == pytest.approx(a.regret.mean)


def test_a_claim_that_fails_is_said_to_fail(found):
    from reidrisk_studies.galozy.claims import _verdict

    assert "its opposite at none" in _verdict([("a", 0.1, 1), ("b", 0.2, 0)])
    assert "its opposite at 1 (b at 20 %)" in _verdict([("a", 0.1, 1), ("b", 0.2, -1)])
    alone = _verdict([("a", 0.1, 2), ("b", 0.2, 1)])
    assert "beyond the interval at 1 of 2 places, at 1 more only this kind is ever that safe" in alone
    assert "elsewhere" not in alone


def test_the_real_fitbit_data_is_used_where_it_is(study_file):
    study_file("fitbit2016/minuteIntensitiesWide_merged.csv.gz")
    real = galozy_people.fitbit(33, 0)
    assert (real.real, len(real.behaviour.users), len(real.behaviour.states)) == (True, 33, 4)
    assert real.why("Agrees.") == "Agrees."
    with pytest.raises(OptionError, match="33 people"):
        galozy_people.fitbit(40, 0)
    # The range of the paper lies about the variance from which on noise hurts; for 41 states it is far beyond.
    assert 3e-6 < harmless_variance(real.behaviour) < 3e-4


def test_made_up_users_are_alike_within_their_type():
    found = clustered_users(60, n_states=39, n_clusters=6, seed=2)
    assert found.records.shape == (60, 39, 39)
    flat, kind = found.records.reshape(60, -1), np.arange(60) % 6
    distance = np.linalg.norm(flat[:, None] - flat, axis=2)
    same = kind[:, None] == kind
    assert distance[same & ~np.eye(60, dtype=bool)].max() < distance[~same].mean()
    again = clustered_users(60, n_states=39, n_clusters=6, seed=2)
    assert np.array_equal(again.records, found.records)
    with pytest.raises(OptionError, match="no 61 clusters"):
        clustered_users(60, n_clusters=61)
