"""ADS identifiability: how many users have a shared record nearer than any other user's (galozy, equation 3)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reidrisk.bandits.sharing.anonymise import Shared
from reidrisk.bandits.sharing.grouping import row_blocks
from reidrisk.bandits.sharing.weights import WEIGHTS, cell_weights


def ads(
    records: npt.ArrayLike, shared: Shared, weights: str | npt.ArrayLike | None = None, alpha: float = 1e-3
) -> float:
    """Return the identifiability of what was shared, in [0, 1] (Yoon et al., 2020; galozy, equation 3).

    I(D, D^) = (1/N) sum_i [ k^_i < k_i ],  k_i = min_{j != i} ||w (r_i - r_j)||,  k^_i = min_j ||w (r_i - r^_j)||.

    Data is called epsilon-identifiable when this is below epsilon; 0 is called perfectly safe. It does not follow the
    probability of de-anonymisation (galozy, figure 11): both are worth a look. ``records`` (n, d, d) are the true
    matrices; weights and ``alpha`` are those of :func:`reidrisk.bandits.cell_weights`, default: the inverse entropy.

    Examples
    --------
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
    for block in row_blocks(len(array)):
        among = cdist(true[block], true)
        among[np.arange(len(among)), np.arange(len(array))[block]] = np.inf
        nearer += int((cdist(true[block], given).min(axis=1) < among.min(axis=1)).sum())
    return nearer / len(array)
