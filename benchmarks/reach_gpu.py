"""Attacks at every number of epochs, the neural one among them, and beside the best one possible; on a GPU.

`--people published` takes the published population; `--people mixture` people of a mixture of types that was fitted to
it, where the exact posterior, `MixtureBayes`, is the ceiling. One network is trained for all numbers of epochs, on
other people of the same population. The same queries for all attacks; `--out` keeps the credit of every query. Needs
torch, Triton, NumPy, SciPy and numba. Without a GPU, `--device cpu --training 3000 --targets 1000 --queries 100
--steps 20 --passes 1 --types 5 --fitted 5000 --fit-steps 20` shows that it runs.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from reidrisk import attacks, populations, release
from reidrisk.base.intervals import difference_interval, mean_interval
from reidrisk.measure import credits
from reidrisk.records import Traces
from reidrisk.sequence import Schedule, Sizes, schedule_for, train
from reidrisk.sequence.pairs import PairSchedule, PairSizes
from reidrisk.topics.simulate import TopicsAPI

TOP_K, NOISE, N_TOKENS, EPOCHS = 5, 0.05, 469, 8


def two_sites(sets, seed: int, first: int) -> tuple[Traces, Traces]:
    """Return what two sites see of people who are numbered from ``first``."""
    names = np.arange(first, first + len(sets))
    api = TopicsAPI(N_TOKENS, TOP_K, NOISE)
    one, two = (api.expose(sets, seed=seed, site=site).with_users(names) for site in ("site 1", "site 2"))
    return one, two


def fitted(chosen) -> populations.TypeMixture:
    if chosen.model and Path(chosen.model).exists():
        return populations.TypeMixture(np.load(chosen.model))
    began = time.perf_counter()
    stats = release.exact_statistics(populations.published(chosen.fitted, 2, seed=1))
    model = release.fit_mixture(stats, chosen.types, EPOCHS, steps=chosen.fit_steps)
    print(
        f"fit of {chosen.types} types: {time.perf_counter() - began:.0f} s, J = {model.report.objective:.3g}",
        flush=True,
    )
    if chosen.model:
        np.save(chosen.model, model.theta)
    return model


def learnt(chosen, one: Traces, two: Traces) -> attacks.Neural:
    small = Sizes() if chosen.device == "cuda" else Sizes(width=16, heads=2, mlp=32)
    plan = schedule_for("small", len(one))
    plan = Schedule(batch=plan.batch, passes=chosen.passes, learning_rate=plan.learning_rate)
    pairs = PairSchedule(
        batch=chosen.batch,
        steps=chosen.steps,
        look_every=max(10, chosen.steps // 8),
        patience=8,
        shorter=chosen.shorter,
    )
    sizes = PairSizes(tower=512, width=chosen.width, hidden=chosen.hidden, dropout=0.0)
    attack = attacks.Neural(small, sizes, pairs, plan, device=chosen.device)
    began = time.perf_counter()
    encoder = train(one.tokens, two.tokens, N_TOKENS, small, plan, device=chosen.device)
    print(f"sequence model: {encoder.bits:.3f} bits per epoch, {time.perf_counter() - began:.0f} s", flush=True)
    began = time.perf_counter()
    attack.train(one, two, encoder=encoder)
    ranks = " ".join(f"{x:.3f}" for x in attack.model_.curve)
    print(f"pair network: mean reciprocal ranks {ranks}, {time.perf_counter() - began:.0f} s", flush=True)
    return attack


class Measured:
    """Credits of the same queries for every attack and number of epochs, printed as they come and kept in a file."""

    def __init__(self, chosen, targets: Traces, queries: Traces, truth: np.ndarray) -> None:
        self.people, self.targets, self.queries, self.truth = chosen.people, targets, queries, truth
        self.found: dict[str, np.ndarray] = {}
        name = "-".join([chosen.people, *chosen.parts])
        self.file = None if chosen.out is None else Path(chosen.out) / f"{name}.npz"

    def add(self, attack, r: int) -> None:
        name, queries, began = type(attack).__name__, self.queries.epochs(r), time.perf_counter()
        attack.fit(self.targets.epochs(r))
        linking = time.perf_counter()
        links = attack.link(queries)
        ended = time.perf_counter()
        right = self.found[f"{name} {r}"] = credits(attack, queries, links, self.truth)
        low, high = mean_interval(right)
        print(
            f"{self.people}, {len(self.targets):,} targets, r = {r}, {name}: {right.mean():.5f} ({low:.5f} to "
            f"{high:.5f}); fit {linking - began:.1f} s, link {ended - linking:.1f} s",
            flush=True,
        )
        if self.file is not None:
            np.savez_compressed(self.file, **self.found)

    def compare(self, name: str, r: int) -> None:
        for key, other in self.found.items():
            if key.endswith(f" {r}") and key != f"{name} {r}":
                mine = self.found[f"{name} {r}"]
                low, high = difference_interval(mine, other)
                print(f"    {name} - {key[:-2]}: {(mine - other).mean():+.5f} ({low:+.5f} to {high:+.5f})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", choices=("published", "mixture"), default="published")
    parser.add_argument("--parts", nargs="+", choices=("fit", "others", "neural"), default=["others", "neural"])
    parser.add_argument("--model", help="file (.npy) of the mixture: read where it is there, else fitted and written")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--training", type=int, default=2_000_000, help="people to train on")
    parser.add_argument("--targets", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--epochs", type=int, nargs="+", default=list(range(1, EPOCHS + 1)))
    parser.add_argument("--passes", type=int, default=5, help="of the sequence model")
    parser.add_argument("--steps", type=int, default=6_000, help="of the pair network")
    parser.add_argument("--batch", type=int, default=1_024)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--shorter", type=float, default=0.75, help="share of steps on the first few epochs alone")
    parser.add_argument("--fitted", type=int, default=300_000, help="people whose statistics the mixture is fitted to")
    parser.add_argument("--types", type=int, default=500)
    parser.add_argument("--fit-steps", type=int, default=1_500)
    parser.add_argument("--out", help="folder for the credits")
    chosen = parser.parse_args()
    import torch

    if chosen.device == "cuda" and not torch.cuda.is_available():
        print("there is no GPU here: nothing to measure (see --help for how to see that it runs)")
        return
    torch.set_float32_matmul_precision("high")
    model = fitted(chosen) if chosen.people == "mixture" else None
    if chosen.parts == ["fit"]:
        return

    def drawn(n: int, seed: int):
        if model is None:
            return populations.published(n, EPOCHS, seed=seed)
        return populations.mixture(model, n, seed=seed)

    targets, others = two_sites(drawn(chosen.targets, 12), 12, first=0)
    truth = np.sort(np.random.default_rng(0).choice(chosen.targets, min(chosen.queries, chosen.targets), replace=False))
    measured = Measured(chosen, targets, others.take(truth), truth)
    for r in chosen.epochs if "others" in chosen.parts else ():
        measured.add(attacks.Hamming(), r)
        measured.add(attacks.WeightedHamming(TOP_K, NOISE), r)
        measured.add(attacks.ProfileBayes(TOP_K, NOISE), r)
        if model is not None:
            measured.add(attacks.MixtureBayes(model, NOISE), r)
    if "neural" not in chosen.parts:
        return
    attack = learnt(chosen, *two_sites(drawn(chosen.training, 11), 11, first=chosen.targets))
    for r in chosen.epochs:
        measured.add(attack, r)
        measured.compare("Neural", r)


if __name__ == "__main__":
    main()
