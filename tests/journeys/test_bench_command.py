"""From a log of one's own to a comparison of attacks on it."""

import json

import pytest


@pytest.fixture
def shop(table):
    rows = [f"c{who},{day},item {(who * 3 + day % 4) % 17}" for who in range(20) for day in range(10)]
    table("log.csv", "\n".join(["customer,day,article", *rows]) + "\n")
    columns = 'user = "customer"\nitems = ["article"]\ntime = "day"\n'
    gone = '[data.gone]\nfiles = { "gone.csv" = "" }\n'
    return table("manifest.toml", f'[data.shop]\nfiles = {{ "log.csv" = "" }}\n{columns}{gone}')


QUICK = ("--attack", "overlap", "--attack", "tf-idf", "--setting", "later", "--setting", "knows-4")


def test_attacks_are_compared_on_a_log(reidrisk, shop, tmp_path):
    out, result = tmp_path / "page.html", tmp_path / "bench.json"
    done = reidrisk("bench", "--data", shop, *QUICK, "--out", out, "--result", result)
    assert done.code == 0, done.err
    values = json.loads(result.read_text())
    assert values["format"] == 1
    assert {(row["setting"], row["attack"]) for row in values["rows"]} == {
        (setting, attack) for setting in ("later", "knows-4") for attack in ("Overlap", "TfIdf")
    }
    assert "data-missing" in [note["code"] for note in values["left_out"]]
    assert "<html" in out.read_text()
    printed = json.loads(reidrisk("bench", "--data", shop, *QUICK, "--json").out)
    for one, other in zip(printed["rows"], values["rows"], strict=True):
        assert one | {"seconds": 0} == other | {"seconds": 0}


def test_data_sets_are_chosen_by_name(reidrisk, shop):
    values = json.loads(reidrisk("bench", "--data", shop, "--only", "gone", *QUICK, "--json").out)
    assert values["rows"] == []


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (("--attack", "nobody"), "--attack"),
        (("--setting", "thirds"), "--setting"),
        (("--only", "bank"), "bank"),
        (("--data", "nowhere.toml"), "nowhere.toml"),
        (("--queries", 0), "--queries"),
        (("--out", "page.txt"), ".html"),
    ],
)
def test_bad_usage_is_one_line(reidrisk, shop, wrong, named):
    done = reidrisk("bench", *(() if "--data" in wrong else ("--data", shop)), *wrong)
    assert done.code == 2
    assert named in done.err
    assert done.err.count("\n") == 1
