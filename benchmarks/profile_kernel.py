"""ProfileBayes on traces: nanoseconds for a pair, with probabilities, beside its first kernel in the same run.

Both must give the same integers. Processor time on one thread, so that other work on the machine matters less. With
`--device cuda`, seconds on a GPU instead, its integers compared with the kernel's on a sample of the queries. Made-up
people: five of a dozen interests each week, two observers, 5 % noise; `--traces FILE.npz` (arrays a, b of tokens) takes
others. Larger numbers of targets are the same people with their weeks moved on.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.attacks.profile.bayes import ProfileBayes
from reidrisk.attacks.profile.counts import count
from reidrisk.attacks.profile.factor import Known
from reidrisk.attacks.profile.posterior import Posterior
from reidrisk.records import Traces

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "attacks" / "profile"))
from first_kernel import FirstKernel

N_TOKENS, TOP_K, NOISE, EPOCHS = 349, 5, 0.05, 30
FITTED = 100_000  # targets from which the model is learnt on the GPU machine; what follows is about searching


def two_observers(users: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw what two observers see of people with lasting interests."""
    rng = np.random.default_rng(seed)
    popular = 1.0 / (np.arange(N_TOKENS) + 3.0)
    interests = rng.choice(N_TOKENS, (users, 12), p=popular / popular.sum())
    liking = rng.gamma(0.5, size=(users, 12))
    seen = [np.empty((users, EPOCHS), dtype=np.int16) for _ in range(2)]
    for epoch in range(EPOCHS):
        # The five largest of exponentials over likings are five draws without replacement.
        top = np.argpartition(rng.exponential(size=liking.shape) / liking, TOP_K, axis=1)[:, :TOP_K]
        for tokens in seen:
            pick = top[np.arange(users), rng.integers(TOP_K, size=users)]
            shown = interests[np.arange(users), pick]
            tokens[:, epoch] = np.where(rng.random(users) < NOISE, rng.integers(N_TOKENS, size=users), shown)
    return seen[0], seen[1]


def moved_on(tokens: np.ndarray, n: int) -> np.ndarray:
    """Return ``n`` rows: the same people again and again, their weeks moved on by one more each time."""
    times = -(-n // len(tokens))
    return np.concatenate([np.roll(tokens, k, axis=1) for k in range(times)])[:n]


def timed(work: Callable[[], Any], clock: Callable[[], float]) -> tuple[float, Any]:
    start = clock()
    found = work()
    return clock() - start, found


def same(one: Any, two: Any) -> None:
    for a, b in zip(one, two, strict=True):
        assert np.array_equal(a, b), "the answers differ"


def on_processor(targets: Traces, queries: Traces, temperature: float) -> None:
    """Print nanoseconds for a pair, first kernel and present one."""
    attack = ProfileBayes(TOP_K, NOISE, threads=1, calibrate=False).fit(targets)
    attack._learnt.posterior = Posterior(temperature)
    scorer, known, asked = attack._posed(queries)
    first, few = FirstKernel(scorer.tables, scorer.per_nat), asked[:2]
    scorer.best_and_total(known, few)  # compiled and laid out
    scorer.best(known, few)
    first.total(known, few, first.best(known, few).score)
    pair = 1e-9 * len(known) * len(asked)
    t_links, _ = timed(lambda: scorer.best(known, asked), time.process_time)
    t_both, (best, total) = timed(lambda: scorer.best_and_total(known, asked), time.process_time)
    f_links, expected = timed(lambda: first.best(known, asked), time.process_time)
    f_total, sums = timed(lambda: first.total(known, asked, expected.score), time.process_time)
    same((*best, total), (*expected, sums))
    print(f"{len(known):,} targets, {len(asked):,} queries, one thread, nanoseconds of processor time for a pair")
    print(f"  links          first {f_links / pair:6.1f}   now {t_links / pair:6.1f}   {f_links / t_links:.1f} times")
    both = f_links + f_total
    print(f"  probabilities  first {both / pair:6.1f}   now {t_both / pair:6.1f}   {both / t_both:.1f} times")
    print(f"  1 million x 10,000 on two idle cores, extrapolated: {t_both / pair * 5:.0f} s")


def on_gpu(targets: Traces, queries: Traces, temperature: float, sample: int = 64) -> None:
    """Print seconds on a GPU, with what is copied there, and compare a sample of the answers with the kernel's."""
    attack = ProfileBayes(TOP_K, NOISE, calibrate=False).fit(targets.take(slice(0, FITTED)))
    attack._learnt.posterior = Posterior(temperature)
    counts = count(targets, attack._learnt.ladder)
    known = Known(counts, attack._learnt.evidence(counts))
    scorer, _, asked = attack._posed(queries)
    there, here = replace(scorer, device="cuda"), replace(scorer, device="cpu")
    there.best_and_total(known, asked[:sample])  # compiled
    t_links, _ = timed(lambda: there.best(known, asked), time.perf_counter)
    t_both, (best, total) = timed(lambda: there.best_and_total(known, asked), time.perf_counter)
    t_copy, _ = timed(lambda: there.best(known, asked[:1]), time.perf_counter)
    t_here, (expected, sums) = timed(lambda: here.best_and_total(known, asked[:sample]), time.perf_counter)
    same((*(part[:sample] for part in best), total[:sample]), (*expected, sums))
    print(f"{len(known):,} targets, {len(asked):,} queries: links {t_links:.2f} s, with probabilities {t_both:.2f} s")
    print(
        f"  of it copying the targets {t_copy:.2f} s; {sample} queries on this processor: {t_here:.2f} s, same answers"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=Path, help="an .npz with tokens a (targets) and b (queries)")
    parser.add_argument("--targets", type=int, nargs="+", default=[100_000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--temperature", type=float, default=1.03)
    chosen = parser.parse_args()
    if chosen.traces is None:
        a, b = two_observers(min(chosen.targets[0], 100_000))
    else:
        with np.load(chosen.traces) as arrays:
            a, b = arrays["a"], arrays["b"]
    for n in chosen.targets:
        targets, queries = Traces(moved_on(a, n), N_TOKENS), Traces(moved_on(b, chosen.queries), N_TOKENS)
        measure = on_gpu if chosen.device == "cuda" else on_processor
        measure(targets, queries, chosen.temperature)


if __name__ == "__main__":
    main()
