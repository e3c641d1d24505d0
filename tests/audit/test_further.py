"""What an audit is asked beside the risk: changes, an aim, what gives people away, and more people."""

import json

import numpy as np
import pytest

from reidrisk import Bags, Traces, Vocabulary, scenarios
from reidrisk.audit import AuditResult, AuditSpec, audit_scenarios
from reidrisk.audit.case import audit_case
from reidrisk.base.errors import OptionError
from reidrisk.records import Case, Truth

N = 200


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    habits = rng.integers(40, size=(N, 3))
    sides = [Traces(np.take_along_axis(habits, rng.integers(3, size=(N, 4)), axis=1), n_tokens=40) for _ in range(2)]
    return Case(*sides, Truth(np.arange(N), "rows"))


@pytest.fixture(scope="module")
def result(case):
    asked = {"what_if": True, "changes": ("draw:0.5", "rotate:2"), "aim": 0.4, "population": 20_000}
    return audit_case(case, AuditSpec(seed=1, attacks=("hamming", "tf-idf"), what_if_budget=5.0, **asked))


def test_all_that_was_asked_for_is_answered_and_saved(result):
    found = result.further
    assert [one.change for one in found.what_if.tried] == ["draw:0.5", "rotate:2"]
    assert found.aim.max_risk == 0.4
    assert found.attribution.by == "periods"
    assert len(found.attribution.parts) == 4
    assert found.forecast.predicted[0].population == 20_000
    assert AuditResult.from_json(result.to_json()) == result


def test_changes_are_held_against_the_row_of_the_verdict(result):
    verdict, what, aim = result.strongest, result.further.what_if, result.further.aim
    for before in (what.before, aim.before):
        assert [getattr(before, name) for name in ("attack", "rate", "low", "high", "n_queries")] == [
            getattr(verdict, name) for name in ("attack", "rate", "low", "high", "n_queries")
        ]
    assert all(one.full and verdict.attack in one.attacks for one in what.tried)


def test_fewer_people_are_a_stated_part_of_those_of_the_verdict():
    rng = np.random.default_rng(0)
    habits = rng.integers(200, size=(1_500, 3))
    sides = [Traces(np.take_along_axis(habits, rng.integers(3, size=(1_500, 3)), axis=1), 200) for _ in range(2)]
    case = Case(*sides, Truth(np.arange(1_500), "rows"))
    spec = AuditSpec(seed=1, attacks=("tf-idf",), changes=("draw:0.5",), what_if_budget=1e-6)
    found = audit_case(case, spec)
    before = found.further.what_if.before
    assert before.n_queries == 375 < found.strongest.n_queries
    assert before.attack == found.strongest.attack
    assert before.low <= found.strongest.rate <= before.high


def test_nothing_is_tried_unasked(case):
    assert audit_case(case, AuditSpec(seed=1, attacks=("hamming",))).further is None


def test_what_fits_in_the_time_is_tried_and_what_does_not_is_said(case):
    asked = {"seed": 1, "attacks": ("hamming",), "what_if": "fits"}
    found = audit_case(case, AuditSpec(**asked, what_if_budget=30.0)).further
    assert len(found.what_if.tried) > 10
    assert found.attribution is not None
    assert found.notes == ()
    none = audit_case(case, AuditSpec(**asked, what_if_budget=1e-5)).further
    assert (none.what_if, none.attribution) == (None, None)
    assert [note.code for note in none.notes] == ["changes-left-out", "parts-left-out"]
    assert all(note["seconds"] > note["budget"] == 1e-5 for note in none.notes)


def test_who_knows_facts_meets_changes_of_the_table_not_of_what_they_know(case):
    spec = AuditSpec(seed=1, attacks=("tf-idf",), changes=("suppress-rare:201", "draw:0.3"), what_if_budget=1.0)
    knows = scenarios.Knows(case.targets, facts=2)
    found = audit_scenarios([knows], spec).further.what_if
    assert found.side == "targets"
    assert [one.change for one in found.refused] == ["suppress-rare:201"]  # every item is held by fewer: nobody is left
    assert found.tried[0].risk.rate < found.before.rate
    assert found.tried[0].kept.observations == pytest.approx(0.3, abs=0.05)


def test_usual_changes_that_cannot_be_judged_are_named_and_do_not_stop_an_audit():
    table = Traces(np.arange(8).reshape(4, 2), n_tokens=8)
    few = Case(table, table, Truth(np.arange(4), "rows"))
    found = audit_case(few, AuditSpec(seed=1, attacks=("hamming",), what_if="fits")).further.what_if
    assert found.before.n_queries == 4
    assert not {one.change for one in found.tried} & {one.change for one in found.refused}


@pytest.fixture
def labelled(case):
    names = Vocabulary([f"item {i}" for i in range(40)])
    sides = (Bags(table.bags().counts, vocabulary=names) for table in (case.targets, case.queries))
    return Case(*sides, case.truth)


def taxonomy(folder, kinds):
    path = folder / "kinds.json"
    path.write_text(json.dumps(kinds))
    return str(path)


def test_a_taxonomy_says_which_kinds_of_items_give_people_away(labelled, tmp_path):
    kinds = {f"item {i}": "even" if i % 2 == 0 else "odd" for i in range(39)} | {"even": "all", "odd": "odd"}
    asked = {"seed": 1, "attacks": ("tf-idf",), "what_if": True, "what_if_budget": 2.0}
    found = audit_case(labelled, AuditSpec(**asked, taxonomy=taxonomy(tmp_path, kinds))).further
    assert found.attribution.by == "kinds"
    assert {part.name for part in found.attribution.parts} <= {"all", "odd", "other"}
    assert len(found.attribution.parts) >= 2
    assert "coarsen:parents=3" in [one.change for one in found.what_if.tried]
    assert [(note.code, note["n"], note["of"]) for note in found.notes] == [("taxonomy-misses", 1, 40)]


def test_a_taxonomy_of_other_things_is_refused(labelled, case, tmp_path):
    spec = AuditSpec(seed=1, attacks=("tf-idf",), taxonomy=taxonomy(tmp_path, {"rum": "spirits"}))
    with pytest.raises(OptionError, match="names none of the 40 items"):
        audit_case(labelled, spec)
    with pytest.raises(OptionError, match="have no labels"):
        audit_case(case, spec)


def test_people_without_counterpart_do_not_dilute_what_is_tried(case):
    truth = Truth(np.where(np.arange(N) < N // 2, np.arange(N), -1), "given")
    half = Case(case.targets, case.queries, truth)
    found = audit_case(half, AuditSpec(seed=1, attacks=("hamming",), changes=("draw:0.5",), what_if_budget=1.0))
    assert found.further.what_if.before.n_queries == N // 2


def test_without_truth_nothing_is_tried(case):
    found = audit_case(Case(case.targets, case.queries, None), AuditSpec(seed=1, what_if=True))
    assert found.further is None


@pytest.mark.parametrize(
    "asked", [{"changes": ("scramble:2",)}, {"aim": 1.5}, {"population": 1}, {"what_if_budget": 0}]
)
def test_what_cannot_be_asked_is_refused(asked):
    with pytest.raises(OptionError):
        AuditSpec(**asked)
