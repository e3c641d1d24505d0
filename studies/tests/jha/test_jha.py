"""The studies of jha, run small: two repetitions, a few epochs, and a quick attack in the place of ProfileBayes."""

import csv
import itertools
import math

import numpy as np
import pytest

import reidrisk_studies as studies
from reidrisk import attacks
from reidrisk.base.errors import OptionError
from reidrisk_studies import repeated
from reidrisk_studies.jha import ceiling as jha_ceiling
from reidrisk_studies.jha import improvements as jha_improvements
from reidrisk_studies.jha import limits as jha_limits
from reidrisk_studies.jha import over_time as jha
from reidrisk_studies.jha import people as jha_people
from reidrisk_studies.jha import personas
from reidrisk_studies.writing import as_csv, as_markdown

NAMES = [
    *(f"jha-fig{n}" for n in range(2, 13)),
    "jha-bayes",
    "jha-calibration",
    "jha-ceiling",
    "jha-improvements",
    "jha-limits",
]


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Make the studies small, and point them at an empty data folder: what a stranger has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REIDRISK_DATA", str(tmp_path_factory.mktemp("empty")))
        patch.setattr(repeated, "REPETITIONS", 2)
        patch.setattr(jha, "EPOCHS", jha.DRAWN)
        patch.setattr(attacks, "ProfileBayes", attacks.WeightedHamming)
        patch.setattr(jha_limits, "HALF_LIVES", (60.0, 15.0))
        little = jha_ceiling.Size(training=200, passes=1, steps=4, batch=16, repetitions=2)
        patch.setattr(jha_ceiling, "SMALL", little)
        patch.setattr(jha_ceiling, "EPOCHS", (6,))
        patch.setattr(jha_ceiling, "AT", 6)
        yield


@pytest.fixture(scope="module")
def results(quick):
    return {name: studies.run(name, users=300 if name == "jha-fig8" else 120, seed=1) for name in NAMES}


def pick(result, **wanted):
    return [row for row in result.rows if all(row[column] == value for column, value in wanted.items())]


def one(result, **wanted):
    (row,) = pick(result, **wanted)
    return row


def test_the_registry_has_every_figure():
    known = [name for name in studies.STUDIES if name.startswith("jha-") and not name.endswith("-full")]
    assert known == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_rates_with_intervals(results, name):
    rows = list(csv.DictReader(as_csv(results[name]).splitlines()))
    assert len(rows) == len(results[name].rows) > 1
    for row in results[name].rows:
        assert math.isfinite(row["rate"])
        assert row["low"] <= row["rate"] <= row["high"]
        if "incorrect" in row:
            assert row["rate"] + row["incorrect"] + row["abstained"] == pytest.approx(1.0)
            assert 0.0 <= row["incorrect_low"] <= row["incorrect"] <= row["incorrect_high"] <= 1.0
            assert row["repetitions"] == 2


@pytest.mark.parametrize("name", NAMES)
def test_published_values_stand_beside_ours_and_strangers_are_told_whose_users_these_are(results, name):
    found = results[name]
    page = as_markdown(found, "out")
    for comparison in found.comparisons:
        assert comparison.published
        assert comparison.why
        assert comparison.ours in page
    if name != "jha-calibration":
        assert all("not the authors' users" in comparison.why for comparison in found.comparisons)
    told = " ".join(found.assumptions)
    assert jha_people.RATES in told
    assert "published population" in told


@pytest.mark.parametrize("name", NAMES)
def test_charts_draw_every_line(results, name):
    spec = str(results[name].chart().to_dict())
    assert all(line.name in spec for line in results[name].lines)


def test_same_seed_same_result(results, quick):
    assert as_csv(studies.run("jha-fig5", users=120, seed=1)) == as_csv(results["jha-fig5"])
    assert as_csv(studies.run("jha-fig5", users=120, seed=2)) != as_csv(results["jha-fig5"])


def test_the_loose_attack_links_more_than_the_strict_one_and_each_gets_better(results):
    for model, (early, late) in itertools.product(("iid", "crossover"), [(10, 40)]):
        loose = [one(results["jha-fig3"], population=model, series="LooseSets", epochs=n) for n in (early, late)]
        strict = one(results["jha-fig3"], population=model, series="StrictSets", epochs=late)
        assert loose[0]["rate"] < loose[1]["rate"]
        assert strict["rate"] < loose[1]["rate"]


def test_attacks_that_always_answer_never_abstain_and_weights_help(results):
    for series in ("Hamming", "WeightedHamming"):
        rows = pick(results["jha-fig3"], series=series)
        assert all(row["abstained"] == pytest.approx(0.0, abs=1e-9) for row in rows)
    weighted, plain = (
        one(results["jha-fig3"], population="iid", series=s, epochs=40) for s in ("WeightedHamming", "Hamming")
    )
    assert weighted["rate"] > plain["rate"]


def test_the_released_code_sees_no_more_wrong_strict_links_than_there_are(results):
    rows = pick(results["jha-fig4"], series="StrictSets, as released")
    assert rows
    for row in rows:
        text = one(results["jha-fig4"], population=row["population"], series="StrictSets", epochs=row["epochs"])
        assert row["incorrect"] <= text["incorrect"]
        assert row["rate"] == text["rate"]


