"""What somebody knows of each event of a log is asked in steps: all are in the result, and one is taken."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from reidrisk import io, mitigations
from reidrisk.audit import Asked, AuditResult, AuditSpec, assess, gate
from reidrisk.audit.asking import audit_exports, audit_scenarios
from reidrisk.audit.questions import constant, questions, steps
from reidrisk.base.errors import DataError, FormatError, OptionError
from reidrisk.records import Events
from reidrisk.scenarios import Knows


def shop(n=150, each=8, seed=0):
    """A log: hardly anybody is found by five items; nearly everybody by the days as well."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n), each)
    day = np.datetime64("2024-01-01") + rng.integers(0, 90, len(who))
    return {
        "customer": who,
        "date": day,
        "category": rng.integers(0, 5, len(who)),
        "price": rng.integers(0, 10_000, len(who)) / 100,
    }


@pytest.fixture(scope="module")
def found():
    return assess(shop(), items=("category",), seed=1, say=None, max_risk=0.5)


def told_of(result):
    return {answer.scenario.get("told"): answer for answer in result.questions}


def test_every_step_that_a_log_allows_is_asked_and_the_day_is_taken(found):
    answers = told_of(found)
    assert set(answers) == {None, "what", "day", "row"}  # none: earlier and later
    rates = [answers[told].strongest.rate for told in ("what", "day", "row")]
    assert rates == sorted(rates)
    assert rates[0] < 0.2 < 0.8 < rates[2]
    assert found is answers["day"]
    assert found.gate.told == "day"
    assert found.gate.answer == "fail"
    assert [(one.told, one.rate) for one in found.gate.beyond] == [("row", rates[2])]
    assert found.to_frame().filter(told="row", attack="Hypergeometric")["rate"].max() == rates[2]


def test_the_gate_rests_on_what_is_taken_to_be_known(found):
    rows = told_of(found)
    for told, limit, answer in (("what", 0.5, "pass"), ("day", 0.5, "fail"), ("row", 0.5, "fail"), (None, 0.5, "fail")):
        held = gate(dataclasses.replace(found, gate=None), limit, told=told)
        assert (held.answer, held.told) == (answer, told or "day")
        fuller = ("what", "day", "row")[("what", "day", "row").index(held.told) + 1 :]
        assert [one.told for one in held.beyond] == [*fuller]
        worst = max(one.strongest.rate for name, one in rows.items() if name not in fuller)
        assert held.rate == worst
    with pytest.raises(OptionError, match="told must be one of what, day, row"):
        gate(found, 0.5, told="time")
    alone = dataclasses.replace(found, also=(), scenario=None, n_questions=1)
    with pytest.raises(OptionError, match="told is for the audit of one log"):
        gate(alone, 0.5, told="day")


def test_what_takes_further_time_is_done_for_the_question_that_leads(found):
    assert found.choosiness
    assert not any(answer.choosiness or answer.further for answer in found.also)


def test_a_result_with_steps_is_read_back_and_an_edited_choice_is_noticed(found):
    values = found.to_dict()
    assert AuditResult.from_dict(values).to_dict() == values
    assert AuditSpec.model_validate(found.spec).told is None
    values["gate"]["told"] = "what"
    with pytest.raises(FormatError, match="does not follow"):
        AuditResult.from_dict(values)


def test_another_step_is_taken_where_it_is_asked_for():
    frame = shop(n=40)
    (export,) = [io.read_export(frame, io.Reading(items=("category",)))]
    for told in ("what", "row"):
        spec = AuditSpec(seed=1, attacks=("hypergeometric",), told=told, max_risk=1.0)
        found = audit_scenarios(questions([export.records], Asked(name="knows"), None, None), spec)
        assert found.gate.told == told
        assert len(found.gate.beyond) == {"what": 2, "row": 0}[told]
        assert (found.scenario["told"] == "what") == (told == "what")
        again = AuditSpec.model_validate_json(AuditSpec.model_validate(found.spec).model_dump_json())
        assert again.told == told


def test_one_step_alone_is_asked_where_it_is_named():
    log = Events(shop(n=20), user="customer", items="category", time="date", keep="price")
    assert [one.told for one in questions([log], Asked(name="knows", facts=2), None, None)] == ["what", "day", "row"]
    (only,) = questions([log], Asked(name="knows", told="row"), None, None)
    assert (only.told, only.facts) == ("row", 4)
    found = audit_scenarios([only], AuditSpec(seed=1, max_risk=1.0))
    assert found.gate.told == "row"  # there is no other
    untimed = Events(shop(n=20), user="customer", items="category", keep="price")
    assert [one.told for one in steps(untimed, facts=1)] == ["what", "row"]
    bare = Events({"u": [1, 1], "i": [1, 2]}, user="u", items="i")
    assert [one.told for one in steps(bare, facts=1)] == ["what"]


