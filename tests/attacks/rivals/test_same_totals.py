"""Totals that a change of items kept are seen without truth, and those that are alike are not taken for kept."""

import numpy as np
import pytest

from reidrisk import Bags, attacks
from reidrisk.attacks.rivals.same_totals import kept_totals
from reidrisk.audit import AuditSpec, audit_case
from reidrisk.records import Case, Truth


def changed_items(rng, n=200, items=60, kept=0.15):
    """Return two tables of the same totals; most events of the second have another item."""
    totals = rng.geometric(0.02, n) + 3
    taste = rng.dirichlet(np.full(items, 0.3), n)
    one = np.stack([rng.multinomial(total, own) for total, own in zip(totals, taste, strict=True)])
    stays = rng.binomial(one, kept)
    other = np.stack([rng.multinomial(gone, np.full(items, 1 / items)) for gone in (one - stays).sum(axis=1)])
    order = rng.permutation(n)
    return Bags(one), Bags((stays + other)[order]), order


def rate(attack, targets, queries, truth):
    links = attack.fit(targets).look_around(queries).link(queries)
    return float(np.where(links.target == truth, 1.0 / links.n_ties, 0.0).mean())


def test_kept_totals_and_items_together_find_more_than_either():
    one, two, truth = changed_items(np.random.default_rng(0))
    both = rate(attacks.SameTotals(), one, two, truth)
    assert both > rate(attacks.Matched(), one, two, truth) + 0.1
    assert both > rate(attacks.Totals(), one, two, truth) + 0.1
    given = attacks.SameTotals().fit(one).look_around(two).given_sizes()
    assert np.array_equal(given.link(two).target, attacks.Matched().fit(one).link(two).target)
    assert [note.code for note in given.rests_on] == ["linked-together"]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("draw", ["geometric", "poisson", "one", "halves"])
def test_totals_that_are_alike_are_not_taken_for_kept(seed, draw):
    rng = np.random.default_rng(seed)
    sizes = rng.geometric(0.02, 300) + 5
    sides = {
        "geometric": lambda: rng.geometric(0.02, 300),
        "poisson": lambda: rng.poisson(12, 300),
        "one": lambda: np.full(300, 40),
        "halves": lambda: rng.binomial(sizes, 0.5),
    }[draw]
    assert kept_totals(sides(), sides()) is None


def test_an_audit_asks_it_where_totals_were_kept_and_not_of_parts_cut_to_size():
    one, two, truth = changed_items(np.random.default_rng(1), n=80)
    case = Case(one, two, Truth(truth, "given"))
    spec = AuditSpec(seed=1)
    found = audit_case(case, spec)
    assert found.strongest.attack == "SameTotals"
    assert "totals-kept" in [note.code for note in found.notes]
    cut = audit_case(Case(one, two, Truth(truth, "given"), cut_to_size=True), spec)
    assert "SameTotals" not in {risk.attack for risk in cut.risks}
