"""Exports in, answers out: which questions are asked, and what is said of those that cannot be."""

import copy
import dataclasses
import json
import sys
import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest

from reidrisk import assess, io, scenarios
from reidrisk.attacks import Hellinger
from reidrisk.audit import AuditResult, AuditSpec, Exports, asking, audit_exports, gate, run
from reidrisk.audit.plan import NotRun
from reidrisk.base.errors import DataError, FormatError, OptionError, TruthError
from reidrisk.records import Case, Events, Truth

FEW = ("hellinger", "tf-idf")


def shop(seed=0, n=60, events=1_500, prefix=""):
    rng = np.random.default_rng(seed)
    who = rng.integers(0, n, events)
    own = np.random.default_rng(99).integers(0, 40, (n, 4))
    item = np.where(rng.random(events) < 0.7, own[who, rng.integers(0, 4, events)], rng.integers(0, 40, events))
    day = pl.Series(rng.integers(0, 300, events)).cast(pl.Int32)
    dates = pl.date(2024, 1, 1) + pl.duration(days=day)
    frame = pl.DataFrame({"customer": [f"{prefix}{i}" for i in who], "category": [f"c{i}" for i in item], "d": day})
    return frame.with_columns(date=dates).drop("d")


@pytest.fixture
def files(tmp_path):
    for name, seed, prefix in (("a", 0, ""), ("b", 1, "p")):
        shop(seed, prefix=prefix).write_csv(tmp_path / f"{name}.csv", separator=";")
    pl.DataFrame({"crm": range(60), "partner": [f"p{i}" for i in range(60)]}).write_csv(tmp_path / "pairs.csv")
    return tmp_path


def audited(files, *names, scenario=None, truth=None, **reading):
    inputs = {"kind": "exports", "files": [str(files / name) for name in names], "reading": reading}
    if truth is not None:
        inputs["truth"] = str(files / truth)
    values = {"inputs": inputs, "scenario": scenario, "seed": 1, "attacks": FEW}
    return run(AuditSpec.model_validate(values))


def test_one_export_answers_two_questions(files):
    found = audited(files, "a.csv")
    assert sorted(one.scenario.code for one in found.questions) == ["scenario-knows"] * 2 + ["scenario-split"]
    assert {one.axis for one in found.questions} == {"facts", "items"}
    assert found.strongest.rate == max(one.strongest.rate for one in found.questions)
    assert all("understood-as" in [note.code for note in one.notes] for one in found.questions)
    assert AuditResult.from_dict(json.loads(found.to_json())).to_dict() == found.to_dict()
    again = run(AuditSpec.model_validate(found.again))
    assert again.to_dict() == found.to_dict()


def test_what_differs_by_question_is_planned_anew_when_an_audit_is_run_again(files):
    found = audited(files, "a.csv")
    assert found.again == found.spec
    more = {"attacks": [*FEW, "totals"]}
    also = dataclasses.replace(found.also[0], spec=found.spec | more)
    assert dataclasses.replace(found, also=(also,)).again == found.spec | {"attacks": None}
    late = dataclasses.replace(also, not_run=(NotRun("rehearsed", "time", 9.0),))
    sampled = dataclasses.replace(found, spec=found.spec | {"sample": 40}, also=(late,))
    assert sampled.again == found.spec | {"attacks": None, "sample": None}


def test_a_scenario_by_its_name_is_the_only_question(files):
    found = audited(files, "a.csv", scenario={"name": "knows", "facts": 2, "which": "rarest", "told": "what"})
    assert (found.also, found.axis, found.epochs, found.scenario["facts"]) == ((), "facts", (1, 2), 2)
    with pytest.raises(OptionError, match="the scenario two-tables is of 2 tables"):
        audited(files, "a.csv", scenario={"name": "two-tables"})


def test_two_exports_are_linked_by_any_two_columns_of_pairs_and_by_traces_beside_bags(files):
    found = audited(files, "a.csv", "b.csv", truth="pairs.csv:crm=partner")
    assert {(one.scenario.code, one.kind, one.truth, one.n_scored) for one in found.questions} == {
        ("scenario-two-tables", kind, "given", 60) for kind in ("bags", "traces")
    }
    assert {one.scenario.get("every") for one in found.questions} == {None, "week"}
    assert found.strongest.rate > 0.5
    with pytest.raises(OptionError, match="nobody"):
        audited(files, "a.csv", "b.csv", truth="pairs.csv:crm=nobody")
    both = audited(files, "a.csv", "b.csv", truth="pairs.csv:crm=partner", every="month")
    assert {one.kind for one in both.questions} == {"bags", "traces"}
    assert both.kind == "bags"  # one item per month loses most of them


