"""The environment: a non-stationary latent bandit, one best arm per state (galozy, Section 3)."""

from dataclasses import dataclass

import numpy as np

from reidrisk.bandits.transitions import checked_records
from reidrisk.base import ArrayLike, DataError, Floats, Ints, OptionError, whole

BEST, OTHERS, SIGMA = 2.0, 1.05, 2.0
"""Mean of the best arm, highest mean of the others, and standard deviation of a reward in the paper."""

_LEAST_SIGMA, _MOST_SIGMA = 1e-6, 1e6  # beyond them, squares of rewards over sigma leave the range of floating point


@dataclass(frozen=True, eq=False)
class LatentBandit:
    """Users whose state nobody sees, and what a recommendation brings in each state.

    S_1 is uniform, S_{t+1} ~ phi(. | S_t), whatever the agent does, and the arm A_t brings a reward
    R_t ~ N(mu(A_t, S_t), sigma^2) (galozy, Section 3). ``transitions`` (d, d) or (n, d, d) are phi of one user or of
    several, of whom a run draws one first; ``means`` (arms, d) are mu.

    >>> env = LatentBandit([[0.9, 0.1], [0.2, 0.8]], hard_rewards(2), sigma=2.0)
    >>> env.n_users, env.best.tolist(), env.gaps.round(2).tolist()
    (1, [0, 1], [[0.0, 0.95], [0.95, 0.0]])
    """

    transitions: Floats
    means: Floats
    sigma: float = SIGMA

    def __post_init__(self) -> None:
        matrices, means = as_matrices(self.transitions), np.asarray(self.means, dtype=np.float64)
        d = matrices.shape[1]
        if means.ndim != 2 or means.shape[1] != d or not means.shape[0]:
            raise DataError(f"means must have shape (arms, {d} states) to fit the transitions, not {means.shape}")
        if not np.isfinite(means).all():
            raise DataError("mean rewards must be finite numbers")
        if not _LEAST_SIGMA <= self.sigma <= _MOST_SIGMA:
            allowed = f"a number above 0, {_LEAST_SIGMA:g} to {_MOST_SIGMA:g}"
            raise OptionError(f"sigma must be {allowed}, not {self.sigma!r}")
        object.__setattr__(self, "transitions", matrices)
        object.__setattr__(self, "means", means)

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.transitions)

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.means.shape[1])

    @property
    def best(self) -> Ints:
        """Best arm of each state, the lowest where several are."""
        return np.asarray(self.means.argmax(axis=0), dtype=np.int64)

    @property
    def gaps(self) -> Floats:
        """Regret of each arm in each state: mu(A*, s) - mu(a, s)."""
        return np.asarray(self.means.max(axis=0) - self.means)


def as_matrices(transitions: ArrayLike) -> Floats:
    """Return (n, d, d) matrices, also from a single one, after a check that rows add up."""
    array = np.asarray(transitions, dtype=np.float64)
    return checked_records(array[None] if array.ndim == 2 else array)


def hard_rewards(n: int) -> Floats:
    """Return means that tell the state hardly at all: 2 for the best arm, 1.05 for all others (galozy, Section 3).

    >>> hard_rewards(3).tolist()
    [[2.0, 1.05, 1.05], [1.05, 2.0, 1.05], [1.05, 1.05, 2.0]]
    """
    n = whole("n", n, least=2, unit="states")
    return np.where(np.eye(n, dtype=np.bool_), BEST, OTHERS)


def easy_rewards(n: int) -> Floats:
    """Return means that tell the state: 2 for the best arm, the others evenly spaced from 0 to 1.05.

    The paper does not say which arm has which mean (figure 1). Here the arm that comes j places after the best one, in
    a circle, has the j-th of the n - 1 means: then every arm's mean depends on the state.

    >>> easy_rewards(3).tolist()
    [[2.0, 1.05, 0.0], [0.0, 2.0, 1.05], [1.05, 0.0, 2.0]]
    """
    n = whole("n", n, least=2, unit="states")
    after = (np.arange(n)[:, None] - np.arange(n)) % n  # places of arm a after the best arm of state s
    spaced = np.linspace(0.0, OTHERS, n - 1) if n > 2 else np.array([OTHERS])
    return np.asarray(np.concatenate([[BEST], spaced])[after])
