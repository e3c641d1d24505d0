"""The page of a shop's log that was asked two questions: in the shop's words, with an answer to each."""

import dataclasses
import io
import re

import numpy as np
import pytest
from examples import understood
from rich.console import Console

from reidrisk import present, scenarios
from reidrisk.audit import AuditSpec, audit_case, together
from reidrisk.base.notes import Note
from reidrisk.present import html
from reidrisk.present.console import print_page
from reidrisk.present.sections.audit.top import first
from reidrisk.present.words.audit import terms_of
from reidrisk.records import Attributes, Events

READ = (
    understood("/somewhere/sales.csv", time="day", times="numbers", unused=["Country"]),
    Note(
        "export-read",
        name="/somewhere/sales.csv",
        rows=7_020,
        events=7_000,
        users=350,
        items=60,
        dropped={"user": 20},
        people=[[10, 100], [20, 250]],
    ),
)


@pytest.fixture(scope="module")
def shop():
    """Customers with habits: each buys 20 times, half of it among five products of their own."""
    rng = np.random.default_rng(0)
    own = np.stack([rng.choice(60, 5, replace=False) for _ in range(350)])
    item = np.where(rng.random((350, 20)) < 0.5, own[:, :1], rng.integers(0, 60, (350, 20)))
    item[:, 10:] = np.where(rng.random((350, 10)) < 0.5, own[:, 1:2], item[:, 10:])
    log = {
        "u": np.repeat(np.arange(350), 20),
        "i": [f"product {i}" for i in item.ravel()],
        "t": np.tile(range(20), 350),
    }
    return Events(log, user="u", items="i", time="t")


@pytest.fixture(scope="module")
def answered(shop):
    asked = (scenarios.Split(shop, by="time"), scenarios.Knows(shop, facts=4))
    spec = AuditSpec(seed=1, attacks=("tf-idf", "hellinger", "overlap"))
    return together(
        [audit_case(one.case(1), spec, scenario=one.question, notes=READ, questions=len(asked)) for one in asked]
    )


@pytest.fixture(scope="module")
def page(answered):
    return present.page(answered)


def shown(page, width=110):
    out = io.StringIO()
    print_page(page, Console(file=out, width=width))
    return out.getvalue()


def test_words_are_chosen_by_the_names_of_the_columns(answered):
    terms = terms_of(answered)
    assert (terms.person, terms.item, terms.things, terms.period) == ("customer", "purchase", "products", "purchase")
    topics = dataclasses.replace(answered, spec=answered.spec | {"system": "topics"})
    assert terms_of(topics).item == "topic"


def test_the_verdict_says_who_attacks_with_what(answered, page):
    first, second = (one.scenario.code for one in answered.questions)
    said = {
        "scenario-knows": r"somebody who knows (two|four) of a customer's purchases finds about \d+ in 100 customers",
        "scenario-split": r"an attacker who knows the earlier part of each record links about [\d.]+ in 100 customers",
    }
    assert re.search(said[first], str(page.verdict), re.IGNORECASE)
    assert re.search(said[second], " ".join(page.sections[3].paragraphs), re.IGNORECASE)


def test_every_question_has_its_answer_and_its_curve(answered, page):
    asked = next(section for section in page.sections if section.anchor == "asked")
    assert len(asked.table.rows) == 2
    assert {row[0][3:] for row in asked.table.rows} == {
        "Can the pseudonyms that customers have in one period be linked to those they have in a later one?",
        "Can somebody who knows four of a customer's purchases find the customer?",
    }
    assert {"growth", "question-2"} <= set(page.figures())
    titles = [
        page.figures()[name].draw(False).to_dict()["layer"][0]["encoding"]["x"]["title"]
        for name in ("growth", "question-2")
    ]
    assert set(titles) == {"purchases in the record to identify", "purchases that the attacker knows"}


def test_what_was_read_stands_before_any_curve_and_once(page):
    names = [section.anchor for section in page.sections]
    assert names.index("read") < names.index("growth")
    read = " ".join(page.sections[names.index("read")].paragraphs)
    assert "7,020 rows read" in read
    assert "somewhere" not in read
    assert "rows read" not in str(page.sections[names.index("assumed")].table)


def test_whole_records_are_all_and_not_the_length_of_the_longest(answered, page):
    split = next(one for one in answered.questions if one.axis == "items")
    place = answered.questions.index(split) + 1
    figure = page.figures()["growth" if place == 1 else "question-2"]
    assert figure.numbers.rows[-1][0] == "all"
    assert "'all'" in str(figure.draw(False).to_dict()["layer"][0]["encoding"]["x"]["axis"]["labelExpr"])


def test_nobody_reads_the_words_of_the_code(page):
    written = re.sub(r"(?s)<(script|style|pre|noscript).*?</\1>", "", html.render(page))
    for text in (re.sub(r"<[^>]+>", " ", written), shown(page)):
        for word in ("token", "epoch", "quer(y|ies)", "target", "fact"):
            assert not re.search(rf"\b{word}s?\b", text, re.IGNORECASE), word


def test_the_yardstick_fits_a_shop(page):
    perspective = next(section for section in page.sections if section.anchor == "perspective")
    assert "a name or a loyalty number" in perspective.paragraphs[0]
    assert "cookie" not in str(perspective.figure.numbers)


def test_bounds_of_systems_are_left_out(page):
    assert "bounds" not in [section.anchor for section in page.sections]


def test_an_attack_that_did_not_run_is_the_first_sentence(page):
    said = shown(page)
    assert page.first
    for one in page.first:  # some questions have other attacks
        assert re.match(r"(In questions? [\d, and]+, )?[\w, -]+ w(ere|as) not run: other attacks were asked for\.", one)
    assert said.index(page.first[0][:20]) < said.index(str(page.verdict)[:20])


@pytest.fixture(scope="module")
def survey():
    rng = np.random.default_rng(1)
    frame = {"age": rng.integers(18, 80, 400), "sex": rng.choice(["f", "m"], 400), "town": rng.integers(0, 30, 400)}
    asked = scenarios.Knows(Attributes(frame), columns=["age", "sex", "town"])
    return audit_case(asked.case(1), AuditSpec(seed=1), scenario=asked.question)


def test_a_survey_names_its_columns_and_what_each_tells_alone(survey):
    page = present.page(survey)
    assert "Somebody who knows age, sex and town of a person finds about" in str(page.verdict)
    grown = next(section for section in page.sections if section.anchor == "growth")
    assert {row[0] for row in grown.figure.numbers.rows} == {"3"}
    alone = grown.parts[0]
    assert alone.title == "What each attribute tells alone"
    assert sorted(row[0] for row in alone.table.rows) == ["age", "sex", "town"]
    assert "week" not in shown(page)


def test_an_attack_that_ran_for_one_question_is_missing_in_the_other_alone(answered):
    note = Note("attack-not-run", attack="profile-bayes", why="time")
    other = [note for note in answered.also[0].notes if note.code != "attack-not-run"]
    own = tuple(note for note in answered.notes if note.code != "attack-not-run")
    once = dataclasses.replace(answered, notes=own, also=(dataclasses.replace(answered.also[0], notes=(*other, note)),))
    (said,) = first(once, terms_of(once))
    assert said.startswith("In question 2, Profile Bayes was not run: ")
    (said,) = first(dataclasses.replace(once, notes=(*own, note)), terms_of(once))
    assert said.startswith("Profile Bayes was not run: ")
