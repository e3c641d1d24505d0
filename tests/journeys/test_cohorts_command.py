"""From visits to cohorts, and from cohorts to a blocklist."""

import json

import numpy as np
import polars as pl
import pytest

from reidrisk import cohorts, io

KNOWN = ["nikkei.com", "hatenablog.com", "nikkansports.com", "yahoo.co.jp", "sponichi.co.jp", "cnn.co.jp"]
KNOWN += ["floc.glitch.me", "ohtsu.org"]
PUBLIC = ("--public-rule", "the number of the user, modulo 4")
CATEGORIES = "host,category\nclinic.org,health\nclinic.org,drugs\nvote.org,politics\n"


@pytest.fixture
def visits(table):
    """40 users of 8 sites each; those of group 1 all went to the clinic."""
    rows = [f"u{u},site-{u % 4}-{i}.org" for u in range(40) for i in range(8)]
    rows += [f"u{u},clinic.org" for u in range(1, 40, 4)] + [f"u{u},vote.org" for u in range(0, 40, 10)]
    return table("visits.csv", "user,host\n" + "\n".join(rows) + "\n")


@pytest.fixture
def assignment(table):
    return table("cohorts.csv", "user,cohort\n" + "".join(f"u{u},{u % 4}\n" for u in range(40)))


@pytest.fixture
def categories(table):
    return table("categories.csv", CATEGORIES)


def test_the_cohort_seen_in_chrome(reidrisk, table, tmp_path):
    # A table of one cohort for each value of the highest bit: SimHash 779363756518407 lies in the upper half.
    cohorts.SortingLSH([49, 49]).write(tmp_path / "clusters")
    visits = table("visits.csv", "user,host\n" + "".join(f"ann,{host}\n" for host in KNOWN) + "bob,a.org\n")
    done = reidrisk("cohorts", "assign", visits, "--table", "clusters", "--out", "cohorts.csv")
    assert done.code == 0, done.err
    assert (tmp_path / "cohorts.csv").read_text() == "user,cohort\nann,1\nbob,-1\n"


def test_from_visits_to_a_blocklist_and_a_page(reidrisk, visits, categories, tmp_path):
    done = reidrisk("cohorts", "assign", visits, "--min-size", 5, "--out", "cohorts.parquet", "--save-table", "fitted")
    assert done.code == 0, done.err
    made = pl.read_parquet(tmp_path / "cohorts.parquet")
    assert made["cohort"].value_counts()["count"].min() >= 5
    assert len(cohorts.SortingLSH.from_chrome(tmp_path / "fitted")) > made["cohort"].max()
    assert made["cohort"].n_unique() == 4, "four groups of people, one cohort each"
    done = reidrisk("cohorts", "audit", "cohorts.parquet", visits, categories, "--blocklist", "list.json",
                    "--out", "page.html", "--json")  # fmt: skip
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["summary"]["n_users"] == 40
    assert sum(document["gaps"]["cohorts"]) == document["summary"]["n_cohorts"]
    published = (tmp_path / "list.json").read_text()
    assert set(json.loads(published)) == {"cohorts", "t", "rule"}
    assert not any(word in published for word in ("health", "drugs", "politics", "clinic"))
    page = (tmp_path / "page.html").read_text()
    assert "Internal" in page
    assert "reidrisk cohorts audit cohorts.parquet" in page


def test_gaps_known_by_hand(reidrisk, assignment, visits, categories):
    done = reidrisk("cohorts", "audit", assignment, visits, categories, "--worst", 2, "--json")
    worst = json.loads(done.out)["worst"]
    # All ten of cohort 1 and nobody else: 10/10 - 10/40. Both of the clinic's categories have it; the first counts.
    assert (worst[0]["cohort"], worst[0]["category"], worst[0]["gap"]) == (1, "drugs", 0.75)
    # Users 0, 20 of cohort 0 and 10, 30 of cohort 2: 2/10 - 4/40.
    assert worst[1]["gap"] == pytest.approx(0.1)
    assert worst[1]["status"] == "not sensitive"


def test_a_claim_that_no_cohort_is_sensitive_is_checked_by_exit_code(reidrisk, assignment, visits, categories):
    for options, code in (((), 0), (("--gate",), 1), (("--gate", "--t", 0.9), 0)):
        assert reidrisk("cohorts", "audit", assignment, visits, categories, *options).code == code


