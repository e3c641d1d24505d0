"""The attack that learns nothing of how two tables are related, and the one that goes by totals alone."""

import numpy as np
import pytest

from reidrisk import Bags, attacks, measure
from reidrisk.attacks.bidding import prices
from reidrisk.audit import AuditSpec, audit_case
from reidrisk.audit.plan import applicable
from reidrisk.records import Case, Events, Truth
from reidrisk.scenarios import Split


def bursty(rng, n=150, items=200):
    """Return two tables of people with tastes of their own, each event logged several times at once."""
    taste = rng.gamma(0.15, 1.0, (n, items)) * (1.0 / (np.arange(items) + 3.0))
    taste *= 12.0 / taste.sum(axis=1, keepdims=True)
    both = (rng.poisson(taste) * rng.geometric(0.2, taste.shape) for _ in range(2))
    return [Bags(counts + np.eye(n, items, dtype=int)) for counts in both]


def test_bids_part_queries_as_the_best_assignment_does():
    from scipy.optimize import linear_sum_assignment

    rng = np.random.default_rng(3)
    nats = rng.normal(0.0, 8.0, (40, 50))
    near = np.argsort(-nats, axis=1)
    paid = nats - prices(near, np.take_along_axis(nats, near, axis=1), 50)
    _, columns = linear_sum_assignment(nats, maximize=True)
    assert np.mean(paid.argmax(axis=1) == columns) > 0.85
    assert np.mean(nats.argmax(axis=1) == columns) < 0.7


def test_whoever_holds_both_tables_finds_more_and_ties_of_equal_records_stay():
    one, two = bursty(np.random.default_rng(0))
    truth = np.arange(len(one))
    alone, both = (measure.random_user(attacks.Matched(jointly=way), one, two, truth=truth) for way in (False, True))
    assert both.rate > alone.rate + 0.03
    assert (alone.setting, both.setting) == ("random user", "matching")
    twice = Bags(np.repeat(one.counts.toarray(), 2, axis=0))
    assert (attacks.Matched().fit(twice).link(two).n_ties % 2 == 0).all()


@pytest.mark.parametrize("n_queries", [1, 60])
def test_nobody_bids_where_queries_are_not_one_per_target(n_queries):
    one, two = bursty(np.random.default_rng(1), n=60)
    few = one.take(np.arange(30))
    attack = attacks.Matched().fit(few).look_around(two.take(np.arange(n_queries)))
    assert attack.setting == "random user"
    assert attack.rests_on == ()


def test_order_and_names_of_items_make_no_difference():
    rng = np.random.default_rng(2)
    one, two = bursty(rng, n=80)
    items, people = rng.permutation(one.n_tokens), rng.permutation(len(one))
    for attack in (attacks.Matched, attacks.Totals):
        there = attack().fit(one).link(two)
        other = attack().fit(Bags(one.counts.toarray()[people][:, items])).link(Bags(two.counts.toarray()[:, items]))
        clear = (there.n_ties == 1) & (other.n_ties == 1)
        assert np.mean(people[other.target[clear]] == there.target[clear]) > 0.97


def test_totals_find_people_whose_items_were_all_replaced():
    rng = np.random.default_rng(4)
    totals = np.exp(rng.normal(5.0, 1.5, 100)).astype(int) + 1
    one, two = (Bags(rng.multinomial(totals, np.full(30, 1 / 30))) for _ in range(2))
    truth = np.arange(100)
    assert measure.random_user(attacks.Totals(), one, two, truth=truth).rate > 0.7
    doubled = Bags(2 * two.counts.toarray())
    assert measure.random_user(attacks.Totals(), one, doubled, truth=truth).rate > 0.5
    assert measure.random_user(attacks.Hellinger(), one, two, truth=truth).rate < 0.1
    found = audit_case(Case(one, two, Truth(truth, "given")), AuditSpec(seed=1, attacks=("totals", "hellinger")))
    assert found.strongest.attack == "Totals"


def test_totals_are_not_asked_where_a_cut_made_the_parts_agree_in_size():
    """Halves of each record hold as much as each other, whoever they are of."""
    rng = np.random.default_rng(5)
    totals = np.exp(rng.normal(5.0, 1.5, 80)).astype(int) + 1
    log = Events(
        {
            "who": np.repeat(np.arange(80), totals),
            "what": rng.integers(30, size=totals.sum()),
            "when": np.arange(totals.sum()),
        },
        user="who",
        items="what",
        time="when",
    )
    case = Split(log, by="time").case()
    assert measure.random_user(attacks.Totals(), case.targets, case.queries, case.truth).rate > 0.5
    assert attacks.Totals not in {entry.attack for entry in applicable(case)}
    assert attacks.Totals in {entry.attack for entry in applicable(Case(case.targets, case.queries, case.truth))}
