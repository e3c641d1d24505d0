"""Facts of a person in the table: drawn without replacement from what the target holds, some of them wrong."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk import Bags
from reidrisk.attacks import NaiveBayes, ProfileBayes
from reidrisk.attacks.profile.sized import Model, Tally
from reidrisk.attacks.profile.sized.facts import Facts
from reidrisk.attacks.profile.sized.rows import all_scores
from reidrisk.attacks.rehearsed.explained import held_factors
from reidrisk.attacks.rehearsed.ways import find_way
from reidrisk.records.thinning import drawn as thinned
from reidrisk.scenarios import Knows, Split

POPULARITY = np.array([0.5, 0.3, 0.2])


def likelihood(target, counts, wrong, items=False):
    """Return the probability of one sequence of these events."""
    query = Tally(Bags([counts]).counts)
    model = Model(facts=Facts(wrong, items)).facing(query)
    score = all_scores(model, Tally(Bags([target]).counts), query, POPULARITY)[0, 0]
    return math.exp(score + np.array(counts) @ np.log(POPULARITY))


def every(m):
    return [np.bincount(events, minlength=3) for events in itertools.product(range(3), repeat=m)]


@pytest.mark.parametrize("target", [[2, 0, 1], [0, 4, 0], [3, 3, 2]])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_facts_are_any_of_the_events_and_each_is_drawn_once(target, m):
    n = sum(target)
    for counts in every(m):
        drawn = math.prod(d - j for d, c in zip(target, counts, strict=True) for j in range(c)) / math.perm(n, m)
        assert likelihood(target, counts, wrong=1e-9) == pytest.approx(drawn, abs=1e-6)


@pytest.mark.parametrize("target", [[2, 0, 1], [0, 4, 0], [3, 3, 2]])
@pytest.mark.parametrize("wrong", [0.003, 0.1, 0.3])
def test_probabilities_of_all_facts_never_add_up_to_more_than_one(target, wrong):
    for m in (1, 2, 3):
        total = sum(likelihood(target, counts, wrong) for counts in every(m))
        assert 0.3 < total <= 1.0 + 1e-9  # of what is wrong, only the likeliest way counts


def test_where_each_fact_is_another_item_it_does_not_matter_how_often_the_target_has_it():
    for counts in ([1, 0, 0], [1, 0, 1]):
        assert likelihood([9, 0, 1], counts, 1e-9, items=True) == pytest.approx(
            1.0 / math.perm(2, sum(counts)), abs=1e-6
        )


@given(st.integers(0, 10_000))
def test_scores_are_those_of_an_urn_computed_target_by_target(seed):
    rng = np.random.default_rng(seed)
    known = Bags(rng.poisson(rng.gamma(0.5, 4.0, (12, 6))) + np.eye(12, 6, dtype=int) + 1)
    case = Knows(known, facts=4).case(seed)
    tables = [Tally(bags.counts) for bags in (case.targets, case.queries)]
    popularity = np.asarray(known.counts.sum(axis=0)).ravel() + 0.5
    model = Model(facts=Facts(1e-12)).facing(tables[1])
    found = all_scores(model, *tables, popularity / popularity.sum())
    exact = held_factors(case.targets, case.queries, wrong=1e-12)
    held = exact > math.log(1e-11)
    assert np.allclose(found[held], exact[held], atol=0.03)  # larger counts are interpolated
    assert found[~held].max(initial=-math.inf) < -4.0  # whoever lacks one of them is hardly the right one


def tastes(n=400, items=8, seed=0):
    """Return records of a dozen events of few items, of which many people have the same ones."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 40, n)
    return Bags(
        np.stack([rng.multinomial(k, p) for k, p in zip(sizes, rng.dirichlet(np.full(items, 0.5), n), strict=True)])
    )


@pytest.mark.parametrize("errors", [0.0, 0.1])
def test_known_facts_are_seen_to_be_facts_and_how_many_of_them_are_wrong(errors):
    rng = np.random.default_rng(0)
    log = Bags(rng.poisson(rng.gamma(0.1, 6.0, (400, 60))) + np.eye(400, 60, dtype=int))
    case = Knows(log, facts=6, errors=errors).case(2)
    found = ProfileBayes().fit(case.targets).look_around(case.queries).model_.facts
    assert found is not None
    assert abs(found.wrong - errors) <= 0.1


