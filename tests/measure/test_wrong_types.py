"""What is no attack, no record and no result is refused in one line, never by an AttributeError."""

import numpy as np
import pytest

from reidrisk import Bags, Traces, attacks, measure
from reidrisk.audit import AuditSpec, audit_case, audit_traces, gate, run
from reidrisk.base.errors import DataError, ReidRiskError
from reidrisk.records import Case, Events

TRACES, BAGS = Traces([[1, 2], [2, 0]], 3), Bags([[1, 2], [0, 3]])
WRONG = {
    "text": "text",
    "None": None,
    "number": 3,
    "mapping": {"a": 1},
    "list": [1, 2],
    "array": np.array([["a"]]),
    "object": object(),
    "events": Events({"u": [1, 2], "i": [1, 2]}, user="u", items="i"),
}
HAMMING = attacks.Hamming()
SPEC = AuditSpec(seed=1)
DOORS = {
    "audit_traces targets": lambda wrong: audit_traces(wrong, TRACES, SPEC),
    "audit_traces queries": lambda wrong: audit_traces(TRACES, wrong, SPEC),
    "audit_traces spec": lambda wrong: audit_traces(TRACES, TRACES, wrong),
    "audit_case": lambda wrong: audit_case(wrong, SPEC),
    "run": run,
    "gate": lambda wrong: gate(wrong, 0.1),
    "exposure": lambda wrong: measure.exposure(np.zeros(2), wrong),
    "random_user attack": lambda wrong: measure.random_user(wrong, TRACES, TRACES),
    "random_user targets": lambda wrong: measure.random_user(HAMMING, wrong, TRACES),
    "random_user queries": lambda wrong: measure.random_user(HAMMING, TRACES, wrong),
    "curve": lambda wrong: measure.curve(HAMMING, wrong, TRACES, epochs=(1,)),
    "matching attack": lambda wrong: measure.matching(wrong, TRACES, TRACES),
    "matching targets": lambda wrong: measure.matching(HAMMING, wrong, TRACES),
    "difference": lambda wrong: measure.difference(wrong, wrong),
    "find_truth": lambda wrong: measure.find_truth(wrong, TRACES),
    "fit": lambda wrong: attacks.ProfileBayes().fit(wrong),
    "case": lambda wrong: Case(TRACES, wrong, None),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("door", DOORS)
def test_a_wrong_type_is_refused_in_one_line(door, wrong):
    with pytest.raises(ReidRiskError) as refused:
        DOORS[door](WRONG[wrong])
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("door", "message"),
    [
        (lambda: audit_traces(BAGS, BAGS, SPEC), "Bags"),
        (lambda: measure.curve(attacks.TfIdf(), BAGS, BAGS, epochs=(1,)), "Bags have no epochs to grow by"),
        (lambda: measure.random_user(attacks.Hamming, TRACES, TRACES), "not Hamming"),
        (lambda: measure.choosiness("sure", None), "probability must be an array"),
        (lambda: Bags("counts"), "array or matrix of whole numbers, not str"),
        (lambda: Bags({"a": 1}), "not dict"),
    ],
)
def test_a_right_type_in_the_wrong_place_is_named(door, message):
    with pytest.raises(DataError, match=message):
        door()
