"""Changes are tried on the same people, with an attacker who knows of them, and what they cost is measured."""

import numpy as np
import pytest

from reidrisk import Bags, Traces, Vocabulary, attacks, mitigations
from reidrisk.base.errors import DataError, OptionError
from reidrisk.mitigations import Trial, kept, tried
from reidrisk.mitigations.base import with_something
from reidrisk.records import Attributes, Case, Events, Truth


def test_the_difference_is_paired_and_the_adapted_attacker_is_never_weaker(traces_case):
    found = tried(traces_case)
    assert {one.change.partition(":")[0] for one in found.tried} >= {"rotate", "shorten", "random-item", "draw"}
    for one in found.tried:
        assert one.risk.rate >= one.naive.rate
        assert one.difference.low <= one.difference.difference <= one.difference.high
        if one.full and not one.notes[1:]:
            assert one.difference.difference == pytest.approx(found.before.rate - one.risk.rate)
    assert any(one.pareto for one in found.tried)
    assert mitigations.WhatIf.from_json(found.to_json()) == found


def test_pareto_changes_are_not_beaten(bags_case):
    found = tried(bags_case, attacks=[attacks.TfIdf()])
    best = found.best
    rates, keeps = [one.risk.rate for one in best], [one.kept.overall for one in best]
    assert rates == sorted(rates)
    assert keeps == sorted(keeps)
    assert found.attacks == ("TfIdf",)


def test_what_is_kept_of_a_known_table():
    before = Bags([[2, 2, 0], [0, 2, 2]])
    case = Case(before, before, Truth(np.arange(2), "rows"))
    after = Case(before, Bags([[2, 0, 0], [0, 0, 2]]), case.truth)
    left = kept(case, mitigations.View(after, np.arange(2)))
    assert (left.observations, left.sizes) == (0.5, 0.5)
    same = kept(case, mitigations.View(case, np.arange(2)))
    assert (same.observations, same.sizes, same.people) == (1.0, 1.0, 1.0)


def test_rotation_keeps_every_observation_and_shortens_records(traces_case):
    left = kept(traces_case, mitigations.Rotate(2).released(traces_case))
    assert (left.observations, left.people) == (1.0, 1.0)
    assert left.sizes == pytest.approx(1 / 3)
    assert left.overall == left.sizes  # what is under several names can no longer be used together


def test_random_items_are_not_counted_as_kept(traces_case):
    left = kept(traces_case, mitigations.RandomItem(0.6).released(traces_case))
    assert left.sizes == 1.0
    assert left.overall == left.observations == pytest.approx(0.4, abs=0.06)


@pytest.mark.parametrize("p", [0.2, 0.6])
def test_random_items_keep_those_that_were_drawn_again_and_no_other(p):
    rng = np.random.default_rng(0)
    bags = Bags(rng.poisson(3.0, (2_000, 5)))
    case = Case(bags, bags, Truth(np.arange(2_000), "rows"))
    alone = kept(case, mitigations.RandomItem(p).released(case))
    assert alone.observations == pytest.approx(1 - p + p / 5)
    half = kept(case, mitigations.named(f"draw:0.5 + random-item:{p}").released(case))
    assert half.observations == pytest.approx((1 - p + p / 5) / 2, abs=0.01)
    traces = Traces(rng.integers(5, size=(2_000, 4)), n_tokens=5)
    cells = Case(traces, traces, case.truth)
    assert kept(cells, mitigations.RandomItem(p).released(cells)).observations == pytest.approx(1 - p + p / 5, abs=0.02)


def test_what_is_kept_counts_events_whatever_they_amount_to():
    log = {"who": [1, 1, 2, 2], "what": ["tea", "rum", "tea", "gin"], "day": [0, 1, 0, 1], "n": [98, 2, 1, 1]}
    bags = Events(log, user="who", items="what", time="day", amount="n").bags()
    case = Case(bags, bags, Truth(np.arange(2), "rows"))
    assert kept(case, mitigations.SuppressRare(2).released(case)).observations == 0.5


def test_merged_values_are_not_as_they_were():
    people = Attributes({"age": [31, 34, 40, 52], "sex": ["f", "m", "f", "m"]})
    case = Case(people, people, Truth(np.arange(4), "rows"))
    assert kept(case, mitigations.Generalise({"age": 10}).released(case)).observations == 6 / 8


def test_whoever_is_left_out_is_not_counted_as_not_found():
    table = Bags(np.eye(200, dtype=int) + np.random.default_rng(0).poisson(0.2, (200, 200)))
    case = Case(table, table, Truth(np.arange(200), "rows"))
    for side in ("queries", "targets"):
        found = tried(case, [mitigations.DropPeople(0.2)], attacks=[attacks.TfIdf()], trial=Trial(side=side))
        one = found.tried[0]
        assert found.before.rate == one.risk.rate == 1.0
        assert one.risk.n_queries == 80
        assert one.kept.people == pytest.approx(0.8)
        assert one.difference.low <= one.difference.difference == 0.0 <= one.difference.high