def test_the_command_to_run_again_keeps_what_was_asked_for(reidrisk, assignment, visits, categories, tmp_path):
    pytest.importorskip("altair")
    done = reidrisk("cohorts", "audit", assignment, visits, categories, "--worst", 0, "--out", "page.html")
    assert done.code == 0, done.err
    assert "--worst 0</code>" in (tmp_path / "page.html").read_text()


def test_the_table_for_people_shows_what_json_holds(reidrisk, assignment, visits, categories):
    done = reidrisk("cohorts", "audit", assignment, visits, categories)
    assert done.code == 0, done.err
    found = json.loads(reidrisk("cohorts", "audit", assignment, visits, categories, "--json").out)["summary"]
    assert (found["n_cohorts"], found["sensitive"], found["beyond_chance"]) == (4, 1, 1)
    assert all(word in done.out for word in ("25 %", "drugs"))


@pytest.mark.parametrize("model", ["central", "local"])
def test_a_private_audit_says_what_it_protects(reidrisk, assignment, visits, categories, model):
    options = ["--private", "--epsilon", 1, "--n-cohorts", 4, "--model", model, "--json", *PUBLIC]
    options += ["--delta", 1e-6] if model == "central" else []
    done = reidrisk("cohorts", "audit", assignment, visits, categories, *options)
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["statement"]["epsilon"] == 1.0
    assert not document["statement"]["simulation"]
    assert document["covered_visits"] is None, "an exact share would not be protected"
    assert document["empty_cohort"] is None
    spec = cohorts.CohortSpec.model_validate(document["spec"])
    assert (spec.noise.model, spec.noise.epsilon, spec.n_cohorts) == (model, 1.0, 4)
    assert cohorts.CohortAudit.from_dict(document).to_dict() == document


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("simulation", [(), ("--simulation",)])
def test_cohorts_fitted_to_the_same_users_are_not_measured_privately(
    reidrisk, visits, categories, tmp_path, ending, simulation
):
    """One user moves nearly everybody there; those of a table made without them are measured, and it is named."""
    file = f"cohorts.{ending}"
    assert reidrisk("cohorts", "assign", visits, "--min-size", 5, "--out", file).code == 0
    options = ["--private", "--epsilon", 1, "--delta", 1e-6, "--n-cohorts", 16, "--json", *simulation]
    options += ["--public-rule", "four equal parts"]
    done = reidrisk("cohorts", "audit", file, visits, categories, *options)
    assert done.code == 2
    assert "fitted to these very users" in done.err
    assert reidrisk("cohorts", "audit", file, visits, categories).code == 0, "without noise nothing is promised"
    cohorts.SortingLSH([48] * 4).write(tmp_path / "public")
    assert reidrisk("cohorts", "assign", visits, "--table", "public", "--out", file).code == 0
    done = reidrisk("cohorts", "audit", file, visits, categories, *options)
    assert done.code == 0, done.err
    public = json.loads(done.out)["statement"]["taken_as_public"]
    assert any("four equal parts" in what for what in public)


def test_a_saved_fitted_table_stays_fitted(reidrisk, visits, categories, tmp_path):
    fit = ["cohorts", "assign", visits, "--min-size", 5, "--out", "own.csv", "--save-table", "fitted.tbl"]
    options = ["--private", "--epsilon", 1, "--delta", 1e-6, "--n-cohorts", 16, "--simulation", "--public-rule", "ours"]
    again = ["cohorts", "assign", visits, "--out", "again.csv", "--table"]
    assert reidrisk(*fit).code == 0
    assert reidrisk(*again, "fitted.tbl", "--save-table", "copy.tbl").code == 0
    assert cohorts.fitted_to_users(tmp_path / "again.csv")
    assert reidrisk("cohorts", "audit", "again.csv", visits, categories, *options).code == 2
    assert reidrisk(*again, "copy.tbl").code == 0
    assert cohorts.fitted_to_users(tmp_path / "again.csv")
    assert cohorts.SortingLSH.from_chrome(tmp_path / "copy.tbl").with_blocked([0]).fitted
    text = (tmp_path / "again.csv").read_text()
    (tmp_path / "again.csv").write_text(text.replace("cohort,rule", "cohort,Rule"))
    assert reidrisk("cohorts", "audit", "again.csv", visits, categories, *options).code == 2
    cohorts.SortingLSH([48] * 4).write(tmp_path / "fitted.tbl")
    assert reidrisk(*again, "fitted.tbl").code == 0
    assert not cohorts.fitted_to_users(tmp_path / "again.csv"), "another table took its place"


