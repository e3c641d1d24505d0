"""The rate without each person, against measuring again without them; and how often the intervals hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Traces, attacks, measure
from reidrisk.attacks.scoreboard import Cells
from reidrisk.base.results import Difference, Risk
from reidrisk.measure import jackknife
from reidrisk.records import Bags, TopSets


def people(rng, n_targets, n_queries, several, strangers):
    """Draw the truth: persons with one query or several, targets without query, queries without target."""
    n = min(n_targets, n_queries)
    truth = rng.integers(0, n_targets, n_queries) if several else rng.permutation(n_targets)[:n]
    truth[rng.random(len(truth)) < strangers] = -1
    truth[:2] = rng.permutation(n_targets)[:2]
    return truth


def left_out_by_hand(attack, queries, truth, n_targets):
    """Take each person out of both tables, and link everybody else again with what the attack has learnt."""
    rates = []
    everyone = [("target", i) for i in range(n_targets)] + [("query", j) for j in np.flatnonzero(truth < 0)]
    for side, i in everyone:
        stays = truth != i if side == "target" else np.arange(len(truth)) != i
        rows = np.delete(np.arange(n_targets), i) if side == "target" else np.arange(n_targets)
        place = np.full(n_targets + 1, -1)
        place[rows] = np.arange(len(rows))
        view, asked = attack.narrowed(rows), queries.take(np.flatnonzero(stays))
        rates.append(measure.credits(view, asked, view.link(asked), place[truth[stays]]).mean())
    return np.array(rates)


def records(kind, rng, n, q, truth):
    """Return an attack and two tables with many ties, the queries being noisy copies of their targets."""
    tokens = rng.integers(0, 5, (n, 3))
    asked = np.where(rng.random((q, 3)) < 0.5, tokens[truth], rng.integers(0, 5, (q, 3)))
    tokens[rng.random(tokens.shape) < 0.1], asked[rng.random(asked.shape) < 0.1] = -1, -1
    a, b = Traces(tokens, 5), Traces(asked, 5)
    if kind == "bags":
        counts = (
            [[(row == v).sum() for v in range(5)] for row in tokens],
            [[(r == v).sum() for v in range(5)] for r in asked],
        )
        return attacks.Overlap(), Bags(counts[0]), Bags(counts[1])
    if kind == "cells":
        return attacks.Scoreboard(), *(Cells(np.where(x < 0, np.nan, x)) for x in (tokens, asked))
    if kind == "sets":
        held = np.stack([np.where(tokens < 0, 0, tokens), np.where(tokens < 0, 0, tokens) + 5], axis=2)
        return attacks.FullInformation(TopSets(held, 10)), Traces(tokens, 10), Traces(asked, 10)
    chosen = {
        "hamming": attacks.Hamming(),
        "weighted": attacks.WeightedHamming(top_k=2, noise=0.1),
        "bayes": attacks.ProfileBayes(top_k=2, threads=1),
    }
    return chosen[kind], a, b


@pytest.mark.parametrize("kind", ["hamming", "weighted", "bayes", "bags", "cells", "sets"])
@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 2**20), several=st.booleans(), strangers=st.sampled_from([0.0, 0.3]))
def test_the_rate_without_each_person_is_what_measuring_again_finds(kind, seed, several, strangers):
    rng = np.random.default_rng(seed)
    n, q = int(rng.integers(3, 14)), int(rng.integers(3, 14))
    truth = people(rng, n, q, several, strangers)
    attack, a, b = records(kind, rng, n, len(truth), truth)
    risk = measure.random_user(attack, a, b, truth=truth)
    assert risk.covers == "people"
    assert risk.rates_without == pytest.approx(left_out_by_hand(attack.fit(a), b, truth, n), abs=1e-9)


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**20))
def test_within_groups_a_person_leaves_the_group_of_each_record(seed):
    rng = np.random.default_rng(seed)
    n = 12
    truth = people(rng, n, n, several=True, strangers=0.2)
    attack, a, b = records("hamming", rng, n, n, truth)
    groups = rng.integers(0, 3, n), rng.integers(0, 3, n)
    risk = measure.random_user(attack, a, b, truth=truth, groups=groups)
    for i in range(n):
        rows, stays = np.delete(np.arange(n), i), np.flatnonzero(truth != i)
        known = np.where(truth[stays] > i, truth[stays] - 1, truth[stays])
        if not (known >= 0).any():
            continue
        again = measure.random_user(
            attack, a.take(rows), b.take(stays), truth=known, groups=(groups[0][rows], groups[1][stays])
        )
        assert risk.rates_without[i] == pytest.approx(again.rate, abs=1e-9)


def alike(rng, n, kinds, popularity=None):
    """Give each of n people one of so many records, the same in both tables."""
    tokens = rng.choice(kinds, n, p=popularity)[:, None]
    return Traces(tokens, kinds), Traces(tokens, kinds)


def share(found, expected):
    return np.mean([risk.low <= expected <= risk.high for risk in found])


@pytest.mark.parametrize("n", [200, 1_000])
def test_intervals_hold_the_expected_rate_where_people_share_records(n):
    """Of 10 n equally likely records; with independent credits, the intervals held it 88 times in 100 at n = 1,000."""
    kinds, rng = 10 * n, np.random.default_rng(n)
    found = [measure.random_user(attacks.Hamming(), *alike(rng, n, kinds)) for _ in range(300)]
    expected = kinds * (1.0 - (1.0 - 1.0 / kinds) ** n) / n  # different records in people
    assert np.mean([risk.rate for risk in found]) == pytest.approx(expected, abs=0.005)
    assert share(found, expected) >= 0.94
    assert all(risk.covers == "people" for risk in found)


@pytest.mark.parametrize("pairs", [0.5, 2.0, 4.0])
def test_intervals_hold_where_nearly_everyone_is_unique(pairs):
    n, rng = 150, np.random.default_rng(int(10 * pairs))
    kinds = int(n * (n - 1) / 2 / pairs)
    found = [measure.random_user(attacks.Hamming(), *alike(rng, n, kinds)) for _ in range(300)]
    assert share(found, kinds * (1.0 - (1.0 - 1.0 / kinds) ** n) / n) >= 0.94
    assert all(risk.covers == "people" for risk in found)


def noisy(rng, n, kinds, epochs, kept, skew=0.0):
    weight = np.arange(1, kinds + 1) ** -skew
    draw = [rng.choice(kinds, (n, epochs), p=weight / weight.sum()) for _ in range(2)]
    return Traces(draw[0], kinds), Traces(np.where(rng.random((n, epochs)) < kept, draw[0], draw[1]), kinds)


@pytest.mark.parametrize(("kept", "skew"), [(0.5, 1.0), (0.1, 0.0), (0.0, 0.0)])
def test_intervals_hold_for_noisy_records_down_to_a_guess(kept, skew):
    rng = np.random.default_rng(int(100 * kept))
    found = [measure.random_user(attacks.Hamming(), *noisy(rng, 100, 30, 4, kept, skew)) for _ in range(300)]
    assert share(found, np.mean([risk.rate for risk in found])) >= 0.94
    assert all(risk.covers == "people" for risk in found)


def test_where_nobody_is_found_the_upper_end_is_that_of_as_many_independent_people():
    """At a rate of 0 nobody's leaving changes anything, and Gaffke's end is Clopper and Pearson's."""
    n = 100
    tokens = np.arange(n)[:, None]
    risk = measure.random_user(attacks.Hamming(), Traces(tokens, n), Traces(np.roll(tokens, 1), n))
    assert (risk.rate, risk.low, risk.covers, risk.design_effect) == (0.0, 0.0, "people", 1.0)
    assert risk.high == pytest.approx(1.0 - 0.025 ** (1 / n))


