"""Every bound and every measured quantity of a channel in one table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reidrisk.base.notes import Note
from reidrisk.base.results import Bound, Measurement
from reidrisk.bounds.anonymity import from_k_anonymity, k_anonymity
from reidrisk.bounds.exact_pairs import exp_ends
from reidrisk.bounds.information import from_mutual_information, min_entropy_leakage, mutual_information, vulnerability
from reidrisk.bounds.ldp import from_ldp, ldp_epsilon
from reidrisk.bounds.matching import matching
from reidrisk.bounds.random_user import random_user
from reidrisk.bounds.row_pairs import RowPairs
from reidrisk.records import Channel

_GRID = 9
"""How many epsilons from 0 to log(n) are tried where the smallest one for delta = 0 says nothing."""

_WORK = 100_000_000
"""Entries that may be visited for each of them."""

_FULL = Note("knows-probabilities")
_UNIFORM = Note("equally-likely")


def summary(P: Any) -> tuple[Bound | Measurement, ...]:
    """Return all bounds of the framework on a channel, and the quantities they follow from.

    Bounds: the random-user optimum (carey, Corollary 1), what follows from local differential privacy
    (Lemma 3), from k-anonymity (Lemma 7) and from mutual information (Lemma 9), and the matching bound
    (Lemma 4). Where the smallest epsilon with ``delta = 0`` says nothing, the best of a small grid of
    (epsilon, delta) is added. Measured: k, epsilon, delta, mutual information, Bayes vulnerability, min-entropy
    leakage.

    >>> for result in summary([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])[:4]:
    ...     print(f"{type(result).__name__:11}  {result.value:.3f}  {result.name}")
    Bound        0.750  optimal attacker
    Bound        inf  local differential privacy
    Bound        1.000  approximate local differential privacy
    Bound        1.000  k-anonymity
    """
    channel = Channel(P)
    n = channel.n_users
    epsilon, k, bits = ldp_epsilon(channel), k_anonymity(channel), mutual_information(channel)
    private, at, delta = _private_bounds(channel, epsilon)
    together = (_FULL, Note("all-seen"))
    return (
        _bound("optimal attacker", random_user(channel), n, "carey, Corollary 1", {}, (_FULL, _UNIFORM)),
        *private,
        _bound("k-anonymity", from_k_anonymity(k), n, "carey, Lemma 7", {"k": float(k)}),
        _bound("mutual information", from_mutual_information(bits, n), n, "carey, Lemma 9", {"bits": bits}),
        _bound("distinct representations", matching(channel), n, "carey, Lemma 4", {}, together, "matching"),
        Measurement("k", float(k), "users" if k else "", "carey, Appendix B.1"),
        Measurement("epsilon", epsilon, "", "carey, Definition 1"),
        Measurement("delta", delta[1], "", "carey, Definition 1", *delta, inputs={"epsilon": at}),
        Measurement("mutual information", bits, "bits", "carey, Appendix B.3", inputs={"users": float(n)}),
        Measurement("Bayes vulnerability", vulnerability(channel), "", "carey, Appendix B.4"),
        Measurement("min-entropy leakage", min_entropy_leakage(channel), "bits", "carey, Appendix B.4"),
    )


def _private_bounds(channel: Channel, epsilon: float) -> tuple[list[Bound], float, tuple[float, float]]:
    """Return the bounds from LDP, and the (epsilon, interval of delta) that belongs to the last of them."""
    n, m = channel.shape
    pure = from_ldp(n, m, epsilon)
    found = [_private_bound("local differential privacy", pure, n, epsilon, 0.0)]
    if pure < 1.0 or n == 1:
        return found, epsilon, (0.0, 0.0)
    pairs = RowPairs(channel, _WORK)
    grid = [(float(e), pairs.delta(*exp_ends(float(e)))) for e in np.linspace(0.0, math.log(n), _GRID)]
    at, delta = min(grid, key=lambda entry: from_ldp(n, m, entry[0], entry[1][1]))
    value = from_ldp(n, m, at, delta[1])
    found.append(_private_bound("approximate local differential privacy", value, n, at, delta[1]))
    return found, at, delta


def _private_bound(name: str, value: float, n: int, epsilon: float, delta: float) -> Bound:
    return _bound(name, value, n, "carey, Lemma 3", {"epsilon": epsilon, "delta": delta})


def _bound(
    name: str,
    value: float,
    n: int,
    reference: str,
    inputs: dict[str, float],
    notes: tuple[Note, ...] = (_UNIFORM,),
    setting: str = "random user",
) -> Bound:
    return Bound(name, setting, value, 1.0 / n, reference, inputs=inputs, notes=notes)
