"""The page of promises names tests that exist."""

import ast
import re

import pytest
from pages import ROOT

NAMED = re.findall(
    r"`((?:studies/)?tests/[\w/]+\.py)(?:::(\w+))?`",
    (ROOT / "docs" / "explanation" / "promises.md").read_text(encoding="utf-8"),
)


def test_every_part_of_the_page_names_tests():
    assert len(NAMED) > 30


@pytest.mark.parametrize(("path", "name"), NAMED, ids=lambda part: part.rpartition("/")[2] if part else "all")
def test_a_promise_has_its_test(path, name):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    if name:
        assert name in functions
    else:
        assert any(function.startswith("test_") for function in functions)