def test_one_person_who_hides_many_widens_the_interval():
    """Everybody is taken for the same target, and would be found without it: a rate of 0 then proves little."""
    n = 50
    tokens = np.column_stack([np.arange(n), np.full(n, 99), np.full(n, 98)])
    asked = tokens.copy()
    tokens[1:, 1:] = 97  # of the known records, only that of person 0 agrees with everyone in two epochs
    risk = measure.random_user(attacks.Hamming(), Traces(tokens, 100), Traces(asked, 100))
    assert (risk.rate, risk.rates_without[0]) == (1 / n, 1.0)
    assert risk.high > 0.5


def with_hubs(rng, n, hubs, own=0):
    """Write a default in 55 of 100 cells of the queries; the first targets hold nothing else but in their own cells."""
    tokens = rng.integers(1, 200, (n, 4))
    asked = np.where(rng.random((n, 4)) < 0.45, tokens, 0)
    tokens[:hubs, own:] = 0
    return Traces(tokens, 200), Traces(asked, 200)


@pytest.mark.parametrize(("n", "hubs", "own"), [(150, 2, 0), (150, 10, 0), (150, 2, 1), (600, 2, 0), (600, 3, 0)])
def test_a_few_targets_that_attract_many_together_promise_the_draw_of_queries_only(n, hubs, own):
    """Without one of them the others still do, so that the jackknife sees nothing: it held as little as 41 in 100."""
    rng = np.random.default_rng(n + hubs)
    for _ in range(10):
        risk = measure.random_user(attacks.Hamming(), *with_hubs(rng, n, hubs, own))
        assert (risk.covers, risk.rates_without) == ("queries", None)
        assert next(note for note in risk.notes if note.code == "covers-records")["why"] == "few-attract-many"


def test_one_target_that_attracts_many_or_a_crowd_of_them_keep_people():
    """The first is seen by leaving it out, and of the others there are some among any people like these."""
    rng = np.random.default_rng(1)
    none, one, crowd = (measure.random_user(attacks.Hamming(), *with_hubs(rng, 150, hubs)) for hubs in (0, 1, 20))
    assert none.covers == one.covers == crowd.covers == "people"
    assert one.high > none.rate > none.low > one.rate


