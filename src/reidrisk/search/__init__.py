"""Exact best matches of queries among targets, for scores that add up over epochs."""

from reidrisk.search.scan import Best, best, candidates, posterior
from reidrisk.search.tokens import Columns, columns
from reidrisk.search.weights import GRID, Weights, pair_scores, to_grid

__all__ = [
    "GRID",
    "Best",
    "Columns",
    "Weights",
    "best",
    "candidates",
    "columns",
    "pair_scores",
    "posterior",
    "to_grid",
]
