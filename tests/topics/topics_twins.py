"""What the kernels of the simulation compute, the short way in NumPy."""

import numpy as np


def top_sets_numpy(rng, rates, k):
    """Draw one epoch of (users, topics) rates, with the distribution of ``visits.top_sets``.

    Visits plus a lot in [0, 1) rank the topics. Among those without a visit the lot alone decides, so the places that
    are left go to distinct topics drawn uniformly from the rest: that is the padding.
    """
    keys = rng.poisson(rates) + rng.random(rates.shape)
    return np.argsort(-keys, axis=1)[:, :k]
