"""Every bad input: one clear line, exit code 2, and nothing left behind."""

import io as memory

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
        (["good.csv"], ["give two tables"]),
        (["good.csv", "good.csv", "--noise", "1.5"], ["noise", "1.5"]),
        (["good.csv", "good.csv", "--epochs", "1,9"], ["2 epochs", "9"]),
        (["good.csv", "good.csv", "--epochs", "one"], ["whole numbers", "'one'"]),
        (["good.csv", "good.csv", "--sample", "0"], ["sample", "0"]),
        (["good.csv", "good.csv", "--system", "cohorts"], ["system", "'cohorts'"]),
        (["good.csv", "good.csv", "--attack", "magic"], ["--attack", "'magic'"]),
        (["good.csv", "good.csv", "--out", "nowhere/r.html"], ["nowhere"]),
        (["good.csv", "good.csv", "--seed", "-1"], ["seed", "-1"]),
        (["good.csv", "good.csv", "--sample", "1", "--everyone"], ["not both"]),
        (["--spec", "good.csv"], ["not JSON"]),
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
    [("{}", "format"), ("[1]", "list"), ('{"format": 9}', "format 9"), ("{", "not JSON"), ('{"format": 1}', "missing")],
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
        ("", ["m.csv"]),
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

    monkeypatch.setattr(audit, "run", lambda *_: 1 / 0)
    done = reidrisk("audit", *pair)
    assert done.code == 70
    assert "this is a bug: ZeroDivisionError" in done.err