@pytest.mark.parametrize(
    "how", [{"by": "random"}, {"by": "random", "share": 0.2}, {"by": "random", "independent": True}]
)
def test_other_events_of_the_same_people_are_no_facts(how):
    case = Split(tastes(seed=3), **how).case(0)
    assert ProfileBayes().fit(case.targets).look_around(case.queries).model_.facts is None


def test_who_has_fewer_than_is_known_is_not_named_and_more_are_found():
    case = Knows(tastes(seed=5), facts=8).case(0)
    attack = ProfileBayes().fit(case.targets).look_around(case.queries)
    links = attack.link(case.queries, probability=True)
    right = links.target == case.truth.target
    simple = NaiveBayes().fit(case.targets).look_around(case.queries).link(case.queries)
    assert right.mean() > np.mean(simple.target == case.truth.target) + 0.04
    held = case.targets.take(links.target).counts.toarray() >= case.queries.counts.toarray()
    assert held.all()
    assert abs(links.probability.mean() - right.mean()) < 0.06
    assert find_way(case.targets, case.queries, seed=0).way == "held"


def test_counts_written_twice_change_nothing():
    case = Knows(tastes(seed=5), facts=8).case(0)
    twice = [bags.with_counts(2 * bags.counts.data) for bags in (case.targets, case.queries)]
    once, again = (
        ProfileBayes().fit(targets).look_around(queries).link(queries)
        for targets, queries in ((case.targets, case.queries), twice)
    )
    assert np.array_equal(once.target, again.target)


def urn(targets, queries):
    """Return the rate of an exact urn, ten lines long."""
    return held_factors(targets, queries, wrong=1e-9).argmax(axis=1)


def test_facts_of_any_number_are_seen_to_be_facts_and_as_many_people_found_as_by_an_urn():
    table = tastes(n=500, seed=7)
    sizes = np.random.default_rng(0).integers(3, 16, 500)
    totals = np.asarray(table.counts.sum(axis=1)).ravel()
    rows = np.flatnonzero(totals >= sizes)
    queries = table.take(rows)
    queries = queries.with_counts(thinned(queries.counts, sizes[rows], np.random.default_rng(1)))
    attack = ProfileBayes().fit(table).look_around(queries)
    assert attack.model_.facts is not None
    exact = np.mean(urn(table, queries) == rows)
    assert np.mean(attack.link(queries).target == rows) > exact - 0.03


def test_one_short_query_spoils_no_other():
    case = Knows(tastes(n=500, seed=9), facts=10).case(0)
    short = Bags(np.eye(1, 8, dtype=int))
    both = Bags(np.vstack([case.queries.counts.toarray(), short.counts.toarray()]))
    alone, beside = (
        np.mean(
            ProfileBayes().fit(case.targets).look_around(some).link(some).target[: len(case.queries)]
            == case.truth.target
        )
        for some in (case.queries, both)
    )
    assert abs(alone - beside) < 0.02


def test_other_events_are_no_facts_where_most_records_are_shorter_than_a_query():
    rng = np.random.default_rng(0)
    habits, sizes = rng.dirichlet(np.full(40, 0.1), 500), np.where(rng.random(500) < 0.7, 2, 40)
    targets = Bags(np.stack([rng.multinomial(n, p) for n, p in zip(sizes, habits, strict=True)]))
    queries = Bags(np.stack([rng.multinomial(5, p) for p in habits]))
    assert ProfileBayes().fit(targets).look_around(queries).model_.facts is None


def test_where_facts_are_wrong_probabilities_know_it():
    rng = np.random.default_rng(0)
    log = Bags(rng.poisson(rng.gamma(0.2, 3.0, (400, 40))) + np.eye(400, 40, dtype=int))
    case = Knows(log, facts=6, errors=0.1).case(1)
    links = ProfileBayes().fit(case.targets).look_around(case.queries).link(case.queries, probability=True)
    assert abs(links.probability.mean() - np.mean(links.target == case.truth.target)) < 0.1