def test_a_private_audit_of_few_users_says_that_it_is_too_noisy(reidrisk, assignment, visits, categories, tmp_path):
    options = ["--private", "--epsilon", 0.1, "--delta", 1e-9, "--n-cohorts", 3_000, "--out", "page.html", *PUBLIC]
    done = reidrisk("cohorts", "audit", assignment, visits, categories, *options, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)["summary"]
    assert found["hidden"]
    assert "k" in found["too_noisy"]
    assert (tmp_path / "page.html").exists()


def test_a_table_of_other_hosts_is_refused_but_for_private_counts(reidrisk, assignment, visits, table):
    other = table("categories.csv", "host,category\nwww.clinic.org,health\n")
    done = reidrisk("cohorts", "audit", assignment, visits, other)
    assert done.code == 2
    assert "none of the 1 listed hosts occurs in the visits" in done.err
    options = ["--private", "--epsilon", 1, "--delta", 1e-6, "--n-cohorts", 4, "--json", *PUBLIC]
    done = reidrisk("cohorts", "audit", assignment, visits, other, *options)
    assert done.code == 0, done.err
    assert json.loads(done.out)["unseen_categories"] is None
    some = table("categories.csv", "host,category\nCLINIC.org,health\nnowhere.org,religion\n")
    found = json.loads(reidrisk("cohorts", "audit", assignment, visits, some, "--json").out)
    assert found["unseen_categories"] == ["religion"]
    assert found["covered_visits"] == pytest.approx(10 / 334)


def test_a_cohort_a_week_is_a_trace(reidrisk, tmp_path):
    rng = np.random.default_rng(0)
    rows = [(f"u{u}", f"s{s}.org", w) for w in (3, 1, 2) for u in range(60) for s in rng.integers(0, 50, 12)]
    pl.DataFrame(rows, schema=["user", "host", "number"], orient="row").write_parquet(tmp_path / "visits.parquet")
    done = reidrisk("cohorts", "assign", "visits.parquet", "--min-size", 10, "--week-column", "number", "--out",
                    "weeks.parquet", "--json")  # fmt: skip
    assert done.code == 0, done.err
    traces = io.read_traces(tmp_path / "weeks.parquet")
    assert traces.tokens.shape == (60, 3)
    for week in traces.tokens.T:
        assert cohorts.k_anonymity(week) >= 10
    assert [row["smallest"] >= 10 for row in json.loads(done.out)["weeks"]] == [True] * 3
    done = reidrisk("audit", "weeks.parquet", "weeks.parquet", "--attack", "hamming", "--json")
    assert done.code == 0, done.err


def test_weeks_with_a_gap_are_not_made_neighbours(reidrisk, table):
    rows = [f"u{u},s{i}.org,{week}" for week in (0, 2) for u in range(5) for i in range(8)]
    visits = table("visits.csv", "user,host,week\n" + "\n".join(rows) + "\n")
    done = reidrisk("cohorts", "assign", visits, "--min-size", 1, "--week-column", "week", "--out", "weeks.parquet")
    assert done.code == 2
    assert "weeks 0 and 2 but none between" in done.err


