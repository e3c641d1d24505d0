"""Padding for a release: each user by themselves, so that one more user moves the counts by their own sets alone."""

import math
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import ReidRiskError, TopSets, io, release
from reidrisk.base.streams import fresh_seed, stream
from reidrisk.records.top_sets import filled, from_the_system
from reidrisk.release.validate.canary import PLACES, padding_distances


def short_sets(seed, n=40, epochs=2, k=3, n_tokens=9):
    rng = np.random.default_rng(seed)
    tokens = np.argsort(rng.random((n, epochs, n_tokens)), axis=2)[:, :, :k]
    return np.where(rng.random(tokens.shape) < 0.4, -1, tokens)


def one_stream(seed):
    """Pad as the first version did: one generator for everybody, redrawn until a token is new to its set."""

    def padding(sets, words):
        rng, part = stream(fresh_seed() if seed is None else seed, "pad top sets"), np.array(sets.tokens)
        while (part < 0).any():
            rows, epochs, slots = np.nonzero(part < 0)
            first = np.unique(rows * sets.n_epochs + epochs, return_index=True)[1]
            rows, epochs, slots = rows[first], epochs[first], slots[first]
            drawn = rng.integers(sets.n_tokens, size=rows.size)
            new = ~(part[rows, epochs] == drawn[:, None]).any(axis=1)
            part[rows[new], epochs[new], slots[new]] = drawn[new]
        return TopSets(part, sets.n_tokens)

    return padding


def twin(tokens, n_tokens, words):
    """Fill one slot after the other by whole numbers of any size."""
    full = tokens.copy()
    for row, epoch, slot in np.argwhere(tokens < 0):
        left = [token for token in range(n_tokens) if token not in full[row, epoch]]
        full[row, epoch, slot] = left[int(words[row, epoch, slot]) * len(left) >> 64]
    return full


@settings(deadline=None)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 5), extra=st.integers(0, 4))
def test_padding_is_that_of_the_twin(seed, k, extra):
    tokens = short_sets(seed, n=8, k=k, n_tokens=k + extra)
    words = np.random.default_rng(seed).integers(2**64, size=tokens.shape, dtype=np.uint64)
    words.ravel()[::5] = 2**64 - 1
    found = filled(tokens, k + extra, lambda rows, epochs, k: words[rows, epochs])
    assert np.array_equal(found, twin(tokens, k + extra, words))


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("epochs", [2, 4])
def test_one_more_user_moves_the_counts_no_further_than_the_noise_was_made_for(k, epochs):
    found = padding_distances(k, epochs)
    assert tuple(found) == PLACES
    assert max(distance for tables in found.values() for distance in tables.values()) <= 1.0 + 1e-12


@pytest.mark.parametrize("seed", [0, 7, None])
def test_the_canary_fails_padding_that_draws_one_stream_for_everybody(seed):
    stated = release.statistics(TopSets([[[0, 1, 2]] * 2] * 2000, 6), 1.0, 1e-6, simulation=True, seed=0).statement
    assert release.canary(stated, 3, trials=200, seed=0).passed
    test = release.canary(stated, 3, trials=200, seed=0, padding=one_stream(seed))
    assert not test.passed
    # The noise itself is as promised: it is the padding alone that fails, wherever the user is put.
    assert all(block["passed"] for block in test.blocks.values())
    assert all(max(test.padding[place].values()) > 2.0 for place in PLACES)
    assert test.furthest == max(d for tables in test.padding.values() for d in tables.values())
    assert release.CanaryTest.from_json(test.to_json()) == test


def test_a_real_release_pads_from_the_operating_system(monkeypatch):
    asked = []
    monkeypatch.setattr(os, "urandom", lambda n, draw=os.urandom: asked.append(n) or draw(n))
    tokens = short_sets(0, n=3_000)
    short = int((tokens < 0).any(axis=2).sum())
    found = release.statistics(TopSets(tokens, 9), 5.0, 1e-6)
    assert 8 * 3 * short in asked
    assert not found.statement.simulation
    asked.clear()
    release.statistics(TopSets(tokens, 9), 5.0, 1e-6, simulation=True, seed=1)
    assert not asked


def test_padding_from_the_system_is_uniform_over_what_is_left():
    sets = TopSets(np.tile([2, -1, -1], (30_000, 1, 1)), n_tokens=5).padded()
    assert not sets.made_with_seed
    pairs = np.zeros((5, 5))
    np.add.at(pairs, (sets.tokens[:, 0, 1], sets.tokens[:, 0, 2]), 1)
    allowed = np.ones((5, 5), dtype=bool)
    np.fill_diagonal(allowed, False)
    allowed[2] = allowed[:, 2] = False
    assert (pairs[~allowed] == 0).all()
    # Twelve ordered pairs, each as likely: five standard deviations.
    assert np.abs(pairs[allowed] - 2_500).max() < 5 * math.sqrt(2_500 * 11 / 12)
    again = TopSets(np.tile([2, -1, -1], (30_000, 1, 1)), n_tokens=5).padded()
    assert not np.array_equal(sets.tokens, again.tokens)
    assert from_the_system(np.arange(3), np.zeros(3, dtype=np.int64), 4).shape == (3, 4)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "npz", "csv"])
def test_what_was_padded_with_a_seed_is_not_released(ending, tmp_path):
    raw = TopSets(short_sets(1, n=2_000), 9)
    known = raw.padded(seed=3)
    file = tmp_path / f"sets.{ending}"
    io.write_top_sets(known, file)
    for sets in (known, known.take(slice(0, 900)), known.epochs(2), known.sample(800, seed=0), io.read_top_sets(file)):
        assert sets.made_with_seed
        with pytest.raises(ReidRiskError, match="made with a seed"):
            release.statistics(sets, 5.0, 1e-6)
    assert release.statistics(known, 5.0, 1e-6, simulation=True, seed=0).statement.simulation
    for sets in (raw, raw.padded(), TopSets(raw.padded().tokens, 9).padded(seed=3)):
        assert not sets.made_with_seed  # nothing was filled from the seed
        assert not release.statistics(sets, 5.0, 1e-6).statement.simulation
    io.write_top_sets(raw, file)
    assert not io.read_top_sets(file).made_with_seed


def test_simulated_padding_of_one_row_does_not_look_at_the_others():
    tokens = short_sets(2)
    other = tokens.copy()
    other[5:] = -1
    found, changed = TopSets(tokens, 9).padded(4).tokens, TopSets(other, 9).padded(4).tokens
    assert np.array_equal(found[:5], changed[:5])
