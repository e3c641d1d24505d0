"""Sequence models on a GPU: bits of processes whose answer is known, of the published population, and the card's share.

Needs torch and NumPy (and what draws the published population: SciPy and numba). Without a GPU,
`--device cpu --users 2000` shows that it runs; the preset `paper` is timed on a GPU alone.
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np

from reidrisk.sequence import PRESETS, Schedule, schedule_for, training_flops

DENSE_BF16 = 989e12  # of an H200, by its data sheet


def independent(n: int, rng: np.random.Generator):
    """Tokens of 4 epochs of 40; the second observer sees the first one's in 4 of 10 cases, else any by popularity."""
    p = 1.0 / (np.arange(40) + 2.0)
    p /= p.sum()
    one, other = (rng.choice(40, size=(n, 4), p=p) for _ in range(2))
    two = np.where(rng.random((n, 4)) < 0.4, one, other)
    joint = 0.4 * np.diag(p) + 0.6 * np.outer(p, p)
    entropy = -(p * np.log2(p)).sum()
    return one, two, 40, entropy, -(joint * np.log2(joint)).sum() - entropy


def two_types(n: int, rng: np.random.Generator):
    """Users of two types, 3 epochs of 6 tokens, both observers drawn from the type: enumerated."""
    types = np.array([[0.4, 0.3, 0.1, 0.1, 0.05, 0.05], [0.05, 0.05, 0.1, 0.1, 0.3, 0.4]])
    share = np.array([0.3, 0.7])
    kind = rng.choice(2, size=n, p=share)
    draw = lambda: np.stack([rng.choice(6, size=n, p=types[k]) for k in (0, 1)])[kind, np.arange(n)]  # noqa: E731
    one, two = (np.stack([draw() for _ in range(3)], axis=1) for _ in range(2))
    record = np.array([[np.prod(row[list(x)]) for x in itertools.product(range(6), repeat=3)] for row in types])
    alone = share @ record
    joint = np.einsum("k,ka,kb->ab", share, record, record)
    entropy = -(alone * np.log2(alone)).sum() / 3
    return one, two, 6, entropy, -(joint * np.log2(joint)).sum() / 3 - entropy


def both_entropies(one, two, n_tokens, sizes, schedule, device, seed=0):
    from reidrisk.sequence import train

    began = time.perf_counter()
    models = [train(source, two, n_tokens, sizes, schedule, seed, device=device) for source in (None, one)]
    return (*models, time.perf_counter() - began)


def known_answers(device: str, users: int, passes: int | None) -> None:
    print("process, decoder: entropy, conditional, mutual (truth); error of mutual; seconds")
    for make in (independent, two_types):
        one, two, n_tokens, entropy, conditional = make(users, np.random.default_rng(0))
        plan = schedule_for("small", users)
        plan = plan if passes is None else Schedule(batch=plan.batch, passes=passes, learning_rate=plan.learning_rate)
        for decoder in ("transformer", "lstm") if make is two_types else ("transformer",):
            sizes = PRESETS["small"].with_decoder(decoder)
            alone, given, seconds = both_entropies(one, two, n_tokens, sizes, plan, device)
            found, truth = alone.bits - given.bits, entropy - conditional
            print(
                f"{make.__name__}, {decoder}: {alone.bits:.4f} ({entropy:.4f}), {given.bits:.4f} ({conditional:.4f}), "
                f"{found:.4f} ({truth:.4f}); {found - truth:+.4f} bits, {found / truth - 1:+.1%}; {seconds:.0f} s, "
                f"looks {len(alone.curve)} and {len(given.curve)}",
                flush=True,
            )


def published_bits(device: str, users: int, passes: int | None, epochs: tuple[int, ...]) -> None:
    from reidrisk.populations import published
    from reidrisk.topics.simulate import TopicsAPI

    began = time.perf_counter()
    sets = published(users, 8, seed=0)
    one, two = (TopicsAPI(469).expose(sets, seed=0, site=site).tokens for site in ("site 1", "site 2"))
    print(f"drawing {users:,} users took {time.perf_counter() - began:.1f} s", flush=True)
    plan = schedule_for("small", users)
    plan = plan if passes is None else Schedule(batch=plan.batch, passes=passes, learning_rate=plan.learning_rate)
    for r in epochs:
        a, b = (np.ascontiguousarray(table[:, :r]) for table in (one, two))
        alone, given, seconds = both_entropies(a, b, 469, PRESETS["small"], plan, device)
        per_user = (alone.nats - given.nats) / np.log(2) / r
        print(
            f"published, {r} epochs, preset small, batch {plan.batch}: {alone.bits:.3f}, {given.bits:.3f}, "
            f"{alone.bits - given.bits:.3f} +- {1.96 * per_user.std() / len(per_user) ** 0.5:.3f} bits per epoch; "
            f"{seconds:.0f} s, steps {alone.steps} and {given.steps}",
            flush=True,
        )
        print("  curve of the conditional model:", " ".join(f"{x:.3f}" for x in given.curve), flush=True)


