"""The audit of any case: bags by items, attributes by columns, facts that somebody knows, and what is refused."""

import dataclasses
import json
import sys

import numpy as np
import pytest
from scipy import sparse

from reidrisk import Traces, measure
from reidrisk.attacks import Hellinger
from reidrisk.audit import AuditResult, AuditSpec, audit_case, audit_traces, gate, plan, together
from reidrisk.audit.axis import Look, axis_of, thinned
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.notes import Note
from reidrisk.records import Attributes, Bags, Case, Truth
from reidrisk.scenarios import Knows, Split

FEW = ("hellinger", "tf-idf")


def loyalty(n=300, n_items=60, each=12, seed=0):
    """Customers with a few favourites of their own, seen by two shops."""
    rng = np.random.default_rng(seed)
    popular = 1.0 / np.arange(1, n_items + 1)
    popular /= popular.sum()
    favourites = rng.choice(n_items, (n, 6), p=popular)
    tables = []
    for _ in range(2):
        who = np.repeat(np.arange(n), rng.poisson(each, n) + 1)
        own = favourites[who, rng.integers(0, 6, len(who))]
        item = np.where(rng.random(len(who)) < 0.6, own, rng.choice(n_items, len(who), p=popular))
        ones = np.ones(len(who), dtype=np.int64)
        tables.append(Bags(sparse.coo_array((ones, (who, item)), shape=(n, n_items)), np.arange(n)))
    return Case(*tables, Truth(np.arange(n), "ids"))


def people(n=300):
    rng = np.random.default_rng(0)
    frame = {"age": rng.integers(18, 90, n), "sex": rng.choice(["f", "m"], n), "town": rng.integers(0, 50, n)}
    older = frame | {"age": frame["age"] + (rng.random(n) < 0.1)}
    return Case(*Attributes.together(Attributes(frame), Attributes(older)), Truth(np.arange(n), "given"))


def again(result):
    return AuditResult.from_dict(json.loads(result.to_json()))


def test_bags_are_audited_along_their_items():
    case = loyalty()
    found = audit_case(case, AuditSpec(seed=1, attacks=FEW, max_risk=0.9))
    held = np.asarray(case.queries.counts.sum(axis=1))
    assert (found.kind, found.axis, found.n_epochs) == ("bags", "items", held.max())
    assert found.epochs == (1, 2, 4, 8, held.max())
    rates = {n: next(r.rate for r in found.risks if (r.attack, r.n_epochs) == ("TfIdf", n)) for n in found.epochs}
    assert rates[1] < rates[4] < rates[held.max()]
    alone = measure.random_user(Hellinger(), case.targets, case.queries)
    assert alone.rate == next(r.rate for r in found.risks if (r.attack, r.n_epochs) == ("Hellinger", held.max()))
    assert (found.bounds, "fewer-drawn" in [note.code for note in found.notes]) == ((), True)
    assert again(found).to_dict() == found.to_dict()
    assert (found.gate.answer, found.gate.why) == ("undecided", "not run")


def test_every_default_attack_on_bags_runs_and_none_of_them_beats_the_headline():
    case = loyalty(n=120)
    whole = axis_of(case, AuditSpec(seed=1), None).size
    found = audit_case(case, AuditSpec(seed=1, epochs=(4, whole)))
    assert found.not_run == ()
    assert {"Rehearsed", "Affinity", "ProfileBayes", "Hellinger", "TfIdf", "BM25", "NaiveBayes"} <= set(
        found.descriptions
    )
    assert found.strongest.rate == max(risk.rate for risk in found.risks)
    settings = {risk.attack: risk.setting for risk in found.risks if risk.n_epochs == whole}
    assert [name for name, setting in settings.items() if setting == "matching"] == ["Matched", "Rehearsed"]
    assert Note("linked-together", attack="Rehearsed") in found.notes
    assert again(found).risks == found.risks


def test_who_knows_facts_of_one_person_holds_no_other_record():
    case = Knows(loyalty(n=60).targets, facts=3).case()
    assert case.one_by_one
    found = audit_case(case, AuditSpec(seed=1, attacks=("rehearsed",), epochs=(3,)))
    assert {risk.setting for risk in found.risks} == {"random user"}
    assert not {"linked-together", "linked-alone"} & {note.code for note in found.notes}
    held = dataclasses.replace(case, one_by_one=False)
    assert audit_case(held, AuditSpec(seed=1, attacks=("rehearsed",), epochs=(3,))).notes != found.notes


def test_a_truth_of_bags_that_is_misaligned_is_doubted():
    case = loyalty(n=400, each=60)
    found = audit_case(
        Case(case.targets, case.queries, Truth(np.roll(np.arange(400), 1), "given")),
        AuditSpec(seed=1, attacks=FEW, epochs=(50,)),
    )
    assert (found.truth_check, gate(found, 0.9).why) == ("doubt", "doubt")


def test_fewer_items_are_among_more_and_a_seed_draws_the_same():
    case = loyalty(n=50)
    axis = axis_of(case, AuditSpec(seed=3), None)
    one, two = (axis.seen(Look(n))[1].counts.toarray() for n in (1, 2))
    assert (one <= two).all()
    assert (one.sum(axis=1) == 1).all()
    assert axis.seen(Look(1))[0] is case.targets
    cells = Traces(np.arange(40).reshape(10, 4), 40)
    fewer, more = (thinned(cells, n, seed=1) for n in (1, 3))
    assert (fewer.observed <= more.observed).all()
    assert (more.observed.sum(axis=1) == 3).all()
    assert np.array_equal(thinned(cells, 1, seed=1).tokens, fewer.tokens)


