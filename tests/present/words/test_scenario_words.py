"""What is said of how a case was made."""

import pytest

from reidrisk.base.notes import Note
from reidrisk.present import words
from reidrisk.present.terms import Terms

SHOP = Terms(person="customer", item="article", period="week")


@pytest.mark.parametrize(
    ("note", "said"),
    [
        (
            Note("rows-dropped", of=1_000, dropped=30, user=10, item=20),
            "Of 1,000 rows, 30 were left out: 10 without a customer and 20 without an article.",
        ),
        (
            Note("events-dropped", events=2_000, share=0.25, every="week", pick="first"),
            "One article stands for each week, the first; 25 % of 2,000 events are left out.",
        ),
        (
            Note("split-by-time", share=0.5),
            "The later half of each customer's articles is to be identified; the earlier part is known.",
        ),
        (Note("split-at", at="2024-05-31"), "Events from 2024-05-31 on are to be identified; those before are known."),
        (
            Note("split-by-epochs", known=3, asked=1),
            "Known are the first 3 weeks, to be identified the last 1 week.",
        ),
        (
            Note("split-by-column", column="shop", known="east", asked="west"),
            "Events with east in column shop are known; those with west are to be identified.",
        ),
        (
            Note("split-at-random", share=0.2, apart=True, independent=False),
            "Of each customer's different articles, 20 %, drawn at random, are to be identified; the others are known.",
        ),
        (
            Note("split-at-random", share=0.7, apart=False, independent=True),
            "Each side sees 70 % of a customer's events, drawn at random and independently of the other.",
        ),
        (
            Note("split-vectors", by="time", share=0.5),
            "Of each customer's vectors, the later half is to be identified; the earlier ones are known.",
        ),
        (
            Note("split-vectors", by="random", share=0.2),
            "Of each customer's vectors, 20 %, drawn at random, are to be identified; the others are known.",
        ),
        (
            Note("several-vectors", known=1_200, targets=300, asked=900, queries=290),
            "A record is all vectors that a customer has on one side: 1,200 vectors are in 300 known records, 900 "
            "in 290 to identify.",
        ),
        (
            Note("nothing-on-one-side", unasked=None, left_out=40, of=900, least=20),
            "Of 900 customers, those with nothing to be identified stay as distractors (fewer than 20), and those with "
            "nothing known are left out (40).",
        ),
        (
            Note("knows-facts", facts=4, errors=0.1),
            "The attacker knows 4 articles of a customer, drawn at random from the record; 10 % of what they know is "
            "wrong.",
        ),
        (
            Note("knows-facts", facts=1, errors=0.0, which="first", draws=1),
            "The attacker knows the first 1 article of a customer.",
        ),
        (
            Note("knows-facts", facts=4, errors=0.0, which="rarest", draws=1),
            "The attacker knows those 4 articles of a customer that the fewest others have.",
        ),
        (
            Note("split-between", until="2024-05-31", since="2024-07-01"),
            "Events before 2024-05-31 are known, those from 2024-07-01 on are to be identified; what lies between is "
            "left out.",
        ),
        (
            Note("several-each", queries=70),
            "Each visit is a record of its own to be identified: 70 records, several of which may be of one customer. "
            "Intervals count customers, not visits.",
        ),
        (
            Note("too-few-facts", n=5, of=900, facts=4),
            "Of 900 customers, 5 have fewer than 4 articles and are not looked for; they stay as distractors.",
        ),
        (
            Note("cells-missing", missing=12, of=4_000),
            "Of 4,000 cells, 12 are empty; an empty cell tells neither for nor against a link.",
        ),
        (
            Note("columns-in-one-table", columns=["age", "town"]),
            "Columns of one table alone are left out: age, town.",
        ),
        (
            Note("knows-columns", columns=["age", "town"], errors=0.1),
            "The attacker knows age and town of a customer; 10 % of what they know is wrong.",
        ),
        (
            Note("empty-is-a-value", n=3, of=40),
            "Of 40 customers, 3 have an empty cell in these columns; it counts as a value of its own.",
        ),
        (
            Note("fewer-facts", n=3, of=40, facts=4),
            "Of 40 customers, 3 have fewer than 4 facts and are not asked about.",
        ),
    ],
)
def test_sentences(note, said):
    assert words.sentence(note, SHOP) == said


@pytest.mark.parametrize(
    ("note", "asked"),
    [
        (Note("scenario-two-tables"), "Can customers of one table be found in the other?"),
        (
            Note("scenario-split", by="time"),
            "Can the pseudonyms that customers have in one period be linked to those they have in a later one?",
        ),
        (
            Note("scenario-split", by="random"),
            "Does one part of a customer's record give away whose the other part is?",
        ),
        (
            Note("scenario-split", by="column", column="shop"),
            "Can customers be followed from one side of column shop to the other?",
        ),
        (
            Note("scenario-knows", facts=4, errors=0.0, which="random"),
            "Can somebody who knows four of a customer's articles find the customer?",
        ),
        (
            Note("scenario-knows", facts=1, errors=0.0, which="rarest"),
            "Can somebody who knows the rarest article of a customer find the customer?",
        ),
        (
            Note("scenario-knows", facts=20, errors=0.0, which="first"),
            "Can somebody who knows the first 20 articles of a customer find the customer?",
        ),
        (
            Note("scenario-knows", facts=3, errors=0.0, which="random", columns=["age", "sex", "postcode"]),
            "Can somebody who knows age, sex and postcode of a customer find the customer?",
        ),
    ],
)
def test_questions_are_asked_as_the_reader_would(note, asked):
    assert words.sentence(note, SHOP) == asked
