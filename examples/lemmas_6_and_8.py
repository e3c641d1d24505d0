"""Two constructions that show where notions of privacy part ways (carey, Lemmas 6 and 8).

Run: python examples/lemmas_6_and_8.py
"""

import numpy as np

from reidrisk import bounds


def lemma_6(n: int) -> np.ndarray:
    """n/2 pairs: each user has one output of their own and one they share with the other of the pair."""
    P = np.zeros((n, 3 * n // 2))
    for i in range(n):
        P[i, i] = P[i, n + i // 2] = 0.5
    return P


def lemma_8(n: int) -> np.ndarray:
    """n users between two extremes: the first always has output 0, the last always output 1."""
    second = np.arange(n) / (n - 1)
    return np.column_stack([1 - second, second])


def main() -> None:
    print("Lemma 6: seeing everyone at once helps the attacker")
    for n in (2, 4):
        P = lemma_6(n)
        print(f"  {n} users: one at a time {bounds.random_user(P):.3f}, all at once {bounds.matching_optimum(P):.3f}")

    print("Lemma 8: low risk needs neither local differential privacy nor k-anonymity")
    for n in (10, 1000):
        P = lemma_8(n)
        print(
            f"  {n} users: best attacker {bounds.random_user(P):.3f}, epsilon {bounds.ldp_epsilon(P)}, "
            f"delta {bounds.ldp_delta(P, epsilon=20.0):.0f}, k {bounds.k_anonymity(P)}"
        )

    print("Every bound on the second, with 1,000 users:")
    results = bounds.summary(lemma_8(1000))
    for result in results:
        print(f"  {result.value:9.4f}  {result.name:38}  {result.reading}")
    for setting in ("random user", "matching"):
        print(f"{setting}: {bounds.tightest(results, setting).reading}")


if __name__ == "__main__":
    main()
