"""A table of people is asked in two steps: the columns that an outsider is taken to know, then all."""

import numpy as np
import polars as pl
import pytest

import reidrisk
from reidrisk.audit import gate
from reidrisk.base import DataError

N = 400


def survey(seed: int = 0) -> pl.DataFrame:
    """Sex and department are shared by some 50 people each; the answers tell everybody apart."""
    rng = np.random.default_rng(seed)
    people = {"sex": [i % 2 for i in range(N)], "department": [i // 2 % 4 for i in range(N)]}
    answers = {f"q{i}": rng.integers(1, 8, N) for i in range(9)}
    text = {"free_text": [" ".join(rng.choice(["pay", "team", "late", "desk"], 12)) for _ in range(N)]}
    return pl.DataFrame(people | answers | text)


def assess(table: pl.DataFrame, **options: object) -> reidrisk.audit.AuditResult:
    given = {"attacks": ("hamming",), "what_if": None} | options
    return reidrisk.assess(table, layout="people", seed=1, say=None, **given)


def test_the_verdict_is_of_the_few_columns_and_the_others_stand_beside_it():
    result = assess(survey())
    assert [one.scenario["told"] for one in result.questions] == ["what", "row"]
    few, every = (one.strongest.rate for one in result.questions)
    assert few == pytest.approx(8 / N)  # eight classes of fifty
    assert every > 0.99
    assert "free_text" not in result.questions[1].scenario["columns"]


def test_the_gate_takes_the_columns_an_outsider_knows_unless_told_otherwise():
    result = assess(survey(), attacks=None)
    usual = gate(result, 0.1)
    assert (usual.answer, usual.told, [one.told for one in usual.beyond]) == ("pass", "what", ["row"])
    assert usual.beyond[0].rate > 0.99
    assert gate(result, 0.1, told="row").answer == "fail"


def test_columns_that_are_named_are_one_step():
    result = assess(survey(), columns=("q1", "q2"))
    assert len(result.questions) == 1
    assert list(result.scenario["columns"]) == ["q1", "q2"]


def test_a_table_of_nothing_that_can_be_known_is_refused_in_one_line():
    with pytest.raises(DataError, match="columns"):
        assess(survey().select("free_text").with_columns(unit=pl.lit("A")))
