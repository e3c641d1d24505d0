"""What was asked and what was read: the questions with their answers, and what became of the files."""

from dataclasses import replace

from reidrisk.audit import AuditResult
from reidrisk.audit.steps import beyond, taken
from reidrisk.present import Section, Table, Terms, words
from reidrisk.present.sections.audit import growth
from reidrisk.present.words.audit import along
from reidrisk.present.words.frequencies import capital, in_words, interval
from reidrisk.present.words.gate import periods_used
from reidrisk.present.words.risk import linked_by
from reidrisk.present.words.scenarios import number
from reidrisk.present.words.verdict import verdict

READ = (
    "understood-as",
    "export-read",
    "people-read",
    "counts-read",
    "columns-known-outside",
    "rows-dropped",
    "bad-rows",
    "labels-alike",
    "labels-merged",
    "places-on-grid",
    "cells-missing",
    "columns-in-one-table",
    "events-dropped",
    "zeros-left-out",
    "first-sheet",
    "unreadable-column",
    "mixed-date-orders",
    "ids-in-scientific-notation",
    "numbers-written-twice",
    "zone-left-out",
    "pairs-absent",
    "in-one-table-only",
)
"""Codes of what was read, kept and dropped."""


def told(result: AuditResult) -> bool:
    """Whether what was read has a section of its own."""
    return any(note.code == READ[0] for note in result.notes)


def section(result: AuditResult, terms: Terms) -> Section | None:
    """Return the questions, each with its answer, and which could not be asked; nothing where there was only one."""
    silent = [note for note in result.notes if note.code == "question-left-out"]
    unasked = tuple(dict.fromkeys(words.sentence(note, terms) for note in silent))
    if not result.also:
        return Section("What was asked", see=unasked, console=True, name="asked") if unasked else None
    rows: list[tuple[str, ...]] = []
    for answer in result.questions:
        worst, own = answer.strongest, along(terms, answer)
        found = ("not known", "", "")
        if worst is not None:
            ends = interval(worst.rate, worst.low, worst.high)
            found = (in_words(worst.rate), ends, f"{linked_by(worst, own)}, {periods_used(worst, own)}")
        rows.append((f"{len(rows) + 1}. {question(answer, terms)}", *found))
    see = (
        f"{capital(number(len(rows)))} questions were asked of the same data. The verdict is about the first, by which "
        f"most {terms.people} are found."
    )
    told = taken([answer.scenario for answer in result.questions], result.spec.get("told"))
    if any(beyond(answer.scenario, told) for answer in result.questions):
        see = f"{capital(number(len(rows)))} questions were asked of the same data. What follows is about the first."
    columns = ("question", f"{terms.people} found", "interval", "by")
    return Section(
        "What was asked", see=(see, *unasked), table=Table(columns, tuple(rows), (1, 2)), console=True, name="asked"
    )


def question(answer: AuditResult, terms: Terms) -> str:
    """Return the question that an answer is to."""
    if answer.scenario is None:
        return f"Can {terms.people} of one table be found in the other?"
    return words.sentence(answer.scenario, along(terms, answer))


def grown(result: AuditResult, terms: Terms) -> tuple[Section, ...]:
    """Return how it grows for each question, under the question itself where there are several."""
    if not result.also:
        return (growth.section(result, terms),)
    found = []
    for place, answer in enumerate(result.questions, start=1):
        own = along(terms, answer)
        curve = growth.section(answer, own)
        see = (*([str(verdict(answer, own))] if place > 1 else []), *curve.paragraphs)
        name = "growth" if place == 1 else f"question-{place}"
        title, label = f"{place}. {question(answer, terms)}", f"Question {place}"
        found.append(replace(curve, title=title, see=see, name=name, label=label))
    return tuple(found)


def read(result: AuditResult, terms: Terms) -> Section | None:
    """Return how files were understood, and what of them was kept and dropped; nothing where nothing was noted."""
    notes = [(note, answer) for answer in result.questions for note in answer.notes if note.code in READ]
    if not told(result):
        return None  # two tables of one item per period are told of among the assumptions
    counted = any(note.code == "export-read" for note, _ in notes)  # which says what rows were dropped, too
    notes = [(note, answer) for note, answer in notes if not (counted and note.code == "rows-dropped")]
    notes.sort(key=lambda one: READ.index(one[0].code))
    said = tuple(dict.fromkeys(words.sentence(note, along(terms, answer)) for note, answer in notes))
    return Section("What was read", see=said, name="read")  # a terminal was told while the files were read