def test_attributes_are_audited_by_all_columns_and_by_each_alone():
    found = audit_case(people(), AuditSpec(seed=1))
    assert (found.kind, found.axis, found.epochs) == ("attributes", "columns", (3,))
    assert {(risk.n_epochs, risk.which) for risk in found.risks} == {(3, ()), (1, (0,)), (1, (1,)), (1, (2,))}
    assert found.strongest.n_epochs == 3
    assert again(found).to_dict() == found.to_dict()


@pytest.mark.parametrize("table", ["bags", "traces"])
def test_facts_are_an_axis_of_their_own(table):
    case = loyalty(n=100)
    known = case.targets if table == "bags" else Traces(np.random.default_rng(0).integers(0, 20, (100, 12)), 20)
    scenario = Note("scenario-knows", facts=4, errors=0.0)
    names = FEW if table == "bags" else ("hamming",)
    found = audit_case(Knows(known, facts=4).case(1), AuditSpec(seed=1, attacks=names), scenario=scenario)
    assert (found.axis, found.n_epochs, found.epochs, found.scenario) == ("facts", 4, (1, 2, 4), scenario)
    assert found.truth_check == "passed"
    assert again(found).to_dict() == found.to_dict()


def test_answers_to_several_questions_share_the_error_and_the_strongest_leads():
    table = loyalty(n=100).targets
    asked = {"scenario-knows": Knows(table, facts=2), "scenario-split": Split(table, by="random")}
    spec = AuditSpec(seed=1, attacks=FEW, max_risk=0.0)
    answers = [audit_case(one.case(1), spec, scenario=Note(code), questions=2) for code, one in asked.items()]
    found = together(answers)
    assert found.strongest.rate == max(one.strongest.rate for one in answers)
    assert [one.gate for one in answers] == [None, None]
    assert (found.gate.answer, found.gate.n_questions) == ("fail", 2)
    assert found.gate.low == max(max(one.lower_ends) for one in answers)
    assert again(found).to_dict() == found.to_dict()
    alone = audit_case(asked["scenario-knows"].case(1), spec, scenario=Note("scenario-knows"))
    shared = next(one for one in answers if one.axis == "facts")
    assert max(shared.lower_ends) < max(alone.lower_ends)
    with pytest.raises(DataError, match="another number of questions"):
        together(answers[:1])


def test_attacks_that_are_fitted_once_find_what_fresh_ones_do():
    case = loyalty(n=80)
    found = audit_case(case, AuditSpec(seed=1, epochs=(1, 4)))
    axis = axis_of(case, AuditSpec(seed=1, epochs=(1, 4)), None)
    for n in (1, 4):
        targets, queries = axis.seen(Look(n))
        for one in plan.applicable(case):
            if one.whole:
                continue
            fresh = one.attack.knowing(AuditSpec().mechanism(case.targets.n_tokens), 1)
            alone = measure.random_user(fresh, targets, queries, case.truth)
            (row,) = (r for r in found.risks if (r.attack, r.n_epochs) == (fresh.name, n))
            assert row.rate == alone.rate


def test_an_attack_for_whole_records_runs_on_these_alone(monkeypatch):
    listed = sys.modules["reidrisk.attacks.registry"]._REGISTRY
    entries = {one.name: one for one in listed}
    entries["tf-idf"] = dataclasses.replace(entries["tf-idf"], whole=True)
    monkeypatch.setattr(listed, "_entries", entries)
    case = loyalty(n=100)
    found = audit_case(case, AuditSpec(seed=1, attacks=FEW))
    assert [risk.n_epochs for risk in found.risks if risk.attack == "TfIdf"] == [found.n_epochs]
    assert len([risk for risk in found.risks if risk.attack == "Hellinger"]) == len(found.epochs) > 1
    assert [gap.n_epochs for gap in found.differences] == [found.n_epochs]
    assert again(found).to_dict() == found.to_dict()
    with pytest.raises(OptionError, match="tf-idf compares whole records"):
        audit_case(case, AuditSpec(seed=1, attacks=FEW, epochs=(2,)))
    spec = AuditSpec(seed=1, epochs=(2,))
    planned = plan.planned(spec, case, axis_of(case, spec, None), 60.0)
    assert [(one.attack, one.why) for one in planned.not_run] == [
        (name, "not asked") for name in ("affinity", "tf-idf", "matched", "totals", "rehearsed")
    ]


def test_several_records_of_a_person_count_once():
    case = loyalty(n=100)
    rows = np.repeat(np.arange(100), 3)
    many = Case(case.targets, Bags(case.queries.take(rows).counts), Truth(rows, "given"))
    one, three = (audit_case(each, AuditSpec(seed=1, attacks=FEW)).strongest for each in (case, many))
    assert three.rate == pytest.approx(one.rate, abs=1e-9)
    assert three.queries_per_person == 3.0
    assert three.high - three.low > 0.9 * (one.high - one.low)
    drawn = audit_case(many, AuditSpec(seed=1, attacks=FEW, sample=200)).strongest
    assert drawn.queries_per_person > 1.5
    assert drawn.high - drawn.low > 0.7 * (one.high - one.low)


def test_what_cannot_be_audited_is_refused_in_one_line():
    bags = loyalty(n=30).targets
    with pytest.raises(DataError, match="audit_traces takes Traces, not Bags"):
        audit_traces(bags, bags, AuditSpec())
    with pytest.raises(DataError, match="takes a Case, which scenarios make, not Bags"):
        audit_case(bags, AuditSpec())
    with pytest.raises(OptionError, match=r"hamming does not compare Bags; choose from .*hellinger"):
        audit_case(Case(bags, bags, None), AuditSpec(attacks=("hamming",)))
    with pytest.raises(OptionError, match="cannot look at the first 999"):
        audit_case(Case(bags, bags, None), AuditSpec(epochs=(999,)))
