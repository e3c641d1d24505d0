"""From a table of visits to what observers see, and on to an audit."""

import json
import shlex
import sys

import polars as pl
import pytest

from reidrisk import topics

TAXONOMY = "| ID | Topic |\n| -- | -- |\n" + "".join(f"| {i} | /T{i} |\n" for i in range(1, 9))
LISTED = "domain\ttopics\n" + "".join(f"t{i} com\t{i}\n" for i in range(1, 9)) + "none com\t\n"


@pytest.fixture
def lists(table):
    return [
        "--override-list", table("override_list.tsv", LISTED), "--taxonomy", table("taxonomy.md", TAXONOMY),
        "--out", "seen",
    ]  # fmt: skip


def lines(users=6, weeks=3):
    """Every user has a favourite, visits it on every day at noon, and shop.com each second week."""
    rows = []
    for day in range(7 * weeks):
        for user in range(users):
            rows.append(f"p{user},2024-05-{day + 1:02d} 12:00:00,www.t{user + 1}.com")
            if day // 7 % 2 and user % 2:
                rows.append(f"p{user},2024-05-{day + 1:02d} 12:00:01,www.shop.com")
    return rows


@pytest.fixture
def visits(table):
    return table("visits.csv", "\n".join(["user,timestamp,host", *lines()]) + "\n")


def test_from_visits_to_an_audit(reidrisk, visits, lists, tmp_path):
    done = reidrisk("simulate", "topics", "--histories", visits, *lists, "--observers", "a.com", "b.com",
                    "--top-k", 1, "--noise", 0, "--seed", 1)  # fmt: skip
    assert done.code == 0, done.err
    assert "reidrisk audit seen/a.com.parquet seen/b.com.parquet" in done.out
    assert sorted(file.name for file in (tmp_path / "seen").iterdir()) == [
        "a.com.parquet", "b.com.parquet", "simulation.json"
    ]  # fmt: skip
    document = json.loads((tmp_path / "seen/simulation.json").read_text())
    assert document["seed"] == 1
    # 6 people on 21 days, and 21 visits to an unknown shop
    assert (document["coverage"]["visits"]["n"], document["coverage"]["visits"]["unknown"]) == (147, 21)
    assert document["coverage"]["hosts"]["n"] == 7
    assert document["epochs"] == {
        "n": 3, "days": 7.0, "step_days": 7.0,
        "first_starts": "2024-05-01 00:00:00 UTC", "last_ends": "2024-05-22 00:00:00 UTC",
    }  # fmt: skip
    assert document["padding_share"] == 0.0
    assert document["notes"][-1]["code"] == "met-always"
    seen = pl.read_parquet(tmp_path / "seen/a.com.parquet")
    assert seen.rows() == [(f"p{user}", user, user, user) for user in range(6)]
    audit = reidrisk("audit", "seen/a.com.parquet", "seen/b.com.parquet", "--system", "topics", "--top-k", 1,
                     "--noise", 0, "--seed", 1, "--json")  # fmt: skip
    assert audit.code == 0, audit.err
    rates = {risk["attack"]: risk["rate"] for risk in json.loads(audit.out)["risks"]}
    assert rates["Hamming"] == rates["WeightedHamming"] == 1.0  # everybody has a topic of their own


def test_the_same_seed_gives_the_same_files_and_json_is_all_that_is_printed(reidrisk, visits, lists, tmp_path):
    command = ["simulate", "topics", "--histories", visits, *lists, "--observers", "a.com", "--json"]
    first = reidrisk(*command, "--seed", 3)
    kept = (tmp_path / "seen/a.com.parquet").read_bytes()
    assert json.loads(first.out) == json.loads((tmp_path / "seen/simulation.json").read_text())
    assert first.err == ""
    assert reidrisk(*command, "--seed", 3).out == first.out
    assert (tmp_path / "seen/a.com.parquet").read_bytes() == kept
    drawn = json.loads(reidrisk(*command).out)["seed"]
    assert json.loads(reidrisk(*command, "--seed", drawn).out)["seed"] == drawn


def test_the_command_to_try_next_can_be_pasted(reidrisk, visits, lists):
    done = reidrisk("simulate", "topics", "--histories", visits, *lists, "--out", "what is seen", "--seed", 1,
                    "--observers", "a.com", "b.com")  # fmt: skip
    (command,) = [line.strip() for line in done.out.splitlines() if line.strip().startswith("reidrisk audit")]
    audit = reidrisk(*shlex.split(command)[1:], "--seed", 1)
    assert audit.code == 0, audit.err