def test_both_thresholds_link_no_more_than_either_alone(results):
    for row in pick(results["jha-fig6"], series="f = 2 AND 3"):
        for series in ("f = 2", "f = 3"):
            alone = one(results["jha-fig6"], population=row["population"], series=series, epochs=row["epochs"])
            assert row["rate"] <= alone["rate"]
            assert row["incorrect"] <= alone["incorrect"]


def test_nobody_is_linked_among_identical_users_and_nearly_everybody_among_distinct_ones(results):
    for row in pick(results["jha-fig11"], population="identical", series="LooseSets"):
        assert row["rate"] == 0.0
    assert one(results["jha-fig11"], population="distinct", series="LooseSets", epochs=40)["rate"] > 0.95
    always = one(results["jha-fig11"], population="identical", series="WeightedHamming", epochs=40)
    assert always["low"] <= always["baseline"] <= always["high"]


def test_a_larger_distance_answers_more(results):
    rows = pick(results["jha-fig5"], population="iid")
    assert rows[0]["abstained"] == 1.0
    for a, b in itertools.pairwise(rows):
        assert a["rate"] <= b["rate"]
        assert a["incorrect"] <= b["incorrect"]


def test_more_users_and_more_noise_are_safer(results):
    few, many = (one(results["jha-fig8"], population="iid", series="LooseSets", users=n) for n in (100, 300))
    assert few["baseline"] == pytest.approx(1 / 100)
    assert few["rate"] > many["rate"] - 0.1
    none, half = (one(results["jha-fig10"], population="iid", series="WeightedHamming", noise=p) for p in (0.0, 0.5))
    assert none["rate"] > half["rate"]


def test_a_shorter_cookie_links_less_at_a_time_and_an_advertiser_knows_less(results):
    def row(value, series="LooseSets"):
        return one(
            results["jha-improvements"],
            population="crossover",
            series=f"cookie lifetime L: {series}",
            value=value,
        )

    assert row(5)["rate"] <= row(15)["rate"]
    assert row(5)["known"] < row(10)["known"] < row(15)["known"]
    for value in (5, 10, 15):
        assert row(value)["once"] >= row(value)["rate"]
        assert row(value)["real"] == pytest.approx(row(5)["real"])  # the same topics under other names


def test_noise_costs_the_advertiser_what_it_replaces(results):
    found = [
        one(results["jha-improvements"], population="iid", series="noise p: LooseSets", value=p)
        for p in (0.0, 0.2, 0.4)
    ]
    # A random topic is hardly ever a real interest: the share falls in proportion to 1 - p.
    for row, p in zip(found, (0.0, 0.2, 0.4), strict=True):
        assert row["real"] == pytest.approx((1.0 - p) * found[0]["real"], abs=0.04 * (p > 0) + 1e-9)


def test_one_token_an_epoch_is_a_window_of_one(results):
    base, window = (
        one(results["jha-improvements"], population="iid", series=f"{family}: LooseSets", value=value)
        for family, value in (("as proposed", 0), ("past epochs shown E", 1))
    )
    assert base["rate"] == window["rate"]


def test_nobody_is_right_about_strangers(results):
    for row in pick(results["jha-limits"], series="overlap: WeightedHamming"):
        assert row["rate"] <= row["value"] + 1e-9
        assert row["baseline"] == pytest.approx(row["value"] / 120, rel=0.05)


def test_groups_help_and_guessing_gets_better_with_them(results):
    rows = pick(results["jha-limits"], series="groups: WeightedHamming")
    assert [row["baseline"] for row in rows] == pytest.approx([n / 120 for n in (1, 4, 16, 64)])
    assert rows[-1]["rate"] > rows[0]["rate"]


def test_interests_are_not_said_to_be_constant_where_they_drift(results):
    told = results["jha-limits"].assumptions
    assert any("Interests change in the rows 'half-life' only" in sentence for sentence in told)
    assert not any("interests do not change." in sentence for sentence in told)


def test_gaps_leave_less_to_the_attacker(results):
    for series in ("gaps: LooseSets", "gaps: WeightedHamming"):
        rows = pick(results["jha-limits"], series=series)
        assert rows[0]["rate"] > rows[-1]["rate"]


def test_too_few_users_are_refused():
    with pytest.raises(OptionError, match="at least 100, not"):
        studies.run("jha-fig3", users=50)


def test_every_change_is_simulated_as_it_says():
    rates = personas.distinct(50, n_topics=40)
    every, gaps = (
        jha_improvements.Change("x", 0, window=3, every=every).sites(rates, seed=0)[0] for every in (1.0, 3.0)
    )
    assert every.tokens.shape == gaps.tokens.shape == (50, 32)
    assert (every.tokens >= 0).all()
    seen = gaps.tokens >= 0
    assert np.array_equal(gaps.tokens[seen], every.tokens[seen])
    # A week is missed if none of the three visits that would show it came: (2/3)^3.
    assert seen[:, 2:-2].mean() == pytest.approx(1 - (2 / 3) ** 3, abs=0.05)
