"""A loyalty programme and its partner, 600 people, a year: one rate in every dialect, and ten lines find no more."""

import importlib.util
import json
from functools import cache

import numpy as np
import pytest

from offices import loyalty, write

PEOPLE = 600
HEADERS = ("customer", "date", "category", "price"), ("Kundennr", "Datum", "Warengruppe", "Preis")
DIALECTS = {
    "german": {"delimiter": ";", "encoding": "cp1252", "day": "%d.%m.%Y", "comma": True},
    "tabs": {"delimiter": "\t", "day": "%Y-%m-%d", "ending": ".txt"},
    "mark": {"encoding": "utf-8-sig", "end": "\r\n", "day": "%m/%d/%Y"},
    "weeks": {"day": "%G-W%V-%u", "delimiter": "|"},
    "unix": {"day": "unix"},
    "quoted": {"quote": True, "day": "%d-%b-%Y", "headers": ("CUSTOMER Id", "Date of Sale", "CateGory", "PRICE")},
    "xlsx": {},
}


@cache
def shops():
    """The rows of both shops, by day, and the true pairs."""
    *shops, pairs = loyalty(PEOPLE, visits=12)
    by_day = [[(who, at.replace(hour=0, minute=0), *rest) for who, at, *rest in rows] for rows in shops]
    return *by_day, pairs


@pytest.fixture
def exports(tmp_path):
    (tmp_path / "pairs.csv").write_text("crm,partner\n" + "".join(f"{a},{b}\n" for a, b in shops()[2]))

    def written(name):
        how = dict(DIALECTS[name])
        header = how.pop("headers", HEADERS[0])
        dialect = name if name == "xlsx" else how
        sides = zip(("shop", "partner"), (header, HEADERS[1]), shops()[:2], strict=True)
        return [write(tmp_path / f"{side}-{name}", rows, names, dialect) for side, names, rows in sides]

    return written


def by_hand():
    """Link each partner's customer to the shop's with the nearest histogram; return the share of right links."""
    shop, partner, pairs = shops()
    labels = sorted({row[2] for row in shop + partner})
    tables = []
    for rows, ids in ((shop, [a for a, _ in pairs]), (partner, [b for _, b in pairs])):
        place, counts = {who: i for i, who in enumerate(ids)}, np.zeros((len(pairs), len(labels)))
        np.add.at(counts, ([place[row[0]] for row in rows], [labels.index(row[2]) for row in rows]), 1)
        tables.append(np.sqrt(counts / counts.sum(axis=1, keepdims=True)))
    return float(np.mean((tables[1] @ tables[0].T).argmax(axis=1) == np.arange(len(pairs))))


def rates(path):
    result = json.loads(path.read_text())
    answers = (result, *result["also"])
    assert all(answer["n_scored"] == PEOPLE for answer in answers)
    return result, {answer["kind"]: max(risk["rate"] for risk in answer["risks"]) for answer in answers}


def test_every_dialect_has_the_rate_of_the_nearest_histogram(exports, reidrisk, tmp_path):
    options = ("--truth", "pairs.csv:crm=partner", "--seed", 1, "--attack", "hellinger", "--scenario", "two-tables")
    found = {}
    for dialect in DIALECTS:
        if dialect == "xlsx" and importlib.util.find_spec("fastexcel") is None:
            continue  # what is said then, tests of the door ask
        done = reidrisk("audit", *exports(dialect), *options, "--result", "r.json")
        assert done.code == 0, done.err
        found[dialect] = rates(tmp_path / "r.json")[1]["bags"]
    assert len(set(found.values())) == 1, found
    assert found["german"] == pytest.approx(by_hand(), abs=0.01)  # where several are as near, it takes the first


def test_the_default_command_finds_at_least_as_many(exports, reidrisk, tmp_path):
    done = reidrisk("audit", *exports("german"), "--truth", "pairs.csv:crm=partner", "--seed", 1, "--result", "r.json")
    assert done.code == 0, done.err
    result, found = rates(tmp_path / "r.json")
    assert set(found) == {"bags", "traces"}
    assert not any(answer["not_run"] for answer in (result, *result["also"]))
    assert max(found.values()) >= by_hand() > 0.2