def test_an_attack_that_may_not_answer_promises_the_draw_of_queries_only():
    rng = np.random.default_rng(0)
    a, b = noisy(rng, 60, 6, 4, 0.6)
    for attack in (attacks.LooseSets(2), attacks.ProfileBayes(min_probability=0.2, threads=1)):
        risk = measure.random_user(attack, a, b)
        assert (risk.covers, risk.rates_without, risk.design_effect) == ("queries", None, 1.0)


def test_an_attack_that_asks_which_queries_are_unique_promises_nothing_of_other_queries():
    """A draw among the queries there are still leaves all of them to look at, so that a sample is covered."""
    a, b = noisy(np.random.default_rng(0), 60, 6, 4, 0.6)
    for attack in (attacks.StrictSets(2), attacks.LooseSets(2, require_unique=True)):
        assert measure.random_user(attack, a, b).covers == "none"
        assert measure.random_user(attack, a, b, sample=50, seed=0).covers == "queries"


def test_a_link_that_is_not_the_best_score_is_noticed():
    class Second(attacks.Hamming):
        def link(self, queries, probability=False, progress=None):
            rows, scores = self.candidates(queries, 2)
            return attacks.Links(target=rows[:, 1], score=scores[:, 1], n_ties=np.ones(len(rows), dtype=np.int64))

    a, b = noisy(np.random.default_rng(0), 60, 6, 4, 0.6)
    assert measure.random_user(Second(), a, b).covers == "queries"


def test_too_large_tables_and_samples_promise_the_draw_of_queries_only(monkeypatch):
    a, b = noisy(np.random.default_rng(1), 60, 6, 4, 0.6)
    whole = measure.random_user(attacks.Hamming(), a, b)
    assert whole.covers == "people"
    assert measure.random_user(attacks.Hamming(), a, b, sample=59, seed=0).covers == "queries"
    monkeypatch.setattr(jackknife, "PAIRS", 100)
    short = measure.random_user(attacks.Hamming(), a, b)
    assert (short.rate, short.covers, short.rates_without) == (whole.rate, "queries", None)


def test_a_matching_promises_no_coverage():
    a, b = noisy(np.random.default_rng(1), 30, 6, 4, 0.6)
    risk = measure.matching(attacks.Hamming(), a, b, seed=0)
    assert (risk.covers, risk.everyone) == ("none", True)
    apart = measure.random_user(attacks.Hamming(), a, b)
    assert measure.difference(risk, apart).covers == "none"


def test_several_queries_of_a_person_count_as_one_person():
    """Ten records of each of 20 people, all found, prove no more than 20 people do."""
    tokens = np.arange(20)[:, None]
    a, b = Traces(tokens, 20), Traces(np.repeat(tokens, 10, axis=0), 20)
    risk = measure.random_user(attacks.Hamming(), a, b, truth=np.repeat(np.arange(20), 10))
    assert (risk.queries_per_person, risk.design_effect) == (10.0, 10.0)
    assert risk.low == pytest.approx(0.025 ** (1 / 20))
    one_each = measure.random_user(attacks.Hamming(), a, a)
    assert (one_each.low, one_each.queries_per_person) == (pytest.approx(risk.low), 1.0)


def test_differences_hold_the_expected_difference_where_people_share_records():
    """One attack sees one epoch of shared records and the other two: the second is right more often."""
    rng, n = np.random.default_rng(3), 300
    found = []
    for _ in range(300):
        tokens = rng.integers(0, 1_000, (n, 2))
        a = Traces(tokens, 1_000)
        two, one = (measure.random_user(attacks.Hamming(), a.epochs(r), a.epochs(r)) for r in (2, 1))
        found.append(measure.difference(two, one))
    assert all(gap.covers == "people" for gap in found)
    assert share(found, np.mean([gap.difference for gap in found])) >= 0.94


def test_what_an_interval_covers_is_saved_and_older_results_promise_less():
    a, b = noisy(np.random.default_rng(1), 40, 6, 4, 0.6)
    risk = measure.random_user(attacks.Hamming(), a, b)
    back = Risk.from_json(risk.to_json())
    assert back == risk
    assert (back.covers, back.design_effect, back.rates_without) == ("people", risk.design_effect, None)
    old = {name: value for name, value in risk.to_dict().items() if name not in ("covers", "design_effect")}
    assert (Risk.from_dict(old).covers, Risk.from_dict(old | {"setting": "matching"}).covers) == ("queries", "none")
    gap = measure.difference(risk, risk)
    assert Difference.from_json(gap.to_json()) == gap
    assert Difference.from_dict({k: v for k, v in gap.to_dict().items() if k != "covers"}).covers == "queries"
    with pytest.raises(ValueError, match="covers"):
        Risk.from_dict(old | {"covers": "everything"})
    with pytest.raises(ValueError, match="design_effect"):
        Risk.from_dict(old | {"design_effect": 0.5})
