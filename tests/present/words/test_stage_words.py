"""What a progress bar says: every stage below present is a code that has words, in the reader's terms."""

import ast
from pathlib import Path

import pytest

import reidrisk
from reidrisk.base import Stage
from reidrisk.present.terms import Terms
from reidrisk.present.words.audit import terms_of_spec
from reidrisk.present.words.register import texts
from reidrisk.present.words.stages import stage_said

SOURCE = Path(reidrisk.__file__).parent
TELL = {"begin", "within", "tell", "say", "progress", "report", "Stage", "_progress"}


def below_present():
    for path in SOURCE.rglob("*.py"):
        if path.relative_to(SOURCE).parts[0] not in ("present", "cli", "bench"):
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def told():
    """Yield what is told of progress as text, with its place: the first argument of whoever hears of it."""
    for path, tree in below_present():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in TELL and isinstance(node.args[0], ast.Constant | ast.JoinedStr):
                yield f"{path}:{node.lineno}", node.args[0]


def test_stages_are_codes_with_words():
    # Names of changes, joined by a plus, are no sentence: they stay as they are.
    english = {
        place: ast.unparse(stage)
        for place, stage in told()
        if (isinstance(stage, ast.Constant) and isinstance(stage.value, str) and stage.value not in texts("stages"))
        or (isinstance(stage, ast.JoinedStr) and "mitigations" not in place)
    }
    assert not english


def test_no_words_without_a_stage():
    found = {
        node.value
        for _, tree in below_present()
        for node in ast.walk(tree)
        if isinstance(getattr(node, "value", 0), str)
    }
    assert set(texts("stages")) <= found


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        (Stage("attack-at", attack="Hamming", n=1, axis="epochs"), "Hamming, 1 day"),
        (Stage("attack-at", attack="ProfileBayes", n=8, axis="epochs", every="week"), "Profile Bayes, 8 weeks"),
        (Stage("attack-at", attack="TfIdf", n=1204, axis="items"), "TF-IDF, 1,204 purchases"),
        (Stage("attack-at", attack="Hamming", n=3, axis="columns"), "Hamming, 3 attributes"),
        (Stage("bounds-at", n=2), "bounds, 2 days"),
        (Stage("entropy", said=Stage("bits-found", bits=1.5, seconds=3.2)), "entropy: 1.500 bits per day, 3 s"),
        (Stage("trial-drawn", trial=1, trials=10), "trial 1 of 10: synthetic customers"),
        ("reading-tables", "reading the tables"),
        ("read Chrome's table", "read Chrome's table"),
    ],
)
def test_stages_in_words(stage, said):
    assert stage_said(stage, Terms(person="customer", item="purchase", period="day")) == said


def test_terms_before_anything_is_read():
    assert terms_of_spec({"system": "topics", "inputs": {"kind": "published"}}).period == "week"
    assert terms_of_spec({"inputs": {"reading": {"user": "customer_id", "items": ["product"]}}}).items == "purchases"
    assert terms_of_spec({"inputs": {"reading": None}}) == Terms()
