"""Files are written where told, whatever happens to what is printed; nothing that is no file is replaced."""

import json
import os
import stat
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest


def closed(arguments, folder, also_errors=False, unbuffered=False):
    """Run a command whose reader has gone away before the first line; return its exit code."""
    reader, writer = os.pipe()
    os.close(reader)
    errors = writer if also_errors else subprocess.PIPE
    command = [sys.executable, "-m", "reidrisk", *map(str, arguments)]
    environment = os.environ | {"PYTHONUNBUFFERED": "1" if unbuffered else ""}
    try:
        return subprocess.run(
            command, stdout=writer, stderr=errors, cwd=folder, env=environment, timeout=120
        ).returncode
    finally:
        os.close(writer)


def test_an_audit_that_nobody_listens_to_still_writes_its_files(pair, tmp_path):
    quick = ("--attack", "hamming", "--no-what-if")
    code = closed(["audit", *pair, *quick, "--out", "r.html", "--result", "r.json"], tmp_path, also_errors=True)
    assert code == 141
    assert closed(["audit", *pair, *quick, "--json"], tmp_path) == 141
    assert json.loads((tmp_path / "r.json").read_text())["risks"]
    assert (tmp_path / "r.html").read_text().rstrip().endswith("</html>")


@pytest.mark.parametrize(("form", "unbuffered"), [([], False), (["--json"], True)])
def test_a_passed_gate_that_nobody_listens_to_does_not_read_as_failed(reidrisk, crowd, tmp_path, form, unbuffered):
    assert reidrisk("audit", *crowd, "--result", "r.json").code == 0
    assert reidrisk("gate", "r.json", "--max-risk", 1, *form).code == 0
    assert closed(["gate", "r.json", "--max-risk", 1, *form], tmp_path, unbuffered=unbuffered) == 141


@pytest.mark.parametrize("unbuffered", [False, True])
def test_bad_input_that_nobody_hears_of_does_not_read_as_a_failed_gate(tmp_path, unbuffered):
    wrong = ["gate", "missing.json", "--max-risk", 1]
    assert closed(wrong, tmp_path, also_errors=True, unbuffered=unbuffered) == 2


