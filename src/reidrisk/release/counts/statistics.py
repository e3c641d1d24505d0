"""The statistics that are published: how often each token, pair within and pair across epochs occurs, with noise."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reidrisk.base import DataError, Floats, OptionError, Vocabulary, checked_seed, fresh_seed, frozen
from reidrisk.privacy import PrivacyStatement, check_budget
from reidrisk.records import TopSets
from reidrisk.release.counts.consistency import consistent_tables, estimated_users
from reidrisk.release.counts.mechanism import add_noise, plan_noise
from reidrisk.release.counts.pairs import PairCounts, count_pairs, measured_blocks


@dataclass(frozen=True, eq=False)
class Statistics:
    """The statistics of dick, Section 4.1, and what protects the people behind them."""

    single: Floats  # (N,): share of users and epochs whose set holds o, :math:`q^*_{single}(o)`
    within: Floats  # (N, N): both in one set, :math:`q^*_{within}(o_1, o_2)`; symmetric, zero diagonal
    across: Floats  # (N, N): o_1 in an epoch and o_2 in the next, :math:`q^*_{across}(o_1, o_2)`
    k: int
    statement: PrivacyStatement | None  # None: exact, private statistics
    vocabulary: Vocabulary | None = None
    n_users: float = math.nan  # estimated from the noisy counts, of which everything here is post-processing
    counts: PairCounts | None = field(default=None, repr=False)
    n_epochs: int | None = None  # epochs that were measured, where that is known

    def __post_init__(self) -> None:
        n = len(self.single)
        if self.counts is not None:
            object.__setattr__(self, "n_epochs", self.counts.n_epochs)
        if self.within.shape != (n, n) or self.across.shape != (n, n):
            raise DataError(f"of {n} tokens, q_within has shape {self.within.shape} and q_across {self.across.shape}")
        for name in ("single", "within", "across"):
            values = np.array(getattr(self, name), dtype=np.float64)
            if not np.isfinite(values).all():
                raise DataError(f"q_{name} holds a value that is no number")
            object.__setattr__(self, name, frozen(values))
        if self.vocabulary is not None and len(self.vocabulary) != n:
            raise DataError(f"there are {n} tokens but {len(self.vocabulary)} labels")

    @property
    def n_tokens(self) -> int:
        """Size of the vocabulary."""
        return len(self.single)

    def __repr__(self) -> str:
        if self.statement is None:
            privacy = "exact: private, not for publication"
        elif self.statement.simulation:
            privacy = "simulation: protects nobody"
        else:
            privacy = f"epsilon {self.statement.epsilon:.3g}, delta {self.statement.delta:.2g}"
        return f"Statistics({self.n_tokens} tokens, sets of {self.k}, {privacy})"


def statistics(
    top_sets: TopSets,
    epsilon: float,
    delta: float,
    simulation: bool = False,
    seed: int | None = None,
    budget: str = "joint",
    threads: int | None = None,
) -> Statistics:
    """Measure differentially private statistics of top sets (dick, Section 4).

    Short sets are padded, each by itself, from the operating system's generator; pairs are counted, noise is added to
    every count, and the noisy counts are brought to agree with each other and divided by a number of users that is
    itself estimated from them. Nothing else of the data goes into the answer.

    The sets are of at least two consecutive epochs, one row per user. ``k``, the vocabulary and the number of epochs
    are taken as public: they must not come from the people. A vocabulary of the labels that occur would publish a label
    that one person has. Each set must have been made from its user alone; sets that were made with a seed are refused.
    Epsilon and delta are the budget under adding or removing one user with all their sets; for ``budget`` see
    :func:`plan_noise`. A ``simulation`` is a try with floating-point noise and a seed (default: drawn afresh), which
    protects nobody and is marked so.

    >>> sets = TopSets([[[0, 1], [0, 2]], [[0, 2], [0, 1]]] * 50_000, n_tokens=4)
    >>> stats = statistics(sets, epsilon=1.0, delta=1e-9)
    >>> bool(abs(stats.single[0] - 1.0) < 0.01), stats.statement.simulation
    (True, False)
    """
    epsilon, delta = check_budget(epsilon, delta)
    if seed is not None:
        seed = checked_seed(seed)
        if not simulation:
            never = "noise that protects people is never seeded: leave it out, or say simulation=True"
            raise OptionError(f"seed {seed} was given for a real release; {never}")
    elif simulation:
        seed = fresh_seed()
    if isinstance(top_sets, TopSets):
        if top_sets.made_with_seed and not simulation:
            told = "these top sets were made with a seed, and whoever knows it reads one more user off everybody's sets"
            instead = "give short sets as they are, replay histories with seed=None, or say simulation=True"
            raise OptionError(f"{told}; {instead}")
        top_sets = top_sets.padded(seed)
    exact = count_pairs(top_sets, threads)
    blocks = measured_blocks(exact.k, exact.n_tokens, exact.n_epochs)
    plan = plan_noise(blocks, epsilon, delta, budget, discrete=not simulation)
    noisy = add_noise(exact, plan, seed)
    public = (
        f"sets of {exact.k} out of {exact.n_tokens} tokens, {exact.n_epochs} consecutive epochs",
        "which tokens exist; one row of the table is one user",
        "that each set was made from its user alone; short ones are padded here, each by itself",
    )
    statement = plan.statement(public, seed).after(
        "counts brought to agree with each other and to be at least 0",
        "divided by the number of users, estimated from the noisy counts; shares are at most 1",
    )
    return from_counts(noisy, statement, top_sets.vocabulary)


def from_counts(noisy: PairCounts, statement: PrivacyStatement, vocabulary: Vocabulary | None = None) -> Statistics:
    """Compute the statistics that noisy counts give: post-processing, so anyone can do it again and compare."""
    variance = {name: sigma**2 for name, sigma in statement.sigma.items()}
    tables = consistent_tables(noisy.tables, variance, noisy.k, noisy.n_epochs)
    return _normalised(tables, noisy, statement, vocabulary)


def exact_statistics(top_sets: TopSets, threads: int | None = None) -> Statistics:
    """Compute the statistics without any noise: private, for the owner of the data and for tests."""
    exact = count_pairs(top_sets, threads)
    return _normalised(exact.tables, exact, None, top_sets.vocabulary)


def _normalised(
    tables: Mapping[str, Any], counts: PairCounts, statement: PrivacyStatement | None, vocabulary: Vocabulary | None
) -> Statistics:
    k, epochs = counts.k, counts.n_epochs
    users = estimated_users(tables, k, epochs)
    # No share of users is above 1; noise can lift that of a token everybody has a little beyond.
    across = np.minimum((tables["f12"] if epochs == 2 else tables["across"]) / (users * (epochs - 1)), 1.0)
    if k == 1:
        within = np.zeros_like(across)
        single = (across.sum(axis=0) + across.sum(axis=1)) / 2.0
    else:
        within = tables["f11"] + tables["f22"] if epochs == 2 else tables["within"]
        within = np.minimum(within / (users * epochs), 1.0)
        single = within.sum(axis=1) / (k - 1)
    # Exact counts, those without a statement, are not kept.
    kept = None if statement is None else counts
    return Statistics(np.minimum(single, 1.0), within, across, k, statement, vocabulary, users, kept)
