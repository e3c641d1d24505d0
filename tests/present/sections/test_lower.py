"""What would lower it, what gives people away, and more people, in the words of the reader."""

import dataclasses

import numpy as np
import pytest

from reidrisk import Bags, Vocabulary, attacks, mitigations
from reidrisk.audit import AuditDifference, AuditSpec, Further
from reidrisk.audit.case import audit_case
from reidrisk.base.notes import Note
from reidrisk.present import page, words
from reidrisk.present.terms import Terms
from reidrisk.present.words import changes
from reidrisk.records import Attributes, Case, Truth

SHOP = Terms(person="customer", item="purchase", period="week", thing="product")
N = 150


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    tastes = rng.gamma(0.2, 3.0, (N, 60))
    case = Case(*(Bags(rng.poisson(tastes)) for _ in range(2)), Truth(np.arange(N), "rows"))
    asked = {"changes": ("draw:0.3", "coarsen:10"), "aim": 0.001, "population": 15_000, "what_if_budget": 0.5}
    return audit_case(case, AuditSpec(seed=1, attacks=("tf-idf",), **asked))


def section(result, name):
    return next(one for one in page(result, SHOP).sections if one.name == name)


def test_one_sentence_of_advice_follows_from_the_numbers(result):
    said = section(result, "lower").paragraphs[0]
    assert " lowers it from " in said
    assert " in 100 purchases as they are." in said
    assert said[0].isupper()


def test_the_table_says_who_is_found_and_what_is_kept(result):
    lower = section(result, "lower")
    assert lower.table.columns[:2] == ("change", "customers found")
    assert {str(row[0]).partition(" [Pareto")[0].partition(". ")[2] for row in lower.table.rows} == {
        "Keeping 30 % of the purchases, drawn at random",
        "Keeping the 10 most common products and calling the rest ‘other’",
    }
    assert lower.figure.draw(False).to_dict()["layer"]


def test_why_nothing_was_tried_is_said(result):
    notes = (
        Note("changes-left-out", seconds=90.0, budget=40.0),
        Note("parts-left-out", seconds=95.0, budget=20.0),
    )
    bare = dataclasses.replace(result, further=Further(notes=notes))
    assert section(bare, "lower").paragraphs == (
        "Changes that may lower the risk were not tried for lack of time. To try them, add --what-if-budget 90 "
        "(reference seconds; 40 were given).",
    )
    assert section(bare, "given-away").paragraphs[0].startswith("What gives customers away was not measured")


def test_pseudonyms_are_not_counted_as_one_record(result):
    one = result.further.what_if.tried[0]
    rotated = dataclasses.replace(one, kept=mitigations.Kept(1.0, 0.5))
    assert changes.lowers(rotated, SHOP).endswith(
        "leaves 100 in 100 purchases as they are, at most 50 of them under one name"
    )


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ({"paired": True, "n_people": 40}, "The difference is paired, on 40 customers who were scored in both."),
        ({}, "The two audits were treated as independent; if they are of the same customers, the interval is wide."),
    ],
)
def test_a_comparison_says_whether_it_is_paired(pairs, said):
    found = AuditDifference(0.4, 0.1, 0.3, 0.2, 0.4, 0.95, ("Hamming", "TfIdf"), **pairs)
    assert words.reading(found, SHOP).endswith(said)


def test_changes_of_the_system_are_said():
    assert changes.said("system:0.2,top_k=3", Terms(item="topic")) == (
        "letting the system show a random topic in 20 % of all answers and letting the system hold 3 topics of each "
        "person"
    )


def test_an_aim_that_was_not_reached_is_said(result):
    said = " ".join(section(result, "lower").paragraphs)
    assert "No change was confirmed within the aim of 1 in 1,000 customers; the best, " in said
    assert "The attack of the verdict, " in said


def test_a_forecast_names_its_assumption(result):
    more = section(result, "more-people")
    assert more.paragraphs[0].startswith("Among 15,000 customers like these, about ")
    assert "takes further customers to be like these" in more.caution


def test_what_gives_people_away_names_parts_that_say_the_same():
    rng = np.random.default_rng(1)
    table = {"code": np.arange(N), "copy": np.arange(N), "coin": rng.integers(2, size=N)}
    people = Attributes(table, columns=dict.fromkeys(table, "category"))
    case = Case(people, people, Truth(np.arange(N), "rows"))
    found = audit_case(case, AuditSpec(seed=1, attacks=("hamming",), what_if=True, what_if_budget=1.0))
    given = section(found, "given-away")
    assert given.paragraphs[0].startswith("No part of the records carries the risk by itself")
    assert given.paragraphs[1].startswith("Either of code and copy can do without the other; without both, ")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("suppress-rare:20", "leaving out products that fewer than 20 customers hold"),
        ("random-item:0.1", "replacing 10 % of the purchases with a random product"),
        ("shorten:5", "releasing at most 5 purchases of each customer"),
        ("coarsen:every=2", "showing one purchase for every 2 weeks"),
        ("coarsen:parents=7", "replacing products with the 7 parents of a taxonomy"),
        ("drop-people:0.05", "leaving out the 5 % of customers most exposed"),
        ("drop-columns:age,sex", "leaving out age and sex"),
        ("generalise:age=20,postcode=first 2 digits", "showing age in steps of 20 and the first 2 digits of postcode"),
        (
            "rotate:4 + draw:0.5",
            "giving every customer a new pseudonym after 4 weeks, then keeping 50 % of the purchases, drawn at random",
        ),
    ],
)
def test_changes_in_words(change, said):
    assert changes.said(change, SHOP) == said


def test_every_registered_change_has_words():
    for entry in mitigations.registry():
        for text in (f"{entry.name}:{value}" for value in entry.strengths or ("age=10",)):
            assert changes.said(text, SHOP) != text


def test_a_change_that_only_confuses_is_named():
    n = 60
    fine = np.zeros((n, 2 * n), dtype=int)
    fine[np.arange(n), 2 * np.arange(n)] = 1
    labels = [f"{kind}-{i}" for i in range(n) for kind in "ab"]
    sides = [Bags(one, vocabulary=Vocabulary(labels)) for one in (fine, fine)]
    change = mitigations.Coarsen({label: label.partition("-")[2] for label in labels})
    found = mitigations.tried(Case(*sides, Truth(np.arange(n), "rows")), [change], attacks=[attacks.TfIdf()])
    assert changes.confuses(found, SHOP).startswith(
        "This helps mainly against an attacker who does not know of it: replacing"
    )
    assert changes.advice(found, SHOP).startswith("No change that was tried lowers the risk measurably")
