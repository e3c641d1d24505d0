"""The verdict of an audit, what it rests on and what the gate says, in English."""

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk import Traces
from reidrisk.audit import AuditSpec, Published, audit_traces, gate, run
from reidrisk.base.notes import Note
from reidrisk.present import words
from reidrisk.present.terms import Terms
from reidrisk.present.words.audit import terms_of
from reidrisk.present.words.verdict import verdict


@pytest.fixture(scope="module")
def simulated():
    return run(AuditSpec(inputs=Published(users=300, epochs=2), system="topics", seed=1, max_risk=0.0))


def own_items(n_queries=250, people=300):
    """Everybody holds one token that nobody else does, every week."""
    tokens = np.repeat(np.arange(people)[:, None], 4, axis=1)
    return Traces(tokens, people), Traces(tokens[:n_queries], people)


def test_the_verdict_sets_its_number_apart(simulated):
    said = verdict(simulated, terms_of(simulated))
    assert str(said) == simulated.verdict
    assert said.strong in simulated.verdict
    assert "holds both tables" in said.before
    rows = tuple(dataclasses.replace(risk, setting="matching") for risk in simulated.risks)
    matched = dataclasses.replace(simulated, risks=rows)
    assert "who holds both tables and matches all records one to one links about" in matched.verdict


def test_readers_meet_weeks_and_topics_never_tokens_epochs_or_queries(simulated):
    page = " ".join([simulated.verdict, *(f"{a.holds} {a.otherwise}" for a in simulated.assumptions)])
    assert "week" in page
    assert "topics" in page
    for word in ("token", "epoch", "query", "queries", "Lemma"):
        assert word not in page


def test_the_gate_names_people_attacks_and_what_could_decide(simulated):
    said = simulated.gate.reading
    assert "300 simulated people; 8 attacks; periods 1, 2 of 2; level 95 %; strangers 0 %; truth simulated." in said
    assert len(re.findall("[A-Za-z]+", said)) <= 40
    rng = np.random.default_rng(0)
    a = rng.integers(0, 6, (200, 4))
    b = np.where(rng.random((200, 4)) < 0.5, a, rng.integers(0, 6, (200, 4)))
    spec = AuditSpec(seed=1, attacks=("hamming",))
    everyone = audit_traces(Traces(a, 6), Traces(b, 6), spec)
    answer = gate(everyone, everyone.strongest.rate).reading
    assert "all records were scored: only data of more people can decide" in answer
    assert "200 people; 1 attack, 7 not run; periods" in answer
    sampled = audit_traces(Traces(a, 6), Traces(b, 6), spec.model_copy(update={"sample": 100}))
    assert "score more records to decide" in gate(sampled, sampled.strongest.rate).reading


def test_the_line_of_the_gate_says_what_weakens_it():
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 110, (600, 8)) for _ in range(2))
    b[:, [2, 5]] = a[:, [2, 5]]
    one = audit_traces(Traces(a, 110), Traces(b, 110), AuditSpec(seed=1, attacks=("hamming",), epochs=(2,), level=0.8))
    said = gate(one, 0.99).reading
    assert said.startswith("undecided: Hamming at the best 2 periods (3, 6) links ")
    assert "not every attack that applies was run (" in said
    (chosen,) = (note for note in one.notes if note.code == "periods-compared")
    assert "use the first ones; measured one at a time, those that tell most were tried too: 3, 6 (" in words.sentence(
        chosen
    )
    for words_ in ("level 80 %", "periods 2 of 8; not tried 1, 4, 8;", "truth row by row."):
        assert words_ in said
    assert len(re.findall("[A-Za-z]+", said)) <= 65
    assert "nobody asks for" not in said
    assert "known records nobody asks for 90 %" in dataclasses.replace(gate(one, 0.99), unasked=0.9).reading
    alike = audit_traces(Traces(a[:, :1], 110), Traces(a[:, :1], 110), AuditSpec(seed=1, attacks=("hamming",)))
    assert alike.truth_check == "no power"
    assert gate(alike, 1.0).reading.endswith("truth row by row, unchecked.")


def test_without_truth_the_verdict_counts_records_and_hides_a_few():
    a, b = own_items()
    sure = audit_traces(a, b, AuditSpec(seed=1, attacks=("weighted-hamming",)))
    held = "the attack gives 100 in 100 records a chance of 90 in 100 or more, and such chances held in a rehearsal"
    assert held in sure.verdict
    few = audit_traces(a.take(np.arange(15)), b.take(np.arange(10)), AuditSpec(seed=1))
    assert few.verdict.endswith(
        "too few people or periods to check its probabilities in a rehearsal on the known records."
    )
    plain = audit_traces(a, b, AuditSpec(seed=1, attacks=("hamming",)))
    assert "nothing can be said" in plain.verdict


