"""A benchmark: every attack on the same queries, the same numbers as measured by themselves."""

import copy
from importlib import import_module

import numpy as np
import pytest

from reidrisk import attacks, bench, measure
from reidrisk.base.errors import DataError, OptionError
from reidrisk.bench import SETTINGS, Bench, BenchSpec, Expected
from reidrisk.records import Bags, Events

QUICK = ("overlap", "tf-idf", "naive-bayes")


@pytest.fixture
def found(manifest):
    spec = BenchSpec(attacks=QUICK, settings=("later", "knows-4"), queries=20, seed=5)
    return bench.run(bench.read_manifest(manifest()), spec)


def test_rates_and_differences_are_those_of_measure_on_the_same_queries(found, frame):
    events = Events(frame, user="customer", items="article", time="day")
    for setting in ("later", "knows-4"):
        targets, queries, truth = SETTINGS[setting](events, 5)
        risks = {
            risk.attack: risk
            for risk in (
                measure.random_user(attack, targets, queries, truth, sample=20, seed=5)
                for attack in (attacks.Overlap(), attacks.TfIdf(), attacks.NaiveBayes())
            )
        }
        rows = [row for row in found.rows if row.setting == setting]
        assert {row.attack for row in rows} == set(risks)
        best = max((risks[row.attack] for row in rows), key=lambda risk: risk.rate)  # the first of equals
        for row in rows:
            risk = risks[row.attack]
            assert (row.rate, row.low, row.high, row.covers) == (risk.rate, risk.low, risk.high, risk.covers)
            assert (row.n_targets, row.n_queries, row.baseline) == (30, 20, risk.baseline)
            if risk is not best:
                gap = measure.difference(best, risk)
                assert (row.behind, row.behind_low, row.behind_high) == (gap.difference, gap.low, gap.high)
        assert min(row.behind for row in rows) == 0.0


def test_calibration_is_that_of_the_probabilities_of_these_links(found, frame):
    events = Events(frame, user="customer", items="article", time="day")
    targets, queries, truth = SETTINGS["later"](events, 5)
    rows, _ = measure.risk.chosen_queries(len(queries), 20, 5)
    attack = attacks.NaiveBayes().fit(targets)
    links = attack.link(queries.take(rows), probability=True)
    credit = measure.credits(attack, queries.take(rows), links, truth.target[rows])
    row = next(row for row in found.rows if (row.setting, row.attack) == ("later", "NaiveBayes"))
    assert row.calibration == measure.calibration(links.probability, credit, links.n_ties, seed=5)
    assert row.holds is None  # 20 queries are too few to tell
    assert next(row for row in found.rows if row.attack == "TfIdf").calibration is None


def test_the_best_that_link_one_by_one_are_also_assigned(manifest, frame):
    spec = BenchSpec(attacks=QUICK, settings=("later",), queries=20, seed=5, assigned=2)
    rows = bench.run(bench.read_manifest(manifest()), spec).rows
    assert sum(row.assigned is not None for row in rows) == 2
    targets, queries, truth = SETTINGS["later"](Events(frame, user="customer", items="article", time="day"), 5)
    scored, _ = measure.risk.chosen_queries(len(queries), 20, 5)
    best = max(rows, key=lambda row: row.rate)
    matched = measure.matching(getattr(attacks, best.attack)(), targets, queries, truth.target, seed=5, orders=1)
    assert best.assigned.rate == matched.per_user[scored].mean()
    assert best.assigned.behind == pytest.approx(best.rate - best.assigned.rate)
    assert not any(row.together for row in rows)


def test_it_comes_back_from_json_and_the_seed_decides(found, manifest):
    assert Bench.from_json(found.to_json()) == found
    assert found.format == 1
    spec = BenchSpec(attacks=QUICK, settings=("later", "knows-4"), queries=20, seed=5)
    again = bench.run(bench.read_manifest(manifest()), spec)
    assert [row.to_dict() | {"seconds": 0} for row in again.rows] == [
        row.to_dict() | {"seconds": 0} for row in found.rows
    ]


def test_standings_count_what_the_rows_say(found):
    for one in found.standings():
        rows = [row for row in found.rows if row.attack == one.attack]
        assert (one.settings, one.unbeaten) == (2, sum(not row.is_beaten for row in rows))
        assert one.mean_behind == pytest.approx(np.mean([row.behind for row in rows]))
        worst = max(rows, key=lambda row: row.behind)
        assert (one.most_behind, one.where) == (worst.behind, (worst.data, worst.setting))
    losses = [one.mean_behind for one in found.standings()]
    assert losses == sorted(losses)
    assert found.standings(held_back=True) == ()
    both = found.plus(found)
    assert [one.settings for one in both.standings()] == [4, 4, 4]
    assert both.left_out == found.left_out


