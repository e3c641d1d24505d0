"""People are found by what they do not share, where items were divided up and too little shows that they were."""

import numpy as np
import pytest

from reidrisk import Bags, attacks
from reidrisk.audit import AuditSpec, audit_case
from reidrisk.base import DataError
from reidrisk.records import Case, Traces, Truth


def likes(n=150, items=17, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, items)) < rng.beta(3.0, 2.0, items)


def divided(has, share, seed=1):
    """Return two tables without a common item, and without the people of whom nothing is left in one of them."""
    side = np.random.default_rng(seed).random(has.shape) < share
    one, two = has & ~side, has & side
    both = one.any(axis=1) & two.any(axis=1)
    return Bags(one[both].astype(np.int64)), Bags(two[both].astype(np.int64))


def found(attack, targets, queries):
    links = attack.fit(targets).look_around(queries).link(queries, probability=True)
    own = attack.score(queries, np.arange(len(queries)))
    return links, float(((own == links.score) / links.n_ties).mean())


@pytest.mark.parametrize("share", [0.5, 0.25])
def test_it_finds_people_whom_all_others_miss(share):
    targets, queries = divided(likes(), share)
    links, ours = found(attacks.Disjoint(), targets, queries)
    assert ours > 5.0 / len(targets)
    assert found(attacks.TfIdf(), targets, queries)[1] < 1.0 / len(targets)
    assert ((links.probability > 0.0) & (links.probability <= 1.0)).all()


def test_an_audit_asks_it_where_nothing_is_seen_to_be_shared():
    targets, queries = divided(likes(), 0.5)
    case = Case(targets, queries, Truth(np.arange(len(targets)), "given"))
    spec = AuditSpec(seed=1, attacks=("disjoint", "naive-bayes"))
    assert audit_case(case, spec).strongest.attack == "Disjoint"
    assert attacks.Disjoint.applies(targets, queries)
    rng = np.random.default_rng(0)
    taste = rng.gamma(0.2, 4.0, (200, 60))
    one, two = (Bags(rng.poisson(taste) + np.eye(200, 60, dtype=int)) for _ in range(2))
    assert not attacks.Disjoint.applies(one, two)
    assert not attacks.Disjoint.applies(one.take(slice(0, 3)), two.take(slice(0, 3)))


def test_one_query_is_linked_as_all_are():
    targets, queries = divided(likes(), 0.5)
    alone = attacks.Disjoint().fit(targets).look_around(queries.take(slice(0, 3)))
    assert alone.model_.apart
    target = alone.link(queries.take(slice(0, 3))).target
    shared = queries.counts[:3].minimum(targets.counts[target])
    assert shared.nnz == 0


def test_whether_an_audit_asks_it_does_not_depend_on_the_order_of_rows():
    targets, queries = divided(likes(80, seed=4), 0.5)
    orders = [np.random.default_rng(seed).permutation(len(targets)) for seed in range(4)]
    assert len({attacks.Disjoint.applies(targets.take(one), queries.take(one)) for one in orders}) == 1
    alike = Bags(np.ones((30, 4), dtype=np.int64))
    assert not attacks.Disjoint.applies(alike, alike)


def test_it_is_for_bags_alone():
    with pytest.raises(DataError, match="Disjoint compares bags, not Traces"):
        attacks.Disjoint().fit(Traces([[1, 2]], n_tokens=3))
