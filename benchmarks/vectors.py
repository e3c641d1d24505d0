"""Vectors: exact nearest neighbours beside faiss, and the likelihood ratio beside the cosine.

    python benchmarks/vectors.py [--targets 1000000] [--queries 10000] [--people 5000] [--rounds 2] [--form distance]

The search is compared with faiss-cpu's exact flat index on the same rows, by cosine and by Euclidean distance. The two
take turns in one run, the order reversed from round to round, so that what else the machine does hits both: seconds on
the clock and of the processor, their ratios, and whether the answers are the same. The attacks are compared on two
noisy copies of 64-dimensional embeddings, with the same noise in all directions and with noise that differs by
direction.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from reidrisk import attacks, measure
from reidrisk.records import Vectors
from reidrisk.search.dense import VectorRows, VectorScorer


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    clock, processor = time.perf_counter(), time.process_time()
    found = work()
    return time.perf_counter() - clock, time.process_time() - processor, found


def search(n: int, q: int, d: int, rounds: int, forms: list[str]) -> None:
    import faiss

    rng = np.random.default_rng(0)
    known = rng.standard_normal((n, d), dtype=np.float32)
    asked = known[rng.integers(0, n, q)] + 1.2 * rng.standard_normal((q, d), dtype=np.float32)
    for form in forms:
        rows = [VectorRows.of(part, form) for part in (known, asked)]
        scorer = VectorScorer.of(form, rows[0])
        scorer.best_here(rows[0][:100], rows[1][:10])  # compiles
        index, wanted = (faiss.IndexFlatIP if form == "cosine" else faiss.IndexFlatL2)(d), asked
        if form == "cosine":
            index.add(known / np.linalg.norm(known, axis=1, keepdims=True))
            wanted = asked / np.linalg.norm(asked, axis=1, keepdims=True)
        else:
            index.add(known)
        programs = {
            "reidrisk": lambda scorer=scorer, rows=rows: scorer.best_here(*rows),
            "faiss": lambda index=index, wanted=wanted: index.search(wanted, 1)[1][:, 0],
        }
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
        found: dict[str, Any] = {}
        for i in range(rounds):
            for name in list(programs) if i % 2 == 0 else reversed(list(programs)):
                *seconds, found[name] = timed(programs[name])
                taken[name].append((seconds[0], seconds[1]))
        ours, theirs = (np.mean(taken[name], axis=0) for name in programs)
        print(
            f"{form:9} {n:,} x {q:,} x {d}, {rounds} rounds by turns: reidrisk {ours[0]:.1f} s "
            f"({ours[1]:.1f} s of the processor), faiss {theirs[0]:.1f} s ({theirs[1]:.1f} s); "
            f"speed {theirs[0] / ours[0]:.2f} of faiss by the clock, {theirs[1] / ours[1]:.2f} by the processor; "
            f"{agreement(scorer, rows, found['reidrisk'], found['faiss'])}",
            flush=True,
        )


def agreement(scorer: VectorScorer, rows: list[VectorRows], ours: Any, theirs: np.ndarray) -> str:
    """Say how many answers differ, and whose are nearer in double precision."""
    differ = np.flatnonzero(ours.target != theirs)
    if not differ.size:
        return "same answers"
    scores = scorer.pairs(rows[0], rows[1][differ], theirs[differ])
    nearer = ", ours nearer in double precision" if (scores < ours.score[differ]).all() else ""
    return f"{len(differ)} answers differ{nearer}"


def copies(n: int, d: int, uneven: float, noise: float) -> tuple[Vectors, Vectors]:
    rng = np.random.default_rng(1)
    people = rng.normal(size=(n, d)) / np.arange(1, d + 1) ** 0.25
    each = np.exp(uneven * rng.normal(size=d))
    each *= noise / np.sqrt((each**2).mean())
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    one, two = (Vectors(people + (rng.normal(size=(n, d)) * each) @ turn) for _ in range(2))
    return one, two


def compare(n: int) -> None:
    for uneven, noise in ((0.0, 0.6), (0.6, 0.9)):
        known, asked = copies(n, 64, uneven, noise)
        bayes = attacks.GaussianBayes()
        strong, plain = (measure.random_user(one, known, asked) for one in (bayes, attacks.Nearest()))
        links = bayes.link(asked, probability=True)
        held = measure.calibration(links.probability, measure.credits(bayes, asked, links, np.arange(n)), links.n_ties)
        gap = measure.difference(strong, plain)
        print(
            f"{n:,} people, noise {'differs by direction' if uneven else 'the same in all directions'}: "
            f"GaussianBayes {strong.rate:.3f}, cosine {plain.rate:.3f}, difference {gap.difference:.3f} "
            f"({gap.low:.3f} to {gap.high:.3f}); said {held.said:.3f}, excess calibration error {held.excess:.3f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--targets", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--people", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--form", choices=("cosine", "distance"), help="one of the two; default: both")
    given = parser.parse_args()
    forms = [given.form] if given.form else ["cosine", "distance"]
    if given.people:
        compare(given.people)
    search(given.targets, given.queries, given.dimensions, given.rounds, forms)


if __name__ == "__main__":
    main()
