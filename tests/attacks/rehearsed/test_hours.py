"""Hours of the day in a rehearsal: they count where sure links share them, and nowhere else."""

from dataclasses import replace

import numpy as np
import pytest
from people import torn_tables

from reidrisk import attacks


@pytest.fixture(scope="module")
def torn():
    return torn_tables(4)


def test_tables_that_share_visits_are_linked_by_their_hours_too(torn):
    known, asked = torn
    attack = attacks.Rehearsed(jointly=False).fit(known).look_around(asked)
    blind = attacks.Rehearsed(jointly=False).fit(known.with_clock(None)).look_around(asked.with_clock(None))
    right = [(one.link(asked).target == np.arange(220)).mean() for one in (attack, blind)]
    assert right[0] > right[1] + 0.1
    assert attack.estimate_.rate > blind.estimate_.rate
    assert attack.estimate_.low <= right[0]
    scorer, targets, queries = attack._posed(asked)
    rows = np.random.default_rng(0).integers(220, size=220)
    assert (scorer.pairs(targets, queries, rows) == scorer.scores(targets, queries)[np.arange(220), rows]).all()
    # A record whose hours are not known is linked by its items.
    plain = attack._posed(asked.with_clock(None))
    by_items = scorer.scores(replace(targets, hours=None), queries)
    assert (plain.scorer.scores(plain.targets, plain.queries) == by_items).all()


@pytest.mark.parametrize("seed", [4, 5, 6])
def test_no_more_is_found_by_hours_than_is_expected(seed):
    known, asked = torn_tables(seed)
    attack = attacks.Rehearsed(jointly=False).fit(known).look_around(asked)
    links = attack.link(asked, probability=True)
    right = (links.target == np.arange(220)).mean()
    assert right <= attack.estimate_.high
    assert abs(links.probability.mean() - right) < 0.15  # .27 was said for .99 where only whole visits were rehearsed
