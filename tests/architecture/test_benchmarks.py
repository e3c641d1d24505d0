"""`make bench` knows every benchmark, goes on where one fails, and fails then."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_every_benchmark_is_run_with_options_that_it_has():
    known = runpy.run_path(str(BENCHMARKS / "__main__.py"))["SMALLER"]
    assert list(known) == sorted(file.stem for file in BENCHMARKS.glob("*.py") if file.name != "__main__.py")
    for name, options in known.items():
        text = (BENCHMARKS / f"{name}.py").read_text(encoding="utf-8")
        for option in re.findall(r"--[a-z-]+", options):
            assert f'"{option}"' in text, f"{name} has no option {option}"


def test_a_benchmark_that_fails_is_named_and_the_next_one_runs(tmp_path):
    (tmp_path / "__main__.py").write_text((BENCHMARKS / "__main__.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "aim.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "bandits.py").write_text("print('measured')\n")
    command = [sys.executable, str(tmp_path), "aim", "bandits"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "measured" in done.stdout
    assert done.stdout.splitlines()[-1] == "== failed: aim (exit 3)"
    assert subprocess.run([*command[:2], "bandits"], capture_output=True, check=False, timeout=60).returncode == 0
