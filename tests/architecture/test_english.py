"""Phrases that a native reader stumbles over stay out of help, documentation and docstrings."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "Makefile",
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "src").rglob("*.py"),
    *(ROOT / "src").rglob("*.toml"),
    *(ROOT / "studies" / "reidrisk_studies").rglob("*.py"),
    *(ROOT / "benchmarks").glob("*.py"),
    *(ROOT / "examples").glob("*.py"),
]
PHRASES = {
    "when missing": "default: …",
    "unless told": "by default",
    "so many": "this many, or the number",
    "a user and epoch": "per user and epoch",
    "had by nobody": "that nobody has",
    "is so beyond chance": "is statistically significant",
    "is beyond doubt": "is significant after Bonferroni",
    "not beaten in both": "Pareto-optimal",
    "A no is the first sentence": "a failure is said first",
    "(as|is) told (in|below|above)": "described",
    "(bits|bytes|browser|column|number|row) an? (cell|epoch|person|query|record|slot|token|user|week)": "… per user",
}


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_is_not_used(phrase):
    wrong = re.compile(rf"(?<![\w-]){phrase}\b", re.IGNORECASE)
    found = [path.relative_to(ROOT) for path in TEXTS if wrong.search(path.read_text("utf-8"))]
    assert not found, f"write {PHRASES[phrase]!r}"
