"""From an activity log to a choice between ways to share it."""

import gzip
import json
import re
import zipfile

import numpy as np
import pytest

QUICK = ["--runs", 6, "--steps", 40, "--releases", 1, "--amounts", "0,1e-4", "--seed", 1]


def log(users=8, entries=40):
    """People who differ in how long they stay and where they go next; every state occurs for everyone."""
    rows, states = [], ("asleep", "cooking", "running")
    for user in range(users):
        at = 0
        for entry in range(entries):
            step = 2 if entry % (user + 2) == 0 else 1
            rows.append(f"p{user},{at},{states[(step * entry + user) % 3]}")
            at += 100 + 37 * user + 211 * (entry % 3)
    return "\n".join(["user,timestamp,state", *rows]) + "\n"


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    """Tables wrap in a narrow terminal, and where a test runs must not decide what it sees."""
    monkeypatch.setenv("COLUMNS", "400")


@pytest.fixture
def file(table):
    return table("log.csv", log())


def test_json_has_every_point_with_intervals_and_the_same_seed_gives_the_same(reidrisk, file):
    assert reidrisk("bandits", "tradeoff", file, *QUICK).code == 0
    done = reidrisk("bandits", "tradeoff", file, *QUICK, "--json")
    values = json.loads(done.out)
    assert done.err == ""
    assert values["seed"] == 1
    assert "noise-simulated" in [note["code"] for note in values["notes"]]
    assert (values["n_users"], values["n_states"], values["n_aux"], values["guess"]) == (8, 3, 7, 1 / 8)
    assert {(p["strategy"], p["amount"]) for p in values["points"]} >= {("own", 0.0), ("clusters:2", 1e-4)}
    assert len(values["points"]) == 7 * 2
    for point in values["points"]:
        assert point["regret"]["low"] <= point["regret"]["mean"] <= point["regret"]["high"]
        assert point["likelihood"]["low"] <= point["likelihood"]["rate"] <= point["likelihood"]["high"]
    own = next(p for p in values["points"] if p["strategy"] == "own" and p["amount"] == 0.0)
    average = next(p for p in values["points"] if p["strategy"] == "average" and p["amount"] == 0.0)
    assert own["likelihood"]["rate"] == 1.0  # 7 exact cells of 9 are enough
    assert average["risk"]["rate"] == pytest.approx(1 / 8)
    # A point on the front is beaten by none.
    for p in values["points"]:
        beaten = any(
            q["regret"]["mean"] < p["regret"]["mean"] and q["risk"]["rate"] < p["risk"]["rate"]
            for q in values["points"]
        )
        assert not (p["on_front"] and beaten)
    assert reidrisk("bandits", "tradeoff", file, *QUICK, "--json").out == done.out
    assert reidrisk("bandits", "tradeoff", file, *QUICK[:-1], 2, "--json").out != done.out


def test_the_report_and_the_chart_are_written_and_say_how_to_run_it_again(reidrisk, file, tmp_path):
    pytest.importorskip("vl_convert", reason="needs the extra report")
    given = [
        "--strategy",
        "own",
        "--strategy",
        "clusters:2",
        "--noise",
        "svd",
        "--amounts",
        "3,1",
        *QUICK[:6],
        "--seed",
        5,
    ]
    done = reidrisk("bandits", "tradeoff", file, *given, "--out", "page.html", "--chart", "chart.png")
    assert done.code == 0, done.err
    assert (tmp_path / "chart.png").read_bytes()[:4] == b"\x89PNG"
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page
    command = re.search(r'<pre class="command"><code>(.*?)</code>', page)[1].replace("&#39;", "'")
    assert command.startswith("reidrisk bandits tradeoff ")
    assert command.endswith("--strategy own --strategy clusters:2 --amounts 3,1 --out page.html --chart chart.png "
                            "--noise svd --runs 6 --steps 40 --releases 1 --seed 5")  # fmt: skip
    specs = json.loads(re.search(r'id="chart-specs">(.*?)</script>', page, re.DOTALL)[1])
    assert set(specs) == {"scoreboard", "likelihood"}
    assert "p3" not in page.split("<script")[0]  # nobody by name


def test_the_stronger_attacker_has_an_interval_and_its_own_front(reidrisk, file):
    only = ["--strategy", "own", "--strategy", "average", "--attack", "likelihood"]
    values = json.loads(reidrisk("bandits", "tradeoff", file, *QUICK, *only, "--json").out)
    own = next(p["likelihood"] for p in values["points"] if (p["strategy"], p["amount"]) == ("own", 0.0))
    assert (own["rate"], own["high"]) == (1.0, 1.0)
    assert own["low"] < 1.0
    points = [(p["regret"]["mean"], p["likelihood"]["rate"], p["on_front"]) for p in values["points"]]
    for cost, rate, on_front in points:
        beaten = any(c <= cost and r <= rate and (c, r) != (cost, rate) for c, r, _ in points)
        assert on_front == (not beaten)


def test_quick_leaves_out_the_stronger_attacker(reidrisk, file):
    values = json.loads(reidrisk("bandits", "tradeoff", file, *QUICK, "--quick", "--json").out)
    assert {p["likelihood"] for p in values["points"]} == {None}


