"""What an audit is asked beside the risk: changes, an aim, what gives people away, and more people."""

import numpy as np
import pytest
from pydantic import ValidationError

from reidrisk import Traces
from reidrisk.audit import AuditResult, AuditSpec
from reidrisk.audit.case import audit_case
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


def test_nothing_is_tried_unasked(case):
    assert audit_case(case, AuditSpec(seed=1, attacks=("hamming",))).further is None


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
    with pytest.raises(ValidationError):
        AuditSpec(**asked)
