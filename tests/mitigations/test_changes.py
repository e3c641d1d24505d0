"""Changes do what they say, the same for the same seed, and refuse in one line what they do not fit."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from reidrisk import Bags, Traces, Vocabulary, attacks, mitigations
from reidrisk.base.errors import DataError, OptionError
from reidrisk.mitigations import Coarsen, Draw, DropPeople, RandomItem, Rotate, Shorten, SuppressRare
from reidrisk.mitigations.scoring import found
from reidrisk.records import Case, Events, Truth
from reidrisk.records.calendar import days_by_hour

EVERY = [
    RandomItem(0.3),
    Draw(0.5),
    SuppressRare(10),
    Shorten(items=2),
    Coarsen(keep=5),
    DropPeople(0.2),
]
OF_TRACES = [*EVERY, Rotate(2), Shorten(periods=2), Coarsen(every=2)]


def held(table):
    return table.tokens.tolist() if isinstance(table, Traces) else table.counts.toarray().tolist()


def rate(change, case, attack=None, seed=0, knows=False):
    view = (change.known_to_attacker if knows else change.released)(case, seed)
    rows = np.arange(len(case.queries)) if view.asked is None else view.asked
    return float(found(attack or attacks.TfIdf(), view, rows)[0].mean())


@pytest.mark.parametrize("side", ["queries", "targets", "both"])
@pytest.mark.parametrize("change", OF_TRACES, ids=lambda one: one.text)
def test_a_change_is_decided_by_its_seed_and_leaves_the_case_alone(change, side, traces_case):
    before = held(traces_case.targets), held(traces_case.queries), traces_case.truth.target.copy()
    one, same = (change.apply(traces_case, seed=7, side=side) for _ in range(2))
    assert change.apply(replace(traces_case, one_by_one=True), seed=7, side=side).one_by_one
    assert held(one.queries) == held(same.queries)
    assert held(one.targets) == held(same.targets)
    assert (held(traces_case.targets), held(traces_case.queries)) == before[:2]
    assert (traces_case.truth.target == before[2]).all()
    other = {"queries": "targets", "targets": "queries"}.get(side)
    if other and not isinstance(change, DropPeople):
        assert held(getattr(one, other)) == held(getattr(traces_case, other))
    assert one.notes[0].code == "change-made"
    assert one.notes[0]["change"] == change.text


@pytest.mark.parametrize("change", EVERY, ids=lambda one: one.text)
def test_bags_are_changed_too(change, bags_case):
    case = change.apply(bags_case, seed=1)
    assert isinstance(case.queries, Bags)
    assert held(case.queries) == held(change.apply(bags_case, seed=1).queries)


@pytest.mark.parametrize(
    "change", [RandomItem(0.5), Draw(0.5), Shorten(items=2), DropPeople(0.3)], ids=lambda c: c.text
)
def test_another_seed_draws_anew(change, bags_case):
    assert held(change.apply(bags_case, seed=1).queries) != held(change.apply(bags_case, seed=2).queries)


def test_uniform_noise_on_records_of_one_token_has_a_closed_form():
    n, p = 4_000, 0.3
    table = Traces(np.arange(n)[:, None], n_tokens=n)
    case = Case(table, table, Truth(np.arange(n), "rows"))
    expected = 1 - p + p / n
    assert abs(rate(RandomItem(p), case, attacks.Hamming()) - expected) < 4 * np.sqrt(p * (1 - p) / n)


def test_rotation_of_independent_periods_has_a_closed_form():
    n, tokens, periods = 3_000, 200, 4
    table = Traces(np.random.default_rng(0).integers(tokens, size=(n, periods)), n_tokens=tokens)
    case = Case(table, table, Truth(np.arange(n), "rows"))
    # Of n people, 1 + Binomial(n - 1, 1/N) share a token: the mean of its inverse is (1 - (1 - 1/N)^n) N / n.
    alone = (1 - (1 - 1 / tokens) ** n) * tokens / n
    assert rate(Rotate(1), case, attacks.Hamming()) == pytest.approx(1 - (1 - alone) ** periods, rel=0.03)


def test_suppression_that_makes_records_identical_leaves_blind_guessing():
    n = 50
    table = Bags(np.hstack([np.eye(n, dtype=int), np.ones((n, 1), dtype=int)]))
    case = Case(table, table, Truth(np.arange(n), "rows"))
    assert rate(mitigations.SuppressRare(1), case) == 1.0
    assert rate(mitigations.SuppressRare(2), case) == pytest.approx(1 / n)
    assert rate(mitigations.SuppressRare(n + 1), case) == pytest.approx(1 / n)  # nothing at all is left


@pytest.mark.parametrize(
    "changes",
    [
        [RandomItem(p) for p in (0.0, 0.2, 0.5, 0.9)],
        [Draw(p) for p in (1.0, 0.7, 0.4, 0.1)],
        [Shorten(periods=k) for k in (6, 4, 2, 1)],
    ],
    ids=["noise", "draw", "periods"],
)
def test_more_of_a_change_finds_fewer_people_in_expectation(changes, traces_case):
    means = [np.mean([rate(one, traces_case, seed=seed) for seed in range(8)]) for one in changes]
    assert all(a > b for a, b in pairwise(means))


def test_a_coarsening_confuses_only_who_does_not_know_of_it():
    n = 40
    labels = Vocabulary([f"{kind}-{i}" for i in range(n) for kind in "ab"])
    fine = np.zeros((n, 2 * n), dtype=int)
    fine[np.arange(n), 2 * np.arange(n)] = 1
    other = np.roll(fine, 1, axis=1)  # everybody has the sibling of what they had
    case = Case(Bags(fine, vocabulary=labels), Bags(other, vocabulary=labels), Truth(np.arange(n), "rows"))
    change = Coarsen({label: label.partition("-")[2] for label in labels.labels})
    assert rate(change, case) == pytest.approx(1 / n)
    assert rate(change, case, knows=True) == 1.0


def test_keeping_the_most_common_items_calls_the_rest_other():
    table = Bags([[3, 1, 0], [3, 0, 1]], vocabulary=Vocabulary(["tea", "other", "gin"]))
    case = Coarsen(keep=1).apply(Case(table, table, None), side="both")
    assert case.queries.vocabulary.labels == ("tea", "other", "gin", "other items")
    assert held(case.queries) == [[3, 0, 0, 1], [3, 0, 0, 1]]


def test_a_coarser_grid_of_time_keeps_the_most_frequent_item():
    table = Traces([[1, 2, 2, 4, -1, 3], [-1, -1, -1, 5, 6, 6]], n_tokens=9)
    assert held(Coarsen(every=3).apply(Case(table, table, None)).queries) == [
        [2, -1, -1, 4, -1, -1],
        [-1, -1, -1, 6, -1, -1],
    ]


def test_visits_go_with_their_items():
    log = {"who": [1, 1, 1, 2, 2], "what": ["tea", "rum", "tea", "gin", "tea"], "day": [0, 0, 3, 1, 1]}
    table = Events(log, user="who", items="what", time="day").bags(visit=1)
    case = SuppressRare(2).apply(Case(table, table, None))
    assert held(case.queries) == [[0, 0, 2], [0, 0, 1]]
    assert case.queries.visits.per_record.tolist() == [2, 1]
    rotated = Rotate(1).released(Case(table, table, None))
    assert held(rotated.case.queries) == [[0, 1, 1], [0, 0, 1], [1, 0, 1]]
    assert rotated.part_of.tolist() == [0, 0, 1]


def test_pseudonyms_that_keep_their_habits_are_pooled():
    habits = np.arange(20)[:, None] * 3
    rng = np.random.default_rng(0)
    table = Traces(habits + rng.integers(3, size=(20, 8)), n_tokens=60)
    case = Case(table, table, Truth(np.arange(20), "rows"))
    view = Rotate(4).known_to_attacker(case)
    whole = (view.case.queries.observed.sum(axis=1) == 8).sum()
    assert whole >= 15  # most halves share an item, and nobody else has it
    assert set(view.part_of.tolist()) == set(range(20))
    some = Rotate(4).known_to_attacker(case, rows=np.array([3, 11]))
    assert set(some.part_of.tolist()) == {3, 11}


def test_who_knows_facts_of_several_periods_pools_the_released_pseudonyms():
    n = 60
    link, early, late = np.arange(n), n + np.arange(n) % 10, n + 10 + np.arange(n) // 10
    table = Traces(np.column_stack((link, early, link, late)), n_tokens=n + 16)
    facts = Traces(np.column_stack((np.full(n, -1), early, np.full(n, -1), late)), n_tokens=n + 16)
    case = Case(table, facts, Truth(np.arange(n), "rows"))
    rows = np.arange(n)
    alone = found(attacks.TfIdf(), Rotate(2).released(case, side="targets"), rows)[0].mean()
    pooled = found(attacks.TfIdf(), Rotate(2).known_to_attacker(case, side="targets"), rows)[0].mean()
    assert alone < 0.5  # either fact is shared by others
    assert pooled == 1.0  # both together are not
    some = Rotate(2).known_to_attacker(case, side="targets", rows=np.array([4, 9]))
    assert found(attacks.TfIdf(), some, np.array([4, 9]))[0].mean() == 1.0


def test_any_pseudonym_counts_on_either_side(traces_case):
    asked = np.arange(150)
    both = Rotate(3).released(traces_case, side="both")
    credit, _ = found(attacks.TfIdf(), both, asked)
    assert len(both.case.targets) == len(both.case.queries) == 300
    assert (both.known_as[both.case.truth.target] == both.part_of).all()
    one = attacks.TfIdf().fit(both.case.targets).link(both.case.queries)
    right = both.known_as[one.target] == both.part_of
    assert credit.mean() >= 0.9 * np.mean(right.reshape(150, 2).any(axis=1))


def test_people_are_dropped_by_what_others_teach_and_judged_on_their_own_half(bags_case):
    view = DropPeople(0.25).released(bags_case, seed=5)
    assert len(view.asked) == 60
    assert len(view.part_of) == 45
    assert set(view.part_of) <= set(view.asked)
    assert view.case.notes[-1].code == "people-dropped"
    assert (view.case.notes[-1]["n"], view.case.notes[-1]["of"]) == (15, 60)


@pytest.mark.parametrize("change", [one for one in OF_TRACES if not isinstance(one, Coarsen)], ids=lambda one: one.text)
def test_a_text_names_the_change(change):
    assert mitigations.named(change.text) == change


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("scramble:4", "no change called 'scramble'"),
        ("rotate", "give a value for every"),
        ("rotate:0", "every must be a whole number of at least 1, not 0"),
        ("rotate:often", "'often' is not a whole number"),
        ("rotate:speed=3", "rotate has every, not 'speed=3'"),
        ("random-item:1.5", "p is a probability from 0 to 1, not 1.5"),
        ("drop-people:1", "share must lie strictly between 0 and 1"),
        ("shorten", "Shorten takes items or periods"),
        ("shorten:3,periods=2", "Shorten takes items or periods"),
        ("coarsen", "one of taxonomy, keep and every, not none"),
        ("coarsen:every=1", "every must be a whole number of at least 2"),
    ],
)
def test_bad_texts_are_refused_in_one_line(text, said):
    with pytest.raises(OptionError) as error:
        mitigations.named(text)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_records_that_do_not_fit_are_refused_in_one_line(bags_case):
    bare = Case(Bags([[1, 2]]), Bags([[1, 2]]), None)
    for change, case, said in (
        (Rotate(2), bags_case, "these Bags do not know their visits"),
        (Shorten(periods=2), bags_case, "Bags have no periods to leave out"),
        (Coarsen(every=2), bags_case, "Bags have no periods to merge"),
        (Coarsen({"a": "b"}), bare, "no labels that a taxonomy could know"),
        (Coarsen({"item 0": "x"}), bags_case, "the taxonomy misses 24 of 25 items, 'item 1', 'item 2', 'item 3', …"),
        (DropPeople(0.1), bare, "this case has no truth"),
        (Draw(0.5), bags_case.queries, "Draw changes a Case, not Bags"),
    ):
        with pytest.raises(DataError) as error:
            change.apply(case)
        assert said in str(error.value)
    with pytest.raises(OptionError, match="one of queries, targets, both"):
        Draw(0.5).apply(bags_case, side="left")


def test_every_change_is_registered_with_strengths_that_fit(bags_case, traces_case):
    for case in (bags_case, traces_case):
        for entry in (one for one in mitigations.registry() if type(case.queries) in one.kinds):
            ladder = entry.mitigation.ladder(case)
            assert len(set(ladder)) == len(ladder)
            if not isinstance(case.queries, Bags) or entry.name != "rotate":
                for one in (*entry.mitigation.usual(case), *ladder[:1], *ladder[-1:]):
                    one.apply(case)
    assert len({entry.name for entry in mitigations.registry()}) == 12


def log_of(people=60, seed=0):
    rng = np.random.default_rng(seed)
    n = 20 * people
    when = np.datetime64("2024-01-01T00", "h") + rng.integers(24 * 90, size=n)
    log = {"who": rng.integers(people, size=n), "what": rng.integers(9, size=n), "when": when.astype("M8[s]")}
    return Events(log, user="who", items="what", time="when").bags()


@pytest.mark.parametrize("text", ["draw:0.4", "shorten:6", "random-item:0.5", "coarsen:3", "suppress-rare:55"])
def test_counts_moments_hours_and_visits_of_a_log_tell_of_the_same_events(text):
    before = log_of()
    after = mitigations.named(text).apply(Case(before, before, Truth(np.arange(60), "rows")), seed=1).queries
    when = after.timeline
    counts = np.zeros(after.counts.shape, dtype=int)
    np.add.at(counts, (when.owner, when.item), 1)
    assert (counts == after.counts.toarray()).all()
    owner, item = (one.astype(np.int32) for one in (when.owner, when.item))
    assert (days_by_hour(owner, item, when.time, counts.shape) != after.clock).nnz == 0
    if after.visits is not None:
        assert (after.visits.together() != after.counts).nnz == 0
    moments = {
        (row, time) for row, time in zip(before.timeline.owner.tolist(), before.timeline.time.tolist(), strict=True)
    }
    assert moments >= {(row, time) for row, time in zip(when.owner.tolist(), when.time.tolist(), strict=True)}


def test_hours_without_moments_go_with_their_events():
    before = log_of(people=300).with_timeline(None)
    case = Case(before, before, Truth(np.arange(300), "rows"))
    fewer = mitigations.Draw(0.3).apply(case, seed=1).queries.clock
    assert fewer[:, :216].sum() / before.clock[:, :216].sum() == pytest.approx(0.3, abs=0.02)
    assert fewer[:, 216:].sum() / before.clock[:, 216:].sum() == pytest.approx(0.3, abs=0.03)  # hardly two of one hour
    other = mitigations.RandomItem(0.5).apply(case, seed=1).queries.clock
    assert other.sum() == pytest.approx(before.clock.sum(), rel=0.01)
    assert other[:, :216].minimum(before.clock[:, :216]).sum() / before.clock[:, :216].sum() < 0.7
