"""A search finds a change that holds for fresh people, and says so where there is none."""

import numpy as np
import pytest

from reidrisk import Bags, Traces, attacks, mitigations
from reidrisk.attacks import BM25
from reidrisk.base.errors import DataError, OptionError
from reidrisk.mitigations import Coarsen, Draw, Rotate, Shorten, SuppressRare, Together, Trial, Verdict, named, search
from reidrisk.mitigations.scoring import found as scored
from reidrisk.records import Case, Events, Truth
from reidrisk.scenarios import TwoTables

N, AIM = 300, 0.25
ATTACK = attacks.TfIdf()


def world(seed):
    rng = np.random.default_rng(seed)
    tastes = rng.gamma(0.3, 2.0, (N, 25))
    return Case(*(Bags(rng.poisson(tastes)) for _ in range(2)), Truth(np.arange(N), "rows"))


def fresh_rate(change, worlds):
    rows = np.arange(N)
    return np.mean(
        [
            max(scored(ATTACK, view(case, 1), rows)[0].mean() for view in (change.released, change.known_to_attacker))
            for case in worlds
        ]
    )


def test_fresh_people_are_within_the_aim_in_almost_all_trials():
    worlds = [world(1_000 + i) for i in range(4)]
    rates, kept = {}, []
    for seed in range(25):
        answer = search(
            world(seed), AIM, changes=[Draw, Shorten, SuppressRare], attacks=[ATTACK], trial=Trial(seed=seed)
        )
        if answer.found is not None:
            text = answer.found.change
            rates[text] = rates.get(text) or fresh_rate(named(text), worlds)
            kept.append(rates[text] <= AIM)
            assert answer.found.risk.high <= AIM
    assert len(kept) >= 15  # mostly there is an answer
    assert sum(kept) >= len(kept) - 1


def test_an_aim_that_one_change_alone_cannot_reach_is_tried_with_two():
    rng = np.random.default_rng(0)
    habits = rng.integers(60, size=(400, 2))
    sides = [Traces(np.take_along_axis(habits, rng.integers(2, size=(400, 3)), axis=1), n_tokens=60) for _ in range(2)]
    case = Case(*sides, Truth(np.arange(400), "rows"))
    answer = search(case, 0.05, changes=[Rotate, Shorten], attacks=[ATTACK, attacks.Hamming()])
    assert answer.found is None  # one item that few share is enough
    assert answer.best.risk.high > 0.05
    assert len(answer.looked_at) <= 3


def test_nothing_is_within_the_aim_unless_the_slow_attack_of_the_verdict_confirmed_it():
    rng = np.random.default_rng(0)
    who, day = np.repeat(np.arange(160), 12), rng.integers(60, size=1_920)
    log = {"who": who, "what": rng.integers(6, size=len(who)), "day": np.datetime64("2024-01-01") + day}
    case = TwoTables(*(Events(log, user="who", items="what", time="day") for _ in range(2))).case()
    entries = tuple(attacks.registry())
    slow, quick = (next(one for one in entries if one.name == name) for name in ("coincidences", "bm25"))
    verdict = Verdict.of(case, (quick, slow), Trial())
    assert verdict.risk.attack == "Coincidences"
    answer = search(case, 0.3, budget=0.01, changes=[Coarsen], verdict=verdict)
    assert answer.before.rate == verdict.risk.rate > 0.9
    assert "Coincidences" in answer.attacks
    assert answer.found is None  # few items are left, and the days are as they were
    assert all(one.full and one.risk.rate > 0.3 for one in answer.looked_at)
    screened = [scored(BM25(), Coarsen(keep=1).released(case), np.arange(160))[0].mean()]
    assert max(screened) < 0.3  # by which alone there would have been an answer


def test_the_level_is_divided_by_what_is_looked_at():
    answer = search(world(0), 0.9, changes=[Draw], attacks=[ATTACK])
    assert answer.reached
    assert answer.level == pytest.approx(1 - 0.05 / 3)
    assert answer.found.risk.level == answer.level
    assert answer.found.risk.n_queries == N // 2
    assert mitigations.Found.from_json(answer.to_json()) == answer


def test_changes_together_are_made_one_after_the_other(traces_case):
    both = named("shorten:periods=4 + rotate:2")
    assert both == Together((Shorten(periods=4), Rotate(2)))
    view = both.released(traces_case)
    assert len(view.case.queries) == 300
    assert (view.case.queries.observed.sum(axis=1) == 2).all()
    assert (np.bincount(view.part_of) == 2).all()
    known = both.known_to_attacker(traces_case, rows=np.array([5, 9]))
    assert set(known.part_of.tolist()) == {5, 9}
    noisy = named("random-item:0.5 + draw:0.5").known_to_attacker(traces_case)
    assert noisy.noise == pytest.approx(1 - 0.5**0.5)


def test_what_cannot_be_searched_is_refused():
    case = world(0)
    with pytest.raises(OptionError, match="max_risk must lie strictly between 0 and 1"):
        search(case, 3)
    with pytest.raises(DataError, match="who is whom is not known"):
        search(Case(case.targets, case.queries, None), 0.1)
    with pytest.raises(DataError, match="do not know their visits"):
        search(case, 0.1, changes=[Rotate])
    small = Case(case.targets.take(slice(0, 50)), case.queries.take(slice(0, 50)), Truth(np.arange(50), "rows"))
    with pytest.raises(DataError, match="needs at least 80 of them, not 50"):
        search(small, 0.1)
    with pytest.raises(OptionError, match="DropPeople is judged on half"):
        named("drop-people:0.1 + draw:0.5")