def test_presence_by_visits_leaves_gaps(reidrisk, visits, lists, tmp_path):
    done = reidrisk("simulate", "topics", "--histories", visits, *lists, "--observers", "shop.com", "elsewhere.org",
                    "--top-k", 1, "--noise", 0, "--presence", "visits", "--seed", 1, "--json")  # fmt: skip
    assert done.code == 0, done.err
    missing = [observer["missing_share"] for observer in json.loads(done.out)["observers"]]
    # Three of six users come in the second week, when only the first epoch has ended.
    assert missing == [pytest.approx(1 - 3 / 18), 1.0]
    seen = pl.read_parquet(tmp_path / "seen/shop.com.parquet")
    assert seen["epoch_0"].to_list() == [None, 1, None, 3, None, 5]


@pytest.mark.parametrize("how", [[], ["--by-the-specification"]])
def test_presence_of_active_users_leaves_out_idle_weeks(how, reidrisk, table, lists, tmp_path):
    rows = [row for row in lines() if not (row.startswith("p2") and "2024-05-08" <= row[3:13] <= "2024-05-14")]
    file = table("v.csv", "\n".join(["user,timestamp,host", *rows]))
    done = reidrisk("simulate", "topics", "--histories", file, *lists, "--observers", "a.com", "--top-k", 1,
                    "--noise", 0, "--presence", "active", *how, "--seed", 1, "--json")  # fmt: skip
    assert done.code == 0, done.err
    seen = pl.read_parquet(tmp_path / "seen/a.com.parquet").rows()
    assert seen == [(f"p{user}", user, None if user == 2 else user, user) for user in range(6)]
    assert json.loads(done.out)["idle_share"] == pytest.approx(1 / 18)


def test_columns_epochs_and_buckets_can_be_chosen(reidrisk, table, lists):
    text = "\n".join(["who,at,where", *lines(weeks=4)])
    named = ["--user-column", "who", "--timestamp-column", "at", "--host-column", "where"]
    buckets = "Top-Level Topics\tUtility Buckets\n" + "".join(
        f"/T{i}\t{'Standard' if i < 8 else 'High'}\n" for i in range(1, 9)
    )
    done = reidrisk("simulate", "topics", "--histories", table("v.csv", text), *lists, *named, "--observers", "a.com",
                    "--step-days", 3, "--every-epoch", "--start", "2024-05-02", "--json",
                    "--utility-buckets", table("b.tsv", buckets))  # fmt: skip
    assert done.code == 0, done.err
    values = json.loads(done.out)
    assert (values["epochs"]["n"], values["epochs"]["step_days"], values["n_users_dropped"]) == (7, 3.0, 0)
    assert "epochs-overlap" in [note["code"] for note in values["notes"]]
    assert values["n_visits_outside"] == 6 + 2 * (6 + 3)  # the day before the first epoch, two days after the last


