"""De-anonymisation: how often known cells of a matrix lead to the right shared record (galozy, Section 5), and ADS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from reidrisk.bandits.sharing.anonymise import Shared, started
from reidrisk.bandits.sharing.grouping import BLOCK_CELLS
from reidrisk.bandits.sharing.weights import WEIGHTS, cell_weights
from reidrisk.bandits.transitions import PAPER_TOLERANCE, Behaviour, checked_records
from reidrisk.base import ArrayLike, Floats, Ints, Note, OptionError, Risk, mean_interval, sizes, slices
from reidrisk.base.arrays import frozen
from reidrisk.base.options import one_of, whole, whole_up_to
from reidrisk.base.streams import checked_seed, stream

ATTACKS = ("scoreboard", "likelihood")  # names of the attacks: the paper's, and one that knows the mechanism

_FOUND_UNCHANGED = 0.9  # share of unchanged records below which the attack is said to be too coarse
_QUERIES = 1_000  # draws of cells in all, where there are few users
_SCORES = 2_000_000  # scores held at once


@dataclass(frozen=True, eq=False)
class Auxiliary:
    """What the attacker knows: ``cells`` and ``values`` (q, a) of the record of each query's ``user`` (q,)."""

    user: Ints
    cells: Ints
    values: Floats

    def chosen(self, part: slice) -> Auxiliary:
        """Return some of the queries."""
        return Auxiliary(self.user[part], self.cells[part], self.values[part])


