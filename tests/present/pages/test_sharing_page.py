"""The administrator's page: the risk in one sentence, its history, and what is alarming said first."""

import copy

import pytest

pytest.importorskip("altair")

from reidrisk.present.pages.sharing import page, written

RATE = {"rate": 0.1, "low": 0.05, "high": 0.2}
RISK = {"members": 10, "cells": 14, "guess": 0.1, "scoreboard": RATE, "likelihood": RATE | {"rate": 0.15}}
TOLD = {
    "strategy": "microaggregation:5",
    "minimum_group": 5,
    "max_risk": 0.5,
    "status": "published",
    "version": 2,
    "built_at": "2026-01-02T03:04:05+00:00",
    "next_rebuild": "2026-01-02T03:05:05+00:00",
    "rebuild_seconds": 0.5,
    "risk": RISK,
    "groups": [{"number": 0, "members": 5}, {"number": 1, "members": 5}],
    "agents": [
        {
            "agent": "0123456789abcdef",
            "enrolled_at": "2026-01-01T00:00:00+00:00",
            "revoked": True,
            "state": "included",
            "revision": 3,
            "shared_at": "2026-01-01T00:00:00+00:00",
            "group": 1,
        }
    ],
    "history": [
        {"version": v, "built_at": "2026-01-02T03:04:05+00:00", "status": s, "members": 10, "risk": RISK}
        for v, s in ((1, "refused"), (2, "published"))
    ],
    "codes_unused": 3,
    "ledger": {"entries": 12, "first_broken": None},
}


def told(**changes):
    return copy.deepcopy(TOLD) | changes


def test_the_risk_is_the_first_sentence():
    found = page(told())
    assert (
        str(found.verdict)
        == "An attacker who collects every matrix finds 5 to 20 in 100 members; a guess finds 10 in 100."
    )
    assert found.mood == "calm"
    assert [section.anchor for section in found.sections] == ["risk", "groups", "agents", "ledger"]


def test_what_is_wrong_is_said():
    refused = page(told(status="refused", max_risk=0.1))
    assert str(refused.verdict).startswith("Nothing is handed out: the upper end is above the limit of 10 in 100.")
    assert refused.mood == page(told(status="failed")).mood == "alarm"
    assert "rebuild failed" in str(page(told(status="failed")).verdict)
    broken = page(told(ledger={"entries": 12, "first_broken": 7}))
    assert broken.first == ("The ledger was changed behind the back of the service.",)


def test_an_empty_service_has_a_page():
    empty = told(status="empty", groups=[], agents=[], history=[], risk={}, version=0)
    assert str(page(empty).verdict) == "Nothing is handed out yet: no 5 newcomers are there to be put together."
    assert "Nothing is handed out yet" in written(empty)


def test_the_page_draws_its_history():
    text = written(told())
    assert "0123456789abcdef" in text
    assert "revoked" in text
    assert "<svg" in text


def test_an_adversary_says_what_it_got():
    from reidrisk.bandits import AdversaryResult
    from reidrisk.base.results import Risk
    from reidrisk.present.pages.adversary import page as adversary_page

    risk = Risk(0.2, 0.18, 0.27, 0.8, 0.0, 0.02, 50, 50, attack="likelihood", setting="linkage")
    told = {"guises": 100, "identities": 1, "answered": 3, "collected": 1, "groups": 8, "strategy": "clusters:8"}
    unknown = AdversaryResult(**told, cells=91)
    got = "3 of 100 guises were answered, with 1 different matrix; "
    assert unknown.reading == f"{got}without the truth, how many links are right is not known."
    found = AdversaryResult(**told, cells=91, scoreboard=risk, likelihood=risk)
    assert found.reading == f"{got}18 to 27 in 100 members are found by them, 2 in 100 by guessing."
    (section,) = adversary_page(found).sections
    assert [row[0] for row in section.table.rows] == ["scoreboard", "mechanism known"]
