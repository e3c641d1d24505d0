"""ProfileBayes in torch gives the integers of its kernels: on the CPU always, on a GPU where there is one."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reidrisk import Traces
from reidrisk.attacks import ProfileBayes
from reidrisk.attacks.profile import device as on_device
from reidrisk.attacks.profile import device_targets, factor
from reidrisk.attacks.profile.counts import ladder_of
from reidrisk.base.errors import OptionError
from reidrisk.search import gpu

pytest.importorskip("torch", reason="torch is not installed; the search on a GPU needs it")
sys.path.insert(0, str(Path(__file__).parent))
from test_kernel import people, posed

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not gpu.available(), reason="there is no GPU here"))]


def check(device, scorer, targets, queries, monkeypatch):
    """Let a scorer take the device for a GPU, and compare its answers with those of the kernels."""
    here = replace(scorer, device="cpu")
    asked = []

    class There(device_targets.DeviceTargets):
        def __init__(self, *records):
            asked.append(len(records[0]))
            super().__init__(*records, device)

    monkeypatch.setattr(factor, "DeviceTargets", There)
    monkeypatch.setattr(gpu, "available", lambda: True)
    there = replace(scorer, device="cuda")
    best, total = here.best_and_total(targets, queries)
    found, added = there.best_and_total(targets, queries)
    for mine in (found, there.best(targets, queries)):
        for a, b in zip(mine, best, strict=True):
            assert np.array_equal(a, b)
    assert np.array_equal(added, total)
    given = best.score + 70_000
    assert np.array_equal(there.total(targets, queries, given), here.total(targets, queries, given))
    assert asked == [len(targets)] * 3


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("top_k", "kinds", "gaps"), [(None, 3, 0.2), (2, 1, 0.0), (2, 3, 0.3), (2, 4, 0.0)])
def test_every_answer_is_that_of_the_kernel(device, top_k, kinds, gaps, monkeypatch):
    targets, queries = people(kinds, gaps=gaps, n=(90, 70))
    check(device, *posed(ProfileBayes(top_k, 0.1, kinds=kinds).fit(targets), queries), monkeypatch)


@pytest.mark.parametrize("device", DEVICES)
def test_many_epochs_and_epochs_taken_together(device, monkeypatch):
    targets, queries = people(5, tokens=5, epochs=70, gaps=0.1)
    for every in (1, 3):
        check(device, *posed(ProfileBayes(2, 0.1)._fit(targets, ladder_of(targets, every)), queries), monkeypatch)


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_in_doubt_is_done_as_it_is_defined(device, monkeypatch):
    targets, queries = people(3)
    monkeypatch.setattr(on_device, "_DOUBT", 0.3)
    monkeypatch.setattr(on_device, "_SLIPS", 1e-9)
    check(device, *posed(ProfileBayes(2, 0.1).fit(targets), queries), monkeypatch)


@pytest.mark.parametrize("device", DEVICES)
def test_tokens_that_only_one_side_holds(device, monkeypatch):
    rng = np.random.default_rng(2)
    targets, queries = (Traces(rng.integers(0, high, (30, 6)) * 900, 40_000) for high in (30, 44))
    check(device, *posed(ProfileBayes(2, 0.1).fit(targets), queries), monkeypatch)


def test_what_does_not_fit_a_device_is_done_on_the_processor(monkeypatch):
    targets, queries = people(3, gaps=0.2)
    scorer, known, asked = posed(ProfileBayes(2, 0.1).fit(targets), queries)
    expected = scorer.best_and_total(known, asked)
    monkeypatch.setattr(gpu, "available", lambda: True)
    monkeypatch.setattr(factor, "DeviceTargets", lambda *records: device_targets.DeviceTargets(*records, "cpu"))
    for name, limit in (("SAFE", 10), ("SAFE", 1 << 22), ("_TABLE", 100)):
        monkeypatch.setattr(device_targets, name, limit)
        found = replace(scorer, device="cuda").best_and_total(known, asked)
        for a, b in zip((*found[0], found[1]), (*expected[0], expected[1]), strict=True):
            assert np.array_equal(a, b)
        monkeypatch.undo()
        monkeypatch.setattr(gpu, "available", lambda: True)
        monkeypatch.setattr(factor, "DeviceTargets", lambda *records: device_targets.DeviceTargets(*records, "cpu"))


@pytest.mark.skipif(gpu.available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_named():
    targets, queries = people(3)
    scorer, known, asked = posed(ProfileBayes(2, 0.1).fit(targets), queries)
    with pytest.raises(OptionError, match="no GPU"):
        replace(scorer, device="cuda").best(known, asked)
