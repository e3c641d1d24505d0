"""Every bad input: one clear line, exit code 2, and nothing left behind."""

import io as memory
import json
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

GOOD = "user,epoch_0,epoch_1\nann,1,2\nbob,3,4\n"


def parquet() -> bytes:
    buffer = memory.BytesIO()
    pl.DataFrame({"user": ["ann", "bob"], "epoch_0": [1, 3], "epoch_1": [2, 4]}).write_parquet(buffer)
    return buffer.getvalue()


BAD_TABLES = {
    "truncated Parquet": ("bad.parquet", parquet()[:-20], ["bad.parquet"]),
    "garbage Parquet": ("bad.parquet", b"this is no Parquet file at all", ["bad.parquet"]),
    "empty file": ("bad.csv", "", ["bad.csv"]),
    "header only": ("bad.csv", "user,epoch_0,epoch_1\n", ["bad.csv", "empty"]),
    "unknown column": ("bad.csv", "user,epoch_0,colour\nann,1,2\nbob,3,4\n", ["colour"]),
    "duplicate user": ("bad.csv", "user,epoch_0,epoch_1\nann,1,2\nann,3,4\n", ["ann", "row"]),
    "duplicate user and epoch": ("bad.csv", "user,epoch,token\nann,0,1\nann,0,2\nbob,0,1\n", ["ann", "epoch"]),
    "negative token": ("bad.csv", "user,epoch_0,epoch_1\nann,1,-7\nbob,3,4\n", ["-7", "row 1"]),
    "fractional token": ("bad.csv", "user,epoch_0,epoch_1\nann,1,2\nbob,3.5,4\n", ["3.5", "row 2"]),
    "NaN": ("bad.csv", "user,epoch_0,epoch_1\nann,1,2\nbob,NaN,4\n", ["row 2"]),
    "token outside": ("bad.csv", "user,epoch_0,epoch_1\nann,1,2\nbob,3,99\n", ["99", "row 2"]),
    "other number of epochs": ("bad.csv", "user,epoch_0\nann,1\nbob,3\n", ["epochs"]),
    "other users": ("bad.csv", "user,epoch_0,epoch_1\nann,1,2\neve,3,4\n", ["1 user", "--allow-unmatched"]),
    "not text": ("bad.csv", b"user,epoch_0,epoch_1\nann,1,\xff\xfe\nbob,3,4\n", ["bad.csv"]),
    "unknown ending": ("bad.xlsx", b"PK", ["bad.xlsx"]),
}


@pytest.mark.parametrize("case", BAD_TABLES)
@pytest.mark.parametrize("first", [True, False])
def test_a_bad_table_is_refused_in_one_line(reidrisk, table, tmp_path, case, first):
    name, content, words = BAD_TABLES[case]
    good, bad = table("good.csv", GOOD), table(name, content)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    order = (bad, good) if first else (good, bad)
    done = reidrisk("audit", *order, "--n-tokens", 50, "--out", "r.html", "--result", "r.json")
    assert done.code == 2, done
    assert done.out == ""
    assert done.err.startswith("reidrisk: ")
    assert done.err.count("\n") == 1, done.err
    for word in words:
        assert word in done.err, done.err
    assert "Traceback" not in done.err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.csv", "good.csv"], ["missing.csv"]),
        ([], ["give a table"]),
        (["good.csv", "good.csv", "--noise", "1.5"], ["noise", "1.5"]),
        (["good.csv", "good.csv", "--epochs", "1,9"], ["2 epochs", "9"]),
        (["good.csv", "good.csv", "--epochs", "one"], ["whole numbers", "'one'"]),
        (["good.csv", "good.csv", "--sample", "0"], ["sample", "0"]),
        (["good.csv", "good.csv", "--system", "cohorts"], ["system", "'cohorts'"]),
        (["good.csv", "good.csv", "--attack", "magic"], ["--attack", "'magic'"]),
        (["good.csv", "good.csv", "--out", "good.csv/r.html"], ["good.csv is a file"]),
        (["good.csv", "good.csv", "--seed", "-1"], ["seed", "-1"]),
        (["good.csv", "good.csv", "--sample", "1", "--everyone"], ["not both"]),
        (["--spec", "good.csv"], ["not JSON"]),
        (["--spec", "good.csv", "--engine", "local", "--memory", "1GB", "--json"], ["not JSON"]),
        (["--spec", "good.csv", "--share", "0.3"], ["--share", "--spec"]),
        (["--spec", "good.csv", "--change", "rotate:4"], ["--change", "--spec"]),
        (["good.csv", "--spec", "good.csv"], ["tables", "--spec"]),
        (["good.csv", "--people", "p"], ["--people", "--keep-per-person"]),
        (["good.csv", "--resume", "p", "--people", "p"], ["--resume"]),
        (["good.csv", "--master", "local", "--engine", "duckdb"], ["--master", "spark"]),
        (["good.csv", "good.csv", "--n-tokens", "50", "--item", "x"], ["--n-tokens", "--item"]),
        (["good.csv", "--system", "topics"], ["--system", "give both"]),
        (["good.csv", "--which", "rarest", "--share", "0.3"], ["--which", "--share"]),
        (["good.csv", "good.csv", "--layout", "tall"], ["layout", "'tall'"]),
        (["good.csv", "good.csv", "--top-k", "9"], ["top_k", "9"]),
    ],
)
def test_bad_options_are_refused_in_one_line(reidrisk, table, tmp_path, arguments, words):
    table("good.csv", GOOD)
    done = reidrisk("audit", *arguments)
    assert done.code == 2, done
    assert done.err.count("\n") == 1, done.err
    for word in words:
        assert word in done.err, done.err
    assert [path.name for path in tmp_path.iterdir()] == ["good.csv"]


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("{}", "format"),
        ("[1]", "list"),
        ('{"format": 9}', "format 9"),
        ("{", "not JSON"),
        ('{"format": 1}', "missing"),
        ('{"format": NaN}', "NaN"),
    ],
)
def test_a_gate_on_anything_but_a_result_is_refused(reidrisk, table, content, word):
    table("r.json", content)
    done = reidrisk("gate", "r.json", "--max-risk", "0.1")
    assert done.code == 2
    assert word in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("0.5,0.5\n0.5,0.4\n", ["row", "0.9"]),
        ("0.5,0.5\n1.5,-0.5\n", ["-0.5"]),
        ("0.5,0.5\nnan,1\n", ["nan"]),
        ("", ["m.csv", "the file is empty; a table has"]),
        ("user;x;y\nann;0.5;0.5\n", ["separated by semicolons, not by commas"]),
        ("0.5\t0.5\n", ["separated by tabs, not by commas"]),
        ("user,x,y\nann,0.5,0.5\nbob,1,0\nann,0,1\n", ["rows 1 and 3 are both user 'ann'"]),
        ("ann,0.5,0.5\nann,0,1\n", ["rows 1 and 2 are both user 'ann'"]),
        ("user,x,y\nann,0.5,0.5\n,0,1\n", ["row 2", "no user id"]),
    ],
)
def test_a_matrix_that_is_no_channel_is_refused(reidrisk, table, content, words):
    table("m.csv", content)
    done = reidrisk("bounds", "m.csv")
    assert done.code == 2
    assert done.err.count("\n") == 1
    for word in words:
        assert word in done.err.lower()