def test_browsers_by_the_specification_tell_what_the_caller_observed(reidrisk, visits, lists, tmp_path):
    command = ["simulate", "topics", "--histories", visits, *lists, "--observers", "shop.com", "b.com", "--noise", 0]
    done = reidrisk(*command, "--top-k", 1, "--by-the-specification", "--seed", 1, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["notes"][-1]["code"] == "one-caller"
    for name in ("shop.com", "b.com"):
        seen = pl.read_parquet(tmp_path / f"seen/{name}.parquet")
        assert seen.rows() == [(f"p{user}", user, user, user) for user in range(6)]
    padded = json.loads(reidrisk(*command, "--top-k", 8, "--by-the-specification", "--seed", 1, "--json").out)
    # Seven of eight places are padding that no caller observed.
    assert all(0.6 < observer["missing_share"] <= 1 for observer in padded["observers"])


BAD = {
    "a url": (["p0,2024-05-01,http://a.com/x"], [], "row 1, column 'host' holds 'http://a.com/x': it has a scheme"),
    "disorder": (
        [*lines(), "p0,2024-05-01 00:00:00,t1.com"],
        [],
        "row 148, column 'timestamp' holds 2024-05-01 00:00:00",
    ),
    "later": (lines(), ["--now", "2024-05-20"], "later than now, 2024-05-20 00:00:00 UTC"),
    "now": (lines(), ["--now", "tomorrow"], "now (--now) is 'tomorrow'"),
    "no time": ([*lines(), "p0,noon,t1.com"], [], "row 148, column 'timestamp' holds 'noon', which is no time"),
    "empty": ([], [], "the table is empty"),
    "column": (lines(), ["--host-column", "url"], "there is no column 'url' in it"),
    "one user": (lines(users=1), [], "there is 1 user; give at least 2"),
    "short": (lines(weeks=1)[:5], [], "shorter than one epoch of 7 days"),
    "observer": (lines(), ["--observers", "www.b.com"], "observer 'www.b.com' is not a registrable domain"),
    "suffix": (
        lines(),
        ["--observers", "co.uk"],
        "observer 'co.uk' is not a registrable domain: it is a public suffix",
    ),
    "twice": (lines(), ["A.com"], "observer 'A.com' is named twice"),
    "presence": (lines(), ["--presence", "never"], "--presence must be one of always, active, visits, not 'never'"),
    "hosts": (lines(), ["--invalid-hosts", "drop"], "--invalid-hosts must be"),
    "window alone": (lines(), ["--window", 2], "--window has no effect with --presence always; add --presence visits"),
    "rule alone": (lines(), ["--noise-rule", "original"], "--noise-rule is a choice of browsers; add --by-the-spec"),
    "digits": (lines(), ["--now", "1715000000"], "later than now, 2024-05-06 12:53:20 UTC"),
    "long": (lines(), ["--epoch-days", 1e9], "epoch_days must be a number from 1/86,400 (one second) to 730,000 days"),
    "rule": (lines(), ["--noise-rule", "new"], "--noise-rule must be one of observed, original, not 'new'"),
    "overlap": (lines(), ["--by-the-specification", "--step-days", 3], "by the specification epochs have 7 days"),
    "shown": (lines(), ["--by-the-specification", "--window", 2], "by the specification a visit shows 3 epochs"),
    "start": (lines(), ["--start", "2025-01-01"], "begins at 2025-01-01 00:00:00 UTC, after the last visit"),
    "noise": (lines(), ["--noise", 1.5], "noise is a probability from 0 to 1"),
    "top k": (lines(), ["--top-k", 9], "top_k must be a whole number from 1 to the 8"),
    "window": (
        lines(),
        ["--presence", "visits", "--window", 0],
        "window must be a whole number of epochs, at least 1, not 0",
    ),
    "days": (
        lines(),
        ["--epoch-days", 0],
        "epoch_days must be a number from 1/86,400 (one second) to 730,000 days, not 0",
    ),
    "seed": (lines(), ["--seed", -1], "seed must be a whole number"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_leaves_nothing(case, reidrisk, table, lists, tmp_path):
    rows, options, message = BAD[case]
    file = table("visits.csv", "\n".join(["user,timestamp,host", *rows]) + "\n")
    done = reidrisk("simulate", "topics", "--histories", file, *lists, "--observers", "a.com", *options)
    assert done.code == 2, done.err
    assert message in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "seen").exists()


def test_damaged_files_and_bad_folders_are_one_line(reidrisk, table, visits, lists, monkeypatch):
    command = ["simulate", "topics", *lists, "--observers", "a.com", "--histories"]
    for name, content, message in [
        ("visits.parquet", b"PAR1 and then nothing", "cannot be read as Parquet"),
        ("visits.xlsx", b"", "the ending '.xlsx' is not known"),
    ]:
        done = reidrisk(*command, table(name, content))
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert message in done.err
    assert "there is no such file" in reidrisk(*command, "nothing.csv").err
    in_the_way = table("file", "x")
    done = reidrisk(*command, visits, "--out", in_the_way)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "file is a file; give a folder" in done.err
    classified = []
    monkeypatch.setattr(topics, "read_histories", lambda *given: classified.append(given))
    for folder in ("file/below", "/proc/none/below"):
        done = reidrisk(*command, visits, "--out", folder)
        assert (done.code, done.err.count("\n"), classified) == (2, 1, []), "found before the long job"
        assert f"cannot write into {folder}: " in done.err
        assert "; give a" in done.err


def test_without_the_extra_the_install_command_is_named(reidrisk, visits, lists, monkeypatch):
    monkeypatch.setitem(sys.modules, "publicsuffixlist", None)
    done = reidrisk("simulate", "topics", "--histories", visits, *lists, "--observers", "a.com")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert 'pip install ".[topics]"' in done.err


def test_the_menu_is_shown_without_a_command(reidrisk):
    assert "topics" in reidrisk("simulate").out
