"""Features of pairs against a plain computation, and records that are chosen by what they hold."""

import numpy as np
from features import features_of
from people import two_looks

from reidrisk import attacks
from reidrisk.attacks.rehearsed.panel import Panel, reference


def test_the_readings_of_a_score_are_standard_scores_of_query_and_target():
    targets, queries = two_looks(60, 40)
    panel = Panel([attacks.TfIdf(), attacks.Hellinger()], targets, queries)
    asked = panel.asked(queries)
    raw = [attack.near_best(queries, np.full(60, -1)).astype(float) for attack in panel.attacks]
    found = features_of(raw, panel.typical, panel.known, asked)
    for k, scores in enumerate(raw):
        z = (scores - scores.mean(axis=1, keepdims=True)) / scores.std(axis=1, keepdims=True)
        t = (z - z.mean(axis=0)) / (z.std(axis=0) + 0.3)
        s = (scores - scores.mean(axis=1, keepdims=True)) / scores.std(axis=1).mean()
        for j, twin in enumerate((z, t, s)):
            np.testing.assert_allclose(found[..., 3 * k + j], twin, rtol=1e-6, atol=1e-9)


def test_a_query_without_items_says_nothing_of_any_target():
    targets, queries = two_looks(30, 20)
    empty = queries.with_counts(np.zeros(queries.counts.nnz, dtype=np.int64)).take(np.arange(2))
    panel = Panel([attacks.TfIdf()], targets, queries)
    asked = panel.asked(empty)
    raw = [panel.scorers[0].scores(panel.known.parts[0], asked.parts[0]).astype(float)]
    read = features_of(raw, panel.typical, panel.known, asked)
    assert np.isfinite(read).all()
    assert not read[..., 0].any()


def test_some_records_are_the_same_ones_in_whatever_order():
    targets, _ = two_looks(150, 40)
    rows = np.random.default_rng(1).permutation(150)
    mixed = targets.take(rows)
    assert set(rows[reference(mixed, 40)]) == set(reference(targets, 40))
    assert np.array_equal(reference(targets, 150), np.arange(150))
