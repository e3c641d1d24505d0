"""The neural attack on a GPU: trained on other people of the published population, beside the attacks without training.

Rates among the same targets and for the same queries, paired differences, the pairs per second of the enumeration, and
whether re-ranking the best of WeightedHamming loses anything. Needs torch, Triton, NumPy, SciPy and numba. Without a
GPU, `--device cpu --training 3000 --targets 1000 --queries 100 --steps 20 --passes 1` shows that it runs.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from reidrisk import attacks
from reidrisk.base.intervals import difference_interval, mean_interval
from reidrisk.measure import credits
from reidrisk.populations import published
from reidrisk.records import Traces
from reidrisk.sequence import Schedule, Sizes, schedule_for, train
from reidrisk.sequence.pairs import PairSchedule, PairSizes
from reidrisk.topics.simulate import TopicsAPI

TOP_K, NOISE, N_TOKENS = 5, 0.05, 469


def two_sites(users: int, epochs: int, seed: int, first: int = 0) -> tuple[Traces, Traces]:
    """Draw people of the published population and what two sites see of them; people are numbered from ``first``."""
    sets = published(users, epochs, seed=seed)
    names = np.arange(first, first + users)
    one, two = (TopicsAPI(N_TOKENS, TOP_K, NOISE).expose(sets, seed=seed, site=site) for site in ("site 1", "site 2"))
    return one.with_users(names), two.with_users(names)


def right(attack, targets, queries, truth) -> tuple[np.ndarray, float, float]:
    """Return the credit of each query, and the seconds to fit and to link."""
    began = time.perf_counter()
    attack.fit(targets)
    fitted = time.perf_counter()
    links = attack.link(queries)
    linked = time.perf_counter()
    return credits(attack, queries, links, truth), fitted - began, linked - fitted


def compare(named, targets, queries, truth, among: str) -> None:
    found = {}
    for name, attack in named.items():
        found[name], fitting, linking = right(attack, targets, queries, truth)
        low, high = mean_interval(found[name])
        print(
            f"{among}, {name}: {found[name].mean():.4f} ({low:.4f} to {high:.4f}); fit {fitting:.1f} s, "
            f"link {linking:.1f} s",
            flush=True,
        )
    first = next(iter(found))
    for name in list(found)[1:]:
        low, high = difference_interval(found[first], found[name])
        gap = (found[first] - found[name]).mean()
        print(f"{among}, {first} - {name}: {gap:+.4f} ({low:+.4f} to {high:+.4f})", flush=True)


def enumeration(torch, attack, queries) -> None:
    """Time the kernel alone, and compare its answers with float64 on a sample."""
    from reidrisk.attacks.neural.scorer import _single
    from reidrisk.sequence.pairs import fused

    posed = attack._posed(queries)
    targets, asked = (_single(part.side) for part in (posed.targets, posed.queries[:4096]))
    few, some = asked.rows(slice(0, 64)), posed.targets[: 64 * fused.BLOCK]
    with torch.inference_mode():
        low = fused.block_best(attack.model_.network, _single(some.side), few).T.cpu().numpy()
        exact = posed.scorer.scores(some, posed.queries[:64]) / 65536.0
        exact = exact.reshape(64, -1, fused.BLOCK).max(axis=2)
        print(f"low precision against float64: largest difference {np.abs(low - exact).max():.4f} nats", flush=True)
        times = []
        for _ in range(4):
            torch.cuda.synchronize()
            began = time.perf_counter()
            fused.block_best(attack.model_.network, targets, asked)
            torch.cuda.synchronize()
            times.append(time.perf_counter() - began)
    pairs, seconds = len(targets.vector) * len(asked.vector), float(np.median(times[1:]))
    sizes = attack.model_.network.sizes
    flops = 2 * sizes.width * sizes.hidden
    print(
        f"enumeration: {pairs:.3g} pairs in {seconds:.2f} s = {pairs / seconds:.3g} pairs/s through the pair network "
        f"(width {sizes.width}, hidden {sizes.hidden}: {flops:,} FLOP of matrix products a pair, "
        f"{pairs * flops / seconds / 1e12:.0f} TFLOP/s)",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--training", type=int, default=2_000_000, help="people to train on")
    parser.add_argument("--targets", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=20_000)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--passes", type=int, default=5, help="of the sequence model")
    parser.add_argument("--steps", type=int, default=6_000, help="of the pair network")
    parser.add_argument("--batch", type=int, default=1_024)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--save", help="where to write the trained attack")
    parser.add_argument("--frozen", action="store_true", help="leave the encoder as the sequence model left it")
    chosen = parser.parse_args()
    import torch

    if chosen.device == "cuda" and not torch.cuda.is_available():
        print("there is no GPU here: nothing to measure (see --help for how to see that it runs)")
        return
    torch.set_float32_matmul_precision("high")
    began = time.perf_counter()
    one, two = two_sites(chosen.training, chosen.epochs, seed=11)
    targets, others = two_sites(chosen.targets, chosen.epochs, seed=12, first=chosen.training)
    print(f"drawing people took {time.perf_counter() - began:.1f} s", flush=True)
    small = Sizes() if chosen.device == "cuda" else Sizes(width=16, heads=2, mlp=32)
    plan = schedule_for("small", chosen.training)
    plan = Schedule(batch=plan.batch, passes=chosen.passes, learning_rate=plan.learning_rate)
    began = time.perf_counter()
    heard = lambda said, share: print(f"  {share:.0%}: {said}", flush=True)  # noqa: E731
    encoder = train(one.tokens, two.tokens, N_TOKENS, small, plan, device=chosen.device)
    print(f"sequence model: {encoder.bits:.3f} bits per epoch, {time.perf_counter() - began:.0f} s", flush=True)
    pairs = PairSchedule(
        batch=chosen.batch,
        steps=chosen.steps,
        look_every=max(10, chosen.steps // 8),
        patience=8,
        tune=not chosen.frozen,
    )
    sizes = PairSizes(tower=512, width=chosen.width, hidden=chosen.hidden, dropout=0.0)
    attack = attacks.Neural(small, sizes, pairs, device=chosen.device)
    began = time.perf_counter()
    attack.train(one, two, encoder=encoder, progress=heard)
    print(
        f"pair network: mean reciprocal ranks {' '.join(f'{x:.3f}' for x in attack.model_.curve)}, "
        f"{time.perf_counter() - began:.0f} s",
        flush=True,
    )
    if chosen.save:
        attack.save(chosen.save)
    truth = np.sort(np.random.default_rng(0).choice(chosen.targets, min(chosen.queries, chosen.targets), replace=False))
    queries = others.take(truth)
    named = {
        "Neural": attack,
        "ProfileBayes": attacks.ProfileBayes(TOP_K, NOISE),
        "WeightedHamming": attacks.WeightedHamming(TOP_K, NOISE),
    }
    compare(named, targets, queries, truth, f"{chosen.targets:,} targets, {chosen.epochs} epochs")
    if chosen.device == "cuda":
        enumeration(torch, attack, queries)
    fewer = chosen.targets // 10
    near = np.sort(np.random.default_rng(1).choice(fewer, min(chosen.queries, fewer), replace=False))
    first = targets.take(np.arange(fewer))
    for name, other in (("WeightedHamming", named["WeightedHamming"]), ("ProfileBayes", named["ProfileBayes"])):
        for keep in (100, 1_000) if name == "ProfileBayes" else (100, 1_000, 5_000):
            named[f"Neural after {name}, {keep}"] = rerank(attack, other, min(keep, fewer))
    compare(named, first, others.take(near), near, f"{fewer:,} targets, {chosen.epochs} epochs")


def rerank(attack, first, keep: int):
    """Return the same network, looking at the best targets of another attack alone."""
    other = attacks.Neural(first=first, keep=keep)
    for name in ("model_", "training_users_", "_kind", "_labels", "_shorter", "pair_sizes"):
        setattr(other, name, getattr(attack, name))
    return other


if __name__ == "__main__":
    main()
