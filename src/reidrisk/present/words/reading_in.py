"""Sentences about how two tables were read: the vocabulary, the dates, who is in both."""

from reidrisk.base.notes import Note
from reidrisk.present.terms import Terms
from reidrisk.present.words.register import Assumed, say, says
from reidrisk.present.words.risk import how_many

CHECK = "If this does not hold, the rates are about something else: check it first."
"""What follows where something that was understood of a table is not so."""


@says("vocabulary-from-data")
def _vocabulary(note: Note, terms: Terms) -> Assumed:
    where = "the two tables" if note["tables"] == 2 else "the table"
    taken = f"up to the largest that occurs in {where}" if note["numbers"] else f"that occur in {where}"
    return Assumed(
        f"The vocabulary was taken from the {terms.items} {taken} ({note['n']:,}); give its full size with n_tokens if "
        "the system has more.",
        CHECK,
    )


say(
    {
        "rows-are-people": ("Neither table names its {people}; row i of one is taken to be row i of the other.", CHECK),
        "lengths-differ": (
            "Neither table names its {people} and their lengths differ; who is who is not known.",
            CHECK,
        ),
        "nobody-in-common": (
            "The two tables have no id in common; who is who is known from a file of true pairs or not at all.",
            CHECK,
        ),
        "dates-read": ("The {periods} of {name} were read as dates with the {first} first, as {proof} shows.", CHECK),
    }
)


@says("without-pair")
def _without_pair(note: Note, terms: Terms) -> Assumed:
    return Assumed(
        f"Of {note['of']:,} {terms.records} to identify, {how_many(note)} have no true pair and are "
        f"taken to be nobody among the known {terms.records}.",
        CHECK,
    )


@says("in-one-table-only")
def _in_one(note: Note, terms: Terms) -> Assumed:
    known, asked = (how_many(note, which) for which in ("targets", "queries"))
    return Assumed(
        f"Known {terms.records} without a counterpart, which are distractors: {known}. {terms.records.capitalize()} to "
        f"identify of nobody among the known, so that any link of them is wrong: {asked}.",
        CHECK,
    )
