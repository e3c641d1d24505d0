"""Features of all pairs at once, which no attack holds in memory."""

import numpy as np

from reidrisk.attacks.rehearsed.panel import readings_of


def features_of(scores, typical, targets, queries):
    """Features (q, n, F) of all pairs, from the (q, n) scores of each attack."""
    each = (readings_of(raw, k, slice(None), typical, targets, queries) for k, raw in enumerate(scores))
    return np.concatenate(list(each), axis=-1)