def test_a_gate_answers_where_there_is_no_standard_output_at_all(reidrisk, crowd, tmp_path):
    assert reidrisk("audit", *crowd, "--result", "r.json").code == 0
    shell = f"'{sys.executable}' -m reidrisk gate r.json --max-risk 1 >&-"
    done = subprocess.run(["sh", "-c", shell], cwd=tmp_path, stderr=subprocess.PIPE, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_answer_that_finds_no_room_is_an_error_in_one_line(reidrisk, pair, tmp_path):
    assert reidrisk("audit", *pair, "--result", "r.json").code == 0
    code = (
        "import resource, sys\n"
        "from reidrisk.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "main(['gate', 'r.json', '--max-risk', '1'])"
    )
    with open(tmp_path / "answer", "w") as answer:
        command = [sys.executable, "-c", code]
        buffered = os.environ | {"PYTHONUNBUFFERED": "", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            command, stdout=answer, stderr=subprocess.PIPE, cwd=tmp_path, env=buffered, text=True, timeout=120
        )
    assert (done.returncode, done.stderr) == (2, "reidrisk: File too large\n")


@pytest.fixture
def cohort_tables(table):
    """Forty users in four cohorts; all of the first visit a clinic."""
    assignment = table("cohorts.csv", "user,cohort\n" + "".join(f"u{u},{u % 4}\n" for u in range(40)))
    visits = table("visits.csv", "user,host\n" + "".join(f"u{u},clinic.org\n" for u in range(0, 40, 4)))
    categories = table("categories.csv", "host,category\nclinic.org,health\n")
    return [assignment, visits, categories]


def test_an_audit_of_cohorts_that_nobody_listens_to_still_writes_its_list(cohort_tables, tmp_path):
    assert closed(["cohorts", "audit", *cohort_tables, "--blocklist", "b.json"], tmp_path) == 141
    assert closed(["cohorts", "audit", *cohort_tables, "--gate", "--json"], tmp_path) == 141
    assert json.loads((tmp_path / "b.json").read_text())["cohorts"] == [0]


def test_an_audit_of_cohorts_writes_its_report_before_a_pipe_that_breaks(
    reidrisk, cohort_tables, tmp_path, monkeypatch
):
    reader = deaf(tmp_path / "q")
    much = {"cohorts": ["x" * (1 << 22)]}
    monkeypatch.setattr("reidrisk.cohorts.Blocklist.to_dict", lambda self: much)
    done = reidrisk("cohorts", "audit", *cohort_tables, "--blocklist", "q", "--out", "r.html")
    reader.join(timeout=10)
    assert done.code == 141
    assert (tmp_path / "r.html").exists()
    assert "health" in done.out


def test_files_that_cannot_be_written_do_not_cost_the_answer(reidrisk, pair, monkeypatch):
    from reidrisk import present
    from reidrisk.base.errors import FormatError

    def full(*_):
        raise FormatError("r.html: cannot be written: No space left on device")

    monkeypatch.setattr(present, "write", full)
    done = reidrisk("audit", *pair, "--out", "r.html")
    assert done.code == 2
    assert "Hamming" in done.out
    assert "No space left" in done.err


def deaf(pipe):
    """Make a pipe whose reader takes nothing and goes away as soon as it is opened."""
    os.mkfifo(pipe)
    thread = threading.Thread(target=lambda: os.close(os.open(pipe, os.O_RDONLY)))
    thread.start()
    return thread


def test_a_reader_that_goes_away_costs_neither_the_report_nor_the_answer(reidrisk, pair, tmp_path, monkeypatch):
    reader = deaf(tmp_path / "q")
    # More than a pipe holds: it is written to after its reader has gone, however the two take turns.
    monkeypatch.setattr("reidrisk.cli.output.json", SimpleNamespace(dumps=lambda *_, **__: "x" * (1 << 22)))
    done = reidrisk("audit", *pair, "--result", "q", "--out", "r.html")
    reader.join(timeout=10)
    assert done.code == 141
    assert (tmp_path / "r.html").read_text().rstrip().endswith("</html>")
    assert "Hamming" in done.out


def test_files_come_before_pipes_and_the_first_failure_is_told(tmp_path):
    from reidrisk.base.errors import FormatError
    from reidrisk.cli.output import do_each

    os.mkfifo(tmp_path / "pipe")
    order = []

    def gone(path):
        order.append(path.name)
        raise BrokenPipeError

    def full(path):
        order.append(path.name)
        raise FormatError("no space left")

    with pytest.raises(FormatError, match="no space left"):
        do_each(
            [(tmp_path / "pipe", gone), (None, gone), (tmp_path / "a", full), (tmp_path / "b", full)],
            lambda: gone(tmp_path / "printed"),
        )
    assert order == ["a", "b", "pipe", "printed"]


def test_missing_folders_are_made(reidrisk, pair, tmp_path):
    done = reidrisk("audit", *pair, "--out", "a/b/r.html", "--result", "c/r.json")
    assert done.code == 0, done.err
    assert (tmp_path / "a" / "b" / "r.html").exists()
    assert (tmp_path / "c" / "r.json").exists()
    assert reidrisk("convert", pair[0], "--out", "d/a.parquet").code == 0
    assert (tmp_path / "d" / "a.parquet").exists()


def test_a_pipe_is_written_into_and_stays_one(reidrisk, pair, tmp_path):
    pipe = tmp_path / "p.json"
    os.mkfifo(pipe)
    heard = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    reader.start()
    done = reidrisk("audit", *pair, "--result", pipe)
    reader.join(timeout=10)
    assert done.code == 0, done.err
    assert json.loads(heard[0])["risks"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_devices_take_what_nobody_wants(reidrisk, pair):
    before = os.stat(os.devnull)
    done = reidrisk("audit", *pair, "--out", os.devnull, "--result", os.devnull)
    assert done.code == 0, done.err
    assert os.path.samestat(before, os.stat(os.devnull))


def test_a_write_protected_file_is_refused_before_the_long_job(reidrisk, pair, tmp_path):
    kept = tmp_path / "r.json"
    kept.write_text("mine")
    kept.chmod(0o444)
    done = reidrisk("audit", *pair, "--result", kept)
    assert done.code == 2
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert "write-protected" in done.err
    assert kept.read_text() == "mine"


def test_a_link_that_leads_to_itself_is_refused_before_the_long_job(reidrisk, pair, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    done = reidrisk("audit", *pair, "--result", "loop")
    assert (done.code, done.out) == (2, "")
    assert "the link leads back to itself" in done.err
    assert (tmp_path / "loop").is_symlink()
    assert reidrisk("audit", "loop", pair[1], "--result", "r.json").code == 2
