"""The scores of the simple attacks in floats and dense arrays, straight from their formulas."""

import numpy as np


def hellinger(targets, queries):
    d, c = (table / np.maximum(table.sum(axis=1, keepdims=True), 1) for table in (targets, queries))
    return np.sqrt(c) @ np.sqrt(d).T


def tf_idf(targets, queries):
    rarity = np.log((1 + len(targets)) / (1 + (targets > 0).sum(axis=0))) + 1

    def weighed(table):
        weights = np.where(table > 0, 1 + np.log(np.maximum(table, 1)), 0) * rarity
        return weights / np.maximum(np.sqrt((weights**2).sum(axis=1, keepdims=True)), 1e-300)

    return weighed(queries) @ weighed(targets).T


def naive_bayes(targets, queries, s):
    shares = (targets + s) / (targets.sum(axis=1, keepdims=True) + s * targets.shape[1])
    return queries @ np.log(shares).T


def left_out_likelihood(targets, s):
    total = 0.0
    for row in targets:
        for count in row[row > 0]:
            total += count * np.log((count - 1 + s) / (row.sum() - 1 + s * len(row)))
    return total


def bm25(targets, queries, k1=1.5, b=0.75):
    held, sizes = (targets > 0).sum(axis=0), targets.sum(axis=1)
    rarity = np.log(1 + (len(targets) - held + 0.5) / (held + 0.5))
    flattened = k1 * (1 - b + b * sizes / max(sizes.mean(), 1e-300))[:, None]
    return queries @ (rarity * targets * (k1 + 1) / np.maximum(targets + flattened, 1e-300)).T


def presence(targets, queries, shared=0.5):
    """Of tokens (n, r) and (q, r), up to what is the same for all targets of a query."""
    a, b = (tokens >= 0 for tokens in (targets, queries))
    often = a.sum(axis=0) + 0.5
    ratio = a / np.maximum(a.sum(axis=1, keepdims=True), 1) / (often / often.sum())
    return b @ np.log(1 - shared + shared * ratio).T - b.sum(axis=1, keepdims=True) * np.log(1 - shared)


def transitions(tokens, n_tokens):
    """Return how often each record goes from each token to each other one, gaps passed over."""
    counts = np.zeros((len(tokens), n_tokens, n_tokens), dtype=int)
    for row, found in enumerate(tokens):
        seen = found[found >= 0]
        np.add.at(counts[row], (seen[:-1], seen[1:]), 1)
    return counts.reshape(len(tokens), -1)
