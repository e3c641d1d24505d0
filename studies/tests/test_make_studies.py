"""`make studies` goes on where data is missing or a study fails, and fails only for the latter."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import reidrisk_studies as studies

ROOT = Path(__file__).parents[2]

FAKE = """#!/bin/sh
echo "$@" >> {log}
case "$*" in
  *"study list --missing"*) echo "floc-chrome: its file is missing." ;;
  *{fails}*) exit 2 ;;
esac
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(("fails", "code"), [("nothing", 0), ("jha-fig2", 2)])
def test_every_run_is_begun_and_what_is_missing_is_listed_at_the_end(tmp_path, fails, code):
    programs = tmp_path / "venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").touch()
    (tmp_path / "venv" / ".studies").touch()
    fake, log = programs / "reidrisk", tmp_path / "log"
    fake.write_text(FAKE.format(log=log, fails=fails))
    fake.chmod(0o755)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", "-f", str(ROOT / "Makefile"), "studies", f"VENV={tmp_path / 'venv'}"]
    done = subprocess.run(command, cwd=ROOT, env=clean, capture_output=True, text=True, timeout=60, check=False)
    calls = log.read_text().splitlines()
    assert done.returncode == code, done.stderr
    assert {word for call in calls for word in call.split()} >= {n for n in studies.STUDIES if not n.endswith("-full")}
    assert all("--skip-missing" in call for call in calls if call.startswith("study run"))
    assert calls[-1] == "study list --missing"
    assert "floc-chrome: its file is missing." in done.stdout
    assert ("jha-fig2" in done.stdout.splitlines()[-1]) == bool(code)
