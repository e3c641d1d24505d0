"""Test modules are imported by their names alone, so each has its own."""

from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1]


def test_no_two_modules_of_tests_have_one_name():
    modules = [*TESTS.rglob("*.py"), *(TESTS.parent / "studies" / "tests").rglob("*.py")]
    names = Counter(path.name for path in modules if path.name not in ("conftest.py", "__init__.py"))
    assert not [name for name, times in names.items() if times > 1]
