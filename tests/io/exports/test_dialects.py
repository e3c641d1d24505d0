"""The loyalty case in six dialects and as a workbook: the same records in all of them."""

import importlib.util

import numpy as np
import pytest

from offices import DIALECTS, loyalty, write
from reidrisk import io
from reidrisk.base.errors import MissingExtraError
from reidrisk.io import Reading

SHOP, PARTNER, PAIRS = loyalty(people=60, visits=12)


def records(folder, dialect):
    shop = write(folder / "shop", SHOP, dialect=dialect)
    partner = write(folder / "partner", PARTNER, ("Kundennr", "Datum", "Warengruppe", "Preis"), dialect)
    reading = Reading(comment="#" if dialect == "columns" else None)
    return io.read_exports(shop, partner, reading)


@pytest.mark.parametrize("dialect", [*DIALECTS, "xlsx"])
def test_the_same_records_in_all_dialects(dialect, tmp_path):
    if dialect == "xlsx" and importlib.util.find_spec("fastexcel") is None:
        with pytest.raises(MissingExtraError, match="excel"):
            records(tmp_path, dialect)
        pytest.skip("fastexcel is not installed")
    plain = records(tmp_path, "plain")
    for one, other, rows in zip(records(tmp_path, dialect), plain, (SHOP, PARTNER), strict=True):
        assert len(one.records) == len(rows)
        assert one.records.users.tolist() == other.records.users.tolist()
        assert one.records.vocabulary == other.records.vocabulary
        assert (one.records.user == other.records.user).all()
        assert (one.records.item == other.records.item).all()
        assert np.abs(one.records.time - other.records.time).max() < 1e-3
        assert other.records.time.max() < np.datetime64("2025-01-02", "s").astype(int)
