"""`reidrisk audit` on exports as they are, end to end."""

import json

import pytest

from offices import loyalty, write

SHOP, PARTNER, PAIRS = loyalty(people=120, visits=10)
NAMES = ("Kundennr", "Datum", "Warengruppe", "Preis")


@pytest.fixture
def files(tmp_path):
    def made(dialect):
        pairs = tmp_path / "pairs.csv"
        pairs.write_text("no;crm_id;partner_id\n" + "".join(f"0;{a};{b}\n" for a, b in [*PAIRS, (7, 999)]))
        shop = write(tmp_path / f"shop-{dialect}", SHOP, dialect=dialect)
        return shop, write(tmp_path / f"partner-{dialect}", PARTNER, NAMES, dialect), f"{pairs}:crm_id=partner_id"

    return made


def rate(path):
    found = json.loads(path.read_text())
    return max(risk["rate"] for risk in found["risks"]), found


def test_two_exports_in_two_dialects_have_one_rate(reidrisk, files, tmp_path):
    rates = []
    for dialect in ("plain", "german"):
        shop, partner, pairs = files(dialect)
        options = ("--truth", pairs, "--seed", 1, "--attack", "hellinger", "--attack", "profile-bayes")
        done = reidrisk("audit", shop, partner, *options, "--result", "r.json")
        assert done.code == 0, done.err
        assert "'Kundennr'" in done.err
        found, result = rate(tmp_path / "r.json")
        rates.append(found)
        assert result["kind"] == "bags"
        assert {"understood-as", "export-read", "pairs-absent"} <= {note["code"] for note in result["notes"]}
    assert rates[0] == rates[1] > 0.2
    again = reidrisk("audit", "--spec", "r.json", "--result", "s.json")
    assert again.code == 0, again.err
    assert rate(tmp_path / "s.json")[0] == rates[1]


def test_one_export_is_asked_several_questions(reidrisk, files, tmp_path):
    shop, _, _ = files("plain")
    done = reidrisk("audit", shop, "--seed", 1, "--attack", "hellinger", "--result", "r.json")
    assert done.code == 0, done.err
    result = rate(tmp_path / "r.json")[1]
    asked = {one["scenario"]["code"] for one in (result, *result["also"])}
    assert asked == {"scenario-split", "scenario-knows"}


def test_a_survey_and_what_is_asked_back(reidrisk, table):
    ages = [f"{18 + n % 60};{n % 7};{'mf'[n % 2]}" for n in range(80)]
    survey = table("survey.csv", "age;region;sex\n" + "\n".join(ages) + "\n")
    done = reidrisk("audit", survey, "--seed", 1)
    assert done.code == 0, done.err
    odd = table("odd.csv", "client;member;item\n1;2;a\n1;3;b\n")
    asked = reidrisk("audit", odd)
    assert asked.code == 2
    assert "--user" in asked.err
    both = reidrisk("audit", odd, odd, "--user", "client", "--n-tokens", 5)
    assert both.code == 2
    assert "--n-tokens" in both.err
