"""The core installs light and imports lazily; a missing extra is one sentence."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

HEAVY = ("torch", "ray", "sklearn", "scipy", "numba", "polars", "pyarrow", "pydantic", "altair", "typer", "numpy")


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_importing_the_package_loads_nothing_heavy():
    done = python(f"import sys, reidrisk; print([m for m in {HEAVY} if m in sys.modules])")
    assert done.stdout.strip() == "[]", done.stderr


def test_importing_the_package_takes_under_half_a_second():
    code = "import time; t = time.perf_counter(); import reidrisk; print(time.perf_counter() - t)"
    assert min(float(python(code).stdout) for _ in range(3)) < 0.5


def test_the_base_types_do_without_scipy_numba_and_tables():
    code = "import sys; from reidrisk import Traces, Channel, Risk; Traces([[1]], 2); Channel([[1.0]]);"
    done = python(code + f"print([m for m in {HEAVY[:8]} if m in sys.modules])")
    assert done.stdout.strip() == "[]", done.stderr


def test_the_whole_core_does_without_optional_libraries():
    code = "import sys; from reidrisk import attacks, audit, bounds, io, measure, populations, topics;"
    done = python(code + "print([m for m in ('torch', 'ray', 'sklearn', 'altair', 'jinja2') if m in sys.modules])")
    assert done.stdout.strip() == "[]", done.stderr


def test_the_core_requires_no_optional_library():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    core = " ".join(project["dependencies"])
    assert not [name for name in ("torch", "ray", "scikit-learn", "altair") if name in core]


@pytest.mark.parametrize(("module", "extra"), [("altair", "report"), ("vl_convert", "report"), ("jinja2", "report")])
def test_a_missing_extra_is_one_sentence_with_the_install_command(module, extra, tmp_path):
    code = f"""
import sys
sys.modules[{module!r}] = None
from reidrisk.cli import main
main(["demo", "--users", "50", "--epochs", "1", "--out", {str(tmp_path / "r.html")!r}])
"""
    done = python(code)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f'pip install ".[{extra}]"' in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_help_is_quick_and_a_menu_of_jobs():
    done = python(f"import sys; from reidrisk.cli.app import app; print([m for m in {HEAVY[:6]} if m in sys.modules])")
    assert done.stdout.strip() == "[]", done.stderr


def test_the_package_runs_as_the_command_does():
    from reidrisk import __version__

    said = subprocess.run([sys.executable, "-m", "reidrisk", "--version"], capture_output=True, text=True, timeout=120)
    assert said.stdout.split() == ["reidrisk", __version__]
