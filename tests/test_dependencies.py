"""What is declared is used, what is used is pinned, and every pin has its hashes."""

import ast
import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
STUDIES = tomllib.loads((ROOT / "studies" / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


def pins(name):
    found = PINNED.findall((ROOT / name).read_text())
    assert len({canonicalize_name(name) for name, _ in found}) == len(found)
    return {canonicalize_name(name): version for name, version in found}


def asked_for():
    """Return every requirement of the core and of every extra."""
    extras = [text for name, texts in EXTRAS.items() if name != "all" for text in texts]
    of_studies = [
        *STUDIES["dependencies"],
        *(text for texts in STUDIES["optional-dependencies"].values() for text in texts),
    ]
    asked = map(Requirement, (*PROJECT["dependencies"], *extras, *of_studies))
    return [wanted for wanted in asked if wanted.name != PROJECT["name"]]


def used_extras():
    """Return the extras that code names where it imports an optional module."""
    found = set()
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "require" and len(node.args) == 3:
                found |= {node.args[1].value} if isinstance(node.args[1], ast.Constant) else set()
    return found


def test_extras_are_those_that_code_uses():
    assert set(EXTRAS) - {"all", "dev"} == used_extras() - {"dev"}


def test_both_distributions_have_one_version():
    assert STUDIES["version"] == PROJECT["version"]
    asked = [Requirement(text) for text in STUDIES["dependencies"]]
    assert [(wanted.name, wanted.extras) for wanted in asked] == [(PROJECT["name"], {"report"})]
    assert asked[0].specifier.contains(PROJECT["version"])


def test_all_is_every_extra_for_users():
    (whole,) = map(Requirement, EXTRAS["all"])
    # Spark weighs half a gigabyte and needs Java: whoever has a cluster asks for it.
    assert (whole.name, whole.extras) == (PROJECT["name"], set(EXTRAS) - {"all", "dev", "spark"})


@pytest.mark.parametrize("wanted", asked_for(), ids=str)
def test_what_is_asked_for_is_pinned_within_its_range(wanted):
    version = pins("constraints.txt")[canonicalize_name(wanted.name)]
    assert wanted.specifier.contains(version)


def test_what_installed_packages_need_is_pinned_too():
    known = pins("constraints.txt")
    waiting = [(canonicalize_name(wanted.name), frozenset(wanted.extras)) for wanted in asked_for()]
    seen = set()
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        assert name in known, name
        try:
            needs = distribution(name).requires or []
        except (
            PackageNotFoundError
        ):  # an extra that is not among those for development; the lock file holds its packages
            continue
        for need in map(Requirement, needs):
            if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in extras or {""}):
                waiting.append((canonicalize_name(need.name), frozenset(need.extras)))
    assert len(seen) > 60


def test_constraints_and_lock_agree():
    assert pins("constraints.txt") == pins("requirements.lock")


def test_every_package_of_the_lock_has_hashes_and_no_source():
    text = "\n".join(line for line in (ROOT / "requirements.lock").read_text().splitlines() if not line.startswith("#"))
    entries = re.split(r"\n(?=\S)", text.strip())
    assert len(entries) == len(pins("requirements.lock"))
    for entry in entries:
        lines = [line.rstrip(" \\").strip() for line in entry.splitlines()]
        assert PINNED.match(lines[0]), lines[0]
        assert len(lines) > 1, lines[0]
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", line) for line in lines[1:]), lines[0]
    assert "://" not in text


def test_what_a_clone_is_installed_with_is_in_the_source_distribution():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    included = project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {"constraints.txt", "requirements.lock", "SECURITY.md"} <= set(included)
    assert all((ROOT / name).exists() for name in included)
