"""The search in torch gives what the processor's does, bit for bit; here on the CPU, with the kernel's twin."""

import numpy as np
import pytest

from reidrisk.search.dense import VectorRows, VectorScorer

torch = pytest.importorskip("torch")
device = pytest.importorskip("reidrisk.search.dense.device")


@pytest.mark.parametrize("form", ["cosine", "distance", "likelihood"])
@pytest.mark.parametrize(("size", "away"), [(1.0, 0.0), (1e-3, 3.0)])
def test_torch_and_the_processor_answer_alike(form, size, away, monkeypatch):
    monkeypatch.setattr(device, "_VALUES", 10_000)
    rng = np.random.default_rng(1)
    known = (rng.normal(size=(600, 12)) * size + away).astype(np.float32)
    known[100:110] = known[5]
    asked = (known[rng.integers(0, 600, 80)] + rng.normal(size=(80, 12)) * size / 2).astype(np.float32)
    asked[:9] = known[5]
    rows = VectorRows.of(known, form, rng.normal(size=600)), VectorRows.of(asked, form, rng.normal(size=80))
    scorer = VectorScorer.of(form, rows[0])
    here, there = scorer.best_here(*rows), device.best(scorer, *rows, device="cpu")
    assert all((a == b).all() for a, b in zip(here, there, strict=True))
    held, own = [device.held(scorer, part, "cpu") for part in rows], np.arange(80) * 7
    scored = device._scored(scorer, *held, torch.arange(80), torch.from_numpy(own))
    assert (scored.numpy() == scorer.pairs(*rows, own)).all()


def test_values_of_the_sweep_are_within_their_margin():
    rng = np.random.default_rng(2)
    rows = [VectorRows.of(rng.normal(size=(n, 32)).astype(np.float32), "cosine") for n in (300, 40)]
    scorer = VectorScorer.of("cosine", rows[0])
    known, asked = (device.held(scorer, part, "cpu") for part in rows)
    exact = [part.values.astype(float) / part.extra[:, None] for part in rows]
    off = np.abs((asked.half.float() @ known.half.float().T).numpy() - exact[1] @ exact[0].T)
    near = device.margins(scorer, known, asked).numpy()
    assert (off.max(axis=1) <= near).all()
    assert near.max() < 3e-3
