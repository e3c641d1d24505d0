"""What is no attack, no record and no result is refused in one line, never by an AttributeError."""

import numpy as np
import pytest

from reidrisk import Bags, Traces, attacks, bench, bounds, measure, mitigations, present, topics
from reidrisk.audit import AuditSpec, audit_case, audit_traces, compare, gate, run
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
    "compare": lambda wrong: compare(wrong, wrong),
    "tried": lambda wrong: mitigations.tried(wrong, [mitigations.Draw(0.5)]),
    "together": lambda wrong: mitigations.Together(wrong, mitigations.Draw(0.5)),
    "page": present.page,
    "bound": lambda wrong: bounds.topics_full_information(wrong, noise=0.05),
    "observed": lambda wrong: topics.TopicsAPI(n_topics=3).expose(wrong, seed=1, site="a"),
    "bench": lambda wrong: bench.run(wrong or 0.5),
    "level": lambda wrong: measure.known_victim(HAMMING, TRACES, TRACES, level=wrong),
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


class Untouched(attacks.Hamming):
    def fit(self, targets):
        pytest.fail("the work began")


@pytest.mark.parametrize("measured", [measure.random_user, measure.matching, measure.known_victim, measure.curve])
def test_a_level_is_checked_before_the_work(measured):
    more = {"epochs": (1, 2)} if measured is measure.curve else {}
    with pytest.raises(ReidRiskError, match="level must lie strictly between 0 and 1, not 95"):
        measured(Untouched(), TRACES, TRACES, level=95, **more)


@pytest.mark.parametrize("wrong", ["all", 1e3, 0, True, [1]])
def test_a_sample_and_epochs_that_are_no_whole_numbers_are_refused(wrong):
    with pytest.raises(ReidRiskError, match="sample must be a whole number of queries"):
        measure.random_user(Untouched(), TRACES, TRACES, sample=wrong)
    for epochs in (wrong, 9) if wrong != [1] else (None, object()):
        with pytest.raises(ReidRiskError):
            measure.curve(Untouched(), TRACES, TRACES, epochs=epochs)


def test_what_has_one_natural_meaning_is_taken_so():
    assert measure.curve(HAMMING, TRACES, TRACES, epochs=2) == measure.curve(HAMMING, TRACES, TRACES, epochs=(2,))
    changes = mitigations.Draw(0.5), mitigations.SuppressRare(3)
    assert mitigations.Together(*changes) == mitigations.Together(changes)
    found = audit_traces(TRACES, TRACES, AuditSpec(seed=1, attacks="hamming", max_risk="30%"))
    assert (found.spec["attacks"], found.spec["max_risk"]) == (["hamming"], 0.3)
    assert gate(found, "30%").max_risk == gate(found, 0.3).max_risk == found.gate.max_risk
    for wrong in (500, "5", "0,05", True, None, "most"):
        with pytest.raises(ReidRiskError, match=r"takes a share such as 0\.05 or 5%, not"):
            gate(found, wrong)
