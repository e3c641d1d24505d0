"""Labels, names of columns and files that try to act on the terminal: every command shows them as they stand."""

import json
import re
import unicodedata
from io import StringIO

import numpy as np
import pytest

from reidrisk import TopSets, Vocabulary, io
from reidrisk.base.foreign import printable
from reidrisk.cli import output
from reidrisk.present import Page, Section, Sentence, Table
from reidrisk.present.console import print_page

HARMLESS = "plain"
HOSTILE = {
    "control characters": "\x1b[31m\x1b]8;;http:e.org\x1b\\x\x9b1m\x07\u202ey",
    "markup": "[link=http:e.org]z[red] :smile: [bold",
    "a closing tag": "[/x]",
}


@pytest.fixture(params=HOSTILE)
def word(request):
    return HOSTILE[request.param]


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    """A narrow one would break the texts over lines."""
    monkeypatch.setenv("COLUMNS", "1000")


@pytest.fixture
def same(reidrisk, tmp_path, word):
    """Run a command with a harmless and with a hostile word; nothing but the word may differ."""

    def check(arguments, code, shown=True):
        """Take ``arguments`` (a function of the word); ``shown`` tells whether the word is on one of the streams."""
        plain = reidrisk(*arguments(HARMLESS))
        done = reidrisk(*arguments(word))
        assert (plain.code, done.code) == (code, code), (plain, done)
        for text in (done.out, done.err):
            acting = {c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf")}
            assert not acting, acting
        assert done.out.count("\n") == plain.out.count("\n")
        assert done.err.count("\n") == plain.err.count("\n")
        if shown:
            written = (printable(word), repr(word)[1:-1])
            assert any(one in done.out + done.err for one in written), (written, done)
        return done

    return check


def pair(table, label="news"):
    cell = '"' + label.replace('"', '""') + '"'
    a = table("a.csv", f"user,epoch_0,epoch_1\nann,{cell},sports\nbob,news,music\ncat,cars,music\ndan,food,food\n")
    b = table("b.csv", f"user,epoch_0,epoch_1\nann,{cell},sports\nbob,cars,music\ncat,news,music\ndan,food,food\n")
    return a, b


def test_audit_of_labels_and_into_files(same, table):
    same(lambda w: ("audit", *pair(table, w), "--seed", 1), 0, shown=False)
    same(lambda w: ("audit", *pair(table), "--seed", 1, "--result", f"{w}.json"), 0)


def test_audit_refuses_a_label_a_column_and_a_file(same, table):
    words = table("words.txt", "news\nsports\nmusic\ncars\nfood\n")
    same(lambda w: ("audit", *pair(table, w), "--vocabulary", words), 2)
    same(lambda w: ("audit", table("c.csv", f'user,"{w}"\nann,1\n'), pair(table)[1]), 2)
    same(lambda w: ("audit", f"{w}.csv", pair(table)[1]), 2)
    same(lambda w: ("audit", *pair(table), "--attack", w), 2)


def test_gate_of_a_result_whose_attack_has_another_name(same, reidrisk, table, tmp_path):
    reidrisk("audit", *pair(table), "--seed", 1, "--attack", "hamming", "--result", "r.json")
    result = json.loads((tmp_path / "r.json").read_text())
    result["spec"]["attacks"] = []  # as of an attack of one's own, which may have any name

    def renamed(name):
        for risk in result["risks"]:
            risk["attack"] = name
        result["descriptions"] = {name: "of one's own"}
        (tmp_path / "r.json").write_text(json.dumps(result))
        return ("gate", "r.json", "--max-risk", 0.99)

    code = reidrisk(*renamed(HARMLESS)).code
    same(renamed, code)


def test_bounds_of_a_matrix_with_names(same, table, tmp_path):
    same(lambda w: ("bounds", table("m.csv", f'"{w}",b\n0.5,0.5\n0.1,0.9\n')), 0, shown=False)
    same(lambda w: ("bounds", table("m.csv", f'a,"{w}"\n0.5,x\n0.1,0.9\n')), 2)
    (tmp_path / "[").mkdir()  # as a path, the closing tag is a file in a folder
    same(lambda w: ("bounds", table(f"{w}.csv", "a,b\n0.5,0.6\n0.1,0.9\n")), 2)


def test_convert(same, table):
    same(lambda w: ("convert", pair(table, w)[0], "--out", f"{w}.parquet"), 0)


@pytest.fixture
def cohort_tables(table):
    rows = [f"u{u},site-{u % 4}-{i}.org" for u in range(40) for i in range(8)]
    rows += [f"u{u},clinic.org" for u in range(1, 40, 4)]
    return (
        table("cohorts.csv", "user,cohort\n" + "".join(f"u{u},{u % 4}\n" for u in range(40))),
        table("visits.csv", "user,host\n" + "\n".join(rows) + "\n"),
    )


def test_cohorts(same, table, cohort_tables):
    assignment, visits = cohort_tables
    same(lambda w: ("cohorts", "assign", visits, "--min-size", 5, "--out", f"{w}.csv"), 0)

    def audit(w):
        return "cohorts", "audit", assignment, visits, table("k.csv", f'host,category\nclinic.org,"{w}"\n')

    same(audit, 0)
    same(lambda w: ("cohorts", "audit", table("c.csv", f'user,cohort\n"{w}",0\n'), *audit(w)[3:]), 2, shown=False)
    same(lambda w: ("cohorts", "audit", table("c.csv", f'user,cohort\n"{w}",x\n'), *audit(w)[3:]), 2)


def test_bandits(same, table):
    def log(w):
        states = (f'"{w}"', "b", "c")
        rows = [f"p{u},{100 * e + u},{states[(e * (1 + e % (u + 2)) + u) % 3]}" for u in range(6) for e in range(30)]
        return table("log.csv", "\n".join(["user,timestamp,state", *rows]) + "\n")

    quick = ("--runs", 6, "--steps", 40, "--releases", 1, "--amounts", "0", "--seed", 1, "--quick")
    same(lambda w: ("bandits", "tradeoff", log(w), *quick, "--strategy", "own"), 0, shown=False)
    same(lambda w: ("bandits", "tradeoff", log(w), "--states", table("s.txt", "b\nc\n")), 2)
    same(lambda w: ("bandits", "tradeoff", log(HARMLESS), "--strategy", w), 2)


def test_release(same, tmp_path):
    pytest.importorskip("torch")
    drawn = np.argsort(np.random.default_rng(0).random((3000, 2, 4)), axis=2)[:, :, :2]

    def measure(w):
        io.write_top_sets(TopSets(drawn, 4, vocabulary=Vocabulary([w, "b", "c", "d"])), tmp_path / "sets.parquet")
        budget = ("--epsilon", 1, "--delta", 1e-6, "--top-k", 2)
        return "release", "measure", "sets.parquet", *budget, "--out", w, "--replace"

    same(measure, 0)
    same(lambda w: ("release", "fit", w, "--out", f"{w}.st", "--types", 2, "--steps", 20), 0)
    same(lambda w: ("release", "sample", f"{w}.st", "--users", 50, "--out", f"{w}-users"), 0)
    same(lambda w: ("release", "fit", f"{w}-no", "--out", "m.st"), 2)


def test_simulate(same, table):
    lists = (
        *("--override-list", table("list.tsv", "domain\ttopics\nt1 com\t1\nt2 com\t2\n")),
        *("--taxonomy", table("taxonomy.md", "| ID | Topic |\n| -- | -- |\n| 1 | /T1 |\n| 2 | /T2 |\n")),
        *("--observers", "a.com", "b.com", "--top-k", 1, "--seed", 1),
    )

    def visits(host="www.t1.com"):
        rows = [f'p{u},2024-05-{day + 1:02d} 12:00:00,"{host}"' for day in range(14) for u in range(3)]
        return "--histories", table("v.csv", "\n".join(["user,timestamp,host", *rows]) + "\n")

    same(lambda w: ("simulate", "topics", *visits(), *lists, "--out", w), 0)
    same(lambda w: ("simulate", "topics", *visits(w + "!"), *lists, "--out", "seen"), 2)


def test_studies_and_the_demo(same):
    same(lambda w: ("study", "list"), 0, shown=False)
    same(lambda w: ("study", "run", w), 2)
    same(lambda w: ("demo", "--write-example", w), 0)


def test_on_a_terminal_too(word):
    written = StringIO()
    screen = type(output.console())(file=written, force_terminal=True, width=1000, color_system="truecolor")
    table = Section("", table=Table((word,), ((word,),), caption=word), console=True)
    print_page(Page("", "", Sentence(f"{word}\n{word}\n"), (table,)), screen)
    text = re.sub(r"\x1b\[[\d;]*m", "", written.getvalue())  # the styles of the table itself
    assert text.count(printable(word)) == 5
    assert f"\n{printable(word)}\\n{printable(word)}\n\n" in text
    assert not any(c != "\n" and unicodedata.category(c) in ("Cc", "Cf") for c in text)
    assert "\x1b[31m" not in written.getvalue()


def test_pages_hold_labels_as_text(reidrisk, table, cohort_tables, tmp_path):
    pytest.importorskip("altair")
    pages = []
    for word in (HARMLESS, "</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b\u202e{{ 7 * 7 }}"):
        kinds = table("k.csv", f'host,category\nclinic.org,"{word}"\n')
        done = reidrisk("cohorts", "audit", *cohort_tables, kinds, "--out", "page.html")
        assert done.code == 0, done.err
        pages.append((tmp_path / "page.html").read_text())
    plain, page = pages
    for tag in ("<script", "<img", "</script"):
        assert page.count(tag) == plain.count(tag)
    assert "&lt;img src=x onerror=alert(2)&gt;\\x1b\\u202e{{ 7 * 7 }}" in page
    assert "\x1b" not in page
    assert "\u202e" not in page
