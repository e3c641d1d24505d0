"""Every code of a note in the package and its studies has a sentence, and every sentence a code that is used."""

import ast
from pathlib import Path

import reidrisk
from reidrisk.present import words

SOURCES = (Path(reidrisk.__file__).parent, Path(__file__).parents[3] / "studies" / "reidrisk_studies")


def used_codes():
    for path in (path for source in SOURCES for path in source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Note" and node.args:
                code = node.args[0]
                assert isinstance(code, ast.Constant), f"{path}:{node.lineno}: write the code of a note as text"
                yield code.value


def test_codes_and_sentences_belong_together():
    assert set(used_codes()) == words.codes()
