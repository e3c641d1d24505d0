"""A loyalty programme and its partner, 600 people, a year: one rate in every dialect, and ten lines find no more."""

import importlib.util
import json
import re
from functools import cache

import numpy as np
import polars as pl
import pytest

from offices import loyalty, receipts, write

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


def test_the_default_command_names_each_step_and_the_columns_that_make_the_difference(reidrisk, tmp_path):
    pl.DataFrame(receipts(customers=400, purchases=20_000)).write_csv(tmp_path / "loyalty.csv")
    done = reidrisk("audit", "loyalty.csv", "--item", "article_category", "--seed", 1, "--result", "r.json")
    assert done.code == 0, done.err
    said = " ".join(done.out.split())
    assert "in whole rows only: 'shop' and 'price'" in done.err
    steps = {one["scenario"].get("told"): one for one in result_of(tmp_path / "r.json")}
    rates = {told: max(risk["rate"] for risk in one["risks"]) for told, one in steps.items()}
    assert rates["what"] < 0.5 < 0.99 < rates["day"] <= rates["row"]
    verdict = said[: said.index("guessing blindly")]
    assert re.search(r"Somebody who knows four of a customer's purchases finds about \d+ in 100 customers", verdict)
    for part in ("by article_category alone", "if they also know the day (date)", "shop and price as well"):
        assert part in verdict
    gate = reidrisk("gate", "r.json", "--max-risk", "60%")
    assert (gate.code, "all that is in its row would find" in gate.out) == (1, True)
    assert reidrisk("gate", "r.json", "--max-risk", "60%", "--told", "what").code == 0
    one = reidrisk(
        "audit", "loyalty.csv", "--item", "article_category", "--seed", 1, "--scenario", "knows", "--told", "row"
    )
    assert (one.code, "What was asked" in one.out) == (0, False)


def result_of(path):
    result = json.loads(path.read_text())
    return (result, *result["also"])