def test_whoever_has_nothing_left_is_not_counted_as_not_found():
    rare = np.eye(150, 151, 1, dtype=int)
    rare[:50] = 0
    rare[:, 0] = 1 - rare.any(axis=1)  # a third hold what many hold, the others what nobody else holds
    case = Case(Bags(rare), Bags(rare), Truth(np.arange(150), "rows"))
    one = tried(case, [mitigations.SuppressRare(2)], attacks=[attacks.TfIdf()]).tried[0]
    assert (one.risk.n_queries, one.kept.people) == (50, pytest.approx(1 / 3))
    assert one.risk.rate == pytest.approx(1 / 50)


def test_a_change_that_does_not_fit_is_refused_with_its_reason_and_others_are_tried(bags_case):
    found = tried(bags_case, [mitigations.Rotate(2), mitigations.Draw(0.5)], attacks=[attacks.TfIdf()])
    assert [one.change for one in found.tried] == ["draw:0.5"]
    assert [(one.change, "visits" in one.why) for one in found.refused] == [("rotate:2", True)]


def test_what_vanishes_is_the_gain_that_who_knows_takes_back():
    n = 60
    fine = np.zeros((n, 2 * n), dtype=int)
    fine[np.arange(n), 2 * np.arange(n)] = 1
    names = Vocabulary([f"{kind}-{i}" for i in range(n) for kind in "ab"])
    case = Case(*(Bags(fine, vocabulary=names) for _ in range(2)), Truth(np.arange(n), "rows"))
    change = mitigations.Coarsen({label: label.partition("-")[2] for label in names.labels})
    one = tried(case, [change], attacks=[attacks.TfIdf()]).tried[0]
    assert (one.risk.rate, one.vanishes) == (1.0, 1.0)
    assert one.naive.rate < 0.1


def test_a_use_of_the_records_is_what_is_kept(bags_case):
    found = tried(
        bags_case,
        [mitigations.Draw(0.5)],
        attacks=[attacks.TfIdf()],
        utility=lambda table: float(table.counts.sum()),
    )
    before, after = found.tried[0].kept.utility
    assert found.tried[0].kept.overall == after / before == pytest.approx(0.5, abs=0.05)


def test_a_search_keeps_most_of_what_the_records_are_used_for(bags_case):
    def first_item(table):
        return float((table.counts[:, [0]] > 0).sum())

    answer = mitigations.search(
        bags_case,
        0.9,
        changes=[mitigations.Draw, mitigations.SuppressRare],
        attacks=[attacks.TfIdf()],
        utility=first_item,
    )
    assert all(one.kept.utility is not None for one in answer.looked_at)
    assert answer.best.kept.overall == answer.best.kept.utility[1] / answer.best.kept.utility[0]


def test_queries_are_sampled_and_the_attacker_still_sees_all(traces_case):
    found = tried(traces_case, [mitigations.Draw(0.5)], trial=Trial(sample=40, seed=3))
    assert found.before.n_queries == found.tried[0].risk.n_queries == 40
    assert found.before.n_targets == 150


def test_an_attack_for_which_there_is_no_time_is_named_and_that_of_the_verdict_is_none_of_them(bags_case):
    found = tried(bags_case, [mitigations.Draw(0.5)], budget=0.001)
    assert found.left_out
    assert found.before.attack not in found.left_out
    assert found.before.attack in found.attacks
    assert all(found.before.attack in one.attacks and one.full for one in found.tried)


def test_bad_input_is_refused(traces_case):
    with pytest.raises(DataError, match="who is whom is not known"):
        tried(Case(traces_case.targets, traces_case.queries, None))
    with pytest.raises(OptionError, match="changes are values such as"):
        tried(traces_case, ["rotate:4"])
    with pytest.raises(OptionError, match="no attack to try changes with"):
        tried(traces_case, attacks=[])


def test_records_of_which_nothing_is_left_are_not_there_for_any_attack():
    rng = np.random.default_rng(0)
    bags = Bags(rng.poisson(0.15, (300, 40)))
    case = Case(bags, bags, Truth(np.arange(300), "rows"))
    for side in ("queries", "targets"):
        view = mitigations.Draw(0.2).released(case, 1, side)
        left = with_something(view)
        table = getattr(left.case, side)
        held = np.flatnonzero(np.asarray(getattr(view.case, side).counts.sum(axis=1)).ravel())
        assert len(table) == len(held) < 300
        people = left.part_of if side == "queries" else left.known_as
        assert people.tolist() == held.tolist()
        truth = left.case.truth.target
        known = np.arange(300)[truth] if left.known_as is None else left.known_as[truth]
        there = truth >= 0
        assert (known[there] == left.part_of[there]).all()