def test_a_new_attack_joins_by_being_registered(manifest, monkeypatch):
    registered = import_module("reidrisk.attacks.registry")
    monkeypatch.setattr(registered, "_REGISTRY", copy.deepcopy(registered._REGISTRY))

    @attacks.register(kinds=(Bags,), cost=registered.per_pair(1e-9))
    class Newcomer(attacks.Overlap):
        """Counts what is shared."""

    @attacks.register(kinds=(Bags,), cost=registered.per_pair(1e-9))
    class Sulking(attacks.Overlap):
        """Refuses everything."""

        def fit(self, targets):
            raise DataError("these targets are not good enough")

    @attacks.register(kinds=(Bags,), cost=registered.per_pair(1e-9), needs=("a crystal ball",))
    class Clairvoyant(attacks.Overlap):
        """Needs more than records."""

    spec = BenchSpec(settings=("later",), attacks=("overlap", "newcomer", "sulking"), queries=20)
    found = bench.run(bench.read_manifest(manifest()), spec)
    assert [row.attack for row in found.rows] == ["Overlap", "Newcomer"]
    assert found.rows[0].rate == found.rows[1].rate
    notes = {note.code: note for note in found.left_out}
    assert notes["attack-refused"]["attack"] == "sulking"
    assert ["a crystal ball"] in [note["needs"] for note in found.left_out if note.code == "attack-needs"]
    with pytest.raises(OptionError, match="clairvoyant"):
        BenchSpec(attacks=("clairvoyant",))


def test_what_an_attack_expects_of_itself_is_held_against_its_rate(manifest, monkeypatch):
    registered = import_module("reidrisk.attacks.registry")
    monkeypatch.setattr(registered, "_REGISTRY", copy.deepcopy(registered._REGISTRY))

    @attacks.register(kinds=(Bags,), cost=registered.per_pair(1e-9))
    class Hopeful(attacks.Overlap):
        """Expects nearly everything."""

        estimate_ = Expected(0.99, 0.95, 1.0)

    spec = BenchSpec(settings=("halves", "knows-2"), attacks=("overlap", "hopeful"), queries=20)
    found = bench.run(bench.read_manifest(manifest()), spec)
    hopes = [row for row in found.rows if row.attack == "Hopeful"]
    assert [row.is_foreseen for row in hopes] == [row.rate >= 0.95 for row in hopes]
    assert {row.is_foreseen for row in found.rows if row.attack == "Overlap"} == {None}
    one = next(one for one in found.standings() if one.attack == "Hopeful")
    assert (one.guessed, one.foreseen) == (2, sum(row.rate >= 0.95 for row in hopes))
    assert Bench.from_json(found.to_json()) == found


def test_what_is_not_here_is_listed_and_the_rest_is_run(manifest):
    path = manifest('[data.gone]\nfiles = { "gone.csv" = "" }\nheld_back = true\n')
    found = bench.run(bench.read_manifest(path), BenchSpec(attacks=("overlap",), settings=("later", "knows-16")))
    assert {row.data for row in found.rows} == {"shop"}
    assert [used.name for used in found.used] == ["shop"]
    assert (found.used[0].people, found.used[0].events) == (30, 720)
    assert "data-missing" in [note.code for note in found.left_out]


def test_a_setting_that_the_data_cannot_have_is_listed(manifest, frame, tmp_path):
    path = manifest()
    frame.group_by("customer").first().write_csv(tmp_path / "log.csv")  # one event of each
    found = bench.run(bench.read_manifest(path), BenchSpec(attacks=("overlap",), settings=("knows-4",)))
    assert found.rows == ()
    assert ("setting-refused", "knows-4") in [(note.code, note.get("setting")) for note in found.left_out]


def test_two_sites_over_the_published_population_need_no_file():
    found = bench.run(spec=BenchSpec(attacks=("hamming", "weighted-hamming"), users=60, queries=30))
    assert [(row.data, row.setting) for row in found.rows] == [("published", "two-tables")] * 2
    assert found.rows[0].n_targets == 60


@pytest.mark.parametrize("wrong", [{"attacks": ("nobody",)}, {"settings": ("thirds",)}, {"users": 1}, {"queries": 0}])
def test_bad_options_are_refused(wrong):
    with pytest.raises(OptionError, match=next(iter(wrong))):
        BenchSpec(**wrong)
