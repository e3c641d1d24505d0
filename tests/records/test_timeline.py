"""Timeline of records: kept with rows and names, lost with counts, and followed through changes."""

import numpy as np
import pytest

from reidrisk import mitigations
from reidrisk.base.errors import DataError
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.records import Case, Events, Truth
from reidrisk.records.timeline import Timeline


def bags(seed=0, n=30):
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n), 10)
    frame = {"who": who, "what": rng.integers(0, 6, len(who)), "t": rng.integers(0, 9, len(who))}
    return Events(frame, user="who", items="what", time="t").bags()


def counted(table):
    found = np.zeros((len(table), table.n_tokens), dtype=int)
    np.add.at(found, (table.timeline.owner, table.timeline.item), 1)
    return found


def test_moments_are_those_of_the_counts_through_rows_and_names():
    table = bags()
    rows = np.array([4, 0, 7])
    wider = Vocabulary([*table.vocabulary.labels, "zzz"])
    for one in (table, table.take(rows), table.over(wider), table.take(rows).over(wider)):
        assert np.array_equal(counted(one), one.counts.toarray())
    assert table.with_counts(table.counts.data).timeline is None
    assert (table.timeline.visit < table.visits.per_record[table.timeline.owner]).all()


@pytest.mark.parametrize("change", ["suppress-rare:k=25", "coarsen:keep=3", "rotate:every=2"])
def test_a_change_of_items_or_pseudonyms_leaves_the_moments_of_what_is_left(change):
    table = bags()
    changed = mitigations.named(change).apply(Case(table, table, Truth(np.arange(len(table)), "given")), seed=1)
    assert np.array_equal(counted(changed.queries), changed.queries.counts.toarray())


@pytest.mark.parametrize("change", ["shorten:items=4", "random-item:p=0.3"])
def test_a_random_change_leaves_as_many_moments(change):
    table = bags()
    changed = mitigations.named(change).apply(Case(table, table, Truth(np.arange(len(table)), "given")), seed=1)
    assert len(changed.queries.timeline) == changed.queries.counts.sum()
    assert np.array_equal(
        np.diff(changed.queries.timeline.start), np.asarray(changed.queries.counts.sum(axis=1)).ravel()
    )


def test_starts_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="3 events"):
        Timeline(np.array([0, 2]), np.zeros(3, int), np.zeros(3), is_calendar=False)
    with pytest.raises(DataError, match="moments of 1 users"):
        bags().with_timeline(Timeline(np.array([0, 1]), np.zeros(1, int), np.zeros(1), is_calendar=False))
