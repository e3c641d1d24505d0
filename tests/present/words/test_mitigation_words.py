"""What is said of changes that were made to records."""

import pytest

from reidrisk.base.notes import Note
from reidrisk.present import words
from reidrisk.present.terms import Terms

SHOP = Terms(person="customer", item="article", period="week")


@pytest.mark.parametrize(
    ("note", "said"),
    [
        (
            Note("change-made", change="rotate:4", side="queries"),
            "The records to identify were changed before they were compared: rotate:4.",
        ),
        (
            Note("change-made", change="draw:0.5", side="both"),
            "The records of both sides were changed before they were compared: draw:0.5.",
        ),
        (
            Note("taxonomy-misses", n=3, of=1_200),
            "The taxonomy misses 3 of 1,200 articles; they count as ‘other’, and stay what they are where "
            "others are merged into parents.",
        ),
        (
            Note("people-dropped", n=15, of=60),
            "Of 60 customers, the 15 most exposed were left out, by a rule that the other half taught; the rate is of "
            "those of this half who are still released.",
        ),
    ],
)
def test_sentences_about_changes(note, said):
    assert words.sentence(note, SHOP) == said
