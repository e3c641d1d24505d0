"""Who visits which site, and in which weeks: audiences that overlap in part, people who come now and then.

The attacks of the papers were measured on two sites with the same audience, which visits both every week; both papers
name this as a limit (jha, Sections 3.1 and 9.1).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from reidrisk.base import sizes
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.options import from_0_to_1, whole
from reidrisk.base.streams import blocks, checked_seed, stream
from reidrisk.records import Traces

__all__ = ["audiences", "seen", "visits"]

Ints = npt.NDArray[np.int64]


def audiences(n: int, overlap: float, seed: int, sites: int = 2) -> tuple[Ints, ...]:
    """Choose whom each of several sites of the same size sees, so that a given share of each audience is everywhere.

    A core of c users visits all S sites, every other user exactly one of them, and everybody some site, so that an
    audience has m = n / (S - (S - 1) overlap) users and c = overlap m, rounded.

    Parameters
    ----------
    n : int
        Users in all.
    overlap : float
        Share of each site's audience that visits the other sites as well: 1 = the same people, 0 = nobody in common.
    seed : int
        Seed of the choice.
    sites : int
        Number of sites, S.

    Returns
    -------
    tuple of (m,) int64
        Rows of the users of each site, ascending.

    Examples
    --------
    >>> a, b = audiences(1500, overlap=0.5, seed=0)
    >>> len(a), len(b), len(np.intersect1d(a, b)), len(np.union1d(a, b))
    (1000, 1000, 500, 1500)
    """
    n, sites = whole("n", n), whole("sites", sites, least=2)
    sizes.NUMBERS.check(n, "drawing audiences", "draw fewer users")
    overlap = from_0_to_1("overlap", overlap, "a share of an audience,")
    core = round(n * overlap / (sites - (sites - 1) * overlap))
    if n - core < sites and core < n:
        raise OptionError(f"{n} users are too few for {sites} sites that share {overlap:g} of their audiences")
    order = stream(seed, "populations.audiences").permutation(n)
    own = np.array_split(order[core:], sites)
    return tuple(np.sort(np.concatenate([order[:core], part])).astype(np.int64) for part in own)


def visits(n: int, epochs: int, every: npt.ArrayLike, seed: int, site: str = "a") -> npt.NDArray[np.bool_]:
    """Draw in which epochs each user visits a site: every few epochs on average, no epoch depending on another.

    P(user u visits in an epoch) = 1 / every[u], so that gaps between visits are geometric with this mean. The matrix
    goes to :meth:`reidrisk.topics.TopicsAPI.observe`, or to :func:`seen` for any other system.

    Parameters
    ----------
    n, epochs : int
        Size of the matrix.
    every : float or (n,) array
        Mean number of epochs from one visit to the next, at least 1, for all or for each user.
    seed : int
        Seed; streams are keyed by (seed, site), more users leave the first ones as they are.
    site : str
        Name of the site.

    Examples
    --------
    >>> came = visits(1000, 30, every=3.0, seed=0, site="a")
    >>> came.shape, bool(0.32 < came.mean() < 0.35), bool(visits(9, 4, every=1.0, seed=0).all())
    ((1000, 30), True, True)
    """
    n, epochs = whole("n", n), whole("epochs", epochs)
    sizes.CELLS.check(n * epochs, "drawing visits", "draw fewer users or epochs")
    try:
        mean = np.asarray(every, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"every must be one number or one for each of the {n:,} users, not {every!r}") from None
    if mean.shape not in ((), (n,)):
        raise OptionError(f"every must be one number or one for each of the {n:,} users, not of shape {mean.shape}")
    wrong = np.flatnonzero(~((mean.ravel() >= 1.0) & (mean.ravel() < math.inf)))
    if wrong.size:
        raise OptionError(f"every is a mean number of epochs of at least 1, not {mean.ravel()[wrong[0]]:g}")
    seed = checked_seed(seed)
    chance = np.broadcast_to(1.0 / mean, (n,))
    came = np.empty((n, epochs), dtype=np.bool_)
    for epoch in range(epochs):  # a stream an epoch: more epochs leave the first ones as they are
        for block, start, stop in blocks(n):
            rng = stream(seed, f"populations.visits to {site}, epoch {epoch}", block)
            came[start:stop, epoch] = rng.random(stop - start) < chance[start:stop]
    return came


def seen(traces: Traces, rows: npt.ArrayLike | None = None, came: npt.ArrayLike | None = None) -> Traces:
    """Return what is left of a trace when the observer sees only some users, and those only in some epochs.

    Users who are not named are called by their row in ``traces``, so that the truth follows them.

    Parameters
    ----------
    traces : Traces
        What the observer would see if everybody came every time.
    rows : (m,) integers, optional
        Whom it sees, such as one of :func:`audiences`; default: everybody.
    came : (n, r) bool, optional
        In which epochs each user of ``traces`` comes, such as :func:`visits`; tokens of the others are missing.

    Examples
    --------
    >>> whole = Traces([[1, 2], [3, 4], [5, 6]], n_tokens=9)
    >>> left = seen(whole, rows=[0, 2], came=[[True, True], [True, True], [False, True]])
    >>> left.users.tolist(), left.tokens.tolist()
    ([0, 2], [[1, 2], [-1, 6]])
    """
    tokens = traces.tokens
    if came is not None:
        mask = np.asarray(came)
        if mask.dtype.kind != "b" or mask.shape != tokens.shape:
            raise DataError(
                f"came is {mask.dtype} of shape {mask.shape}; give one bool per user and epoch, {tokens.shape}"
            )
        tokens = np.where(mask, tokens, tokens.dtype.type(-1))
    users = np.arange(len(traces)) if traces.users is None else traces.users
    named = Traces(tokens, traces.n_tokens, users=users, vocabulary=traces.vocabulary)
    if rows is None:
        return named
    chosen = np.asarray(rows)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or not chosen.size:
        raise DataError(f"rows must be whole numbers of users, at least one, not {chosen.dtype} {chosen.shape}")
    if chosen.min() < 0 or chosen.max() >= len(traces):
        raise DataError(f"rows lie in [0, {len(traces)}); there is one outside")
    if len(np.unique(chosen)) < len(chosen):
        raise DataError("rows name a user twice; every user may have one row only")
    return named.take(chosen.astype(np.int64))
