"""From two tables to a verdict, a result and a gate."""

import hashlib
import hmac
import json
import os
from datetime import date

import pytest

from reidrisk.audit import AuditResult


def test_two_small_tables_to_verdict_result_and_report(reidrisk, pair, tmp_path):
    done = reidrisk("audit", *pair, "--seed", 1, "--out", "r.html", "--result", "r.json", "--max-risk", 0.9)
    assert done.code == 0, done.err
    values = json.loads((tmp_path / "r.json").read_text())
    assert max(risk["rate"] for risk in values["risks"]) == 0.5
    assert values["gate"]["answer"] == "undecided"
    assert AuditResult.from_dict(values).verdict in " ".join(done.out.split())
    assert values["seed"] == 1
    assert {(risk["attack"], risk["n_epochs"]) for risk in values["risks"]} == {
        (name, r) for name in values["descriptions"] for r in (1, 2)
    }  # fmt: skip
    assert {"Hamming", "WeightedHamming", "ProfileBayes", "NaiveBayes", "TfIdf"} <= set(values["descriptions"])
    html = (tmp_path / "r.html").read_text()
    assert "<html" in html
    assert 'id="verdict"' in html
    for secret in ("ann", "bob", '"cat"', "sports"):  # neither people nor tokens
        assert f">{secret}<" not in html
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "b.csv", "r.html", "r.json"]


def test_the_same_seed_gives_the_same_result_and_a_saved_one_runs_again(reidrisk, pair, tmp_path):
    def numbers(*arguments):
        done = reidrisk("audit", *arguments, "--json")
        assert done.code == 0, done.err
        values = json.loads(done.out)
        return values

    first = numbers(*pair, "--seed", 7, "--result", "one.json")
    assert numbers(*pair, "--seed", 7) == first
    assert numbers("--spec", "one.json") == first


def test_the_same_seed_gives_the_same_bytes(reidrisk, pair, tmp_path):
    for name in ("one.json", "two.json"):
        assert reidrisk("audit", *pair, "--seed", 7, "--result", name, "--out", f"{name}.html").code == 0
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    values = json.loads((tmp_path / "one.json").read_text())
    assert not {"seconds", "created", "timing"} & set(values)  # so that another day gives the same bytes too
    assert str(date.today()) in (tmp_path / "one.json.html").read_text()


def test_no_cell_of_a_table_can_be_found_from_the_result(reidrisk, pair, tmp_path):
    """Whoever knows a table but for one cell tries all values: by default there is nothing to try them against."""
    reidrisk("audit", *pair, "--seed", 7, "--result", "one.json", "--out", "r.html")
    guesses = [pair[0].read_text().replace("dan,food,food", f"dan,food,{token}") for token in ("cars", "news", "food")]
    written = (tmp_path / "one.json").read_text() + (tmp_path / "r.html").read_text()
    for guess in guesses:
        assert hashlib.sha256(guess.encode()).hexdigest()[:16] not in written
    assert json.loads((tmp_path / "one.json").read_text())["fingerprints"] is None
    done = reidrisk("audit", *pair, "--seed", 7, "--plain-sums", "--result", "plain.json")
    assert done.err, "whoever knows a table but for a cell can try all values"
    sums = json.loads((tmp_path / "plain.json").read_text())["fingerprints"]
    assert sums["method"] == "sha256"
    assert sums["sums"]["targets"] == hashlib.sha256(guesses[2].encode()).hexdigest()


def test_the_files_that_were_audited_can_be_told_by_who_has_the_key(reidrisk, pair, table, tmp_path):
    key, other = table("key", bytes(range(32))), table("other", bytes(32))
    done = reidrisk("audit", *pair, "--seed", 7, "--fingerprint-key", key, "--result", "one.json", "--out", "r.html")
    sums = {
        name: hmac.new(bytes(range(32)), path.read_bytes(), "sha256").hexdigest()
        for name, path in zip(("targets", "queries"), pair, strict=True)
    }
    assert json.loads((tmp_path / "one.json").read_text())["fingerprints"] == {"method": "hmac-sha256", "sums": sums}
    page = (tmp_path / "r.html").read_text()
    assert all(digest[:16] in page and digest not in page for digest in sums.values())
    again = reidrisk("audit", "--spec", "one.json", "--fingerprint-key", key)
    assert (again.out, again.err) == (done.out, "")
    assert "was not checked" in reidrisk("audit", "--spec", "one.json").err

    held = ("gate", "one.json", "--max-risk", 1.0, "--inputs", *pair)
    assert reidrisk(*held, "--fingerprint-key", key).code == 3  # four people are too few to decide
    for arguments, word in (
        (held, "--fingerprint-key"),
        ((*held, "--fingerprint-key", other), "is not the table that was audited"),
        ((*held[:5], pair[1], pair[0], "--fingerprint-key", key), "is not the table that was audited"),
        ((*held, "--fingerprint-key", "none"), "there is no such file"),
        ((*held, "--fingerprint-key", os.devnull), "a device, not a file"),
        (("gate", os.devnull, *held[2:]), "a device; it should be the result of an audit"),
        ((*held, "--fingerprint-key", table("short", b"secret")), "16 to 4,096 bytes"),
        ((*held[:4], "--fingerprint-key", key), "--inputs"),
    ):
        refused = reidrisk(*arguments)
        assert (refused.code, refused.out) == (2, ""), arguments
        assert word in refused.err
    pair[1].write_text(pair[1].read_text().replace("food", "news", 1))
    assert "b.csv is not the table" in reidrisk(*held, "--fingerprint-key", key).err
    changed = reidrisk("audit", "--spec", "one.json", "--fingerprint-key", key)
    assert changed.code == 0
    assert changed.err == "careful: the file of the queries is not the one of the saved audit (another sum)\n"
    reidrisk("audit", *pair, "--seed", 7, "--result", "none.json")
    assert "holds no sums" in reidrisk("gate", "none.json", "--max-risk", 0.99, "--inputs", *pair).err