def test_cohorts_written_as_decimals_are_read(reidrisk, visits, categories, table):
    rows = "".join(f"u{u},{'' if u % 2 else f'{u % 4}.0'}\n" for u in range(40))
    done = reidrisk("cohorts", "audit", table("cohorts.csv", "user,cohort\n" + rows), visits, categories, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["summary"]["n_without"] == 20
    wrong = table("cohorts.csv", "user,cohort\n" + rows.replace("0.0", "0.5"))
    assert "is '0.5'" in reidrisk("cohorts", "audit", wrong, visits, categories).err


def test_hosts_without_a_registrable_domain(reidrisk, table):
    pytest.importorskip("publicsuffixlist")
    visits = table("visits.csv", "user,host\nann,www.a.org\nann,10.0.0.1\nann,localhost\nann,mail.b.org\n")
    options = ["--min-size", 1, "--min-domains", 2, "--out", "cohorts.csv", "--registrable"]
    done = reidrisk("cohorts", "assign", visits, *options)
    assert done.code == 2
    assert "10.0.0.1" in done.err
    assert "IP address" in done.err
    assert "--invalid-hosts drop" in done.err
    done = reidrisk("cohorts", "assign", visits, *options, "--invalid-hosts", "drop", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["dropped_visits"] == 2


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("categories.csv", "host,category\n,health\n", "the category 'health' has no host"),
        ("categories.csv", "host,category\nclinic.org,\n", "names no category"),
        ("categories.csv", "host,category\n", "no rows"),
        ("categories.csv", "site,category\nclinic.org,health\n", "'host' or 'token'"),
        ("categories.csv", "token,category\nclinic.org,health\n", "need the columns 'host'"),
        ("cohorts.csv", "user,cohort\nu0,1\n", "has visits but is not among users"),
        ("cohorts.csv", "user,cohort\nu0,1\nu0,2\n", "in two cohorts"),
        ("cohorts.csv", "user,cohort\nu0,one\n", "the cohort of user 'u0' is 'one'"),
        ("cohorts.csv", "user,cohort\nu0,-3\n", "'-3'"),
        ("cohorts.csv", "user,group\nu0,1\n", "no column 'cohort'"),
        ("visits.csv", "user,host\nu0,\n", "row 0 has no host"),
    ],
)
def test_bad_tables_are_named_in_one_line(reidrisk, assignment, visits, categories, table, name, text, message):
    table(name, text)
    done = reidrisk("cohorts", "audit", assignment, visits, categories)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


def test_users_without_a_cohort_count_in_the_population(reidrisk, visits, categories, table):
    rows = "".join(f"u{u},{'' if u % 2 else u % 4}\n" for u in range(40))
    done = reidrisk("cohorts", "audit", table("cohorts.csv", "user,cohort\n" + rows), visits, categories, "--json")
    assert done.code == 0, done.err
    summary = json.loads(done.out)["summary"]
    assert (summary["n_users"], summary["n_without"], summary["n_cohorts"]) == (40, 20, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--n-cohorts", 3], "cohort 3 of user 3 is unknown"),
        (["--t", 0], "t must lie strictly between 0 and 1"),
        (["--rule", "most"], "--rule must be"),
        (["--private"], "needs --epsilon"),
        (["--private", "--epsilon", 1], "needs --n-cohorts"),
        (["--private", "--epsilon", 1, "--n-cohorts", 4], "needs --delta"),
        (["--private", "--epsilon", 1, "--n-cohorts", 4, "--model", "local", "--delta", 1e-6], "--model local"),
        (["--private", "--epsilon", 1, "--n-cohorts", 4, "--delta", 1e-6], "needs --public-rule"),
        (["--private", "--epsilon", 1, "--n-cohorts", 4, "--delta", 1e-6, "--public-rule", " "], "needs --public-rule"),
        (["--epsilon", 1], "add --private"),
        (["--public-rule", "Chrome's"], "add --private"),
        (["--simulation"], "add --private"),
        (
            [
                *("--private", "--epsilon", 1, "--n-cohorts", 4, "--delta", 1e-6),
                *PUBLIC,
                "--simulation",
                "--blocklist",
                "l.json",
            ],
            "protects nobody",
        ),
        (["--worst", -1], "worst must be"),
        (["--blocklist", "visits.csv"], "also an input"),
        (["--out", "page.txt"], ".html"),
    ],
)
def test_bad_options_of_an_audit(reidrisk, assignment, visits, categories, options, message):
    done = reidrisk("cohorts", "audit", assignment, visits, categories, *options)
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "nothing says which cohorts; give --table"),
        (["--min-size", 5, "--table", "clusters"], "not both"),
        (["--min-size", 5, "--shown"], "--shown needs --table"),
        (["--min-size", 500], "cannot fill a cohort of 500"),
        (["--table", "nowhere"], "nowhere"),
        (["--table", "short"], "add up to"),
        (["--min-size", 5, "--week-column", "week"], "no column 'week'"),
        (["--min-size", 5, "--week-column", "host"], "'host' cannot number the weeks"),
        (["--min-size", 5, "--week-column", "user"], "'user' cannot number the weeks"),
        (["--min-size", 0], "--min-size must be at least 1"),
    ],
)
def test_bad_options_of_an_assignment(reidrisk, visits, table, options, message):
    table("short", bytes([49]))
    done = reidrisk("cohorts", "assign", visits, "--out", "cohorts.csv", *options)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