def people(**columns):
    """A log of 60 people with four rows each, and further columns of these, by person."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(60), 4)
    raw = {name: pa.chunked_array([np.asarray(cells)[who].tolist()]) for name, cells in columns.items()}
    frame = {"u": who, "i": rng.integers(0, 3, len(who)), "row": np.arange(len(who))}
    return Events(frame, user="u", items="i", row="row", raw=raw | {"i": pa.chunked_array([frame["i"]])})


def test_columns_that_are_constant_within_people_are_attributes_of_theirs():
    born, sex = np.arange(60) // 2, np.arange(60) % 2
    log = people(born=born, sex=sex, alias=np.arange(60) + 500, country=np.zeros(60, dtype=int))
    table = constant(log)
    assert table.names == ("born", "sex")  # neither a second id, nor what everybody shares, nor what changes
    assert table.tokens[:, 0].tolist() == born.tolist()
    *_, asked = questions([log], None, None, None)
    assert isinstance(asked, Knows)
    assert list(asked.columns) == ["born", "sex"]
    found = audit_scenarios(questions([log], None, None, None), AuditSpec(seed=1, max_risk=0.3))
    rates = {answer.kind: answer.strongest.rate for answer in found.questions if answer.kind == "attributes"}
    assert rates == {"attributes": 1.0}  # two of a year, one of each sex
    assert found.gate.answer == "fail"
    assert gate(found, 0.3, told="what").answer == "fail"
    alone = people(born=born).take(np.arange(0, 240, 4))  # one row each: nothing is constant that could change
    assert constant(alone) is None


def test_a_value_that_changes_for_few_is_their_most_frequent_one():
    log = people(town=np.arange(60) % 7)
    moved = log.raw.columns["town"].to_pylist()
    moved[:4] = [moved[0], moved[0], 99, moved[0]]
    raw = {"town": pa.chunked_array([moved])}
    frame = {"u": np.repeat(np.arange(60), 4), "i": np.zeros(240, dtype=int), "row": np.arange(240)}
    table = constant(Events(frame, user="u", items="i", row="row", raw=raw))
    assert table.vocabulary.decode(table.tokens[:, 0])[:2] == ["town=0", "town=1"]
    often = {"town": pa.chunked_array([[(i % 4) * (i // 4 % 2) for i in range(240)]])}  # half of them move
    assert constant(Events(frame, user="u", items="i", row="row", raw=often)) is None


def test_people_with_one_event_count_by_default():
    """Four fifths have one diagnosis, which nobody else has: 80 in 100 are found, and 3.9 in 100 had been said."""
    who = np.concatenate([np.arange(160), np.repeat(np.arange(160, 200), 5)])
    code = np.concatenate([np.arange(160), 160 + np.random.default_rng(0).integers(0, 3, 200)])
    log = {"patient": who, "diagnosis": [f"c{one}" for one in code]}
    found = audit_exports([io.read_export(log)], AuditSpec(seed=1, max_risk=0.1))
    assert found.strongest.rate > 0.8
    assert found.gate.answer == "fail"
    fewer = [note["n"] for note in found.notes if note.code == "known-with-fewer"]
    assert fewer == [160]


def test_attacks_that_do_not_compare_attributes_leave_their_question_out():
    log = people(born=np.arange(60) // 2)
    found = audit_scenarios(questions([log], None, None, None), AuditSpec(seed=1, attacks=("overlap",)))
    assert {answer.kind for answer in found.questions} == {"bags"}
    assert [note.code for note in found.notes if note.code == "question-left-out"] == ["question-left-out"]


def test_changes_of_items_are_not_made_of_items_with_their_days():
    """Days stay as they are where categories are merged: what that does to items alone would be false comfort."""
    log = Events(shop(n=60), user="customer", items="category", time="date")
    what, day = (Knows(log, facts=4, told=told).case(1) for told in ("what", "day"))
    assert {type(one).__name__ for one in mitigations.usual_changes(what)} >= {"RandomItem", "Draw"}
    assert {type(one).__name__ for one in mitigations.usual_changes(day)}.isdisjoint(
        {"RandomItem", "Coarsen", "SuppressRare"}
    )
    with pytest.raises(DataError, match="changes items, and what is known is items with their days"):
        mitigations.RandomItem(0.5).apply(day)
    found = audit_scenarios(steps(log, facts=4), AuditSpec(seed=1, what_if=True))
    assert found.scenario["told"] == "day"
    assert "items-known-with-more" in [note.code for note in found.further.notes]
    assert found.further.what_if.tried
