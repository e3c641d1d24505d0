"""Exact best matches of queries among targets, for scores that add up over epochs."""

from reidrisk.search import scan
from reidrisk.search.best import Best, merged
from reidrisk.search.index import Index
from reidrisk.search.plan import Plan, best, plan, sharded_best
from reidrisk.search.scan import candidates, posterior
from reidrisk.search.weights import GRID, PairWeights, Weights, pair_scores, to_grid

__all__ = [
    "GRID",
    "Best",
    "Index",
    "PairWeights",
    "Plan",
    "Weights",
    "best",
    "candidates",
    "merged",
    "pair_scores",
    "plan",
    "posterior",
    "scan",
    "sharded_best",
    "to_grid",
]