def test_two_exports_that_share_nobody_are_refused_unless_no_rate_is_wanted(files, reidrisk, monkeypatch):
    """Before any work: no attack is fitted, no question made."""
    paths = [files / name for name in ("a.csv", "b.csv")]
    plan = {"seed": 1, "attacks": FEW, "say": None}
    with monkeypatch.context() as patch:
        patch.setattr(asking, "questions", lambda *_: pytest.fail("the work began"))
        with pytest.raises(TruthError, match=r"truth=.*allow_unmatched=True"):
            assess(*paths, **plan)
        with pytest.raises(TruthError, match=r"the second.*truth="):
            assess(*(pl.read_csv(path, separator=";") for path in paths), **plan)
        done = reidrisk("audit", *paths)
        assert (done.code, done.err.splitlines()[-1].count("--truth FILE")) == (2, 1)
        assert "--allow-unmatched" in done.err
        with pytest.raises(OptionError, match="two tables"):
            assess(paths[0], allow_unmatched=True, **plan)
    nobody = assess(*paths, allow_unmatched=True, **plan)
    assert (nobody.truth, nobody.risks, nobody.spec["allow_unmatched"]) == (None, (), True)
    pairs = {f"p{i}": i for i in range(60)}
    known = assess(*paths, truth=pairs, **plan)
    assert known.strongest == assess(*paths, truth={str(i): p for p, i in pairs.items()}, **plan).strongest


def test_tables_without_a_common_label_and_equal_records_are_found_by_chance():
    """In another language, or where everybody answered alike, nobody is linked; no attack ends the audit."""
    other = shop(1).with_columns(category="d" + pl.col("category"))
    dates = pl.date(2024, 1, 1) + pl.duration(days=pl.int_range(pl.len(), dtype=pl.Int32) % 200)
    alike = pl.DataFrame({"customer": np.repeat(np.arange(60), 6), "category": ["a", "b", "c", "d", "e", "f"] * 60})
    for one, two in ((shop(0), other), (alike, alike), (shop(0).with_columns(date=dates), other)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = assess(one, two, seed=1, budget="5s", say=None, layout="log", scenario="two-tables")
        assert found.strongest.low <= found.strongest.baseline == 1 / 60
        assert found.strongest.rate < 0.1


def test_an_attack_that_has_nothing_to_learn_is_left_out_and_named(monkeypatch):
    def refuse(self, targets):
        raise DataError("nothing to cut")

    monkeypatch.setattr(Hellinger, "fit", refuse)
    given = {"seed": 1, "say": None, "items": "category"}
    found = assess(shop(0), shop(1), attacks=FEW, **given)
    assert {risk.attack for risk in found.risks} == {"TfIdf"}
    assert NotRun("hellinger", "nothing to learn") in found.not_run
    assert AuditResult.from_dict(json.loads(found.to_json())).missing == found.missing
    assert (gate(found, max_risk=1.0).answer, gate(found, max_risk=1.0).why) == ("undecided", "not run")
    with pytest.raises(DataError, match="nothing to cut"):
        assess(shop(0), shop(1), attacks=("hellinger",), **given)


def test_a_question_that_cannot_be_asked_is_left_out_and_said():
    once = {"user": np.arange(40), "item": np.arange(40) % 7, "time": np.arange(40)}
    found = audit_exports([io.read_export(once, io.Reading(layout="log"))], AuditSpec(seed=1, attacks=FEW))
    assert found.scenario.code == "scenario-knows"
    (note,) = (note for note in found.notes if note.code == "question-left-out")
    assert (note["question"], found.n_questions) == ("scenario-split", 2)


def test_exports_are_one_or_two():
    with pytest.raises(ValueError, match="at most 2"):
        Exports(files=("a", "b", "c"))
    with pytest.raises(FormatError, match="no such file"):
        run(AuditSpec(inputs=Exports(files=("no/such/b.csv",))))


def test_nobody_hears_of_a_few_people_while_an_export_is_read():
    often = {"user": np.repeat(np.arange(40), [1] * 37 + [9] * 3), "item": np.arange(64) % 7}
    heard = []
    asking.read([often], io.Reading(layout="log"), heard=heard.append)
    (told,) = (note for note in heard if note.code == "export-read")
    assert told["people"] == []  # 37 of 40 would tell of the other three
    heard.clear()
    asking.read([often], io.Reading(layout="log"), heard=heard.append, least=1)
    assert next(note for note in heard if note.code == "export-read")["people"] == [[1, 37], [5, 3]]


def test_a_scenario_added_in_ten_lines_is_asked_by_its_name(files, monkeypatch):
    listed = sys.modules["reidrisk.scenarios.registry"]
    monkeypatch.setattr(listed, "_REGISTRY", copy.deepcopy(listed._REGISTRY))

    @scenarios.register(kinds=(Events,))
    @dataclasses.dataclass(frozen=True, eq=False)
    class Copied(scenarios.Scenario):
        """The attacker holds every record as it is."""

        table: Any

        def case(self, seed=0):
            return Case(self.table.bags(), self.table.bags(), Truth(np.arange(self.table.n_users), "cut"))

    found = audited(files, "a.csv", scenario={"name": "copied"})
    assert (found.also, found.scenario.code, found.strongest.rate) == ((), "scenario-own", 1.0)
    with pytest.raises(ValueError, match="there is no scenario called 'magic'; choose from knows, split, two-tables"):
        AuditSpec(scenario={"name": "magic"})
