"""Exact nearest neighbours of vectors on one GPU; needs torch, triton and NumPy alone.

    python benchmarks/vectors_gpu.py [--targets 10000000] [--queries 10000000] [--check 200] [--forms cosine distance]

Forms are ``cosine``, ``distance`` (Euclidean; whitened is the same search among turned rows) and ``likelihood`` (the
two-covariance ratio, people and noise as they were drawn). For each it prints the seconds of the sweep and of
everything, the share of the card's own matrix throughput that the sweep reached (a large half-precision product in the
same run), how many queries were close, and whether a sample of the answers is that of a search in double precision.
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
from reidrisk.search.dense.rows import Form, VectorRows
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


def laid_out(form: Form, known: np.ndarray, asked: np.ndarray, noise: float) -> list[VectorRows]:
    """Return rows of a form; likelihoods by the covariances that were drawn from, the unit matrix and noise^2 times it.

    Two records of a person correlate by rho = 1 / (1 + noise^2) in each dimension, so that a row is the point times
    sqrt(rho / (1 - rho^2) / (1 + noise^2)), and adds -rho / 2 times its square
    (:mod:`reidrisk.attacks.vectors.two_covariances`).
    """
    if form != "likelihood":
        return [VectorRows.of(part, form) for part in (known, asked)]
    variance = 1.0 + noise**2
    rho, rows = 1.0 / variance, []
    for part, constant in ((known, 0.0), (asked, -0.5 * known.shape[1] * np.log1p(-(rho**2)))):
        values = part * np.float32((rho / (1.0 - rho**2) / variance) ** 0.5)
        extra = np.einsum("ij,ij->i", values, values, dtype=np.float64) * (-0.5 * rho) + constant
        rows.append(VectorRows.of(values, form, extra))
    return rows


def exact_best(form: Form, known: VectorRows, asked: VectorRows, device: str) -> np.ndarray:
    """Return the best targets in double precision."""
    x = torch.from_numpy(np.array(asked.values)).to(device).double()
    best = torch.full((len(x),), -torch.inf, dtype=torch.float64, device=device)
    where = torch.zeros(len(x), dtype=torch.int64, device=device)
    for start in range(0, len(known), 1 << 20):
        part = known[start : start + (1 << 20)]
        y = torch.from_numpy(np.array(part.values)).to(device).double()
        value = x @ y.T
        if form == "cosine":
            value /= y.norm(dim=1)
        elif form == "distance":
            value -= 0.5 * (y * y).sum(dim=1)
        else:
            value += torch.from_numpy(np.array(part.extra)).to(device)
        value, place = value.max(dim=1)
        where = torch.where(value > best, place + start, where)
        best = torch.maximum(best, value)
    return where.cpu().numpy()


def tried(
    form: Form, known: np.ndarray, asked: np.ndarray, given: argparse.Namespace, most: float
) -> dict[str, object]:
    """Search by one form, and say how long it took and whether a sample of the answers is right."""
    where, d = given.device, known.shape[1]
    rows = laid_out(form, known, asked, given.noise)
    scorer = VectorScorer.of(form, rows[0])
    searched.best(scorer, *(part[:4096] for part in rows), device=where)  # compiles

    start = clock()
    on_device = [searched.held(scorer, part, where) for part in rows]
    moved = clock()
    found_by_sweep = searched.sweep(*on_device)
    swept = clock()
    found = searched.settled(scorer, *on_device, found_by_sweep)
    total = clock() - start
    value, second, _ = found_by_sweep
    close = float((~(second < value - 2.0 * searched.margins(scorer, *on_device))).float().mean())

    some = np.random.default_rng(0).choice(len(asked), min(given.check, len(asked)), replace=False)
    want = exact_best(form, rows[0], rows[1][some], where)
    scores = [scorer.pairs(rows[0], rows[1][some], part) for part in (want, found.target[some])]
    work = 2.0 * len(known) * len(asked) * d
    return {
        "form": form,
        "targets": len(known),
        "queries": len(asked),
        "dimensions": d,
        "seconds_to_move": round(moved - start, 2),
        "seconds_sweep": round(swept - moved, 2),
        "seconds_all": round(total, 2),
        "sweep_tflops": round(work / (swept - moved) / 1e12, 1),
        "matrix_tflops": round(most / 1e12, 1),
        "share_of_matrix_throughput": round(work / (swept - moved) / most, 3),
        "close_queries": close,
        "found": float((found.target == np.arange(len(asked))).mean()),
        "checked": len(some),
        "same_as_double_precision": bool((scores[0] == scores[1]).all()),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--targets", type=int, default=10_000_000)
    parser.add_argument("--queries", type=int, default=10_000_000)
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--forms", nargs="+", choices=("cosine", "distance", "likelihood"), default=["cosine"])
    parser.add_argument("--check", type=int, default=200)
    parser.add_argument("--noise", type=float, default=0.7)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = parser.parse_args()
    known, asked = drawn(max(given.targets, given.queries), given.dimensions, 0, given.device, given.noise)
    known, asked = known[: given.targets], asked[: given.queries]
    most = peak(given.device)
    print(torch.cuda.get_device_name() if given.device == "cuda" else "cpu", flush=True)
    for form in given.forms:
        print(json.dumps(tried(form, known, asked, given, most), indent=1), flush=True)


if __name__ == "__main__":
    main()
