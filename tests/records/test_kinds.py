"""Kinds of records: one that is registered is found wherever a layout is chosen, and read from a file."""

import numpy as np
import pytest
from typer.testing import CliRunner

from reidrisk import Bags, Traces
from reidrisk.attacks.registry import registry as attacks
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.registry import Registry
from reidrisk.cli.app import app
from reidrisk.io.exports import Reading, read_export, read_exports
from reidrisk.records import register, registry
from reidrisk.records.base import Rows
from reidrisk.records.registry import kind_of, layouts


class Heights(Rows):
    """How tall people are."""

    def __init__(self, metres, users):
        self._rows, self._users, self._notes = np.asarray(metres), users, ()


@pytest.fixture
def heights(monkeypatch):
    entries = Registry("a kind of records")
    for one in registry():
        entries.add(one)
    monkeypatch.setitem(registry.__globals__, "_REGISTRY", entries)
    return register("heights", layouts=("heights",), read=lambda table: Heights(table["m"], None))(Heights)


def test_the_name_is_that_of_a_saved_result():
    assert [kind_of(one).name for one in (Bags([[1, 0]]), Traces([[0]], 1))] == ["bags", "traces"]
    with pytest.raises(DataError, match="ndarray is no kind of records; give Bags, Traces"):
        kind_of(np.zeros(2))


def test_a_layout_belongs_to_one_kind():
    assert len(set(layouts())) == len(layouts())


def test_every_kind_that_an_attack_compares_is_registered():
    assert {kind for entry in attacks() for kind in entry.kinds} <= {one.records for one in registry()}


def test_a_kind_that_is_registered_can_be_chosen_and_read(heights, tmp_path):
    assert "heights" in CliRunner().invoke(app, ["audit", "--help"], env={"COLUMNS": "200"}).output
    with pytest.raises(OptionError, match=r"layout must be one of .*, heights, not 'depths'"):
        Reading(layout="depths")
    file = tmp_path / "people.csv"
    file.write_text("m\n1.80\n1.65\n")
    read = read_export(file, Reading(layout="heights"))
    assert (type(read.records), len(read.records), read.kind) == (Heights, 2, "heights")
    assert [len(one.records) for one in read_exports(file, file, Reading(layout="heights"))] == [2, 2]


def test_without_it_there_is_no_such_layout():
    assert "heights" not in [one.name for one in registry()]
    with pytest.raises(
        OptionError, match="layout must be one of lists, counts, wide, long, people, log, vectors, not 'heights'"
    ):
        Reading(layout="heights")