def auxiliary(records: ArrayLike, n_aux: int, seed: int = 0, draws: int | None = None) -> Auxiliary:
    """Draw the cells that the attacker knows: ``n_aux`` different ones, uniformly, anew for each user and draw."""
    array = checked_records(records, least=2)
    n, m = len(array), array.shape[1] ** 2
    n_aux = whole_up_to("n_aux", n_aux, m, limit=f"the {m} cells of a matrix")
    many = max(1, -(-_QUERIES // n)) if draws is None else whole("draws", draws)
    checked_seed(seed)
    sizes.NUMBERS.check(n * many * n_aux, "what the attacker knows", "take fewer draws or cells")
    user = np.tile(np.arange(n, dtype=np.int64), many)
    cells = np.empty((len(user), n_aux), dtype=np.int64)
    for draw in range(many):
        lots = stream(seed, "auxiliary cells", draw).random((n, m))
        chosen = np.argpartition(lots, n_aux - 1, axis=1)[:, :n_aux] if n_aux < m else np.tile(np.arange(m), (n, 1))
        cells[draw * n : (draw + 1) * n] = np.sort(chosen, axis=1)
    return Auxiliary(user, cells, np.take_along_axis(array.reshape(n, -1)[user], cells, axis=1))


def deanonymisation(
    records: ArrayLike | Behaviour,
    shared: Shared,
    n_aux: int,
    alpha: float | None = None,
    seed: int = 0,
    weights: str | ArrayLike = WEIGHTS[0],
    attack: str = "scoreboard",
    draws: int | None = None,
    level: float = 0.95,
) -> Risk:
    """Measure the probability of de-anonymisation (galozy, Section 5).

    The attacker knows ``n_aux`` cells of a user's true record, finds the set D' of shared records with the best
    score, and picks one of them at random. The exact expectation of being right is

        credit = (share of D' that holds the record of the user's group) / (users in that group):

    a match with a cluster of five users finds the right one of them with probability 1/5. Where each user receives
    another's record, the right ones are those that hold this user's record, whoever received them.

    ``records`` (n, d, d) are the true matrices. The ``attack`` is the paper's scoreboard, with these
    :func:`reidrisk.bandits.cell_weights`, or ``"likelihood"``, which knows how the records were changed. ``alpha`` is
    the tolerance of the scoreboard; default: that of the behaviour, 0.001 for plain matrices. Where it finds few owners
    even if nothing is changed, a note says so. Credits of ``draws`` of cells (default: a thousand in all) are averaged.

    >>> from reidrisk.bandits import anonymise
    >>> records = [[[0.9, 0.1], [0.5, 0.5]], [[0.7, 0.3], [0.1, 0.9]], [[0.2, 0.8], [0.3, 0.7]]]
    >>> round(deanonymisation(records, anonymise(records, "average"), n_aux=2).rate, 3)
    0.333
    """
    if alpha is None:
        alpha = records.tolerance if isinstance(records, Behaviour) else PAPER_TOLERANCE
    array = shared.made_of(records.records if isinstance(records, Behaviour) else records)
    known = auxiliary(array, n_aux, seed, draws)
    credit, ties = credits(array, shared, known, alpha, weights, attack)
    risk = risk_of_credits(credit, known, len(array), ties, seed, level, attack)
    if attack != ATTACKS[0]:
        return risk
    unchanged = float(credits(array, started(array, seed), known, alpha, weights)[0].mean())
    coarse = (Note("attack-coarse", tolerance=alpha, found=unchanged),) if unchanged < _FOUND_UNCHANGED else ()
    return replace(risk, notes=(*risk.notes, *coarse))


def credits(
    records: Floats,
    shared: Shared,
    known: Auxiliary,
    alpha: float = 1e-3,
    weights: str | ArrayLike = WEIGHTS[0],
    attack: str = "scoreboard",
) -> tuple[Floats, float]:
    """Return the probability of a right link for each query (q,), and the mean size of D'."""
    one_of("attack", attack, ATTACKS)
    score = _scorer(records, shared, alpha, weights, attack)
    wanted, sizes = shared.groups[known.user], shared.sizes[known.user]
    credit, ties = np.zeros(len(known.user)), np.zeros(len(known.user))
    for part in slices(len(credit), _SCORES // len(records)):
        scores = score(known.cells[part], known.values[part])
        best = scores == scores.max(axis=1, keepdims=True)
        ties[part] = best.sum(axis=1)
        right = (best & (shared.source == wanted[part, None])).sum(axis=1)
        credit[part] = right / ties[part] / sizes[part]
    return credit, float(ties.mean())


def link_notes(known: Auxiliary, attack: str) -> tuple[Note, ...]:
    """Return what a rate of de-anonymisation rests on."""
    return (
        Note("cells-known", cells=known.cells.shape[1]),
        Note("all-shared-obtained"),
        Note("group-by-guess"),
        Note("cells-drawn", draws=int(np.bincount(known.user).max())),
        *(() if attack == ATTACKS[0] else (Note("mechanism-known"),)),
    )


def risk_of_credits(
    credit: Floats, known: Auxiliary, n_users: int, ties: float, seed: int, level: float, attack: str
) -> Risk:
    """Return the rate with its interval; users are the units, so the credits of a user's draws are averaged first."""
    times = np.bincount(known.user, minlength=n_users)
    per_user = np.clip(np.bincount(known.user, weights=credit, minlength=n_users) / times, 0.0, 1.0)
    rate = float(per_user.mean())
    low, high = mean_interval(per_user, level)
    return Risk(
        rate=rate,
        low=min(low, rate),
        high=max(high, rate),
        incorrect=1.0 - rate,
        abstained=0.0,
        baseline=1.0 / n_users,
        n_targets=n_users,
        n_queries=n_users,
        attack=attack,
        setting="linkage",
        level=level,
        mean_ties=ties,
        everyone=True,
        seed=int(seed),
        notes=link_notes(known, attack),
        per_user=frozen(per_user),
    )


def _scorer(
    records: Floats, shared: Shared, alpha: float, weights: str | ArrayLike, attack: str
) -> Callable[[Ints, Floats], Ints]:
    if attack == "likelihood":
        from reidrisk.bandits.linkage.likelihood import likelihood_scores

        return lambda cells, values: likelihood_scores(shared, cells, values)
    if not alpha > 0:
        raise OptionError(f"alpha must be above 0, not {alpha!r}: a difference is never below 0")
    from reidrisk.attacks.scoreboard import agreement, score_grid

    grid = score_grid(cell_weights(records, weights, alpha).ravel())
    targets = np.ascontiguousarray(shared.records.reshape(len(records), -1))
    return lambda cells, values: agreement(targets, cells, values, grid, alpha)


def ads(records: ArrayLike, shared: Shared, weights: str | ArrayLike | None = None, alpha: float = 1e-3) -> float:
    """Return the identifiability of what was shared, in [0, 1] (Yoon et al., 2020; galozy, equation 3).

    I(D, D^) = (1/N) sum_i [ k^_i < k_i ],  k_i = min_{j != i} ||w (r_i - r_j)||,  k^_i = min_j ||w (r_i - r^_j)||.

    Data is called epsilon-identifiable when this is below epsilon. It does not follow the probability of
    de-anonymisation (galozy, figure 11): both are worth a look. ``records`` (n, d, d) are the true matrices, w the
    :func:`reidrisk.bandits.cell_weights`, default: the inverse entropy.

    >>> from reidrisk.bandits import Average, Own, anonymise
    >>> records = [[[0.9, 0.1], [0.5, 0.5]], [[0.7, 0.3], [0.1, 0.9]], [[0.2, 0.8], [0.3, 0.7]]]
    >>> ads(records, anonymise(records, Own())), round(ads(records, anonymise(records, Average())), 2)
    (1.0, 1.0)
    """
    from scipy.spatial.distance import cdist

    array = shared.made_of(records)
    w = cell_weights(array, WEIGHTS[0] if weights is None else weights, alpha).ravel()
    true, given = (w * table.reshape(len(array), -1) for table in (array, shared.records))
    nearer = 0
    for block in slices(len(array), BLOCK_CELLS // len(array)):
        among = cdist(true[block], true)
        among[np.arange(len(among)), np.arange(len(array))[block]] = np.inf
        nearer += int((cdist(true[block], given).min(axis=1) < among.min(axis=1)).sum())
    return nearer / len(array)
