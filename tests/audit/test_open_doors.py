"""A gate does not pass where something was seen that no attack could use; it says what."""

import shutil

import numpy as np
import polars as pl
import pytest

from reidrisk import audit, io
from reidrisk.audit import AuditSpec, gate
from reidrisk.audit.asking import audit_exports, run_exports
from reidrisk.audit.spec import Exports

N = 120


def log(seed: int, label: str = "i") -> pl.DataFrame:
    """Everybody draws from the same items: nobody can be found."""
    rng = np.random.default_rng(seed)
    items = [f"{label}{i}" for i in rng.integers(0, 12, 5 * N)]
    return pl.DataFrame({"user": rng.permutation(np.repeat([f"u{i:03d}" for i in range(N)], 5)), "item": items})


def answer(*tables: pl.DataFrame, limit: float = 0.3, attacks: tuple[str, ...] = ("overlap",)) -> audit.Gate:
    exports = io.read_exports(*tables) if len(tables) == 2 else [io.read_export(*tables)]
    return gate(audit_exports(exports, AuditSpec(seed=1, attacks=attacks)), limit)


def test_tables_of_nothing_to_find_have_no_open_door():
    assert answer(log(0), log(1)).doors == ()


def test_labels_that_hardly_overlap_leave_the_gate_undecided():
    found = answer(log(0), log(1, label="item number "))
    assert (found.answer, found.doors) == ("undecided", ("labels-disjoint",))


def test_two_files_of_the_same_bytes_leave_the_gate_undecided(tmp_path):
    one, two = tmp_path / "a.csv", tmp_path / "b.csv"
    log(0).write_csv(one)
    shutil.copy(one, two)
    spec = AuditSpec(seed=1, inputs=Exports(files=(str(one), str(two))), attacks=("overlap",))
    result = run_exports(spec, spec.inputs, lambda *_: None, None)
    assert "same-file-twice" in gate(result, 1.0).doors


@pytest.mark.parametrize(("column", "open_"), [("age", False), ("q1", True)])
def test_a_table_whose_columns_nobody_can_place_is_asked_back(column, open_):
    people = pl.DataFrame({"person": range(N), column: [i % 4 for i in range(N)]})
    found = answer(people, limit=1.0, attacks=("hamming",))
    assert ("columns-known-outside" in found.doors) == open_