def test_wrong_usage_exits_with_two(reidrisk):
    assert reidrisk("audit", "--no-such-option").code == 2
    assert reidrisk("dance").code == 2


def test_a_bug_exits_with_seventy(reidrisk, pair, monkeypatch):
    from reidrisk import audit

    monkeypatch.setattr(audit, "run", lambda *_, **__: 1 / 0)
    done = reidrisk("audit", *pair)
    assert done.code == 70
    assert "this is a bug: ZeroDivisionError" in done.err


@pytest.mark.parametrize(
    ("damage", "word"),
    [
        (lambda r: r["risks"][0].pop("n_epochs"), "risks[0] has no n_epochs"),
        (lambda r: r["risks"][0].update(high=-1.0), "risks[0]: high of a risk"),
        (lambda r: r["risks"][0].update(rate=5), "risks[0].rate"),
        (lambda r: r["risks"][0].update(high="abc"), "risks[0].high should be a valid number"),
        (lambda r: r["risks"][0].update(n_epochs=None), "risks[0].n_epochs"),
        (lambda r: r.update(risks={"a": 1}), "risks should be a valid list"),
        (lambda r: r.update(exposure=[1]), "exposure should be a valid"),
    ],
)
def test_a_gate_on_a_damaged_result_is_refused(reidrisk, pair, tmp_path, damage, word):
    reidrisk("audit", *pair, "--seed", 1, "--result", "r.json")
    values = json.loads((tmp_path / "r.json").read_text())
    damage(values)
    (tmp_path / "r.json").write_text(json.dumps(values))
    done = reidrisk("gate", "r.json", "--max-risk", "0.9")
    assert done.code == 2, done
    assert word in done.err
    assert "r.json" in done.err
    assert done.err.count("\n") == 1


def test_outputs_never_overwrite_inputs_or_each_other(reidrisk, pair, tmp_path):
    before = pair[1].read_bytes()
    for arguments in (["--result", pair[1]], ["--out", "r.html", "--result", "r.html"]):
        done = reidrisk("audit", *pair, *arguments)
        assert done.code == 2
        assert "name of its own" in done.err
    assert pair[1].read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv"]


def test_numbers_that_are_no_tokens_are_refused_before_memory_runs_out(reidrisk, table):
    big = table("big.csv", "user,epoch_0\nann,3000000000\nbob,2\n")
    done = reidrisk("audit", big, big)
    assert done.code == 2
    assert "3,000,000,001 possible tokens" in done.err


def test_one_odd_id_does_not_hide_the_others(reidrisk, table):
    numbers = table("n.csv", "user,epoch_0\n1,5\n2,6\n")
    mixed = table("m.csv", "user,epoch_0\n1,5\n2,6\nx,7\n")
    done = reidrisk("audit", numbers, mixed)
    assert "0 users" in done.err
    assert "1 of" in done.err
    kept = json.loads(reidrisk("audit", numbers, mixed, "--allow-unmatched", "--json", "--seed", 1).out)
    assert [risk["rate"] for risk in kept["risks"] if risk["attack"] == "Hamming"] == [
        1.0
    ]  # of the two who are in both
    assert kept["n_strangers"] == 1


def test_an_interrupt_says_so_and_leaves_nothing(tmp_path):
    heard = "import signal; signal.signal(2, signal.default_int_handler); "  # also where this is a background job
    code = f"{heard}from reidrisk.cli import main; main(['demo', '--users', '2000000', '--out', 'r.html'])"
    running = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    running.stderr.readline()  # it has said what it is going to do
    time.sleep(1.0)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "interrupted" in err
    assert list(tmp_path.iterdir()) == []


def test_a_column_name_of_any_length_makes_a_line_that_can_be_read(reidrisk, tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(f"user,epoch_0,{'7' * 60_000}\nann,x,y\nbob,y,x\n")
    done = reidrisk("audit", "a.csv", "b.csv")
    assert done.code == 2
    assert len(done.err) < 1_000
    assert "60,0" in done.err  # how long it is
