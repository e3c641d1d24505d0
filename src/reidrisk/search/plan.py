"""Which engine answers a search: lattice or scan, processor or GPU; the answers are the same, bit for bit."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from reidrisk.base import Array, Ints, OptionError, Progress, one_of
from reidrisk.search import gpu, lattice, scan
from reidrisk.search.answer import Best, ByBlocks, Candidates
from reidrisk.search.index import Index, Tokens
from reidrisk.search.weights import AnyWeights, PairWeights, RangeWeights, check_fit, pair_scores

Method = Literal["auto", "lattice", "scan"]
Device = Literal["auto", "cpu", "cuda"]

# Seconds on two cores without wide vectors.
_SCAN = 1e-10  # the scan, for a pair and epoch; it often does better
_LATTICE = 2e-8  # the lattice, for a row (of targets and queries) and set of epochs
_SET = 2e-4  # to begin a set of epochs, however few rows there are
_WORTH_A_GPU = 5.0  # from which on moving the tables to a GPU, where there is one, pays off

_LATTICE_EPOCHS = 24  # epochs from which on there are too many sets of them for any number of users


@dataclass(frozen=True)
class Plan:
    """How a search will be done: the method, where, why, and what it will take (rough, for two cores).

    ``reason``: comparing every ``"pair"`` is as quick; the lattice needs more ``"memory"`` than is free; or there are
    fewer ``"sets"`` of epochs than targets.
    """

    method: Literal["lattice", "scan"]
    reason: Literal["pair", "memory", "sets"]
    seconds: float
    memory: int
    device: Literal["cpu", "cuda"] = "cpu"


def choose(index: Index, n_queries: int, memory: int | None = None, device: Device = "auto") -> Plan:
    """Choose the method by the numbers of users, epochs and patterns of missing tokens, by memory and by device.

    ``memory`` is in bytes; default: what is free now. The device ``"auto"`` is a GPU where there is one and the search
    is long enough to be worth it.
    """
    one_of("device", device, get_args(Device))
    found = _on_cpu(index, n_queries, _free_memory() if memory is None else memory)
    if device == "cuda" and not gpu.available():
        raise OptionError("there is no GPU here, or torch is not installed; use device='cpu' or 'auto'")
    # A GPU that would have to compare every pair is no match for a lattice on the processor.
    suits = found.method == "scan" or gpu.has_lattice(index)
    if device == "cuda" or (device == "auto" and suits and found.seconds > _WORTH_A_GPU and gpu.available()):
        return replace(found, device="cuda")
    return found


def _on_cpu(index: Index, n_queries: int, memory: int) -> Plan:
    n, r = index.n_users, index.n_epochs
    width = 2 if index.n_tokens <= np.iinfo(np.uint16).max else 4
    by_scan = Plan("scan", "pair", _SCAN * n * n_queries * r, width * r * (n + n_queries))
    if r > _LATTICE_EPOCHS or by_scan.seconds < 1e-3:
        return by_scan
    sets = sum(2.0 ** len(epochs) for epochs, _ in index.patterns)
    rows = sum(2.0 ** len(epochs) * (len(members) + n_queries) for epochs, members in index.patterns)
    seconds = _LATTICE * rows + _SET * sets
    needed = width * r * (n + n_queries) + 72 * n + 48 * n_queries + (1 << 26)
    if needed > memory:
        return replace(by_scan, reason="memory")
    if seconds >= by_scan.seconds:
        return by_scan
    return Plan("lattice", "sets", seconds, needed)


def best(
    index: Index,
    queries: Tokens,
    weights: AnyWeights,
    method: Method = "auto",
    progress: Progress | None = None,
    device: Device = "auto",
) -> Best:
    """Find best score, number of ties and lowest tied target of each query (q, r), exactly.

    Weights of pairs or ranges of tokens, and those where a match counts less than a mismatch, always go to the scan:
    for them, more matters than which epochs agree.

    >>> from reidrisk.search import Weights
    >>> w = Weights(match=np.ones((1, 9), dtype=np.int64), mismatch=np.zeros((1, 9), dtype=np.int64), per_nat=0)
    >>> index, queries = Index(np.array([[1, 2], [3, 4], [3, 5]]), 9), np.array([[3, 4], [3, 8]])
    >>> [best(index, queries, w, method).n_ties.tolist() for method in ("auto", "lattice", "scan")]
    [[1, 2], [1, 2], [1, 2]]
    """
    one_of("method", method, get_args(Method))
    check_fit(index, queries, weights)
    if isinstance(weights, RangeWeights):
        return scan.best(index, queries, weights, progress=progress)
    planned = choose(index, len(queries), device=device if method == "auto" else "cpu")
    ranked = isinstance(weights, PairWeights) or bool((weights.match >= weights.mismatch).all())
    if planned.device == "cuda" and (ranked or device == "cuda"):
        return gpu.best(gpu.GpuIndex(index.tokens, index.n_tokens), queries, weights)
    chosen = planned.method if method == "auto" else method
    if chosen == "lattice" and index.n_epochs > _LATTICE_EPOCHS:
        raise OptionError(f"the lattice has 2^{index.n_epochs} sets of epochs; use the scan beyond {_LATTICE_EPOCHS}")
    if chosen == "scan" or isinstance(weights, PairWeights) or not ranked:
        return scan.best(index, queries, weights, progress=progress)
    return lattice.best(index, queries, weights, progress=progress)


@dataclass(frozen=True, eq=False)
class EpochScorer(ByBlocks):
    """Scores that add up over epochs, for an engine; targets are an :class:`Index`, queries tokens (q, r)."""

    weights: AnyWeights
    method: Method = "auto"

    @property
    def per_nat(self) -> float:
        """Steps of a score in one nat; 0 where scores are no likelihoods."""
        return self.weights.per_nat

    def best(self, targets: Index, queries: Tokens, progress: Progress | None = None) -> Best:
        """Find best score, number of ties and lowest tied target of each query, exactly."""
        return best(targets, queries, self.weights, self.method, progress)

    def candidates(self, targets: Index, queries: Tokens, k: int) -> Candidates:
        """Find the k best targets of each query."""
        if 4 * k < len(targets):  # a few are kept in order while targets go by; many are sorted at once
            return scan.candidates(targets, queries, self.weights, k)
        return super().candidates(targets, queries, k)

    def scores(self, targets: Index, queries: Tokens, reach: Ints | None = None) -> Array:
        """Return the (q, n) scores, all of them exact."""
        return scan.scores(targets, queries, self.weights)

    def pairs(self, targets: Index, queries: Tokens, rows: Ints) -> Ints:
        """Return the score of each query with the target row given for it."""
        return pair_scores(targets.tokens, queries, self.weights, rows)

    def total(self, targets: Index, queries: Tokens, score: Ints) -> Ints:
        """Add up the likelihoods of all targets relative to the score given for each query."""
        return scan.totals(targets, queries, self.weights, score)


def _free_memory() -> int:
    """Return the bytes of memory that can be had, or a careful guess where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return 4 << 30
