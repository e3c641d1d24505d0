"""Results read back: the published schema, and every edit that would fool the gate."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from reidrisk import Traces
from reidrisk.audit import AuditResult, AuditSpec, audit_traces, result_schema
from reidrisk.base.errors import FormatError

SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "result.schema.json"


@pytest.fixture(scope="module")
def written():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 50, (100, 4))
    b = np.where(rng.random((100, 4)) < 0.5, a, rng.integers(0, 50, (100, 4)))
    spec = AuditSpec(seed=1, max_risk=0.99)
    return json.dumps(audit_traces(Traces(a, 50), Traces(b, 50), spec).to_dict())


def drop_strongest(values):
    """Delete the rows of the strongest attack, and the ends that belong to them."""
    best = max(values["risks"], key=lambda risk: risk["rate"])["attack"]
    kept = [i for i, risk in enumerate(values["risks"]) if risk["attack"] != best]
    values["risks"] = [values["risks"][i] for i in kept]
    values["lower_ends"] = [values["lower_ends"][i] for i in kept]
    return best


def drop_strongest_and_its_description(values):
    del values["descriptions"][drop_strongest(values)]


def drop_epochs(values):
    """Delete what was found at two epochs."""
    kept = [i for i, risk in enumerate(values["risks"]) if risk["n_epochs"] != 2]
    values["risks"] = [values["risks"][i] for i in kept]
    values["lower_ends"] = [values["lower_ends"][i] for i in kept]
    values["epochs"] = [r for r in values["epochs"] if r != 2]


def lower_a_row(values):
    values["risks"][-1].update(rate=0.0, low=0.0, high=0.01)


def duplicate_a_row(values):
    values["risks"].append(values["risks"][0])
    values["lower_ends"].append(values["lower_ends"][0])


def skip_epochs(values):
    """Keep what was found at one epoch, and say that the others hold no token."""
    kept = [i for i, risk in enumerate(values["risks"]) if risk["n_epochs"] == 1]
    values["risks"] = [values["risks"][i] for i in kept]
    values["lower_ends"] = [values["lower_ends"][i] for i in kept]
    for name in ("differences", "bounds"):
        values[name] = [entry for entry in values[name] if entry["n_epochs"] == 1]
    values.update(epochs=[1], epochs_skipped=[2, 4], choosy_epochs=1, exposure=None, gate=None)
    values["spec"]["max_risk"] = None
    values["notes"].append({"code": "periods-without-items", "skipped": [2, 4]})


def lower_the_strongest(values):
    """Call right links abstentions, in every row, and follow up the differences."""
    for i, risk in enumerate(values["risks"]):
        risk.update(rate=0.0, abstained=risk["abstained"] + risk["rate"], low=0.0, high=0.01)
        values["lower_ends"][i] = 0.0
    for gap in values["differences"]:
        gap["difference"] = 0.0
    values["gate"] = values["spec"]["max_risk"] = None
    values["choosy_epochs"] = 1


EDITS = {
    "a difference": lambda v: v["differences"][0].update(difference=0.4),
    "a difference missing": lambda v: v["differences"].pop(),
    "choosy at other epochs": lambda v: v.update(choosy_epochs=3),
    "attacks not named": lambda v: v["spec"].update(attacks=None),
    "a truth in doubt": lambda v: v.update(truth_check="doubt"),
    "a truth that was not checked": lambda v: v.update(truth_check="no power"),
    "epochs said to be empty": skip_epochs,
    "rates of nobody, exposure kept": lower_the_strongest,
    "shares that do not add up": lower_a_row,
    "wrong share": lambda v: v["risks"][0].update(incorrect=0.0),
    "rows of the strongest attack deleted": drop_strongest,
    "and its description": drop_strongest_and_its_description,
    "a number of epochs deleted": drop_epochs,
    "a row twice": duplicate_a_row,
    "a row at 99 epochs": lambda v: v["risks"][0].update(n_epochs=99),
    "an attack renamed": lambda v: v["risks"][0].update(attack="Guess"),
    "another level": lambda v: v["risks"][0].update(level=0.0001),
    "a level in the spec": lambda v: v["spec"].update(level=0.0001),
    "no spec": lambda v: v.update(spec=None),
    "fewer targets": lambda v: v["risks"][0].update(n_targets=10),
    "more records": lambda v: v.update(n_scored=1_000),
    "a baseline": lambda v: v["risks"][0].update(baseline=0.5),
    "strangers": lambda v: v.update(n_strangers=50),
    "not everyone": lambda v: v["risks"][0].update(everyone=False),
    "a lower end raised": lambda v: v["lower_ends"].__setitem__(0, 0.9),
    "a lower end without end": lambda v: v["lower_ends"].__setitem__(0, "inf"),
    "epochs without end": lambda v: v.update(n_epochs=10**30),
    "a lower end missing": lambda v: v["lower_ends"].pop(),
    "the gate's end": lambda v: v["gate"].update(high=0.001),
    "the gate's answer": lambda v: v["gate"].update(answer="fail"),
    "the gate's limit": lambda v: v["gate"].update(max_risk=0.5),
    "no gate": lambda v: v.update(gate=None),
    "no truth": lambda v: v.update(truth=None),
    "a field of nobody": lambda v: v.update(per_user=[1.0]),
    "per-user risks": lambda v: v["risks"][0].update(per_user=[0.5] * 100),
    "a bound at other epochs": lambda v: v["bounds"][0].update(n_epochs=3),
    "text for a number": lambda v: v["risks"][0].update(high="0.1"),
    "true for a number": lambda v: v.update(n_scored=True),
    "format 3 as text": lambda v: v.update(format="3"),
    "an attack not run": lambda v: v.update(not_run=[{"attack": "markov", "why": "time", "seconds": 9.0}]),
    "more questions": lambda v: v.update(n_questions=2),
    "another axis": lambda v: v.update(axis="columns"),
    "an axis of its own": lambda v: v.update(axis="friends"),
    "a seed of nothing": lambda v: v.update(seed=None),
    "risks as an object": lambda v: v.update(risks={}),
    "exposure as a list": lambda v: v.update(exposure=[1]),
}


def test_known_records_nobody_asks_for_cannot_be_fewer_than_those_beyond_the_queries():
    """Of 100 known records, 40 can be asked for by 40 others: 'nobody asks for none' would hide the dilution."""
    a = np.random.default_rng(0).integers(0, 50, (100, 2))
    values = audit_traces(Traces(a, 50), Traces(a[:40], 50), AuditSpec(seed=1), truth=np.arange(40)).to_dict()
    assert AuditResult.from_dict(values).n_unasked == 60
    for edited in (0, 59, 100):
        with pytest.raises(FormatError, match="known ones"):
            AuditResult.from_dict(values | {"n_unasked": edited})


@pytest.mark.parametrize("name", EDITS)
def test_a_result_that_contradicts_itself_is_refused(written, name):
    values = json.loads(written)
    assert AuditResult.from_dict(values).to_dict() == json.loads(written)
    EDITS[name](values)
    with pytest.raises(FormatError) as refused:
        AuditResult.from_dict(values)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300


def test_a_doubt_cannot_be_taken_out_in_one_place():
    rng = np.random.default_rng(0)
    a = Traces(rng.integers(0, 50, (300, 4)), 50)
    found = audit_traces(a, a, AuditSpec(seed=1, max_risk=0.99), truth=np.roll(np.arange(300), 1))
    values = json.dumps(found.to_dict())
    assert AuditResult.from_dict(json.loads(values)).truth_check == "doubt"
    for change in (
        {"truth_doubt": None},
        {"truth_check": "passed"},
        {"truth_check": "passed", "truth_doubt": None},
        {"notes": [note for note in found.to_dict()["notes"] if note["code"] != "truth-in-doubt"]},
    ):
        with pytest.raises(FormatError, match="contradicts itself"):
            AuditResult.from_dict(json.loads(values) | change)


@pytest.mark.parametrize("path", ["risks", "bounds", "exposure", "spec", "gate", "versions", "choosiness"])
@pytest.mark.parametrize("junk", [None, 0, "x", [], {}, [[]], [None], {"a": {"b": []}}, 1e308])
def test_junk_in_any_place_is_refused_or_read_but_never_a_bug(written, path, junk):
    values = json.loads(written)
    values[path] = junk
    try:
        AuditResult.from_dict(values)
    except FormatError:
        return
    assert junk in ([], {}) or (path == "exposure" and junk is None)


def test_format_1_is_refused_where_it_is_damaged():
    old = json.loads((Path(__file__).parent / "format_1.json").read_text())
    AuditResult.from_dict(old)
    for edit in (
        lambda v: v["risks"][0].update(n_epochs=99),
        lambda v: v["risks"][0].update(incorrect=0.1),
        lambda v: v["risks"][0].pop("level"),
        lambda v: v.update(spec=None),
        lambda v: v.update(versions=None),
        lambda v: v.update(n_scored="many"),
        lambda v: v.update(checksums=[1]),
    ):
        values = json.loads(json.dumps(old))
        edit(values)
        with pytest.raises(FormatError):
            AuditResult.from_dict(values)


def test_the_published_schema_is_the_one_in_use():
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == result_schema()


def test_the_schema_takes_results_and_refuses_others_by_another_library_too(written):
    check = jsonschema.Draft202012Validator(result_schema())
    values = json.loads(written)
    assert check.is_valid(values)
    for edit in ("a field of nobody", "no spec", "text for a number", "risks as an object", "per-user risks"):
        damaged = json.loads(written)
        EDITS[edit](damaged)
        assert not check.is_valid(damaged), edit


@pytest.fixture(scope="module")
def chosen():
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 110, (300, 4)) for _ in range(2))
    b[:, 2:] = a[:, 2:]
    found = audit_traces(Traces(a, 110), Traces(b, 110), AuditSpec(seed=1, attacks=("hamming",), max_risk=0.99))
    assert found.strongest.which == (2, 3)
    return json.dumps(found.to_dict())


def _drop_chosen(v, note=False):
    kept = [i for i, risk in enumerate(v["risks"]) if not risk["which"]]
    v.update(risks=[v["risks"][i] for i in kept], lower_ends=[v["lower_ends"][i] for i in kept], choosy_epochs=4)
    v["gate"] = v["spec"]["max_risk"] = v["exposure"] = None
    if note:
        v["notes"] = [one for one in v["notes"] if one["code"] != "periods-compared"]


CHOICES = {
    "rows of chosen epochs deleted": _drop_chosen,
    "and their note": lambda v: _drop_chosen(v, note=True),  # lower ends are still those of more rows
    "other epochs": lambda v: v["risks"][-1].update(which=[1, 3]),
    "the first epochs": lambda v: v["risks"][-1].update(which=[0, 1]),
    "epochs that are not there": lambda v: v["risks"][-1].update(which=[2, 9]),
    "epochs twice": lambda v: v["risks"][-1].update(which=[3, 3]),
    "the gate's epochs": lambda v: v["gate"].update(which=[]),
}


@pytest.mark.parametrize("name", CHOICES)
def test_chosen_epochs_cannot_be_edited_in_one_place(chosen, name):
    values = json.loads(chosen)
    assert AuditResult.from_dict(values).strongest.which == (2, 3)
    CHOICES[name](values)
    if name == "and their note":
        assert AuditResult.from_dict(values).strongest.which == ()  # edited consistently: results are not signed
        return
    with pytest.raises(FormatError, match="contradicts itself"):
        AuditResult.from_dict(values)


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (lambda v: [risk.update(design_effect=1e9) for risk in v["risks"]], "design effect"),
        (lambda v: [risk.update(design_effect=30.0) for risk in v["risks"]], "design effect"),
        (lambda v: v["risks"][0].update(high=v["risks"][0]["rate"] + 1e-4), "design effect"),
        (lambda v: v["spec"].update(inputs={"kind": "published", "users": 200, "epochs": 4}), "simulated"),
        (lambda v: v["gate"].update(simulated=True), "simulated"),
    ],
)
def test_ends_and_people_follow_from_what_stands_beside_them(written, edit, what):
    values = json.loads(written)
    edit(values)
    with pytest.raises(FormatError, match=what):
        AuditResult.from_dict(values)


def test_results_without_chosen_epochs_and_with_the_old_name_are_read(written):
    values = json.loads(written)
    for risk in values["risks"]:
        del risk["which"]
    del values["gate"]["which"]
    values["gate"]["epochs_left_out"] = values["gate"].pop("epochs_untried")
    values["format"] = 2
    for name in ("kind", "axis", "scenario", "also", "n_questions", "not_run"):
        del values[name]
    assert AuditResult.from_dict(values).to_dict() == json.loads(written)
