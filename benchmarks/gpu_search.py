"""Everyone against everyone on a GPU: the lattice at r = 4 and r = 8, and weights of pairs of tokens at r = 4.

Needs torch and NumPy alone. Times are taken after the data is on the device, the median of several runs; answers are
checked against the NumPy twin on small tables first. Without a GPU, `--device cpu --users 2000` shows that it runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from reidrisk.attacks.hamming import match_weights, pair_weights
from reidrisk.mechanisms import token_probabilities
from reidrisk.search import Index, PairWeights, Weights, gpu, scan, to_grid

N_TOKENS, TOP_K, NOISE = 469, 5, 0.05


def tables(torch, users: int, epochs: int, device: str):
    """Draw tokens by a skewed popularity; the second observer sees the same token every fifth time."""
    torch.manual_seed(0)
    popularity = 1.0 / (torch.arange(N_TOKENS, device=device, dtype=torch.float64) + 10.0)
    cumulative = torch.cumsum(popularity / popularity.sum(), 0)
    draw = lambda: torch.searchsorted(cumulative, torch.rand(users, epochs, device=device, dtype=torch.float64))  # noqa: E731
    one = draw().clamp(max=N_TOKENS - 1)
    two = torch.where(torch.rand(users, epochs, device=device) < 0.19, one, draw().clamp(max=N_TOKENS - 1))
    share = (popularity / popularity.sum()).cpu().numpy()
    return one.to(torch.int32).cpu().numpy(), two.to(torch.int32).cpu().numpy(), share


def weights_of(share: np.ndarray) -> tuple[Weights, PairWeights]:
    q_in, q_out = token_probabilities(N_TOKENS, TOP_K, NOISE)
    p = np.clip((share - q_out) / (q_in - q_out), 0.0, 1.0)
    match, mismatch = match_weights(p[None], q_in, q_out, TOP_K)
    together = np.outer(p, p) * (1.0 + 0.5 * np.cos(np.subtract.outer(np.arange(N_TOKENS), np.arange(N_TOKENS))))
    pairs = pair_weights(p, together, q_in, q_out)
    return Weights(to_grid(match), to_grid(mismatch)), PairWeights(to_grid(pairs)[None])


def check(torch, device: str) -> None:
    """Compare both engines with the scan on the processor."""
    one, two, share = tables(torch, 3_000, 8, device)
    single, pairs = weights_of(share)
    for weights in (single, pairs):
        expected = scan.best(Index(one, N_TOKENS), two[:100], weights)
        engines = [gpu.gather_best] + ([gpu.lattice_best] if weights is single else [])
        for engine in engines:
            found = engine(gpu.GpuIndex(one, N_TOKENS, device), two[:100], weights)
            for a, b in zip(found, expected, strict=True):
                assert np.array_equal(a, b), engine.__name__
    print("answers agree with the NumPy twin")


def median(torch, work: Callable[[], object], device: str, runs: int) -> float:
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return float(np.median(times[1:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), help="a GPU where there is one; without, nothing is run")
    parser.add_argument("--users", type=int, default=10_000_000)
    parser.add_argument("--queries", type=int, default=10_240, help="for the weights of pairs")
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    if chosen.device is None and not gpu.available():
        print("there is no GPU here: nothing to measure (--device cpu --users 2000 shows that it runs)")
        return
    import torch

    device, users = chosen.device or "cuda", chosen.users
    check(torch, device)
    for r in (4, 8):
        one, two, share = tables(torch, users, r, device)
        single, pairs = weights_of(share)
        index = gpu.GpuIndex(one, N_TOKENS, device)
        asked = gpu.on_device(index, two)
        seconds = median(torch, lambda: gpu.lattice_on_device(index, asked, single), device, chosen.runs)  # noqa: B023
        rate = users**2 / seconds
        print(f"lattice  {users:,} x {users:,}  r = {r}  {seconds * 1e3:10.1f} ms  {rate:.3g} pairs/s")
        few = min(256, users)
        seconds = median(torch, lambda: gpu.gather_best(index, two[:few], single), device, 1)  # noqa: B023
        print(f"         {rate * seconds / (users * few):.3g} times as fast as comparing every pair on the same device")
        if r == 4:
            q = min(chosen.queries, users)
            seconds = median(torch, lambda: gpu.gather_best(index, two[:q], pairs), device, 1)  # noqa: B023
            print(f"pairs    {users:,} x {q:,}  r = {r}  {seconds:10.2f} s   {users * q / seconds:.3g} pairs/s")
    if device == "cuda":
        print(f"{torch.cuda.get_device_name()}, peak {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB on the device")


if __name__ == "__main__":
    main()