def test_json_is_all_that_is_printed(reidrisk, pair):
    done = reidrisk("audit", *pair, "--json")
    assert json.loads(done.out)["format"] == 3
    assert done.err == ""


def test_an_audit_of_unknown_tokens_names_what_it_assumes(reidrisk, pair):
    values = json.loads(reidrisk("audit", *pair, "--json", "--seed", 1).out)
    said = {note["code"]: note for note in values["notes"]}
    assert said["system-unknown"]["noise"] == 0.0
    assert said["vocabulary"]["n"] == 5
    topics = json.loads(reidrisk("audit", *pair, "--json", "--seed", 1, "--system", "topics", "--n-tokens", 5).out)
    assert "system-topics" in [note["code"] for note in topics["notes"]]


def test_people_in_one_table_only_are_refused_with_counts_and_kept_on_request(reidrisk, table, pair):
    stranger = table("c.csv", "user,epoch_0,epoch_1\nann,news,sports\nzoe,food,food\n")
    done = reidrisk("audit", pair[0], stranger, "--out", "r.html")
    assert done.code == 2
    assert "3 users" in done.err
    assert "1 of" in done.err
    assert "--allow-unmatched" in done.err
    kept = json.loads(reidrisk("audit", pair[0], stranger, "--allow-unmatched", "--json", "--seed", 1).out)
    last = [risk for risk in kept["risks"] if risk["n_epochs"] == 2]
    assert {risk["rate"] for risk in last} == {1.0}  # ann is found, and zoe is nobody whom anyone could find
    assert last[0]["baseline"] == pytest.approx(1 / 4)
    assert (kept["n_scored"], kept["n_strangers"]) == (1, 1)


def test_no_shared_ids_means_no_rate_and_no_unchecked_probability(reidrisk, table, pair, tmp_path):
    other = table("c.csv", "user,epoch_0,epoch_1\n101,news,sports\n102,food,food\n".replace("10", "x10"))
    done = reidrisk("audit", pair[0], other, "--allow-unmatched", "--seed", 1, "--out", "r.html", "--result", "r.json")
    assert done.code == 0, done.err
    assert (tmp_path / "r.html").exists()
    values = json.loads((tmp_path / "r.json").read_text())
    assert (values["risks"], values["choosiness"]) == ([], [])
    assert AuditResult.from_dict(values).verdict in " ".join(done.out.split())
    gate = reidrisk("gate", "r.json", "--max-risk", 0.1)
    assert gate.code == 2
    assert "measured no rate" in gate.err


def test_true_pairs_bring_the_rate_back(reidrisk, table, pair):
    other = table("c.csv", "user,epoch_0,epoch_1\nx1,news,sports\nx2,food,food\n")
    truth = table("truth.csv", "query,target\nx1,ann\nx2,dan\n")
    values = json.loads(reidrisk("audit", pair[0], other, "--truth", truth, "--json", "--seed", 1).out)
    assert {risk["rate"] for risk in values["risks"] if risk["n_epochs"] == 2} == {1.0}
    wrong = table("wrong.csv", "query,target\nx1,nobody\n")
    done = reidrisk("audit", pair[0], other, "--truth", wrong)
    assert done.code == 2
    assert "nobody" in done.err


def test_the_gate_names_who_was_asked_and_how(reidrisk, pair):
    reidrisk("audit", *pair, "--seed", 1, "--result", "r.json")
    all_of_them = json.loads(reidrisk("gate", "r.json", "--max-risk", 0.5, "--json").out)
    assert (all_of_them["n_scored"], len(all_of_them["attacks"]), all_of_them["epochs"]) == (4, 8, [1, 2])
    reidrisk("audit", *pair, "--seed", 1, "--attack", "hamming", "--result", "r.json")
    assert json.loads(reidrisk("gate", "r.json", "--max-risk", 0.5, "--json").out)["attacks"] == ["Hamming"]


@pytest.mark.parametrize(("limit", "code", "word"), [(0.99, 0, "pass"), (0.001, 1, "fail"), (0.6, 3, "undecided")])
def test_the_gate_answers_by_exit_code(reidrisk, crowd, limit, code, word):
    reidrisk("audit", *crowd, "--seed", 1, "--result", "r.json")
    done = reidrisk("gate", "r.json", "--max-risk", limit)
    assert (done.code, done.out.split(":")[0]) == (code, word)
    assert json.loads(reidrisk("gate", "r.json", "--max-risk", limit, "--json").out)["answer"] == word
