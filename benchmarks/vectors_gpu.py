"""Exact nearest neighbours of vectors on one GPU; needs torch, triton and NumPy alone.

    python benchmarks/vectors_gpu.py [--targets 10000000] [--queries 10000000] [--check 200]

Prints the seconds of the sweep and of everything, the share of the card's own matrix throughput that the sweep
reached (a large half-precision product in the same run), how many queries were close, and whether a sample of the
answers is that of a search in double precision.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from reidrisk.search.dense import device as searched
from reidrisk.search.dense.rows import VectorRows, to_scores
from reidrisk.search.dense.scorer import VectorScorer


def clock() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def peak(device: str, size: int = 8192) -> float:
    """Return multiplications and additions per second of a large half-precision product on random data."""
    size = size if device == "cuda" else 256
    kind = torch.float16 if device == "cuda" else torch.float32
    a, b = (torch.randn(size, size, device=device, dtype=kind) for _ in range(2))
    for _ in range(3):
        a @ b
    start = clock()
    for _ in range(10):
        a @ b
    return 10 * 2 * size**3 / (clock() - start)


def drawn(n: int, d: int, seed: int, device: str, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw two noisy copies of n people."""
    maker = torch.Generator(device=device).manual_seed(seed)
    out = [np.empty((n, d), dtype=np.float32) for _ in range(2)]
    for start in range(0, n, 1 << 20):
        part = slice(start, min(start + (1 << 20), n))
        people = torch.randn(part.stop - start, d, device=device, generator=maker)
        for table in out:
            other = torch.randn(people.shape, device=device, generator=maker)
            table[part] = (people + noise * other).cpu().numpy()
    return out[0], out[1]


def exact_best(known: np.ndarray, asked: np.ndarray, device: str) -> np.ndarray:
    """Return the nearest by cosine in double precision."""
    x = torch.from_numpy(asked).to(device).double()
    x /= x.norm(dim=1, keepdim=True)
    best, where = torch.full((len(x),), -2.0, dtype=torch.float64, device=device), torch.zeros(len(x), device=device)
    where = where.long()
    for start in range(0, len(known), 1 << 20):
        y = torch.from_numpy(known[start : start + (1 << 20)]).to(device).double()
        value, place = (x @ (y / y.norm(dim=1, keepdim=True)).T).max(dim=1)
        where = torch.where(value > best, place + start, where)
        best = torch.maximum(best, value)
    return where.cpu().numpy()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--targets", type=int, default=10_000_000)
    parser.add_argument("--queries", type=int, default=10_000_000)
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--check", type=int, default=200)
    parser.add_argument("--noise", type=float, default=0.7)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = parser.parse_args()
    where, d = given.device, given.dimensions
    known, asked = drawn(max(given.targets, given.queries), d, 0, where, given.noise)
    known, asked = known[: given.targets], asked[: given.queries]
    rows = [VectorRows.of(part, "cosine") for part in (known, asked)]
    scorer = VectorScorer.of("cosine", rows[0])
    small = [part[:4096] for part in rows]
    searched.best(scorer, *small, device=where)  # compiles
    most = peak(where)

    start = clock()
    on_device = [searched.held(scorer, part, where) for part in rows]
    moved = clock()
    found_by_sweep = searched.sweep(*on_device)
    swept = clock()
    found = searched.settled(scorer, *on_device, found_by_sweep)
    total = clock() - start
    value, second, _ = found_by_sweep
    close = float((~(second < value - 2.0 * searched.margins(scorer, *on_device))).float().mean())

    some = np.random.default_rng(0).choice(given.queries, min(given.check, given.queries), replace=False)
    want = exact_best(known, asked[some], where)
    scores = [scorer.pairs(rows[0], rows[1][some], part) for part in (want, found.target[some])]
    work = 2.0 * given.targets * given.queries * d
    report = {
        "device": torch.cuda.get_device_name() if where == "cuda" else "cpu",
        "targets": given.targets,
        "queries": given.queries,
        "dimensions": d,
        "seconds_to_move": round(moved - start, 2),
        "seconds_sweep": round(swept - moved, 2),
        "seconds_all": round(total, 2),
        "sweep_tflops": round(work / (swept - moved) / 1e12, 1),
        "matrix_tflops": round(most / 1e12, 1),
        "share_of_matrix_throughput": round(work / (swept - moved) / most, 3),
        "close_queries": close,
        "found": float((found.target == np.arange(given.queries)).mean()),
        "same_as_double_precision": bool((scores[0] == scores[1]).all()),
        "scores_are_whole": bool(to_scores("cosine", np.ones(1))[0] == 1 << 42),
    }
    print(json.dumps(report, indent=1), flush=True)


if __name__ == "__main__":
    main()
