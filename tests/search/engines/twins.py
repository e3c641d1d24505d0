"""A loop over pairs: what any engine must find, and random cases to try it on."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reidrisk import search


def twin(targets, queries, weights):
    """Return best score, ties and lowest target of each query, pair by pair."""
    rows = np.broadcast_to(np.arange(queries.shape[1]) if len(weights.match) > 1 else 0, queries.shape[1])
    score = np.zeros((len(queries), len(targets)), dtype=np.int64)
    for i, query in enumerate(queries):
        for j, target in enumerate(targets):
            for s, (o, w) in enumerate(zip(query, target, strict=True)):
                if o >= 0 and w >= 0:
                    score[i, j] += (weights.match if o == w else weights.mismatch)[rows[s], o]
    return score.max(axis=1), (score == score.max(axis=1, keepdims=True)).sum(axis=1), score.argmax(axis=1)


@st.composite
def cases(draw, gaps=None, n_epochs=None):
    """Return targets, queries and weights where a match never counts less than a mismatch."""
    r = n_epochs or draw(st.integers(1, 4))
    n_tokens, one_row = draw(st.integers(1, 6)), draw(st.booleans())
    least = -1 if (draw(st.booleans()) if gaps is None else gaps) else 0
    n, q = draw(st.integers(1, 12)), draw(st.integers(1, 8))
    targets, queries = (draw(arrays(np.int64, (m, r), elements=st.integers(least, n_tokens - 1))) for m in (n, q))
    shape = (1 if one_row else r, n_tokens)
    mismatch = draw(arrays(np.int64, shape, elements=st.integers(-3, 3)))
    gain = draw(arrays(np.int64, shape, elements=st.integers(0, 2)))
    return targets, queries, search.Weights(match=mismatch + gain, mismatch=mismatch)
