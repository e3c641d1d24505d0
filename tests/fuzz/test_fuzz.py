"""Whatever a file holds, a command ends with exit 0 to 3 and printable text, one line of it where it refuses."""

import importlib
import inspect
import os
import pkgutil
import random
import re
import shutil
from pathlib import Path

import pytest
import typer.main

import reidrisk
import reidrisk_studies
from fuzz.case import enter, fault, prepared
from fuzz.corpus import make_corpus
from fuzz.doors import DOORS
from fuzz.drive import drive
from fuzz.mutate import fitting
from reidrisk.cli.app import app

PACKAGES = (reidrisk, reidrisk_studies)
SEED, CASES = 20_240_501, 600  # `make fuzz` tries ten thousand

pytest.importorskip("torch", reason="torch is not installed; releases need it")
pytest.importorskip("altair", reason="altair is not installed; reports need it")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    make_corpus(folder)
    return folder


@pytest.fixture(scope="module")
def driven(corpus, tmp_path_factory):
    """Go through every door with good files, then with damaged ones; one process loads and compiles for both."""
    return drive(SEED, CASES, corpus, tmp_path_factory.mktemp("failures"), workers=1, doors=DOORS)


def test_damaged_files_end_in_one_printable_line(driven):
    assert driven.cases == CASES
    assert len(driven.codes) > 2, "files are refused, accepted, and fail a gate"
    shown = [f"{wrong['wrong']} ({wrong['door']}; case {wrong['done']})" for wrong in driven.wrong]
    again = f"PYTHONPATH=tests python -m fuzz --seed {SEED} --case ..."
    assert not driven.wrong, "\n".join([f"{len(shown)} cases, see them again with {again}", *shown])


# Not in the package: Chrome's runtime of models. Times of an R file cannot be written from here. No service listens.
REFUSED = (
    "topics --histories visits.csv --taxonomy taxonomy.md --model",
    "HostModel.read",
    "read_panel",
    "bandits serve",
    "bandits attack",
)


@pytest.mark.parametrize("name", DOORS, ids=lambda name: name[:60])
def test_good_files_pass_every_door(driven, name):
    ended = driven.good[name]
    assert fault(ended) is None
    assert (ended.code == 2) == any(part in name for part in REFUSED), ended.err


def readers():
    """Return every function of the package that is named like a reader of files, and every such constructor."""
    found = {}
    names = [info.name for one in PACKAGES for info in pkgutil.walk_packages(one.__path__, f"{one.__name__}.")]
    for module in (importlib.import_module(name) for name in names if not name.endswith("__main__")):
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) != module.__name__ or name.startswith("_"):
                continue
            if inspect.isfunction(value) and re.match(r"(read|open|load|parse)_|from_log$", name):
                found[f"{module.__name__}.{name}"] = value.__code__
            elif inspect.isclass(value):
                for method, bound in inspect.getmembers(value, inspect.ismethod):
                    if re.match(r"(read|load|open)$|from_(chrome|override_list|document)$", method):
                        found[f"{module.__name__}.{name}.{method}"] = bound.__func__.__code__
    return found


def commands(menu, words=()):
    """Return every command by its words."""
    if not hasattr(menu, "commands"):
        return {" ".join(words): menu}
    return {name: leaf for word, sub in menu.commands.items() for name, leaf in commands(sub, (*words, word)).items()}


def test_every_reader_is_behind_a_door(driven):
    # Exports have a fuzzer of their own, which makes their dialects: tests/io/exports/test_door_fuzz.py.
    elsewhere = ("reidrisk.io.exports.", "reidrisk.records.column.")
    known = {name: code for name, code in readers().items() if not name.startswith(elsewhere)}
    assert len(known) > 25
    missed = [name for name, code in known.items() if f"{code.co_filename}:{code.co_firstlineno}" not in driven.ran]
    assert not missed, f"add a door to tests/fuzz/doors.py for {missed}"


def test_every_command_is_behind_a_door():
    known = commands(typer.main.get_command(app))
    assert len(known) > 12
    missed = [words for words in known if not any(door.startswith(f"{words} ") for door in DOORS)]
    assert not missed, f"add a door to tests/fuzz/doors.py for {missed}"


def test_every_format_is_damaged_as_its_structure_suggests(corpus):
    plain = []
    for file in sorted(corpus.rglob("*.*")):
        change, data = fitting(file.name), file.read_bytes()
        if change is None:
            plain.append(file.name)
            continue
        made = {change(random.Random(number), data) for number in range(60)}
        assert len(made - {data}) > 20, file.name
    assert plain == ["one.example", "own.key", "panel.rds", "service.db"]  # these are only damaged byte by byte


def test_a_case_is_the_same_every_time(corpus, tmp_path):
    for number in range(40):
        seen = []
        for name in ("one", "two"):
            folder = tmp_path / f"{name}-{number}"
            folder.mkdir()
            case = prepared(7, number, corpus, folder)
            seen.append((case, {file: file.is_file() and file.read_bytes() for file in sorted(Path(folder).iterdir())}))
        assert seen[0][0] == seen[1][0]
        assert list(seen[0][1].values()) == list(seen[1][1].values())


WRONG = {
    "1 / 0": "ZeroDivisionError",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "import sys; print('reidrisk: \\x1b[31m', file=sys.stderr); sys.exit(2)": "unprintable",
    "import sys; print('reidrisk: a\\nb', file=sys.stderr); sys.exit(2)": "not one line",
    "import sys; print('reidrisk: this is a bug', file=sys.stderr); sys.exit(70)": "exit 70",
    "print('\\ud800')": "UnicodeEncodeError",
}


@pytest.mark.parametrize("code", WRONG)
def test_bugs_and_unprintable_lines_are_noticed(monkeypatch, code):
    monkeypatch.setattr("reidrisk.cli.main", lambda words: exec(code, {}))
    assert fault(enter(DOORS["study list --json"], ("study", "list"))).startswith(WRONG[code])


@pytest.mark.parametrize(
    ("code", "wrong"),
    [("import ctypes; ctypes.string_at(0)", "killed by signal 11"), ("import time; time.sleep(60)", "hang")],
)
def test_crashes_and_hangs_are_noticed(corpus, tmp_path, monkeypatch, code, wrong):
    # Python loads this when the worker starts: every command crashes or hangs.
    (tmp_path / "sitecustomize.py").write_text(
        f"import reidrisk.cli\ndef main(words): exec({code!r}, {{}})\nreidrisk.cli.main = main\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    for limit in ("HANG", "_LOADING"):
        monkeypatch.setattr(f"fuzz.drive.{limit}", 6.0)
    number = next(n for n in range(100) if "gate" in door_of(corpus, tmp_path / "try", n))
    found = drive(7, 1, corpus, tmp_path / "failures", workers=1, first=number)
    assert [answer["wrong"] for answer in found.wrong] == [wrong]
    assert (tmp_path / "failures" / f"7-{number}" / "CASE.txt").read_text().rstrip().endswith(wrong)


def door_of(corpus, folder, number):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return prepared(7, number, corpus, folder).door.name