def test_matrices_are_read_too(reidrisk, tmp_path):
    some = np.random.default_rng(0).dirichlet(np.ones(3), size=(6, 3))
    np.savez(tmp_path / "m.npz", records=some, profiles=some[:, :, 0])
    done = reidrisk("bandits", "tradeoff", "m.npz", "--format", "matrices", *QUICK, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["n_users"] == 6


BAD = {
    "unknown state": (
        [],
        ["--states", "states.txt"],
        "log.csv: row 4 has the state 'running', which is not among the 2 known ones",
    ),
    "one user": ([log(users=1)], [], "only 1 user"),
    "clusters": ([], ["--clusters", 9], "there are 8 users, so no 9 clusters"),
    "clusters in a strategy": ([], ["--strategy", "clusters:9"], "9"),
    "cells": ([], ["--n-aux", 10], "n_aux must be a whole number from 1 to the 9 cells"),
    "strategy": ([], ["--strategy", "shuffle"], "'shuffle' is no anonymisation step"),
    "format": ([], ["--format", "xml"], "--format must be one of"),
    "attack": ([], ["--attack", "magic"], "--attack must be one of"),
    "noise": ([], ["--noise", "rain"], "--noise must be one of"),
    "amounts": ([], ["--amounts", "0,few"], "--amounts holds 'few'"),
    "variance": ([], ["--amounts", "-1"], "variance of noise must be"),
    "rank": ([], ["--noise", "svd", "--amounts", "4"], "at most 3"),
    "half a rank": ([], ["--noise", "svd", "--amounts", "1.5"], "ranks are whole numbers"),
    "weights": ([], ["--weights", "heavy"], "weights must be one of"),
    "rewards": ([], ["--rewards", "free"], "rewards must be one of"),
    "alpha": ([], ["--alpha", 0], "alpha must be finite and at least 1e-15"),
    "both": ([], ["--quick", "--attack", "likelihood"], "--quick leaves out"),
    "column": (["user,timestamp,place\np0,1,x\n"], [], "there is no column 'state'"),
    "time": (["user,timestamp,state\np0,soon,x\np1,later,y\n"], [], "row 0 has the timestamp 'soon'; write seconds"),
    "twice": ([log() + "p0,0,asleep\n"], [], "rows 0 and 320 are the same entry"),
    "blank": ([log() + "p0,1, \n"], [], "log.csv: row 320 has no state"),
    "latin-1": ([log().replace("cooking", "caf\xe9").encode("latin-1")], [], "row 2, column 'state' is not UTF-8 text"),
    "cut line": ([log() + "p0,1"], [], "row 321 has 2 cells where the header has 3"),
    "header": (["user,timestamp,state\n"], [], "the log has no entries"),
    "empty": ([""], [], "the file is empty"),
    "huge times": ([log().replace("p0,0,", "p0,1e308,")], [], "row 0 has the timestamp '1e308'"),
    "huge variance": ([], ["--amounts", "0,1e308"], "at most 1e+100, not 1e+308"),
    "huge variance in a strategy": ([], ["--strategy", "laplace:1.7e308"], "at most 1e+100, not 1.7e+308"),
    "tiny alpha": ([], ["--alpha", "1e-320"], "alpha must be finite and at least 1e-15"),
    "many digits": ([], ["--strategy", "clusters:" + "9" * 5000], "cannot be read; clusters takes n (int)"),
    "no folder": ([], ["--out", "log.csv/page.html"], "log.csv is a file; give a folder"),
    "chart": ([], ["--chart", "chart.gif"], ".png or .svg"),
    "report": ([], ["--out", "page.txt"], ".html"),
    "over the input": ([], ["--out", "log.csv"], "it is also an input"),
    "states of matrices": ([], ["--format", "matrices", "--states", "states.txt"], "--states is for logs"),
    "unit of matrices": ([], ["--format", "matrices", "--unit", "hour"], "--unit is for logs"),
    "a format of the studies": ([], ["--format", "fitbit"], "is now in reidrisk-studies: read it with"),
    "gap of matrices": ([], ["--format", "matrices", "--max-gap", 5], "--max-gap is for logs"),
    "seed": ([], ["--seed", -1], "seed must be a whole number"),
    "no steps": ([], ["--steps", 0], "steps must be a whole number of at least 1"),
    "negative steps": ([], ["--steps", -5], "steps must be a whole number of at least 1"),
    "no runs": ([], ["--runs", 0], "runs must be a whole number of at least 1"),
    "amount nan": ([], ["--amounts", "nan"], "--amounts holds 'nan'"),
    "rank inf": ([], ["--noise", "svd", "--amounts", "inf"], "--amounts holds 'inf'"),
    "epsilon": ([], ["--strategy", "private-clusters:2,1000"], "epsilon must be above 0 and at most 100"),
    "negative gap": ([], ["--max-gap", -1], "--max-gap must be a number of seconds"),
    "gap nan": ([], ["--max-gap", "nan"], "--max-gap must be a number of seconds"),
    "clusters and strategy": ([], ["--clusters", 2, "--strategy", "own"], "--clusters is for the paper's"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_exit_2(case, reidrisk, table, tmp_path):
    text, options, message = BAD[case]
    table("log.csv", text[0] if text else log())
    table("states.txt", "asleep\ncooking\n")
    done = reidrisk("bandits", "tradeoff", "log.csv", *QUICK, *options)
    assert (done.code, done.out) == (2, ""), done
    assert done.err.count("\n") == 1
    assert message in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.csv", "states.txt"]


MATRICES = {
    "nearly 1": (
        {"records": [[[0.5, 0.5000014], [0.5, 0.5]]] * 3},
        "row 0 of the matrix of user 0 adds up to 1.0000014, not to 1",
    ),
    "objects": ({"records": np.array([{}, 1])}, "the array 'records' holds Python objects"),
    "a table of names": ({"records": [[[0.5, 0.5]] * 2] * 3, "users": [["a"]] * 3}, "'users' has shape (3, 1)"),
    "large": ({"records": [[[0.5, 0.5]] * 2] * 3, "profiles": [[1e300]] * 3}, "profile of user 0 is 1e+300"),
    "sums": ({"records": [[[0.5, 0.4], [0.5, 0.5]]] * 3}, "row 0 of the matrix of user 0 adds up to 0.9, not to 1"),
    "nan": ({"records": [[[np.nan, 0.4], [0.5, 0.5]]] * 3}, "cell (0, 0) of the matrix of user 0 is nan"),
    "shape": ({"records": [[0.5, 0.5]] * 3}, "records must have shape"),
    "profiles": ({"records": [[[0.5, 0.5]] * 2] * 3, "profiles": [[1.0]]}, "a row for each of the 3 users"),
    "names": ({"records": [[[0.5, 0.5]] * 2] * 3, "states": ["a", "b", "c"]}, "3 state names"),
    "one value": ({"records": [[[0.5, 0.5]] * 2] * 3, "users": "ann"}, "the array 'users' is a single value"),
    "no list": ({"records": 0.5}, "the array 'records' is a single value"),
    "twice": ({"records": [[[0.5, 0.5]] * 2] * 3, "users": ["a", "b", "a"]}, "the user 'a' occurs twice"),
    "text": ({"records": [["a"]]}, "it must hold numbers"),
    "missing": ({"other": [1.0]}, "there is no array 'records'"),
}


@pytest.mark.parametrize("case", MATRICES)
def test_matrices_that_are_none_are_refused(case, reidrisk, tmp_path):
    arrays, message = MATRICES[case]
    np.savez(tmp_path / "m.npz", **{"profiles": [[1.0], [2.0], [3.0]], **arrays})
    done = reidrisk("bandits", "tradeoff", "m.npz", "--format", "matrices", *QUICK)
    assert (done.code, done.out) == (2, ""), done
    assert message in done.err
    assert done.err.count("\n") == 1


def test_the_command_to_run_again_keeps_a_gap_of_nothing(reidrisk, file, tmp_path):
    pytest.importorskip("altair", reason="the extra report is not installed")
    done = reidrisk("bandits", "tradeoff", file, *QUICK, "--strategy", "own", "--max-gap", 0, "--out", "page.html")
    assert done.code == 0, done.err
    assert "--max-gap 0" in (tmp_path / "page.html").read_text()


def test_a_cut_off_file_is_named(reidrisk, table):
    done = reidrisk("bandits", "tradeoff", table("m.npz", b"PK\x03\x04 cut"), "--format", "matrices", *QUICK)
    assert done.code == 2
    assert "cannot be read as NPZ" in done.err


def test_a_file_that_holds_no_arrays_is_no_matter_of_pickles(reidrisk, table, tmp_path):
    np.save(tmp_path / "one.npy", np.eye(2))
    with zipfile.ZipFile(tmp_path / "zip.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    said = {
        table("log.csv", log()): "log.csv: is no NPZ file; store 'records' (n, d, d) and 'profiles' (n, p)",
        table("empty.npz", ""): "empty.npz: is empty; store 'records'",
        tmp_path / "one.npy": "one.npy: it holds a single array",
        tmp_path / "zip.npz": "zip.npz: the array 'readme.txt' is damaged, or no array",
        tmp_path: "is a folder, not a file",
    }
    for path, message in said.items():
        done = reidrisk("bandits", "tradeoff", path, "--format", "matrices", *QUICK)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done
        assert message in done.err
        assert "pickle" not in done.err


DAMAGED = {
    "cut log": ("log", {"log.csv.gz": gzip.compress(log().encode())[:200]}, "log.csv.gz", "cannot be read as CSV"),
    "folder of logs": ("log", {}, ".", "the name has no ending"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_files_of_any_format_are_one_line_and_exit_2(case, reidrisk, table, tmp_path):
    kind, files, path, message = DAMAGED[case]
    for name, content in files.items():
        table(name, content)
    done = reidrisk("bandits", "tradeoff", path, "--format", kind, *QUICK, "--out", "page.html")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done
    assert message in done.err
    assert {file.name for file in tmp_path.iterdir()} == set(files)
