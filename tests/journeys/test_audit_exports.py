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


@pytest.mark.parametrize(
    ("options", "code", "axis"),
    [
        (("--scenario", "knows", "--facts", 2, "--which", "rarest", "--told", "what"), "scenario-knows", "facts"),
        (("--at", "2024-05-01,2024-06-01"), "scenario-split", "items"),
        (("--split", "time", "--share", 0.25, "--visit", "month"), "scenario-split", "items"),
    ],
)
def test_options_of_scenarios(options, code, axis, reidrisk, files, tmp_path):
    shop, _, _ = files("plain")
    done = reidrisk("audit", shop, *options, "--seed", 1, "--attack", "hellinger", "--result", "r.json")
    assert done.code == 0, done.err
    found = json.loads((tmp_path / "r.json").read_text())
    assert (found["scenario"]["code"], found["axis"], found["also"]) == (code, axis, [])
    assert reidrisk("audit", "--spec", "r.json", "--result", "s.json").code == 0
    assert rate(tmp_path / "s.json")[0] == rate(tmp_path / "r.json")[0]


def test_a_gate_is_told_which_table_it_is_about(reidrisk, files, table):
    shop, partner, _ = files("plain")
    key = table("key", "a secret of our own, long enough")
    audited = ("--facts", 2, "--seed", 1, "--attack", "hellinger", "--fingerprint-key", key, "--result", "r.json")
    assert reidrisk("audit", shop, *audited).code == 0
    held = ("gate", "r.json", "--max-risk", 1.0, "--fingerprint-key", key)
    assert reidrisk(*held, "--input", shop).code in (0, 3)
    for wrong in (("--input", partner), ("--inputs", shop, partner), ("--input", shop, "--inputs", shop, partner)):
        assert reidrisk(*held, *wrong).code == 2
    both = reidrisk("audit", shop, "--facts", 2, "--at", "2024-05-01")
    assert both.code == 2
    assert "--at" in both.err


def test_people_of_one_log_only_are_kept_with_and_without_being_asked(reidrisk, tmp_path):
    rows = [(f"u{i % 12}", f"2024-03-{1 + i % 20:02d}", f"page{i % 5}") for i in range(240)]
    for name, first in (("a.csv", 0), ("b.csv", 2)):
        kept = [row for row in rows if int(row[0][1:]) >= first]
        (tmp_path / name).write_text("visitor,day,page\n" + "".join(",".join(row) + "\n" for row in kept))
    both = [tmp_path / "a.csv", tmp_path / "b.csv", "--seed", 1, "--attack", "tf-idf", "--json"]
    asked, plain = (json.loads(reidrisk("audit", *both, *more).out) for more in (["--allow-unmatched"], []))
    assert asked["risks"] == plain["risks"]
    alone = reidrisk("audit", tmp_path / "a.csv", "--allow-unmatched")
    assert (alone.code, alone.err.count("\n")) == (2, 1)
    assert "two tables" in alone.err
