"""Made-up users with clustered behaviour, for where the published activity data is not at hand."""

from __future__ import annotations

import numpy as np

from reidrisk.bandits.transitions import Behaviour, matrices
from reidrisk.base.errors import OptionError
from reidrisk.base.notes import Note
from reidrisk.base.options import whole
from reidrisk.base.streams import checked_seed, stream

_SHARED_SHARE = 0.3  # of a type's habits that are common to all types
_NEVER = 0.25  # probability that a type never enters a state
_STAY = 600.0  # seconds, median stay in a state
_STAY_SPREAD = 1.2  # of the logarithm of a stay, among states
_USER_SPREAD = 0.3  # of the logarithm of a user's stays about those of the type


def clustered_users(
    n: int, n_states: int = 41, n_clusters: int = 7, seed: int = 0, visits: float = 2_000.0, alike: float = 30.0
) -> Behaviour:
    """Draw users of several types: each type has habits of its own, and its users vary about them.

    A type c has a distribution over states q_c (some never entered), jumps J_c[s, .] ~ Dirichlet about a mix of q_c
    and what is common to all, and median stays tau_c[s]. A user u of the type enters state s Poisson(visits q_c[s])
    times, jumps by J_u[s, .] ~ Dirichlet(alike J_c[s, .]), and stays tau_c[s] e^(0.3 N) seconds each time. Counts and
    times then make the matrix as for a real log (:func:`matrices`), so that cells are as coarse as those of real
    logs. The profile is the share of visits to each state, with the stay in hours beside it.

    These are made-up people: what is measured on them is about the method, not about any real data set. User i is of
    type i mod ``n_clusters``; 41 states stand in for CASAS, 39 for Endomondo. A log has ``visits`` entries on average;
    the larger ``alike``, the more users of a type are alike.

    >>> clustered_users(20, n_states=5, n_clusters=3)
    Behaviour(20 users x 5 states, profiles of 10 numbers)
    """
    checked_seed(seed)
    for name, value, least in (("n", n, 1), ("n_states", n_states, 2), ("n_clusters", n_clusters, 1)):
        whole(name, value, least)
    if n_clusters > n:
        raise OptionError(f"there are {n} users, so no {n_clusters} clusters; choose at most {n}")
    if not visits > 0 or not alike > 0:
        raise OptionError(f"visits and alike must be above 0, not {visits!r} and {alike!r}")
    d, types = n_states, stream(seed, "types of users")
    common = types.dirichlet(np.ones(d))
    enters = types.random((n_clusters, d)) > _NEVER
    enters[:, np.argsort(common)[-2:]] = True  # the two commonest states are everybody's
    liking = types.gamma(0.5, size=(n_clusters, d)) * enters
    liking = (1 - _SHARED_SHARE) * liking / liking.sum(axis=1, keepdims=True) + _SHARED_SHARE * common * enters
    liking /= liking.sum(axis=1, keepdims=True)
    stay = _STAY * np.exp(_STAY_SPREAD * types.standard_normal((n_clusters, d)))
    to = liking[:, None, :] * types.gamma(1.0, size=(n_clusters, d, d)) + 1e-12
    to[:, np.arange(d), np.arange(d)] = 0.0
    to /= to.sum(axis=2, keepdims=True)

    one, kind = stream(seed, "users of a type"), np.arange(n) % n_clusters
    entered = one.poisson(visits * liking[kind])
    jumps = one.gamma(alike * to[kind]) + 1e-300
    jumps /= jumps.sum(axis=2, keepdims=True)
    counts = one.multinomial(entered, jumps)
    seconds = np.rint(entered * stay[kind] * np.exp(_USER_SPREAD * one.standard_normal((n, d))))
    share = entered / np.maximum(entered.sum(axis=1, keepdims=True), 1)
    hours = np.divide(seconds, entered, out=np.zeros(seconds.shape), where=entered > 0) / 3600.0
    return Behaviour(
        records=matrices(seconds, counts),
        profiles=np.hstack([share, hours]),
        users=tuple(f"user {i}" for i in range(n)),
        states=tuple(f"state {s}" for s in range(d)),
        origin=Note("users-made-up", types=n_clusters, states=d, seed=seed),
    )