PARTS = {  # of a step, by words in the names of kernels; the first that fits
    "attention": ("attention", "fmha", "flash"),
    "matrix products": ("gemm", "nvjet", "cutlass", "splitk"),
    "the library's LSTM": ("lstm", "rnn"),
    "optimiser, gradient norm": ("adam", "multi_tensor"),
    "fused by the compiler": ("triton",),
}
VARIANTS = (("transformer", True), ("lstm", False), ("lstm", True))


def throughput(torch, variants=VARIANTS, n_tokens: int = 469, epochs: int = 8, batch: int = 1536) -> None:
    """Time training steps of the preset paper: forward, backward, norm of the gradient, AdamW."""
    from reidrisk.sequence.network import Network, nats

    square = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    measured = 2 * 8192**3 / median_seconds(torch, lambda: square @ square, 20)
    print(f"matrix product of 8,192: {measured / 1e12:.0f} TFLOP/s")

    for decoder, compiles in variants:
        torch.compiler.reset()
        sizes = PRESETS["paper"].with_decoder(decoder)
        network = Network(sizes, n_tokens, epochs).cuda()
        weights = sum(p.numel() for p in network.parameters())
        forward = torch.compile(network, dynamic=False) if compiles else network
        adam = torch.optim.AdamW(network.parameters(), lr=2e-4, fused=True)
        source, target = (torch.randint(0, n_tokens, (batch, epochs), device="cuda") for _ in range(2))

        def step():
            with torch.autocast("cuda", torch.bfloat16):
                logits = forward(source, target)  # noqa: B023
            nats(logits, target).mean().backward()  # noqa: B023
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)  # noqa: B023
            adam.step()  # noqa: B023
            adam.zero_grad(set_to_none=True)  # noqa: B023

        began = time.perf_counter()
        for _ in range(3):
            step()
        torch.cuda.synchronize()
        compiling = time.perf_counter() - began
        seconds = median_seconds(torch, step, 30)
        rate = training_flops(sizes, n_tokens, epochs, batch, epochs) / seconds
        print(
            f"preset paper, {decoder}, {'compiled' if compiles else 'not compiled'}: {weights / 1e6:.0f} million "
            f"weights, {1e3 * seconds:.1f} ms a step of {batch} users, {rate / 1e12:.0f} TFLOP/s = "
            f"{rate / DENSE_BF16:.1%} of the data sheet's dense bfloat16, {rate / measured:.1%} of the measured "
            f"product; first three steps {compiling:.0f} s",
            flush=True,
        )
        where_it_goes(torch, step)


def where_it_goes(torch, step, steps: int = 5) -> None:
    """Print how many milliseconds of a step the card spends on what."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
    parts, single = dict.fromkeys([*PARTS, "else"], 0.0), []
    for kernel in seen.key_averages():
        spent = kernel.self_device_time_total / 1e3 / steps
        named = kernel.key.lower()
        parts[next((part for part, words in PARTS.items() if any(w in named for w in words)), "else")] += spent
        single.append((spent, kernel.count // steps, kernel.key[:90]))
    print("  ms a step:", ", ".join(f"{part} {ms:.2f}" for part, ms in parts.items()), flush=True)
    for spent, count, named in sorted(single, reverse=True)[:12]:
        print(f"    {spent:6.2f} ms in {count:4d} x {named}", flush=True)


def median_seconds(torch, work, runs: int) -> float:
    times = []
    for _ in range(runs + 3):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return float(np.median(times[3:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--users", type=int, default=1_000_000, help="of the published population")
    parser.add_argument("--known", type=int, default=200_000, help="users of the processes with a known answer")
    parser.add_argument("--passes", type=int)
    parser.add_argument("--epochs", type=int, nargs="+", default=[8, 1])
    parser.add_argument("--what", nargs="+", default=["throughput", "known", "published"], help="which parts to run")
    parser.add_argument("--batch", type=int, default=1536, help="users of a step of the preset paper")
    parser.add_argument("--variants", nargs="+", help="of throughput: transformer+, lstm, lstm+; + is compiled")
    chosen = parser.parse_args()
    import torch

    if chosen.device == "cuda" and not torch.cuda.is_available():
        print("there is no GPU here: nothing to measure (--device cpu --users 2000 shows that it runs)")
        return
    if chosen.device == "cuda":
        torch.set_float32_matmul_precision("high")
    if chosen.device == "cuda" and "throughput" in chosen.what:
        named = [(name.rstrip("+"), name.endswith("+")) for name in chosen.variants or []]
        throughput(torch, named or VARIANTS, batch=chosen.batch)
    if "known" in chosen.what:
        known_answers(chosen.device, chosen.known, chosen.passes)
    if "published" in chosen.what:
        published_bits(chosen.device, chosen.users, chosen.passes, tuple(chosen.epochs))


if __name__ == "__main__":
    main()
