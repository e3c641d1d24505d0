"""How close attacks come to the best one possible: on people of a fitted mixture, and on those it was fitted to.

A mixture of types is fitted to the statistics of the published population; then attacks are measured beside the exact
posterior, `measure.ceiling`. On people of the mixture that is the ceiling; on the published population it is one more
attacker, who knows only their statistics. Needs torch, NumPy, SciPy and numba; a GPU is used for the fit where there is
one.
"""

from __future__ import annotations

import argparse
import time

from reidrisk import attacks, measure, populations, release, topics

NOISE, TOP_K = 0.05, 5


def seen(sets, seed):
    api = topics.TopicsAPI(sets.n_tokens, top_k=TOP_K, noise=NOISE)
    return [api.expose(sets, seed=seed, site=site) for site in ("site 1", "site 2")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=5_000)
    parser.add_argument("--fitted", type=int, default=100_000, help="people whose statistics are fitted")
    parser.add_argument("--types", type=int, default=40)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--sample", type=int, default=1_000)
    parser.add_argument("--epochs", type=int, nargs="+", default=[1, 2, 4, 8])
    given = parser.parse_args()

    most = max(given.epochs)
    began = time.perf_counter()
    stats = release.exact_statistics(populations.published(given.fitted, 2, seed=1))
    model = release.fit_mixture(stats, given.types, most, steps=given.steps)
    print(
        f"fit: {time.perf_counter() - began:.0f} s, J = {model.report.objective:.3g}, {model.report.device}", flush=True
    )
    for name, sets in (
        ("people of the mixture", populations.mixture(model, given.users, seed=2)),
        ("published population", populations.published(given.users, most, seed=2)),
    ):
        one, two = seen(sets, seed=3)
        for r in given.epochs:
            began = time.perf_counter()
            others = [
                attacks.Hamming(),
                attacks.WeightedHamming(TOP_K, NOISE),
                attacks.ProfileBayes(top_k=TOP_K, noise=NOISE),
            ]
            found = measure.ceiling(model, one.epochs(r), two.epochs(r), others, NOISE, sample=given.sample, seed=4)
            best = found.best
            print(f"{name}, {given.users:,}, r = {r}: MixtureBayes {best.rate:.4f} ({best.low:.4f} to {best.high:.4f})")
            for other in found.others:
                print(
                    f"    {other.risk.attack}: {other.risk.rate:.4f}, {other.share:.2f} of it"
                    f" ({other.low:.2f} to {'any' if other.high is None else f'{other.high:.2f}'})"
                )
            print(f"    {time.perf_counter() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
