"""Anonymisation: what each user receives, whose record it is, and who is behind it (galozy, Section 4)."""

from dataclasses import dataclass, replace

import numpy as np

from reidrisk.bandits.sharing import strategies as by
from reidrisk.bandits.sharing.grouping import clusters, microaggregates, needs_profiles, neighbours
from reidrisk.bandits.sharing.weights import cell_weights
from reidrisk.bandits.transitions import checked_profiles, checked_records
from reidrisk.base import ArrayLike, DataError, Floats, Ints, OptionError, stream
from reidrisk.privacy.accounting import gaussian_sigma


@dataclass(frozen=True, eq=False)
class Shared:
    """What is handed out instead of the records; where they are not put together, each user is a group."""

    records: Floats  # (n, d, d): user i receives records[i]
    source: Ints  # (n,): the group whose record each user receives
    groups: Ints  # (n,): the group into which each user's record went
    steps: tuple[by.Step, ...]
    scale: Floats  # (d, d): of a Laplace variable with the variance of the noise in each cell, 0 = no noise
    seed: int = 0
    release: int = 0  # which draw of the noise this is

    @property
    def sizes(self) -> Ints:
        """Number of users in each user's group."""
        return np.asarray(np.bincount(self.groups)[self.groups], dtype=np.int64)

    @property
    def name(self) -> str:
        """The strategy as text."""
        return "+".join(map(str, self.steps))

    def made_of(self, records: ArrayLike) -> Floats:
        """Return the true records as an array, or refuse those of which this cannot have been made."""
        array = checked_records(records, least=2)
        if array.shape != self.records.shape:
            shared = f"what was shared {self.records.shape}"
            raise DataError(f"records have shape {array.shape}, {shared}; both must be the same")
        return array

    def __repr__(self) -> str:
        n, d = self.records.shape[:2]
        return f"Shared({self.name}: {n:,} users x {d} states, groups of {self.sizes.min()} or more)"


def anonymise(
    records: ArrayLike,
    strategy: by.Strategy,
    profiles: ArrayLike | None = None,
    seed: int = 0,
    alpha: float = 1e-3,
    release: int = 0,
) -> Shared:
    """Anonymise transition matrices.

    The steps of the strategy are applied in order; then negative cells become 0 and rows are divided by their sums (a
    row without any positive cell becomes uniform), which cancels the paper's division by the L2 norm before that.
    Neighbours and clusters are found by ``profiles`` (n, p). The noise is a simulation: it protects nobody who can
    guess the seed. ``alpha`` is the rounding step of the entropy that weighs it; ``release`` draws it anew.

    >>> records = [[[0.9, 0.1], [0.5, 0.5]], [[0.7, 0.3], [0.1, 0.9]], [[0.2, 0.8], [0.3, 0.7]]]
    >>> shared = anonymise(records, "average")
    >>> shared.records[0].round(3).tolist(), shared.source.tolist(), shared.sizes.tolist()
    ([[0.6, 0.4], [0.3, 0.7]], [0, 0, 0], [3, 3, 3])
    """
    array = checked_records(records, least=2)
    known = None if profiles is None else checked_profiles(profiles, len(array))
    shared = started(array, seed, release)
    for step in by.as_steps(strategy):
        shared = applied(shared, step, array, known, alpha)
    return finished(shared)


def started(records: Floats, seed: int, release: int = 0) -> Shared:
    """Return the records as they are, everyone with one's own."""
    everyone = np.arange(len(records), dtype=np.int64)
    return Shared(records, everyone, everyone, (), np.zeros(records.shape[1:]), seed, release)


def applied(
    shared: Shared,
    step: by.Step,
    original: Floats,
    profiles: Floats | None,
    alpha: float = 1e-3,
    weights: Floats | None = None,
) -> Shared:
    """Return what is shared after one more step; ``weights`` of the noise may have been worked out before."""
    done = replace(shared, steps=(*shared.steps, step))
    if isinstance(step, by.Own):
        return done
    if isinstance(step, by.Laplace):
        cells = cell_weights(original, step.weights, alpha) if weights is None else weights
        if step.variance == 0.0:
            return done
        # Noise of two steps is independent.
        scale, purpose = np.sqrt(step.variance / 2.0) * cells, f"laplace noise of step {len(done.steps)}"
        lots = stream(done.seed, purpose, done.release).laplace(size=done.records.shape)
        return replace(done, records=done.records + scale * lots, scale=np.hypot(done.scale, scale))
    if isinstance(step, by.TruncatedSVD):
        return replace(done, records=truncated(shared.records, step.rank))
    if isinstance(step, by.Neighbour):
        source = neighbours(needs_profiles(profiles, step), step.order)
        return replace(done, records=shared.records[source], source=source)
    groups = _groups(step, len(original), profiles, shared.seed)
    sizes = np.bincount(groups)
    means = np.zeros((len(sizes), *shared.records.shape[1:]))
    np.add.at(means, groups, shared.records)
    means /= sizes[:, None, None]
    # Noise that was added before is averaged, too.
    done = replace(done, scale=shared.scale / np.sqrt(sizes[groups].mean()))
    if isinstance(step, by.PrivateClusters):
        sigma = gaussian_sigma(step.epsilon, step.delta) * mean_sensitivity(original.shape[1], sizes)
        noise = stream(shared.seed, "private cluster means", shared.release).standard_normal(means.shape)
        means = means + sigma[:, None, None] * noise
        done = replace(done, scale=np.hypot(done.scale, float(sigma[groups].mean()) / np.sqrt(2.0)))
    return replace(done, records=means[groups], source=groups, groups=groups)


def finished(shared: Shared) -> Shared:
    """Return what is handed out: negative cells set to 0, rows divided by their sums, empty rows uniform."""
    cells = np.maximum(shared.records, 0.0)
    sums = cells.sum(axis=2, keepdims=True)
    empty = sums <= 0.0
    return replace(shared, records=np.where(empty, 1.0 / cells.shape[1], cells / np.where(empty, 1.0, sums)))


def mean_sensitivity(n_states: int, sizes: Ints) -> Floats:
    """Return how far replacing one record can move a mean in L2: its d rows by sqrt(2) each, so sqrt(2 d) / size."""
    return np.asarray(np.sqrt(2.0 * n_states) / sizes)


def truncated(records: Floats, rank: int) -> Floats:
    """Return the best approximation of each matrix of at most this rank."""
    d = records.shape[1]
    if rank > d:
        raise OptionError(f"the rank of a matrix of {d} states is at most {d}, not {rank}")
    if rank == d:
        return records
    left, values, right = np.linalg.svd(records)
    return np.asarray((left[:, :, :rank] * values[:, None, :rank]) @ right[:, :rank])


def _groups(step: by.Step, n: int, profiles: Floats | None, seed: int) -> Ints:
    if isinstance(step, by.Average):
        return np.zeros(n, dtype=np.int64)
    known = needs_profiles(profiles, step)
    if isinstance(step, by.Clusters | by.PrivateClusters):
        return clusters(known, step.n, seed)
    if isinstance(step, by.Microaggregation):
        return microaggregates(known, step.k)
    raise OptionError(f"{step!r} is not a step this function knows")
