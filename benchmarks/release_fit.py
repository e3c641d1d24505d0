"""Fit a mixture of types: all terms at once beside gathered minibatches of 8,192 terms, as the published code does.

Both compute J and its gradient for the same model in the same run; one step of ours sees as many terms as one pass over
the data of the other. Then one whole fit: J on the way, when it came within 1 % of its end, and how near the statistics
are. Needs torch and NumPy, and numba for measuring the statistics unless `--statistics file.npz` gives them.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import numpy as np
import torch

from reidrisk.release import PUBLISHED, Statistics, TypeMixture, fit_mixture
from reidrisk.release.model.objective import Objective, n_terms

BATCH = 8192


def measured(users: int) -> Statistics:
    from reidrisk import populations, release

    return release.statistics(populations.published(users, epochs=2), math.log(3), 1e-15)


def gathered(theta, weeks, tokens, targets):
    """Return the mean squared error of some terms, each gathered from the slot probabilities of every type."""
    slots = torch.softmax(theta, dim=-1)
    one, two = (slots[:, weeks[:, i], :, tokens[:, i]] for i in (0, 1))
    none_one, none_two = (1 - one).prod(dim=2), (1 - two).prod(dim=2)
    same = weeks[:, :1] == weeks[:, 1:]
    neither = torch.where(same, (1 - one - two).prod(dim=2), none_one * none_two)
    both = torch.where(same & (tokens[:, :1] == tokens[:, 1:]), 1 - none_one, 1 - none_one - none_two + neither)
    return ((both.mean(dim=1) - targets) ** 2).mean()


def timed(work, device: str, runs: int) -> tuple[float, float]:
    """Return wall and CPU seconds of one call."""
    work()
    if device != "cpu":
        torch.cuda.synchronize()
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(runs):
        work()
    if device != "cpu":
        torch.cuda.synchronize()
    return (time.perf_counter() - wall) / runs, (time.process_time() - cpu) / runs


def compare(stats: Statistics, types: int, device: str) -> None:
    rng = np.random.default_rng(0)
    n, r = stats.n_tokens, 4
    start = rng.normal(size=(types, r, stats.k, n)).astype(np.float32) + np.log(np.maximum(stats.single, 1e-6))
    theta = torch.tensor(start.astype(np.float32), device=device)
    objective = Objective(stats.single, stats.within, stats.across, device)
    weeks = torch.tensor(rng.integers(r, size=(BATCH, 2)), device=device)
    tokens = torch.tensor(rng.integers(n, size=(BATCH, 2)), device=device)
    targets = torch.zeros(BATCH, device=device)
    leaf = theta.clone().requires_grad_()

    def minibatch():
        leaf.grad = None
        gathered(leaf, weeks, tokens, targets).backward()

    batches = math.ceil(n_terms(r, n) / BATCH)
    theirs, their_cpu = (batches * value for value in timed(minibatch, device, 3))
    ours, our_cpu = timed(lambda: objective(theta), device, 3 if device == "cpu" else 50)
    print(f"J and gradient of {n_terms(r, n):,} terms, T = {types}, on {device}: seconds (CPU seconds)")
    print(f"  gathered, {batches} minibatches  {theirs:10.3f} ({their_cpu:.2f})")
    print(f"  all at once                {ours:10.4f} ({our_cpu:.3f})   {theirs / ours:.0f} times as fast")


def fidelity(model: TypeMixture, stats: Statistics) -> str:
    q, upper = model.statistics(), np.triu_indices(stats.n_tokens, 1)
    pairs = [
        (q.single, np.broadcast_to(stats.single, q.single.shape)),
        (q.within[:, upper[0], upper[1]], np.broadcast_to(stats.within[upper], (len(q.within), len(upper[0])))),
        (q.across, np.broadcast_to(stats.across, q.across.shape)),
    ]
    error = np.abs(np.concatenate([(a - b).ravel() for a, b in pairs]))
    target = np.concatenate([b.ravel() for _, b in pairs])
    relative = (error / np.maximum(target, 1e-300))[target >= 1e-4]
    return (
        f"{np.mean(error < 1e-3):.4%} of the statistics within 0.1 percentage points (worst {error.max():.2g}); "
        f"{np.mean(relative <= 0.2):.1%} of those above 0.01 % within 20 %, median {np.median(relative):.1%}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--users", type=int, default=100_000, help="of the published population, to measure")
    parser.add_argument("--statistics", type=Path, help="npz with single, within and across, instead of measuring")
    parser.add_argument("--types", type=int, default=500)
    parser.add_argument("--steps", type=int, default=0, help="of the whole fit; default: 2,000 on a GPU, 20 on a CPU")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--theta", type=Path, help="folder to write the logits to, in halves, in half precision")
    chosen = parser.parse_args()
    device = chosen.device
    if chosen.statistics is None:
        stats = measured(chosen.users)
    else:
        given = np.load(chosen.statistics)
        stats = Statistics(given["single"], given["within"], given["across"], 5, PUBLISHED)
    compare(stats, chosen.types, device)
    steps = chosen.steps or (20 if device == "cpu" else 2000)
    cpu, wall, seconds_at = time.process_time(), time.perf_counter(), []
    model = fit_mixture(
        stats,
        chosen.types,
        4,
        chosen.seed,
        steps=steps,
        device=device,
        progress=lambda *_: seconds_at.append(time.perf_counter() - wall),
    )
    cpu = time.process_time() - cpu
    report = model.report
    curve = [(step, at, value) for (step, value), at in zip(report.curve, seconds_at, strict=True)]
    print(f"fit: {report.steps} steps, {report.seconds:.1f} s, {cpu:.0f} CPU-s, J = {report.objective:.4g}")
    print("  J:", ", ".join(f"{v:.3g} ({t:.1f} s)" for _, t, v in curve[:: max(1, len(curve) // 10)]))
    step, seconds, _ = next((point for point in curve if point[2] <= 1.01 * report.objective), curve[-1])
    print(f"  within 1 % of its end at step {step}, after {seconds:.1f} s")
    print(f"  {fidelity(model, stats)}")
    if chosen.theta is not None:
        for part, half in enumerate(np.array_split(model.theta.astype(np.float16), 2)):
            np.save(chosen.theta / f"theta-{part}.npy", half)
    if device != "cpu":
        print(f"{torch.cuda.get_device_name()}, peak {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB on the device")


if __name__ == "__main__":
    main()
