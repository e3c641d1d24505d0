"""Trade-offs of one data set: Laplace noise on probabilities, the same on counts, and truncated singular values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from reidrisk import bandits
from reidrisk.bandits import Behaviour, LatentBandit, Shared, Tradeoff, TradeoffPoint
from reidrisk.base.progress import Progress
from reidrisk.base.streams import stream
from reidrisk_studies.galozy.people import People, Size

__all__ = ["COUNTS", "LAPLACE", "SVD", "counts_of", "harmless_variance", "noisy_counts", "surfaces"]

Floats = npt.NDArray[np.float64]

LAPLACE, COUNTS, SVD = "laplace", "laplace on counts", "svd"
"""What is put on top: as the text says, on counts before rows are divided by their sums, and fewer singular values."""

_QUERIES = 1_000  # attacks at a point, where there are few users, as in bandits.tradeoff
Tell = Callable[[str, float], None]


def surfaces(people: People, size: Size, seed: int, tell: Tell) -> dict[str, Tradeoff]:
    """Measure regret and de-anonymisation of the paper's strategies, by what is put on top.

    Parameters
    ----------
    people : People
        Users, clusters and known cells.
    size : Size
        Runs and amounts.
    seed : int
        Seed.
    tell : callable
        Called with what is being done, and the share of it that is done.
    """
    behaviour = people.behaviour
    strategies = _fitting(bandits.paper_strategies(people.clusters), len(behaviour.users))
    printed = size.printed_amounts(people.end)
    amounts = sorted({*printed, *size.finer_amounts(*people.finer)})
    spec = bandits.TradeoffSpec(
        strategies=tuple(strategies),
        amounts=tuple(amounts),
        n_aux=people.n_aux,
        runs=size.runs,
        steps=size.steps,
        seed=seed,
    )
    found = {LAPLACE: bandits.tradeoff(behaviour, spec, progress=lambda _, s: tell(LAPLACE, 0.5 * s))}
    on_counts = sorted({0.0, *_on_counts(people, size)})
    tell(COUNTS, 0.5)
    found[COUNTS] = _counted(
        found[LAPLACE], behaviour, strategies, on_counts, lambda _, s: tell(COUNTS, 0.5 + 0.25 * s)
    )
    ranks = size.ranks_of(len(behaviour.states))
    truncated = bandits.TradeoffSpec(**{**dict(spec), "amounts": ranks, "noise": "svd", "likelihood": False})
    found[SVD] = bandits.tradeoff(behaviour, truncated, progress=lambda _, s: tell(SVD, 0.75 + 0.25 * s))
    return found


def counts_of(records: Floats) -> Floats:
    """Return matrices as they may have been before rows were divided by their sums.

    The rarest transition of each row is taken as a single one. A row without any transition stays as it is.

    Examples
    --------
    >>> counts_of(np.array([[[0.9, 0.1, 0.0], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]]])).round(9).tolist()
    [[[9.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 0.0, 1.0]]]
    """
    beside = np.where(np.eye(records.shape[1], dtype=np.bool_) | (records <= 0.0), np.inf, records)
    once = beside.min(axis=2, keepdims=True)
    return records / np.where(np.isfinite(once), once, 1.0)


def noisy_counts(base: Shared, records: Floats, variance: float, cells: Floats) -> Shared:
    """Put noise on counts, then cut negative cells off and divide rows by their sums.

    ``base`` says whose counts each user receives, or the mean of whose.
    """
    counts = counts_of(records)
    if len(np.unique(base.groups)) < len(records):
        sums = np.zeros((base.groups.max() + 1, *counts.shape[1:]))
        np.add.at(sums, base.groups, counts)
        counts = sums / np.bincount(base.groups)[:, None, None]
    given = counts[base.source]
    if variance > 0:
        lots = stream(base.seed, "laplace noise on counts").laplace(size=given.shape)
        given = np.maximum(given + np.sqrt(variance / 2.0) * cells * lots, 0.0)
    total = given.sum(axis=2, keepdims=True)
    uniform = 1.0 / given.shape[1]
    return replace(base, records=np.where(total > 0, given / np.where(total > 0, total, 1.0), uniform))


def harmless_variance(behaviour: Behaviour) -> float:
    """Return the variance from which on noise adds as much leaving to a state as there is: v = 8 (q / W)^2.

    Noise of scale b = w sqrt(v / 2) on an empty cell leaves b / 2 there on average once negative values are cut off.
    Over a row that makes W sqrt(v / 8), with W the sum of its weights beside the diagonal; q is the true probability
    to leave the state. The median over states and users counts.

    Examples
    --------
    >>> from reidrisk_studies.galozy.clustered import clustered_users
    >>> users = clustered_users(30, n_states=41, n_clusters=7)
    >>> 1e-8 < harmless_variance(users) < 1e-7
    True
    """
    records, cells = behaviour.records, bandits.cell_weights(behaviour.records)
    beside = cells.sum(axis=1) - np.diagonal(cells)
    leaving = 1.0 - np.diagonal(records, axis1=1, axis2=2)
    known = beside > 0
    return float(np.median(8.0 * (leaving[:, known] / beside[known]) ** 2))


def _on_counts(people: People, size: Size) -> list[float]:
    """Return variances for counts: the paper's, where they go to 3, and larger ones of ours."""
    printed = size.printed_amounts(people.end) if people.end >= 1 else []
    return [*printed, *size.amounts_on_counts()]


def _counted(
    like: Tradeoff,
    behaviour: Behaviour,
    strategies: list[str],
    amounts: list[float],
    progress: Progress,
) -> Tradeoff:
    """Measure a trade-off like another one, with the noise on counts; it is drawn once at each point."""
    records = behaviour.records
    env = LatentBandit(records, bandits.hard_rewards(len(behaviour.states)))
    cells = bandits.cell_weights(records)
    draws = like.releases * max(1, -(-_QUERIES // (len(records) * like.releases)))  # known cells as in the other one
    points: list[TradeoffPoint] = []
    for strategy in strategies:
        base = bandits.anonymise(records, strategy, behaviour.profiles, like.seed)
        for amount in amounts:
            shared = noisy_counts(base, records, amount, cells)
            risk = bandits.deanonymisation(records, shared, like.n_aux, like.alpha, like.seed, cells, draws=draws)
            regret = bandits.regret(env, shared.records, like.runs, like.steps, like.seed)
            near = bandits.ads(records, shared, cells)
            points.append(TradeoffPoint(base.name, LAPLACE, amount, regret, risk, None, near))
            progress(COUNTS, len(points) / (len(strategies) * len(amounts)))
    return replace(like, points=tuple(points), releases=1).judged_by("scoreboard")


def _fitting(strategies: tuple[str, ...], n_users: int) -> list[str]:
    """Leave out clusters of which there would be more than users."""
    return [s for s in strategies if not s.startswith("clusters:") or int(s.partition(":")[2]) <= n_users]