@pytest.mark.parametrize(
    ("note", "said"),
    [
        (
            Note("own-attacks", names=["Rarest", "Own"]),
            "Handed over as objects, beside the saved spec: Rarest and Own.",
        ),
        (Note("gaps", targets=0.02, queries=0.0), "2 % of the known records' topics"),
        (Note("periods-without-items", skipped=[1, 2]), "In the first 1, 2 weeks one of the tables holds no topic"),
        (
            Note("attack-not-run", attack="profile-bayes", why="time"),
            "Profile Bayes was not run: there was not enough time to try it on enough people. It may link more",
        ),
        (Note("attack-not-run", attack="markov", why="few people"), "Markov was tried on too few people to count."),
        (
            Note("linked-together", attack="Rehearsed"),
            "Rehearsed weighed all records to identify against each other, as whoever holds them all may",
        ),
        (
            Note("sizes-agree", attack="Rehearsed", correlation=0.914),
            "Rehearsed counted how much a record holds, since sure links agree closely in it (correlation 0.91",
        ),
        (
            Note("linked-alone", attack="Rehearsed", why="too-many"),
            "linked each record by itself, since there are too many pairs to weigh all records against each other.",
        ),
        (
            Note("clocks-apart", hours=-5.5, errors=9.1, by="moments"),
            "The clock of the second table seems to be 5.5 hours behind the first one's: moved by that, people who are",
        ),
        (Note("fewer-drawn", axis="facts"), "Where the attacker is given fewer topics than a record holds"),
        (Note("in-one-table-only", targets=None, queries=7, least=20), "which are distractors: fewer than 20."),
        (
            Note("vocabulary-from-data", n=8, tables=2, numbers=True),
            "up to the largest that occurs in the two tables (8)",
        ),
        (Note("own-words", holds="The tables were randomised."), "The tables were randomised."),
        (Note("from-a-later-version"), "no sentence for: from-a-later-version"),
    ],
)
def test_notes_in_the_words_of_the_reader(note, said):
    assert said in words.sentence(note, Terms(item="topic", period="week"))


SHOP = Terms(person="customer", item="article", period="week")


@pytest.mark.parametrize(
    ("note", "said"),
    [
        (
            Note("pairs-share-nothing", n=300, pairs=0.0, strangers=0.1),
            "The two records of one customer have no article in common (300 true pairs were looked at). Attacks that "
            "compare articles can only go by what tends to go together, and by who shares nothing.",
        ),
        (
            Note("pairs-share-less", n=300, pairs=0.01, strangers=0.1),
            "The two records of one customer have less in common than those of two strangers (300 true pairs were "
            "looked at): overlap says nothing here.",
        ),
        (
            Note("presence-identifies", rate=0.25, among=2_000, n=300),
            "Knowing when somebody was there is enough: by the weeks in which anything was seen, whatever it was, an "
            "attacker links 25 in 100 customers correctly among 2,000.",
        ),
        (
            Note("no-direction", n=3, of=2_000),
            "Of 2,000 vectors, 3 hold zeros only and have no direction, so that some attacks which compare directions "
            "(cosine) were not tried.",
        ),
        (
            Note("order-tells", correlation=0.98, n=300, by="rows"),
            "Rows of true pairs come in one order in both tables (rank correlation 0.98). Whoever has both tables can "
            "pair customers without looking at a single article, and no rate here counts that.",
        ),
        (
            Note("order-tells", correlation=1.0, n=300, by="ids"),
            "Ids of true pairs rise together: the customers were numbered in one order. Whoever has both tables can "
            "pair customers without looking at a single article, and no rate here counts that.",
        ),
    ],
)
def test_warnings(note, said):
    assert words.sentence(note, SHOP) == said


def test_numbers_and_nouns_of_the_gates_line(simulated):
    """'1 customers' and 'against more than 99 %' (for 99.5 %) stood there, and 'of a employee' elsewhere."""
    answer = dataclasses.replace(gate(simulated, 0.995), n_scored=1, everyone=True, simulated=False)
    one = words.reading(answer, SHOP)
    assert "against 99.5 %" in one
    assert " 1 customer;" in one
    assert "level 95 %" in one
    many = words.reading(dataclasses.replace(answer, n_scored=1, n_targets=2, everyone=False), SHOP)
    assert " 1 of 2 customers scored;" in many
    staff = Terms(person="employee")
    asked = [Note("scenario-knows", facts=3, columns=()), Note("knows-facts", facts=2, which="rarest", errors=0.0)]
    assert all(" an employee" in words.sentence(note, staff) for note in asked[1:])
    assert "knows three of an employee's items" in words.sentence(asked[0], staff)


@given(st.floats(1e-5, 0.0099))
def test_small_rates_are_per_1_000_or_per_100_000(rate):
    """'1 in 168' beside '3.5 in 1,000' cannot be compared."""
    number, _, out_of = words.in_words(rate).partition(" in ")
    assert out_of in ("1,000", "100,000")
    assert float(number.replace(",", "")) / float(out_of.replace(",", "")) == pytest.approx(rate, rel=0.06)
    assert words.range_in_words(rate, rate / 2, 2 * rate).endswith(f" in {out_of}")
